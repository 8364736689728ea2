"""Where the corpus lies, and how its files are read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gcmem.training.pairs import SPLITS, Split

CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True, slots=True)
class Family:
    """One attribute of one entity: statements for each of its states and around them.

    `labels` maps a state's letter to its label, `states` to its (explicit, inferred) statements;
    `transitions` maps ("A", "B") to statements that announce the change.
    """

    id: str
    domain: str
    entity: str
    attribute: str
    multi: bool
    query: str
    split: Split
    labels: Mapping[str, str]
    states: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    transitions: Mapping[tuple[str, str], tuple[str, ...]]
    compatible: tuple[str, ...]
    past: tuple[str, ...]
    other_entity: tuple[str, ...]
    nonfactual: tuple[str, ...]
    same: tuple[tuple[str, str], ...]

    def statements(self) -> list[str]:
        """All statements of the family that are about its entity now, in every state."""
        found = [text for state in self.states.values() for part in state for text in part]
        found += [text for texts in self.transitions.values() for text in texts]
        return found + list(self.compatible)

    def all_texts(self) -> list[str]:
        """Every statement of the family."""
        around = [*self.past, *self.other_entity, *self.nonfactual]
        return self.statements() + around + [text for pair in self.same for text in pair]


@dataclass(frozen=True, slots=True)
class Group:
    """One older statement with newer ones of several kinds; `newer` is (text, label, kind)."""

    id: str
    domain: str
    attribute: str
    query: str
    older: str
    newer: tuple[tuple[str, str, str], ...]
    split: Split


def read_families(corpus: Path = CORPUS) -> list[Family]:
    """All families of the corpus, in the order of their files."""
    return [
        _family(row)
        for path in sorted((corpus / "families").glob("*.jsonl"))
        for row in _rows(path)
    ]


def read_groups(corpus: Path = CORPUS) -> list[Group]:
    """All groups of explicit pairs, with the split that ``pairs/splits.json`` gives them."""
    listed = corpus / "pairs" / "splits.json"
    splits = json.loads(listed.read_text(encoding="utf-8")) if listed.exists() else {}
    groups = []
    for path in sorted((corpus / "pairs").glob("*/part-*.jsonl")):
        for row in _rows(path):
            split = splits.get(row["id"]) or assigned_split(row["id"])
            if split not in SPLITS:
                msg = f"pairs/splits.json: {row['id']}: unknown split {split!r}"
                raise ValueError(msg)
            newer = tuple((item["text"], item["label"], item["kind"]) for item in row["newer"])
            groups.append(
                Group(
                    row["id"],
                    row["domain"],
                    row["attribute"],
                    row["query"],
                    row["older"],
                    newer,
                    split,
                )
            )
    return groups


def assigned_split(key: str) -> Split:
    """The split of a group that no file lists: eight of ten train, one dev, one test, by hash."""
    number = int(hashlib.sha256(key.encode()).hexdigest(), 16) % 1000
    return "train" if number < 800 else "dev" if number < 900 else "test"


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError as error:
                msg = f"{path}, line {number}: not JSON: {error}"
                raise ValueError(msg) from error
    return rows


def _family(row: Mapping[str, Any]) -> Family:
    states = {
        name: (tuple(state["explicit"]), tuple(state["inferred"]))
        for name, state in row["states"].items()
    }
    transitions = {(name[0], name[2]): tuple(texts) for name, texts in row["transitions"].items()}
    return Family(
        id=row["id"],
        domain=row["domain"],
        entity=row["entity"],
        attribute=row["attribute"],
        multi=row["cardinality"] == "multi",
        query=row["query"],
        split=row["split"],
        labels={name: state["label"] for name, state in row["states"].items()},
        states=states,
        transitions=transitions,
        compatible=tuple(row["compatible"]),
        past=tuple(row["past"]),
        other_entity=tuple(row["other_entity"]),
        nonfactual=tuple(row["nonfactual"]),
        same=tuple((first, second) for first, second in row["same"]),
    )
