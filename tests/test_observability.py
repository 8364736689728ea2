"""Every collection can be seen where people look, and shows memory text only to who asks for it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool
from langgraph.store.memory import InMemoryStore

import langchain_gcmem
import llamaindex_gcmem
from gcmem import Collector, Memory, __version__
from langchain_gcmem import COLLECTION_EVENT
from tests.langchain.support import ListRetriever, ScriptedChatModel
from tests.llamaindex.support import recorded_events, scored
from tests.llamaindex.test_retriever import ListRetriever as ListNodeRetriever
from tests.support import ScriptedDetector, slot_rule

SECRET = "secret"
OLD, NEW = f"{SECRET}=one", f"{SECRET}=two"
COUNTS = {"pairs_possible", "pairs_judged", "pairs_unjudged", "pairs_refused", "cache_hits"}


def collector(**options: Any) -> Collector:
    return Collector(ScriptedDetector(slot_rule), **options)


def documents() -> list[Document]:
    return [
        Document(text, id=name, metadata={"created_at": when})
        for name, text, when in (("a", OLD, 1), ("b", NEW, 2))
    ]


class Watcher(BaseCallbackHandler):
    """What a tracer such as LangSmith is told."""

    run_inline = True

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []
        self.metadata: dict[str, dict[str, Any]] = {}

    def on_retriever_start(self, serialized: Any, query: str, **kwargs: Any) -> None:
        self.metadata[str(kwargs.get("name"))] = kwargs["metadata"]

    def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
        self.metadata[str(kwargs.get("name"))] = kwargs["metadata"]

    def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:
        self.events.append((name, data))


def by_retriever(config: Any) -> None:
    retriever = langchain_gcmem.GCMemRetriever(
        base_retriever=ListRetriever(documents=documents()), collector=collector()
    )
    retriever.invoke("q", config)


def by_compressor(config: Any) -> None:
    compressor = langchain_gcmem.GCMemCompressor(collector=collector())
    compressor.compress_documents(documents(), "q", config["callbacks"])


def by_store(config: Any) -> None:
    store = langchain_gcmem.GCMemStore(InMemoryStore(), collector=collector())
    for name, text, when in (("a", OLD, 1), ("b", NEW, 2)):
        store.put(("memories",), name, {"text": text, "created_at": when})
    RunnableLambda(lambda _: store.search(("memories",))).invoke("q", config)


def by_middleware(config: Any) -> None:
    call = {"name": "notes", "args": {"query": "q"}, "id": "1"}
    tool = create_retriever_tool(
        ListRetriever(documents=documents()), "notes", "Notes.",
        response_format="content_and_artifact",
    )  # fmt: skip
    agent = create_agent(
        ScriptedChatModel(answers=[AIMessage("", tool_calls=[call]), AIMessage("done")]),
        tools=[tool],
        middleware=[langchain_gcmem.GCMemMiddleware(collector=collector())],
    )
    agent.invoke({"messages": [("user", "q")]}, config)


LANGCHAIN = [by_retriever, by_compressor, by_store, by_middleware]


def check_report(report: Any) -> None:
    (removed,) = report["removed"]
    assert (removed["id"], removed["by"], removed["reason"]) == ("a", "b", "scripted")
    assert report["kept"] == ["b"]
    assert report.keys() >= COUNTS
    assert report["pairs_judged"] == 1
    assert report["milliseconds"] > 0
    assert SECRET not in json.dumps(report)


@pytest.mark.parametrize("use", LANGCHAIN)
def test_every_langchain_surface_reports_by_a_custom_event(use: Callable[[Any], None]) -> None:
    watcher = Watcher()
    use({"callbacks": [watcher]})
    ((name, report),) = watcher.events
    assert name == COLLECTION_EVENT == "gcmem_collection"
    check_report(report)


@pytest.mark.parametrize("use", LANGCHAIN)
def test_the_traced_run_says_how_is_decided(use: Callable[[Any], None]) -> None:
    watcher = Watcher()
    use({"callbacks": [watcher], "metadata": {"mine": 1}})
    found = watcher.metadata[COLLECTION_EVENT]
    told = {name: value for name, value in found.items() if name.startswith("gcmem_")}
    assert told == {
        "gcmem_version": __version__,
        "gcmem_detector": "scripted",
        "gcmem_threshold": 0.5,
        "gcmem_on_conflict": "excise",
        "gcmem_granularity": "sentence",
    }
    if use is not by_compressor:  # which is given callbacks and nothing else
        assert found["mine"] == 1


def test_the_run_of_the_retriever_has_the_metadata_that_langsmith_reads() -> None:
    watcher = Watcher()
    by_retriever({"callbacks": [watcher]})
    assert watcher.metadata["GCMemRetriever"]["ls_retriever_name"] == "gcmem"


def test_llamaindex_events_say_how_is_decided_and_what_came_out() -> None:
    nodes = [scored(OLD, 1, id_="a"), scored(NEW, 2, id_="b")]
    settings = collector().settings
    with recorded_events() as events:
        llamaindex_gcmem.GCMemPostprocessor(collector=collector()).postprocess_nodes(nodes)
        llamaindex_gcmem.GCMemRetriever(ListNodeRetriever(nodes), collector=collector()).retrieve(
            "q"
        )
    starts = [e for e in events if isinstance(e, llamaindex_gcmem.MemoryGCStartEvent)]
    ends = [e for e in events if isinstance(e, llamaindex_gcmem.MemoryGCEndEvent)]
    assert [event.settings for event in starts] == [settings, settings]
    assert len(ends) == 2
    for event in ends:
        check_report(event.report)
    assert SECRET not in json.dumps([event.model_dump(mode="json") for event in [*starts, *ends]])


class TestLogging:
    def test_each_collection_is_one_line_for_debugging_without_memory_text(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.DEBUG, "gcmem"):
            by_retriever({})
        (record,) = [record for record in caplog.records if record.name == "gcmem"]
        assert record.levelno == logging.DEBUG
        message = record.getMessage()
        assert "'removed': [{'id': 'a', 'by': 'b'" in message
        assert "'pairs_judged': 1" in message
        assert "'detector': 'scripted'" in message
        assert SECRET not in message

    def test_nothing_is_logged_above_that_where_all_is_well(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO, "gcmem"):
            by_retriever({})
        assert [record for record in caplog.records if record.name == "gcmem"] == []

    def test_what_could_not_be_judged_is_a_warning(self, caplog: pytest.LogCaptureFixture) -> None:
        def broken(older: str, newer: str) -> bool:
            raise ConnectionError("the judge is away")

        lenient = Collector(ScriptedDetector(broken), on_error="keep")
        lenient.collect("q", [Memory(OLD, 1), Memory(NEW, 2)])
        (record,) = [record for record in caplog.records if record.name == "gcmem"]
        assert record.levelno == logging.WARNING
        assert SECRET not in record.getMessage()
        assert record.exc_info is not None  # the error itself, as the detector worded it


def test_memory_text_is_in_a_report_where_it_is_asked_for() -> None:
    memories = [
        Memory(OLD, 1, id="a"),
        Memory(f"{SECRET}=one. I like tea.", 1, id="c"),
        Memory(NEW, 2, id="b"),
    ]
    rule = ScriptedDetector(lambda older, newer: "=one" in older and "=two" in newer)
    collection = Collector(rule).collect("q", memories)
    assert SECRET not in json.dumps(collection.report())
    told = collection.report(texts=True)
    assert [row["text"] for row in told["removed"]] == [OLD]
    assert [row["text"].strip() for row in told["excised"]] == [f"{SECRET}=one."]
