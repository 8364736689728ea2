"""Pairs about one entity and two of its attributes: close in words, and never in conflict.

"The printer is a laser model." and "The printer is on floor 2." share the entity and the frame of
the sentence, and both are true. Written pairs hold few of them, though a collection of memories
about one user is made of little else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from gcmem.encoder import SentenceEncoder
from gcmem.training.augment import names_of_entities
from gcmem.training.corpus_files import Family, Group
from gcmem.training.frames import Frame, fill, load_entities
from gcmem.training.pairs import LabelledPair

__all__ = ["frame_pairs", "own_statement_pairs"]

_KIND = "other_attribute_same_entity"
_NEAR = 0.35  # cosine of the bundled encoder


def frame_pairs(frames: Sequence[Frame], random: Random, *, count: int) -> Iterator[LabelledPair]:
    """Give pairs of statements of two frames about one entity; none of them is in conflict."""
    entities = load_entities()
    by_kind: dict[str, list[Frame]] = {}
    for frame in frames:
        by_kind.setdefault(frame.entity_kind, []).append(frame)
    kinds = [kind for kind, members in by_kind.items() if len(members) > 1]
    weights = [len(by_kind[kind]) for kind in kinds]
    for _ in range(count):
        kind = random.choices(kinds, weights)[0]
        first, second = random.sample(by_kind[kind], 2)
        entity = random.choice(entities[kind])
        older = _said(first, entity, random, update=random.random() < 0.2)
        newer = _said(second, entity, random, update=random.random() < 0.4)
        yield LabelledPair(older, newer, "neither", _KIND, first.id, split=first.split)


def own_statement_pairs(
    families: Sequence[Family], groups: Sequence[Group], random: Random, *, count: int
) -> list[LabelledPair]:
    """Give up to ``count`` pairs of two attributes' statements, as if about one person or thing.

    First-person statements are paired as they stand; statements that begin with the name of their
    family's entity are both given one name.
    """
    names = names_of_entities(families)
    first_person = [(g.attribute, g.older, g.split) for g in groups if _is_own(g.older)]
    first_person += [
        (g.attribute, text, g.split)
        for g in groups
        for text, label, _ in g.newer
        if label == "supersedes" and _is_own(text)
    ]
    named: list[tuple[str, str, str, Family]] = []
    for family in families:
        name = family.entity.split()[0].strip("(),")
        if name in names:
            texts = [t for state in family.states.values() for said in state for t in said]
            texts += [t for said in family.transitions.values() for t in said]
            named += [(family.attribute, t, name, family) for t in texts if t.startswith(name)]
            first_person += [(family.attribute, t, family.split) for t in texts if _is_own(t)]
    persons = load_entities()["person"]
    drawn: list[LabelledPair] = []
    for _ in range(count):
        if named and random.random() < 0.5:
            (one, older, name, family), (two, newer, other, _) = random.sample(named, 2)
            shared, split = random.choice(persons), family.split
            older, newer = older.replace(name, shared), newer.replace(other, shared)
        else:
            (one, older, split), (two, newer, _) = random.sample(first_person, 2)
        if one != two:
            drawn.append(LabelledPair(older, newer, "neither", _KIND, one, split=split))
    return _of_two_slots(drawn)


def _of_two_slots(pairs: Sequence[LabelledPair]) -> list[LabelledPair]:
    """Leave out pairs near in meaning: two families may be about one slot, such as the home."""
    if not pairs:
        return []
    encoder = SentenceEncoder(cache_size=0)
    older = encoder.encode([pair.older for pair in pairs])
    newer = encoder.encode([pair.newer for pair in pairs])
    near = (older * newer).sum(axis=-1) >= _NEAR
    return [pair for pair, is_near in zip(pairs, near, strict=True) if not is_near]


def _is_own(text: str) -> bool:
    return text.startswith(("I ", "I'm ", "I've ", "My ", "We ", "Our ", "The user "))


def _said(frame: Frame, entity: str, random: Random, *, update: bool) -> str:
    values = random.sample(frame.values, 2)
    value, old = (random.choice(forms) for forms in values)
    wordings = frame.updates if update and frame.updates else frame.statements
    named = [w for w in wordings if "{e}" in w or "{k}" in w] or list(wordings)
    return fill(random.choice(named), entity=entity, value=value, old=old)
