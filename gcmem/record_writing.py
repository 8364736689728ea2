"""Writes records to a store in batches: resumable, all or none of a batch, with progress."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from gcmem.ingestion import Record

__all__ = ["IngestionError", "RecordStore", "WriteReport", "write_records"]

_LOG: Final = logging.getLogger("gcmem")


class RecordStore(Protocol):
    """Where records go. `langchain_gcmem.ingestion` and `llamaindex_gcmem.ingestion` have one."""

    def add(self, records: Sequence[Record]) -> None:
        """Store records."""
        ...

    def present(self, ids: Sequence[str]) -> set[str] | None:
        """Tell which of the ids are stored; None if the store cannot tell."""
        ...

    def remove(self, ids: Sequence[str]) -> None:
        """Take back records of a batch that failed half-way."""
        ...


@dataclass(frozen=True, slots=True)
class WriteReport:
    """What was written.

    Attributes:
        written: Ids that were written, in order.
        skipped: Ids that were there before.
    """

    written: list[str]
    skipped: list[str]


class IngestionError(RuntimeError):
    """A batch could not be written; the error of the store is its ``__cause__``.

    Attributes:
        written: Ids that were written before the failure, and stay.
        failed: Ids of the batch that failed.
        taken_back: Whether nothing of that batch is left in the store.
    """

    def __init__(
        self, cause: Exception, written: Sequence[str], failed: Sequence[str], *, taken_back: bool
    ) -> None:
        self.written = list(written)
        self.failed = list(failed)
        self.taken_back = taken_back
        left = (
            "nothing of it is left in the store"
            if taken_back
            else "parts of it may be in the store, which could not take them back"
        )
        super().__init__(
            f"{type(cause).__name__}: {cause} -- {len(self.written)} records were written before; "
            f"the batch of {len(self.failed)} that failed begins with id {self.failed[0]!r}, and "
            f"{left}. Call again with the same records to go on."
        )


def write_records(
    records: Iterable[Record],
    store: RecordStore,
    *,
    batch_size: int = 64,
    progress_file: str | Path | None = None,
    progress: bool = False,
) -> WriteReport:
    """Write the records that the store does not hold yet.

    Args:
        records: What to write.
        store: Where to.
        batch_size: How many records to write at once.
        progress_file: Where to note what was written, for a store that cannot tell.
        progress: Whether to show a progress bar.

    Raises:
        IngestionError: A batch could not be written. What was written before stays; calling again
            goes on from there.
        ValueError: ``batch_size`` is below 1, or the progress file is damaged.
    """
    if batch_size < 1:
        msg = f"batch_size must be at least 1, got {batch_size!r}."
        raise ValueError(msg)
    every = list({record.id: record for record in records}.values())
    journal = None if progress_file is None else _Journal(Path(progress_file))
    written: list[str] = []
    skipped: list[str] = []
    with _shown(len(every), shown=progress) as advance:
        for begin in range(0, len(every), batch_size):
            batch = every[begin : begin + batch_size]
            known = _known(batch, store, journal)
            missing = [record for record in batch if record.id not in known]
            skipped += [record.id for record in batch if record.id in known]
            if missing:
                ids = [record.id for record in missing]
                _write(missing, ids, store, written)
                written += ids
                if journal is not None:
                    journal.note(ids)
            advance(len(batch))
    return WriteReport(written, skipped)


def _known(batch: Sequence[Record], store: RecordStore, journal: _Journal | None) -> set[str]:
    ids = [record.id for record in batch]
    present = store.present(ids)
    if present is not None:
        return present
    if journal is not None:
        return journal.ids
    _LOG.warning(
        "%s cannot tell which ids it holds and there is no progress_file: every record is written.",
        type(store).__name__,
    )
    return set()


def _write(
    missing: Sequence[Record], ids: Sequence[str], store: RecordStore, written: Sequence[str]
) -> None:
    try:
        store.add(missing)
    except Exception as error:
        try:
            store.remove(ids)
        except Exception:  # noqa: BLE001  (the first error is the one to report)
            _LOG.warning("A batch that failed could not be taken back.", exc_info=True)
            raise IngestionError(error, written, ids, taken_back=False) from error
        raise IngestionError(error, written, ids, taken_back=True) from error


class _Journal:
    """A file with one line of ids per batch that was written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.ids: set[str] = set()
        if not path.exists():
            return
        lines = path.read_text(encoding="utf-8").split("\n")
        torn = lines.pop()  # empty, unless the process was killed while it wrote this line
        for number, line in enumerate(lines, start=1):
            try:
                self.ids.update(json.loads(line)["ids"])
            except (ValueError, KeyError, TypeError) as error:
                msg = f"progress_file {path} is damaged in line {number}: {error}"
                raise ValueError(msg) from error
        if torn:
            os.truncate(path, len("\n".join([*lines, ""]).encode()))

    def note(self, ids: Sequence[str]) -> None:
        """Note ids on the disk before anything else is written."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"ids": list(ids)}) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.ids.update(ids)


@contextmanager
def _shown(total: int, *, shown: bool) -> Iterator[Callable[[int], None]]:
    if not shown:
        yield lambda _: None
        return
    from rich.progress import Progress  # noqa: PLC0415  (only where it is shown)

    with Progress() as bar:
        task = bar.add_task("writing memories", total=total)
        yield lambda done: bar.advance(task, done)
