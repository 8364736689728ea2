"""What `LLMDetector` asks a model about pairs, and how its answer is read."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from gcmem.detectors.asking import Reading
from gcmem.detectors.base import TextPair
from gcmem.detectors.chat import Prompt, Reply, Token
from gcmem.detectors.quoting import DATA_RULE, as_number, json_answers, quoted, split_date

__all__ = ["VERSION", "JudgeTask"]

_SYSTEM: Final = f"""\
You keep a memory free of statements that are no longer true. You get numbered pairs of recorded \
statements: OLDER was recorded first, NEWER later. For each pair decide: does NEWER make OLDER no \
longer true?

Answer "yes" only if both are about the same thing (the same entity, the same property, the same \
context) and OLDER cannot still be true now that NEWER is: the value changed, or OLDER was \
corrected, cancelled, replaced or ended.
Answer "no" if NEWER repeats, rewords, confirms or refines OLDER, or adds to it; if it is about \
another entity, property or context; if it only tells of the past, a plan, a wish, a possibility, \
a question or what somebody else said; if both events happened; or if both values can hold at once.
If you cannot tell, answer "no" with a probability near 0.5.

{DATA_RULE}

Reply with JSON alone, one entry for every pair:
{{"verdicts": [{{"pair": 1, "verdict": "yes", "probability": 0.93}}]}}
"verdict" is "yes" or "no". "probability", from 0 to 1, is how likely "yes" is the right answer: \
above 0.5 with "yes", below with "no"."""

VERSION: Final = hashlib.blake2b(_SYSTEM.encode(), digest_size=4).hexdigest()
"""Changes with the instructions, so that verdicts under older ones are not reused."""

_VERDICT_AT: Final = re.compile(r'"pair"\s*:\s*(\d+)\s*,\s*"verdict"\s*:\s*"')


@dataclass(frozen=True)
class JudgeTask:
    """Pairs, numbered from 1, that a model is asked to judge.

    Attributes:
        pairs: (older, newer) texts.
        query: The question to show, or None.
    """

    pairs: Sequence[TextPair]
    query: str | None

    def prompt(self, numbers: Sequence[int], note: str) -> Prompt:
        """Ask about these pairs; the note says what was wrong with an earlier answer."""
        items: list[dict[str, Any]] = [] if self.query is None else [{"question": self.query}]
        for number in numbers:
            older, newer = self.pairs[number - 1]
            items.append({"pair": number, "OLDER": _stated(older), "NEWER": _stated(newer)})
        asked = ", ".join(map(str, numbers))
        task = f"{quoted(items)}\n\nGive the verdicts for pairs {asked}."
        if self.query is not None:
            task += (
                ' The entry "question" is what the memory is being read for; it only tells which '
                "reading of the statements matters."
            )
        if note:
            task += f" An earlier answer could not be used in full: {note}."
        return Prompt(_SYSTEM, task)

    def read(self, reply: Reply, numbers: Sequence[int]) -> Reading[float]:
        """Read scores by pair number; a pair with contradictory answers has none."""
        entries = json_answers(reply.text, "verdicts")
        if entries is None:
            return Reading({}, problem='it was not JSON with a list under "verdicts"')
        found: dict[int, set[float]] = {}
        invented: list[object] = []
        for entry in entries:
            number = as_number(entry.get("pair"))
            if number not in numbers:
                invented.append(entry.get("pair"))
                continue
            found.setdefault(number, set()).add(_stated_probability(entry))
        usable = {
            number: scores.pop()
            for number, scores in found.items()
            if len(scores) == 1 and not any(map(math.isnan, scores))
        }
        measured = {
            number: chance
            for number, chance in _token_probabilities(reply).items()
            if number in usable
        }
        missing = [number for number in numbers if number not in usable]
        problem = (
            'no single entry with "verdict" "yes" or "no" and a "probability" from 0 to 1 that '
            f"agrees with it for pairs {', '.join(map(str, missing))}"
            if missing
            else ""
        )
        return Reading({**usable, **measured}, invented, problem, len(measured))


def _stated(text: str) -> dict[str, str]:
    when, statement = split_date(text)
    recorded = {} if when is None else {"recorded": when.isoformat()}
    return {**recorded, "text": statement}


def _stated_probability(entry: dict[str, Any]) -> float:
    """The probability that an entry states; NaN where it is unusable or contradicts itself."""
    verdict, chance = entry.get("verdict"), entry.get("probability")
    if isinstance(verdict, str):
        verdict = {"yes": True, "no": False}.get(verdict.strip().casefold())
    if not isinstance(verdict, bool):
        return math.nan
    if chance is None:
        return 1.0 if verdict else 0.0
    if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 <= chance <= 1:
        return math.nan
    agrees = chance >= 0.5 if verdict else chance <= 0.5
    return float(chance) if agrees else math.nan


def _token_probabilities(reply: Reply) -> dict[int, float]:
    """P(yes) by pair number, from the log-probabilities of the tokens that say yes or no."""
    if not reply.tokens or "".join(token.text for token in reply.tokens) != reply.text:
        return {}
    found: dict[int, float] = {}
    for match in _VERDICT_AT.finditer(reply.text):
        start = 0
        for token in reply.tokens:
            if start + len(token.text) > match.end():
                chance = _chance_of_yes(token, match.end() - start)
                if chance is not None:
                    found[int(match[1])] = chance
                break
            start += len(token.text)
    return found


def _chance_of_yes(token: Token, skipped: int) -> float | None:
    """P(yes) among the alternatives of a token whose first `skipped` characters precede it."""
    before = token.text[:skipped] if skipped > 0 else ""
    mass = {"yes": 0.0, "no": 0.0}
    for text, logprob in token.alternatives.items():
        if not text.startswith(before):
            continue
        said = text[len(before) :].strip(' "\n').casefold()
        for word in mass:
            if said and word.startswith(said):
                mass[word] += math.exp(logprob)
    yes, no = mass["yes"], mass["no"]
    if yes == no == 0.0:
        return None
    if no == 0.0:
        return min(1.0, yes)
    return yes / (yes + no) if yes else 1.0 - min(1.0, no)
