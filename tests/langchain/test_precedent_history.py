"""Precedents in chains: RunnableWithMessageHistory, and plain functions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory

from gcmem.precedents.chat_memory import PrecedentMemory
from gcmem.precedents.evidence_conflict import ConflictExtractor
from langchain_gcmem import (
    PrecedentChatMessageHistory,
    aobserve_messages,
    observe_messages,
    recall_facts,
    remembering,
)
from tests.langchain.support import ScriptedChatModel
from tests.langchain.test_precedent_middleware import facts
from tests.precedents.support import CONVERSATION, SlotExtractor, home_rule
from tests.support import ScriptedDetector


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def native(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def model() -> ScriptedChatModel:
    return ScriptedChatModel(answers=[AIMessage("ok")])


@pytest.fixture
def memory() -> Iterator[PrecedentMemory]:
    memory = PrecedentMemory("sqlite://", ConflictExtractor(ScriptedDetector(home_rule)))
    yield memory
    memory.ledger.close()


async def invoke(chain: Any, given: Any, config: Any, *, native: bool) -> Any:
    return await chain.ainvoke(given, config) if native else chain.invoke(given, config)


@pytest.mark.parametrize("keyed", [True, False])
async def test_a_chain_knows_what_was_true_after_the_last_turn(
    model: ScriptedChatModel, memory: PrecedentMemory, keyed: bool, native: bool
) -> None:
    def session(session_id: str) -> PrecedentChatMessageHistory:
        return PrecedentChatMessageHistory(memory, session_id, scope="u7")

    if keyed:
        prompt = ChatPromptTemplate([MessagesPlaceholder("history"), ("user", "{input}")])
        chain = RunnableWithMessageHistory(
            prompt | model, session, input_messages_key="input", history_messages_key="history"
        )
    else:
        chain = RunnableWithMessageHistory(model, session)
    config = {"configurable": {"session_id": "s1"}}
    known: set[str] = set()
    for text, expected in CONVERSATION:
        given = {"input": text} if keyed else [HumanMessage(text)]
        await invoke(chain, given, config, native=native)
        assert set(facts(model)) == known
        known = expected
    stored = session("s1").stored
    assert [str(message.text) for message in stored[::2]] == [text for text, _ in CONVERSATION]
    assert len(stored) == 2 * len(CONVERSATION)
    assert session("s2").stored == []


class TestHistory:
    async def test_messages_come_back_as_they_were_after_a_restart(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path / 'memory.db'}"
        said = [HumanMessage("city=Kiel", id="1"), AIMessage("ok", response_metadata={"a": 1})]
        first = PrecedentChatMessageHistory(url, "s", extractor=SlotExtractor())
        first.add_messages(said)
        first.memory.ledger.close()
        second = PrecedentChatMessageHistory(url, "s", extractor=SlotExtractor())
        assert second.stored == said
        leading, *rest = await second.aget_messages()
        assert isinstance(leading, SystemMessage)
        assert "Kiel" in str(leading.text)
        assert rest == said

    async def test_clear_forgets_messages_and_not_what_was_learnt(self, native: bool) -> None:
        history = PrecedentChatMessageHistory("sqlite://", "s", extractor=SlotExtractor())
        await history.aadd_messages([HumanMessage("city=Kiel")])
        if native:
            await history.aclear()
        else:
            history.clear()
        assert history.stored == []
        assert "Kiel" in str(history.messages[0].text)

    def test_forget_revokes_one_key_and_can_be_undone(self) -> None:
        history = PrecedentChatMessageHistory("sqlite://", "s", extractor=SlotExtractor())
        history.add_messages([HumanMessage("city=Kiel"), HumanMessage("pet=dog")])
        (gone,) = history.forget("city")
        assert "Kiel" not in str(history.messages[0].text)
        assert "dog" in str(history.messages[0].text)
        history.memory.ledger.restore(gone.precedent_id)
        assert "Kiel" in str(history.messages[0].text)

    def test_purge_deletes_everything_of_the_scope(self) -> None:
        memory = PrecedentMemory("sqlite://", SlotExtractor())
        for scope in ("u1", "u2"):
            history = PrecedentChatMessageHistory(memory, "s", scope=scope)
            history.add_messages([HumanMessage("city=Kiel")])
        done = PrecedentChatMessageHistory(memory, "s", scope="u1").purge()
        assert done.precedents == 1
        assert PrecedentChatMessageHistory(memory, "s", scope="u1").stored == []
        assert memory.recall(scope="u1") == ""
        assert "Kiel" in memory.recall(scope="u2")

    async def test_a_delegate_keeps_the_messages(self, native: bool) -> None:
        delegate = InMemoryChatMessageHistory()
        memory = PrecedentMemory("sqlite://", SlotExtractor())
        history = PrecedentChatMessageHistory(memory, "s", delegate=delegate)
        said = [HumanMessage("city=Kiel"), AIMessage("ok")]
        if native:
            await history.aadd_messages(said)
        else:
            history.add_messages(said)
        assert delegate.messages == history.stored == said
        assert memory.log.messages((), "s") == []
        history.clear()
        assert delegate.messages == []

    def test_facts_can_be_left_out(self) -> None:
        history = PrecedentChatMessageHistory(
            "sqlite://", "s", extractor=SlotExtractor(), include_facts=False
        )
        history.add_messages([HumanMessage("city=Kiel")])
        assert [message.content for message in history.messages] == ["city=Kiel"]

    def test_a_session_needs_a_name(self) -> None:
        with pytest.raises(ValueError, match="session_id"):
            PrecedentChatMessageHistory("sqlite://", " ")


class TestFunctions:
    async def test_a_step_reads_the_input_and_gives_what_is_known_after_it(
        self, model: ScriptedChatModel, memory: PrecedentMemory, native: bool
    ) -> None:
        prompt = ChatPromptTemplate([("system", "{facts}"), ("user", "{input}")])
        chain = RunnablePassthrough.assign(facts=remembering(memory)) | prompt | model
        config = {"configurable": {"user_id": "u7"}}
        for text, expected in CONVERSATION:
            await invoke(chain, {"input": text}, config, native=native)
            assert set(facts(model)) == expected, text

    async def test_a_step_without_a_user_is_an_error(
        self, memory: PrecedentMemory, native: bool
    ) -> None:
        with pytest.raises(ValueError, match="user_id"):
            await invoke(remembering(memory), "I live in Ulm.", {}, native=native)

    async def test_a_history_is_read_once(self) -> None:
        extractor = SlotExtractor()
        memory = PrecedentMemory("sqlite://", extractor)
        said = [HumanMessage("city=Ulm"), AIMessage("ok"), HumanMessage("city=Kiel")]
        observe_messages(memory, said, scope="u7", session="s")
        await aobserve_messages(memory, said, scope="u7", session="s")
        assert extractor.read == ["city=Ulm", "ok", "city=Kiel"]
        assert "Kiel" in recall_facts(memory, said, scope="u7")

    def test_something_else_than_messages_is_refused(self, memory: PrecedentMemory) -> None:
        with pytest.raises(TypeError, match="messages"):
            observe_messages(memory, [("user", "I live in Ulm.")])  # type: ignore[list-item]
