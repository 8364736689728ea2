"""The memory block: one node per message, per session, without what is no longer true."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chromadb
import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.llms import mock
from llama_index.core.memory import InsertMethod, Memory
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.vector_stores.chroma import ChromaVectorStore

from gcmem import Collector
from llamaindex_gcmem import GCMemMemoryBlock, GCMemRetriever
from tests.llamaindex.support import (
    HashEmbedding,
    ScriptedLLM,
    recorded_events,
    replaces,
    said,
    text_node,
)
from tests.support import ScriptedDetector

HOME = Collector(replaces("live in Berlin", "moved to Kiel"))


def block(collector: Collector = HOME, **fields: Any) -> GCMemMemoryBlock:
    if "vector_store" not in fields and "index" not in fields:
        fields["index"] = VectorStoreIndex([], embed_model=HashEmbedding())
    return GCMemMemoryBlock(collector=collector, **fields)


async def texts(memory_block: GCMemMemoryBlock, *asked: ChatMessage, **options: Any) -> list[str]:
    content = await memory_block.aget(list(asked), **options)
    return [part.text for part in content]


@pytest.fixture(params=["simple", "chroma"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """Where the messages are kept: an index in memory, or Chroma on disk."""
    if request.param == "simple":
        store = SimpleVectorStore()
        assert not store.stores_text
        return {"index": VectorStoreIndex([], embed_model=HashEmbedding())}
    client = chromadb.PersistentClient(path=str(tmp_path))
    collection = client.get_or_create_collection("messages")
    store = ChromaVectorStore(chroma_collection=collection)
    return {"vector_store": store, "embed_model": HashEmbedding()}


async def test_a_contradicted_message_is_not_recalled(home: dict[str, Any]) -> None:
    memory_block = block(**home)
    await memory_block.aput([said("I live in Berlin", when="2025-01-01"), said("I like tea")])
    await memory_block.aput([said("I moved to Kiel", when="2026-01-01")])
    recalled = await texts(memory_block, said("where do I live"))
    assert "user, 2026-01-01 00:00 UTC: I moved to Kiel" in recalled
    assert any(text.endswith("I like tea") for text in recalled)
    assert not any("Berlin" in text for text in recalled)


async def test_every_message_is_a_node_with_time_session_and_role(home: dict[str, Any]) -> None:
    memory_block = block(**home)
    messages = [said("I live in Berlin", when="2025-01-01"), said("noted", "assistant", 1735776000)]
    await memory_block.aput(messages, session_id="s1")
    retriever = GCMemRetriever(memory_block._index, k=5)
    found = {node.get_content(): node.metadata for node in retriever.candidates("Berlin")}
    assert found == {
        "I live in Berlin": {
            "created_at": 1735689600.0, "role": "user", "authority": 1.0, "session_id": "s1",
        },
        "noted": {
            "created_at": 1735776000.0, "role": "assistant", "authority": 0.0, "session_id": "s1",
        },
    }  # fmt: skip


async def test_sessions_never_see_each_other_and_no_filter_is_pinned(home: dict[str, Any]) -> None:
    memory_block = block(**home)
    await memory_block.aput([said("I live in Berlin", when=1)], session_id="s1")
    await memory_block.aput([said("I moved to Kiel", when=2)], session_id="s2")
    await memory_block.aput([said("no session", when=3)])
    for _ in range(2):
        for session, expected in (("s1", "Berlin"), ("s2", "Kiel"), (None, "no session")):
            recalled = await texts(memory_block, said("where"), session_id=session)
            assert len(recalled) == 1
            assert expected in recalled[0]
    assert await texts(memory_block, said("where"), session_id="s3") == []


async def test_a_scope_spans_sessions_and_keeps_users_apart(home: dict[str, Any]) -> None:
    mine, yours = block(**home, scope={"user_id": "u1"}), block(**home, scope={"user_id": "u2"})
    await mine.aput([said("I live in Berlin", when=1)], session_id="s1")
    await mine.aput([said("I moved to Kiel", when=2)], session_id="s2")
    await yours.aput([said("I live in Berlin, too", when=1)], session_id="s1")
    (recalled,) = await texts(mine, said("where"), session_id="s9")
    assert "Kiel" in recalled
    (recalled,) = await texts(yours, said("where"), session_id="s1")
    assert "Berlin, too" in recalled


async def test_what_is_being_said_right_now_takes_part_but_is_not_recalled() -> None:
    memory_block = block()
    await memory_block.aput([said("I live in Berlin", when=1), said("I like tea", when=2)])
    history = [said("I moved to Kiel"), said("good", "assistant"), said("where do I live")]
    assert await texts(memory_block, *history) == ["user, 1970-01-01 00:00 UTC: I like tea"]
    # Without that message the stored one is still what is known.
    assert len(await texts(memory_block, said("where do I live"))) == 2


async def test_a_message_that_is_stored_and_still_visible_is_not_repeated() -> None:
    memory_block = block()
    await memory_block.aput([said("I like tea", when=1), said("I like cake", when=2)])
    recalled = await texts(memory_block, said("I like tea"))
    assert recalled == ["user, 1970-01-01 00:00 UTC: I like cake"]


async def test_messages_of_one_batch_without_times_are_in_the_order_of_the_batch() -> None:
    memory_block = block()
    await memory_block.aput([said("I live in Berlin"), said("I moved to Kiel")])
    (recalled,) = await texts(memory_block, said("where"))
    assert recalled.endswith("I moved to Kiel")
    reverse = block()
    await reverse.aput([said("I moved to Kiel"), said("I live in Berlin")])
    assert len(await texts(reverse, said("where"))) == 2


async def test_the_assistant_cannot_overrule_the_user_unless_it_is_allowed_to() -> None:
    told = [said("I live in Berlin", when=1), said("You moved to Kiel", "assistant", 2)]
    careful, trusting = block(), block(role_authority={})
    await careful.aput(copy.deepcopy(told))
    await trusting.aput(copy.deepcopy(told))
    assert len(await texts(careful, said("where"))) == 2
    (recalled,) = await texts(trusting, said("where"))
    assert recalled.startswith("assistant, 1970-01-01 00:00 UTC: You moved")


async def test_additional_kwargs_do_not_leak_into_text_or_metadata() -> None:
    memory_block = block()
    await memory_block.aput([said("I like tea", when=1, token="secret")], session_id="s")
    (recalled,) = await texts(memory_block, said("tea"), session_id="s")
    assert recalled == "user, 1970-01-01 00:00 UTC: I like tea"
    (node,) = GCMemRetriever(memory_block._index).candidates("tea")
    assert "secret" not in str(node.metadata)


async def test_only_the_text_is_embedded() -> None:
    memory_block = block()
    await memory_block.aput([said("I like tea", when=1)])
    (node,) = memory_block._index.as_retriever().retrieve("I like tea")
    assert node.score == pytest.approx(1.0)


async def test_messages_without_text_and_of_other_roles_are_left_out() -> None:
    memory_block = block()
    picture = ChatMessage(role="user", blocks=[ImageBlock(url="https://example.test/x.png")])
    await memory_block.aput([picture, said("  "), said("be brief", "system"), said("x", "tool")])
    assert await texts(memory_block, said("x be brief")) == []
    everything = block(roles=None)
    await everything.aput([said("be brief", "system"), said("x", "tool")])
    assert len(await texts(everything, said("x be brief"))) == 2
    assert await texts(everything, picture) == []
    assert await everything.aget() == []
    assert await everything.aget([]) == []


async def test_storing_a_message_twice_stores_it_once(home: dict[str, Any]) -> None:
    memory_block = block(**home)
    for _ in range(2):
        await memory_block.aput([said("I like tea", when=1), said("I like tea", when=1)])
    assert len(await texts(memory_block, said("tea"))) == 1


async def test_k_messages_are_recalled_although_many_are_stale() -> None:
    memory_block = block(k=2)
    stale = [said(f"I live in Berlin street {n}", when=n) for n in range(15)]
    await memory_block.aput([*stale, said("I moved to Kiel", when=50), said("tea", when=1)])
    recalled = await texts(memory_block, said("I live in Berlin street"))
    assert sorted(text.rpartition(": ")[2] for text in recalled) == ["I moved to Kiel", "tea"]


async def test_history_keeps_old_messages_and_says_that_they_are_outdated() -> None:
    memory_block = block(history=True)
    await memory_block.aput([said("I live in Berlin", when=1), said("I moved to Kiel", when=2)])
    recalled = await texts(memory_block, said("where"))
    assert "user, 1970-01-01 00:00 UTC (no longer true): I live in Berlin" in recalled
    assert "user, 1970-01-01 00:00 UTC: I moved to Kiel" in recalled


async def test_times_can_stand_under_other_keys_and_in_other_units() -> None:
    memory_block = block(timestamp_key=["said_at", "created_at"], timestamp_unit="ms")
    message = ChatMessage(role="user", content="tea", additional_kwargs={"said_at": 1735689600000})
    await memory_block.aput([message])
    assert await texts(memory_block, said("tea?")) == ["user, 2025-01-01 00:00 UTC: tea"]


async def test_a_time_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"additional_kwargs\['created_at'\] of a message.*soon"):
        await block().aput([said("tea", when="soon")])


async def test_messages_are_not_changed() -> None:
    messages = [said("I live in Berlin", when=1, session_id="s")]
    before = copy.deepcopy(messages)
    memory_block = block()
    await memory_block.aput(messages, session_id="s")
    await memory_block.aget(messages, session_id="s")
    assert messages == before


async def test_truncation_leaves_out_whole_messages_the_least_relevant_first() -> None:
    memory_block = block()
    content = [TextBlock(text=f"user: message number {n}") for n in range(5)]
    assert await memory_block.atruncate(content, 1) == content[:4]
    shorter = await memory_block.atruncate(content, 12)
    assert shorter == content[: len(shorter or [])]
    assert 0 < len(shorter or []) < 4
    assert await memory_block.atruncate(content, 10_000) is None
    assert await memory_block.atruncate([], 10) is None
    assert len(content) == 5


async def test_each_recall_is_visible_as_an_event() -> None:
    memory_block = block()
    await memory_block.aput([said("I live in Berlin", when=1), said("I moved to Kiel", when=2)])
    with recorded_events() as events:
        await memory_block.aget([said("where")])
    reports = [event.report for event in events if event.class_name() == "MemoryGCEndEvent"]
    assert [len(report["removed"]) for report in reports] == [1]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "exactly one of index and vector_store"),
        ({"index": VectorStoreIndex([], embed_model=HashEmbedding()), "k": 0}, "k"),
        ({"vector_store": SimpleVectorStore()}, "does not store text"),
        ({"index": VectorStoreIndex([], embed_model=HashEmbedding()), "top_k": 3}, "top_k"),
        (
            {
                "index": VectorStoreIndex([], embed_model=HashEmbedding()),
                "embed_model": HashEmbedding(),
            },
            "embed_model goes with vector_store",
        ),
    ],
)
def test_bad_fields_are_errors(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GCMemMemoryBlock(**fields)


def long_memory(memory_block: GCMemMemoryBlock, **options: Any) -> Memory:
    """A memory whose own queue is short, so that messages flow into the block."""
    return Memory.from_defaults(
        session_id="s1", memory_blocks=[memory_block], token_limit=60, token_flush_size=10,
        chat_history_token_ratio=0.3, **options,
    )  # fmt: skip


CONVERSATION = [
    said("I live in Berlin", when="2025-01-01"),
    said("noted", "assistant", "2025-01-01"),
    said("I moved to Kiel", when="2026-01-01"),
    said("noted again", "assistant", "2026-01-01"),
    said("let us talk about something else for a while, please", when="2026-01-02"),
    said("with pleasure, what shall it be, music or the sea", "assistant", "2026-01-02"),
]


def test_it_works_inside_memory_synchronously() -> None:
    memory = long_memory(block())
    memory.put_messages(copy.deepcopy(CONVERSATION))
    prompt = "\n".join(str(message.content) for message in memory.get(input="where do I live"))
    assert "user, 2026-01-01 00:00 UTC: I moved to Kiel" in prompt
    assert "Berlin" not in prompt


@pytest.mark.parametrize("method", [InsertMethod.SYSTEM, InsertMethod.USER])
async def test_it_works_inside_memory_asynchronously(method: InsertMethod) -> None:
    memory = long_memory(block(), insert_method=method)
    for message in copy.deepcopy(CONVERSATION):
        await memory.aput(message)
    prompt = "\n".join(str(m.content) for m in await memory.aget(input="where do I live"))
    assert "I moved to Kiel" in prompt
    assert "Berlin" not in prompt


def test_a_block_with_a_priority_is_truncated_to_the_limit() -> None:
    memory = long_memory(block(priority=1, k=3))
    memory.put_messages(copy.deepcopy(CONVERSATION))
    memory.token_limit = 30
    memory.get(input="where do I live")  # the framework's own accounting runs without an error


@pytest.mark.parametrize("engine_class", [SimpleChatEngine, ContextChatEngine,
                                          CondensePlusContextChatEngine])  # fmt: skip
@pytest.mark.parametrize("asynchronous", [False, True])
def test_chat_engines_recall_what_is_still_true(engine_class: Any, asynchronous: bool) -> None:
    model, memory = ScriptedLLM(), long_memory(block())
    memory.put_messages(copy.deepcopy(CONVERSATION))
    options: dict[str, Any] = {"llm": model, "memory": memory}
    if engine_class is not SimpleChatEngine:
        weather = VectorStoreIndex([text_node("fine weather")], embed_model=HashEmbedding())
        options["retriever"] = weather.as_retriever()
    engine = engine_class.from_defaults(**options)
    if asynchronous:
        asyncio.run(engine.achat("where do I live"))
    else:
        engine.chat("where do I live")
    assert "I moved to Kiel" in model.prompts[-1]
    assert not any("Berlin" in prompt for prompt in model.prompts)


@pytest.mark.parametrize("options", [{"system_prompt": "Be brief."}, {"method": InsertMethod.USER}])
async def test_a_react_agent_recalls_what_is_still_true(options: dict[str, Any]) -> None:
    # LlamaIndex drops the first system message: without one of its own, use InsertMethod.USER.
    method = options.pop("method", InsertMethod.SYSTEM)
    memory = long_memory(block(), insert_method=method)
    await memory.aput_messages(copy.deepcopy(CONVERSATION))
    model = ScriptedLLM("Thought: I know it.\nAnswer: Kiel")
    agent = ReActAgent(tools=[], llm=model, **options)
    assert str(await agent.run("where do I live", memory=memory)) == "Kiel"
    assert "I moved to Kiel" in model.prompts[0]
    assert not any("Berlin" in prompt for prompt in model.prompts)


async def test_a_function_agent_recalls_what_is_still_true() -> None:
    model_class = getattr(mock, "MockFunctionCallingLLM", None)
    if model_class is None:
        pytest.skip("this version of llama-index-core has no model to test function agents with")
    prompts: list[str] = []

    def answer(messages: Sequence[ChatMessage], **options: Any) -> ChatMessage:
        prompts.extend(str(message.content) for message in messages)
        return said("Kiel", "assistant")

    memory = long_memory(block())
    await memory.aput_messages(copy.deepcopy(CONVERSATION))
    agent = FunctionAgent(tools=[], llm=model_class(response_generator=answer))
    assert str(await agent.run("where do I live", memory=memory)) == "Kiel"
    assert any("I moved to Kiel" in prompt for prompt in prompts)
    assert not any("Berlin" in prompt for prompt in prompts)


async def test_concurrent_sessions_share_one_block() -> None:
    memory_block = block(Collector(ScriptedDetector(lambda *_: False)))

    async def one(session: str) -> list[str]:
        await memory_block.aput([said(f"secret of {session}", when=1)], session_id=session)
        return await texts(memory_block, said("secret"), session_id=session)

    sessions = [f"s{n}" for n in range(12)]
    found = await asyncio.gather(*(one(session) for session in sessions))
    assert [len(recalled) for recalled in found] == [1] * 12
    for session, recalled in zip(sessions, found, strict=True):
        assert recalled[0].endswith(f"secret of {session}")
