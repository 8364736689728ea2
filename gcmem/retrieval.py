"""The flow of one retrieval, written once: expand, fetch, unite, look ahead, collect, cut.

`RetrievalPlan.run` is a generator of steps. An adapter performs each step, synchronously or
asynchronously, and sends the answer back; so both paths of both frameworks share one body.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypedDict

from gcmem.candidates import fuse, unite
from gcmem.collection import Collection
from gcmem.collector import HistoryMode
from gcmem.cutting import shown_within
from gcmem.head_lookup import LookedUp, look_up
from gcmem.memory import Memory, ScopeLike, to_scope
from gcmem.short_term import ShortTermMemory
from gcmem.steps import Collect, Compare, Expand, Fetch, Step
from gcmem.timestamps import TimeLike, as_of_utc

__all__ = [
    "Collect",
    "Compare",
    "Expand",
    "Fetch",
    "RetrievalOptions",
    "RetrievalPlan",
    "Retrieved",
    "Step",
    "check_options",
]


class RetrievalOptions(TypedDict, total=False):
    """What may be set for one call of a retriever, in every framework.

    What is given counts, None as well; what is not given is as the retriever was made.
    """

    k: int | None
    fetch_k: int | None
    as_of: TimeLike | None
    history: HistoryMode
    scope: ScopeLike


def check_options(options: RetrievalOptions) -> None:
    """Check that only what `RetrievalOptions` names is given.

    Raises:
        TypeError: An option is unknown.
    """
    allowed = list(RetrievalOptions.__annotations__)
    if unknown := sorted(set(options) - set(allowed)):
        msg = f"options must be among {allowed}, got {unknown}."
        raise TypeError(msg)


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
        head_lookup: Whether to search once more, with the newest of what was retrieved as the
            query, for what is newer still (`gcmem.head_lookup`).
    """

    k: int | None = None
    fetch_k: int | None = None
    short_term: ShortTermMemory | None = None
    expands: bool = False
    head_lookup: bool = False

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

    def candidates(
        self, query: str, *, as_of: TimeLike | None = None, scope: ScopeLike = None
    ) -> Generator[Step, Any, list[Memory]]:
        """Build R_k, frozen before anything is judged: the very set that `run` judges.

        Args:
            query: The question.
            as_of: A head look-up adds nothing that was not yet known at this time.
            scope: Show only this scope: records of others are left out, and the short-term chunks
                are those of this scope. None: records of every scope, and the short-term chunks
                that have none.
        """
        retrieved, recent = yield from self._gather(query, scope, as_of)
        return unite(retrieved.ranking, recent)

    def _gather(
        self, query: str, scope: ScopeLike, as_of: TimeLike | None
    ) -> Generator[Step, Any, tuple[LookedUp, list[Memory]]]:
        """Give what was retrieved and what is recent, apart."""
        until = None if as_of is None else as_of_utc(as_of)
        queries = (query,)
        if self.expands:
            expanded = yield Expand(query)
            queries = tuple(dict.fromkeys((query, *expanded)))
        rankings = yield Fetch(queries, self.limit)
        found = fuse(rankings)
        if scope is not None:
            own = to_scope(scope)
            found = [memory for memory in found if memory.scope == own]
        retrieved = LookedUp(found)
        if self.head_lookup:
            retrieved = yield from look_up(found, limit=self.limit, until=until)
        recent = [] if self.short_term is None else self.short_term.recent(scope or ())
        return retrieved, recent

    def run(
        self,
        query: str,
        *,
        as_of: TimeLike | None = None,
        history: HistoryMode = False,
        scope: ScopeLike = None,
    ) -> Generator[Step, Any, Retrieved]:
        """Retrieve: the candidate set, the collection over it, and the cut to k."""
        retrieved, recent = yield from self._gather(query, scope, as_of)
        found = unite(retrieved.ranking, recent)
        collection: Collection = yield Collect(query, found, as_of, history)
        shown = shown_within(collection, retrieved.ranking, self.k, retrieved.added)
        memories, positions = [memory for memory, _ in shown], [position for _, position in shown]
        return Retrieved(found, collection, memories, positions)
