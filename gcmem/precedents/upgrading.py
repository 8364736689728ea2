"""Makes the tables of a ledger, and turns an older ledger into a newer one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from sqlalchemy import Connection, func, inspect, select, text, update

from gcmem.precedents.errors import LedgerFileError
from gcmem.precedents.schema import checkpoint, chunk, compaction, heard, message, meta, metadata

__all__ = ["APPLICATION_ID", "MIGRATIONS", "SCHEMA_VERSION", "create", "upgrade"]

APPLICATION_ID: Final = 0x67634D50
"""Marks an SQLite file as a ledger: "gcMP", at byte 68 of its header."""

SCHEMA_VERSION: Final = 2

Migration: TypeAlias = Callable[[Connection], None]


def _to_2(connection: Connection) -> None:
    """Bring conversations under the version, count them in purges, and make room to compact.

    Version 1 made the tables of conversations and of short-term memory beside the others when they
    were first needed, and wrote the scopes of the latter with a blank between their labels.
    """
    for table in (heard, message, chunk, checkpoint, compaction):
        table.create(connection, checkfirst=True)
    for counted in ("messages", "chunks"):
        connection.execute(
            text(f"ALTER TABLE gcmem_purge ADD COLUMN {counted} BIGINT DEFAULT 0 NOT NULL")
        )
    connection.execute(update(chunk).values(scope=func.replace(chunk.c.scope, '", "', '","')))


MIGRATIONS: Final[Mapping[int, Migration]] = {1: _to_2}
"""For each older version n, what turns it into n + 1. Where a later version changes a table that a
migration makes, the migration keeps the table's form of then."""


def create(connection: Connection, *, empty: bool = False) -> None:
    """Create what is missing of the tables, and write the schema version.

    Args:
        connection: Where to.
        empty: The database is known to have no tables.
    """
    metadata.create_all(connection, checkfirst=not empty)
    if (
        empty
        or connection.scalar(select(meta.c.value).where(meta.c.name == "schema_version")) is None
    ):
        connection.execute(meta.insert(), {"name": "schema_version", "value": str(SCHEMA_VERSION)})


def upgrade(
    connection: Connection,
    name: str,
    *,
    target: int = SCHEMA_VERSION,
    migrations: Mapping[int, Migration] = MIGRATIONS,
) -> None:
    """Bring an older ledger to the present schema, one version at a time, in one transaction.

    Raises:
        LedgerFileError: Tables are missing, or the ledger was written by a newer version.
    """
    present = set(inspect(connection).get_table_names())
    if meta.name not in present:
        raise LedgerFileError(name, f"it has no table {meta.name}, so it is no ledger.")
    found = connection.scalar(select(meta.c.value).where(meta.c.name == "schema_version"))
    if found is None or not found.isdigit():
        raise LedgerFileError(name, f"its schema version is {found!r}, not a number.")
    version = int(found)
    if version > target:
        newer = f"its schema version {version} is newer than {target}; update gcmem to read it."
        raise LedgerFileError(name, newer)
    while version < target:
        if version not in migrations:
            raise LedgerFileError(name, f"no upgrade leads from schema version {version}.")
        migrations[version](connection)
        version += 1
        connection.execute(
            update(meta).where(meta.c.name == "schema_version").values(value=str(version))
        )
    missing = {table.name for table in metadata.sorted_tables} - set(
        inspect(connection).get_table_names()
    )
    if missing:
        raise LedgerFileError(name, f"its tables {sorted(missing)} are missing.")
