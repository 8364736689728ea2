"""Labelled pairs of statements: what the conflict model is trained on and measured with."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

Label = Literal["supersedes", "supports", "neither"]
Split = Literal["train", "dev", "test"]
LABELS: tuple[Label, ...] = get_args(Label)
SPLITS: tuple[Split, ...] = get_args(Split)


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One older and one newer statement, and what the newer one does to the older one.

    Attributes:
        older: The statement recorded first.
        newer: The statement recorded later.
        label: ``supersedes`` if the newer one makes the older one no longer true, ``supports`` if
            it restates it or adds detail, ``neither`` otherwise.
        kind: Why the label holds (``number``, ``other_entity``, ...); results are told per kind.
        attribute_id: The family or group that the pair was made from; the unit of the split.
        query: A question that both statements may answer, or "".
        split: ``train``, ``dev`` or ``test``.
        weight: Relative weight in the training loss.
    """

    older: str
    newer: str
    label: Label
    kind: str
    attribute_id: str
    query: str = ""
    split: Split = "train"
    weight: float = 1.0


class PairFormatError(ValueError):
    """A row of a file of labelled pairs cannot be read; the message names file and line."""


def read_pairs(path: str | Path) -> list[LabelledPair]:
    """Read labelled pairs from JSON Lines (``.jsonl``) or CSV (``.csv``).

    Columns ``older``, ``newer`` and ``label`` are required; ``kind``, ``attribute_id``, ``query``,
    ``split`` and ``weight`` are optional.

    Raises:
        PairFormatError: A row or the header is wrong; file and line number are in the message.
        FileNotFoundError: The file does not exist.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".csv":
        pairs = [_pair(row, path, line) for line, row in _csv_rows(path)]
    elif suffix in {".jsonl", ".ndjson"}:
        pairs = [_pair(row, path, line) for line, row in _json_rows(path)]
    else:
        msg = f"{path}: unknown file type {suffix!r}; allowed are .jsonl, .ndjson and .csv"
        raise PairFormatError(msg)
    if not pairs:
        msg = f"{path}: holds no pairs"
        raise PairFormatError(msg)
    return pairs


def write_pairs(pairs: Iterable[LabelledPair], path: str | Path) -> None:
    """Write labelled pairs as JSON Lines, in the form that `read_pairs` reads."""
    with Path(path).open("w", encoding="utf-8") as out:
        for pair in pairs:
            row = {name: getattr(pair, name) for name in LabelledPair.__slots__}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _csv_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with path.open(encoding="utf-8-sig", newline="") as source:
        reader = csv.DictReader(source)
        header = reader.fieldnames or []
        missing = [name for name in ("older", "newer", "label") if name not in header]
        if missing:
            msg = f"{path}, line 1: column(s) {', '.join(missing)} missing; the header is {header}"
            raise PairFormatError(msg)
        for row in reader:
            if None in row:
                msg = f"{path}, line {reader.line_num}: more fields than columns"
                raise PairFormatError(msg)
            yield reader.line_num, {key: value for key, value in row.items() if value is not None}


def _json_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with path.open(encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                msg = f"{path}, line {number}: not JSON: {error}"
                raise PairFormatError(msg) from error
            if not isinstance(row, dict):
                msg = f"{path}, line {number}: not a JSON object"
                raise PairFormatError(msg)
            yield number, row


def _pair(row: Mapping[str, Any], path: Path, line: int) -> LabelledPair:
    where = f"{path}, line {line}"
    unknown = sorted(set(row) - set(LabelledPair.__slots__))
    if unknown:
        msg = (
            f"{where}: unknown column(s) {', '.join(unknown)}; "
            f"allowed are {', '.join(LabelledPair.__slots__)}"
        )
        raise PairFormatError(msg)
    for name in ("older", "newer"):
        value = row.get(name)
        if not isinstance(value, str) or not value.strip():
            msg = f"{where}: {name} must be a non-empty text, got {value!r}"
            raise PairFormatError(msg)
    label = row.get("label")
    if label not in LABELS:
        msg = f"{where}: label {label!r} is none of {', '.join(LABELS)}"
        raise PairFormatError(msg)
    split = row.get("split") or "train"
    if split not in SPLITS:
        msg = f"{where}: split {split!r} is none of {', '.join(SPLITS)}"
        raise PairFormatError(msg)
    try:
        weight = float(row.get("weight") or 1.0)
    except (TypeError, ValueError) as error:
        msg = f"{where}: weight {row['weight']!r} is not a number"
        raise PairFormatError(msg) from error
    if not 0.0 < weight < float("inf"):
        msg = f"{where}: weight must be positive and finite, got {weight}"
        raise PairFormatError(msg)
    return LabelledPair(
        older=row["older"],
        newer=row["newer"],
        label=cast("Label", label),
        kind=str(row.get("kind") or "unspecified"),
        attribute_id=str(row.get("attribute_id") or f"{path.stem}:{line}"),
        query=str(row.get("query") or ""),
        split=cast("Split", split),
        weight=weight,
    )
