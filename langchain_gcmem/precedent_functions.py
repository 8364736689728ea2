"""The memory of precedents as plain functions, for chains without an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from gcmem.memory import ScopeLike
from gcmem.precedents import Transition
from gcmem.precedents.chat_memory import Given, PrecedentMemory
from langchain_gcmem.utterances import last_question, utterances_of

__all__ = ["aobserve_messages", "observe_messages", "recall_facts", "remembering"]

Said: TypeAlias = str | BaseMessage | Sequence[BaseMessage]


def observe_messages(
    memory: PrecedentMemory,
    messages: Said,
    *,
    scope: ScopeLike = (),
    session: str = "",
    timestamp_key: str = "created_at",
) -> list[Transition]:
    """Read messages for evidence: a conversation as it stands now, or what the user just said.

    A text or a single message is new by itself; of a list, what was given before is not read
    again. Use it also to read the history of users that the memory has not met.

    Example:
        >>> memory = PrecedentMemory("sqlite://")
        >>> [str(change.after) for change in observe_messages(memory, "I moved to Kiel.")]
        ['Active']
    """
    said = utterances_of(_as_messages(messages), timestamp_key)
    return memory.observe(said, scope=scope, session=session, given=_given(messages))


async def aobserve_messages(
    memory: PrecedentMemory,
    messages: Said,
    *,
    scope: ScopeLike = (),
    session: str = "",
    timestamp_key: str = "created_at",
) -> list[Transition]:
    """Do the same as `observe_messages` without blocking the event loop."""
    said = utterances_of(_as_messages(messages), timestamp_key)
    return await memory.aobserve(said, scope=scope, session=session, given=_given(messages))


def recall_facts(memory: PrecedentMemory, about: Said, *, scope: ScopeLike = ()) -> str:
    """Write what is Active as a block of data for a prompt, most relevant to a text first.

    Example:
        >>> memory = PrecedentMemory("sqlite://")
        >>> _ = observe_messages(memory, "I moved to Kiel.")
        >>> "Kiel" in recall_facts(memory, "Where do I live?")
        True
    """
    return memory.recall(last_question(_as_messages(about)), scope=scope)


def remembering(
    memory: PrecedentMemory, *, input_key: str = "input", scope_key: str = "user_id"
) -> Runnable[Any, str]:
    """Give a step that reads the input for evidence and returns what is known after it.

    Args:
        memory: The memory.
        input_key: Where the user's text or the conversation stands, if the step gets a mapping.
        scope_key: Key of ``config["configurable"]`` that names the user; the scope is
            ``{scope_key: its value}``. The session is its ``thread_id`` or ``session_id``, if any.

    Raises:
        ValueError: In a run: the configuration does not name the user.
        KeyError: In a run: the mapping has no such key.

    Example:
        >>> from langchain_core.prompts import ChatPromptTemplate
        >>> from langchain_core.runnables import RunnablePassthrough
        >>> memory = PrecedentMemory("sqlite://")
        >>> prompt = ChatPromptTemplate([("system", "{facts}"), ("user", "{input}")])
        >>> chain = RunnablePassthrough.assign(facts=remembering(memory)) | prompt
        >>> config = {"configurable": {"user_id": "u7"}}
        >>> shown = chain.invoke({"input": "I moved to Kiel."}, config)
        >>> "Kiel" in shown.messages[0].content
        True
    """

    def remember(given: Any, config: RunnableConfig) -> str:
        said, scope, session = _read(given, config, input_key, scope_key)
        observe_messages(memory, said, scope=scope, session=session)
        return recall_facts(memory, said, scope=scope)

    async def aremember(given: Any, config: RunnableConfig) -> str:
        said, scope, session = _read(given, config, input_key, scope_key)
        await aobserve_messages(memory, said, scope=scope, session=session)
        return await memory.arecall(last_question(_as_messages(said)), scope=scope)

    return RunnableLambda(remember, aremember, name="remembering")


def _read(
    given: Any, config: RunnableConfig, input_key: str, scope_key: str
) -> tuple[Said, dict[str, Any], str]:
    configured = config.get("configurable") or {}
    user = configured.get(scope_key)
    if user is None:
        msg = (
            f'config["configurable"] must name the user under {scope_key!r}, '
            f"got {sorted(configured)!r}."
        )
        raise ValueError(msg)
    session = configured.get("thread_id") or configured.get("session_id") or ""
    said = given[input_key] if isinstance(given, Mapping) else given
    return said, {scope_key: user}, str(session)


def _as_messages(said: Said) -> list[BaseMessage]:
    if isinstance(said, str):
        return [HumanMessage(said)]
    if isinstance(said, BaseMessage):
        return [said]
    messages = list(said)
    if not all(isinstance(message, BaseMessage) for message in messages):
        msg = f"messages must be a text, a message or messages, got {said!r}."
        raise TypeError(msg)
    return messages


def _given(said: Said) -> Given:
    return "new" if isinstance(said, str | BaseMessage) else "window"
