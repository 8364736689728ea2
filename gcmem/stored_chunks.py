"""Keeps short-term memory in a database, shared by processes, beside the ledger if there is one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, delete, select

from gcmem.memory import Memory, Scope
from gcmem.precedents.labels import encode_scope
from gcmem.precedents.schema import chunk
from gcmem.precedents.storage import Storage

__all__ = ["StoredChunks"]

_FORMAT: Final = 1


class StoredChunks:
    """The newest chunks of each scope in a database.

    Args:
        url: As for `gcmem.PrecedentLedger`; a ledger may live in the same database.
        maxlen: How many chunks of a scope to keep.

    Raises:
        ValueError: The URL cannot be read.
        LedgerFileError: The file is damaged, foreign, newer, or cannot be created.
    """

    def __init__(self, url: str, maxlen: int) -> None:
        self._maxlen = maxlen
        self._storage = Storage(url)

    @property
    def in_memory(self) -> bool:
        """Whether nothing outside this process can see the database."""
        return self._storage.in_memory

    def extend(self, memories: Sequence[Memory]) -> None:
        """Append chunks in the given order, all or none.

        Raises:
            TypeError: The metadata of a chunk holds what JSON cannot.
        """
        rows = [_row(memory) for memory in memories]

        def work(connection: Connection) -> None:
            for row in rows:
                connection.execute(
                    delete(chunk).where(chunk.c.scope == row["scope"], chunk.c.id == row["id"])
                )
                connection.execute(chunk.insert(), row)
            for scope in dict.fromkeys(row["scope"] for row in rows):
                newest = (
                    select(chunk.c.seq)
                    .where(chunk.c.scope == scope)
                    .order_by(chunk.c.seq.desc())
                    .limit(1)
                    .offset(self._maxlen)
                    .scalar_subquery()
                )
                connection.execute(
                    delete(chunk).where(chunk.c.scope == scope, chunk.c.seq <= newest)
                )

        self._storage.write(work)

    def recent(self, scope: Scope) -> list[Memory]:
        """Give the chunks of a scope, oldest first."""
        wanted = (
            select(chunk.c.content)
            .where(chunk.c.scope == encode_scope(scope))
            .order_by(chunk.c.seq.desc())
            .limit(self._maxlen)
        )
        contents = self._storage.read(lambda connection: connection.scalars(wanted).all())
        return [_memory(content) for content in reversed(contents)]

    def clear(self, scope: Scope) -> None:
        """Forget the chunks of a scope."""
        gone = delete(chunk).where(chunk.c.scope == encode_scope(scope))
        self._storage.write(lambda connection: connection.execute(gone) and None)
        self._storage.forget_deleted()

    def close(self) -> None:
        """Give the connections back."""
        self._storage.close()


def _row(memory: Memory) -> dict[str, str]:
    """Write a chunk as JSON, in ASCII, so that every text fits into every database."""
    content = {
        "format": _FORMAT,
        "text": memory.text,
        "timestamp": memory.timestamp and memory.timestamp.isoformat(),
        "id": memory.id,
        "scope": memory.scope,
        "relevance": memory.relevance,
        "key": memory.key,
        "value": memory.value,
        "supersedes": memory.supersedes,
        "valid_from": memory.valid_from and memory.valid_from.isoformat(),
        "valid_until": memory.valid_until and memory.valid_until.isoformat(),
        "authority": memory.authority,
        "source": memory.source,
        "metadata": _plain(memory),
    }
    return {
        "scope": encode_scope(memory.scope),
        "id": json.dumps(memory.id),
        "content": json.dumps(content),
    }


def _plain(memory: Memory) -> Mapping[str, Any]:
    for key, value in memory.metadata.items():
        try:
            json.dumps(value)
        except (TypeError, ValueError) as error:
            msg = (
                f"metadata[{key!r}] of memory {memory.id!r} must be JSON (text, number, list, ...) "
                f"to be stored, got {value!r}: {error}"
            )
            raise TypeError(msg) from error
    return memory.metadata


def _memory(content: str) -> Memory:
    fields = json.loads(content)
    if fields.pop("format") != _FORMAT:
        msg = f"a stored chunk has a format other than {_FORMAT}; update gcmem to read it."
        raise ValueError(msg)
    return Memory(fields.pop("text"), fields.pop("timestamp"), **fields)
