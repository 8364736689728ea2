"""Slots at write time: a model names what each memory is about once, instead of judging pairs."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from gcmem.detectors.asking import Asker, Reading, Usage
from gcmem.detectors.chat import Prompt, Reply
from gcmem.detectors.explicit import normalise
from gcmem.detectors.quoting import DATA_RULE, as_number, json_answers, quoted
from gcmem.memory import Memory, Scope, to_scope

__all__ = ["Slot", "SlotAnnotator", "Vocabulary"]

Vocabulary: TypeAlias = Mapping[str, Sequence[str]]
"""Slot names ("entity/attribute"), oldest first, with the newest values of each."""

_VALUES_SHOWN: Final = 5

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

_Steps: TypeAlias = Generator[
    tuple["_SlotTask", list[list[int]]], "dict[int, Slot | None] | None", "list[Slot | None]"
]


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

        A single-valued slot has "key" and "value", which the explicit rules compare. A
        multi-valued one has "slot" and "value", which they do not: its values never replace each
        other, and other detectors still judge it.
        """
        name = "key" if self.cardinality == "single" else "slot"
        return {name: self.key, "value": self.value}


class SlotAnnotator:
    """Asks a model, once per memory, which slot it fills.

    At read time the explicit rules then compare slots, with no model call: the calls grow with
    the number of memories and not with the pairs of every question. A memory that holds several
    facts, or tells of the past, plans or guesses, gets no slot and is left to the detector, so
    that no rule removes what a slot cannot express.

    The names of slots form a vocabulary per scope, which is shown to the model and grows only
    where nothing in it fits; so one preference does not scatter over many keys. Memories of
    different scopes never share a call or a vocabulary.

    Args:
        model: As for `LLMDetector`.
        vocabulary: Known slots by scope, such as an earlier annotator's `vocabulary`.
        memories_per_call: Memories in one call. All that go into one call see the same vocabulary.
        names_per_call: How many known names are shown: those that share words with the memories
            first, then the newest.
        concurrency: Scopes asked about at once. Calls of one scope follow each other, so that each
            knows the names that the one before it made.
        retries: How often a call that failed is repeated; then the error is raised.
        backoff: Seconds before the first repetition; doubled each time.
        max_calls: Calls in the life of this annotator; past it memories get no slot.

    Attributes:
        usage: Calls and tokens so far.

    Raises:
        TypeError: The model is of no known form.
        ValueError: A number is out of range.

    Example:
        >>> def model(prompt):
        ...     return (
        ...         '{"slots": [{"statement": 1, "entity": "Ann", "attribute": "home city",'
        ...         ' "value": "Kiel", "cardinality": "single"}]}'
        ...     )
        >>> SlotAnnotator(model).annotate([Memory("Ann moved to Kiel.", id="a")])[0].key
        'ann/home city'
    """

    def __init__(
        self,
        model: Any,
        *,
        vocabulary: Mapping[Scope, Vocabulary] | None = None,
        memories_per_call: int = 20,
        names_per_call: int = 100,
        concurrency: int = 4,
        retries: int = 2,
        backoff: float = 1.0,
        max_calls: int | None = None,
    ) -> None:
        for name, value in (
            ("memories_per_call", memories_per_call),
            ("names_per_call", names_per_call),
        ):
            if value < 1:
                msg = f"{name} must be at least 1, got {value!r}."
                raise ValueError(msg)
        self.memories_per_call = memories_per_call
        self.names_per_call = names_per_call
        self._asker = Asker(
            model,
            concurrency=concurrency,
            retries=retries,
            backoff=backoff,
            max_calls=max_calls,
            deadline=None,
        )
        self._known: dict[Scope, Vocabulary] = {
            to_scope(scope): {key: tuple(values) for key, values in names.items()}
            for scope, names in (vocabulary or {}).items()
        }

    @property
    def usage(self) -> Usage:
        """Calls, tokens, repairs and ignored answers since this annotator was made."""
        return self._asker.usage

    @property
    def vocabulary(self) -> dict[Scope, Vocabulary]:
        """Slot names and their newest values, by scope; store it and give it to the next one."""
        return {scope: dict(names) for scope, names in self._known.items()}

    def slots(self, memories: Sequence[Memory]) -> list[Slot | None]:
        """Name the slot of each memory; None where it has a key already or fits no one slot.

        Raises:
            Exception: What the model raised when the last retry failed.
        """
        steps = self._steps(memories)
        answers: dict[int, Slot | None] | None = None
        while True:
            try:
                task, batches = steps.send(answers)
            except StopIteration as stop:
                result: list[Slot | None] = stop.value
                return result
            answers = self._asker.ask(task, batches)

    async def aslots(self, memories: Sequence[Memory]) -> list[Slot | None]:
        """Name slots as `slots` does, without blocking the event loop."""
        steps = self._steps(memories)
        answers: dict[int, Slot | None] | None = None
        while True:
            try:
                task, batches = steps.send(answers)
            except StopIteration as stop:
                result: list[Slot | None] = stop.value
                return result
            answers = await self._asker.aask(task, batches)

    def annotate(self, memories: Sequence[Memory]) -> list[Memory]:
        """Give copies of the memories with their slots, in order; see `Slot.metadata`.

        Memories that have a key already, or get no slot, are given back as they are.
        """
        return list(map(_with_slot, memories, self.slots(memories)))

    async def aannotate(self, memories: Sequence[Memory]) -> list[Memory]:
        """Annotate as `annotate` does, without blocking the event loop."""
        return list(map(_with_slot, memories, await self.aslots(memories)))

    def _steps(self, memories: Sequence[Memory]) -> _Steps:
        """The body shared by `slots` and `aslots`: yields what to ask, is sent the answers."""
        by_scope: dict[Scope, list[int]] = {}
        for number, memory in enumerate(memories, 1):
            if memory.key is None:
                by_scope.setdefault(memory.scope, []).append(number)
        found: dict[int, Slot | None] = {}
        size = self.memories_per_call
        longest = max(map(len, by_scope.values()), default=0)
        for start in range(0, longest, size):
            batches = [part for own in by_scope.values() if (part := own[start : start + size])]
            answers = yield _SlotTask(memories, self._known, self.names_per_call), batches
            for number in sorted(answers or {}):
                slot = (answers or {})[number]
                found[number] = slot
                if slot is not None:
                    self._learn(memories[number - 1].scope, slot)
        return [found.get(number) for number in range(1, len(memories) + 1)]

    def _learn(self, scope: Scope, slot: Slot) -> None:
        """Put a name, and the value as its newest one, into the vocabulary."""
        names = self._known.setdefault(scope, {})
        earlier = [value for value in names.get(slot.key, ()) if value != slot.value]
        self._known[scope] = {**names, slot.key: (*earlier[1 - _VALUES_SHOWN :], slot.value)}


@dataclass(frozen=True)
class _SlotTask:
    """Memories, numbered from 1, whose slots a model is asked for."""

    memories: Sequence[Memory]
    known: Mapping[Scope, Vocabulary]
    names_shown: int

    def prompt(self, numbers: Sequence[int], note: str) -> Prompt:
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


def _with_slot(memory: Memory, slot: Slot | None) -> Memory:
    if slot is None:
        return memory
    metadata = {**memory.metadata, **slot.metadata}
    if slot.cardinality == "multi":
        return replace(memory, metadata=metadata)
    return replace(memory, key=slot.key, value=slot.value, metadata=metadata)
