"""Instrumentation: every collection is announced before it starts and reported when it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent

from gcmem import Collection, Collector, Memory

__all__ = ["MemoryGCEndEvent", "MemoryGCStartEvent", "observed"]

dispatcher = get_dispatcher(__name__)


class MemoryGCStartEvent(BaseEvent):
    """A collection begins.

    Attributes:
        query: The question that the candidates were retrieved for; empty if there is none.
        node_ids: Ids of the candidates, in the order in which they were given.
        settings: How is decided (`gcmem.Collector.settings`); empty where there is nothing to
            decide.
    """

    query: str
    node_ids: list[str]
    settings: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def class_name(cls) -> str:
        """The name of the event."""
        return "MemoryGCStartEvent"


class MemoryGCEndEvent(BaseEvent):
    """A collection is over, with or without success.

    Attributes:
        report: What `gcmem.Collection.report` gives: ids kept and removed, by what and why, pairs
            judged, cache hits, milliseconds; no memory text. Empty if the collection failed.
        error: Name of the exception's type if the collection failed.

    Example:
        >>> from llama_index.core.instrumentation import get_dispatcher
        >>> from llama_index.core.instrumentation.event_handlers.base import BaseEventHandler
        >>> class Printer(BaseEventHandler):
        ...     def handle(self, event, **kwargs):
        ...         if isinstance(event, MemoryGCEndEvent):
        ...             print(event.report["removed"])
        >>> from llamaindex_gcmem import GCMemPostprocessor
        >>> printer, root = Printer(), get_dispatcher()
        >>> root.add_event_handler(printer)
        >>> GCMemPostprocessor().postprocess_nodes([])
        []
        []
        >>> root.event_handlers.remove(printer)
    """

    report: dict[str, Any] = Field(default_factory=dict)
    error: str | None = None

    @classmethod
    def class_name(cls) -> str:
        """The name of the event."""
        return "MemoryGCEndEvent"


@contextmanager
def observed(
    query: str, memories: Sequence[Memory], collector: Collector | None
) -> Iterator[Callable[[Collection], Collection]]:
    """Emit the start event now and the end event on every way out.

    Yields:
        A function that takes the collection, for the report, and gives it back.
    """
    collections: list[Collection] = []

    def done(collection: Collection) -> Collection:
        collections.append(collection)
        return collection

    ids = [memory.id for memory in memories]
    settings = {} if collector is None else collector.settings
    dispatcher.event(MemoryGCStartEvent(query=query, node_ids=ids, settings=settings))
    try:
        yield done
    except BaseException as error:
        dispatcher.event(MemoryGCEndEvent(error=type(error).__name__))
        raise
    dispatcher.event(MemoryGCEndEvent(report=collections[-1].report()))
