"""What the model reads in one round of training, and the fixed pairs it is measured with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random

from gcmem.training.augment import Augmenter, names_of_entities, names_of_group
from gcmem.training.corpus_files import CORPUS, Family, Group, read_families, read_groups
from gcmem.training.families import SHARES, cross_family_pairs, family_pairs
from gcmem.training.fitting import Example
from gcmem.training.frames import load_frames
from gcmem.training.groups import (
    beside_the_change,
    cross_group_pairs,
    derived_pairs,
    group_pairs,
)
from gcmem.training.minimal_pairs import minimal_pairs
from gcmem.training.nli import NLIRow
from gcmem.training.pairs import LABELS, LabelledPair, Split
from gcmem.training.same_entity import frame_pairs, own_statement_pairs

ONLY_SHOWN = frozenset(
    {"same_state_inferred", "same_state_mixed", "transition_agrees", "multi_valued"}
)
"""Kinds of pairs that do not conflict, and where the difference between ``supports`` and
``neither`` cannot be read from the words: it is not trained."""


@dataclass(frozen=True, slots=True)
class Shares:
    """How much of each source one round holds.

    Attributes:
        families: Share of the family pairs of SHARES.
        cross_families: Pairs with a statement of another family, for each family.
        groups: Share of the written group pairs.
        derived: Derived pairs, as a share of the written ones.
        cross_groups: Pairs with a statement of another group, for each group.
        minimal: Minimal pairs for each frame.
        nli: NLI rows.
        same_entity: Pairs about two attributes of one entity, from frames and as many from
            families and groups.
        family_counts: Pairs of each kind from one family, which `families` multiplies.
        updates: Further minimal pairs, of updates that do not name the old value.
    """

    families: float = 0.12
    cross_families: int = 3
    groups: float = 0.6
    derived: float = 0.4
    cross_groups: int = 2
    minimal: int = 30
    nli: int = 3_500
    same_entity: int = 0
    family_counts: Mapping[str, int] = field(default_factory=lambda: SHARES)
    updates: int = 0


def round_of_training(
    number: int, nli: Sequence[NLIRow], *, shares: Shares | None = None, corpus: Path = CORPUS
) -> list[Example]:
    """The examples of one round, new ones for every number and the same ones for the same."""
    shares = shares or Shares()
    random = Random(f"round {number}")
    families = [family for family in read_families(corpus) if family.split == "train"]
    groups = [group for group in read_groups(corpus) if group.split == "train"]
    augmenter = Augmenter(names_of_entities(families), random)
    pairs = _family_round(families, augmenter, shares) + _group_round(groups, augmenter, shares)
    pairs += [
        pair
        for pair in minimal_pairs(seed=number, per_frame=shares.minimal)
        if pair.split == "train"
    ]
    frames = [frame for frame in load_frames() if frame.split == "train"]
    pairs += frame_pairs(frames, random, count=shares.same_entity)
    pairs += own_statement_pairs(families, groups, random, count=shares.same_entity)
    pairs += _updates(number, random, count=shares.updates)
    examples = [to_example(pair) for pair in pairs]
    for row in islice(nli, (number * shares.nli) % max(1, len(nli)), None):
        if len(examples) >= len(pairs) + shares.nli:
            break
        texts = [row.premise, row.hypothesis]
        if row.label == 0:
            random.shuffle(texts)
        examples.append(Example(texts[0], texts[1], row.label, "nli"))
    return examples


def measured_pairs(
    split: Split, *, corpus: Path = CORPUS, share: float = 0.3
) -> list[LabelledPair]:
    """The fixed pairs of a split that the model is measured with, unvaried.

    The kinds of the sources are told apart by ``family:``, ``group:``, ``beside:`` (what survives
    the change of a group, with that change), ``minimal:`` and, for two attributes of one entity,
    ``own:``.
    """
    random, drawn = Random(f"measured {split}"), Random(f"beside {split}")
    families = [family for family in read_families(corpus) if family.split == split]
    groups = [group for group in read_groups(corpus) if group.split == split]
    pairs: list[LabelledPair] = []
    for family in families:
        made = family_pairs(family, random, share=share)
        made += cross_family_pairs(family, _neighbours(family, families, random), random, count=10)
        pairs += [_prefixed(pair, "family") for pair in made]
    for group in groups:
        made = [*group_pairs(group), *cross_group_pairs(group, groups, random, count=3)]
        pairs += [_prefixed(pair, "group") for pair in made]
        beside = list(beside_the_change(group))
        pairs += [_prefixed(pair, "beside") for pair in drawn.sample(beside, min(4, len(beside)))]
    pairs += [
        _prefixed(pair, "minimal")
        for pair in minimal_pairs(seed=0, per_frame=60)
        if pair.split == split
    ]
    frames = [frame for frame in load_frames() if frame.split == split]
    about_one = [
        *frame_pairs(frames, random, count=400),
        *own_statement_pairs(families, groups, random, count=400),
    ]
    return pairs + [_prefixed(pair, "own") for pair in about_one]


def to_example(pair: LabelledPair) -> Example:
    """The training example of a pair."""
    return Example(
        pair.older,
        pair.newer,
        LABELS.index(pair.label),
        weight=pair.weight,
        no_conflict=pair.kind in ONLY_SHOWN and pair.label != "supersedes",
    )


def _family_round(
    families: Sequence[Family], augmenter: Augmenter, shares: Shares
) -> list[LabelledPair]:
    random = augmenter.random
    result = []
    for family in families:
        made = family_pairs(family, random, share=shares.families, counts=shares.family_counts)
        made += cross_family_pairs(
            family, _neighbours(family, families, random), random, count=shares.cross_families
        )
        result += [augmenter.vary(pair, filler=random.choice(family.compatible)) for pair in made]
    return result


def _group_round(
    groups: Sequence[Group], augmenter: Augmenter, shares: Shares
) -> list[LabelledPair]:
    random = augmenter.random
    result: list[LabelledPair] = []
    by_domain: dict[str, list[Group]] = {}
    for group in groups:
        by_domain.setdefault(group.domain, []).append(group)
    for group in groups:
        written = [pair for pair in group_pairs(group) if random.random() < shares.groups]
        derived = list(derived_pairs(group))
        wanted = round(len(group.newer) * shares.derived)
        made = written + random.sample(derived, min(wanted, len(derived)))
        near = by_domain[group.domain] if random.random() < 0.5 else groups
        made += cross_group_pairs(group, near, random, count=shares.cross_groups)
        filler = random.choice(groups).older
        names = names_of_group(group)
        result += [augmenter.vary(pair, filler=filler, names=names) for pair in made]
    return result


def _updates(number: int, random: Random, *, count: int) -> list[LabelledPair]:
    if not count:
        return []
    found = [
        pair
        for pair in minimal_pairs(seed=4_000 + number, per_frame=120)
        if pair.split == "train"
        and (pair.kind in {"update", "started"} or pair.kind.endswith("_update"))
    ]
    return random.sample(found, min(count, len(found)))


def _neighbours(family: Family, families: Sequence[Family], random: Random) -> Sequence[Family]:
    """Families of the same domain half of the time, where there are any; else all."""
    near = [other for other in families if other.domain == family.domain and other is not family]
    return near if near and random.random() < 0.5 else families


def _prefixed(pair: LabelledPair, source: str) -> LabelledPair:
    return LabelledPair(
        pair.older,
        pair.newer,
        pair.label,
        f"{source}:{pair.kind}",
        pair.attribute_id,
        query=pair.query,
        split=pair.split,
        weight=pair.weight,
    )
