"""The read path: what is Active, archived, open or on record, always by index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

from sqlalchemy import Connection, Row, Select, bindparam, select

from gcmem.precedents import key_rows, records
from gcmem.precedents.checkpoints import checkpoints_of
from gcmem.precedents.entry import Entry
from gcmem.precedents.errors import UnknownPrecedentError
from gcmem.precedents.key_rows import KeyRow
from gcmem.precedents.labels import from_microseconds
from gcmem.precedents.lifecycle import obstacle
from gcmem.precedents.policy import LifecyclePolicy
from gcmem.precedents.precedent import (
    Cardinality,
    Cause,
    Compaction,
    OpenConflict,
    Precedent,
    Purge,
    State,
    Transition,
)
from gcmem.precedents.replaying import replayed
from gcmem.precedents.schema import compaction, key, precedent, purge, transition

__all__ = [
    "active_as_of",
    "compactions",
    "explanation",
    "find",
    "in_state",
    "open_conflicts",
    "purges",
    "select_in_state",
    "transitions_of",
]

Named: TypeAlias = Literal["all", "one", "some"]
"""The keys that are asked for."""

_KEY: Final = (
    key.c.scope.label("key_scope"),
    key.c.match.label("key_match"),
    key.c.text.label("key_text"),
    key.c.cardinality.label("key_cardinality"),
)
_JOINED: Final = key.join(precedent, precedent.c.key_id == key.c.id)


def select_in_state(state: State, *, named: Named) -> Select[Any]:
    """Give the statement that reads the precedents of a scope in one state."""
    wanted = (
        select(precedent, *_KEY)
        .select_from(_JOINED)
        .where(key.c.scope == bindparam("of_scope"), precedent.c.state == state.value)
        .order_by(key.c.id, precedent.c.ordinal.desc(), precedent.c.id.desc())
    )
    if state is State.ACTIVE:
        wanted = wanted.where(precedent.c.live.is_(True))
    if named == "one":
        wanted = wanted.where(key.c.match == bindparam("of_match"))
    elif named == "some":
        wanted = wanted.where(key.c.match.in_(bindparam("of_matches", expanding=True)))
    return wanted


_IN_STATE: Final = {
    (state, named): select_in_state(state, named=named)
    for state in State
    for named in get_args(Named)
}


def in_state(
    connection: Connection, state: State, scope: str, matches: Sequence[str] | None = None
) -> list[Precedent]:
    """Give the precedents of a scope in one state: keys as they came, newest value first."""
    bound: dict[str, object] = {"of_scope": scope}
    named: Named = "all"
    if matches is not None and len(matches) == 1:
        named, bound["of_match"] = "one", matches[0]
    elif matches is not None:
        named, bound["of_matches"] = "some", list(matches)
    return [_public(row) for row in connection.execute(_IN_STATE[state, named], bound)]


def active_as_of(
    connection: Connection,
    policy: LifecyclePolicy,
    scope: str,
    until: int,
    matches: Iterable[str] | None = None,
) -> list[Precedent]:
    """Give what the evidence up to a time made Active, by folding it again."""
    rows = {row.id: row for row in key_rows.find_keys(connection, scope, matches)}
    compacted = checkpoints_of(connection, rows)
    events = records.events_of(connection, rows, until=until)
    known = [key_id for key_id, logged in events.items() if logged or key_id in compacted]
    entries = records.entries_of(connection, dict.fromkeys(known))
    found: list[Precedent] = []
    for key_id in known:
        row, past = rows[key_id], compacted.get(key_id)
        if past is not None and until < past.until:
            standing = past.active_at(until)
        else:
            seen = [item.event for item in events[key_id]]
            standing = replayed(policy, row, entries[key_id], seen, past).lifecycle.active()
        found += [records.to_precedent(row, entry) for entry in standing]
    return found


def find(connection: Connection, precedent_id: str) -> tuple[KeyRow, Entry]:
    """Give the precedent of an id.

    Raises:
        UnknownPrecedentError: There is none.
    """
    row = None
    if isinstance(precedent_id, str) and precedent_id.isascii() and precedent_id.isdigit():
        wanted = select(precedent, *_KEY).select_from(_JOINED)
        number = min(int(precedent_id), 2**63 - 1)
        row = connection.execute(wanted.where(precedent.c.id == number)).one_or_none()
    if row is None:
        msg = f"no precedent has the id {precedent_id!r}."
        raise UnknownPrecedentError(msg)
    return _key_of(row), records.to_entry(row)


def transitions_of(
    connection: Connection, *, scope: str, match: str, precedent_id: int | None = None
) -> list[Transition]:
    """Give the audit rows of a key, or of one of its precedents, in the order of recording."""
    found: list[Transition] = []
    for row in key_rows.find_keys(connection, scope, [match]):
        wanted = (
            select(transition, precedent.c.value)
            .join(precedent, precedent.c.id == transition.c.precedent_id)
            .where(transition.c.key_id == row.id)
            .order_by(transition.c.seq)
        )
        if precedent_id is not None:
            wanted = wanted.where(transition.c.precedent_id == precedent_id)
        found += [
            records.to_transition(row, audit.value, audit) for audit in connection.execute(wanted)
        ]
    return found


def open_conflicts(
    connection: Connection, scope: str, policy: LifecyclePolicy
) -> list[OpenConflict]:
    """Give the Hypotheses of a scope that contradict an Active value, with what stops them."""
    wanted = (
        select(precedent, *_KEY)
        .select_from(_JOINED)
        .where(
            key.c.scope == scope,
            key.c.cardinality != Cardinality.MULTI.value,
            precedent.c.state.in_([State.ACTIVE.value, State.HYPOTHESIS.value]),
        )
        .order_by(key.c.id, precedent.c.id)
    )
    by_key: dict[int, list[Row[Any]]] = {}
    for row in connection.execute(wanted):
        by_key.setdefault(row.key_id, []).append(row)
    return [conflict for rows in by_key.values() for conflict in _conflicts_of_key(rows, policy)]


def _conflicts_of_key(rows: Sequence[Row[Any]], policy: LifecyclePolicy) -> list[OpenConflict]:
    entries = [records.to_entry(row) for row in rows]
    standing = next((entry for entry in entries if entry.state is State.ACTIVE), None)
    if standing is None:
        return []
    return [
        _conflict(_key_of(rows[0]), standing, entry, policy)
        for entry in entries
        if entry.state is State.HYPOTHESIS and entry.support
    ]


def _conflict(row: KeyRow, active: Entry, entry: Entry, policy: LifecyclePolicy) -> OpenConflict:
    cause = obstacle(active, entry.authority, explicit=entry.testified, cardinality=row.cardinality)
    if cause is None:
        cause = Cause.GUESS if entry.fresh_support == 0 else Cause.OBSERVED
    reasons = {
        Cause.IMMUTABLE: "the key is immutable, so a later claim does not supersede",
        Cause.PINNED: "the Active value is pinned",
        Cause.AUTHORITY: "the Active value has a higher authority",
        Cause.WEAKER_EVIDENCE: "the user stated the Active value, the other is only inferred",
        Cause.GUESS: "only the assistant said so",
        Cause.OBSERVED: (
            f"{entry.fresh_support} of {policy.theta_propose} supports, "
            "and the Active value has not fallen"
        ),
    }
    return OpenConflict(
        row.text,
        records.to_precedent(row, active),
        records.to_precedent(row, entry),
        cause,
        f"{entry.value!r} contradicts {active.value!r}: {reasons[cause]}.",
    )


def explanation(connection: Connection, precedent_id: str, policy: LifecyclePolicy) -> str:
    """Give a paragraph that a person can read: what the precedent is, and how it got there."""
    row, entry = find(connection, precedent_id)
    audit = transitions_of(connection, scope=row.scope, match=row.match, precedent_id=entry.id)
    mean = policy.posterior(entry.fresh_support, entry.fresh_conflict)
    pinned = ", pinned" if entry.pinned else ""
    now = (
        f"{row.text} = {entry.value!r} is {entry.state}{pinned}: "
        f"{entry.support} for it, {entry.conflict} against it, "
        f"posterior mean {mean:.2f} since it was last revoked or first seen."
    )
    before = (
        f"{item.at.isoformat()} {item.before or 'new'} -> {item.after} "
        f"({item.cause}): {item.reason}."
        for item in audit
    )
    return "\n".join((now, *before))


def purges(connection: Connection) -> list[Purge]:
    """Give the audit rows of all privacy requests."""
    return [
        Purge(
            from_microseconds(row.at),
            row.scope_digest,
            row.precedents,
            row.observations,
            row.transitions,
            row.messages,
            row.chunks,
        )
        for row in connection.execute(select(purge).order_by(purge.c.seq))
    ]


def compactions(connection: Connection) -> list[Compaction]:
    """Give the audit rows of all compactions."""
    return [
        Compaction(
            from_microseconds(row.at),
            from_microseconds(row.before),
            row.scope_digest,
            row.keys,
            row.observations,
        )
        for row in connection.execute(select(compaction).order_by(compaction.c.seq))
    ]


def _key_of(row: Row[Any]) -> KeyRow:
    return KeyRow(
        row.key_id,
        row.key_scope,
        row.key_match,
        row.key_text,
        Cardinality(row.key_cardinality),
        latest_at=None,
        supports=0,
    )


def _public(row: Row[Any]) -> Precedent:
    return records.to_precedent(_key_of(row), records.to_entry(row))
