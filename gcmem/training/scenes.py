"""Scenes: one drawn older statement of a frame, and what newer statements can be made to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from random import Random

from gcmem.training.frames import Frame, Voice, fill, load_entities, voice_of

_ROLES: Mapping[str, float] = {
    "statement": 0.62, "update": 0.2, "qualified": 0.05, "history": 0.03, "nonfactual": 0.03,
    "ended": 0.03, "similar": 0.04,
}  # fmt: skip
_CONTEXT_FREE_WEIGHT = 0.5


class Scene:
    """One drawn older statement and the makers of newer ones that fit to it."""

    def __init__(self, frame: Frame, random: Random) -> None:
        self.frame, self.random = frame, random
        voices = [voice_of(wording) for wording in frame.statements]
        self.voice: Voice = "first" if "first" in voices and random.random() < 0.3 else "named"
        names = load_entities()[frame.entity_kind]
        self.entity = random.choice(names)
        self.other_entity = _another(names, self.entity, random)
        self.value = random.randrange(len(frame.values))
        self.previous = self.other_value()
        self.names_previous = False
        self.role = random.choices(list(_ROLES), weights=list(_ROLES.values()))[0]
        self.wording = ""
        self.newer_wording = ""
        self.form = random.choice(frame.values[self.value])
        self.similar = random.choice(frame.similar_values)

    def older(self) -> str | None:
        """The older statement, or None if the frame has no wording of the drawn role."""
        field = {"statement": "statements", "update": "updates", "similar": "similar_attribute"}
        pool = self.pool(getattr(self.frame, field.get(self.role, self.role)))
        if not pool:
            return None
        self.wording = self.pick(pool)
        self.names_previous = "{old}" in self.wording
        value = self.similar if self.role == "similar" else self.form
        return fill(self.wording, entity=self.entity, value=value, old=self.any_form(self.previous))

    def say(
        self,
        wordings: Sequence[str],
        value: int,
        *,
        old: int | None = None,
        other_wording: bool | None = None,
        other_form: bool = False,
    ) -> str | None:
        """A newer statement about the same entity with one of the wordings.

        Args:
            wordings: What to choose from.
            value: Index of the value to state.
            old: Index of the value before; wordings that name it are used if and only if given.
            other_wording: True for another wording than the older one's, False for the same.
            other_form: Whether to state the value with another text than the older statement.
        """
        pool = [w for w in self.pool(wordings) if ("{old}" in w) == (old is not None)]
        if other_wording is not None:
            pool = [w for w in pool if (w != self.wording) == other_wording]
        forms = self.frame.values[value]
        if other_form:
            forms = tuple(form for form in forms if form != self.form)
        if not pool or not forms:
            return None
        self.newer_wording = self.pick(pool)
        before = "" if old is None else self.any_form(old)
        return fill(
            self.newer_wording, entity=self.entity, value=self.random.choice(forms), old=before
        )

    def say_of_other(self, wordings: Sequence[str], value: int, old: int) -> str | None:
        """A newer statement about another entity, or None if the older one names nobody."""
        if voice_of(self.wording) == "bare":
            return None
        pool = [w for w in wordings if voice_of(w) == "named"]
        if self.voice == "named" and self.random.random() < 0.2:
            pool = [w for w in wordings if voice_of(w) == "first"] or pool
        if not pool:
            return None
        self.newer_wording = self.random.choice(pool)
        texts = self.any_form(value), self.any_form(old)
        return fill(self.newer_wording, entity=self.other_entity, value=texts[0], old=texts[1])

    def say_similar(self, value: str | None, *, other_wording: bool | None = None) -> str | None:
        """A newer statement about the similar attribute of the same entity."""
        pool = self.pool(self.frame.similar_attribute)
        if other_wording is not None:
            pool = [w for w in pool if (w != self.wording) == other_wording]
        if value is None or not pool:
            return None
        self.newer_wording = self.pick(pool)
        return fill(self.newer_wording, entity=self.entity, value=value)

    def pool(self, wordings: Sequence[str]) -> list[str]:
        """The wordings that the speaker of this scene can use."""
        return [w for w in wordings if voice_of(w) in (self.voice, "bare")]

    def pick(self, pool: Sequence[str]) -> str:
        """One of the wordings; those that leave the entity to the context come less often."""
        weights = [0.4 if voice_of(w) == "bare" else 1.0 for w in pool]
        return self.random.choices(pool, weights=weights)[0]

    def any_form(self, value: int) -> str:
        """One of the texts that mean the value."""
        return self.random.choice(self.frame.values[value])

    def other_value(self, *taken: int) -> int:
        """Index of another value, in half of the cases one that looks like the present one."""
        first_forms = tuple(forms[0] for forms in self.frame.values)
        free = tuple(f for i, f in enumerate(first_forms) if i not in (self.value, *taken))
        return first_forms.index(_another(free, first_forms[self.value], self.random))

    def query(self) -> str:
        """A question that the older statement may answer."""
        owner = "the user" if self.voice == "first" else self.entity
        start = "What are" if self.frame.cardinality == "multi" else "What is"
        return f"{start} the {self.frame.attribute} of {owner}?"

    def weight(self) -> float:
        """Less than 1 where only the context tells that both speak of the same entity."""
        voices = {voice_of(self.wording), voice_of(self.newer_wording)}
        return _CONTEXT_FREE_WEIGHT if voices == {"named", "bare"} else 1.0


@cache
def _alike(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    others = [other for other in names if other != name]
    others.sort(key=lambda other: -SequenceMatcher(None, name, other).ratio())
    return tuple(others)


def _another(names: tuple[str, ...], name: str, random: Random) -> str:
    others = _alike(names, name)
    return random.choice(others[:3] if random.random() < 0.5 else others)
