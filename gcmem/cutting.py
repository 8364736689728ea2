"""Which of the kept memories are shown where there is room for k. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Final

from gcmem.collection import Collection
from gcmem.memory import Memory

__all__ = ["order_of_room", "shown_within"]

_LAST: Final = float("inf")


def shown_within(
    collection: Collection,
    ranking: Sequence[Memory],
    k: int | None,
    added: Set[int] = frozenset(),
) -> list[tuple[Memory, int]]:
    """Cut what is kept to k.

    Args:
        collection: What was decided about the ranking (and perhaps further memories behind it,
            which are shown in addition to k).
        ranking: What was retrieved and added, best first.
        k: For how many there is room; None for all.
        added: Positions of what was added.

    Returns:
        What to show, in the order of the input, each with its position in the input.
    """
    chosen = set(order_of_room(collection, ranking, added)[:k])
    return [
        (memory, position)
        for memory, position in zip(collection.kept, collection.kept_indices, strict=True)
        if position >= len(ranking) or position in chosen
    ]


def order_of_room(
    collection: Collection, ranking: Sequence[Memory], added: Set[int] = frozenset()
) -> list[int]:
    """Give the positions of kept memories in the order in which they are given room.

    That is their rank, with two exceptions. What replaces a memory that goes, or a part of it,
    takes the best rank that it replaces: otherwise an answer of rank 1 could go, and its correction
    of rank 9 not be shown. What a look-up added has no rank of its own: if it contradicts nothing
    that was retrieved, it comes last, so that a look-up displaces nothing that is still true.

    Args:
        collection: What was decided about the ranking (and perhaps further memories behind it).
        ranking: What was retrieved and added, best first.
        added: Positions of what was added.

    Returns:
        Positions in the ranking.
    """
    place = {id(memory): position for position, memory in enumerate(ranking)}
    texts = dict(zip(collection.kept_indices, (m.text for m in collection.kept), strict=True))
    kept = [position for position in collection.kept_indices if position < len(ranking)]
    rank: dict[int, float] = {p: _LAST if p in added else p for p in kept}
    for memory, by in _verdicts(collection, gone=set(range(len(ranking))) - set(kept), place=place):
        old, new = place.get(id(memory)), place.get(id(by))
        if old is None or old in added or new not in rank:
            continue
        if texts.get(old) != memory.text:
            rank[new] = min(rank[new], old)
        elif new in added:
            rank[new] = min(rank[new], new)
    return sorted(kept, key=lambda position: (rank[position], position))


def _verdicts(
    collection: Collection, *, gone: Set[int], place: dict[int, int]
) -> Iterator[tuple[Memory, Memory]]:
    """Give pairs of a contradicted memory and what stands in its place, at the end of a chain."""
    successor = {
        id(shadow.memory): shadow.by
        for shadow in collection.shadowed
        if shadow.by is not None and place.get(id(shadow.memory)) in gone
    }
    pairs = [(shadow.memory, shadow.by) for shadow in collection.shadowed if shadow.by is not None]
    pairs += [(part.memory, part.by) for part in collection.excisions]
    for memory, by in pairs:
        heir = by
        for _ in successor:  # no longer than the longest chain
            heir = successor.get(id(heir), heir)
        yield memory, heir
    for conflict in collection.unresolved:
        yield conflict.first, conflict.second
        yield conflict.second, conflict.first
