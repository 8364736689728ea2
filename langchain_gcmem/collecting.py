"""One collection as a Runnable: traced, with nested callbacks, for ``invoke`` and ``ainvoke``."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables import RunnableConfig, RunnableLambda

from gcmem import Collection, Collector
from gcmem.retrieval import Collect

__all__ = ["COLLECTION_EVENT", "CollectionRun", "default_collector"]

COLLECTION_EVENT: Final = "gcmem_collection"
"""Name of the traced run and of the custom event; its data is `Collection.report()`."""

_default: list[Collector] = []
_building = threading.Lock()


def default_collector() -> Collector:
    """Give `Collector()`, built once in a process; its verdicts are cached for all who use it."""
    with _building:
        if not _default:
            _default.append(Collector())
        return _default[0]


@dataclass(frozen=True, slots=True)
class CollectionRun:
    """Performs one `Collect` step under the callbacks of whoever asks.

    The run is named "gcmem_collection". Its input are the ids of the candidates, its output and
    the data of the custom event of the same name are the report; neither holds memory text. A
    judge that is a chat model is traced as its child.

    Attributes:
        collector: Decides; None for the default one, built when the run begins.
        step: What it decides about.
    """

    collector: Collector | None
    step: Collect
    _done: list[Collection] = field(default_factory=list, init=False)

    @property
    def summary(self) -> dict[str, list[str]]:
        """What is traced as the input."""
        return {"candidates": [memory.id for memory in self.step.memories]}

    @property
    def collection(self) -> Collection:
        """The outcome, once the run has ended."""
        return self._done[0]

    def runnable(self) -> RunnableLambda[dict[str, list[str]], dict[str, Any]]:
        """Give the Runnable whose ``invoke`` or ``ainvoke`` performs the collection."""
        return RunnableLambda(self._collect, self._acollect, name=COLLECTION_EVENT)

    def _collect(self, _: dict[str, list[str]], config: RunnableConfig) -> dict[str, Any]:
        step = self.step
        collector = self.collector or default_collector()
        found = collector.collect(step.query, step.memories, step.as_of, step.history)
        report = self._finish(found)
        dispatch_custom_event(COLLECTION_EVENT, report, config=config)
        return report

    async def _acollect(self, _: dict[str, list[str]], config: RunnableConfig) -> dict[str, Any]:
        step = self.step
        collector = self.collector or default_collector()
        found = await collector.acollect(step.query, step.memories, step.as_of, step.history)
        report = self._finish(found)
        await adispatch_custom_event(COLLECTION_EVENT, report, config=config)
        return report

    def _finish(self, found: Collection) -> dict[str, Any]:
        self._done.append(found)
        return found.report()
