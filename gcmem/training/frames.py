"""Frames: hand-written wordings and values of one attribute, from which pairs are made.

A row of ``corpus/frames/frames-*.jsonl`` describes one attribute of a kind of entity: wordings
(``statements``, ``updates``, ``ended``, ``history``, ``nonfactual``, ``qualified``) with the
placeholders ``{e}`` (the entity), ``{k}`` (the entity as a config key), ``{v}`` (the value) and, in
updates, ``{old}`` (the value before); ``values``, each one text or a list of texts that mean the
same; and ``similar_attribute``, wordings of another attribute in nearly the same words, with
``{w}`` for its values. ``corpus/frames/entities.json`` has the names per kind of entity.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

from gcmem.training.pairs import SPLITS, Split

FRAMES_FOLDER = Path(__file__).parent / "corpus" / "frames"

Voice = Literal["named", "first", "bare"]
"""Whose statement it is: of a named entity, of the speaker, or left to the context."""

_WORDINGS = ("statements", "updates", "ended", "history", "nonfactual", "qualified")
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|we|us|our)\b|\bI'", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{(\w*)\}")


class FrameError(ValueError):
    """A row of the frames cannot be used; the message names the file, the row and the field."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The wordings and values of one attribute.

    Attributes:
        id: Unique name of the row; the ``attribute_id`` of its pairs.
        domain: The field of life that it is from.
        attribute: What the attribute is called.
        entity_kind: The key into the entity names.
        cardinality: ``single`` if a further value replaces the one before, ``multi`` if it adds.
        value_kind: What sort of value it has (number, place, ...).
        split: ``train``, ``dev`` or ``test``, fixed in the file.
        statements: Plain wordings.
        updates: Wordings that announce a value, with or without the one before.
        ended: Wordings that take a value back and give no other.
        history: Wordings about the past.
        nonfactual: Plans, questions, guesses, quotations.
        qualified: Wordings that hold in another context only.
        values: For each value the texts that mean it.
        similar_attribute: Two wordings of another attribute.
        similar_values: Values of that other attribute.
    """

    id: str
    domain: str
    attribute: str
    entity_kind: str
    cardinality: Literal["single", "multi"]
    value_kind: str
    split: Split
    statements: tuple[str, ...]
    updates: tuple[str, ...]
    ended: tuple[str, ...]
    history: tuple[str, ...]
    nonfactual: tuple[str, ...]
    qualified: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    similar_attribute: tuple[str, ...]
    similar_values: tuple[str, ...]


def voice_of(wording: str) -> Voice:
    """Tell whose statement a wording makes."""
    if "{e}" in wording or "{k}" in wording:
        return "named"
    return "first" if _FIRST_PERSON.search(wording) else "bare"


def fill(wording: str, *, entity: str, value: str, old: str = "") -> str:
    """Put an entity and values into a wording."""
    parts = {"e": entity, "k": _config_key(entity), "v": value, "w": value, "old": old}
    text = _PLACEHOLDER.sub(lambda match: parts[match[1]], wording)
    sentence = wording[-1] in ".!?" and text[0].islower()
    starts_with_article = text.startswith(("the ", "a ", "an "))
    return text[0].upper() + text[1:] if sentence and starts_with_article else text


@cache
def load_frames(folder: Path = FRAMES_FOLDER) -> tuple[Frame, ...]:
    """Read all frames of a folder.

    Raises:
        FrameError: A row is malformed or an id occurs twice.
    """
    frames: dict[str, Frame] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            frame = _read_frame(json.loads(line), f"{path.name}, line {number}")
            if frame.id in frames:
                message = f"{path.name}, line {number}: id {frame.id!r} occurs twice"
                raise FrameError(message)
            frames[frame.id] = frame
    if not frames:
        message = f"{folder}: holds no frames"
        raise FrameError(message)
    return tuple(frames.values())


@cache
def load_entities(folder: Path = FRAMES_FOLDER) -> Mapping[str, tuple[str, ...]]:
    """Read the entity names, by kind."""
    kinds = json.loads((folder / "entities.json").read_text(encoding="utf-8"))
    return {kind: tuple(names) for kind, names in kinds.items()}


def _read_frame(row: Mapping[str, Any], where: str) -> Frame:
    fields = set(Frame.__slots__)
    if set(row) != fields:
        message = f"{where}: fields missing or unknown: {sorted(set(row) ^ fields)}"
        raise FrameError(message)
    if row["cardinality"] not in ("single", "multi"):
        message = f"{where}: cardinality is {row['cardinality']!r}, not single or multi"
        raise FrameError(message)
    if row["split"] not in SPLITS:
        message = f"{where}: split is {row['split']!r}, allowed are {', '.join(SPLITS)}"
        raise FrameError(message)
    for name in _WORDINGS:
        allowed = {"e", "k", "v", "old"} if name == "updates" else {"e", "k", "v"}
        _check_placeholders(row[name], "v", allowed, f"{where}, {name}")
    _check_placeholders(row["similar_attribute"], "w", {"e", "k", "w"}, f"{where}, similar")
    values = tuple((v,) if isinstance(v, str) else tuple(v) for v in row["values"])
    forms = [form.lower() for value in values for form in value]
    if len(set(forms)) != len(forms):
        message = f"{where}: a text occurs twice in values"
        raise FrameError(message)
    lists = {name: tuple(row[name]) for name in (*_WORDINGS, "similar_attribute", "similar_values")}
    return Frame(**cast("Any", {**row, **lists, "values": values}))


def _check_placeholders(
    wordings: Iterable[str], needed: str, allowed: set[str], where: str
) -> None:
    for wording in wordings:
        used = set(_PLACEHOLDER.findall(wording))
        if needed not in used or not used <= allowed:
            message = f"{where}: {wording!r} needs {{{needed}}} and may use {allowed}"
            raise FrameError(message)


def _config_key(entity: str) -> str:
    return re.sub(r"\W+", "_", entity.lower().removeprefix("the ")).strip("_")
