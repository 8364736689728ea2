"""What compaction keeps of the evidence of a key: the state that it led to, and when it moved."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, bindparam, delete, insert, select

from gcmem.precedents.entry import Change, Entry
from gcmem.precedents.key_rows import chunks
from gcmem.precedents.precedent import State
from gcmem.precedents.schema import checkpoint

__all__ = ["Checkpoint", "Mark", "checkpoints_of", "mark", "save_checkpoints"]


class Mark(NamedTuple):
    """A transition in the compacted past: enough to say what was Active then."""

    match: str
    at: int
    state: str
    support: int
    conflict: int
    ordinal: int
    authority: float
    pinned: bool


def mark(entry: Entry, change: Change) -> Mark:
    """Note a transition of a precedent."""
    return Mark(
        change.match,
        change.at,
        change.after.value,
        change.support,
        change.conflict,
        entry.ordinal,
        entry.authority,
        entry.pinned,
    )


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The evidence of a key up to a time, folded.

    Attributes:
        until: Time of the newest evidence in it. Whatever has this time or a later one and arrives
            afterwards is folded on top; what is older can no longer be put in its order.
        supports: Number of supports that the key had seen.
        entries: The precedents as they stood, by match form.
        timeline: Every transition before, in order.
    """

    until: int
    supports: int
    entries: Mapping[str, Entry]
    timeline: tuple[Mark, ...]

    def start(self, known: Iterable[Entry]) -> list[Entry]:
        """Give the precedents as they stood here; those that are newer are blank."""
        return [
            replace(self.entries[entry.match], id=entry.id)
            if entry.match in self.entries
            else Entry(entry.match, entry.value, entry.id)
            for entry in known
        ]

    def active_at(self, time: int) -> list[Entry]:
        """Give what was Active at a time, the value supported last first.

        The counts are those of the last transition before that time.
        """
        last = {mark.match: mark for mark in self.timeline if mark.at <= time}
        standing = [mark for mark in last.values() if mark.state == State.ACTIVE.value]
        return [
            Entry(
                mark.match,
                self.entries[mark.match].value,
                self.entries[mark.match].id,
                support=mark.support,
                conflict=mark.conflict,
                state=State.ACTIVE,
                created_at=min(self.entries[mark.match].created_at, time),
                updated_at=mark.at,
                pinned=mark.pinned,
                authority=mark.authority,
                ordinal=mark.ordinal,
            )
            for mark in sorted(standing, key=lambda mark: -mark.ordinal)
        ]


_WANTED: Final = select(checkpoint).where(
    checkpoint.c.key_id.in_(bindparam("of_keys", expanding=True))
)
_FIELDS: Final = frozenset(field.name for field in fields(Entry))


def checkpoints_of(connection: Connection, key_ids: Iterable[int]) -> dict[int, Checkpoint]:
    """Give the checkpoints of those keys that have been compacted."""
    return {
        row.key_id: Checkpoint(
            row.until,
            row.supports,
            {entry.match: entry for entry in map(_entry, json.loads(row.entries))},
            tuple(Mark(*values) for values in json.loads(row.timeline)),
        )
        for some in chunks(key_ids)
        for row in connection.execute(_WANTED, {"of_keys": some})
    }


def save_checkpoints(connection: Connection, made: Mapping[int, Checkpoint]) -> None:
    """Write checkpoints in place of those that the keys had."""
    rows = [
        {
            "key_id": key_id,
            "until": item.until,
            "supports": item.supports,
            "entries": _json([asdict(entry) for entry in item.entries.values()]),
            "timeline": _json(item.timeline),
        }
        for key_id, item in made.items()
    ]
    if rows:
        connection.execute(delete(checkpoint).where(checkpoint.c.key_id.in_(list(made))))
        connection.execute(insert(checkpoint), rows)


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _entry(stored: dict[str, Any]) -> Entry:
    state = stored["state"]
    read = {
        **stored,
        "state": None if state is None else State(state),
        "recent": tuple(stored["recent"]),
    }
    return Entry(**{name: value for name, value in read.items() if name in _FIELDS})
