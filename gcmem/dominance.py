"""Phi_T, temporal dominance: which memory may shadow which (GC-Mem, section 4.2). Pure.

Matrices are indexed ``[older, newer]``. Time and scope say who may dominate; only a verdict of a
detector says who does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from gcmem.memory import Memory

__all__ = [
    "BoolMatrix",
    "Dominance",
    "TieBreaker",
    "UndatedPolicy",
    "explicit_links",
    "temporal_dominance",
]

BoolMatrix: TypeAlias = npt.NDArray[np.bool_]
UndatedPolicy: TypeAlias = Literal["keep", "oldest", "raise"]
TieBreaker: TypeAlias = str | Callable[[Memory], Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def temporal_dominance(newer: BoolMatrix, conflicts: BoolMatrix) -> npt.NDArray[np.bool_]:
    """Decide by Phi_T which memories are shadowed.

    Args:
        newer: Shape (n, n); True at [i, j] where memory j is strictly newer than memory i.
        conflicts: Shape (n, n); True at [i, j] where j makes i no longer true.

    Returns:
        Shape (n,): True for each memory that some strictly newer one conflicts with, whether or
        not that one is shadowed in turn. So A -> B -> C collapses to C, and of A -> B -> A the
        newest A stands.
    """
    return np.asarray((newer & conflicts).any(axis=1), dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Dominance:
    """Who may shadow whom among memories of one scope.

    Attributes:
        may_shadow: Shape (n, n); True at [i, j] where memory j may shadow memory i: it is strictly
            newer, already valid, of another source version, and not of lower authority.
        undecided: Shape (n, n), upper triangle; True where two memories may be in conflict but
            neither may shadow the other.
        expired: Shape (n,); True for memories whose validity has ended.
        newest_first: Positions of the memories, newest first, undated last; the same for every
            order of the input.
    """

    may_shadow: BoolMatrix
    undecided: BoolMatrix
    expired: npt.NDArray[np.bool_]
    newest_first: list[int]

    @classmethod
    def of(
        cls,
        memories: Sequence[Memory],
        *,
        now: datetime,
        undated: UndatedPolicy = "keep",
        tie_breaker: TieBreaker | None = None,
    ) -> Dominance:
        """Compare memories of one scope by time, validity, source and authority.

        Raises:
            ValueError: A memory is undated and ``undated`` is "raise", or the values of the tie
                breaker cannot be ordered.
        """
        newer, is_undated = _strictly_newer(memories, undated, tie_breaker)
        authority = np.array([memory.authority for memory in memories], dtype=np.float64)
        outranked = authority[None, :] < authority[:, None]
        sources: dict[str, int] = {}
        codes = np.array(
            [
                -1 if m.source is None else sources.setdefault(m.source, len(sources))
                for m in memories
            ],
            dtype=np.int64,
        )
        one_source = (codes[:, None] == codes[None, :]) & (codes >= 0)[:, None]
        expired = np.array(
            [m.valid_until is not None and m.valid_until <= now for m in memories], dtype=bool
        )
        planned = np.array(
            [m.valid_from is not None and m.valid_from > now for m in memories], dtype=bool
        )
        current = ~expired & ~planned
        may_shadow = newer & ~one_source & ~outranked & current[None, :] & ~expired[:, None]
        linked = explicit_links(memories) & ~newer.T & current[None, :] & ~expired[:, None]
        undated_beats_dated = ~is_undated[:, None] & is_undated[None, :]
        may_shadow |= linked & ~undated_beats_dated & ~outranked
        open_pairs = ~may_shadow & ~may_shadow.T & ~one_source
        open_pairs &= current[:, None] & current[None, :]
        oldest = datetime.min.replace(tzinfo=UTC)
        canonical = sorted(
            range(len(memories)),
            key=lambda i: (memories[i].timestamp or oldest, memories[i].id, memories[i].text),
            reverse=True,
        )
        return cls(may_shadow, np.triu(open_pairs, k=1), expired, canonical)


def _strictly_newer(
    memories: Sequence[Memory], undated: UndatedPolicy, tie_breaker: TieBreaker | None
) -> tuple[BoolMatrix, npt.NDArray[np.bool_]]:
    is_undated = np.array([memory.timestamp is None for memory in memories], dtype=bool)
    if undated == "raise" and is_undated.any():
        ids = [memory.id for memory in memories if memory.timestamp is None]
        msg = (
            f"memories {ids!r} have no timestamp and undated='raise'; give them one, "
            "or choose undated='keep' or 'oldest'."
        )
        raise ValueError(msg)
    micros = np.array(
        [0 if m.timestamp is None else (m.timestamp - _EPOCH) // _MICROSECOND for m in memories],
        dtype=np.int64,
    )
    both_dated = ~is_undated[:, None] & ~is_undated[None, :]
    newer = both_dated & (micros[None, :] > micros[:, None])
    equal = both_dated & (micros[None, :] == micros[:, None])
    equal |= is_undated[:, None] & is_undated[None, :]
    if undated == "oldest":
        newer |= is_undated[:, None] & ~is_undated[None, :]
    ranks = _tie_ranks(memories, tie_breaker)
    has_rank = ranks >= 0
    newer |= equal & has_rank[:, None] & has_rank[None, :] & (ranks[None, :] > ranks[:, None])
    return newer, is_undated


def _tie_ranks(memories: Sequence[Memory], tie_breaker: TieBreaker | None) -> npt.NDArray[np.int64]:
    if tie_breaker is None:
        return np.full(len(memories), -1, dtype=np.int64)
    if callable(tie_breaker):
        values = [tie_breaker(memory) for memory in memories]
    else:
        values = [memory.metadata.get(tie_breaker) for memory in memories]
    try:
        ordered = sorted({value for value in values if value is not None})
    except TypeError as error:
        msg = f"tie_breaker={tie_breaker!r} gives values that cannot be ordered: {values!r}."
        raise ValueError(msg) from error
    rank = {value: position for position, value in enumerate(ordered)}
    return np.array([-1 if v is None else rank[v] for v in values], dtype=np.int64)


def explicit_links(memories: Sequence[Memory]) -> BoolMatrix:
    """True at [i, j] where memory j names memory i among those that it supersedes."""
    links = np.zeros((len(memories), len(memories)), dtype=bool)
    positions: dict[str, list[int]] = {}
    for position, memory in enumerate(memories):
        positions.setdefault(memory.id, []).append(position)
    for j, memory in enumerate(memories):
        for link in memory.supersedes:
            for i in positions.get(link, ()):
                links[i, j] = i != j
    return links
