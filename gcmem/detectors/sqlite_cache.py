"""A cache of verdicts in a file that processes share and that survives them."""

from __future__ import annotations

import math
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

__all__ = ["SQLiteVerdictCache", "VerdictCacheError"]

_APPLICATION_ID: Final = 0x67636D76  # "gcmv"
_BUSY_SECONDS: Final = 20.0
_MARKS: Final = 500  # keys in one statement
_UNSAVED_USES: Final = 5_000

_SCHEMA: Final = (
    "CREATE TABLE verdicts (key BLOB PRIMARY KEY, score REAL, used INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE INDEX verdicts_by_use ON verdicts (used)",
    "CREATE TABLE size (verdicts INTEGER NOT NULL)",
    "INSERT INTO size VALUES (0)",
    """CREATE TRIGGER added AFTER INSERT ON verdicts
    BEGIN UPDATE size SET verdicts = verdicts + 1; END""",
    """CREATE TRIGGER removed AFTER DELETE ON verdicts
    BEGIN UPDATE size SET verdicts = verdicts - 1; END""",
    f"PRAGMA application_id = {_APPLICATION_ID}",
)


class VerdictCacheError(RuntimeError):
    """The file of a verdict cache cannot be used; the message names it and says why."""


class SQLiteVerdictCache:
    """Keeps verdicts in an SQLite file, bounded, shared by threads and processes.

    Keys depend on the detector's name, which holds its version, so verdicts of an older model are
    never taken for those of a newer one; they fall out as the least recently used. The file holds
    hashes and scores, no text. When a verdict was last used is written with the next verdicts
    that are stored, so a read costs no write.

    Args:
        path: The file; it is created where it does not exist. Its folder must exist.
        capacity: How many verdicts to keep (about 100 bytes each).

    Raises:
        ValueError: `capacity` is below 1.
        VerdictCacheError: The file is damaged, belongs to another program, or cannot be opened.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from gcmem import Collector
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with SQLiteVerdictCache(Path(folder) / "verdicts.db") as cache:
        ...         collector = Collector("explicit", cache=cache)
        ...         len(cache)
        0
    """

    def __init__(self, path: str | Path, *, capacity: int = 1_000_000) -> None:
        if capacity < 1:
            msg = f"capacity must be at least 1, got {capacity}."
            raise ValueError(msg)
        self.path = Path(path)
        self.capacity = capacity
        self._prepare()
        with self._opened():
            pass  # what is wrong with the file shows at once

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, float]:
        """Give the scores that are known, NaN included, and mark them as used."""
        wanted = list(dict.fromkeys(keys))
        found: dict[bytes, float] = {}
        with self._opened() as connection:
            for start in range(0, len(wanted), _MARKS):
                part = wanted[start : start + _MARKS]
                marks = ",".join("?" * len(part))
                rows = connection.execute(
                    f"SELECT key, score FROM verdicts WHERE key IN ({marks})", part
                )
                found.update({key: math.nan if score is None else score for key, score in rows})
            self._used.update(dict.fromkeys(found, time.time_ns()))
            if len(self._used) > _UNSAVED_USES:
                with _transaction(connection):
                    self._save_uses(connection)
        return found

    def put_many(self, scores: Mapping[bytes, float]) -> None:
        """Keep scores, and drop the least recently used ones beyond the capacity."""
        if not scores:
            return
        with self._opened() as connection, _transaction(connection):
            self._save_uses(connection)
            now = time.time_ns()
            connection.executemany(
                "INSERT INTO verdicts (key, score, used) VALUES (?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET score = excluded.score, used = excluded.used",
                [(key, None if math.isnan(s) else float(s), now) for key, s in scores.items()],
            )
            excess = _size(connection) - self.capacity
            if excess > 0:
                connection.execute(
                    "DELETE FROM verdicts WHERE key IN "
                    "(SELECT key FROM verdicts ORDER BY used LIMIT ?)",
                    (excess,),
                )

    def close(self) -> None:
        """Write what is pending and close the file; the next use opens it again."""
        with self._opened() as connection:
            with _transaction(connection):
                self._save_uses(connection)
            connection.close()
            self._forget_connection()

    def __len__(self) -> int:
        with self._opened() as connection:
            return _size(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SQLiteVerdictCache({str(self.path)!r}, capacity={self.capacity})"

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "capacity": self.capacity}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def _prepare(self) -> None:
        """Make what belongs to this process and cannot be pickled."""
        self._lock = threading.Lock()
        self._inherited: list[sqlite3.Connection] = []
        self._used: dict[bytes, int] = {}
        self._forget_connection()

    def _forget_connection(self) -> None:
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Give this process's connection to one thread at a time; name the file in errors."""
        with self._lock:
            try:
                yield self._connected()
            except sqlite3.DatabaseError as error:
                msg = (
                    f"the verdict cache {self.path} cannot be used: {error}. If it is damaged, "
                    "delete it: it holds nothing that cannot be judged again."
                )
                raise VerdictCacheError(msg) from error

    def _connected(self) -> sqlite3.Connection:
        if self._connection is not None and self._process != os.getpid():
            # A fork must not use its parent's connection, nor close it: that drops the locks.
            self._inherited.append(self._connection)
            self._forget_connection()
        if self._connection is None:
            connection = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                self._check(connection)
                _switch_to_wal(connection)
                _create(connection)
            except BaseException:
                connection.close()
                raise
            self._connection, self._process = connection, os.getpid()
        return self._connection

    def _check(self, connection: sqlite3.Connection) -> None:
        """Refuse a file of another program, before anything is written to it."""
        found = _application(connection)
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if found != _APPLICATION_ID and (found or tables):
            msg = (
                f"the verdict cache {self.path} cannot be used: it is an SQLite file of another "
                f"program (application_id {found:#x}, {tables} tables and indexes)."
            )
            raise VerdictCacheError(msg)

    def _save_uses(self, connection: sqlite3.Connection) -> None:
        connection.executemany(
            "UPDATE verdicts SET used = ? WHERE key = ?",
            [(used, key) for key, used in self._used.items()],
        )
        self._used.clear()


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _create(connection: sqlite3.Connection) -> None:
    if _application(connection) == _APPLICATION_ID:
        return
    with _transaction(connection):
        if _application(connection) != _APPLICATION_ID:  # else another process was faster
            for statement in _SCHEMA:
                connection.execute(statement)


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work at once; waits for others that are just switching."""
    connection.execute("PRAGMA synchronous=NORMAL")
    until = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:  # this one statement does not wait for locks by itself
            if time.monotonic() >= until:
                raise
            time.sleep(0.02)
        else:
            return


def _application(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA application_id").fetchone()[0])


def _size(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT verdicts FROM size").fetchone()[0])
