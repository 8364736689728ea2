"""Changes of training pairs that keep or turn their label: names, surface, length of the chunk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random

from gcmem.training.corpus_files import Family, Group
from gcmem.training.frames import load_entities
from gcmem.training.pairs import LabelledPair
from gcmem.training.surface import vary_surface

_WORD = re.compile(r"\b[A-Z][a-zà-öø-ÿ]{2,}\b")
_NO_NAMES = frozenset(
    [
        "The",
        "This",
        "That",
        "These",
        "Those",
        "User",
        "Our",
        "Your",
        "His",
        "Her",
        "Its",
        "Their",
        "Team",
        "Company",
        "Service",
        "Project",
        "Office",
        "School",
        "Room",
        "House",
        "Street",
        "Shop",
        "App",
        "Site",
        "Road",
        "Club",
        "North",
        "South",
        "East",
        "West",
        "New",
        "Old",
        "Doctor",
        "Uncle",
        "Aunt",
        "Mister",
        "Saint",
        "City",
        "Bank",
        "Hotel",
        "Hospital",
        "Library",
        "Museum",
        "Department",
    ]
)


def names_of_entities(families: Sequence[Family]) -> tuple[str, ...]:
    """The names in the entities of the families and of the frames, sorted."""
    texts = [family.entity for family in families]
    texts += [entity for entities in load_entities().values() for entity in entities]
    found = {word for text in texts for word in _WORD.findall(text)}
    return tuple(sorted(found - _NO_NAMES))


def names_of_group(group: Group) -> frozenset[str]:
    """The names that a group is about: capitalised in its older and in half of its newer texts."""
    newer = [text for text, _, _ in group.newer]
    lower = {word for text in [group.older, *newer] for word in re.findall(r"\b[a-z]+\b", text)}
    return frozenset(
        word
        for word in set(_words(group.older)) - _NO_NAMES
        if word.lower() not in lower
        and sum(word in _words(text) for text in newer) >= len(newer) / 2
    )


class Augmenter:
    """Varies pairs: other names in both texts, another name in one, surface, longer chunks.

    No change depends on the label, except that another name in the newer text alone turns the pair
    into ``neither``.
    """

    def __init__(self, names: Sequence[str], random: Random) -> None:
        self.names = tuple(names)
        self._known = frozenset(names)
        self.random = random

    def vary(
        self, pair: LabelledPair, *, filler: str = "", names: frozenset[str] = frozenset()
    ) -> LabelledPair:
        """A varied pair.

        Args:
            pair: The pair.
            filler: A statement that may be added to make a text longer.
            names: Further names that may be replaced.
        """
        random = self.random
        known = self._known | names if names else self._known
        shared = sorted(known.intersection(_words(pair.older)) & set(_words(pair.newer)))
        if shared and random.random() < 0.35:
            pair = self.rename(pair, shared)
        elif shared and pair.label != "neither" and random.random() < 0.08:
            pair = self.rename_in_newer(pair, min(shared, key=pair.newer.index))
        older, newer = pair.older, pair.newer
        if filler and random.random() < 0.06:
            newer = _joined(newer, filler, random)
        elif filler and random.random() < 0.03:
            older = _joined(older, filler, random)
        if random.random() < 0.3:
            older = vary_surface(older, random, year=2025)
            newer = vary_surface(newer, random, year=2026)
        return replace(pair, older=older, newer=newer)

    def rename(self, pair: LabelledPair, shared: Sequence[str]) -> LabelledPair:
        """The pair with other names, the same ones in both texts."""
        texts = [pair.older, pair.newer]
        for name in shared:
            other = self.random.choice(self.names)
            if not any(other in text for text in texts):
                texts = [_replaced(text, name, other) for text in texts]
        return replace(pair, older=texts[0], newer=texts[1])

    def rename_in_newer(self, pair: LabelledPair, name: str) -> LabelledPair:
        """The pair with another name in the newer text: it is about somebody else then."""
        other = self.random.choice(self.names)
        if other in pair.older or other in pair.newer:
            return pair
        newer = _replaced(pair.newer, name, other)
        return replace(pair, newer=newer, label="neither", kind="other_entity_renamed")


@lru_cache(maxsize=200_000)
def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text))


def _replaced(text: str, name: str, other: str) -> str:
    return re.sub(rf"\b{re.escape(name)}\b", other, text)


def _joined(text: str, filler: str, random: Random) -> str:
    first, second = (text, filler) if random.random() < 0.5 else (filler, text)
    return f"{first}{'' if first[-1:] in '.!?' else '.'} {second}"
