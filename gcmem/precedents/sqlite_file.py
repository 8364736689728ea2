"""Creates and checks the SQLite file of a ledger, so that damage never reads as emptiness."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import NullPool

from gcmem.precedents import upgrading
from gcmem.precedents.errors import LedgerFileError

__all__ = ["check_content", "check_header", "create_file", "set_pragmas"]

_MAGIC: Final = b"SQLite format 3\x00"
_ID_AT: Final = 68
_HEADER: Final = 100
BUSY_MILLISECONDS: Final = 20_000


def set_pragmas(connection: sqlite3.Connection) -> None:
    """Set what every connection needs.

    synchronous=FULL: the WAL is synced to the disk before a commit returns, so what `observe`
    acknowledged survives not only a kill -9 (for which NORMAL would do) but a power cut as well.
    secure_delete: what a purge removes is overwritten with zeros.
    """
    connection.isolation_level = None  # transactions are begun explicitly
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA secure_delete=ON")
    cursor.close()


def create_file(path: Path) -> None:
    """Create the file of an empty ledger in one step, unless another process was faster.

    It is built under another name beside its place and then linked there, so a process killed
    half-way leaves no torn file, and no reader ever meets an empty one.

    Raises:
        LedgerFileError: The folder is missing or cannot be written.
    """
    if not path.parent.is_dir():
        raise LedgerFileError(str(path), f"the folder {path.parent} does not exist.")
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
            built = Path(folder) / "ledger.db"
            _build(built)
            with contextlib.suppress(FileExistsError):  # another process made the same ledger
                _place(built, path)
    except OSError as error:
        raise LedgerFileError(str(path), f"it cannot be created: {error}") from error


def _build(path: Path) -> None:
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA journal_mode=WAL")
        connection.exec_driver_sql(f"PRAGMA application_id={upgrading.APPLICATION_ID}")
        upgrading.create(connection, empty=True)
        connection.commit()
    engine.dispose()
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _place(built: Path, path: Path) -> None:
    if os.name == "nt":
        built.rename(path)  # refuses to replace a file there
        return
    os.link(built, path)
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_header(path: Path) -> None:
    """Check that the file is an SQLite file and a ledger, before SQLite touches it.

    Raises:
        LedgerFileError: It is empty, truncated, or somebody else's.
    """
    name = str(path)
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except OSError as error:
        raise LedgerFileError(name, f"it cannot be read: {error}") from error
    if not header:
        empty = "it is empty (0 bytes), which a ledger never is; restore it or choose another name."
        raise LedgerFileError(name, empty)
    if not header.startswith(_MAGIC[: len(header)]):
        raise LedgerFileError(name, "it is no SQLite file, so it is no ledger.")
    if len(header) < _HEADER:
        raise LedgerFileError(name, f"it is truncated: {len(header)} bytes.")
    found = int.from_bytes(header[_ID_AT : _ID_AT + 4], "big")
    if found != upgrading.APPLICATION_ID:
        foreign = f"it is an SQLite file of another program (application_id {found:#x})."
        raise LedgerFileError(name, foreign)


def check_content(connection: Connection, path: Path) -> None:
    """Let SQLite read the whole file and say what is damaged.

    The connection must hold the write lock, so that the file does not grow meanwhile.

    Raises:
        LedgerFileError: A page is missing or malformed.
    """
    found = connection.exec_driver_sql("PRAGMA quick_check(3)").scalars().all()
    if found != ["ok"]:
        raise LedgerFileError(str(path), f"it is damaged: {'; '.join(map(str, found))}")
    _check_length(connection, path)
    mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
    if mode != "wal":
        raise LedgerFileError(str(path), f"its journal mode is {mode!r}; a ledger's is 'wal'.")


def _check_length(connection: Connection, path: Path) -> None:
    """Compare the length with the header: SQLite reads a last page that is cut as zeros."""
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        return  # what the file lacks may still be in the write-ahead log
    pages = int(connection.exec_driver_sql("PRAGMA page_count").scalar_one())
    expected = pages * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())
    found = path.stat().st_size
    if found < expected:
        raise LedgerFileError(str(path), f"it is truncated: {found} of {expected} bytes.")
