"""Every collection can be watched: a start and an end event on every path, and spans."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from llama_index.core.bridge.pydantic import Field
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.span import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler

from gcmem import Collector
from llamaindex_gcmem import (
    GCMemPostprocessor,
    GCMemRetriever,
    MemoryGCEndEvent,
    MemoryGCStartEvent,
)
from tests.llamaindex.support import recorded_events, scored, slot_collector
from tests.llamaindex.test_retriever import ListRetriever
from tests.support import ScriptedDetector

NODES = [scored("city=A", 1), scored("city=B", 2)]


class SpanNames(BaseSpanHandler[BaseSpan]):
    """Keeps the names of spans, and of the one that each lies in."""

    entered: list[tuple[str, str | None]] = Field(default_factory=list)

    @classmethod
    def class_name(cls) -> str:
        return "SpanNames"

    def new_span(
        self, id_: str, bound_args: inspect.BoundArguments, instance: Any = None,
        parent_span_id: str | None = None, tags: Any = None, **kwargs: Any,
    ) -> BaseSpan:  # fmt: skip
        parent = parent_span_id and parent_span_id.partition("-")[0]
        self.entered.append((id_.partition("-")[0], parent))
        return BaseSpan(id_=id_, parent_id=parent_span_id)

    def prepare_to_exit_span(self, id_: str, *args: Any, **kwargs: Any) -> Any:
        return None

    def prepare_to_drop_span(self, id_: str, *args: Any, **kwargs: Any) -> Any:
        return None


def collections(events: list[Any]) -> list[Any]:
    return [e for e in events if isinstance(e, MemoryGCStartEvent | MemoryGCEndEvent)]


async def every_path(postprocessor: GCMemPostprocessor, retriever: GCMemRetriever) -> None:
    nodes = retriever.base_retriever.nodes  # type: ignore[attr-defined]
    postprocessor.postprocess_nodes(nodes, query_str="where?")
    await postprocessor.apostprocess_nodes(nodes, query_str="where?")
    retriever.retrieve("where?")
    await retriever.aretrieve("where?")
    retriever.collect("where?")


async def test_each_path_reports_what_was_removed_by_what_and_no_memory_text() -> None:
    gc = GCMemPostprocessor(collector=slot_collector())
    retriever = GCMemRetriever(ListRetriever(NODES), collector=slot_collector())
    with recorded_events() as events:
        await every_path(gc, retriever)
    found = collections(events)
    assert [type(event) for event in found] == [MemoryGCStartEvent, MemoryGCEndEvent] * 5
    for start, end in zip(found[::2], found[1::2], strict=True):
        assert (start.query, start.node_ids) == ("where?", ["city=A", "city=B"])
        assert end.report["kept"] == ["city=B"]
        assert end.report["removed"] == [
            {"id": "city=A", "by": "city=B", "score": 1.0, "reason": "scripted"}
        ]
        assert end.error is None
        assert end.model_dump()["class_name"] == "MemoryGCEndEvent"


async def test_an_empty_retrieval_is_reported_too() -> None:
    with recorded_events() as events:
        await every_path(GCMemPostprocessor(), GCMemRetriever(ListRetriever([])))
    found = collections(events)
    assert [type(event) for event in found] == [MemoryGCStartEvent, MemoryGCEndEvent] * 5
    assert all(event.report["kept"] == [] for event in found[1::2])


async def test_a_failed_collection_is_reported_without_its_message() -> None:
    def broken(older: str, newer: str) -> bool:
        raise ConnectionError(f"no verdict about {older}")

    gc = GCMemPostprocessor(collector=Collector(ScriptedDetector(broken)))
    with recorded_events() as events:
        with pytest.raises(ConnectionError):
            gc.postprocess_nodes(NODES)
        with pytest.raises(ConnectionError):
            await gc.apostprocess_nodes(NODES)
    found = collections(events)
    assert [type(event) for event in found] == [MemoryGCStartEvent, MemoryGCEndEvent] * 2
    assert [(event.error, event.report) for event in found[1::2]] == [("ConnectionError", {})] * 2


async def test_every_step_has_one_span_and_they_nest() -> None:
    root, spans = get_dispatcher(), SpanNames()
    spans.entered = []
    root.add_span_handler(spans)
    try:
        gc = GCMemPostprocessor(collector=slot_collector())
        gc.postprocess_nodes(NODES)
        await gc.apostprocess_nodes(NODES)
        retriever = GCMemRetriever(ListRetriever(NODES), collector=slot_collector())
        retriever.retrieve("q")
        await retriever.aretrieve("q", k=1)
    finally:
        root.span_handlers.remove(spans)
    assert spans.entered == [
        ("GCMemPostprocessor._postprocess_nodes", None),
        ("GCMemPostprocessor._apostprocess_nodes", None),
        ("GCMemRetriever.retrieve", None),
        ("GCMemRetriever._retrieve", "GCMemRetriever.retrieve"),
        ("ListRetriever.retrieve", "GCMemRetriever._retrieve"),
        ("ListRetriever._retrieve", "ListRetriever.retrieve"),
        ("GCMemRetriever.aretrieve", None),
        ("GCMemRetriever._aretrieve", "GCMemRetriever.aretrieve"),
        ("ListRetriever.aretrieve", "GCMemRetriever._aretrieve"),
        ("ListRetriever._retrieve", "ListRetriever.aretrieve"),
    ]
