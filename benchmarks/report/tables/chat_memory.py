"""Table of the chat memories with a real language model."""

from __future__ import annotations

from typing import Any

from benchmarks.report.markdown import table
from benchmarks.trial_chat_memory.surfaces import SURFACES


def trial_chat_memory(content: dict[str, Any]) -> str:
    """What the prompts held and how many questions were answered right, by memory."""
    found, config = content["results"], content["config"]
    rows = []
    for memory, result in found.items():
        figures = result["summary"]
        rows.append(
            [
                memory,
                f"{figures['prompts with exactly what is true']}/{figures['turns']}",
                f"{figures['true statements shown']}/{figures['true statements due']}",
                str(figures["statements not true, shown"]),
                f"{figures['answers right']}/{figures['questions']}",
                f"{figures['seconds']:.0f}",
            ]
        )
    columns = [
        "memory, what reads the messages",
        "prompts exact",
        "true, shown",
        "not true, shown",
        "answers right",
        "seconds",
    ]
    text = (
        f"Language model {config['model']}; one conversation of {config['turns']} turns. Prompts "
        "exact: those that held all that was true then, and nothing on the same things that was "
        "not. An answer is right if it names what is true. The file also holds every turn: what "
        f"was said, what was read from it, the prompt and the answer.\n\n{table(columns, rows)}"
    )
    if missing := [memory for memory in SURFACES if memory not in found]:
        text += f"\nNot played: {'; '.join(missing)}.\n"
    return text


def totals(content: dict[str, Any]) -> dict[str, int]:
    """Add the figures of all memories that were played."""
    summaries = [result["summary"] for result in content["results"].values()]
    names = ("prompts with exactly what is true", "turns", "answers right", "questions")
    return {name: sum(summary[name] for summary in summaries) for name in names}
