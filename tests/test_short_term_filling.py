"""The chat memories of both frameworks fill a short-term memory, which a retriever then judges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from llama_index.core import VectorStoreIndex
from llama_index.core.memory import Memory as LlamaIndexMemory

from gcmem import Memory, ShortTermMemory
from gcmem.precedents import PrecedentMemory, Utterance
from langchain_gcmem import GCMemRetriever, PrecedentChatMessageHistory, PrecedentMemoryMiddleware
from llamaindex_gcmem import GCMemMemoryBlock, PrecedentMemoryBlock
from tests.langchain.support import ListRetriever, ScriptedChatModel, doc, slot_collector, texts
from tests.llamaindex.support import HashEmbedding, said
from tests.precedents.support import SlotExtractor

USER = {"user_id": "u7"}


def held(short_term: ShortTermMemory, scope: Any = USER) -> list[str]:
    return [memory.text for memory in short_term.recent(scope)]


class TestAddMessage:
    def test_it_keeps_who_said_what_and_when(self) -> None:
        short_term = ShortTermMemory()
        short_term.add_message("city=Kiel", "2026-01-02", scope=USER)
        (memory,) = short_term.recent(USER)
        assert (memory.text, memory.authority, memory.metadata) == (
            "city=Kiel", 1.0, {"role": "user"},
        )  # fmt: skip
        assert memory.timestamp == Memory("", "2026-01-02").timestamp

    def test_the_same_words_are_one_chunk_that_is_said_anew(self) -> None:
        short_term = ShortTermMemory()
        for text in ("city=A", "city=B", "city=A"):
            short_term.add_message(text, scope=USER)
        assert held(short_term) == ["city=B", "city=A"]
        older, newer = short_term.recent(USER)
        assert older.timestamp <= newer.timestamp  # type: ignore[operator]

    def test_another_role_and_another_scope_are_other_chunks(self) -> None:
        short_term = ShortTermMemory()
        short_term.add_message("ok", scope=USER)
        short_term.add_message("ok", scope=USER, role="assistant", authority=0.0)
        short_term.add_message("ok", scope="u8")
        assert (held(short_term), held(short_term, "u8")) == (["ok", "ok"], ["ok"])


async def fill(way: str, short_term: ShortTermMemory, words: list[str]) -> None:
    """Let one chat memory hear what the user says, the assistant answering "ok" in between."""
    if way == "core":
        memory = PrecedentMemory("sqlite://", SlotExtractor(), short_term=short_term)
        said_so_far: list[Utterance] = []
        for word in words:
            said_so_far += [Utterance("user", word), Utterance("assistant", "ok")]
            await memory.aobserve(said_so_far, scope=USER)
    elif way == "langchain middleware":
        middleware = PrecedentMemoryMiddleware(
            "sqlite://", SlotExtractor(), scope=USER, short_term=short_term
        )
        agent = create_agent(ScriptedChatModel(answers=[AIMessage("ok")]), middleware=[middleware])
        messages: list[Any] = []
        for word in words:
            messages = (await agent.ainvoke({"messages": [*messages, ("user", word)]}))["messages"]
    elif way == "langchain history":
        history = PrecedentChatMessageHistory(
            "sqlite://", "s1", scope=USER, extractor=SlotExtractor(), short_term=short_term
        )
        for word in words:
            history.add_messages([HumanMessage(word), AIMessage("ok")])
    else:
        block: Any = PrecedentMemoryBlock(
            ledger="sqlite://", extractor=SlotExtractor(), scope=USER, short_term=short_term
        )
        if way == "llamaindex messages":
            index = VectorStoreIndex([], embed_model=HashEmbedding())
            block = GCMemMemoryBlock(
                index=index, collector=slot_collector(), scope=USER, short_term=short_term
            )
        chat = LlamaIndexMemory.from_defaults(session_id="s1", memory_blocks=[block])
        for word in words:
            await chat.aput_messages([said(word)])
            await chat.aget()
            await chat.aget()  # an agent asks more than once in a turn
            await chat.aput_messages([said("ok", "assistant")])


WAYS = [
    "core",
    "langchain middleware",
    "langchain history",
    "llamaindex precedents",
    "llamaindex messages",
]


@pytest.mark.parametrize("way", WAYS)
async def test_what_the_user_says_is_held_once_in_its_order(way: str) -> None:
    short_term = ShortTermMemory(10)
    await fill(way, short_term, ["city=Ulm", "city=Kiel", "job=cook", "city=Ulm"])
    assert held(short_term) == ["city=Kiel", "job=cook", "city=Ulm"]
    assert held(short_term, ()) == []


@pytest.mark.parametrize("way", WAYS)
async def test_what_was_just_said_removes_what_is_retrieved(way: str) -> None:
    short_term = ShortTermMemory(10)
    await fill(way, short_term, ["city=Kiel"])
    retriever = GCMemRetriever(
        base_retriever=ListRetriever(documents=[doc("city=Ulm", "2024-01-01", user_id="u7")]),
        collector=slot_collector(),
        scope_keys=["user_id"],
        scope=USER,
        short_term=short_term,
    )
    assert texts(retriever.invoke("city")) == ["city=Kiel"]


async def test_dated_messages_keep_their_times() -> None:
    short_term = ShortTermMemory(10)
    index = VectorStoreIndex([], embed_model=HashEmbedding())
    block = GCMemMemoryBlock(
        index=index, collector=slot_collector(), scope=USER, short_term=short_term
    )
    conversation = [said("city=A", when=1), said("city=B", when=2), said("city=A", when=3)]
    for _ in range(2):
        await block.aget(conversation)
    assert [(m.text, m.timestamp.timestamp()) for m in short_term.recent(USER) if m.timestamp] == [
        ("city=B", 2.0),
        ("city=A", 3.0),
    ]


def test_a_purge_of_a_chat_memory_clears_short_term_memory_elsewhere_too(tmp_path: Path) -> None:
    elsewhere = ShortTermMemory(url=f"sqlite:///{tmp_path / 'other.db'}")
    memory = PrecedentMemory("sqlite://", SlotExtractor(), short_term=elsewhere)
    for scope in ("ann", "ben"):
        memory.observe([Utterance("user", "hobby=ironing")], scope=scope)
    memory.purge("ann")
    assert (held(elsewhere, "ann"), held(elsewhere, "ben")) == ([], ["hobby=ironing"])
