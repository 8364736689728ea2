"""The tables of a ledger."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

__all__ = [
    "checkpoint",
    "chunk",
    "compaction",
    "definition",
    "evidence",
    "heard",
    "key",
    "message",
    "meta",
    "metadata",
    "precedent",
    "purge",
    "transition",
]

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
    Column("messages", BigInteger, nullable=False, server_default="0"),
    Column("chunks", BigInteger, nullable=False, server_default="0"),
    sqlite_autoincrement=True,
)

checkpoint = Table(
    "gcmem_checkpoint",
    metadata,
    Column("key_id", ForeignKey("gcmem_key.id"), primary_key=True, autoincrement=False),
    Column("until", BigInteger, nullable=False),
    Column("supports", BigInteger, nullable=False),
    Column("entries", Text, nullable=False),  # JSON
    Column("timeline", Text, nullable=False),  # JSON
)

compaction = Table(
    "gcmem_compaction",
    metadata,
    Column("seq", _Number, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("before", BigInteger, nullable=False),
    Column("scope_digest", String(64)),  # NULL is every scope
    Column("keys", BigInteger, nullable=False),
    Column("observations", BigInteger, nullable=False),
    sqlite_autoincrement=True,
)

# conversations

heard = Table(
    "gcmem_chat_heard",
    metadata,
    Column("scope", Text, primary_key=True),
    Column("session", Text, primary_key=True),
    Column("hashes", Text, nullable=False),
)

message = Table(
    "gcmem_chat_message",
    metadata,
    Column("seq", _Number, primary_key=True),
    Column("scope", Text, nullable=False),
    Column("session", Text, nullable=False),
    Column("content", Text, nullable=False),
    Index("gcmem_chat_message_session", "scope", "session", "seq"),
    sqlite_autoincrement=True,
)

chunk = Table(  # short-term memory
    "gcmem_recent_chunk",
    metadata,
    Column("seq", _Number, primary_key=True),
    Column("scope", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("content", Text, nullable=False),
    UniqueConstraint("scope", "id", name="gcmem_recent_chunk_once"),
    Index("gcmem_recent_chunk_order", "scope", "seq"),
    sqlite_autoincrement=True,
)
