"""What a conflict detector (kappa) is, and what is known of its quality."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

__all__ = ["AsyncDetector", "Calibration", "Detector", "ScoreArray", "TextPair", "score_async"]

TextPair: TypeAlias = tuple[str, str]
"""(older, newer): kappa is directional and is told which statement is older."""

ScoreArray: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Quality of a detector at a threshold, measured on labelled pairs.

    Attributes:
        threshold: Score from which a pair counts as a conflict.
        precision: Share of the reported conflicts that are real, 0 to 1.
        recall: Share of the real conflicts that are reported, 0 to 1.
        n: Number of labelled pairs behind the figures.

    Example:
        >>> from gcmem import load_detector
        >>> measured = load_detector("bundled").calibration
        >>> measured.recall > 0.5  # or a collector warns
        True
    """

    threshold: float
    precision: float
    recall: float
    n: int


@runtime_checkable
class Detector(Protocol):
    """The conflict function kappa of GC-Mem (section 4.2), scored and directional.

    Implement these three attributes and one method. A detector may also offer
    ``ascore(pairs, query=None)`` (a coroutine, see `AsyncDetector`), ``gate`` (a cheap test of
    which pairs deserve a verdict, see `gcmem.detectors.gate.Gate`), ``relation(name)`` (a
    detector whose score says which statements say the same, "supports", or have nothing to do with
    each other, "neither", see `gcmem.detectors.relation`), ``can_judge(text)`` (False for
    text it must not guess about, such as another language), ``uses_query`` (False where the
    verdict does not depend on the question), ``uses_dates`` (True where the collector is to put
    the time of each statement before it, as `gcmem.detectors.quoting.dated` does),
    ``decided_by(pair, score)`` (the name of the stage behind a verdict, where it has several) and
    ``refuses`` (False where NaN means that no answer came, such as past a budget, and not that the
    text cannot be judged; the pair then counts as unjudged).

    Attributes:
        name: Names the detector and its version; verdicts are cached under it.
        threshold: Score from which a pair counts as a conflict.
        calibration: What was measured, or None.

    Example:
        >>> import numpy as np
        >>> from gcmem import Collector, Memory
        >>> class LastReading:
        ...     name, threshold, calibration = "last reading of a sensor", 0.5, None
        ...
        ...     def score(self, pairs, query=None):
        ...         same = [older.split()[0] == newer.split()[0] for older, newer in pairs]
        ...         return np.array(same, dtype=np.float32)
        >>> readings = [Memory("t1 20.5", 1), Memory("t2 19.0", 2), Memory("t1 21.0", 3)]
        >>> [memory.text for memory in Collector(LastReading()).collect("", readings)]
        ['t2 19.0', 't1 21.0']
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def threshold(self) -> float: ...  # noqa: D102

    @property
    def calibration(self) -> Calibration | None: ...  # noqa: D102

    def score(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        """Score pairs of statements.

        Args:
            pairs: (older, newer) texts.
            query: The question behind the retrieval, for detectors that use it.

        Returns:
            Shape (n,): the probability that the newer statement makes the older one no longer
            true; NaN where the detector gives no verdict (nothing is removed then).
        """
        ...


@runtime_checkable
class AsyncDetector(Detector, Protocol):
    """A detector with a native asynchronous path; others are run in a thread."""

    async def ascore(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        """Score pairs as `Detector.score` does, without blocking the event loop."""
        ...


async def score_async(
    detector: Detector, pairs: Sequence[TextPair], query: str | None = None
) -> ScoreArray:
    """Score with the detector's own ``ascore``, or in a thread where it has none."""
    if isinstance(detector, AsyncDetector):
        return await detector.ascore(pairs, query)
    return await asyncio.to_thread(detector.score, pairs, query)
