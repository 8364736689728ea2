"""Two detectors in a row: the second judges only what the first is unsure about."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from gcmem.detectors.base import (
    Calibration,
    Detector,
    ScoreArray,
    TextPair,
    score_async,
)
from gcmem.detectors.quoting import split_date

__all__ = ["CascadeDetector"]

Steps: TypeAlias = Generator[tuple[Detector, list[TextPair]], ScoreArray, ScoreArray]

_FIRST: Final = 0
_SECOND: Final = 1


class CascadeDetector:
    """A fast detector judges everything, a better one the pairs that the fast one is unsure about.

    A pair whose first score lies in the band is judged by the second detector, and so is one for
    which the first has no verdict (another language). All other scores are the first detector's,
    as they are. What the second one says is placed within the band, so that its own threshold
    falls on the first one's: one threshold then holds for both, and a score within the band always
    means that the second detector decided. No verdict of the second one is no verdict.

    Args:
        first: The detector that sees every pair; its threshold is the cascade's.
        second: The detector that sees the uncertain ones.
        band: (low, high), first scores from low to high are uncertain. It must hold the first
            detector's threshold, above low. None: from half that threshold to halfway between it
            and 1.

    Attributes:
        name: Both detectors, their thresholds and the band; verdicts are cached under it.
        threshold: The first detector's.
        calibration: None; measure the cascade as a whole (`gcmem.calibrate`).
        gate: The first detector's gate, else the second's, else None.
        relation: Likewise.
        uses_query: Whether either depends on the question.
        uses_dates: Whether either reads the dates of statements; the other is not shown them.
        refuses: As the second: where there is no verdict in the end, it is the second's.

    Raises:
        TypeError: One of the two is no detector.
        ValueError: The band is empty, out of range, or does not hold the threshold.

    Example:
        >>> from gcmem import Collector
        >>> from gcmem.detectors import CascadeDetector, LLMDetector, load_detector
        >>> def model(prompt):
        ...     return '{"verdicts": []}'
        >>> judge = CascadeDetector(load_detector("bundled"), LLMDetector(model, name="mine"))
        >>> collector = Collector(judge)
    """

    def __init__(
        self, first: Detector, second: Detector, *, band: tuple[float, float] | None = None
    ) -> None:
        for name, detector in (("first", first), ("second", second)):
            if not isinstance(detector, Detector):
                msg = f"{name} must be a detector, got {detector!r}."
                raise TypeError(msg)
        threshold = float(first.threshold)
        low, high = band if band is not None else (threshold / 2, (1 + threshold) / 2)
        if not 0 <= low < threshold <= high <= 1:
            msg = (
                f"band must be (low, high) with 0 <= low < {threshold:g} <= high <= 1, where "
                f"{threshold:g} is the threshold of {first.name!r}; got {band!r}."
            )
            raise ValueError(msg)
        self.first = first
        self.second = second
        self.band = (float(low), float(high))
        self.threshold = threshold
        self.calibration: Calibration | None = None
        self.name = (
            f"cascade({first.name}@{threshold:.4g}, {second.name}@{second.threshold:.4g}, "
            f"{low:.4g} to {high:.4g})"
        )
        self.uses_query = any(getattr(stage, "uses_query", True) for stage in (first, second))
        self.uses_dates = any(_reads_dates(stage) for stage in (first, second))
        self.refuses = bool(getattr(second, "refuses", True))
        self._low, self._high = _float32_below(low), _float32_above(high)
        self._judged = [0, 0]
        self._lock = threading.Lock()

    @property
    def gate(self) -> Any:
        """The cheap test of which pairs deserve a verdict, or None."""
        own = getattr(self.first, "gate", None)
        return own if own is not None else getattr(self.second, "gate", None)

    @property
    def relation(self) -> Any:
        """What tells which statements say the same or are apart, or None."""
        own = getattr(self.first, "relation", None)
        return own if own is not None else getattr(self.second, "relation", None)

    @property
    def judged(self) -> tuple[int, int]:
        """How many pairs each detector was given so far."""
        with self._lock:
            return self._judged[_FIRST], self._judged[_SECOND]

    def can_judge(self, text: str) -> bool:
        """Whether either detector can judge the text."""
        tests = [getattr(stage, "can_judge", None) for stage in (self.first, self.second)]
        return any(test is None or test(text) for test in tests)

    def decided_by(self, pair: TextPair, score: float) -> str:
        """Name the detector that gave a score: the second within the band, else the first."""
        stage = self.second if self._low <= score <= self._high else self.first
        ask = getattr(stage, "decided_by", None) if stage is self.first else None
        return stage.name if ask is None else str(ask(*self._shown(stage, [pair]), score))

    def score(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        """Score pairs with the first detector, and the uncertain ones with the second.

        Args:
            pairs: (older, newer) texts.
            query: The question behind the retrieval, passed on.

        Returns:
            Shape (n,): scores that one threshold serves; NaN where there is no verdict.
        """
        steps = self._steps(pairs)
        detector, asked = next(steps)
        while True:
            try:
                detector, asked = steps.send(detector.score(asked, query))
            except StopIteration as stop:
                result: ScoreArray = stop.value
                return result

    async def ascore(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        """Score pairs as `score` does, without blocking the event loop."""
        steps = self._steps(pairs)
        detector, asked = next(steps)
        while True:
            try:
                detector, asked = steps.send(await score_async(detector, asked, query))
            except StopIteration as stop:
                result: ScoreArray = stop.value
                return result

    def _steps(self, pairs: Sequence[TextPair]) -> Steps:
        """The body shared by `score` and `ascore`: yields what to score, is sent the scores."""
        first = yield self.first, self._shown(self.first, pairs)
        scores = np.array(first, dtype=np.float32)
        unsure = np.flatnonzero(
            np.isnan(scores) | ((scores >= self._low) & (scores <= self._high))
        ).tolist()
        self._count(_FIRST, len(pairs))
        if unsure:
            second = yield self.second, self._shown(self.second, [pairs[row] for row in unsure])
            scores[unsure] = self._placed(np.asarray(second, dtype=np.float32))
            self._count(_SECOND, len(unsure))
        return scores

    def _shown(self, stage: Detector, pairs: Sequence[TextPair]) -> list[TextPair]:
        """The pairs as a stage reads them: without dates where only the other one reads dates."""
        if not self.uses_dates or _reads_dates(stage):
            return list(pairs)
        return [(split_date(older)[1], split_date(newer)[1]) for older, newer in pairs]

    def _placed(self, scores: ScoreArray) -> ScoreArray:
        """Stretch scores of the second detector into the band, its threshold onto the first's."""
        own = float(self.second.threshold)
        reports = scores.astype(np.float64) >= own
        placed = np.interp(scores, [0.0, own, 1.0], [self._low, self.threshold, self._high])
        placed = placed.astype(np.float32)
        at_least = np.maximum(placed, _float32_above(self.threshold))
        below = np.minimum(placed, np.nextafter(_float32_above(self.threshold), np.float32(0)))
        result: npt.NDArray[np.float32] = np.where(reports, at_least, below)
        result[np.isnan(scores)] = np.nan
        return np.clip(result, np.float32(self._low), np.float32(self._high))

    def _count(self, stage: int, pairs: int) -> None:
        with self._lock:
            self._judged[stage] += pairs

    def __repr__(self) -> str:
        return f"CascadeDetector({self.first!r}, {self.second!r}, band={self.band!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()


def _reads_dates(detector: Detector) -> bool:
    return bool(getattr(detector, "uses_dates", False))


def _float32_above(value: float) -> float:
    """The smallest float32 that is not below a value."""
    near = np.float32(value)
    return float(near if float(near) >= value else np.nextafter(near, np.float32(np.inf)))


def _float32_below(value: float) -> float:
    """The largest float32 that is not above a value."""
    return -_float32_above(-value)
