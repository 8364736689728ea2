"""R_k from a real Chroma store through `GCMemRetriever.candidates`, frozen for every method."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass

import chromadb
import numpy as np
from chromadb.config import Settings
from langchain_chroma import Chroma
from langchain_core.documents import Document

from benchmarks.mutation.instances import Chunk, Instance
from gcmem import Collector, ShortTermMemory
from langchain_gcmem import GCMemRetriever
from langchain_gcmem.embeddings import BundledEmbeddings


@dataclass(frozen=True, slots=True)
class Candidates:
    """The frozen R_k of one instance, in the order of retrieval (short-term chunks last).

    `relevance` is the cosine with the question; `usage` says how often a chunk would have been
    retrieved, had the same question been asked after every turn, as a share of the largest such
    count; `likeness` is the mean cosine with the other candidates. Both stand in for what an
    application would count.
    """

    instance: Instance
    chunks: tuple[Chunk, ...]
    relevance: dict[str, float]
    usage: dict[str, float]
    likeness: dict[str, float]
    seconds: float


class Store:
    """One instance in a Chroma collection of its own."""

    def __init__(
        self, instance: Instance, embeddings: BundledEmbeddings, client: chromadb.ClientAPI
    ) -> None:
        self.instance = instance
        self._embeddings = embeddings
        self._store = Chroma(
            collection_name=f"mutation-{uuid.uuid4().hex}",
            embedding_function=embeddings,
            client=client,
        )
        memories = [chunk.memory() for chunk in instance.chunks]
        self._store.add_documents(
            [Document(m.text, id=m.id, metadata={"created_at": str(m.timestamp)}) for m in memories]
        )
        self._memories = memories
        vectors = np.array(embeddings.embed_documents([chunk.text for chunk in instance.chunks]))
        self._vectors = vectors
        self._cosine = vectors @ np.array(embeddings.embed_query(instance.query))

    def candidates(self, *, k: int | None, recent: int | None) -> Candidates:
        """Freeze R_k: top k (None: everything), united with the newest chunks where wanted."""
        limit = len(self.instance.chunks) if k is None else min(k, len(self.instance.chunks))
        short_term = None
        if recent is not None:
            short_term = ShortTermMemory(recent)
            short_term.extend(self._memories)
        retriever = GCMemRetriever(
            base_retriever=self._store.as_retriever(search_kwargs={"k": limit}),
            collector=Collector("explicit"),
            fetch_k=limit,
            k=limit,
            short_term=short_term,
        )
        started = time.perf_counter()
        found = retriever.candidates(self.instance.query)
        seconds = time.perf_counter() - started
        by_id = {chunk.id: chunk for chunk in self.instance.chunks}
        chunks = tuple(by_id[str(document.id)] for document in found)
        days = [chunk.day for chunk in chunks]
        near = self._vectors[days] @ self._vectors[days].T
        others = max(len(days) - 1, 1)
        likeness = {c.id: float(near[i].sum() - near[i, i]) / others for i, c in enumerate(chunks)}
        usage = self._usage(limit)
        return Candidates(
            self.instance,
            chunks,
            {chunk.id: float(self._cosine[chunk.day]) for chunk in chunks},
            {chunk.id: usage[chunk.day] for chunk in chunks},
            likeness,
            seconds,
        )

    def forget(self) -> None:
        self._store.delete_collection()

    def _usage(self, k: int) -> list[float]:
        counts = np.zeros(len(self._cosine))
        for until in range(1, len(self._cosine) + 1):
            counts[np.argsort(-self._cosine[:until], kind="stable")[:k]] += 1
        return [float(share) for share in counts / counts.max()]


def new_client() -> chromadb.ClientAPI:
    return chromadb.EphemeralClient(Settings(anonymized_telemetry=False))
