"""A retriever around any other, which shows only what is still true."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, Self, Unpack

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, LangSmithRetrieverParams, RetrieverLike
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import coerce_to_runnable
from pydantic import ConfigDict, Field, field_validator, model_validator
from typing_extensions import override

from gcmem import Memory, to_scope
from gcmem.retrieval import RetrievalOptions, RetrievalPlan, Retrieved, Step, check_options
from gcmem.short_term import ShortTermMemory
from langchain_gcmem.base_search import BaseSearch
from langchain_gcmem.fields import CollectingFields
from langchain_gcmem.steps import StepPerformer
from langchain_gcmem.translation import DocumentTranslator

__all__ = ["GCMemRetriever"]


class GCMemRetriever(CollectingFields, BaseRetriever):
    """Fetches more than it shows, takes out what newer records contradict, and cuts to ``k``.

    ``k``, ``fetch_k``, ``as_of``, ``history`` and ``scope`` may also be given for one call, where
    what is given counts, None as well: ``retriever.invoke(query, as_of="2025-06-01")``.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_core.runnables import RunnableLambda
        >>> from gcmem import Collector
        >>> notes = [
        ...     Document("Elena lives in Ulm.", id="a", metadata={"created_at": "2025-03-14"}),
        ...     Document(
        ...         "Elena lives in Kiel.",
        ...         id="b",
        ...         metadata={"created_at": "2025-09-14", "supersedes": "a"},
        ...     ),
        ... ]
        >>> retriever = GCMemRetriever(
        ...     base_retriever=RunnableLambda(lambda query: notes),
        ...     collector=Collector("explicit"),
        ... )
        >>> [document.page_content for document in retriever.invoke("Where does Elena live?")]
        ['Elena lives in Kiel.']
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    base_retriever: RetrieverLike
    """Any retriever, or any Runnable or callable from a query to documents."""

    k: int | None = Field(default=None, ge=1, strict=True)
    """How many retrieved documents to show; None: as many as the base retriever would."""

    fetch_k: int | None = Field(default=None, ge=1, strict=True)
    """How many to fetch per query before collecting; None: four times ``k``, at least 20."""

    short_term: ShortTermMemory | None = None
    """What was said last; it is judged with what is retrieved and shown in addition to it."""

    query_expander: Runnable[str, list[str]] | Callable[[str], Any] | None = None
    """Turns the query into further queries: a Runnable or a callable, sync or async."""

    head_lookup: bool = False
    """Whether to search once more for what is newer than the newest that was found."""

    scope: Any = None
    """Show only this scope (any form that `gcmem.to_scope` reads); None: records of every one."""

    @field_validator("base_retriever", mode="before")
    @classmethod
    def _is_runnable(cls, value: Any) -> Any:
        is_function = callable(value) and not isinstance(value, type)
        return coerce_to_runnable(value) if is_function else value

    @field_validator("scope")
    @classmethod
    def _is_a_scope(cls, value: Any) -> Any:
        try:
            return None if value is None else to_scope(value)
        except TypeError as error:
            raise ValueError(str(error)) from error

    @model_validator(mode="after")
    def _can_plan(self) -> Self:
        self._plan()
        return self

    def candidates(
        self,
        query: str,
        *,
        config: RunnableConfig | None = None,
        **options: Unpack[RetrievalOptions],
    ) -> list[Document]:
        """Give the frozen candidate set R_k alone, before anything is judged (section 4.1)."""
        request = self._request(options)
        found = request.performer.run(request.frozen(query), config)
        return request.performer.translator.write_all(found, found, range(len(found)))

    async def acandidates(
        self,
        query: str,
        *,
        config: RunnableConfig | None = None,
        **options: Unpack[RetrievalOptions],
    ) -> list[Document]:
        """Give the frozen candidate set R_k alone, as `candidates` does."""
        request = self._request(options)
        found = await request.performer.arun(request.frozen(query), config)
        return request.performer.translator.write_all(found, found, range(len(found)))

    def collect(
        self,
        query: str,
        *,
        config: RunnableConfig | None = None,
        **options: Unpack[RetrievalOptions],
    ) -> Retrieved:
        """Give what the core decided: candidates, what went and why, and what is shown.

        ``collect(query).collection.explain(document.id)`` says what happened to a document.
        """
        request = self._request(options)
        return request.performer.run(request.retrieval(query), config)

    async def acollect(
        self,
        query: str,
        *,
        config: RunnableConfig | None = None,
        **options: Unpack[RetrievalOptions],
    ) -> Retrieved:
        """Give what the core decided, as `collect` does."""
        request = self._request(options)
        return await request.performer.arun(request.retrieval(query), config)

    @override
    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        **options: Unpack[RetrievalOptions],
    ) -> list[Document]:
        request = self._request(options)
        config: RunnableConfig = {"callbacks": run_manager.get_child()}
        return request.shown(request.performer.run(request.retrieval(query), config))

    @override
    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **options: Unpack[RetrievalOptions],
    ) -> list[Document]:
        request = self._request(options)
        config: RunnableConfig = {"callbacks": run_manager.get_child()}
        return request.shown(await request.performer.arun(request.retrieval(query), config))

    @override
    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        own = super()._get_ls_params(**kwargs)
        if not isinstance(self.base_retriever, BaseRetriever):
            return own
        return LangSmithRetrieverParams(**{**self.base_retriever._get_ls_params(), **own})

    def _plan(self) -> RetrievalPlan:
        base_k = BaseSearch(self.base_retriever).known_k
        plan = RetrievalPlan(
            k=base_k if self.k is None else self.k,
            fetch_k=self.fetch_k,
            short_term=self.short_term,
            expands=self.query_expander is not None,
            head_lookup=self.head_lookup,
        )
        if self.fetch_k is None and base_k is not None and base_k > (plan.limit or base_k):
            return replace(plan, fetch_k=base_k)
        return plan

    def _request(self, options: RetrievalOptions) -> _Request:
        check_options(options)
        chosen = self.model_copy(update=dict(options)) if options else self
        performer = StepPerformer(
            base=BaseSearch(self.base_retriever),
            expander=self.query_expander,
            collector=self.collector,
            translator=DocumentTranslator(self.mapping()),
        )
        return _Request(chosen, performer)


@dataclass(frozen=True, slots=True)
class _Request:
    """One request: the retriever as it is for this call, and what performs its steps."""

    retriever: GCMemRetriever
    performer: StepPerformer

    def frozen(self, query: str) -> Generator[Step, Any, list[Memory]]:
        """Give the steps to the candidate set."""
        made = self.retriever
        return made._plan().candidates(query, as_of=made.as_of, scope=made.scope)

    def retrieval(self, query: str) -> Generator[Step, Any, Retrieved]:
        """Give the steps to what is to be shown."""
        made = self.retriever
        return made._plan().run(query, as_of=made.as_of, history=made.history, scope=made.scope)

    def shown(self, found: Retrieved) -> list[Document]:
        """Give the documents of what is to be shown."""
        return self.performer.translator.write_all(
            found.memories, found.candidates, found.positions
        )
