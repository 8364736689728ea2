"""Folds old evidence for good, key by key, so that the log does not grow without end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from gcmem.precedents import key_rows, records
from gcmem.precedents.checkpoints import Checkpoint, checkpoints_of, save_checkpoints
from gcmem.precedents.key_rows import chunks
from gcmem.precedents.labels import from_microseconds, microseconds_now
from gcmem.precedents.policy import LifecyclePolicy
from gcmem.precedents.precedent import Compaction
from gcmem.precedents.replaying import replayed
from gcmem.precedents.schema import compaction, evidence, key
from gcmem.precedents.storage import Storage

__all__ = ["compact"]

Result = TypeVar("Result")
Work = Callable[[Connection], Result]

_KEYS_AT_ONCE: Final = 50  # keys in a transaction, so that other writers get their turn


def compact(
    storage: Storage,
    policy: LifecyclePolicy,
    *,
    before: int,
    scope: str | None,
    digest: str | None,
    at_least: int,
) -> Compaction:
    """Fold the evidence dated before a time, of each key that has enough of it.

    Each transaction takes some keys and counts them in the one audit row, so a process that is
    killed in the middle leaves whole keys, and an audit row that is true of them.
    """
    found = storage.read(lambda connection: _with_old_evidence(connection, before, scope, at_least))
    now = microseconds_now()
    row = {"at": now, "before": before, "scope_digest": digest, "keys": 0, "observations": 0}
    seq = storage.write(
        lambda connection: connection.scalar(insert(compaction).returning(compaction.c.seq), row)
    )
    keys = observations = 0
    for some in chunks(found, _KEYS_AT_ONCE):

        def work(connection: Connection, some: Sequence[int] = some) -> tuple[int, int]:
            done = _compact_keys(connection, policy, some, before)
            connection.execute(_COUNT, {"of_seq": seq, "more_keys": done[0], "more": done[1]})
            return done

        done = storage.write(work)
        keys, observations = keys + done[0], observations + done[1]
    return Compaction(from_microseconds(now), from_microseconds(before), digest, keys, observations)


_COUNT: Final = (
    update(compaction)
    .where(compaction.c.seq == bindparam("of_seq"))
    .values(
        keys=compaction.c["keys"] + bindparam("more_keys"),
        observations=compaction.c.observations + bindparam("more"),
    )
)


def _with_old_evidence(
    connection: Connection, before: int, scope: str | None, at_least: int
) -> list[int]:
    wanted = (
        select(evidence.c.key_id)
        .where(evidence.c.at < before)
        .group_by(evidence.c.key_id)
        .having(func.count() >= at_least)
        .order_by(evidence.c.key_id)
    )
    if scope is not None:
        own = select(key.c.id).where(key.c.scope == scope)
        wanted = wanted.where(evidence.c.key_id.in_(own))
    return list(connection.scalars(wanted))


def _compact_keys(
    connection: Connection, policy: LifecyclePolicy, key_ids: Sequence[int], before: int
) -> tuple[int, int]:
    """Compact some keys; give how many had something left, and how many pieces of evidence."""
    rows = {row.id: row for row in key_rows.keys_by_id(connection, key_ids)}
    events = records.events_of(connection, rows, until=before - 1)
    old = {key_id: logged for key_id, logged in events.items() if logged}
    entries = records.entries_of(connection, dict.fromkeys(old))
    compacted = checkpoints_of(connection, old)
    made = {}
    for key_id, logged in old.items():
        past = compacted.get(key_id)
        seen = [item.event for item in logged]
        replay = replayed(policy, rows[key_id], entries[key_id], seen, past)
        made[key_id] = Checkpoint(
            until=max(seen[-1].at, past.until if past else seen[-1].at),
            supports=replay.lifecycle.supports,
            entries={
                match: entry
                for match, entry in replay.lifecycle.entries.items()
                if entry.state is not None or entry.support or entry.conflict
            },
            timeline=(*(past.timeline if past else ()), *replay.timeline),
        )
    save_checkpoints(connection, made)
    gone = delete(evidence).where(evidence.c.key_id.in_(list(old)), evidence.c.at < before)
    removed = connection.execute(gone).rowcount if old else 0
    return len(old), removed
