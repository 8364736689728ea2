"""What `SlotAnnotator` asks a model about memories, and how its answer is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from gcmem.detectors.asking import Reading
from gcmem.detectors.chat import Prompt, Reply
from gcmem.detectors.explicit import NAMED_BY_MODEL, SLOT_SOURCE, normalise
from gcmem.detectors.quoting import DATA_RULE, as_number, json_answers, quoted
from gcmem.memory import Memory, Scope

__all__ = ["Slot", "SlotTask", "Vocabulary"]

Vocabulary: TypeAlias = Mapping[str, Sequence[str]]
"""Slot names ("entity/attribute"), oldest first, with the newest values of each."""

_SYSTEM: Final = f"""\
You index the memory of an assistant. You get numbered statements. For each one, name the slot \
that it fills: "entity" (whose property it is), "attribute" (which property), "value" (what it now \
is, in few words), and "cardinality": "single" if the entity has one such value at a time, so that \
a new one replaces the old ("home city", "owner", "port"), or "multi" if values add up ("speaks", \
"likes", "visited").

Give "slot": null instead if the statement holds more than one fact, or none that is true from now \
on: a past state, a single event, a plan, a wish, a possibility, a question, or what somebody else \
said. A change ("moved from Ulm to Kiel") fills the slot with its new value. Something that ended \
without a new value has the value "none".

Names are general and short. Reuse a name or a value from "known_slots", exactly as it is \
written there, whenever it means the same; make a new one only if none fits.

{DATA_RULE}

Reply with JSON alone, one entry for every statement:
{{"slots": [{{"statement": 1, "entity": "user", "attribute": "home city", "value": "Kiel", \
"cardinality": "single"}}, {{"statement": 2, "slot": null}}]}}"""

_WORD: Final = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True)
class Slot:
    """What a memory is about.

    Attributes:
        entity: Whose property it is, normalised.
        attribute: Which property, normalised.
        value: What it is, normalised.
        cardinality: "single" if a new value replaces the old one, "multi" if values add up.
    """

    entity: str
    attribute: str
    value: str
    cardinality: Literal["single", "multi"]

    @property
    def key(self) -> str:
        """The name of the slot, "entity/attribute"."""
        return f"{self.entity}/{self.attribute}"

    @property
    def metadata(self) -> dict[str, str]:
        """What to store with the memory, for `Memory` and both adapters to read.

        A single-valued slot has "key" and "value", which the explicit rules compare, and
        "slot_source", which tells them that a model named it: two names then need not be two slots
        ("home city", "residence"), and the detector judges such pairs. A multi-valued one has
        "slot" and "value", which the rules do not compare: its values never replace each other,
        and other detectors still judge it.
        """
        if self.cardinality == "multi":
            return {"slot": self.key, "value": self.value}
        return {"key": self.key, "value": self.value, SLOT_SOURCE: NAMED_BY_MODEL}


@dataclass(frozen=True)
class SlotTask:
    """Memories, numbered from 1, whose slots a model is asked for.

    Attributes:
        memories: The memories.
        known: The vocabulary of each scope.
        names_shown: How many known names are shown.
    """

    memories: Sequence[Memory]
    known: Mapping[Scope, Vocabulary]
    names_shown: int

    def prompt(self, numbers: Sequence[int], note: str) -> Prompt:
        """Ask about these memories; the note says what was wrong with an earlier answer."""
        asked = {number: self.memories[number - 1] for number in numbers}
        names = self.known.get(asked[numbers[0]].scope, {})
        items: list[dict[str, Any]] = [
            {"known_slots": _nearest(names, asked.values(), self.names_shown)}
        ]
        items += [{"statement": number, "text": memory.text} for number, memory in asked.items()]
        task = f"{quoted(items)}\n\nGive the slots of statements {', '.join(map(str, numbers))}."
        if note:
            task += f" An earlier answer could not be used in full: {note}."
        return Prompt(_SYSTEM, task)

    def read(self, reply: Reply, numbers: Sequence[int]) -> Reading[Slot | None]:
        """Read slots by number; a memory with contradictory answers has none."""
        entries = json_answers(reply.text, "slots")
        if entries is None:
            return Reading({}, problem='it was not JSON with a list under "slots"')
        answers: dict[int, Slot | None] = {}
        invented: list[object] = []
        refused: set[int] = set()
        for entry in entries:
            number = as_number(entry.get("statement"))
            if number not in numbers:
                invented.append(entry.get("statement"))
                continue
            usable, slot = _read_slot(entry)
            if not usable or answers.get(number, slot) != slot:
                refused.add(number)
            answers[number] = slot
        usable_answers = {n: slot for n, slot in answers.items() if n not in refused}
        missing = [n for n in numbers if n not in usable_answers]
        problem = (
            'no single entry with "entity", "attribute", "value" and "cardinality", or with '
            f'"slot": null, for statements {", ".join(map(str, missing))}'
        )
        return Reading(usable_answers, invented, problem if missing else "")


def _nearest(
    names: Vocabulary, memories: Iterable[Memory], number: int
) -> list[dict[str, str | list[str]]]:
    """The known names that share most words with the memories, then the newest ones."""
    words = {word for memory in memories for word in _WORD.findall(normalise(memory.text))}

    def nearness(position_and_key: tuple[int, str]) -> tuple[int, int]:
        position, key = position_and_key
        own = _WORD.findall(" ".join((key, *names[key])))
        return len(words.intersection(own)), position

    ranked = sorted(enumerate(names), key=nearness, reverse=True)[:number]
    shown: list[dict[str, str | list[str]]] = []
    for _, key in ranked:
        entity, _, attribute = key.partition("/")
        shown.append({"entity": entity, "attribute": attribute, "values": list(names[key])})
    return shown


def _read_slot(entry: Mapping[str, Any]) -> tuple[bool, Slot | None]:
    """Whether an entry is usable, and the slot that it names, if any."""
    if "slot" in entry and entry["slot"] is None:
        return True, None
    parts = [entry.get(name) for name in ("entity", "attribute", "value")]
    texts = [
        normalise(str(part))
        for part in parts
        if isinstance(part, str | int | float) and not isinstance(part, bool)
    ]
    cardinality = entry.get("cardinality")
    if len(texts) != len(parts) or not all(texts) or cardinality not in {"single", "multi"}:
        return False, None
    entity, attribute, value = texts
    return True, Slot(entity.replace("/", " "), attribute, value, cardinality)
