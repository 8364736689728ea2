"""Performs the steps of a `RetrievalPlan` with LlamaIndex, synchronously or asynchronously."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from gcmem import Collector, Memory
from gcmem.collector import HistoryMode
from gcmem.default_collector import default_collector
from gcmem.dominance import BoolMatrix
from gcmem.expansion import QueryExpander, aexpand, expand
from gcmem.retrieval import Collect, Compare, Expand, Fetch, Step
from gcmem.timestamps import TimeLike
from llamaindex_gcmem.collecting import acollect, collect
from llamaindex_gcmem.nodes import NodeBook
from llamaindex_gcmem.overfetch import widened

__all__ = ["StepPerformer"]

Answer = TypeVar("Answer")
_MOST_THREADS: Final = 8


@dataclass(frozen=True, slots=True)
class StepPerformer:
    """What one retrieval needs to perform its steps.

    Attributes:
        base: The user's retriever.
        bundle: The question as it was given, with its embedding if it has one.
        book: Remembers which node each memory was read from.
        collector: Decides what is stale; None for the default one.
        expander: Turns the question into queries; None if the plan does not expand.
        exactly: Whether to fetch as many records as the plan says even where the base retriever
            would give more.
    """

    base: BaseRetriever
    bundle: QueryBundle
    book: NodeBook
    collector: Collector | None
    expander: QueryExpander | None
    exactly: bool

    def run(self, steps: Generator[Step, Any, Answer]) -> Answer:
        """Perform the steps of a plan and give its result."""
        answer: Any = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as stop:
                result: Answer = stop.value
                return result
            if isinstance(step, Expand):
                answer = [] if self.expander is None else expand(self.expander, step.query)
            elif isinstance(step, Fetch):
                answer = [self.book.read(nodes) for nodes in self._fetch(step)]
            elif isinstance(step, Compare):
                answer = self._compare(step)
            else:
                answer = collect(self.collector, *_arguments(step))

    async def arun(self, steps: Generator[Step, Any, Answer]) -> Answer:
        """Perform the steps of a plan without blocking the event loop."""
        answer: Any = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as stop:
                result: Answer = stop.value
                return result
            if isinstance(step, Expand):
                answer = [] if self.expander is None else await aexpand(self.expander, step.query)
            elif isinstance(step, Fetch):
                answer = [self.book.read(nodes) for nodes in await self._afetch(step)]
            elif isinstance(step, Compare):
                answer = await asyncio.to_thread(self._compare, step)
            else:
                answer = await acollect(self.collector, *_arguments(step))

    def _fetch(self, step: Fetch) -> list[list[NodeWithScore]]:
        base = widened(self.base, step.limit, exactly=self.exactly)
        queries = self._bundles(step)
        if len(queries) == 1:
            return [base.retrieve(queries[0])]
        with ThreadPoolExecutor(min(len(queries), _MOST_THREADS)) as pool:
            found = [pool.submit(copy_context().run, base.retrieve, query) for query in queries]
            return [future.result() for future in found]

    async def _afetch(self, step: Fetch) -> list[list[NodeWithScore]]:
        base = widened(self.base, step.limit, exactly=self.exactly)
        queries = self._bundles(step)
        return list(await asyncio.gather(*(base.aretrieve(query) for query in queries)))

    def _compare(self, step: Compare) -> BoolMatrix:
        return step.perform(self.collector or default_collector())

    def _bundles(self, step: Fetch) -> list[QueryBundle]:
        """The user's own bundle, and a new one for each further query."""
        own = self.bundle
        return [own if query == own.query_str else QueryBundle(query) for query in step.queries]


def _arguments(step: Collect) -> tuple[str, Sequence[Memory], TimeLike | None, HistoryMode]:
    return step.query, step.memories, step.as_of, step.history
