"""The rounds of judging, written once as generators that yield pairs and are sent scores.

A memory is walked against the memories that may shadow it, newest first, a few more in each round,
and is not judged further once a verdict has fallen. Since Phi_T asks only whether *some* newer
memory conflicts, this gives the same kept set as judging every pair.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from gcmem.collection import CollectionStats
from gcmem.detectors.base import Detector, ScoreArray, TextPair
from gcmem.detectors.cache import VerdictCache, verdict_key
from gcmem.detectors.quoting import dated, split_date
from gcmem.sentences import Span

__all__ = ["Asking", "Budget", "Gate", "Hit", "Judge", "Request", "Requests", "Statement", "walk"]

_BATCH: Final = 64

Request: TypeAlias = tuple[Detector, list[TextPair]]
"""Pairs to be scored, and what is to score them."""

R = TypeVar("R")
Asking: TypeAlias = Generator[Request, ScoreArray | None, R]
"""Yields what is to be scored, is sent the scores (None: the detector failed)."""

Requests: TypeAlias = Asking["list[Hit | None]"]
"""Returns hits."""


class Gate(Protocol):
    """A cheap test of which pairs of statements deserve a verdict."""

    def allowed(self, older: Sequence[str], newer: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Give shape (len(older), len(newer)): True where the pair may be about one slot."""
        ...


@dataclass(frozen=True, slots=True)
class Statement:
    """One judged statement of one memory.

    Attributes:
        memory: Position of the memory among those of its scope.
        span: Where the statement stands in the memory's text.
        part_of: For a clause, the statement that it is a part of.
        recorded: When it was recorded, for a detector that reads dates.
    """

    memory: int
    span: Span
    part_of: Statement | None = None
    recorded: datetime | None = None

    @property
    def text(self) -> str:
        """What the memory says."""
        return self.span.text

    @property
    def judged(self) -> str:
        """What the detector is given: the text, and its date where the detector reads dates."""
        return self.text if self.recorded is None else dated(self.text, self.recorded)


@dataclass(frozen=True, slots=True)
class Hit:
    """A verdict that a statement is no longer true.

    Attributes:
        by: The newer statement.
        score: The detector's score.
        via: The statement that the score is about, where that is another one that says the same.
    """

    by: Statement
    score: float
    via: Statement | None = None


@dataclass(slots=True)
class Budget:
    """What one call may spend on judging; shared by all that judge in it.

    Attributes:
        max_pairs: How many pairs may be scored, or None.
        deadline: When to stop, on the clock of `time.monotonic`, or None.
        spent: How many pairs were scored.
        ended: Whether it is used up, or an error ended the judging.
    """

    max_pairs: int | None = None
    deadline: float | None = None
    spent: int = 0
    ended: bool = False

    def part_of(self, pairs: list[TextPair]) -> tuple[list[TextPair], list[TextPair]]:
        """Split pairs into those to score now and the rest."""
        size = len(pairs)
        if self.deadline is not None:
            if time.monotonic() >= self.deadline:
                self.ended = True
                return [], pairs
            size = min(size, _BATCH)
        if self.max_pairs is not None:
            left = self.max_pairs - self.spent
            if left <= 0:
                self.ended = True
                return [], pairs
            size = min(size, left)
        return pairs[:size], pairs[size:]


@dataclass(slots=True)
class Judge:
    """Scores pairs through the cache, within the budget, and counts what it does.

    Attributes:
        detector: Kappa.
        threshold: Score from which a pair is a conflict.
        query: The question, where the detector uses it.
        cache: Where verdicts are kept, or None.
        budget: What may be spent.
        stats: Where costs are counted.
    """

    detector: Detector
    threshold: float
    query: str | None
    cache: VerdictCache | None
    budget: Budget
    stats: CollectionStats
    _known: dict[TextPair, float] = field(default_factory=dict)
    _unanswered: set[TextPair] = field(default_factory=set)

    def scores(
        self, pairs: Sequence[TextPair]
    ) -> Generator[Request, ScoreArray | None, list[float | None]]:
        """Score pairs; None where the budget or an error left a pair without a score."""
        wanted = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        wanted = self._settle_without_model(wanted)
        wanted = self._read_cache(wanted)
        while wanted and not self.budget.ended:
            batch, wanted = self.budget.part_of(wanted)
            if not batch:
                break
            yield_back = yield self.detector, batch
            if yield_back is None:
                self.budget.ended = True
                break
            self._keep(batch, self._checked(yield_back, len(batch)))
        results = [self._known.get(pair) for pair in pairs]
        self.stats.pairs_unjudged += sum(
            result is None or pair in self._unanswered
            for pair, result in zip(pairs, results, strict=True)
        )
        return results

    def known(self, pair: TextPair) -> float | None:
        """Give the score of a pair that was asked about, or None where there is none."""
        return self._known.get(pair)

    @property
    def reads_dates(self) -> bool:
        """Whether the detector is to be given the time of each statement."""
        return bool(getattr(self.detector, "uses_dates", False))

    def is_conflict(self, score: float | None) -> bool:
        """Whether a score is a verdict that removes; no score and NaN are none."""
        return score is not None and score >= self.threshold

    def decided_by(self, pair: TextPair, score: float) -> str:
        """Name the stage behind a verdict: the detector, or the one that it names itself."""
        ask: Callable[[TextPair, float], str] | None = getattr(self.detector, "decided_by", None)
        return self.detector.name if ask is None else ask(pair, score)

    def _know(self, scores: Mapping[TextPair, float]) -> None:
        """Take scores over, and count the verdicts among them for the stage that gave them."""
        self._known.update(scores)
        for pair, score in scores.items():
            if not math.isnan(score):
                self.stats.count_stage(self.decided_by(pair, score))

    def _settle_without_model(self, pairs: list[TextPair]) -> list[TextPair]:
        """Equal texts never conflict; text that the detector cannot judge gets no verdict."""
        can_judge = getattr(self.detector, "can_judge", None)
        rest: list[TextPair] = []
        for pair in pairs:
            older, newer = self._undated(pair)
            if older == newer:
                self._known[pair] = 0.0
            elif can_judge is not None and not (can_judge(older) and can_judge(newer)):
                self._known[pair] = float("nan")
                self.stats.pairs_refused += 1
            else:
                rest.append(pair)
        return rest

    def _undated(self, pair: TextPair) -> TextPair:
        if not self.reads_dates:
            return pair
        return split_date(pair[0])[1], split_date(pair[1])[1]

    def _read_cache(self, pairs: list[TextPair]) -> list[TextPair]:
        if self.cache is None or not pairs:
            return pairs
        keys = {pair: self._key(pair) for pair in pairs}
        found = self.cache.get_many(list(keys.values()))
        rest: list[TextPair] = []
        for pair, key in keys.items():
            if key in found:
                self._know({pair: found[key]})
                self.stats.cache_hits += 1
            else:
                rest.append(pair)
        return rest

    def _checked(self, scores: ScoreArray, expected: int) -> ScoreArray:
        array = np.asarray(scores, dtype=np.float32)
        if array.shape != (expected,):
            msg = (
                f"detector {self.detector.name!r} was given {expected} pairs and must return "
                f"scores of shape ({expected},), got shape {array.shape}."
            )
            raise ValueError(msg)
        if bool(((array < 0) | (array > 1)).any()):
            msg = (
                f"detector {self.detector.name!r} must return probabilities from 0 to 1 (or NaN), "
                f"got values from {float(np.nanmin(array))} to {float(np.nanmax(array))}."
            )
            raise ValueError(msg)
        return array

    def _keep(self, batch: list[TextPair], scores: ScoreArray) -> None:
        self.budget.spent += len(batch)
        fresh = {pair: float(score) for pair, score in zip(batch, scores, strict=True)}
        self._know(fresh)
        verdicts = {pair: score for pair, score in fresh.items() if not math.isnan(score)}
        without = [pair for pair in fresh if pair not in verdicts]
        if getattr(self.detector, "refuses", True):
            self.stats.pairs_judged += len(batch)
            self.stats.pairs_refused += len(without)
        else:  # no answer came: counted as unjudged, but not asked about again
            self.stats.pairs_judged += len(verdicts)
            self._unanswered.update(without)
        if self.cache is not None:
            self.cache.put_many({self._key(pair): score for pair, score in verdicts.items()})

    def _key(self, pair: TextPair) -> bytes:
        return verdict_key(self.detector.name, *pair, self.query)


def walk(
    older: Sequence[Statement],
    candidates: Sequence[Sequence[Statement]],
    judge: Judge,
    *,
    one_hit_settles_memory: bool = False,
) -> Requests:
    """Judge statements against their candidates until each has a hit or no candidate is left.

    Args:
        older: The statements that may be stale.
        candidates: For each, the newer statements that may contradict it, newest first.
        judge: Scores the pairs.
        one_hit_settles_memory: Stop with a memory as soon as one of its statements has a hit.

    Returns:
        For each statement the hit with the newest contradicting statement, or None.
    """
    hits: list[Hit | None] = [None] * len(older)
    position = [0] * len(older)
    settled: set[int] = set()
    width = 1
    active = [i for i in range(len(older)) if candidates[i]]
    while active:
        asked = [(i, c) for i in active for c in candidates[i][position[i] : position[i] + width]]
        scores = yield from judge.scores([(older[i].judged, c.judged) for i, c in asked])
        for (i, candidate), score in zip(asked, scores, strict=True):
            if hits[i] is None and score is not None and judge.is_conflict(score):
                hits[i] = Hit(candidate, score)
                settled.add(older[i].memory)
        for i in active:
            position[i] += width
        active = [
            i
            for i in active
            if hits[i] is None
            and position[i] < len(candidates[i])
            and not (one_hit_settles_memory and older[i].memory in settled)
        ]
        width *= 2
    return hits
