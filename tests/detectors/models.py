"""Scripted chat models, and what they need to read a prompt."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Verdict = Callable[[str, str], Any]


def data_of(prompt: str) -> list[dict[str, Any]]:
    """The entries of the data block; fails unless there is exactly one block."""
    lines = prompt.split("\n")
    assert lines.count("<data>") == 1
    assert lines.count("</data>") == 1
    found = json.loads("\n".join(lines[lines.index("<data>") + 1 : lines.index("</data>")]))
    assert isinstance(found, list)
    return found


def pairs_of(prompt: str) -> dict[int, tuple[str, str]]:
    return {
        entry["pair"]: (entry["OLDER"]["text"], entry["NEWER"]["text"])
        for entry in data_of(prompt)
        if "pair" in entry
    }


def verdicts(by_pair: dict[Any, float]) -> str:
    return json.dumps(
        {
            "verdicts": [
                {"pair": n, "verdict": "yes" if p >= 0.5 else "no", "probability": p}
                for n, p in by_pair.items()
            ]
        }
    )


class Judge:
    """Answers as a well-behaved model would, by a rule, and remembers its prompts."""

    def __init__(self, rule: Verdict) -> None:
        self.rule = rule
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return verdicts({n: float(self.rule(*pair)) for n, pair in pairs_of(prompt).items()})


class Script:
    """Gives prepared answers, one a call; an exception among them is raised."""

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer
