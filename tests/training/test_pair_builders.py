from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from gcmem.training.augment import Augmenter
from gcmem.training.corpus_files import Family, Group, read_families, read_groups
from gcmem.training.families import EXPLICIT_FIRST, SHARES, cross_family_pairs, family_pairs
from gcmem.training.groups import cross_group_pairs, derived_pairs, group_pairs
from gcmem.training.pairs import LabelledPair

FAMILY = Family(
    id="x-1", domain="commute", entity="Dana (a nurse)", attribute="commute", multi=False,
    query="How does Dana get to work?", split="train", labels={"A": "drives", "B": "cycles"},
    states={
        "A": (("Dana drives to work.",), ("Her parking permit came today.",)),
        "B": (("Dana cycles to work.",), ("Dana's helmet hangs by the ward door.",)),
    },
    transitions={("A", "B"): ("Dana sold the car and rides a bike.",)},
    compatible=("Dana works nights.",), past=("Dana used to take the bus.",),
    other_entity=("Milo drives to work.",), nonfactual=("Dana may try the tram.",),
    same=(("Dana drives to work.", "Dana takes the car to the clinic."),),
)  # fmt: skip

GROUP = Group(
    "g-1", "home", "city", "Where does Elisabet live?", "Elisabet lives in Turku.",
    (
        ("Elisabet lives in Graz.", "supersedes", "plain_value"),
        ("Elisabet's home is in Turku.", "supports", "paraphrase"),
        ("Elisabet's sister Henni lives in Graz.", "neither", "other_entity"),
        ("Elisabet will move next spring.", "neither", "plan"),
    ),
    "train",
)  # fmt: skip


def labels_of(pairs: list[LabelledPair]) -> dict[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for pair in pairs:
        found.setdefault((pair.older, pair.newer), set()).add(pair.label)
    return found


def test_states_supersede_each_other_and_never_themselves() -> None:
    pairs = family_pairs(FAMILY, Random(1), share=50)
    states = {
        name: set(explicit + inferred) for name, (explicit, inferred) in FAMILY.states.items()
    }
    for pair in pairs:
        for name, texts in states.items():
            if {pair.older, pair.newer} <= texts:
                assert pair.label == "supports"
            elif pair.older in texts and any(
                pair.newer in other for key, other in states.items() if key != name
            ):
                assert pair.label == "supersedes"


def test_a_transition_supersedes_what_was_and_agrees_with_what_is() -> None:
    labels = labels_of(family_pairs(FAMILY, Random(1), share=50))
    (announcement,) = FAMILY.transitions["A", "B"]
    assert labels["Dana drives to work.", announcement] == {"supersedes"}
    assert labels["Dana cycles to work.", announcement] == {"supports"}
    assert labels[announcement, "Dana drives to work."] == {"supersedes"}


def test_what_stays_true_is_never_superseded_and_supersedes_nothing() -> None:
    around = {*FAMILY.compatible, *FAMILY.past, *FAMILY.other_entity, *FAMILY.nonfactual}
    pairs = family_pairs(FAMILY, Random(1), share=50)
    touched = [pair for pair in pairs if {pair.older, pair.newer} & around]
    assert len(touched) >= 20
    assert {pair.label for pair in touched} == {"neither"}


def test_no_two_texts_get_two_labels_in_the_corpus() -> None:
    for family in read_families():
        found = labels_of(family_pairs(family, Random(0), share=100))
        assert {pair: names for pair, names in found.items() if len(names) > 1} == {}


def test_values_that_add_up_do_not_supersede_each_other() -> None:
    family = next(family for family in read_families() if family.multi)
    first, second = (set(family.states[name][0]) for name in ("A", "B"))
    for pair in family_pairs(family, Random(0), share=100):
        if pair.older in first and pair.newer in second:
            assert pair.label == "neither"


def test_a_sample_is_repeatable_and_within_its_size() -> None:
    family = read_families()[0]
    one, two = (family_pairs(family, Random(7), share=0.1) for _ in range(2))
    assert one == two
    assert 0 < len(one) <= 0.1 * sum(SHARES.values()) + len(SHARES)


def test_explicit_first_gives_more_of_what_is_said_than_of_what_is_shown() -> None:
    family = next(family for family in read_families() if not family.multi)
    usual, said = (
        Counter(pair.kind for pair in family_pairs(family, Random(2), counts=counts))
        for counts in (SHARES, EXPLICIT_FIRST)
    )
    assert said["transition_agrees"] > usual["transition_agrees"]
    assert said["inferred_inferred"] < usual["inferred_inferred"]


def test_statements_of_different_families_and_groups_do_not_touch_each_other() -> None:
    families, groups = read_families()[:30], read_groups()[:30]
    pairs = list(cross_family_pairs(families[0], families, Random(0), count=40))
    pairs += cross_group_pairs(groups[0], groups, Random(0), count=40)
    assert len(pairs) > 60
    assert {pair.label for pair in pairs} == {"neither"}
    own = set(families[0].statements())
    assert not any({pair.older, pair.newer} <= own for pair in pairs)


def test_derived_pairs_reverse_and_restate_but_do_not_reverse_plans() -> None:
    labels = labels_of([*group_pairs(GROUP), *derived_pairs(GROUP)])
    assert labels["Elisabet lives in Graz.", "Elisabet lives in Turku."] == {"supersedes"}
    assert labels["Elisabet's home is in Turku.", "Elisabet lives in Graz."] == {"supersedes"}
    assert labels["Elisabet's sister Henni lives in Graz.", "Elisabet lives in Graz."] == {
        "neither"
    }
    assert ("Elisabet will move next spring.", "Elisabet lives in Turku.") not in labels


def test_what_survives_a_change_is_set_before_and_behind_it() -> None:
    sister, moved = "Elisabet's sister lives in Graz.", "Elisabet lives in Turku."
    group = replace(
        GROUP, newer=((moved, "supersedes", "move"), (sister, "neither", "other_entity"))
    )
    labels = labels_of(derived_pairs(group))
    assert labels[sister, moved] == {"neither"}
    assert labels[moved, sister] == {"neither"}


@pytest.mark.parametrize(
    ("kind", "change", "before", "behind"),
    [
        ("other_attribute", "number", True, True),
        ("other_attribute", "implicit", False, False),  # "the car has winter tyres", "car is sold"
        ("temporary", "implicit", True, False),  # may still tell of the old state
        ("plan", "switched", False, False),  # may be what happened, or have changed
        ("partial", "switched", False, False),
    ],
)
def test_only_what_a_change_surely_leaves_true_is_set_beside_it(
    kind: str, change: str, before: bool, behind: bool
) -> None:
    group = replace(GROUP, newer=(("changed", "supersedes", change), ("beside", "neither", kind)))
    pairs = labels_of(derived_pairs(group))
    assert (("beside", "changed") in pairs) is before
    assert (("changed", "beside") in pairs) is behind


def test_renaming_both_texts_keeps_the_label_and_renaming_one_makes_it_neither() -> None:
    pair = LabelledPair("Dana lives in Ulm.", "Dana lives in Kiel.", "supersedes", "k", "a")
    augmenter = Augmenter(("Dana", "Priya", "Tomasz"), Random(0))
    both = augmenter.rename(pair, ["Dana"])
    assert both.label == "supersedes"
    assert both.older.split()[0] == both.newer.split()[0]
    one = augmenter.rename_in_newer(pair, "Dana")
    assert one.label == "neither"
    assert one.older == pair.older
    assert one.newer.split()[0] in {"Priya", "Tomasz"}


@pytest.mark.parametrize("label", ["supersedes", "supports", "neither"])
def test_varying_changes_the_label_only_by_renaming_one_text(label) -> None:
    augmenter = Augmenter(("Dana", "Priya"), Random(3))
    pair = LabelledPair("Dana lives in Ulm.", "Dana lives in Kiel.", label, "k", "a")
    for _ in range(300):
        varied = augmenter.vary(pair, filler="The depot is shut.")
        if varied.label != label:
            assert varied.kind == "other_entity_renamed"
            assert not ("Dana" in varied.older and "Dana" in varied.newer)
