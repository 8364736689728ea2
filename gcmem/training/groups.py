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

STANDS_ASIDE = frozenset({"other_entity", "homonym", "lexical_trap", "unrelated"})
"""Kinds that no other statement of the same group is about."""

OF_THE_SAME_THING = frozenset({"other_attribute", "other_context", "multi_valued"})
"""Kinds that tell something else of the same thing: true as long as the thing is there."""

STAYS_ON_RECORD = frozenset(
    {"history", "both_events", "temporary", "question", "quotation", "hypothetical", "meta"}
)
"""Kinds that no change makes untrue: what happened, happened, and what was asked, was asked."""

CHANGES_ONE_VALUE = REVERSIBLE - {"antonym", "status", "alias"} | {
    "amendment",
    "corrected",
    "migrated",
    "switched",
}
"""Superseding kinds that change one value and leave the thing itself in place."""


def group_pairs(group: Group) -> Iterator[LabelledPair]:
    """The pairs as written: the older statement with each newer one."""
    for text, label, kind in group.newer:
        yield _pair(group, group.older, text, cast("Label", label), kind)


def derived_pairs(group: Group) -> Iterator[LabelledPair]:
    """Pairs that follow from the written ones.

    Reversed; with a paraphrase as the older one; and what must survive with what changes.
    """
    stand_ins = [text for text, _, kind in group.newer if kind in SAME_MEANING]
    for text, label, kind in group.newer:
        if (label == "supersedes" and kind in REVERSIBLE) or (
            label != "supersedes" and kind in SYMMETRIC
        ):
            yield _pair(group, text, group.older, cast("Label", label), f"reversed_{kind}")
        for stand_in in stand_ins:
            if text != stand_in and kind not in {"negated_other", "partial"}:
                yield _pair(group, stand_in, text, cast("Label", label), f"restated_{kind}")
    yield from beside_the_change(group)


def beside_the_change(group: Group) -> Iterator[LabelledPair]:
    """Pairs of what must survive the group's changes with these changes, in both orders.

    A stream has them all: the change is not only compared with what it makes untrue. What happened
    once may still be told of the old state after the change, so it is not set behind it.
    """
    changes = [(text, kind) for text, label, kind in group.newer if label == "supersedes"]
    for text, label, kind in group.newer:
        if label != "neither":
            continue
        for change, change_kind in changes:
            if kind in STANDS_ASIDE or (
                kind in OF_THE_SAME_THING and change_kind in CHANGES_ONE_VALUE
            ):
                yield _pair(group, text, change, "neither", f"before_change_{kind}")
                yield _pair(group, change, text, "neither", f"after_change_{kind}")
            elif kind in STAYS_ON_RECORD:
                yield _pair(group, text, change, "neither", f"before_change_{kind}")


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
