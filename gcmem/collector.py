"""The collector: R_k -> kappa -> Phi_T -> what is still true (GC-Mem, section 4)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Generator, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from gcmem.collection import Collection, CollectionStats, Conflict, Excision, Shadow
from gcmem.collector_options import (
    LowRecallWarning,
    UndatedWarning,
    check_choice,
    check_limits,
    check_tie_breaker,
    resolve_cache,
    resolve_detector,
    resolve_explicit,
    resolve_gate,
    resolve_relations,
    warn_of_low_recall,
    warn_of_undated,
)
from gcmem.cross_check import CrossCheck
from gcmem.detectors.base import AsyncDetector, Detector, ScoreArray, score_async
from gcmem.detectors.cache import VerdictCache
from gcmem.detectors.explicit import ExplicitDetector
from gcmem.detectors.usage import Usage, metered
from gcmem.dominance import TieBreaker, UndatedPolicy
from gcmem.given import HistoryMode, asks_for_history, by_scope, checked_memories, known_at
from gcmem.memory import Memory
from gcmem.outcome import assemble
from gcmem.rounds import Budget, Gate, Judge, Request
from gcmem.scope_pass import ScopePass
from gcmem.timestamps import TimeLike, as_of_utc

__all__ = [
    "Collector",
    "Granularity",
    "HistoryMode",
    "LowRecallWarning",
    "OnConflict",
    "OnError",
    "UndatedWarning",
]

OnConflict: TypeAlias = Literal["excise", "drop", "annotate", "report"]
Granularity: TypeAlias = Literal["sentence", "chunk"]
OnError: TypeAlias = Literal["raise", "keep"]
Steps: TypeAlias = Generator[Request, ScoreArray | None, Collection]

_LOG: Final = logging.getLogger("gcmem")


class Collector:
    """Takes the contradicted, outdated statements out of a set of memories.

    Args:
        detector: Kappa; a `Detector`, or a name for `load_detector`. None: the bundled model.
            Links and slots in the metadata are decided first, without it, and the detector
            "explicit" decides by those alone.
        threshold: Score from which a pair is a conflict; None: the detector's own.
        on_conflict: "excise" cuts the contradicted sentences (a memory that says nothing else
            goes whole), "drop" removes the whole memory, "annotate" keeps it and adds
            ``superseded_by`` and ``valid_until`` to its metadata, "report" keeps it as it is.
        granularity: Judge "sentence" by sentence, or each "chunk" as one.
        undated: Undated memories are judged but neither beat nor are beaten ("keep"), count as
            "oldest", or are an error ("raise").
        max_pairs: How many pairs the detector may score in one call; the rest is kept.
        deadline: Seconds that one call may spend on judging; the rest is kept.
        on_error: "raise" the detector's error, or "keep" what it could not judge and log it.
        cache: Where verdicts are kept between calls: None for a cache of this collector's own in
            memory, a path for a SQLite file that processes share, False for none, or any
            `VerdictCache`.
        gate: Which pairs deserve a verdict: None for the detector's own gate if it has one, False
            for none, or any `Gate`. A gate can only cost recall.
        tie_breaker: Orders memories of the same time: a metadata key ("seq") or a callable.
        explicit: The rules for metadata.
        cross_check: Whether verdicts of which the detector is in doubt are checked against the sure
            ones beside them (`gcmem.cross_check`): what says the same falls together, and one
            change changes one thing. None: yes where the detector can tell, except with "chunk" and
            "drop", which is the paper's Phi_T to the letter.

    Raises:
        TypeError: The detector or the cache lacks what it needs.
        ValueError: A parameter has a value that is not allowed; the message says which are.

    Example:
        >>> from gcmem import Collector, Memory
        >>> old = Memory("The office is on floor 2.", "2025-01-01", id="old")
        >>> new = Memory("The office moved to floor 4.", "2026-01-01", id="new", supersedes="old")
        >>> collection = Collector("explicit").collect("Where is the office?", [old, new])
        >>> [memory.id for memory in collection.kept]
        ['new']
    """

    def __init__(
        self,
        detector: Detector | str | None = None,
        *,
        threshold: float | None = None,
        on_conflict: OnConflict = "excise",
        granularity: Granularity = "sentence",
        undated: UndatedPolicy = "keep",
        max_pairs: int | None = None,
        deadline: float | None = None,
        on_error: OnError = "raise",
        cache: VerdictCache | str | Path | Literal[False] | None = None,
        gate: Gate | Literal[False] | None = None,
        tie_breaker: TieBreaker | None = None,
        explicit: ExplicitDetector | None = None,
        cross_check: bool | None = None,
    ) -> None:
        check_choice("on_conflict", on_conflict, get_args(OnConflict))
        check_choice("granularity", granularity, get_args(Granularity))
        check_choice("undated", undated, get_args(UndatedPolicy))
        check_choice("on_error", on_error, get_args(OnError))
        check_limits(threshold, max_pairs, deadline)
        self.detector = resolve_detector(detector)
        self.threshold = threshold if threshold is not None else self.detector.threshold
        self.on_conflict: OnConflict = on_conflict
        self.granularity: Granularity = granularity
        self.undated: UndatedPolicy = undated
        self.max_pairs = max_pairs
        self.deadline = deadline
        self.on_error: OnError = on_error
        self.cache: VerdictCache | None = resolve_cache(cache)
        self.gate: Gate | None = resolve_gate(gate, self.detector)
        check_tie_breaker(tie_breaker)
        self.tie_breaker = tie_breaker
        self.explicit = resolve_explicit(explicit, self.detector)
        to_the_letter = granularity == "chunk" and on_conflict == "drop"
        self.cross_check = cross_check
        self._warned_of_undated = False
        self._relations = (
            None
            if cross_check is None and to_the_letter
            else resolve_relations(self.detector, cross_check)
        )
        warn_of_low_recall(self.detector)

    def collect(
        self,
        query: str,
        memories: Iterable[Memory],
        as_of: TimeLike | None = None,
        history: HistoryMode = False,
    ) -> Collection:
        """Decide which of the memories are still true.

        Args:
            query: The question that they were retrieved for.
            memories: The candidate set R_k, in any order.
            as_of: Read as of this time: what became known later is hidden, and validity is that
                of then. None is now.
            history: True removes nothing and annotates instead, for questions about the past;
                "auto" recognises those (`gcmem.history`); a callable may recognise them.

        Returns:
            What stays, in input order, and what goes and why. The memories are not changed.

        Raises:
            TypeError: ``memories`` holds something that is no `Memory`.
            Exception: What the detector raised, where ``on_error`` is "raise".
        """
        steps = self._steps(query, memories, as_of, history)
        answer: ScoreArray | None = None
        with metered() as meter:
            while True:
                request = _advance(steps, answer)
                if isinstance(request, Collection):
                    return self._finished(request, meter.usage)
                detector, pairs = request
                try:
                    answer = detector.score(pairs, query)
                except Exception as error:  # noqa: BLE001  (see _failed)
                    answer = self._failed(error)

    async def acollect(
        self,
        query: str,
        memories: Iterable[Memory],
        as_of: TimeLike | None = None,
        history: HistoryMode = False,
    ) -> Collection:
        """Decide as `collect` does, without blocking the event loop.

        A detector with ``ascore`` is awaited; any other is run in a thread.
        """
        if not isinstance(self.detector, AsyncDetector):
            return await asyncio.to_thread(self.collect, query, memories, as_of, history)
        steps = self._steps(query, memories, as_of, history)
        answer: ScoreArray | None = None
        with metered() as meter:
            while True:
                request = await asyncio.to_thread(_advance, steps, answer)
                if isinstance(request, Collection):
                    return self._finished(request, meter.usage)
                detector, pairs = request
                try:
                    answer = await score_async(detector, pairs, query)
                except Exception as error:  # noqa: BLE001  (see _failed)
                    answer = self._failed(error)

    @property
    def settings(self) -> dict[str, str | float]:
        """How it decides, as plain values for logs and traces."""
        return {
            "detector": self.detector.name,
            "threshold": self.threshold,
            "on_conflict": self.on_conflict,
            "granularity": self.granularity,
        }

    def __repr__(self) -> str:
        return (
            f"Collector({self.detector.name!r}, threshold={self.threshold!r}, "
            f"on_conflict={self.on_conflict!r}, granularity={self.granularity!r})"
        )

    def _steps(
        self,
        query: str,
        memories: Iterable[Memory],
        as_of: TimeLike | None,
        history: HistoryMode,
    ) -> Steps:
        """The body shared by `collect` and `acollect`: yields pairs, is sent scores."""
        started = time.perf_counter()
        given = checked_memories(memories)
        now = datetime.now(UTC) if as_of is None else as_of_utc(as_of)
        policy = "annotate" if asks_for_history(history, query, now) else self.on_conflict
        visible = known_at(given, None if as_of is None else now)
        if self.tie_breaker is None and not self._warned_of_undated:
            self._warned_of_undated = warn_of_undated([given[position] for position in visible])
        stats = CollectionStats()
        deadline = None if self.deadline is None else time.monotonic() + self.deadline
        budget = Budget(self.max_pairs, deadline)
        judge = Judge(
            detector=self.detector,
            threshold=self.threshold,
            query=query if getattr(self.detector, "uses_query", True) else None,
            cache=self.cache,
            budget=budget,
            stats=stats,
        )
        check = self._checking(judge)
        shadows: dict[int, Shadow] = {}
        excisions: dict[int, Sequence[Excision]] = {}
        conflicts: list[Conflict] = []
        for _, positions in by_scope(given, visible):
            scope_pass = ScopePass(
                memories=[given[position] for position in positions],
                judge=judge,
                cross_check=check,
                explicit=self.explicit,
                gate=self.gate,
                now=now,
                by_sentence=self.granularity == "sentence",
                whole_only=policy == "drop",
                undated=self.undated,
                tie_breaker=self.tie_breaker,
            )
            yield from scope_pass.run()
            outcome = scope_pass.outcome
            shadows.update({positions[i]: shadow for i, shadow in outcome.shadows.items()})
            excisions.update({positions[i]: parts for i, parts in outcome.excisions.items()})
            conflicts.extend(outcome.conflicts)
        if check is not None:
            stats.pairs_cross_checked = check.pairs_read
        stats.seconds = time.perf_counter() - started
        return assemble(given, visible, shadows, excisions, conflicts, policy=policy, stats=stats)

    def _checking(self, judge: Judge) -> CrossCheck | None:
        """What checks verdicts; its pairs come out of the same budget, and are counted apart."""
        if self._relations is None:
            return None
        same, other = (
            Judge(relation, relation.threshold, None, self.cache, judge.budget, CollectionStats())
            for relation in self._relations
        )
        return CrossCheck(judge, same, other)

    def _finished(self, collection: Collection, usage: Usage) -> Collection:
        """Enter what the detector's chat model cost, and log the fresh collection."""
        collection.stats.model_calls = usage.calls
        collection.stats.input_tokens = usage.input_tokens
        collection.stats.output_tokens = usage.output_tokens
        if _LOG.isEnabledFor(logging.DEBUG):
            _LOG.debug("collected by %s: %s", self.settings, collection.report())
        return collection

    def _failed(self, error: Exception) -> ScoreArray | None:
        """Raise the error of the detector, or log it where the user chose to keep."""
        if self.on_error == "raise":
            raise error
        _LOG.warning(
            "Detector %r failed; what it did not judge is kept and counted in pairs_unjudged.",
            self.detector.name,
            exc_info=error,
        )
        return None


def _advance(steps: Steps, answer: ScoreArray | None) -> Request | Collection:
    try:
        return steps.send(answer)
    except StopIteration as stop:
        collection: Collection = stop.value
        return collection
