"""Reads and writes the rows of a ledger. Every statement is bounded by what it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    CompoundSelect,
    Connection,
    Row,
    Select,
    bindparam,
    insert,
    select,
    union_all,
    update,
)

from gcmem.precedents.entry import Change, Entry, Event, EventKind
from gcmem.precedents.key_rows import KeyRow, chunks
from gcmem.precedents.labels import decode_scope, from_microseconds
from gcmem.precedents.precedent import Cause, Precedent, State, Transition
from gcmem.precedents.schema import evidence, precedent, transition

__all__ = [
    "LoggedEvent",
    "add_events",
    "add_transitions",
    "entries_of",
    "events_of",
    "save_entries",
    "to_entry",
    "to_precedent",
    "to_transition",
]


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event with the rows that it belongs to."""

    key_id: int
    precedent_id: int | None
    event: Event


# precedents


def entries_of(
    connection: Connection, wanted: Mapping[int, set[str] | None]
) -> dict[int, list[Entry]]:
    """Give, for each key, the precedents that can matter: the live ones and those named.

    None instead of names gives every precedent of the key.
    """
    found: dict[int, dict[str, Entry]] = {key_id: {} for key_id in wanted}
    whole = [key_id for key_id, matches in wanted.items() if matches is None]
    partly = {key_id: matches for key_id, matches in wanted.items() if matches is not None}

    def take(statement: Select[Any] | CompoundSelect[Any], **bound: object) -> None:
        for row in connection.execute(statement, bound):
            found[row.key_id][row.match] = to_entry(row)

    for some in chunks(whole):
        take(_WHOLE, of_keys=some)
    if len(partly) == 1:
        ((key_id, matches),) = partly.items()
        if len(matches) == 1:
            take(_LIVE_OR_ONE, of_key=key_id, of_match=next(iter(matches)))
            return {key_id: list(entries.values()) for key_id, entries in found.items()}
    for some in chunks(partly):
        take(_LIVE_ALONE, of_keys=some)
    missing = [
        (key_id, match)
        for key_id, matches in partly.items()
        for match in sorted(matches)
        if match not in found[key_id]
    ]
    for pairs in chunks(missing, _NAMED_AT_ONCE):
        keys, named = {key_id for key_id, _ in pairs}, {match for _, match in pairs}
        take(_NAMED, of_keys=sorted(keys), of_matches=sorted(named))
    return {key_id: list(entries.values()) for key_id, entries in found.items()}


_LIVE: Final = precedent.c.live.is_(True)
_OF_KEY: Final = precedent.c.key_id == bindparam("of_key")
_OF_KEYS: Final = precedent.c.key_id.in_(bindparam("of_keys", expanding=True))
_NAMED_AT_ONCE: Final = 16  # pairs of key and match; the index is probed for their product
_WHOLE: Final = select(precedent).where(_OF_KEYS)
# Not OR: SQLite would read every precedent of the key to decide it.
_LIVE_OR_ONE: Final = union_all(
    select(precedent).where(_OF_KEY, _LIVE),
    select(precedent).where(
        _OF_KEY, precedent.c.match == bindparam("of_match"), precedent.c.live.is_(False)
    ),
)
_LIVE_ALONE: Final = select(precedent).where(_OF_KEYS, _LIVE)
_NAMED: Final = select(precedent).where(
    _OF_KEYS, precedent.c.match.in_(bindparam("of_matches", expanding=True))
)


def to_entry(row: Row[Any]) -> Entry:
    """Read a row of the precedent table."""
    return Entry(
        match=row.match,
        value=row.value,
        id=row.id,
        support=row.support,
        conflict=row.conflict,
        state=None if row.state is None else State(row.state),
        created_at=row.created_at,
        updated_at=row.updated_at,
        recent=tuple(mark == "1" for mark in row.recent),
        pinned=row.pinned,
        authority=row.authority,
        testified=row.testified,
        fresh_support=row.fresh_support,
        fresh_conflict=row.fresh_conflict,
        ordinal=row.ordinal,
        tried=row.tried,
        trial_passed=row.trial_passed,
        undo=row.undo,
    )


_PLAIN: Final = (
    "support",
    "conflict",
    "created_at",
    "updated_at",
    "pinned",
    "authority",
    "testified",
    "fresh_support",
    "fresh_conflict",
    "ordinal",
    "tried",
    "trial_passed",
    "undo",
)
_CHANGING: Final = (*_PLAIN, "state", "recent", "live", "exclusive")
_SAVE_ENTRY: Final = (
    update(precedent)
    .where(precedent.c.id == bindparam("of_id"))
    .values({name: bindparam(f"new_{name}") for name in _CHANGING})
)


_INSERT_ENTRY: Final = insert(precedent).returning(
    precedent.c.id, precedent.c.key_id, precedent.c.match
)
_INSERT_EVIDENCE: Final = insert(evidence)
_INSERT_TRANSITION: Final = insert(transition)


def _values(entry: Entry, *, ready: bool, exclusive: bool) -> dict[str, object]:
    plain: dict[str, object] = {name: getattr(entry, name) for name in _PLAIN}
    return plain | {
        "state": None if entry.state is None else entry.state.value,
        "recent": "".join("1" if good else "0" for good in entry.recent),
        "live": ready or entry.state is State.ACTIVE,
        "exclusive": exclusive,
    }


def save_entries(connection: Connection, changed: Sequence[tuple[int, Entry, bool, bool]]) -> None:
    """Write precedents (key id, entry, ready, exclusive); new ones are given their id.

    What stops being Active is written first, so that the index of one Active value per key holds
    at every statement.
    """
    old = [item for item in changed if item[1].id is not None]
    for standing in (False, True):
        rows = [
            {
                "of_id": entry.id,
                **{
                    f"new_{name}": value
                    for name, value in _values(entry, ready=ready, exclusive=exclusive).items()
                },
            }
            for _, entry, ready, exclusive in old
            if (entry.state is State.ACTIVE) is standing
        ]
        if rows:
            connection.execute(_SAVE_ENTRY, rows)
    new = {
        (key_id, entry.match): (entry, ready, exclusive)
        for key_id, entry, ready, exclusive in changed
        if entry.id is None
    }
    if not new:
        return
    rows = [
        {
            "key_id": key_id,
            "match": match,
            "value": entry.value,
            **_values(entry, ready=ready, exclusive=exclusive),
        }
        for (key_id, match), (entry, ready, exclusive) in new.items()
    ]
    for row in connection.execute(_INSERT_ENTRY, rows):
        new[row.key_id, row.match][0].id = row.id


def to_precedent(row: KeyRow, entry: Entry) -> Precedent:
    """Give the public form of a precedent."""
    return Precedent(
        id=str(entry.id),
        scope=decode_scope(row.scope),
        key=row.text,
        value=entry.value,
        support=entry.support,
        conflict=entry.conflict,
        state=entry.state or State.HYPOTHESIS,
        created_at=from_microseconds(entry.created_at),
        updated_at=from_microseconds(entry.updated_at),
        recent=entry.recent,
        pinned=entry.pinned,
        authority=entry.authority,
    )


# evidence and audit


def events_of(
    connection: Connection, key_ids: Iterable[int], *, until: int | None = None
) -> dict[int, list[LoggedEvent]]:
    """Give the evidence of each key in order of its time (then of its arrival)."""
    found: dict[int, list[LoggedEvent]] = {key_id: [] for key_id in key_ids}
    source = evidence.outerjoin(precedent, precedent.c.id == evidence.c.precedent_id)
    for some in chunks(found):
        wanted = (
            select(evidence, precedent.c.match)
            .select_from(source)
            .where(evidence.c.key_id.in_(some))
            .order_by(evidence.c.key_id, evidence.c.at, evidence.c.seq)
        )
        if until is not None:
            wanted = wanted.where(evidence.c.at <= until)
        for row in connection.execute(wanted):
            event = Event(
                EventKind(row.kind), row.match, row.at, row.authority, row.source, row.detail
            )
            found[row.key_id].append(LoggedEvent(row.key_id, row.precedent_id, event))
    return found


def add_events(connection: Connection, events: Sequence[LoggedEvent]) -> None:
    """Append evidence to the log."""
    rows = [
        {
            "key_id": logged.key_id,
            "precedent_id": logged.precedent_id,
            "kind": logged.event.kind.value,
            "at": logged.event.at,
            "authority": logged.event.authority,
            "source": logged.event.source,
            "detail": logged.event.detail,
        }
        for logged in events
    ]
    if rows:
        connection.execute(_INSERT_EVIDENCE, rows)


def add_transitions(
    connection: Connection, changes: Sequence[tuple[KeyRow, Entry, Change]], *, now: int
) -> list[Transition]:
    """Append audit rows and give their public form."""
    rows = [
        {
            "key_id": row.id,
            "precedent_id": entry.id,
            "before": None if change.before is None else change.before.value,
            "after": change.after.value,
            "at": change.at,
            "recorded_at": now,
            "cause": change.cause.value,
            "reason": change.reason,
            "support": change.support,
            "conflict": change.conflict,
        }
        for row, entry, change in changes
    ]
    if rows:
        connection.execute(_INSERT_TRANSITION, rows)
    return [
        Transition(
            precedent_id=str(entry.id),
            scope=decode_scope(row.scope),
            key=row.text,
            value=entry.value,
            before=change.before,
            after=change.after,
            at=from_microseconds(change.at),
            cause=change.cause,
            reason=change.reason,
            support=change.support,
            conflict=change.conflict,
        )
        for row, entry, change in changes
    ]


def to_transition(row: KeyRow, value: str, audit: Row[Any]) -> Transition:
    """Give the public form of an audit row."""
    return Transition(
        precedent_id=str(audit.precedent_id),
        scope=decode_scope(row.scope),
        key=row.text,
        value=value,
        before=None if audit.before is None else State(audit.before),
        after=State(audit.after),
        at=from_microseconds(audit.at),
        cause=Cause(audit.cause),
        reason=audit.reason,
        support=audit.support,
        conflict=audit.conflict,
    )
