"""Adds up what FactConsolidation tells of each method; the figures stand in its docstring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.fact_reading import Gold, Question, Reading, matches, normalised

FIGURES = (
    "gold in context",
    "stale exposure",
    "gold removed",
    "current removed",
    "right fact",
    "exact match",
    "LLM exact match",
)


class Tally:
    """Adds up the figures of one method."""

    def __init__(self, hops: str, known: Sequence[Gold]) -> None:
        self._hops = hops
        self._current = {gold.text for gold in known if not gold.newer}
        self._stale = {text for gold in known for text in gold.older} - self._current
        self._marks: dict[str, list[bool]] = {name: [] for name in FIGURES}
        self._pairs: list[int] = []

    def add(self, question: Question, gold: Gold | None, reading: Reading) -> None:
        """Count one question."""
        shown = {fact.text for fact in reading.context.values()}
        marks = self._marks
        if self._hops == "multi":
            marks["gold in context"].append(any(_has(text, question.golds) for text in shown))
            if self._stale:
                marks["stale exposure"].append(bool(shown & self._stale))
        elif gold is not None:
            marks["gold in context"].append(gold.text in shown)
            if gold.older:
                marks["stale exposure"].append(bool(shown & gold.older))
            if not gold.newer:
                self._count_removed("gold removed", {gold.text}, reading)
        self._count_removed("current removed", self._current, reading)
        marks["right fact"].append(
            reading.fact is not None and _has(reading.fact.text, question.golds)
        )
        marks["exact match"].append(matches(reading.answer, question.golds))
        self._pairs += [search.pairs for search in reading.searches]

    def add_answer(self, question: Question, answer: str) -> None:
        """Count the answer of a language model."""
        self._marks["LLM exact match"].append(matches(answer, question.golds))

    def _count_removed(self, name: str, wanted: set[str], reading: Reading) -> None:
        for search in reading.searches:
            fetched = {fact.text for fact in search.candidates} & wanted
            self._marks[name] += [text in search.removed for text in sorted(fetched)]

    def figures(self) -> dict[str, Any]:
        """Each share with the number of cases that it is a share of; None where there is none."""
        shares = {
            name: {"share": round(sum(m) / len(m), 4) if m else None, "of": len(m)}
            for name, m in self._marks.items()
        }
        pairs = round(sum(self._pairs) / len(self._pairs), 1) if self._pairs else 0.0
        return {**shares, "pairs with a verdict per search": pairs}


def _has(text: str, golds: Sequence[str]) -> bool:
    tokens = f" {' '.join(normalised(text))} "
    return any(f" {' '.join(normalised(gold))} " in tokens for gold in golds)
