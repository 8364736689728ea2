"""Removes everything of a scope, and keeps no more than the proof."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from gcmem.memory import ScopeLike
from gcmem.precedents.labels import encode_scope, from_microseconds, microseconds_now, scope_digest
from gcmem.precedents.precedent import Purge
from gcmem.precedents.schema import (
    checkpoint,
    chunk,
    definition,
    evidence,
    heard,
    key,
    message,
    precedent,
    purge,
    transition,
)

__all__ = ["purge_scope"]


def purge_scope(connection: Connection, scope: ScopeLike) -> Purge:
    """Delete all that is known of exactly this scope, and what its conversations have left."""
    place = encode_scope(scope)
    connection.execute(select(key.c.id).where(key.c.scope == place).with_for_update())
    keys = select(key.c.id).where(key.c.scope == place).scalar_subquery()
    removed = {
        table.name: connection.execute(delete(table).where(table.c.key_id.in_(keys))).rowcount
        for table in (transition, evidence, checkpoint, precedent)
    }
    connection.execute(delete(key).where(key.c.scope == place))
    removed |= {
        table.name: connection.execute(delete(table).where(table.c.scope == place)).rowcount
        for table in (definition, heard, message, chunk)
    }
    now = microseconds_now()
    done = Purge(
        from_microseconds(now),
        scope_digest(scope),
        precedents=removed[precedent.name],
        observations=removed[evidence.name],
        transitions=removed[transition.name],
        messages=removed[message.name],
        chunks=removed[chunk.name],
    )
    row = {
        "at": now,
        "scope_digest": done.scope_digest,
        "precedents": done.precedents,
        "observations": done.observations,
        "transitions": done.transitions,
        "messages": done.messages,
        "chunks": done.chunks,
    }
    connection.execute(insert(purge), row)
    return done
