"""A retriever around any other, which shows only what is still true."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, Self

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
from gcmem.collector import HistoryMode
from gcmem.memory import ScopeLike
from gcmem.retrieval import RetrievalPlan, Retrieved, Step
from gcmem.short_term import ShortTermMemory
from gcmem.timestamps import TimeLike
from langchain_gcmem.base_search import BaseSearch
from langchain_gcmem.fields import CollectingFields
from langchain_gcmem.steps import StepPerformer
from langchain_gcmem.translation import DocumentTranslator

__all__ = ["GCMemRetriever"]


class GCMemRetriever(CollectingFields, BaseRetriever):
    """Fetches more than it shows, takes out what newer records contradict, and cuts to ``k``.

    ``k``, ``fetch_k``, ``as_of``, ``history`` and ``scope`` may also be given for one call:
    ``retriever.invoke(query, as_of="2025-06-01")``.

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
        self._plan(None, None)
        return self

    def candidates(
        self,
        query: str,
        *,
        k: int | None = None,
        fetch_k: int | None = None,
        scope: ScopeLike = None,
        config: RunnableConfig | None = None,
    ) -> list[Document]:
        """Give the frozen candidate set R_k alone, before anything is judged (section 4.1)."""
        request = self._request(k, fetch_k)
        found = request.performer.run(self._frozen(request, query, scope), config)
        return request.performer.translator.write_all(found, found, range(len(found)))

    async def acandidates(
        self,
        query: str,
        *,
        k: int | None = None,
        fetch_k: int | None = None,
        scope: ScopeLike = None,
        config: RunnableConfig | None = None,
    ) -> list[Document]:
        """Give the frozen candidate set R_k alone, as `candidates` does."""
        request = self._request(k, fetch_k)
        steps = self._frozen(request, query, scope)
        found = await request.performer.arun(steps, config)
        return request.performer.translator.write_all(found, found, range(len(found)))

    def collect(
        self,
        query: str,
        *,
        k: int | None = None,
        fetch_k: int | None = None,
        as_of: TimeLike | None = None,
        history: HistoryMode | None = None,
        scope: ScopeLike = None,
        config: RunnableConfig | None = None,
    ) -> Retrieved:
        """Give what the core decided: candidates, what went and why, and what is shown.

        Takes the parameters of a call. ``collect(query).collection.explain(document.id)`` says
        what happened to a document.
        """
        request = self._request(k, fetch_k)
        steps = self._retrieval(request, query, as_of, history, scope)
        return request.performer.run(steps, config)

    async def acollect(
        self,
        query: str,
        *,
        k: int | None = None,
        fetch_k: int | None = None,
        as_of: TimeLike | None = None,
        history: HistoryMode | None = None,
        scope: ScopeLike = None,
        config: RunnableConfig | None = None,
    ) -> Retrieved:
        """Give what the core decided, as `collect` does."""
        request = self._request(k, fetch_k)
        steps = self._retrieval(request, query, as_of, history, scope)
        return await request.performer.arun(steps, config)

    @override
    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        fetch_k: int | None = None,
        as_of: TimeLike | None = None,
        history: HistoryMode | None = None,
        scope: ScopeLike = None,
    ) -> list[Document]:
        request = self._request(k, fetch_k)
        steps = self._retrieval(request, query, as_of, history, scope)
        found = request.performer.run(steps, {"callbacks": run_manager.get_child()})
        return request.shown(found)

    @override
    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        fetch_k: int | None = None,
        as_of: TimeLike | None = None,
        history: HistoryMode | None = None,
        scope: ScopeLike = None,
    ) -> list[Document]:
        request = self._request(k, fetch_k)
        steps = self._retrieval(request, query, as_of, history, scope)
        found = await request.performer.arun(steps, {"callbacks": run_manager.get_child()})
        return request.shown(found)

    @override
    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        own = super()._get_ls_params(**kwargs)
        if not isinstance(self.base_retriever, BaseRetriever):
            return own
        return LangSmithRetrieverParams(**{**self.base_retriever._get_ls_params(), **own})

    def _plan(self, k: int | None, fetch_k: int | None) -> RetrievalPlan:
        base_k = BaseSearch(self.base_retriever).known_k
        shown = next((given for given in (k, self.k, base_k) if given is not None), None)
        fetched = self.fetch_k if fetch_k is None else fetch_k
        plan = RetrievalPlan(
            k=shown,
            fetch_k=fetched,
            short_term=self.short_term,
            expands=self.query_expander is not None,
            head_lookup=self.head_lookup,
        )
        if fetched is None and base_k is not None and base_k > (plan.limit or base_k):
            return replace(plan, fetch_k=base_k)
        return plan

    def _request(self, k: int | None, fetch_k: int | None) -> _Request:
        performer = StepPerformer(
            base=BaseSearch(self.base_retriever),
            expander=self.query_expander,
            collector=self.collector,
            translator=DocumentTranslator(self.mapping()),
        )
        return _Request(self._plan(k, fetch_k), performer)

    def _frozen(
        self, request: _Request, query: str, scope: ScopeLike
    ) -> Generator[Step, Any, list[Memory]]:
        return request.plan.candidates(query, self.scope if scope is None else scope)

    def _retrieval(
        self,
        request: _Request,
        query: str,
        as_of: TimeLike | None,
        history: HistoryMode | None,
        scope: ScopeLike,
    ) -> Generator[Step, Any, Retrieved]:
        return request.plan.run(
            query,
            as_of=self.as_of if as_of is None else as_of,
            history=self.history if history is None else history,
            scope=self.scope if scope is None else scope,
        )


@dataclass(frozen=True, slots=True)
class _Request:
    """One request: how it is planned, and what performs it."""

    plan: RetrievalPlan
    performer: StepPerformer

    def shown(self, found: Retrieved) -> list[Document]:
        """Give the documents of what is to be shown."""
        return self.performer.translator.write_all(
            found.memories, found.candidates, found.positions
        )
