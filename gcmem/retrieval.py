"""The flow of one retrieval, written once: expand, fetch, unite, look ahead, collect, cut.

`RetrievalPlan.run` is a generator of steps. An adapter performs each step, synchronously or
asynchronously, and sends the answer back; so both paths of both frameworks share one body.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from gcmem.candidates import fuse, unite
from gcmem.collection import Collection
from gcmem.collector import HistoryMode
from gcmem.memory import Memory, ScopeLike, to_scope
from gcmem.short_term import ShortTermMemory
from gcmem.timestamps import TimeLike

__all__ = ["Collect", "Expand", "Fetch", "Retrieved", "RetrievalPlan", "Step"]


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
class Collect:
    """Step: run the collector. Answer with its `Collection`."""

    query: str
    memories: Sequence[Memory]
    as_of: TimeLike | None
    history: HistoryMode


Step: TypeAlias = Expand | Fetch | Collect


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a retrieval gives.

    Attributes:
        candidates: The frozen candidate set R_k that was judged.
        collection: What the collector decided.
        memories: What to show, in order, cut to k.
        positions: For each of them, its position in ``candidates``.
    """

    candidates: list[Memory]
    collection: Collection
    memories: list[Memory]
    positions: list[int]


@dataclass(frozen=True, slots=True)
class RetrievalPlan:
    """How an adapter retrieves.

    Attributes:
        k: How many retrieved records to show, None for all. Short-term chunks come in addition.
        fetch_k: How many to fetch per query before collecting; None: four times k, at least 20.
        short_term: Short-term memory to unite with, or None.
        expands: Whether the query is expanded first.
    """

    k: int | None = None
    fetch_k: int | None = None
    short_term: ShortTermMemory | None = None
    expands: bool = False

    def __post_init__(self) -> None:
        """Check the sizes.

        Raises:
            ValueError: A size is below 1, or ``fetch_k`` is below ``k``.
        """
        for name, value in (("k", self.k), ("fetch_k", self.fetch_k)):
            if value is not None and value < 1:
                msg = f"{name} must be at least 1 (None for no limit), got {value!r}."
                raise ValueError(msg)
        if self.k is not None and self.fetch_k is not None and self.fetch_k < self.k:
            msg = f"fetch_k must be at least k={self.k}, got {self.fetch_k!r}."
            raise ValueError(msg)

    @property
    def limit(self) -> int | None:
        """How many records to fetch per query."""
        if self.fetch_k is not None or self.k is None:
            return self.fetch_k
        return max(4 * self.k, 20)

    def candidates(self, query: str, scope: ScopeLike = None) -> Generator[Step, Any, list[Memory]]:
        """Build R_k, frozen before anything is judged.

        Args:
            query: The question.
            scope: Show only this scope: records of others are left out, and the short-term chunks
                are those of this scope. None: records of every scope, and the short-term chunks
                that have none.
        """
        retrieved, recent = yield from self._gather(query, scope)
        return unite(retrieved, recent)

    def _gather(
        self, query: str, scope: ScopeLike
    ) -> Generator[Step, Any, tuple[list[Memory], list[Memory]]]:
        """Give what was retrieved and what is recent, apart."""
        queries = (query,)
        if self.expands:
            expanded = yield Expand(query)
            queries = tuple(dict.fromkeys((query, *expanded)))
        rankings = yield Fetch(queries, self.limit)
        found = fuse(rankings)
        if scope is not None:
            own = to_scope(scope)
            found = [memory for memory in found if memory.scope == own]
        recent = [] if self.short_term is None else self.short_term.recent(scope or ())
        return found, recent

    def run(
        self,
        query: str,
        *,
        as_of: TimeLike | None = None,
        history: HistoryMode = False,
        scope: ScopeLike = None,
    ) -> Generator[Step, Any, Retrieved]:
        """Retrieve: the candidate set, the collection over it, and the cut to k."""
        retrieved, recent = yield from self._gather(query, scope)
        found = unite(retrieved, recent)
        collection: Collection = yield Collect(query, found, as_of, history)
        shown: list[Memory] = []
        positions: list[int] = []
        room = len(retrieved) if self.k is None else self.k
        for memory, position in zip(collection.kept, collection.kept_indices, strict=True):
            if position < len(retrieved):
                if room == 0:
                    continue
                room -= 1
            shown.append(memory)
            positions.append(position)
        return Retrieved(found, collection, shown, positions)
