"""The tables of conversations, made beside those of a ledger when they are first needed."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    delete,
    inspect,
)
from sqlalchemy.schema import CreateIndex, CreateTable

__all__ = ["create_tables", "delete_scope", "heard", "message"]

_metadata: Final = MetaData()
_Number: Final = BigInteger().with_variant(Integer, "sqlite")

heard: Final = Table(
    "gcmem_chat_heard",
    _metadata,
    Column("scope", Text, primary_key=True),
    Column("session", Text, primary_key=True),
    Column("hashes", Text, nullable=False),
)
message: Final = Table(
    "gcmem_chat_message",
    _metadata,
    Column("seq", _Number, primary_key=True),
    Column("scope", Text, nullable=False),
    Column("session", Text, nullable=False),
    Column("content", Text, nullable=False),
    Index("gcmem_chat_message_session", "scope", "session", "seq"),
    sqlite_autoincrement=True,
)


def create_tables(connection: Connection) -> None:
    """Create what is missing of the tables."""
    for table in _metadata.sorted_tables:
        connection.execute(CreateTable(table, if_not_exists=True))
        for index in table.indexes:
            connection.execute(CreateIndex(index, if_not_exists=True))


def delete_scope(connection: Connection, place: str) -> None:
    """Delete everything of a scope, in the transaction of a purge."""
    for table in (message, heard):
        if inspect(connection).has_table(table.name):
            connection.execute(delete(table).where(table.c.scope == place))
