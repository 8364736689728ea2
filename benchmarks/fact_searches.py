"""The ways in which FactConsolidation shows k facts of a Chroma store to a reader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from rich.progress import track

from benchmarks.fact_ledger import FiledFacts
from benchmarks.fact_reading import Fact, Shown
from gcmem import Collector
from gcmem.detectors.base import Detector
from langchain_gcmem import GCMemRetriever

PLAIN: Final = "plain"
NEWEST_FIRST: Final = "newest first"
GCMEM: Final = "gcmem"
HEAD_LOOKUP: Final = "gcmem + head look-up"
LEDGER: Final = "gcmem ledger"
METHODS: Final = (PLAIN, NEWEST_FIRST, GCMEM, HEAD_LOOKUP, LEDGER)

Search = Callable[[str], Shown]


@dataclass(frozen=True)
class Room:
    """How many facts are shown, and how many are fetched for it."""

    k: int
    fetch_k: int


def fill_store(facts: Sequence[Fact], folder: Path, name: str) -> Any:
    """Put the facts into a Chroma collection in a folder."""
    import chromadb
    from langchain_chroma import Chroma
    from langchain_core.documents import Document

    from langchain_gcmem import BundledEmbeddings

    client = chromadb.PersistentClient(
        path=str(folder), settings=chromadb.Settings(anonymized_telemetry=False)
    )
    store = Chroma(
        client=client,
        collection_name=name,
        embedding_function=BundledEmbeddings(),
        collection_configuration={"hnsw": {"space": "cosine"}},
    )
    for start in track(range(0, len(facts), 1_000), description=f"{name}: encoding"):
        documents = [
            Document(fact.text, id=str(fact.serial), metadata={"created_at": float(fact.serial)})
            for fact in facts[start : start + 1_000]
        ]
        store.add_documents(documents, ids=[document.id for document in documents])
    return store


def searches(
    store: Any,
    facts: Sequence[Fact],
    detector: Detector | None,
    room: Room,
    filed: FiledFacts | None = None,
) -> dict[str, Search]:
    """Give the ways to search; the ledger only where the facts have been filed."""
    by_id = {str(fact.serial): fact for fact in facts}
    base = store.as_retriever(search_kwargs={"k": room.k})
    collector = Collector(detector)  # one cache of verdicts for both

    def similar(query: str) -> list[Fact]:
        return [by_id[found.id] for found in store.similarity_search(query, k=room.fetch_k)]

    def plain(query: str) -> Shown:
        found = similar(query)
        return Shown(found, found, found[: room.k])

    def newest_first(query: str) -> Shown:
        found = similar(query)
        newest = sorted(found, key=lambda fact: fact.serial, reverse=True)
        return Shown(found, found, newest[: room.k])

    def collected(*, head_lookup: bool) -> Search:
        retriever = GCMemRetriever(
            base_retriever=base,
            collector=collector,
            k=room.k,
            fetch_k=room.fetch_k,
            head_lookup=head_lookup,
        )

        def search(query: str) -> Shown:
            found = retriever.collect(query)
            stats = found.collection.stats
            return Shown(
                [by_id[memory.id] for memory in found.candidates],
                [by_id[memory.id] for memory in found.collection.kept],
                [by_id[memory.id] for memory in found.memories],
                stats.pairs_judged + stats.cache_hits,
            )

        return search

    ways: dict[str, Search] = {
        PLAIN: plain,
        NEWEST_FIRST: newest_first,
        GCMEM: collected(head_lookup=False),
        HEAD_LOOKUP: collected(head_lookup=True),
    }
    if filed is not None:
        ways[LEDGER] = partial(filed.search, similar, k=room.k)
    return ways
