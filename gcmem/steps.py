"""The steps of a retrieval, which an adapter performs, synchronously or asynchronously."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from gcmem.collector import Collector, HistoryMode
from gcmem.detectors.gate import Gate
from gcmem.dominance import BoolMatrix
from gcmem.encoder import SentenceEncoder
from gcmem.memory import Memory
from gcmem.rounds import Gate as AnyGate
from gcmem.sentences import split_statements
from gcmem.timestamps import TimeLike

__all__ = ["Collect", "Compare", "Expand", "Fetch", "Step"]


@dataclass(frozen=True, slots=True)
class Expand:
    """Step: turn the query into queries. Answer with a list of texts."""

    query: str


@dataclass(frozen=True, slots=True)
class Fetch:
    """Step: search the base retriever, concurrently where it can be done.

    Attributes:
        queries: What to search for. Answer with one ranking (list of `Memory`) per query.
        limit: How many records to ask for per query, None for what the retriever gives.
    """

    queries: tuple[str, ...]
    limit: int | None


@dataclass(frozen=True, slots=True)
class Compare:
    """Step: tell which texts may be about one thing. Answer with what `perform` gives.

    It runs the bundled encoder, so an asynchronous adapter performs it in a thread.

    Attributes:
        first: Texts.
        second: Other texts.
        similarity: Cosine of the bundled encoder from which two statements are near.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    similarity: float

    def perform(self, collector: Collector) -> BoolMatrix:
        """Ask a gate of the user's own, or else the bundled encoder.

        The threshold of the bundled gate would be too low here: it lets pass what deserves a
        verdict, a look-up adds what is about the same thing.

        Returns:
            Shape (len(first), len(second)): whether a statement of the one is near a statement of
            the other.
        """
        first = [[span.text for span in split_statements(text)] for text in self.first]
        second = [[span.text for span in split_statements(text)] for text in self.second]
        allowed = self._allowed(
            collector.gate,
            [text for texts in first for text in texts],
            [text for texts in second for text in texts],
        )
        near = np.zeros((len(first), len(second)), dtype=np.bool_)
        rows = np.cumsum([0, *map(len, first)])
        columns = np.cumsum([0, *map(len, second)])
        for i in range(len(first)):
            for j in range(len(second)):
                part = allowed[rows[i] : rows[i + 1], columns[j] : columns[j + 1]]
                near[i, j] = bool(part.any())
        return near

    def _allowed(
        self, own: AnyGate | None, first: Sequence[str], second: Sequence[str]
    ) -> BoolMatrix:
        if own is not None and not isinstance(own, Gate):
            return own.allowed(first, second)
        encoder = _encoder() if own is None else own.encoder
        vectors = encoder.encode([*first, *second])
        near = vectors[: len(first)] @ vectors[len(first) :].T >= self.similarity
        return np.asarray(near, dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Collect:
    """Step: run the collector. Answer with its `Collection`."""

    query: str
    memories: Sequence[Memory]
    as_of: TimeLike | None
    history: HistoryMode


Step: TypeAlias = Expand | Fetch | Compare | Collect


@lru_cache(maxsize=1)
def _encoder() -> SentenceEncoder:
    return SentenceEncoder()
