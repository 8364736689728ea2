"""Labelled pairs from the families: a new sample of every family's pairs for each epoch."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from gcmem.training.corpus_files import Family
from gcmem.training.pairs import Label, LabelledPair

SHARES: Mapping[str, int] = {
    "explicit_explicit": 12,
    "explicit_inferred": 16,
    "inferred_inferred": 12,
    "transition": 9,
    "after_transition": 5,
    "same_state_explicit": 7,
    "same_state_mixed": 12,
    "same_state_inferred": 9,
    "transition_agrees": 6,
    "same": 4,
    "compatible": 8,
    "after_compatible": 5,
    "compatible_compatible": 3,
    "history": 4,
    "after_history": 4,
    "other_entity": 6,
    "after_other_entity": 4,
    "nonfactual": 6,
    "after_nonfactual": 4,
    "multi_valued": 24,
    "multi_retracted": 8,
    "multi_retracted_other": 6,
}
"""How many pairs of each kind one family gives to one epoch, at most."""

EXPLICIT_FIRST: Mapping[str, int] = {
    **SHARES,
    "explicit_explicit": 24,
    "transition": 18,
    "after_transition": 14,
    "transition_agrees": 20,
    "same_state_explicit": 16,
    "explicit_inferred": 9,
    "inferred_inferred": 5,
    "same_state_mixed": 8,
    "same_state_inferred": 4,
    "multi_valued": 12,
    "multi_retracted": 10,
    "multi_retracted_other": 10,
}
"""The same with twice as much of what is said in words and half of what is only shown."""

LABEL_OF_KIND: Mapping[str, Label] = {
    "explicit_explicit": "supersedes",
    "explicit_inferred": "supersedes",
    "inferred_inferred": "supersedes",
    "transition": "supersedes",
    "after_transition": "supersedes",
    "multi_retracted": "supersedes",
    "same_state_explicit": "supports",
    "same_state_mixed": "supports",
    "same_state_inferred": "supports",
    "transition_agrees": "supports",
    "same": "supports",
}
"""The label of each kind; kinds that are not named here are ``neither``."""

_FIRST_PERSON = re.compile(
    r"\b(i|i'm|i've|i'll|i'd|my|mine|me|we|our|we're|we've)\b", re.IGNORECASE
)

Texts = Sequence[str]


def family_pairs(
    family: Family,
    random: Random,
    *,
    share: float = 1.0,
    counts: Mapping[str, int] = SHARES,
) -> list[LabelledPair]:
    """A sample of a family's labelled pairs.

    Args:
        family: The family.
        random: Decides the sample.
        share: Multiplies the counts.
        counts: How many pairs of each kind, at most.
    """
    result = []
    for kind, candidates in _all_pairs(family).items():
        wanted = int(counts[kind] * share + random.random())
        sample = random.sample(candidates, min(wanted, len(candidates)))
        label = LABEL_OF_KIND.get(kind, "neither")
        result += [
            LabelledPair(
                older, newer, label, kind, family.id, query=family.query, split=family.split
            )
            for older, newer in sample
            if not (
                label == "supersedes"
                and _speakers_differ(family, older, newer)
                and random.random() < 0.6
            )
        ]
    return result


def cross_family_pairs(
    family: Family, others: Sequence[Family], random: Random, *, count: int
) -> Iterator[LabelledPair]:
    """Pairs of a statement of the family and one of another family: always ``neither``."""
    others = [other for other in others if other.attribute.lower() != family.attribute.lower()]
    own = family.statements()
    for other in random.choices(others, k=count) if others else ():
        texts = [random.choice(own), random.choice(other.statements())]
        random.shuffle(texts)
        kind = "same_domain" if other.domain == family.domain else "unrelated"
        yield LabelledPair(
            texts[0], texts[1], "neither", kind, family.id, query=family.query, split=family.split
        )


def _all_pairs(family: Family) -> dict[str, list[tuple[str, str]]]:
    pairs: dict[str, list[tuple[str, str]]] = {kind: [] for kind in SHARES}
    for first, second in itertools.permutations(family.states, 2):
        (explicit, inferred), (explicit_2, inferred_2) = family.states[first], family.states[second]
        if family.multi:
            pairs["multi_valued"] += itertools.product(explicit + inferred, explicit_2 + inferred_2)
            continue
        pairs["explicit_explicit"] += itertools.product(explicit, explicit_2)
        pairs["explicit_inferred"] += itertools.product(explicit, inferred_2)
        pairs["explicit_inferred"] += itertools.product(inferred, explicit_2)
        pairs["inferred_inferred"] += itertools.product(inferred, inferred_2)
    for explicit, inferred in family.states.values():
        pairs["same_state_explicit"] += itertools.permutations(explicit, 2)
        pairs["same_state_mixed"] += itertools.product(explicit, inferred)
        pairs["same_state_mixed"] += itertools.product(inferred, explicit)
        pairs["same_state_inferred"] += itertools.permutations(inferred, 2)
    for (before, after), announcements in family.transitions.items():
        old = family.states[before][0] + family.states[before][1]
        new = family.states[after][0] + family.states[after][1]
        if family.multi:
            pairs["multi_retracted"] += itertools.product(old, announcements)
            pairs["multi_retracted_other"] += itertools.product(new, announcements)
            pairs["multi_retracted_other"] += itertools.product(announcements, new)
            continue
        pairs["transition"] += itertools.product(old, announcements)
        pairs["after_transition"] += itertools.product(announcements, old)
        pairs["after_transition"] += itertools.product(
            announcements, family.transitions.get((after, before), ())
        )
        pairs["transition_agrees"] += itertools.product(new, announcements)
        pairs["transition_agrees"] += itertools.product(announcements, new)
    for first, second in family.same:
        pairs["same"] += [(first, second), (second, first)]
    _around(family, pairs)
    return pairs


def _around(family: Family, pairs: dict[str, list[tuple[str, str]]]) -> None:
    states = [text for state in family.states.values() for part in state for text in part]
    states += [text for texts in family.transitions.values() for text in texts]
    pairs["compatible_compatible"] += itertools.permutations(family.compatible, 2)
    for name, texts in (
        ("compatible", family.compatible),
        ("history", family.past),
        ("other_entity", family.other_entity),
        ("nonfactual", family.nonfactual),
    ):
        pairs[name] += itertools.product(states, texts)
        pairs[f"after_{name}"] += itertools.product(texts, states)


def _speakers_differ(family: Family, first: str, second: str) -> bool:
    """Whether one statement says "I" and the other the entity's name.

    In a family they mean the same person; to a reader who is not told, they need not.
    """
    names = re.findall(r"[A-Z]\w+", family.entity)
    spoken = [bool(_FIRST_PERSON.search(text)) for text in (first, second)]
    named = [any(name in text for name in names) for text in (first, second)]
    return (spoken[0] and not named[0] and named[1] and not spoken[1]) or (
        spoken[1] and not named[1] and named[0] and not spoken[0]
    )
