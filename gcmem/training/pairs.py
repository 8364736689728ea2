"""Labelled pairs of statements: what the conflict model is trained on and measured with."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from gcmem.rows import read_rows

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


def read_pairs(path: str | Path) -> list[LabelledPair]:
    """Read labelled pairs from JSON Lines (``.jsonl``) or CSV (``.csv``).

    Columns ``older``, ``newer`` and ``label`` are required; ``kind``, ``attribute_id``, ``query``,
    ``split`` and ``weight`` are optional.

    Raises:
        RowError: Rows are bad; file and line numbers are in the message.
        FileNotFoundError: The file does not exist.
    """
    stem = Path(path).stem
    return read_rows(path, lambda row, line: _pair(row, f"{stem}:{line}"))


def write_pairs(pairs: Iterable[LabelledPair], path: str | Path) -> None:
    """Write labelled pairs as JSON Lines, in the form that `read_pairs` reads."""
    with Path(path).open("w", encoding="utf-8") as out:
        for pair in pairs:
            row = {name: getattr(pair, name) for name in LabelledPair.__slots__}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _pair(row: Mapping[str, Any], attribute_id: str) -> LabelledPair:
    unknown = sorted(set(row) - set(LabelledPair.__slots__))
    if unknown:
        msg = (
            f"unknown column(s) {', '.join(unknown)}; "
            f"allowed are {', '.join(LabelledPair.__slots__)}."
        )
        raise ValueError(msg)
    for name in ("older", "newer"):
        value = row.get(name)
        if not isinstance(value, str) or not value.strip():
            msg = f"{name} must be a text that is not empty, got {value!r}."
            raise ValueError(msg)
    return LabelledPair(
        older=row["older"],
        newer=row["newer"],
        label=cast("Label", _one_of("label", row.get("label"), LABELS)),
        kind=str(row.get("kind") or "unspecified"),
        attribute_id=str(row.get("attribute_id") or attribute_id),
        query=str(row.get("query") or ""),
        split=cast("Split", _one_of("split", row.get("split", "train"), SPLITS)),
        weight=_weight(row.get("weight", 1.0)),
    )


def _one_of(name: str, value: object, allowed: Sequence[str]) -> str:
    if value not in allowed:
        msg = f"{name} must be one of {', '.join(allowed)}, got {value!r}."
        raise ValueError(msg)
    return str(value)


def _weight(value: Any) -> float:
    try:
        weight = float(value)
    except (TypeError, ValueError):
        weight = math.nan
    if not 0.0 < weight < math.inf:
        msg = f"weight must be a positive number, got {value!r}."
        raise ValueError(msg)
    return weight
