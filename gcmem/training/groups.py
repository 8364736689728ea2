"""Labelled pairs from the groups of explicit statements, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import cast

from gcmem.training.corpus_files import Group
from gcmem.training.pairs import Label, LabelledPair

REVERSIBLE = frozenset(
    [
        "plain_value",
        "number",
        "price",
        "version",
        "config",
        "date_time",
        "owner",
        "name",
        "job",
        "status",
        "antonym",
        "on_off",
        "alias",
        "preference_flip",
        "move",
        "relationship",
    ]
)
"""Superseding kinds that supersede in the other order too: the newest value holds."""

SYMMETRIC = frozenset(
    [
        "other_entity",
        "other_attribute",
        "homonym",
        "unrelated",
        "both_events",
        "lexical_trap",
        "multi_valued",
        "history",
        "question",
        "quotation",
        "guess",
        "meta",
        "paraphrase",
        "refinement",
        "other_units",
        "alias_same",
    ]
)
"""Kinds that stay what they are in the other order; supporting ones go on supporting."""

SAME_MEANING = frozenset({"paraphrase", "alias_same", "other_units"})
"""Supporting kinds that can stand for the older statement itself."""

STANDS_ASIDE = frozenset({"other_entity", "other_attribute", "homonym", "unrelated"})
"""Kinds that no newer statement of the same group is about."""


def group_pairs(group: Group) -> Iterator[LabelledPair]:
    """The pairs as written: the older statement with each newer one."""
    for text, label, kind in group.newer:
        yield _pair(group, group.older, text, cast("Label", label), kind)


def derived_pairs(group: Group) -> Iterator[LabelledPair]:
    """Pairs that follow from the written ones: reversed, and with a paraphrase as the older one."""
    stand_ins = [text for text, _, kind in group.newer if kind in SAME_MEANING]
    for text, label, kind in group.newer:
        if (label == "supersedes" and kind in REVERSIBLE) or (
            label != "supersedes" and kind in SYMMETRIC
        ):
            yield _pair(group, text, group.older, cast("Label", label), f"reversed_{kind}")
        for stand_in in stand_ins:
            if text != stand_in and kind not in {"negated_other", "partial"}:
                yield _pair(group, stand_in, text, cast("Label", label), f"restated_{kind}")
        if kind in STANDS_ASIDE:
            for other, other_label, other_kind in group.newer:
                if other_label == "supersedes" and other_kind in REVERSIBLE:
                    yield _pair(group, text, other, "neither", f"after_{kind}")


def cross_group_pairs(
    group: Group, others: Sequence[Group], random: Random, *, count: int
) -> Iterator[LabelledPair]:
    """Pairs of statements of two different groups: always ``neither``."""
    for other in random.choices(others, k=count) if others else ():
        if other.id == group.id or other.attribute.lower() == group.attribute.lower():
            continue
        newer = random.choice(other.newer)[0] if random.random() < 0.8 else other.older
        kind = "same_domain" if other.domain == group.domain else "unrelated"
        yield _pair(group, group.older, newer, "neither", kind)


def _pair(group: Group, older: str, newer: str, label: Label, kind: str) -> LabelledPair:
    return LabelledPair(older, newer, label, kind, group.id, query=group.query, split=group.split)
