"""Where a ledger lives: an SQLite file, memory, or PostgreSQL, behind one pair of functions."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.pool import StaticPool

from gcmem.precedents import sqlite_file, upgrading
from gcmem.precedents.errors import LedgerBusyError, LedgerClosedError, LedgerFileError

__all__ = ["Storage"]

Result = TypeVar("Result")

_ATTEMPTS: Final = 12
_FIRST_PAUSE: Final = 0.005  # seconds; doubles up to the longest
_LONGEST_PAUSE: Final = 0.5
_SQLITE_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_SQLITE_DAMAGED: Final = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
    }
)
_POSTGRES_TRANSIENT: Final = frozenset({"40001", "40P01", "55P03"})
_CREATION_LOCK: Final = 0x67634D50
_WRITES: Final = "gcmem_writes"


class Storage:
    """One database and the transactions on it.

    Writes are whole transactions, tried again a bounded number of times when another writer was
    in the way: SQLite begins them with BEGIN IMMEDIATE, so that two never read the same state and
    both write; PostgreSQL locks the rows of the keys.

    Args:
        url: "sqlite://" (memory, shared by the threads of this process), "sqlite:///file.db" or
            "postgresql+psycopg://user@host/database".

    Raises:
        TypeError: The URL is not a string.
        ValueError: The URL cannot be read or names another database.
        LedgerFileError: The file is damaged, foreign, newer, or cannot be created.
    """

    def __init__(self, url: str) -> None:
        self._url = _read_url(url)
        self._closed = False
        self._process = os.getpid()
        self.path: Path | None = None
        self.in_memory = False
        if self._url.get_backend_name() == "sqlite":
            self.in_memory = self._url.database in {None, "", ":memory:"}
            self.path = None if self.in_memory else Path(str(self._url.database)).resolve()
        self._lock = threading.RLock()
        self._engine = self._open()

    @property
    def name(self) -> str:
        """The file or the address (without its password), for messages."""
        return str(self.path or self._url.render_as_string(hide_password=True))

    @property
    def postgres(self) -> bool:
        """Whether rows have to be locked one by one."""
        return self._url.get_backend_name() == "postgresql"

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """Run a function in one write transaction; it may run more than once.

        Raises:
            LedgerBusyError: Other writers were in the way every time.
            LedgerFileError: The file is damaged, full or read-only.
            LedgerClosedError: The storage is closed.
        """
        pause = _FIRST_PAUSE
        for attempt in range(_ATTEMPTS):
            try:
                with self._turn(writing=True), self._engine.begin() as connection:
                    return work(connection)
            except DBAPIError as error:
                if not self._transient(error):
                    raise self._explained(error) from error
                if attempt == _ATTEMPTS - 1:
                    msg = f"{self.name}: still busy after {_ATTEMPTS} attempts: {error.orig}"
                    raise LedgerBusyError(msg) from error
            time.sleep(pause * (0.5 + random.random()))  # noqa: S311  (no secret)
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise AssertionError

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """Run a function that only reads, on one consistent state.

        Raises:
            LedgerFileError: The file is damaged.
            LedgerClosedError: The storage is closed.
        """
        try:
            with self._turn(writing=False), self._reader.begin() as connection:
                return work(connection)
        except DBAPIError as error:
            raise self._explained(error) from error

    def forget_deleted(self) -> None:
        """Take deleted content out of SQLite's write-ahead log as well.

        Raises:
            LedgerBusyError: Readers held the log; the deletion itself is done.
        """
        if self.path is None:
            return
        for _ in range(_ATTEMPTS):
            with self._turn(writing=True), self._engine.connect() as connection:
                raw = connection.connection.cursor()
                busy = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                raw.close()
            if not busy:
                return
            time.sleep(_LONGEST_PAUSE)
        msg = f"{self.name}: deleted, but readers still hold the write-ahead log; purge again."
        raise LedgerBusyError(msg)

    def check_open(self) -> None:
        """Raise LedgerClosedError after `close`."""
        if self._closed:
            msg = f"{self.name}: the ledger is closed."
            raise LedgerClosedError(msg)

    def close(self) -> None:
        """Give everything back; a second call does nothing."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._engine.dispose()

    # opening

    def _open(self) -> Engine:
        if self.path is not None:
            if not self.path.exists():
                sqlite_file.create_file(self.path)
            sqlite_file.check_header(self.path)
        engine = self._create_engine()
        self._reader = engine
        if self.postgres:
            # What is read in several statements must still be of one moment.
            self._reader = engine.execution_options(isolation_level="REPEATABLE READ")
        else:
            event.listen(engine, "connect", lambda raw, _record: sqlite_file.set_pragmas(raw))
            event.listen(engine, "begin", _begin)
        writer = engine.execution_options(**{_WRITES: True})
        try:
            with writer.begin() as connection:
                self._prepare(connection)
        except DBAPIError as error:
            engine.dispose()
            raise self._explained(error) from error
        except BaseException:
            engine.dispose()
            raise
        return writer

    def _create_engine(self) -> Engine:
        if self.in_memory:
            return create_engine(
                "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
            )
        if self.path is not None:
            return create_engine(
                URL.create("sqlite", database=str(self.path)),
                connect_args={"check_same_thread": False},
                pool_size=8,
                max_overflow=64,
            )
        return create_engine(self._url, pool_pre_ping=True, pool_size=8, max_overflow=24)

    def _prepare(self, connection: Connection) -> None:
        if self.in_memory:
            upgrading.create(connection, empty=True)
            return
        if self.path is not None:
            sqlite_file.check_content(connection, self.path)
        elif self.postgres:
            connection.execute(
                text("SELECT pg_advisory_xact_lock(:number)"), {"number": _CREATION_LOCK}
            )
            upgrading.create(connection)
        upgrading.upgrade(connection, self.name)

    # transactions

    @contextlib.contextmanager
    def _turn(self, *, writing: bool) -> Iterator[None]:
        self.check_open()
        if os.getpid() != self._process and not self.in_memory:
            self._process = os.getpid()  # a forked child must not share its parent's connections
            self._lock = threading.RLock()
            self._engine.dispose(close=False)
        # Within a process SQLite's writers queue here, which is fairer than its busy handler.
        needed = self.in_memory or (writing and not self.postgres)
        with self._lock if needed else contextlib.nullcontext():
            yield

    def _transient(self, error: DBAPIError) -> bool:
        if isinstance(error.orig, sqlite3.Error):
            return _sqlite_code(error.orig) in _SQLITE_BUSY
        if isinstance(error, IntegrityError):
            return True  # another writer inserted the same key or value first
        return getattr(error.orig, "sqlstate", None) in _POSTGRES_TRANSIENT

    def _explained(self, error: DBAPIError) -> Exception:
        if isinstance(error.orig, sqlite3.Error):
            code = _sqlite_code(error.orig)
            malformed = code is None and isinstance(error.orig, sqlite3.DatabaseError)
            if code in _SQLITE_DAMAGED or (malformed and "malformed" in str(error.orig)):
                return LedgerFileError(self.name, f"SQLite says: {error.orig}.")
            if code in _SQLITE_BUSY:
                return LedgerBusyError(f"{self.name}: {error.orig}")
        return error


def _sqlite_code(error: BaseException) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else int(code) & 0xFF


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _read_url(url: Any) -> URL:
    allowed = '"sqlite://", "sqlite:///file.db" or "postgresql+psycopg://user@host/database"'
    if not isinstance(url, str):
        msg = f"url must be a string ({allowed}), got {url!r}."
        raise TypeError(msg)
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        msg = f"url must be {allowed}, got {url!r}."
        raise ValueError(msg) from error
    backend = parsed.get_backend_name()
    if backend not in {"sqlite", "postgresql"}:
        msg = f"url must be {allowed}, got a URL of {backend!r}."
        raise ValueError(msg)
    if backend == "sqlite" and (parsed.query or str(parsed.database).startswith("file:")):
        msg = f"url of an SQLite ledger takes no options, got {url!r}."
        raise ValueError(msg)
    if backend == "postgresql" and parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    return parsed
