"""The chat memory of an agent: learns from the user, forgets what has been revoked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from langchain.agents import AgentState
from langchain.agents.middleware.types import (
    AgentMiddleware,
    ContextT,
    ModelRequest,
    ModelResponse,
    ResponseT,
    ToolCallRequest,
)
from langchain_core.messages import AIMessage, SystemMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from langgraph.types import Command
from typing_extensions import override

from gcmem.encoder import SentenceEncoder
from gcmem.memory import ScopeLike
from gcmem.precedents import PrecedentLedger
from gcmem.precedents.chat_memory import OnError, PrecedentMemory, open_memory
from gcmem.precedents.evidence import EvidenceExtractor
from gcmem.short_term import ShortTermMemory
from langchain_gcmem.utterances import last_question, utterances_of

__all__ = ["PrecedentMemoryMiddleware"]

ScopeOf: TypeAlias = ScopeLike | Callable[[Any], ScopeLike]
Outcomes: TypeAlias = bool | Callable[[ToolCallRequest], tuple[str, str] | None]


class PrecedentMemoryMiddleware(AgentMiddleware[AgentState[ResponseT], ContextT, ResponseT]):
    """Gives an agent a memory of what is true of its user, across conversations and restarts.

    Before the agent starts, the user's new messages are read for evidence, each once: what was
    read is noted by thread in the ledger's database, so a restart or a replayed history changes
    nothing. A thread met for the first time is read whole, in its order; where its messages carry
    no time, they count as said now. At every model call the Active precedents are added to the
    system message, as data, most relevant to the user's last message first. Nothing Revoked
    reaches the prompt that way; the conversation itself still shows what was said in it, unless
    `GCMemMiddleware(clean_messages=True)` stands beside this middleware.

    The agent's state is never edited. The ledger lives in SQLite or PostgreSQL and not in the
    agent's LangGraph store: a store has no transaction over several entries, so two agents of one
    user could lose each other's evidence there.

    Args:
        ledger: A `PrecedentLedger` or its URL; or a `PrecedentMemory`, to share one.
        extractor: Finds evidence in messages; None takes `ConflictExtractor` (offline);
            `ModelExtractor(model)` asks a chat model.
        scope: Whose memory it is, or a callable that says so from the runtime. None reads
            ``scope_keys`` from the runtime's context, and a context without them is an error:
            users are never mixed by omission.
        scope_keys: Keys (or attributes) of the context that name the user.
        outcomes: Whether tool calls that work and fail are evidence, too: True stores "works" for
            the tool with the names and types of its arguments, by the rule for outcomes (three
            successes, see `LifecyclePolicy`). A callable gives the key and the value that a call
            acts on, or None for one that tells nothing.
        timestamp_key: Where messages carry their time, see `GCMemMiddleware`.
        max_items: How many precedents are shown at most (None: 20).
        max_tokens: Tokens of the block at most, its explanation included (None: 1,000).
        count_tokens: Counts tokens; None estimates.
        encoder: Finds what is relevant; None takes the bundled one.
        short_term: What the user says is added to it, for retrievers that share it.
        show_tentative: Whether what worked the last time it was tried is shown, too, marked as not
            established, where nothing is Active (None: False). With `outcomes` an agent uses what
            it has found at once, and not only after three successes.
        on_error: "raise" or "warn" where the extractor fails (None: "raise").
        name: Name of this middleware, for agents that use it more than once; None: its class.

    Raises:
        TypeError: A parameter has another type.
        ValueError: A parameter is out of range; in a run: the context names no user.

    Example:
        >>> from langchain.agents import create_agent
        >>> from langchain_core.language_models import FakeListChatModel
        >>> model = FakeListChatModel(responses=["Noted."])  # stands for yours
        >>> memory = PrecedentMemoryMiddleware("sqlite://")  # "sqlite:///memory.db" for a file
        >>> agent = create_agent(model, middleware=[memory])
        >>> said = {"messages": [("user", "I moved to Kiel.")]}
        >>> _ = agent.invoke(said, context={"user_id": "u7"})
        >>> [known.value for known in memory.memory.ledger.active({"user_id": "u7"})]
        ['I moved to Kiel.']
    """

    def __init__(
        self,
        ledger: PrecedentMemory | PrecedentLedger | str,
        extractor: EvidenceExtractor | None = None,
        *,
        scope: ScopeOf = None,
        scope_keys: Sequence[str] = ("user_id",),
        outcomes: Outcomes = False,
        timestamp_key: str = "created_at",
        max_items: int | None = None,
        max_tokens: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
        encoder: SentenceEncoder | None = None,
        short_term: ShortTermMemory | None = None,
        show_tentative: bool | None = None,
        on_error: OnError | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if isinstance(scope_keys, str) or not scope_keys:
            msg = f"scope_keys must be a sequence of at least one name, got {scope_keys!r}."
            raise TypeError(msg)
        if not isinstance(outcomes, bool) and not callable(outcomes):
            msg = f"outcomes must be True, False or a callable, got {outcomes!r}."
            raise TypeError(msg)
        self.memory = open_memory(
            ledger,
            extractor,
            max_items=max_items,
            max_tokens=max_tokens,
            count_tokens=count_tokens,
            encoder=encoder,
            short_term=short_term,
            show_tentative=show_tentative,
            on_error=on_error,
        )
        self._scope = scope
        self._scope_keys = tuple(scope_keys)
        self._outcomes = outcomes
        self._timestamp_key = timestamp_key
        self._name = name

    @property
    @override
    def name(self) -> str:
        """The name by which agents tell middleware apart."""
        return self._name or self.__class__.__name__

    @override
    def before_agent(
        self, state: AgentState[ResponseT], runtime: Runtime[ContextT]
    ) -> dict[str, Any] | None:
        """Read the user's new messages for evidence."""
        said = utterances_of(state["messages"], self._timestamp_key)
        self.memory.observe(said, scope=self._scope_of(runtime), session=_thread(runtime))
        return None

    @override
    async def abefore_agent(
        self, state: AgentState[ResponseT], runtime: Runtime[ContextT]
    ) -> dict[str, Any] | None:
        """Read the user's new messages for evidence."""
        said = utterances_of(state["messages"], self._timestamp_key)
        await self.memory.aobserve(said, scope=self._scope_of(runtime), session=_thread(runtime))
        return None

    @override
    def wrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], ModelResponse[ResponseT]],
    ) -> ModelResponse[ResponseT] | AIMessage:
        """Show the model what is known and true, beside its instructions."""
        query, scope = last_question(request.messages), self._scope_of(request.runtime)
        return handler(_informed(request, self.memory.recall(query, scope=scope)))

    @override
    async def awrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[ResponseT]]],
    ) -> ModelResponse[ResponseT] | AIMessage:
        """Show the model what is known and true, beside its instructions."""
        query, scope = last_question(request.messages), self._scope_of(request.runtime)
        return await handler(_informed(request, await self.memory.arecall(query, scope=scope)))

    @override
    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Run the tool and note whether it worked."""
        try:
            result = handler(request)
        except GraphBubbleUp:
            raise  # an interruption, which is no outcome
        except Exception:
            self._note(request, success=False)
            raise
        self._note(request, success=_worked(result))
        return result

    @override
    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run the tool and note whether it worked."""
        try:
            result = await handler(request)
        except GraphBubbleUp:
            raise  # an interruption, which is no outcome
        except Exception:
            await asyncio.to_thread(self._note, request, success=False)
            raise
        await asyncio.to_thread(self._note, request, success=_worked(result))
        return result

    def _note(self, request: ToolCallRequest, *, success: bool) -> None:
        if self._outcomes is False:
            return
        acted_on = _call_form(request) if self._outcomes is True else self._outcomes(request)
        if acted_on is None:
            return
        key, value = acted_on
        self.memory.ledger.outcome(
            key,
            success,
            value=value,
            scope=self._scope_of(request.runtime),
            source=f"tool:{request.tool_call['id']}",
        )

    def _scope_of(self, runtime: Any) -> ScopeLike:
        if callable(self._scope):
            return self._scope(runtime)
        if self._scope is not None:
            return self._scope
        context = getattr(runtime, "context", None)
        return {name: _named(context, name) for name in self._scope_keys}

    def __repr__(self) -> str:
        return f"{self.name}({self.memory.ledger!r})"


def _named(context: object, name: str) -> object:
    found = context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)
    if found is None:
        msg = (
            f"scope: the runtime's context must name the user under {name!r}, got {context!r}; "
            f'pass context={{"{name}": ...}} to the agent, or give scope= to the middleware.'
        )
        raise ValueError(msg)
    return found


def _thread(runtime: Any) -> str:
    return str(getattr(getattr(runtime, "execution_info", None), "thread_id", None) or "")


def _informed(request: ModelRequest[ContextT], text: str) -> ModelRequest[ContextT]:
    """Give the request with a block at the end of its system message."""
    if not text:
        return request
    system = request.system_message
    if system is None:
        return request.override(system_message=SystemMessage(text))
    content: Any = system.content
    joined: Any = (
        f"{content}\n\n{text}"
        if isinstance(content, str)
        else [*content, {"type": "text", "text": text}]
    )
    return request.override(system_message=system.model_copy(update={"content": joined}))


def _worked(result: ToolMessage | Command[Any]) -> bool:
    if isinstance(result, ToolMessage):
        return result.status != "error"
    messages = result.update.get("messages") if isinstance(result.update, dict) else None
    return not any(
        isinstance(message, ToolMessage) and message.status == "error"
        for message in (messages if isinstance(messages, list | tuple) else ())
    )


def _call_form(request: ToolCallRequest) -> tuple[str, str]:
    arguments = request.tool_call["args"]
    pattern = ", ".join(f"{name}: {type(arguments[name]).__name__}" for name in sorted(arguments))
    return f"tool {request.tool_call['name']}({pattern})", "works"
