"""Removes everything of a scope, and keeps no more than the proof."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from gcmem.memory import ScopeLike
from gcmem.precedents import chat_tables
from gcmem.precedents.labels import encode_scope, from_microseconds, microseconds_now, scope_digest
from gcmem.precedents.precedent import Purge
from gcmem.precedents.schema import definition, evidence, key, precedent, purge, transition

__all__ = ["purge_scope"]


def purge_scope(connection: Connection, scope: ScopeLike) -> Purge:
    """Delete the keys, precedents, evidence, audit rows and definitions of exactly this scope."""
    place = encode_scope(scope)
    connection.execute(select(key.c.id).where(key.c.scope == place).with_for_update())
    keys = select(key.c.id).where(key.c.scope == place).scalar_subquery()
    removed = {
        table.name: connection.execute(delete(table).where(table.c.key_id.in_(keys))).rowcount
        for table in (transition, evidence, precedent)
    }
    connection.execute(delete(key).where(key.c.scope == place))
    connection.execute(delete(definition).where(definition.c.scope == place))
    chat_tables.delete_scope(connection, place)
    now = microseconds_now()
    done = Purge(
        from_microseconds(now),
        scope_digest(scope),
        precedents=removed[precedent.name],
        observations=removed[evidence.name],
        transitions=removed[transition.name],
    )
    row = {
        "at": now,
        "scope_digest": done.scope_digest,
        "precedents": done.precedents,
        "observations": done.observations,
        "transitions": done.transitions,
    }
    connection.execute(insert(purge), row)
    return done
