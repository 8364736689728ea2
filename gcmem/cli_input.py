"""What the command line reads: files of memories and of labelled pairs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gcmem.detectors.calibration import read_label
from gcmem.memory import Memory
from gcmem.rows import read_rows

__all__ = ["PairRow", "read_memories", "read_pair_rows"]

_MEMORY_FIELDS: Final = (
    "text",
    "id",
    "scope",
    "relevance",
    "key",
    "value",
    "supersedes",
    "valid_from",
    "valid_until",
    "authority",
    "source",
    "metadata",
)
_PAIR_FIELDS: Final = (
    "older",
    "newer",
    "label",
    "kind",
    "attribute_id",
    "query",
    "split",
    "weight",
)
_SPLITS: Final = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class PairRow:
    """One labelled pair of a file.

    Attributes:
        older: The statement that was recorded first.
        newer: The statement that was recorded later.
        conflict: Whether the newer one makes the older one untrue.
        label: The label as it was written.
        kind: What sort of pair it is; results are reported by it.
        group: Pairs of one group stay together where the pairs are divided.
        split: "train", "dev" or "test", or "" where the file does not say.
        query: A question that the statements may answer, or "".
        weight: Relative weight in a training.
    """

    older: str
    newer: str
    conflict: bool
    label: str
    kind: str
    group: str
    split: str
    query: str
    weight: float


def read_memories(path: str | Path, *, timestamp_field: str = "timestamp") -> list[Memory]:
    """Read memories from JSON Lines or CSV.

    Args:
        path: The file; a row has "text", the time, and any other field of `Memory`.
        timestamp_field: The field that holds the time.

    Raises:
        RowError: A row is bad; the message names file and lines.
        FileNotFoundError: There is no such file.
    """

    def read(row: Mapping[str, Any], line: int) -> Memory:
        _check_fields(row, (*_MEMORY_FIELDS, timestamp_field))
        if not isinstance(row.get("text"), str) or not row["text"].strip():
            msg = f"text must be a text that is not empty, got {row.get('text')!r}."
            raise ValueError(msg)
        given = {name: row[name] for name in _MEMORY_FIELDS if row.get(name) is not None}
        given.setdefault("id", f"line {line}")
        if isinstance(given.get("supersedes"), str):
            given["supersedes"] = [link.strip() for link in given["supersedes"].split(",")]
        for name in ("authority", "relevance"):
            if isinstance(given.get(name), str):
                given[name] = _number(name, given[name])
        if isinstance(given.get("metadata"), str):
            given["metadata"] = _json(given["metadata"])
        return Memory(timestamp=row.get(timestamp_field), **given)

    return read_rows(path, read)


def read_pair_rows(path: str | Path) -> list[PairRow]:
    """Read labelled pairs from JSON Lines or CSV.

    Needed are "older", "newer" and "label" (see `read_label`); "kind", "attribute_id", "query",
    "split" and "weight" may be there as well.

    Raises:
        RowError: A row is bad; the message names file and lines.
        FileNotFoundError: There is no such file.
    """

    def read(row: Mapping[str, Any], line: int) -> PairRow:
        _check_fields(row, _PAIR_FIELDS)
        for name in ("older", "newer"):
            if not isinstance(row.get(name), str) or not row[name].strip():
                msg = f"{name} must be a text that is not empty, got {row.get(name)!r}."
                raise ValueError(msg)
        split = str(row.get("split") or "")
        if split and split not in _SPLITS:
            msg = f"split must be one of {list(_SPLITS)}, got {split!r}."
            raise ValueError(msg)
        weight = 1.0 if row.get("weight") is None else _number("weight", row["weight"])
        if not 0 < weight < float("inf"):
            msg = f"weight must be above 0 and finite, got {row['weight']!r}."
            raise ValueError(msg)
        return PairRow(
            older=row["older"],
            newer=row["newer"],
            conflict=read_label(row.get("label")),
            label=str(row["label"]).strip().casefold(),
            kind=str(row.get("kind") or "unspecified"),
            group=str(row.get("attribute_id") or f"line {line}"),
            split=split,
            query=str(row.get("query") or ""),
            weight=weight,
        )

    return read_rows(path, read)


def _number(name: str, given: object) -> float:
    try:
        return float(given)  # type: ignore[arg-type]  # what is no number is the error below
    except (TypeError, ValueError) as error:
        msg = f"{name} must be a number, got {given!r}."
        raise ValueError(msg) from error


def _json(given: str) -> Any:
    try:
        return json.loads(given)
    except json.JSONDecodeError as error:
        msg = f"metadata must be a JSON object, got {given!r} ({error.msg})."
        raise ValueError(msg) from error


def _check_fields(row: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    unknown = sorted(set(row) - set(allowed))
    if unknown:
        msg = f"unknown field(s) {', '.join(unknown)}; allowed are {', '.join(allowed)}."
        raise ValueError(msg)
