"""The collector as a document compressor, for chains that already compress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.runnables import RunnableConfig
from pydantic import Field
from typing_extensions import override

from gcmem import Collection
from gcmem.cutting import shown_within
from gcmem.retrieval import Collect
from langchain_gcmem.collecting import CollectionRun
from langchain_gcmem.fields import CollectingFields
from langchain_gcmem.translation import DocumentTranslator

__all__ = ["GCMemCompressor"]


class GCMemCompressor(CollectingFields, BaseDocumentCompressor):
    """Takes out of the given documents what newer ones among them contradict.

    It cannot fetch more documents for those that went; `GCMemRetriever` can.

    Example:
        >>> from gcmem import Collector
        >>> compressor = GCMemCompressor(collector=Collector("explicit"))
        >>> readings = [
        ...     Document("0412", metadata={"key": "M1", "value": "0412", "created_at": 1}),
        ...     Document("0460", metadata={"key": "M1", "value": "0460", "created_at": 2}),
        ... ]
        >>> [d.page_content for d in compressor.compress_documents(readings, "What does M1 say?")]
        ['0460']
    """

    k: int | None = Field(default=None, ge=1, strict=True)
    """How many documents to give at most; None: all that are left. What replaces a document that
    goes takes its rank, as in `GCMemRetriever`."""

    def collect(
        self, documents: Sequence[Document], query: str = "", callbacks: Callbacks | None = None
    ) -> Collection:
        """Decide without changing anything, so that one can ask why: ``.explain(document.id)``."""
        job = self._job(documents, query)
        job.run.runnable().invoke(job.run.summary, _config(callbacks))
        return job.run.collection

    async def acollect(
        self, documents: Sequence[Document], query: str = "", callbacks: Callbacks | None = None
    ) -> Collection:
        """Decide as `collect` does, without blocking the event loop."""
        job = self._job(documents, query)
        await job.run.runnable().ainvoke(job.run.summary, _config(callbacks))
        return job.run.collection

    @override
    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Collect. Documents that stay as they were are the very objects that were given."""
        job = self._job(documents, query)
        job.run.runnable().invoke(job.run.summary, _config(callbacks))
        return job.kept()

    @override
    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Collect as `compress_documents` does, without blocking the event loop."""
        job = self._job(documents, query)
        await job.run.runnable().ainvoke(job.run.summary, _config(callbacks))
        return job.kept()

    def _job(self, documents: Sequence[Document], query: str) -> _Job:
        translator = DocumentTranslator(self.mapping())
        step = Collect(query, translator.read(documents), self.as_of, self.history)
        return _Job(CollectionRun(self.collector, step), translator, self.k)


@dataclass(frozen=True, slots=True)
class _Job:
    """One call of the compressor."""

    run: CollectionRun
    translator: DocumentTranslator
    k: int | None

    def kept(self) -> list[Document]:
        given = self.run.step.memories
        shown = shown_within(self.run.collection, given, self.k)
        return [self.translator.write(memory, given[position]) for memory, position in shown]


def _config(callbacks: Callbacks | None) -> RunnableConfig | None:
    return None if callbacks is None else {"callbacks": callbacks}
