"""The retriever: wraps any other one and shows what is still true of what it finds."""

from __future__ import annotations

import copy
from collections.abc import Generator, Sequence
from typing import Any, Self, Unpack

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.indices.base import BaseIndex
from llama_index.core.prompts.mixin import PromptMixin, PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR

from gcmem import Collector, Memory, to_scope, to_utc
from gcmem.collector import HistoryMode
from gcmem.expansion import QueryExpander
from gcmem.mapping import MetadataMapping
from gcmem.memory import ScopeLike
from gcmem.retrieval import RetrievalOptions, RetrievalPlan, Retrieved, Step, check_options
from gcmem.short_term import ShortTermMemory
from gcmem.timestamps import TimeLike, TimestampUnit
from llamaindex_gcmem.nodes import NodeBook
from llamaindex_gcmem.overfetch import known_k
from llamaindex_gcmem.steps import StepPerformer

__all__ = ["GCMemRetriever"]

dispatcher = get_dispatcher(__name__)


class GCMemRetriever(BaseRetriever):
    """Fetches more than it shows, takes out what is stale, and shows the best k of the rest.

    Args:
        base_retriever: Any retriever, or an index (its default retriever is used then). It is
            never changed.
        collector: Decides what is stale; None: `Collector()`, with the bundled model.
        k: How many retrieved nodes to show. None: as many as the base retriever shows by itself,
            so that wrapping it changes no count.
        fetch_k: How many to fetch before collecting; None: four times k, at least 20, and never
            fewer than the base retriever gives by itself.
        timestamp_key: Metadata key of the time, or keys tried in order (event before ingest time).
        timestamp_unit: What a number under it counts: "s", "ms", "us" or "ns".
        scope_keys: Metadata keys that keep tenants, users or agents apart.
        source_key: Metadata key of the document that a chunk comes from.
        version_key: Metadata key of its version.
        slot_key: Metadata key of a slot; None: "key" and "value", where both are present.
        value_key: Metadata key of the slot's value.
        authority_key: Metadata key of a number that ranks who said it.
        short_term: The newest chunks of the conversation, united with what is found.
        query_expander: From a question to further queries, synchronous or asynchronous.
        head_lookup: Search once more, with the newest of what was found as the query, for what is
            newer still (`gcmem.head_lookup`).
        as_of: Read as of this time: what became known later is hidden. None: now.
        history: True annotates and removes nothing, for questions about the past; "auto"
            recognises those; a callable may recognise them.
        scope: Show only records of this scope, such as ``{"user_id": "u7"}``; None: of every one.
        callback_manager: None: that of the base retriever.

    Raises:
        TypeError: ``base_retriever`` is neither a retriever nor an index.
        ValueError: A parameter has a value that is not allowed.

    Example:
        >>> from gcmem import Collector
        >>> from llama_index.core import MockEmbedding, VectorStoreIndex
        >>> from llama_index.core.schema import TextNode
        >>> old = TextNode(id_="old", text="The office is on floor 2.",
        ...                metadata={"created_at": "2025-01-01"})
        >>> new = TextNode(id_="new", text="The office is on floor 4 now.",
        ...                metadata={"created_at": "2026-01-01", "supersedes": "old"})
        >>> index = VectorStoreIndex([old, new], embed_model=MockEmbedding(8))
        >>> retriever = GCMemRetriever(index.as_retriever(), collector=Collector("explicit"))
        >>> [node.node_id for node in retriever.retrieve("Where is the office?")]
        ['new']
        >>> [node.node_id for node in retriever.retrieve("Where is it?", as_of="2025-06-01")]
        ['old']
    """

    def __init__(
        self,
        base_retriever: BaseRetriever | BaseIndex[Any],
        *,
        collector: Collector | None = None,
        k: int | None = None,
        fetch_k: int | None = None,
        timestamp_key: str | Sequence[str] = "created_at",
        timestamp_unit: TimestampUnit = "s",
        scope_keys: Sequence[str] = (),
        source_key: str = "source",
        version_key: str = "version",
        slot_key: str | None = None,
        value_key: str | None = None,
        authority_key: str = "authority",
        short_term: ShortTermMemory | None = None,
        query_expander: QueryExpander | None = None,
        head_lookup: bool = False,
        as_of: TimeLike | None = None,
        history: HistoryMode = False,
        scope: ScopeLike = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        self.base_retriever = _as_retriever(base_retriever)
        super().__init__(callback_manager or getattr(self.base_retriever, "callback_manager", None))
        self.collector = collector
        self.mapping = MetadataMapping(
            timestamp_key=timestamp_key,
            timestamp_unit=timestamp_unit,
            scope_keys=scope_keys,
            source_key=source_key,
            version_key=version_key,
            slot_key=slot_key,
            value_key=value_key,
            authority_key=authority_key,
        )
        self.short_term = short_term
        self.query_expander = query_expander
        self.head_lookup = head_lookup
        self.k = k
        self.fetch_k = fetch_k
        self.as_of = as_of
        self.history = history
        self.scope = scope
        self._check()

    def with_options(self, **options: Unpack[RetrievalOptions]) -> Self:
        """Give a retriever that differs in these options only; this one stays as it is.

        Raises:
            TypeError: An option is unknown.
            ValueError: An option has a value that is not allowed.
        """
        check_options(options)
        twin = copy.copy(self)
        for name, value in options.items():
            setattr(twin, name, value)
        twin._check()
        return twin

    def retrieve(
        self, str_or_query_bundle: QueryType, **options: Unpack[RetrievalOptions]
    ) -> list[NodeWithScore]:
        """Retrieve what is still true.

        Args:
            str_or_query_bundle: The question.
            **options: ``k``, ``fetch_k``, ``as_of``, ``history`` or ``scope``, for this call.

        Returns:
            The nodes to show, best first. Nodes that lost a sentence or were annotated are copies;
            chunks that only short-term memory holds come last, as nodes without a score.
        """
        chosen = self.with_options(**options) if options else self
        return super(GCMemRetriever, chosen).retrieve(str_or_query_bundle)

    async def aretrieve(
        self, str_or_query_bundle: QueryType, **options: Unpack[RetrievalOptions]
    ) -> list[NodeWithScore]:
        """Retrieve as `retrieve` does, without blocking the event loop."""
        chosen = self.with_options(**options) if options else self
        return await super(GCMemRetriever, chosen).aretrieve(str_or_query_bundle)

    # The inherited methods, which both call, open the span; a second one would repeat it.
    setattr(retrieve, DISPATCHER_SPAN_DECORATED_ATTR, True)
    setattr(aretrieve, DISPATCHER_SPAN_DECORATED_ATTR, True)

    def collect(
        self, str_or_query_bundle: QueryType, **options: Unpack[RetrievalOptions]
    ) -> Retrieved:
        """Retrieve and give everything behind it: candidates, decisions, costs.

        ``collect(query).collection.explain(node_id)`` says what happened to a node and why.
        """
        chosen, performer = self._prepared(str_or_query_bundle, options)
        return performer.run(chosen._retrieval(performer.bundle))

    async def acollect(
        self, str_or_query_bundle: QueryType, **options: Unpack[RetrievalOptions]
    ) -> Retrieved:
        """Give what `collect` gives, without blocking the event loop."""
        chosen, performer = self._prepared(str_or_query_bundle, options)
        return await performer.arun(chosen._retrieval(performer.bundle))

    def candidates(
        self, str_or_query_bundle: QueryType, **options: Unpack[RetrievalOptions]
    ) -> list[NodeWithScore]:
        """Give the candidate set R_k alone, before anything is judged (GC-Mem, section 4.1)."""
        chosen, performer = self._prepared(str_or_query_bundle, options)
        steps = chosen._frozen(performer.bundle)
        return performer.book.write(performer.run(steps))

    async def acandidates(
        self, str_or_query_bundle: QueryType, **options: Unpack[RetrievalOptions]
    ) -> list[NodeWithScore]:
        """Give what `candidates` gives, without blocking the event loop."""
        chosen, performer = self._prepared(str_or_query_bundle, options)
        steps = chosen._frozen(performer.bundle)
        return performer.book.write(await performer.arun(steps))

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        _, performer = self._prepared(query_bundle, {})
        return performer.book.write(performer.run(self._retrieval(query_bundle)).memories)

    @dispatcher.span
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        _, performer = self._prepared(query_bundle, {})
        retrieved = await performer.arun(self._retrieval(query_bundle))
        return performer.book.write(retrieved.memories)

    def _prepared(self, query: QueryType, options: RetrievalOptions) -> tuple[Self, StepPerformer]:
        chosen = self.with_options(**options)
        performer = StepPerformer(
            base=self.base_retriever,
            bundle=QueryBundle(query) if isinstance(query, str) else query,
            book=NodeBook(self.mapping),
            collector=self.collector,
            expander=self.query_expander,
            exactly=chosen.fetch_k is not None,
        )
        return chosen, performer

    def _retrieval(self, bundle: QueryBundle) -> Generator[Step, Any, Retrieved]:
        return self._plan().run(
            bundle.query_str, as_of=self.as_of, history=self.history, scope=self.scope
        )

    def _frozen(self, bundle: QueryBundle) -> Generator[Step, Any, list[Memory]]:
        return self._plan().candidates(bundle.query_str, as_of=self.as_of, scope=self.scope)

    def _plan(self) -> RetrievalPlan:
        return RetrievalPlan(
            k=known_k(self.base_retriever) if self.k is None else self.k,
            fetch_k=self.fetch_k,
            short_term=self.short_term,
            expands=self.query_expander is not None,
            head_lookup=self.head_lookup,
        )

    def _check(self) -> None:
        self._plan()
        if self.as_of is not None:
            to_utc(self.as_of)
        to_scope(self.scope)
        is_mode = isinstance(self.history, bool) or self.history == "auto"
        if not is_mode and not callable(self.history):
            msg = f'history must be True, False, "auto" or a callable, got {self.history!r}.'
            raise ValueError(msg)

    def _get_prompt_modules(self) -> PromptMixinType:
        """Let the prompts of the base retriever be read and changed through this one."""
        base = self.base_retriever
        return {"base_retriever": base} if isinstance(base, PromptMixin) else {}


def _as_retriever(base: BaseRetriever | BaseIndex[Any]) -> BaseRetriever:
    if isinstance(base, BaseIndex):
        return base.as_retriever()
    if not callable(getattr(base, "retrieve", None)) or not callable(
        getattr(base, "aretrieve", None)
    ):
        msg = (
            "base_retriever must be a LlamaIndex retriever or index, or have the methods "
            f"retrieve and aretrieve; got {base!r}."
        )
        raise TypeError(msg)
    return base
