"""Turns what was decided in each scope into one `Collection`, by the chosen policy. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

from gcmem.collection import Collection, CollectionStats, Conflict, Excision, Shadow
from gcmem.excision import cut
from gcmem.memory import Memory
from gcmem.sentences import split_statements

__all__ = ["CONTRADICTED_KEY", "SUPERSEDED_BY_KEY", "VALID_UNTIL_KEY", "assemble"]

SUPERSEDED_BY_KEY = "superseded_by"
VALID_UNTIL_KEY = "valid_until"
CONTRADICTED_KEY = "gcmem_contradicted"

Policy = Literal["excise", "drop", "annotate", "report"]


def assemble(
    memories: Sequence[Memory],
    visible: Sequence[int],
    shadows: Mapping[int, Shadow],
    excisions: Mapping[int, Sequence[Excision]],
    conflicts: Sequence[Conflict],
    *,
    policy: Policy,
    stats: CollectionStats,
) -> Collection:
    """Apply the policy to what was decided.

    Args:
        memories: The whole input.
        visible: Positions that were known at the time of reading, in input order.
        shadows: Stale memories, by position.
        excisions: Stale parts of other memories, by position.
        conflicts: What time could not decide.
        policy: What to do with what is stale.
        stats: What it cost.

    Returns:
        The collection. It is not empty unless nothing was visible: where everything would go, the
        newest memory stands.
    """
    removes = policy in {"excise", "drop"}
    nothing_left = removes and len(shadows) == len(visible)
    spared = _newest(memories, visible, shadows) if nothing_left else None
    kept: list[Memory] = []
    indices: list[int] = []
    for position in visible:
        memory = memories[position]
        if removes and position in shadows and position != spared:
            continue
        indices.append(position)
        kept.append(_as_kept(memory, policy, shadows.get(position), excisions.get(position, ())))
    hidden = set(range(len(memories))) - set(visible)
    return Collection(
        kept=kept,
        kept_indices=indices,
        shadowed=[shadows[p] for p in sorted(shadows) if p != spared],
        excisions=[part for p in sorted(excisions) for part in excisions[p]],
        unresolved=sorted(conflicts, key=lambda pair: (pair.first.id, pair.second.id)),
        hidden=[memories[position] for position in sorted(hidden)],
        stats=stats,
    )


def _newest(
    memories: Sequence[Memory], visible: Sequence[int], shadows: Mapping[int, Shadow]
) -> int | None:
    """The one that stands where every memory would go; one that was contradicted comes last."""
    oldest = datetime.min.replace(tzinfo=UTC)
    return max(
        visible,
        key=lambda p: (shadows[p].by is None, memories[p].timestamp or oldest, memories[p].id),
        default=None,
    )


def _as_kept(
    memory: Memory, policy: Policy, shadow: Shadow | None, parts: Sequence[Excision]
) -> Memory:
    if policy == "report" or (shadow is None and not parts):
        return memory
    if policy == "annotate":
        return _annotated(memory, shadow, parts)
    removed = [(part.start, part.end) for part in parts if part.cut]
    marked = [part.text.strip() for part in parts if not part.cut]
    if removed:
        memory = memory.with_text(cut(memory.text, split_statements(memory.text), removed))
    return memory.with_metadata(**{CONTRADICTED_KEY: marked}) if marked else memory


def _annotated(memory: Memory, shadow: Shadow | None, parts: Sequence[Excision]) -> Memory:
    added: dict[str, object] = {}
    if shadow is not None and shadow.by is not None:
        added[SUPERSEDED_BY_KEY] = shadow.by.id
        if shadow.by.timestamp is not None and VALID_UNTIL_KEY not in memory.metadata:
            added[VALID_UNTIL_KEY] = shadow.by.timestamp.isoformat()
    if parts:
        added[CONTRADICTED_KEY] = [part.text.strip() for part in parts]
    return memory.with_metadata(**added) if added else memory
