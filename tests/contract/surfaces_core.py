"""The bare core as a surface of the contract suite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gcmem import Collector, Memory


class CoreSurface:
    """Pushes memories through the collector itself."""

    name = "core"

    def collect(
        self,
        memories: Sequence[Memory],
        *,
        query: str = "q",
        collector: Collector,
        as_of: Any = None,
        history: Any = False,
    ) -> list[Memory]:
        return collector.collect(query, memories, as_of=as_of, history=history).kept

    async def acollect(
        self,
        memories: Sequence[Memory],
        *,
        query: str = "q",
        collector: Collector,
        as_of: Any = None,
        history: Any = False,
    ) -> list[Memory]:
        collection = await collector.acollect(query, memories, as_of=as_of, history=history)
        return collection.kept


SURFACES = [CoreSurface()]
