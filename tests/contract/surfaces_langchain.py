"""The LangChain adapters as surfaces of the contract suite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from gcmem import Collector, Memory
from langchain_gcmem import GCMemCompressor, GCMemRetriever

_RELEVANCE = "relevance_score"
_OPTIONS: dict[str, Any] = {
    "scope_keys": ("user_id",),
    "slot_key": "slot",
    "value_key": "slot_value",
    "source_key": "document",
}


class GivenOrder(BaseRetriever):
    """A user's own retriever: gives its documents in their order."""

    documents: list[Document]

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self.documents


def metadata_of(memory: Memory) -> dict[str, Any]:
    """Write a memory's fields where the adapters read them."""
    document, _, version = (memory.source or "").partition("@")
    fields = {
        "created_at": memory.timestamp,
        "valid_from": memory.valid_from,
        "valid_until": memory.valid_until,
        "supersedes": list(memory.supersedes),
        "slot": memory.key,
        "slot_value": memory.value,
        "document": document,
        "version": version,
        "authority": memory.authority,
        _RELEVANCE: memory.relevance,
        **dict(label.split("=", 1) for label in memory.scope if "=" in label),
    }
    return {**memory.metadata, **{key: value for key, value in fields.items() if value}}


def document_of(memory: Memory) -> Document:
    return Document(page_content=memory.text, id=memory.id, metadata=metadata_of(memory))


def memory_of(document: Document) -> Memory:
    return Memory(
        document.page_content,
        id=document.id,
        relevance=document.metadata.get(_RELEVANCE),
        metadata=document.metadata,
    )


class RetrieverSurface:
    """Pushes memories through `GCMemRetriever` over a user's own retriever."""

    name = "langchain-retriever"

    def _retriever(self, memories: Sequence[Memory], collector: Collector) -> GCMemRetriever:
        base = GivenOrder(documents=[document_of(memory) for memory in memories])
        return GCMemRetriever(base_retriever=base, collector=collector, **_OPTIONS)

    def collect(
        self,
        memories: Sequence[Memory],
        *,
        query: str = "q",
        collector: Collector,
        as_of: Any = None,
        history: Any = False,
    ) -> list[Memory]:
        found = self._retriever(memories, collector).invoke(query, as_of=as_of, history=history)
        return [memory_of(document) for document in found]

    async def acollect(
        self,
        memories: Sequence[Memory],
        *,
        query: str = "q",
        collector: Collector,
        as_of: Any = None,
        history: Any = False,
    ) -> list[Memory]:
        retriever = self._retriever(memories, collector)
        found = await retriever.ainvoke(query, as_of=as_of, history=history)
        return [memory_of(document) for document in found]


class CompressorSurface:
    """Pushes memories through `GCMemCompressor`."""

    name = "langchain-compressor"

    def collect(
        self,
        memories: Sequence[Memory],
        *,
        query: str = "q",
        collector: Collector,
        as_of: Any = None,
        history: Any = False,
    ) -> list[Memory]:
        compressor = GCMemCompressor(collector=collector, as_of=as_of, history=history, **_OPTIONS)
        documents = [document_of(memory) for memory in memories]
        return [memory_of(kept) for kept in compressor.compress_documents(documents, query)]

    async def acollect(
        self,
        memories: Sequence[Memory],
        *,
        query: str = "q",
        collector: Collector,
        as_of: Any = None,
        history: Any = False,
    ) -> list[Memory]:
        compressor = GCMemCompressor(collector=collector, as_of=as_of, history=history, **_OPTIONS)
        documents = [document_of(memory) for memory in memories]
        kept = await compressor.acompress_documents(documents, query)
        return [memory_of(document) for document in kept]


SURFACES = [RetrieverSurface(), CompressorSurface()]
