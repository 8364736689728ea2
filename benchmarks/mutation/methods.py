"""What each method makes of the same frozen R_k.

Re-ranking (newest first, time decay) only orders: everything is still shown. Multi-factor keeps
GC-Mem's conflicts and replaces time by a weighted score as what dominates: of two that conflict
the lower score goes. Its conflicts come from the oracle, so that only the score is measured.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from benchmarks.mutation.candidates import Candidates
from benchmarks.mutation.instances import Chunk, Instance
from gcmem import Collector, Memory
from gcmem.detectors.base import Calibration, ScoreArray, TextPair

HALF_LIFE_DAYS: Final = 30.0
FACTORS: Final = ("recency", "relevance", "usage", "stability")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a method shows, in order, and what it cost."""

    chunks: tuple[Chunk, ...]
    seconds: float = 0.0
    judged: int = 0
    error: bool = False
    refused: int = 0


Method = Callable[[Candidates], Shown]


class StateOracle:
    """Knows the state of every chunk: two conflict when their states differ. The ceiling.

    With a recall below 1 it misses that share of the pairs of texts, chosen by a hash; another
    `salt` chooses others.
    """

    threshold = 0.5
    calibration: Calibration | None = None

    def __init__(self, instance: Instance, *, recall: float = 1.0, salt: int = 0) -> None:
        self.name = f"oracle {recall:g} {salt}"
        self.recall = recall
        self.salt = salt
        self._states = {chunk.text: chunk.state for chunk in instance.chunks}

    def score(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        del query
        return np.array([self._finds(*pair) for pair in pairs], dtype=np.float32)

    def _finds(self, older: str, newer: str) -> bool:
        states = (self._states.get(older), self._states.get(newer))
        if None in states or states[0] == states[1]:
            return False
        digest = hashlib.blake2b(
            f"{self.salt}\x1f{older}\x1f{newer}".encode(), digest_size=8
        ).digest()
        return int.from_bytes(digest) / 2**64 < self.recall


def standard(candidates: Candidates) -> Shown:
    return Shown(candidates.chunks)


def newest_first(candidates: Candidates) -> Shown:
    return Shown(tuple(sorted(candidates.chunks, key=lambda chunk: -chunk.day)))


def time_decay(candidates: Candidates) -> Shown:
    """Relevance halves with every 30 days of age."""
    today = max(chunk.day for chunk in candidates.instance.chunks)

    def score(chunk: Chunk) -> float:
        fading: float = 0.5 ** ((today - chunk.day) / HALF_LIFE_DAYS)
        return candidates.relevance[chunk.id] * fading

    return Shown(tuple(sorted(candidates.chunks, key=score, reverse=True)))


def collecting(collector: Collector) -> Method:
    """GC-Mem with one collector for every instance."""
    return lambda candidates: _collected(candidates, collector, _memories(candidates))


def oracle(recall: float = 1.0, *, salt: int = 0) -> Method:
    """GC-Mem with the detector that knows the states."""

    def method(candidates: Candidates) -> Shown:
        detector = StateOracle(candidates.instance, recall=recall, salt=salt)
        return _collected(candidates, _to_the_letter(detector), _memories(candidates))

    return method


def multi_factor(*, without: str | None = None, only: str | None = None) -> Method:
    """A weighted score dominates; equal weights over the factors that are left in."""
    weights = {name: float(name != without and only in {None, name}) for name in FACTORS}

    def method(candidates: Candidates) -> Shown:
        scores = _scores(candidates, weights)
        ranked = sorted(candidates.chunks, key=lambda chunk: (scores[chunk.id], chunk.day))
        place = {chunk.id: rank for rank, chunk in enumerate(ranked)}
        memories = [Memory(c.text, 60 * place[c.id], id=c.id) for c in candidates.chunks]
        detector = StateOracle(candidates.instance)
        return _collected(candidates, _to_the_letter(detector), memories)

    return method


def _scores(candidates: Candidates, weights: Mapping[str, float]) -> dict[str, float]:
    days = {chunk.id: float(chunk.day) for chunk in candidates.chunks}
    factors = {
        "recency": days,
        "relevance": candidates.relevance,
        "usage": candidates.usage,
        "stability": candidates.likeness,
    }
    scaled = {name: _scaled(values) for name, values in factors.items()}
    return {id: sum(weight * scaled[name][id] for name, weight in weights.items()) for id in days}


def _scaled(values: Mapping[str, float]) -> dict[str, float]:
    least, most = min(values.values()), max(values.values())
    return {id: (value - least) / ((most - least) or 1.0) for id, value in values.items()}


def _to_the_letter(detector: StateOracle) -> Collector:
    return Collector(detector, granularity="chunk", on_conflict="drop", gate=False, cache=False)


def _memories(candidates: Candidates) -> list[Memory]:
    return [chunk.memory(candidates.relevance[chunk.id]) for chunk in candidates.chunks]


def _collected(candidates: Candidates, collector: Collector, memories: Sequence[Memory]) -> Shown:
    started = time.perf_counter()
    collection = collector.collect(candidates.instance.query, memories)
    seconds = time.perf_counter() - started
    kept = zip(collection.kept_indices, collection.kept, strict=True)
    return Shown(
        # What is left of a chunk's text: a reader must not see what was cut out.
        tuple(replace(candidates.chunks[i], text=memory.text) for i, memory in kept),
        seconds,
        collection.stats.pairs_judged,
        collection.stats.pairs_unjudged > 0,
        collection.stats.pairs_refused,
    )


def methods_for(collectors: Mapping[str, Collector]) -> dict[str, Method]:
    """Every method: the ones beside us, GC-Mem with each detector, the ceiling, the ablation."""
    return {
        "standard": standard,
        "timestamp re-rank": newest_first,
        "time decay": time_decay,
        **{f"GC-Mem, {name}": collecting(collector) for name, collector in collectors.items()},
        "GC-Mem, oracle": oracle(),
        "multi-factor": multi_factor(),
        **{f"multi-factor, no {name}": multi_factor(without=name) for name in FACTORS},
        **{f"multi-factor, {name} only": multi_factor(only=name) for name in FACTORS[::2]},
    }
