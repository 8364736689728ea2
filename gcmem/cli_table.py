"""The table that `gcmem check` prints."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from gcmem.collection import Collection, CollectionStats
from gcmem.memory import Memory

__all__ = ["outcome_table", "summary"]

_COLOURS = {"kept": "green", "removed": "red", "shortened": "yellow", "outdated": "yellow"}


def outcome_table(memories: Sequence[Memory], collection: Collection) -> Table:
    """Give one row for each memory: what became of it, because of which other one, and why."""
    table = Table("memory", "recorded", "outcome", "because of", "decided by", "text")
    shadows = {id(shadow.memory): shadow for shadow in collection.shadowed}
    kept = set(collection.kept_indices)
    hidden = {id(memory) for memory in collection.hidden}
    for position, memory in enumerate(memories):
        shadow = shadows.get(id(memory))
        parts = [part for part in collection.excisions if part.memory is memory]
        undecided = [c for c in collection.unresolved if any(memory is m for m in c.memories)]
        outcome, because, reason = "kept", "", ""
        if id(memory) in hidden:
            outcome, reason = "not yet known", "as-of time"
        elif shadow is not None:
            outcome = "outdated" if position in kept else "removed"
            because = shadow.by.id if shadow.by is not None else ""
            reason = f"{shadow.reason} ({shadow.score:.2f})"
        elif parts:
            outcome = "shortened" if any(part.cut for part in parts) else "outdated in part"
            because = ", ".join(dict.fromkeys(part.by.id for part in parts))
            reason = ", ".join(dict.fromkeys(f"{p.reason} ({p.score:.2f})" for p in parts))
        elif undecided:
            outcome = "kept, in conflict"
            others = [m.id for c in undecided for m in c.memories if m is not memory]
            because = ", ".join(dict.fromkeys(others))
            reason = ", ".join(dict.fromkeys(c.reason for c in undecided))
        table.add_row(
            Text(memory.id),
            _when(memory),
            Text(outcome, style=_COLOURS.get(outcome, "")),
            Text(because),
            Text(reason),
            _marked(memory, [(part.start, part.end) for part in parts]),
        )
    return table


def summary(collection: Collection) -> str:
    """Say in a line what was decided and what it cost."""
    stats = collection.stats
    line = (
        f"{len(collection.kept)} kept, {len(collection.shadowed)} outdated, "
        f"{len({id(part.memory) for part in collection.excisions})} outdated in part, "
        f"{len(collection.unresolved)} conflicts undecided; "
        f"{stats.pairs_judged} of {stats.pairs_possible} pairs judged in {stats.seconds:.2f} s"
    )
    return f"{line} ({_stages(stats)})." if stats.stages else f"{line}."


def _when(memory: Memory) -> str:
    if memory.timestamp is None:
        return ""
    return f"{memory.timestamp:%Y-%m-%d %H:%M}".removesuffix(" 00:00")


def _stages(stats: CollectionStats) -> str:
    return ", ".join(f"{stage}: {number}" for stage, number in stats.stages.items())


def _marked(memory: Memory, spans: Sequence[tuple[int, int]]) -> Text:
    """The text of a memory with its outdated parts struck through."""
    text = Text(memory.text)
    for start, end in spans:
        text.stylize("strike", start, end)
    return text
