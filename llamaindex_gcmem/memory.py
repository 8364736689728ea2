"""A long-term memory block of chat messages that forgets what is no longer true."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self, cast

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage, ContentBlock, TextBlock
from llama_index.core.bridge.pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    model_validator,
)
from llama_index.core.indices.vector_store.base import VectorStoreIndex
from llama_index.core.memory.memory import BaseMemoryBlock
from llama_index.core.schema import MetadataMode, NodeWithScore
from llama_index.core.utils import get_tokenizer
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    MetadataFilter,
    MetadataFilters,
)

from gcmem import Collector, Memory
from gcmem.mapping import MetadataMapping
from gcmem.short_term import ShortTermMemory
from gcmem.timestamps import TimestampUnit
from llamaindex_gcmem.messages import AUTHORITY_KEY, SESSION_KEY, TIME_KEY, MessageReader, render
from llamaindex_gcmem.retriever import GCMemRetriever

__all__ = ["GCMemMemoryBlock"]


class GCMemMemoryBlock(BaseMemoryBlock[list[ContentBlock]]):
    """Remembers chat messages in a vector store and recalls those that are still true.

    For ``Memory.from_defaults(memory_blocks=[GCMemMemoryBlock(...)])``, in place of LlamaIndex's
    `VectorMemoryBlock`: every message is a node of its own, with its time, its role and its
    session, so that newer statements can replace older ones. What is being said right now takes
    part in the decision, so that a stored statement goes as soon as the user contradicts it.

    A message carries its time in ``additional_kwargs["created_at"]`` (see ``timestamp_key``); one
    that does not counts as said when it is stored. Nothing else of ``additional_kwargs`` is stored,
    apart from the session.

    A `ReActAgent` drops the first system message: give it a ``system_prompt``, or the memory
    ``insert_method=InsertMethod.USER``, so that it sees what is recalled.

    Example:
        >>> from gcmem import Collector
        >>> from llama_index.core import MockEmbedding, VectorStoreIndex
        >>> from llama_index.core.memory import Memory
        >>> index = VectorStoreIndex([], embed_model=MockEmbedding(8))
        >>> block = GCMemMemoryBlock(index=index, collector=Collector("explicit"))
        >>> memory = Memory.from_defaults(session_id="s1", memory_blocks=[block])

    Raises:
        ValueError: A field is unknown or not allowed, or it is not exactly one of ``index`` and
            ``vector_store`` that is given.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    name: str = Field(default="RelevantMessages", description="Name of the block in the prompt.")
    index: VectorStoreIndex | None = Field(
        default=None, description="Where messages are kept: an index over any vector store."
    )
    vector_store: BasePydanticVectorStore | None = Field(
        default=None, description="Instead of an index: a vector store that stores text."
    )
    embed_model: BaseEmbedding | None = Field(
        default=None, description="With vector_store: the embedding; None: Settings.embed_model."
    )
    collector: Collector | None = Field(
        default=None, description="Decides what is stale; None: Collector(), the bundled model."
    )
    k: int = Field(default=5, ge=1, description="How many messages to recall.")
    fetch_k: int | None = Field(
        default=None,
        ge=1,
        description="How many to fetch before collecting; None: 4 k, at least 20.",
    )
    head_lookup: bool = Field(default=False, description="See GCMemRetriever.")
    scope: dict[str, str] | None = Field(
        default=None,
        description='Whose memory it is, such as {"user_id": "u7"}, across sessions. None: each '
        "session has its own.",
    )
    timestamp_key: str | tuple[str, ...] = Field(
        default=TIME_KEY,
        description="Key in additional_kwargs of a message's time, or keys tried in order.",
    )
    timestamp_unit: TimestampUnit = Field(
        default="s", description='What a number under it counts: "s", "ms", "us" or "ns".'
    )
    roles: tuple[str, ...] | None = Field(
        default=("user", "assistant"),
        description="Roles whose messages are remembered; None: every one.",
    )
    role_authority: dict[str, float] = Field(
        default_factory=lambda: {"user": 1.0},
        description="A message never replaces one of a role of higher authority: by default the "
        "assistant cannot overrule what the user said.",
    )
    history: bool | Literal["auto"] | Callable[[str], bool] = Field(
        default=False, description="See GCMemRetriever."
    )
    retrieval_context_window: int = Field(
        default=5, ge=1, description="How many of the last messages to search with."
    )
    short_term_size: int = Field(
        default=20,
        ge=1,
        description="How many of the last messages take part in the decision. They are not "
        "recalled: the model sees them anyway.",
    )
    short_term: ShortTermMemory | None = Field(
        default=None, description="What the user says is added to it, for retrievers that share it."
    )
    _index: VectorStoreIndex = PrivateAttr()

    @model_validator(mode="after")
    def _open(self) -> Self:
        if (self.index is None) == (self.vector_store is None):
            msg = "give exactly one of index and vector_store."
            raise ValueError(msg)
        if self.index is not None and self.embed_model is not None:
            msg = "embed_model goes with vector_store; an index has its own."
            raise ValueError(msg)
        self._index = self.index or VectorStoreIndex.from_vector_store(
            cast("BasePydanticVectorStore", self.vector_store), embed_model=self.embed_model
        )
        self._reader()
        return self

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Store the messages, each as a node of its own."""
        for session, said in _by_session(messages).items():
            nodes = self._reader().nodes(said, self._scope(session))
            if nodes:
                await self._index.ainsert_nodes(nodes)

    async def _aget(
        self,
        messages: list[ChatMessage] | None = None,
        session_id: str | None = None,
        **block_kwargs: Any,
    ) -> list[ContentBlock]:
        """Recall what is relevant to the last messages and still true, most relevant first."""
        del block_kwargs
        reader, said = self._reader(), list(messages or [])
        scope = self._scope(session_id)
        if self.short_term is not None:
            await asyncio.to_thread(reader.fill, self.short_term, said, scope)
        query = reader.text(said[-self.retrieval_context_window :])
        if not query:
            return []
        live = reader.memories(said[-self.short_term_size :], scope)
        found = await self._retriever(scope, live).aretrieve(query)
        return [TextBlock(text=_rendered(node)) for node in _not_live(found, live)]

    async def atruncate(
        self, content: list[ContentBlock], tokens_to_truncate: int
    ) -> list[ContentBlock] | None:
        """Leave out whole messages, the least relevant first, until enough tokens are saved."""
        count = get_tokenizer()
        kept, saved = list(content), 0
        while kept and saved < tokens_to_truncate:
            saved += len(count(cast("TextBlock", kept.pop()).text))
        return kept or None

    def _scope(self, session_id: str | None) -> dict[str, str]:
        return {SESSION_KEY: session_id or ""} if self.scope is None else dict(self.scope)

    def _reader(self) -> MessageReader:
        mapping = MetadataMapping(
            timestamp_key=self.timestamp_key, timestamp_unit=self.timestamp_unit
        )
        return MessageReader(mapping, roles=self.roles, role_authority=self.role_authority)

    def _retriever(self, scope: dict[str, str], live: Sequence[Memory]) -> GCMemRetriever:
        """A retriever for one call: the filters of one session never reach another."""
        recent = ShortTermMemory(self.short_term_size)
        recent.extend(live)
        filters = MetadataFilters(
            filters=[MetadataFilter(key=key, value=value) for key, value in scope.items()]
        )
        return GCMemRetriever(
            self._index.as_retriever(similarity_top_k=self.k, filters=filters),
            collector=self.collector,
            k=self.k,
            fetch_k=self.fetch_k,
            timestamp_key=TIME_KEY,
            authority_key=AUTHORITY_KEY,
            scope_keys=tuple(scope),
            scope=scope,
            short_term=recent,
            head_lookup=self.head_lookup,
            history=self.history,
        )


def _by_session(messages: Sequence[ChatMessage]) -> dict[str | None, list[ChatMessage]]:
    """LlamaIndex's Memory writes the session into each message that it hands over."""
    sessions: dict[str | None, list[ChatMessage]] = {}
    for message in messages:
        sessions.setdefault(message.additional_kwargs.get(SESSION_KEY), []).append(message)
    return sessions


def _not_live(found: Sequence[NodeWithScore], live: Sequence[Memory]) -> list[NodeWithScore]:
    """Leave out what the conversation itself still shows."""
    ids, texts = {memory.id for memory in live}, {memory.text for memory in live}
    return [node for node in found if node.node_id not in ids and _text(node) not in texts]


def _rendered(node: NodeWithScore) -> str:
    return render(_text(node), node.metadata)


def _text(node: NodeWithScore) -> str:
    return node.get_content(metadata_mode=MetadataMode.NONE)
