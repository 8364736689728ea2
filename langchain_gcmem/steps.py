"""Performs the steps of a retrieval with Runnables: the same calls for sync and async."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from langchain_core.runnables import (
    Runnable,
    RunnableConfig,
    RunnableLambda,
    run_in_executor,
)

from gcmem import Collector
from gcmem.default_collector import default_collector
from gcmem.expansion import QueryExpander, aexpand, expand, read_queries
from gcmem.retrieval import Collect, Compare, Expand, Fetch, Step
from langchain_gcmem.base_search import BaseSearch
from langchain_gcmem.collecting import CollectionRun
from langchain_gcmem.translation import DocumentTranslator, check_documents

__all__ = ["StepPerformer"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Call:
    """What performs a step: a Runnable, its inputs, and how its outputs are read."""

    runnable: Runnable[Any, Any]
    inputs: list[Any]
    read: Callable[[list[Any]], Any]
    options: dict[str, Any] = field(default_factory=dict)
    only_sync: bool = False


@dataclass(frozen=True)
class _Outcome(Generic[T]):
    """What the generator of steps returned."""

    value: T


@dataclass(frozen=True, slots=True)
class StepPerformer:
    """Performs the steps of `gcmem.retrieval.RetrievalPlan` for one request.

    Attributes:
        base: The wrapped retriever.
        expander: Turns a query into queries, or None.
        collector: Decides; None for the default one.
        translator: Reads the documents of this request.
    """

    base: BaseSearch
    expander: Runnable[str, list[str]] | QueryExpander | None
    collector: Collector | None
    translator: DocumentTranslator

    def run(self, steps: Generator[Step, Any, T], config: RunnableConfig | None) -> T:
        """Perform every step and give the outcome."""
        step = _advance(steps, None)
        while not isinstance(step, _Outcome):
            call = self._call(step)
            answers = call.runnable.batch(call.inputs, config, **call.options)
            step = _advance(steps, call.read(answers))
        return step.value

    async def arun(self, steps: Generator[Step, Any, T], config: RunnableConfig | None) -> T:
        """Perform every step as `run` does, without blocking the event loop."""
        step = _advance(steps, None)
        while not isinstance(step, _Outcome):
            call = self._call(step)
            if call.only_sync:
                answers = await run_in_executor(
                    config, call.runnable.batch, call.inputs, config, **call.options
                )
            else:
                answers = await call.runnable.abatch(call.inputs, config, **call.options)
            step = _advance(steps, call.read(answers))
        return step.value

    def _call(self, step: Step) -> _Call:
        match step:
            case Expand():
                if self.expander is None:
                    msg = "The plan expands, but there is no query_expander."
                    raise ValueError(msg)
                return _Call(
                    _as_runnable(self.expander), [step.query], lambda found: read_queries(found[0])
                )
            case Fetch():
                options = self.base.options(step.limit)
                return _Call(
                    self.base.retriever,
                    list(step.queries),
                    self._read_rankings,
                    options=options,
                    only_sync="k" in options and self.base.runs_only_synchronously,
                )
            case Compare():
                compare = RunnableLambda(step.perform, name="gcmem_compare")
                collector = self.collector or default_collector()
                return _Call(compare, [collector], lambda answers: answers[0])
            case Collect():
                run = CollectionRun(self.collector, step)
                return _Call(run.runnable(), [run.summary], lambda _: run.collection)

    def _read_rankings(self, found: list[Any]) -> Any:
        return [
            self.translator.read(check_documents(documents, of="base_retriever"))
            for documents in found
        ]


def _advance(steps: Generator[Step, Any, T], answer: Any) -> Step | _Outcome[T]:
    try:
        return steps.send(answer)
    except StopIteration as stop:
        return _Outcome(stop.value)


def _as_runnable(expander: Runnable[str, list[str]] | QueryExpander) -> Runnable[str, list[str]]:
    """Make an expander callable, and traced, in both ways, whichever way it was written for."""
    if isinstance(expander, Runnable):
        return expander
    name = getattr(expander, "__name__", type(expander).__name__)
    return RunnableLambda(partial(expand, expander), partial(aexpand, expander), name=name)
