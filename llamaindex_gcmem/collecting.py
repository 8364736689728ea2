"""Runs a collector and makes each of its collections visible."""

from __future__ import annotations

from collections.abc import Sequence

from gcmem import Collection, Collector, Memory
from gcmem.collector import HistoryMode
from gcmem.default_collector import default_collector
from gcmem.timestamps import TimeLike
from llamaindex_gcmem.events import observed

__all__ = ["acollect", "collect"]


def collect(
    collector: Collector | None,
    query: str,
    memories: Sequence[Memory],
    as_of: TimeLike | None,
    history: HistoryMode,
) -> Collection:
    """Collect, with events.

    Args:
        collector: Decides; None for the default one, which is only built if there is something
            to decide.
        query: The question.
        memories: The candidates.
        as_of: See `gcmem.Collector.collect`.
        history: See `gcmem.Collector.collect`.
    """
    chosen = _chosen(collector, memories)
    with observed(query, memories, chosen) as done:
        if chosen is None:
            return done(Collection(kept=[]))
        return done(chosen.collect(query, memories, as_of=as_of, history=history))


async def acollect(
    collector: Collector | None,
    query: str,
    memories: Sequence[Memory],
    as_of: TimeLike | None,
    history: HistoryMode,
) -> Collection:
    """Collect as `collect` does, without blocking the event loop."""
    chosen = _chosen(collector, memories)
    with observed(query, memories, chosen) as done:
        if chosen is None:
            return done(Collection(kept=[]))
        return done(await chosen.acollect(query, memories, as_of=as_of, history=history))


def _chosen(collector: Collector | None, memories: Sequence[Memory]) -> Collector | None:
    """The collector, or None where there is nothing to decide and none need be built."""
    return (collector or default_collector()) if memories else None
