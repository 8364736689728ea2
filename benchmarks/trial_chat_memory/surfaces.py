"""The chat memories of both frameworks, each as a function from what is said to the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from gcmem.precedents import PrecedentLedger
from gcmem.precedents.chat_memory import PrecedentMemory

__all__ = ["INSTRUCTION", "SCOPE", "SURFACES", "Surface", "opened"]

INSTRUCTION: Final = "You are the user's assistant. Answer in one short sentence."
SCOPE: Final = {"user_id": "u7"}

Say: TypeAlias = Callable[[str, str], str]
"""Gives the answer to what is said in a session."""


@dataclass(frozen=True, slots=True)
class Surface:
    """One memory in one framework.

    Attributes:
        open: Makes it over a memory and a chat model.
        extractor: What reads the messages.
        next_turn: Whether what is said counts from the next turn on only.
    """

    open: Callable[[PrecedentMemory, Any], Say]
    extractor: Literal["conflict", "model"]
    next_turn: bool = False


def langchain_agent(memory: PrecedentMemory, model: Any) -> Say:
    """`create_agent` with `PrecedentMemoryMiddleware`."""
    from langchain.agents import create_agent
    from langgraph.checkpoint.memory import InMemorySaver

    from langchain_gcmem import PrecedentMemoryMiddleware

    agent: Any = create_agent(
        model,
        system_prompt=INSTRUCTION,
        middleware=[PrecedentMemoryMiddleware(memory)],
        checkpointer=InMemorySaver(),
    )

    def say(text: str, session: str) -> str:
        given = {"messages": [("user", text)]}
        config = {"configurable": {"thread_id": session}}
        return str(agent.invoke(given, config, context=SCOPE)["messages"][-1].text)

    return say


def langchain_history(memory: PrecedentMemory, model: Any) -> Say:
    """A chain on RunnableWithMessageHistory with `PrecedentChatMessageHistory`."""
    from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
    from langchain_core.runnables.history import RunnableWithMessageHistory

    from langchain_gcmem import PrecedentChatMessageHistory

    prompt = ChatPromptTemplate(
        [("system", INSTRUCTION), MessagesPlaceholder("history"), ("user", "{input}")]
    )
    chain = RunnableWithMessageHistory(
        prompt | model,
        lambda session: PrecedentChatMessageHistory(memory, session, scope=SCOPE),
        input_messages_key="input",
        history_messages_key="history",
    )

    def say(text: str, session: str) -> str:
        config: Any = {"configurable": {"session_id": session}}
        return str(chain.invoke({"input": text}, config).text)

    return say


def llamaindex_block(memory: PrecedentMemory, model: Any) -> Say:
    """A chat engine with LlamaIndex's `Memory` and `PrecedentMemoryBlock`."""
    from llama_index.core.chat_engine import SimpleChatEngine
    from llama_index.core.memory import Memory

    from benchmarks.trial_chat_memory.llamaindex_model import LangChainLLM
    from llamaindex_gcmem import PrecedentMemoryBlock

    block = PrecedentMemoryBlock(ledger=memory, scope=SCOPE)

    def say(text: str, session: str) -> str:
        engine = SimpleChatEngine.from_defaults(
            llm=LangChainLLM(model),
            memory=Memory.from_defaults(session_id=session, memory_blocks=[block]),
            system_prompt=INSTRUCTION,
        )
        return str(engine.chat(text).response)

    return say


SURFACES: Final = {
    "LangChain agent, ConflictExtractor": Surface(langchain_agent, "conflict"),
    "LangChain agent, ModelExtractor": Surface(langchain_agent, "model"),
    "LangChain history, ConflictExtractor": Surface(langchain_history, "conflict", next_turn=True),
    "LlamaIndex block, ConflictExtractor": Surface(llamaindex_block, "conflict"),
}


def opened(extractor: Any) -> PrecedentMemory:
    """Make a memory that lives as long as the trial of one surface."""
    return PrecedentMemory(PrecedentLedger("sqlite://"), extractor)
