"""Shared by the tests: detectors whose verdicts are known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gcmem.detectors.base import Calibration, ScoreArray, TextPair

Rule = Callable[[str, str], bool | float]


class ScriptedDetector:
    """Scores by a rule over (older, newer), and counts what it was asked."""

    def __init__(
        self,
        rule: Rule,
        *,
        name: str = "scripted",
        threshold: float = 0.5,
        calibration: Calibration | None = None,
    ) -> None:
        self.rule = rule
        self.name = name
        self.threshold = threshold
        self.calibration = calibration
        self.asked: list[TextPair] = []
        self.batches: list[list[TextPair]] = []

    def score(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        self.asked.extend(pairs)
        self.batches.append(list(pairs))
        return np.array([float(self.rule(*pair)) for pair in pairs], dtype=np.float32)


def slot_rule(older: str, newer: str) -> bool:
    """Texts of the form "slot=value": the same slot with another value is a conflict."""
    old_slot, _, old_value = older.partition("=")
    new_slot, _, new_value = newer.partition("=")
    return bool(old_value) and old_slot == new_slot and old_value != new_value
