"""Head look-up: search once more for what is newer than the retrieved statements of one slot.

The wording of a question may match only outdated statements ("Which floor is the office on?" finds
"The office is on floor 2", not "We've handed over the keys, the new rooms have a roof terrace").
What says the same thing in newer words is nearer to the old statements than to the question.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from gcmem.dominance import BoolMatrix
from gcmem.memory import Memory
from gcmem.steps import Compare, Fetch, Step

__all__ = ["LookedUp", "look_up"]

# All chosen on the split "dev" of the training corpus (`python -m benchmarks head-lookup`).
_MOST_HEADS: Final = 3
_MOST_ADDED: Final = 5
_MOST_COMPARED: Final = 20
_LEAST_FETCHED: Final = 60
_HEAD_SIMILARITY: Final = 0.30
_ADDED_SIMILARITY: Final = 0.20
_OLDEST: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A ranking with what the look-up added to it.

    Attributes:
        ranking: The retrieved memories, each addition right behind the one that it is about.
        added: Positions of the additions in the ranking.
    """

    ranking: list[Memory]
    added: frozenset[int] = frozenset()


def look_up(
    ranking: Sequence[Memory], *, limit: int | None, until: datetime | None
) -> Generator[Step, Any, LookedUp]:
    """Search for newer statements about what the best of a ranking is about; one query.

    The heads, the newest retrieved memories of its scope that are near the best one, are joined to
    the query. Of what it finds, only that is added which is strictly newer than a head of its
    scope and near it (`gcmem.steps.Compare`).

    Args:
        ranking: What was retrieved, best first.
        limit: How many records are fetched per query. The look-up asks for at least 60, since most
            of what it finds is known or older; it adds at most 5. None for what the base gives.
        until: Add nothing newer than this; None for no bound.

    Returns:
        The ranking with its additions. It is the same as before where no head is dated.
    """
    if not ranking:
        return LookedUp([])
    best = ranking[0]
    dated = [m for m in ranking if m.timestamp is not None and m.scope == best.scope]
    if not dated:
        return LookedUp(list(ranking))
    near = yield Compare((best.text,), tuple(m.text for m in dated), similarity=_HEAD_SIMILARITY)
    alike = [m for m, passes in zip(dated, near[0], strict=True) if passes or m is best]
    heads = sorted(alike, key=_time, reverse=True)[:_MOST_HEADS]
    if not heads:
        return LookedUp(list(ranking))
    query = " ".join(dict.fromkeys(memory.text for memory in heads))
    (answer,) = yield Fetch((query,), None if limit is None else max(limit, _LEAST_FETCHED))
    known = {memory.id for memory in ranking}
    fresh = {
        memory.id: memory
        for memory in answer
        if memory.id not in known
        and memory.scope == best.scope
        and _time(memory) > min(map(_time, heads))
        and (until is None or _time(memory) <= until)
    }
    if not fresh:
        return LookedUp(list(ranking))
    found = list(fresh.values())[:_MOST_COMPARED]
    matches = yield Compare(
        tuple(m.text for m in heads), tuple(m.text for m in found), similarity=_ADDED_SIMILARITY
    )
    about = [
        (memory, next((h for h, passes in zip(heads, column, strict=True) if passes), None))
        for memory, column in zip(found, _newer(heads, found) & matches.T, strict=True)
    ]
    behind: dict[int, list[Memory]] = {}
    for memory, head in [pair for pair in about if pair[1] is not None][:_MOST_ADDED]:
        behind.setdefault(id(head), []).append(memory)
    return _inserted(ranking, behind)


def _newer(heads: Sequence[Memory], found: Sequence[Memory]) -> BoolMatrix:
    """Whether each of what was found is newer than each head: (len(found), len(heads))."""
    return np.array([[_time(m) > _time(head) for head in heads] for m in found], dtype=np.bool_)


def _inserted(ranking: Sequence[Memory], behind: dict[int, list[Memory]]) -> LookedUp:
    result: list[Memory] = []
    added: set[int] = set()
    for memory in ranking:
        result.append(memory)
        for addition in behind.pop(id(memory), ()):
            added.add(len(result))
            result.append(addition)
    return LookedUp(result, frozenset(added))


def _time(memory: Memory) -> datetime:
    return memory.timestamp or _OLDEST
