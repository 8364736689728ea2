"""The tables of a ledger, and how an older file becomes a newer one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    inspect,
    select,
    text,
    update,
)

from gcmem.precedents.errors import LedgerFileError

__all__ = [
    "APPLICATION_ID",
    "MIGRATIONS",
    "SCHEMA_VERSION",
    "definition",
    "evidence",
    "key",
    "meta",
    "metadata",
    "precedent",
    "purge",
    "transition",
    "upgrade",
]

APPLICATION_ID: Final = 0x67634D50
"""Marks an SQLite file as a ledger: "gcMP", at byte 68 of its header."""

SCHEMA_VERSION: Final = 1

Migration: TypeAlias = Callable[[Connection], None]

MIGRATIONS: Final[Mapping[int, Migration]] = {}
"""For each older version n, what turns it into n + 1. Version 1 is the first."""

metadata: Final = MetaData()

# INTEGER PRIMARY KEY is SQLite's row number; sqlite_autoincrement keeps numbers from coming back.
_Number: Final = BigInteger().with_variant(Integer, "sqlite")

meta = Table(
    "gcmem_meta",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)

definition = Table(
    "gcmem_definition",
    metadata,
    Column("match", Text, primary_key=True),
    Column("scope", Text, primary_key=True),  # "" is every scope; all others are JSON
    Column("cardinality", String(12), nullable=False),
    Index("gcmem_definition_scope", "scope"),
)

key = Table(
    "gcmem_key",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("scope", Text, nullable=False),
    Column("match", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("cardinality", String(12), nullable=False),
    Column("latest_at", BigInteger),
    Column("supports", BigInteger, nullable=False, default=0),
    UniqueConstraint("scope", "match", name="gcmem_key_once"),
    Index("gcmem_key_match", "match"),
    sqlite_autoincrement=True,
)

precedent = Table(
    "gcmem_precedent",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("key_id", ForeignKey("gcmem_key.id"), nullable=False),
    Column("match", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("support", BigInteger, nullable=False),
    Column("conflict", BigInteger, nullable=False),
    Column("state", String(12)),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("recent", Text, nullable=False),
    Column("pinned", Boolean, nullable=False),
    Column("authority", Float(53), nullable=False),
    Column("testified", Boolean, nullable=False),
    Column("fresh_support", BigInteger, nullable=False),
    Column("fresh_conflict", BigInteger, nullable=False),
    Column("ordinal", BigInteger, nullable=False),
    Column("tried", BigInteger, nullable=False),
    Column("trial_passed", Boolean, nullable=False),
    Column("undo", Text),
    Column("live", Boolean, nullable=False),  # Active, or ready to become so
    Column("exclusive", Boolean, nullable=False),
    UniqueConstraint("key_id", "match", name="gcmem_precedent_once"),
    Index("gcmem_precedent_live", "key_id", "live"),
    Index(
        "gcmem_one_active",
        "key_id",
        unique=True,
        sqlite_where=text("state = 'Active' AND exclusive"),
        postgresql_where=text("state = 'Active' AND exclusive"),
    ),
    sqlite_autoincrement=True,
)

evidence = Table(
    "gcmem_evidence",
    metadata,
    Column("seq", _Number, primary_key=True),
    Column("key_id", ForeignKey("gcmem_key.id"), nullable=False),
    Column("precedent_id", BigInteger),
    Column("kind", String(16), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("authority", Float(53)),
    Column("source", Text),
    Column("detail", Text),
    Index("gcmem_evidence_order", "key_id", "at", "seq"),
    sqlite_autoincrement=True,
)

transition = Table(
    "gcmem_transition",
    metadata,
    Column("seq", _Number, primary_key=True),
    Column("key_id", ForeignKey("gcmem_key.id"), nullable=False),
    Column("precedent_id", BigInteger, nullable=False),
    Column("before", String(12)),
    Column("after", String(12), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("cause", String(24), nullable=False),
    Column("reason", Text, nullable=False),
    Column("support", BigInteger, nullable=False),
    Column("conflict", BigInteger, nullable=False),
    Index("gcmem_transition_key", "key_id", "seq"),
    Index("gcmem_transition_precedent", "precedent_id", "seq"),
    sqlite_autoincrement=True,
)

purge = Table(
    "gcmem_purge",
    metadata,
    Column("seq", _Number, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("scope_digest", String(64), nullable=False),
    Column("precedents", BigInteger, nullable=False),
    Column("observations", BigInteger, nullable=False),
    Column("transitions", BigInteger, nullable=False),
    sqlite_autoincrement=True,
)


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
