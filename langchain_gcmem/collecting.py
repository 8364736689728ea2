"""One collection as a Runnable: traced, with nested callbacks, for ``invoke`` and ``ainvoke``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from gcmem import Collection, Collector, __version__
from gcmem.default_collector import default_collector
from gcmem.retrieval import Collect

__all__ = ["COLLECTION_EVENT", "CollectionRun"]

COLLECTION_EVENT: Final = "gcmem_collection"
"""Name of the traced run and of the custom event; its data is `Collection.report()`."""


@dataclass(frozen=True, slots=True)
class CollectionRun:
    """Performs one `Collect` step under the callbacks of whoever asks.

    The run is named "gcmem_collection". Its input are the ids of the candidates, its metadata say
    how is decided (``gcmem_detector``, ``gcmem_threshold``, ...), its output and the data of the
    custom event of the same name are the report; none of them holds memory text. A judge that is a
    chat model is traced as its child.

    Attributes:
        collector: Decides; None for the default one, built when it is first needed.
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

    def runnable(self) -> Runnable[dict[str, list[str]], dict[str, Any]]:
        """Give the Runnable whose ``invoke`` or ``ainvoke`` performs the collection."""
        run = RunnableLambda(self._collect, self._acollect, name=COLLECTION_EVENT)
        settings = {f"gcmem_{name}": value for name, value in self._collector.settings.items()}
        return run.with_config(metadata={"gcmem_version": __version__, **settings})

    @property
    def _collector(self) -> Collector:
        return self.collector or default_collector()

    def _collect(self, _: dict[str, list[str]], config: RunnableConfig) -> dict[str, Any]:
        step = self.step
        found = self._collector.collect(step.query, step.memories, step.as_of, step.history)
        report = self._finish(found)
        dispatch_custom_event(COLLECTION_EVENT, report, config=config)
        return report

    async def _acollect(self, _: dict[str, list[str]], config: RunnableConfig) -> dict[str, Any]:
        step = self.step
        found = await self._collector.acollect(step.query, step.memories, step.as_of, step.history)
        report = self._finish(found)
        await adispatch_custom_event(COLLECTION_EVENT, report, config=config)
        return report

    def _finish(self, found: Collection) -> dict[str, Any]:
        self._done.append(found)
        return found.report()
