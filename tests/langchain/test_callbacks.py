from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from gcmem import Collector
from gcmem.detectors.llm import LLMDetector
from langchain_gcmem import GCMemCompressor, GCMemRetriever
from tests.langchain.support import (
    ListRetriever,
    RecordingHandler,
    ScriptedChatModel,
    WordHashEmbeddings,
    doc,
    slot_collector,
    texts,
)

QUEUE = [doc("queue=10", "2026-01-01"), doc("queue=20", "2026-02-01")]


async def call(runnable: Any, given: str, config: Any, *, native: bool) -> Any:
    return await runnable.ainvoke(given, config) if native else runnable.invoke(given, config)


def model_judge(*verdicts: dict[str, Any]) -> LLMDetector:
    """The judge of gcmem over a chat model that gives these verdicts."""
    answer = AIMessage(json.dumps({"verdicts": list(verdicts)}))
    return LLMDetector(ScriptedChatModel(answers=[answer]), name="scripted", backoff=0.0)


YES = {"pair": 1, "verdict": "yes", "probability": 0.97}


@pytest.mark.parametrize("native", [False, True], ids=["sync", "async"])
class TestRetrieverRuns:
    """A07."""

    async def test_one_run_of_ours_with_the_inner_one_as_its_child(self, native: bool) -> None:
        handler = RecordingHandler()
        retriever = GCMemRetriever(
            base_retriever=ListRetriever(documents=QUEUE), collector=slot_collector()
        )
        found = await call(retriever, "size?", {"callbacks": [handler]}, native=native)
        ours, inner = handler.started("retriever")
        assert ours[0] == "GCMemRetriever"
        assert ours[2] is None
        assert inner[0] == "ListRetriever"
        assert inner[2] == ours[1]
        ended = {run: documents for kind, run, documents in handler.ends if kind == "retriever"}
        assert ended[ours[1]] == found
        assert texts(ended[inner[1]]) == texts(QUEUE)
        assert len(ended) == 2
        assert handler.errors == []

    async def test_the_collection_is_a_run_and_an_event_without_memory_text(
        self, native: bool
    ) -> None:
        handler = RecordingHandler()
        secret = [
            Document("queue=10", id="a", metadata={"created_at": 1}),
            Document("queue=20", id="b", metadata={"created_at": 2}),
        ]
        retriever = GCMemRetriever(
            base_retriever=ListRetriever(documents=secret), collector=slot_collector()
        )
        await call(retriever, "size?", {"callbacks": [handler]}, native=native)
        ((name, run, parent, given),) = handler.started("chain")
        assert name == "gcmem_collection"
        assert parent == handler.started("retriever")[0][1]
        ((event, report, of_run),) = handler.events
        assert (event, of_run) == ("gcmem_collection", run)
        assert report["removed"] == [{"id": "a", "by": "b", "score": 1.0, "reason": "scripted"}]
        assert report["kept"] == ["b"]
        assert ("chain", run, report) in handler.ends
        assert "queue" not in json.dumps([given, report])

    async def test_a_judge_that_is_a_chat_model_is_traced_below_the_collection(
        self, native: bool
    ) -> None:
        handler = RecordingHandler()
        retriever = GCMemRetriever(
            base_retriever=ListRetriever(documents=QUEUE), collector=Collector(model_judge(YES))
        )
        config = {"callbacks": [handler], "tags": ["mine"]}
        assert texts(await call(retriever, "size?", config, native=native)) == ["queue=20"]
        ((_, _, parent, _),) = handler.started("model")
        assert parent == handler.started("chain")[0][1]
        assert handler.tags_of_models == [["mine"]]

    async def test_a_pair_that_the_judge_invents_is_ignored_with_a_warning(
        self, native: bool
    ) -> None:
        """A16."""
        invented = {"pair": 12, "verdict": "yes", "probability": 1.0}
        retriever = GCMemRetriever(
            base_retriever=ListRetriever(documents=QUEUE),
            collector=Collector(model_judge(invented)),
        )
        with pytest.warns(UserWarning, match="12"):
            found = await call(retriever, "size?", None, native=native)
        assert texts(found) == texts(QUEUE)

    async def test_an_expander_is_traced_below_the_retriever(self, native: bool) -> None:
        handler = RecordingHandler()
        expander = RunnableLambda(lambda query: ["other"]).with_config(run_name="expander")
        retriever = GCMemRetriever(
            base_retriever=ListRetriever(documents=QUEUE),
            query_expander=expander,
            collector=slot_collector(),
        )
        await call(retriever, "size?", {"callbacks": [handler]}, native=native)
        ours, *inner = handler.started("retriever")
        assert [parent for _, _, parent, _ in inner] == [ours[1], ours[1]]
        assert {given for _, _, _, given in inner} == {"size?", "other"}
        names = {name: parent for name, _, parent, _ in handler.started("chain")}
        assert names == {"expander": ours[1], "gcmem_collection": ours[1]}

    async def test_an_error_ends_our_run_as_an_error(self, native: bool) -> None:
        handler = RecordingHandler()

        def broken(query: str) -> list[Document]:
            raise ConnectionError("away")

        retriever = GCMemRetriever(base_retriever=broken, collector=slot_collector())
        with pytest.raises(ConnectionError):
            await call(retriever, "size?", {"callbacks": [handler]}, native=native)
        assert handler.errors == [handler.started("retriever")[0][1]]

    async def test_a_compressor_reports_to_the_callbacks_that_it_is_given(
        self, native: bool
    ) -> None:
        handler = RecordingHandler()
        compressor = GCMemCompressor(collector=slot_collector())
        if native:
            await compressor.acompress_documents(QUEUE, "size?", callbacks=[handler])
        else:
            compressor.compress_documents(QUEUE, "size?", callbacks=[handler])
        ((event, report, _),) = handler.events
        assert event == "gcmem_collection"
        assert report["kept"] == ["queue=20"]


async def test_the_event_is_seen_by_who_streams_events() -> None:
    retriever = GCMemRetriever(
        base_retriever=ListRetriever(documents=QUEUE), collector=slot_collector()
    )
    events = [event async for event in retriever.astream_events("size?", version="v2")]
    custom = [event for event in events if event["event"] == "on_custom_event"]
    assert [event["name"] for event in custom] == ["gcmem_collection"]
    assert custom[0]["data"]["kept"] == ["queue=20"]


def test_runs_carry_the_name_of_the_wrapped_store() -> None:
    base = InMemoryVectorStore(WordHashEmbeddings()).as_retriever()
    params = GCMemRetriever(base_retriever=base)._get_ls_params()
    assert params["ls_retriever_name"] == "gcmem"
    assert params["ls_vector_store_provider"] == "InMemoryVectorStore"
    assert params["ls_embedding_provider"] == "WordHashEmbeddings"
