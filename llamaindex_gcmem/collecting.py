"""Runs a collector and makes each of its collections visible."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from gcmem import Collection, Collector, Memory
from gcmem.collector import HistoryMode
from gcmem.timestamps import TimeLike
from llamaindex_gcmem.events import observed

__all__ = ["acollect", "collect", "default_collector"]


_default: list[Collector] = []
_building = threading.Lock()


def default_collector() -> Collector:
    """Give `Collector()`, built once in a process; its verdicts are cached for all who use it."""
    with _building:
        if not _default:
            _default.append(Collector())
        return _default[0]


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
    with observed(query, memories) as done:
        if not memories:
            return done(Collection(kept=[]))
        chosen = collector or default_collector()
        return done(chosen.collect(query, memories, as_of=as_of, history=history))


async def acollect(
    collector: Collector | None,
    query: str,
    memories: Sequence[Memory],
    as_of: TimeLike | None,
    history: HistoryMode,
) -> Collection:
    """Collect as `collect` does, without blocking the event loop."""
    with observed(query, memories) as done:
        if not memories:
            return done(Collection(kept=[]))
        chosen = collector or default_collector()
        return done(await chosen.acollect(query, memories, as_of=as_of, history=history))
