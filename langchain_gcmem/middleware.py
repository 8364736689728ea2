"""Agent middleware that keeps outdated statements away from the model. Needs the extra "agents"."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Unpack, cast

from langchain.agents import AgentState
from langchain.agents.middleware.types import (
    AgentMiddleware,
    ContextT,
    ModelRequest,
    ModelResponse,
    ResponseT,
    ToolCallRequest,
)
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.prompts import BasePromptTemplate, PromptTemplate, format_document
from langgraph.types import Command
from typing_extensions import override

from gcmem.retrieval import Collect
from langchain_gcmem.collecting import CollectionRun
from langchain_gcmem.compressor import GCMemCompressor
from langchain_gcmem.fields import CollectingOptions
from langchain_gcmem.messages import VisibleHistory, ordered_by_position
from langchain_gcmem.precedent_middleware import PrecedentMemoryMiddleware

__all__ = ["GCMemMiddleware", "PrecedentMemoryMiddleware"]

_PLAIN: Final = PromptTemplate.from_template("{page_content}")


class GCMemMiddleware(AgentMiddleware[AgentState[ResponseT], ContextT, ResponseT]):
    """Cleans what retrieval tools return and, if asked, what the user said before.

    A tool's result is cleaned where it carries its documents as the artifact
    (``create_retriever_tool(..., response_format="content_and_artifact")``); a result that is
    only a text is left alone. The text of a cleaned result is written anew with
    ``document_prompt`` and ``document_separator``, which should be those of the tool.

    The agent's state is never edited: messages in the history are cleaned in the request to the
    model alone, and tool calls stay with their results.

    Args:
        tool_names: Clean the results of these tools only; None: of every tool that returns
            documents.
        clean_messages: Whether to clean the user's earlier messages, too. Their time is read from
            ``additional_kwargs``, then from ``response_metadata``; their order decides where
            times are missing or equal.
        document_prompt: How the tools write a document; None: its text alone.
        document_separator: What they write between documents.
        name: Name of this middleware, for agents that use it more than once; None: its class.
        **options: The options of `GCMemCompressor`.

    Example:
        >>> from langchain.agents import create_agent
        >>> from langchain_core.language_models import FakeListChatModel
        >>> from langchain_core.tools import create_retriever_tool
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> from langchain_gcmem import BundledEmbeddings
        >>> model = FakeListChatModel(responses=["Hello."])  # stands for yours
        >>> store = InMemoryVectorStore(BundledEmbeddings())
        >>> search = create_retriever_tool(
        ...     store.as_retriever(),
        ...     "notes",
        ...     "Searches notes.",
        ...     response_format="content_and_artifact",
        ... )
        >>> agent = create_agent(model, tools=[search], middleware=[GCMemMiddleware()])
    """

    def __init__(
        self,
        *,
        tool_names: Collection[str] | None = None,
        clean_messages: bool = False,
        document_prompt: BasePromptTemplate[str] | None = None,
        document_separator: str = "\n\n",
        name: str | None = None,
        **options: Unpack[CollectingOptions],
    ) -> None:
        super().__init__()
        if isinstance(tool_names, str):
            msg = f"tool_names must be a collection of names, got the text {tool_names!r}."
            raise TypeError(msg)
        self._tool_names = None if tool_names is None else frozenset(tool_names)
        self._clean_messages = clean_messages
        self._prompt = document_prompt or _PLAIN
        self._separator = document_separator
        self._name = name
        self._compressor = GCMemCompressor(**options)

    @property
    @override
    def name(self) -> str:
        """The name by which agents tell middleware apart."""
        return self._name or self.__class__.__name__

    @override
    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Run the tool and clean the documents that it returns."""
        result = handler(request)
        found = self._found(request, result)
        query = _query_of(request)
        kept = [list(self._compressor.compress_documents(each, query)) for each in found.documents]
        return found.cleaned(kept)

    @override
    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run the tool and clean the documents that it returns."""
        result = await handler(request)
        found = self._found(request, result)
        query = _query_of(request)
        kept = [
            list(await self._compressor.acompress_documents(each, query))
            for each in found.documents
        ]
        return found.cleaned(kept)

    @override
    def wrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], ModelResponse[ResponseT]],
    ) -> ModelResponse[ResponseT] | AIMessage:
        """Show the model the history without what the user has contradicted since."""
        cleaning = self._cleaning(request)
        if cleaning is None:
            return handler(request)
        cleaning.run.runnable().invoke(cleaning.run.summary)
        return handler(request.override(messages=cleaning.messages()))

    @override
    async def awrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[ResponseT]]],
    ) -> ModelResponse[ResponseT] | AIMessage:
        """Show the model the history without what the user has contradicted since."""
        cleaning = self._cleaning(request)
        if cleaning is None:
            return await handler(request)
        await cleaning.run.runnable().ainvoke(cleaning.run.summary)
        return await handler(request.override(messages=cleaning.messages()))

    def _cleaning(self, request: ModelRequest[ContextT]) -> _Cleaning | None:
        if not self._clean_messages:
            return None
        history = VisibleHistory(request.messages, self._compressor.mapping())
        if len(history.statements) < 2:
            return None
        step = Collect(
            history.question,
            history.statements,
            self._compressor.as_of,
            self._compressor.history,
        )
        collector = ordered_by_position(self._compressor.effective_collector())
        return _Cleaning(history, CollectionRun(collector, step))

    def _found(
        self, request: ToolCallRequest, result: ToolMessage | Command[Any]
    ) -> _FoundDocuments:
        messages = _messages_of(result)
        is_wanted = self._tool_names is None or request.tool_call["name"] in self._tool_names
        with_documents = [
            position
            for position, message in enumerate(messages)
            if is_wanted and isinstance(message, ToolMessage) and _documents_of(message)
        ]
        return _FoundDocuments(result, messages, with_documents, self._render)

    def _render(self, documents: Sequence[Document]) -> str:
        return self._separator.join(
            format_document(document, self._prompt) for document in documents
        )


@dataclass(frozen=True, slots=True)
class _Cleaning:
    """One cleaning of the history for one model call."""

    history: VisibleHistory
    run: CollectionRun

    def messages(self) -> list[AnyMessage]:
        return self.history.cleaned(self.run.collection)


@dataclass(frozen=True, slots=True)
class _FoundDocuments:
    """The documents in what a tool returned.

    Attributes:
        result: What the tool returned.
        messages: The messages in it.
        positions: Which of them carry documents.
        render: Writes documents as the tool does.
    """

    result: ToolMessage | Command[Any]
    messages: list[Any]
    positions: list[int]
    render: Callable[[Sequence[Document]], str]

    @property
    def documents(self) -> list[list[Document]]:
        """The documents of each message that carries some."""
        return [_documents_of(self.messages[position]) for position in self.positions]

    def cleaned(self, kept: list[list[Document]]) -> ToolMessage | Command[Any]:
        """Give the result with these documents in place of those that it carried."""
        messages = list(self.messages)
        for position, before, after in zip(self.positions, self.documents, kept, strict=True):
            update: dict[str, Any] = {"artifact": after}
            if self.render(after) != self.render(before):
                update["content"] = self.render(after)
            if not _same_objects(before, after):
                messages[position] = messages[position].model_copy(update=update)
        if isinstance(self.result, ToolMessage):
            return cast("ToolMessage", messages[0])
        update_of_state = self.result.update
        if not self.positions or not isinstance(update_of_state, dict):
            return self.result
        return replace(self.result, update={**update_of_state, "messages": messages})


def _messages_of(result: ToolMessage | Command[Any]) -> list[Any]:
    if isinstance(result, ToolMessage):
        return [result]
    messages = result.update.get("messages") if isinstance(result.update, dict) else None
    return list(messages) if isinstance(messages, list | tuple) else []


def _documents_of(message: ToolMessage) -> list[Document]:
    artifact = message.artifact
    if not isinstance(artifact, list | tuple):
        return []
    return list(artifact) if all(isinstance(each, Document) for each in artifact) else []


def _same_objects(before: Sequence[object], after: Sequence[object]) -> bool:
    return len(before) == len(after) and all(
        left is right for left, right in zip(before, after, strict=True)
    )


def _query_of(request: ToolCallRequest) -> str:
    """What the tool was asked; for a tool without a query, what the user said last."""
    arguments = request.tool_call["args"]
    query = arguments.get("query")
    if isinstance(query, str):
        return query
    state = request.state
    messages = state.get("messages", []) if isinstance(state, dict) else []
    spoken = [str(message.text) for message in messages if isinstance(message, HumanMessage)]
    return spoken[-1] if spoken else ""
