"""Reads rows from JSON Lines and CSV files, and says for every bad row where it stands and why."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

__all__ = ["RowError", "read_rows"]

T = TypeVar("T")

_JSON_LINES: Final = frozenset({".jsonl", ".ndjson"})
_SHOWN: Final = 10


class RowError(ValueError):
    """A file of rows cannot be read; the message names the file and the lines."""


def read_rows(path: str | Path, read: Callable[[Mapping[str, Any], int], T]) -> list[T]:
    """Read every row of a file, and report all bad ones at once.

    Args:
        path: A file in JSON Lines (``.jsonl``, ``.ndjson``: one object a line) or CSV (``.csv``:
            a header, then rows; empty cells are left out).
        read: Makes a row of its fields and its line number; raises TypeError or ValueError where
            they are wrong.

    Returns:
        What `read` made, in the order of the file.

    Raises:
        RowError: The file is of another type, is not UTF-8 or holds no rows, or rows are bad: one
            line of the message for each, up to ten.
        FileNotFoundError: There is no such file.
    """
    path = Path(path)
    if not path.is_file():
        msg = f"there is no file {str(path)!r}."
        raise FileNotFoundError(msg)
    suffix = path.suffix.lower()
    if suffix != ".csv" and suffix not in _JSON_LINES:
        msg = f"{path}: the name must end in .jsonl, .ndjson or .csv, got {suffix!r}."
        raise RowError(msg)
    rows: list[T] = []
    bad: list[str] = []
    try:
        for line, fields in _csv_rows(path) if suffix == ".csv" else _json_rows(path):
            try:
                if isinstance(fields, str):
                    raise ValueError(fields)  # noqa: TRY004, TRY301  (what the reader found)
                rows.append(read(fields, line))
            except (TypeError, ValueError) as error:
                bad.append(f"{path}, line {line}: {error}")
    except UnicodeDecodeError as error:
        msg = f"{path} is not UTF-8 text: {error}."
        raise RowError(msg) from error
    if bad:
        more = [f"and {len(bad) - _SHOWN} more bad rows"] if len(bad) > _SHOWN else []
        raise RowError("\n".join([*bad[:_SHOWN], *more]))
    if not rows:
        msg = f"{path} holds no rows."
        raise RowError(msg)
    return rows


def _json_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except json.JSONDecodeError as error:
                yield number, f"this is not JSON ({error.msg} at column {error.colno})."
                continue
            yield number, found if isinstance(found, dict) else "this is not a JSON object."


def _csv_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        for row in reader:
            if None in row:
                yield reader.line_num, "there are more fields than the header has columns."
                continue
            yield reader.line_num, {key: value for key, value in row.items() if value}
