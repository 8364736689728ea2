"""Slots at write time: a model names what each memory is about once, instead of judging pairs."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from gcmem.detectors.asking import Asker
from gcmem.detectors.slot_asking import Slot, SlotTask, Vocabulary
from gcmem.detectors.usage import Usage
from gcmem.memory import Memory, Scope, to_scope

__all__ = ["Slot", "SlotAnnotator", "Vocabulary"]

_VALUES_SHOWN: Final = 5

_Steps: TypeAlias = Generator[
    tuple[SlotTask, list[list[int]]], dict[int, Slot | None] | None, list[Slot | None]
]


class SlotAnnotator:
    """Asks a model, once per memory, which slot it fills.

    At read time the explicit rules then compare slots, with no model call: the calls grow with
    the number of memories and not with the pairs of every question. A memory that holds several
    facts, or tells of the past, plans or guesses, gets no slot and is left to the detector, so
    that no rule removes what a slot cannot express. Memories with two different names that a model
    chose are left to the detector as well: one slot may have got two names.

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
            answers = yield SlotTask(memories, self._known, self.names_per_call), batches
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


def _with_slot(memory: Memory, slot: Slot | None) -> Memory:
    if slot is None:
        return memory
    metadata = {**memory.metadata, **slot.metadata}
    if slot.cardinality == "multi":
        return replace(memory, metadata=metadata)
    return replace(memory, key=slot.key, value=slot.value, metadata=metadata)
