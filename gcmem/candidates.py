"""R_k, the candidate set: fused rankings, united with short-term memory (section 4.1). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from gcmem.memory import Memory, Scope

__all__ = ["fuse", "unite"]

# The customary constant of reciprocal-rank fusion (Cormack, Clarke and Buettcher, 2009).
_RANK_OFFSET: Final = 60


def fuse(rankings: Sequence[Sequence[Memory]]) -> list[Memory]:
    """Merge the rankings that several queries gave into one, by reciprocal-rank fusion.

    Args:
        rankings: One ranking per query, best first.

    Returns:
        Each memory once (by id), best first, with the fused score as its relevance. One ranking
        alone is given back as it is, its own scores and repeated records included.
    """
    if len(rankings) == 1:
        return list(rankings[0])
    scores: dict[str, float] = {}
    first: dict[str, Memory] = {}
    for ranking in rankings:
        for rank, memory in enumerate({memory.id: memory for memory in ranking}.values(), start=1):
            scores[memory.id] = scores.get(memory.id, 0.0) + 1 / (_RANK_OFFSET + rank)
            first.setdefault(memory.id, memory)
    ordered = sorted(first, key=lambda found: -scores[found])
    return [replace(first[found], relevance=scores[found]) for found in ordered]


def unite(retrieved: Sequence[Memory], recent: Sequence[Memory]) -> list[Memory]:
    """Unite what was retrieved with short-term memory.

    Args:
        retrieved: The ranking.
        recent: The newest chunks, oldest first.

    Returns:
        The ranking, then the recent chunks that it does not hold already (by id; by text within a
        scope where the retrieved record is not older), oldest first, as the paper's FIFO reads.
    """
    ids = {memory.id for memory in retrieved}
    texts: dict[tuple[Scope, str], list[datetime | None]] = {}
    for memory in retrieved:
        texts.setdefault((memory.scope, memory.text), []).append(memory.timestamp)
    return [*retrieved, *(m for m in recent if m.id not in ids and not _is_held(m, texts))]


def _is_held(memory: Memory, texts: dict[tuple[Scope, str], list[datetime | None]]) -> bool:
    """Whether a retrieved record says the same and is at least as new, so that no time is lost."""
    held = texts.get((memory.scope, memory.text), [])
    if memory.timestamp is None:
        return bool(held)
    return any(when is not None and when >= memory.timestamp for when in held)
