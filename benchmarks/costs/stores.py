"""A search through `GCMemRetriever` against one through its base retriever, by size of the store.

The store is Chroma in memory (cosine). A record is two statements of the corpus, no record like
another, and each is newer than the one before. The first `ENCODED` records have the vectors of the
bundled encoder; encoding 100,000 would take too long, so the vectors of all others are drawn at
random around those of the record whose first statement they share (cosine about 0.7). They are
neighbours of the right kind in the right number, but nothing is said about what is retrieved.
Questions are those of the attributes that the encoded records are about. Each is asked of the base
(k = 10) and of gcmem (k = 10 of the 40 that it fetches) in turn, first unseen (cold) and then once
more (warm). Only ratios of medians are reported.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from langchain_core.embeddings import Embeddings
from rich.progress import track

from benchmarks.costs.row import fresh_gate
from benchmarks.costs.sets import ended, families
from gcmem import Collector
from gcmem.detectors.base import Detector
from gcmem.detectors.cache import MemoryVerdictCache
from gcmem.encoder import SentenceEncoder
from langchain_gcmem import GCMemRetriever

ENCODED: Final = 500
_BATCH: Final = 2_000
_MINUTE: Final = 60.0


class UncachedEmbeddings(Embeddings):
    """The bundled encoder without its memory, so that every search pays for its question."""

    def __init__(self) -> None:
        self._encoder = SentenceEncoder(cache_size=0)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._encoder.encode(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@dataclass(frozen=True, slots=True)
class Corpus:
    """What the records are made of.

    Attributes:
        first: Statements that records begin with.
        further: Statements that they go on with.
        questions: About the attributes of the first ones.
    """

    first: Sequence[str]
    further: Sequence[str]
    questions: Sequence[str]


def corpus(seed: int, *, encoded: int = ENCODED) -> Corpus:
    """Take the first statements from held-out attributes, and the further ones from all."""
    random = Random(f"stores {seed}")
    held_out = [family for family in families() if family.split != "train"]
    random.shuffle(held_out)
    first: dict[str, str] = {}
    for family in held_out:
        if len(first) >= encoded:
            break
        first |= dict.fromkeys(family.statements(), family.query)
    taken = list(first)[:encoded]
    further = list(dict.fromkeys(text for f in families() for text in f.compatible))
    random.shuffle(further)
    return Corpus(taken, further, list(dict.fromkeys(first[text] for text in taken)))


def texts(made_of: Corpus, count: int) -> Iterator[str]:
    """Give so many records: every first statement once, then each with another further one.

    Raises:
        ValueError: The corpus has not so many different records.
    """
    most = len(made_of.first) * len(made_of.further)
    if count > most:
        raise ValueError(f"a store can have at most {most} records, got {count}.")
    for number in range(count):
        turn, place = divmod(number, len(made_of.first))
        other = made_of.further[(turn + 7 * place) % len(made_of.further)]
        yield f"{ended(made_of.first[place])} {ended(other)}"


def fill(
    made_of: Corpus, count: int, *, seconds: float, seed: int, embeddings: Embeddings
) -> tuple[Any, int]:
    """Fill a store of its own; past the time that it may take it stays smaller.

    Returns:
        The store, and how many records it has.
    """
    import chromadb
    from langchain_chroma import Chroma

    client = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
    name = f"latency-{count}"
    store = Chroma(
        client=client,
        collection_name=name,
        embedding_function=embeddings,
        collection_configuration={"hnsw": {"space": "cosine"}},
    )
    store.reset_collection()
    collection = client.get_collection(name, embedding_function=None)
    generator = np.random.default_rng(seed)
    records = list(texts(made_of, count))
    centres = np.array(embeddings.embed_documents(records[: len(made_of.first)]), np.float32)
    until = time.monotonic() + seconds
    starts = range(0, count, _BATCH)
    for start in track(starts, description=f"latency: filling a store of {count:,}"):
        if time.monotonic() > until:
            return store, start
        numbers = range(start, min(start + _BATCH, count))
        collection.add(
            ids=[str(number) for number in numbers],
            embeddings=_vectors(numbers, centres, generator),
            documents=records[start : numbers.stop],
            metadatas=[{"created_at": _MINUTE * number} for number in numbers],
        )
    return store, count


def _vectors(
    numbers: range, centres: npt.NDArray[np.float32], generator: np.random.Generator
) -> npt.NDArray[np.float32]:
    """The encoded vectors for the first records, vectors around them for the others."""
    around = centres[np.array(numbers) % len(centres)]
    noise = generator.normal(scale=centres.shape[1] ** -0.5, size=around.shape)
    drawn = np.array(numbers)[:, None] >= len(centres)
    vectors = around + np.where(drawn, noise, 0.0)
    unit: npt.NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit.astype(np.float32)


def search_seconds(
    store: Any, questions: Sequence[str], detector: Detector
) -> tuple[dict[str, float], float]:
    """Give the median seconds of a search each way, and the pairs judged per unseen question."""
    base = store.as_retriever(search_kwargs={"k": 10})
    verdicts = MemoryVerdictCache()
    collector = Collector(detector, gate=fresh_gate(detector), cache=verdicts)
    retriever = GCMemRetriever(base_retriever=base, collector=collector, k=10, fetch_k=40)
    base.invoke("warm up")
    times: dict[str, list[float]] = {"base": [], "cold": [], "warm": []}
    for state in ("cold", "warm"):
        for question in track(questions, description=f"latency: searching, {state}"):
            times["base"].append(_timed(base.invoke, question))
            times[state].append(_timed(retriever.invoke, question))
    medians = {way: statistics.median(found) for way, found in times.items()}
    return medians, len(verdicts) / len(questions)


def _timed(search: Callable[[str], Any], question: str) -> float:
    started = time.perf_counter()
    search(question)
    return time.perf_counter() - started


def measure(
    sizes: Sequence[int],
    detector: Detector,
    *,
    questions: int,
    seconds: float,
    seed: int,
    encoded: int = ENCODED,
) -> dict[str, Any]:
    """Measure stores of several sizes, and how much longer a search takes in the last one."""
    made_of = corpus(seed, encoded=encoded)
    embeddings = UncachedEmbeddings()
    detector.score([("warm up", "the model")])
    rows, medians = [], []
    for size in sizes:
        store, held = fill(made_of, size, seconds=seconds, seed=seed, embeddings=embeddings)
        asked = made_of.questions[:questions]
        found, judged = search_seconds(store, asked, detector)
        medians.append(found)
        rows.append(
            {
                "records": held,
                "records wanted": size,
                "encoded": min(held, len(made_of.first)),
                "questions": len(asked),
                "cold, times base": round(found["cold"] / found["base"], 2),
                "warm, times base": round(found["warm"] / found["base"], 2),
                "pairs judged per question": round(judged, 1),
            }
        )
        store.delete_collection()
    growth = {way: round(medians[-1][way] / medians[0][way], 2) for way in medians[0]}
    return {"rows": rows, "last over first": growth}
