"""One row: one collection against judging every pair, on the same sets, with the same model.

Bounded where it would take minutes. Of more than `Bounds.sample` pairs, judging every pair is
measured on a random sample of so many, and scaled up. Where more than `Bounds.whole` pairs are
possible, gcmem collects with a stand-in that finds no conflict and takes no time, and the time that
the model needs for the pairs it was asked about, again by a sample, is added. Nothing ends early
there, since nothing is found stale, so this is an upper bound for gcmem. A row says what was
extrapolated.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

import numpy as np

from benchmarks.costs.peak import peak_mib
from benchmarks.costs.sets import count_pairs, every_pair
from gcmem import Collection, Collector, Memory
from gcmem.detectors.base import Calibration, Detector, ScoreArray, TextPair
from gcmem.detectors.gate import Gate
from gcmem.encoder import SentenceEncoder


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is measured in full.

    Attributes:
        whole: Up to so many possible pairs gcmem judges with the model itself.
        sample: Up to so many pairs are scored to time the model; of more, a sample of this size.
        seconds: No further set of a row is begun once it has taken so long.
    """

    whole: int
    sample: int
    seconds: float


class NotingDetector:
    """Stands in for a detector: finds no conflict, takes no time, and notes what it was asked."""

    threshold = 0.5
    calibration: Calibration | None = None
    uses_query = False

    def __init__(self, stands_for: Detector) -> None:
        self.name = f"stand-in for {stands_for.name}"
        self.can_judge: Callable[[str], bool] = getattr(stands_for, "can_judge", lambda _: True)
        self.asked: list[TextPair] = []

    def score(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        del query
        self.asked += pairs
        return np.zeros(len(pairs), dtype=np.float32)

    def take(self) -> list[TextPair]:
        """Give what was asked since the last time."""
        asked, self.asked = self.asked, []
        return asked


@dataclass(slots=True)
class Cost:
    """What one set cost, in seconds, and which of these are extrapolated."""

    seconds: dict[str, float] = field(default_factory=dict)
    extrapolated: set[str] = field(default_factory=set)
    possible: int = 0
    judged: int = 0


def measure(
    sets: Sequence[Sequence[Memory]], detector: Detector, *, bounds: Bounds, seed: int
) -> dict[str, Any]:
    """Measure the sets in turn, as far as the bounds allow; only the first where gcmem is bounded.

    Returns:
        Medians over the sets, means of the pairs, what was extrapolated, and the peak of this
        process's memory after gcmem's first set, before every pair of it was judged.
    """
    detector.score([("warm up", "the model")])
    random = Random(seed)
    costs: list[Cost] = []
    peak = 0.0
    started = time.perf_counter()
    for memories in sets:
        cost = Cost()
        in_full = count_pairs(memories) <= bounds.whole
        _collect(list(memories), detector, cost, in_full=in_full, bounds=bounds, random=random)
        peak = peak or peak_mib()
        pairs = every_pair(memories)  # after the peak: gcmem does not make them all
        cost.possible = len(pairs)
        seconds, scored = model_seconds(detector, pairs, sample=bounds.sample, random=random)
        cost.seconds["all pairs"] = seconds
        if scored < len(pairs):
            cost.extrapolated.add("all pairs")
        costs.append(cost)
        if not in_full or time.perf_counter() - started > bounds.seconds:
            break
    return _figures(costs, peak)


def model_seconds(
    detector: Detector, pairs: list[TextPair], *, sample: int, random: Random
) -> tuple[float, int]:
    """Give the seconds to score all pairs, scaled up from a sample where there are many."""
    if not pairs:
        return 0.0, 0
    chosen = pairs if len(pairs) <= sample else random.sample(pairs, sample)
    started = time.perf_counter()
    detector.score(chosen)
    return (time.perf_counter() - started) * len(pairs) / len(chosen), len(chosen)


def fresh_gate(detector: Detector) -> Gate | Literal[False]:
    """Give the detector's own gate with a loaded encoder that knows no vectors; False for none."""
    gate = getattr(detector, "gate", None)
    if not isinstance(gate, Gate):
        return False
    encoder = SentenceEncoder(gate.encoder.folder)
    encoder.encode(["warm up"])
    return Gate(gate.threshold, encoder=encoder)


def _collect(
    memories: list[Memory],
    detector: Detector,
    cost: Cost,
    *,
    in_full: bool,
    bounds: Bounds,
    random: Random,
) -> None:
    """Collect once cold and then warm, and enter what both cost."""
    if in_full:
        collector = Collector(detector, gate=fresh_gate(detector))
        cost.seconds["cold"], collection = _timed(collector, memories)
        cost.judged = collection.stats.pairs_judged
        cost.seconds["warm"] = statistics.median(_timed(collector, memories)[0] for _ in range(3))
        return
    noting = NotingDetector(detector)
    collector = Collector(noting, gate=fresh_gate(detector))
    per_pair: float | None = None
    for state in ("cold", "warm"):
        elapsed, _ = _timed(collector, memories)
        asked = noting.take()
        if per_pair is None:
            cost.judged = len(asked)
            seconds, _ = model_seconds(detector, asked, sample=bounds.sample, random=random)
            per_pair = seconds / max(len(asked), 1)
        cost.seconds[state] = elapsed + per_pair * len(asked)
        if asked:  # warm as well, where a set needs more verdicts than the cache keeps
            cost.extrapolated.add(state)


def _timed(collector: Collector, memories: list[Memory]) -> tuple[float, Collection]:
    started = time.perf_counter()
    collection = collector.collect("q", memories)
    return time.perf_counter() - started, collection


def _figures(costs: Sequence[Cost], peak: float) -> dict[str, Any]:
    names = ("all pairs", "cold", "warm")
    median = {n: statistics.median(cost.seconds[n] for cost in costs) for n in names}
    possible = sum(cost.possible for cost in costs)
    judged = sum(cost.judged for cost in costs)
    extrapolated = set().union(*(cost.extrapolated for cost in costs))
    return {
        "sets": len(costs),
        "milliseconds": {name: round(1000 * value, 2) for name, value in median.items()},
        "extrapolated": [name for name in names if name in extrapolated],
        "cold is faster by": round(median["all pairs"] / median["cold"], 2),
        "warm is faster by": round(median["all pairs"] / median["warm"], 1),
        "pairs possible": round(possible / len(costs), 1),
        "pairs judged": round(judged / len(costs), 1),
        "share judged": round(judged / max(possible, 1), 4),
        "peak MiB": round(peak, 1),
    }
