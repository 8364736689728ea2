"""Inside LlamaIndex's own query and chat engines: sync, async, streaming."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core import MockEmbedding, VectorStoreIndex, get_response_synthesizer
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.callbacks import CallbackManager
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import RetrieverQueryEngine

from llamaindex_gcmem import GCMemPostprocessor, GCMemRetriever
from tests.llamaindex.support import HashEmbedding, ScriptedLLM, ids, slot_collector, text_node


def index() -> VectorStoreIndex:
    nodes = [text_node("city=A", 1), text_node("city=B", 2), text_node("city=C", 3)]
    return VectorStoreIndex([*nodes, text_node("job=x", 1)], embed_model=HashEmbedding())


def with_postprocessor(**options: Any) -> RetrieverQueryEngine:
    gc = GCMemPostprocessor(collector=slot_collector())
    return RetrieverQueryEngine.from_args(
        index().as_retriever(similarity_top_k=4), node_postprocessors=[gc], **options
    )


def with_retriever(**options: Any) -> RetrieverQueryEngine:
    retriever = GCMemRetriever(index().as_retriever(), collector=slot_collector())
    return RetrieverQueryEngine.from_args(retriever, **options)


ENGINES = [with_postprocessor, with_retriever]


@pytest.fixture(params=ENGINES, ids=["postprocessor", "retriever"])
def engine(request: pytest.FixtureRequest) -> Callable[..., RetrieverQueryEngine]:
    return request.param  # type: ignore[no-any-return]


def test_a_query_engine_shows_the_model_only_what_is_still_true(engine: Any) -> None:
    model = ScriptedLLM()
    response = engine(llm=model).query("city")
    assert sorted(ids(response.source_nodes)) == ["city=C", "job=x"]
    assert "city=C" in model.prompts[0]
    assert "city=A" not in model.prompts[0]


async def test_the_asynchronous_query_shows_the_same(engine: Any) -> None:
    model = ScriptedLLM()
    response = await engine(llm=model).aquery("city")
    assert sorted(ids(response.source_nodes)) == ["city=C", "job=x"]
    assert "city=A" not in model.prompts[0]


def test_a_streaming_engine_streams(engine: Any) -> None:
    response = engine(llm=MockLLM(max_tokens=5), streaming=True).query("city")
    assert isinstance(response, StreamingResponse)
    assert sorted(ids(response.source_nodes)) == ["city=C", "job=x"]
    assert len(list(response.response_gen)) > 1


async def test_an_asynchronous_streaming_engine_streams(engine: Any) -> None:
    response = await engine(llm=MockLLM(max_tokens=5), streaming=True).aquery("city")
    assert isinstance(response, AsyncStreamingResponse)
    assert sorted(ids(response.source_nodes)) == ["city=C", "job=x"]
    assert len([part async for part in response.async_response_gen()]) > 1


def test_an_engine_over_an_empty_index_answers(engine: Any) -> None:
    empty = VectorStoreIndex([], embed_model=MockEmbedding(8))
    gc = GCMemPostprocessor(collector=slot_collector())
    retriever = GCMemRetriever(empty.as_retriever(), collector=slot_collector())
    response = RetrieverQueryEngine.from_args(
        retriever, llm=MockLLM(), node_postprocessors=[gc]
    ).query("city")
    assert response.source_nodes == []


def test_an_index_takes_the_postprocessor_as_it_is() -> None:
    gc = GCMemPostprocessor(collector=slot_collector())
    engine = index().as_query_engine(llm=MockLLM(), similarity_top_k=4, node_postprocessors=[gc])
    assert sorted(ids(engine.query("city").source_nodes)) == ["city=C", "job=x"]


def test_an_engine_can_give_the_postprocessor_its_callback_manager() -> None:
    gc, manager = GCMemPostprocessor(collector=slot_collector()), CallbackManager()
    synthesizer = get_response_synthesizer(llm=MockLLM())
    RetrieverQueryEngine(index().as_retriever(), synthesizer, [gc], callback_manager=manager)
    assert gc.callback_manager is manager


CHATS = ["context", "condense_plus_context"]


def chat_engine(mode: str, model: Any, by: str) -> Any:
    gc = GCMemPostprocessor(collector=slot_collector())
    if by == "postprocessor":
        return index().as_chat_engine(
            chat_mode=mode, llm=model, similarity_top_k=4, node_postprocessors=[gc]
        )
    retriever = GCMemRetriever(index().as_retriever(), collector=slot_collector())
    cls: Any = ContextChatEngine if mode == "context" else CondensePlusContextChatEngine
    return cls.from_defaults(retriever=retriever, llm=model, memory=Memory.from_defaults())


@pytest.mark.parametrize("mode", CHATS)
@pytest.mark.parametrize("by", ["postprocessor", "retriever"])
def test_chat_engines_show_the_model_only_what_is_still_true(mode: str, by: str) -> None:
    model = ScriptedLLM()
    engine = chat_engine(mode, model, by)
    for question in ("city", "and the city again?"):
        response = engine.chat(question)
        assert sorted(ids(response.source_nodes)) == ["city=C", "job=x"]
    assert not any("city=A" in prompt or "city=B" in prompt for prompt in model.prompts)
    assert any("city=C" in prompt for prompt in model.prompts)


@pytest.mark.parametrize("mode", CHATS)
@pytest.mark.parametrize("by", ["postprocessor", "retriever"])
async def test_asynchronous_and_streaming_chats_show_the_same(mode: str, by: str) -> None:
    model = ScriptedLLM()
    response = await chat_engine(mode, model, by).achat("city")
    assert sorted(ids(response.source_nodes)) == ["city=C", "job=x"]
    stream = await chat_engine(mode, model, by).astream_chat("city")
    assert sorted(ids(stream.source_nodes)) == ["city=C", "job=x"]
    assert "".join([part async for part in stream.async_response_gen()]) == "fine"
    assert not any("city=A" in prompt or "city=B" in prompt for prompt in model.prompts)


@pytest.mark.parametrize("mode", CHATS)
def test_streaming_chats_stream(mode: str) -> None:
    stream = chat_engine(mode, ScriptedLLM(), "postprocessor").stream_chat("city")
    assert sorted(ids(stream.source_nodes)) == ["city=C", "job=x"]
    assert "".join(stream.response_gen) == "fine"
