from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from gcmem.training.corpus_files import Family, Group, read_families, read_groups
from gcmem.training.lint import family_problems, group_problems, keyword_leakage


@pytest.fixture(scope="module")
def families() -> list[Family]:
    return read_families()


@pytest.fixture(scope="module")
def groups() -> list[Group]:
    return read_groups()


def test_the_families_have_no_problems(families: list[Family]) -> None:
    assert list(family_problems(families)) == []


def test_the_groups_have_no_problems(groups: list[Group]) -> None:
    assert list(group_problems(groups)) == []


def test_the_corpus_has_the_size_that_the_model_card_states(
    families: list[Family], groups: list[Group]
) -> None:
    assert len(families) >= 1050
    assert len(groups) >= 900


def test_inferred_statements_seldom_name_their_state(families: list[Family]) -> None:
    assert keyword_leakage(families) <= 0.03


def test_the_lint_finds_a_leak(families: list[Family]) -> None:
    family = next(family for family in families if not family.multi)
    explicit, _ = family.states["A"]
    leaking = {"A": (explicit, (f"It is {family.labels['A']} as everybody knows",) * 4)}
    altered = Family(
        **{name: getattr(family, name) for name in Family.__slots__} | {"states": leaking}
    )
    assert keyword_leakage([altered]) == 1.0


def test_every_split_has_its_share_of_attributes(
    families: list[Family], groups: list[Group]
) -> None:
    for parts in (families, groups):
        counts = Counter(part.split for part in parts)
        assert counts["train"] > 0.7 * len(parts)
        assert counts["dev"] > 0.03 * len(parts)
        assert counts["test"] > 0.03 * len(parts)


def test_no_statement_of_the_test_split_stands_in_the_train_split(
    families: list[Family], groups: list[Group]
) -> None:
    texts: dict[str, set[str]] = defaultdict(set)
    for family in families:
        texts[family.split].update(text.lower() for text in family.all_texts())
    for group in groups:
        texts[group.split].update([group.older.lower(), *(t.lower() for t, _, _ in group.newer)])
    assert not texts["train"] & texts["test"]
    assert not texts["train"] & texts["dev"]


def test_the_groups_cover_the_kinds_that_are_asked_for(groups: list[Group]) -> None:
    kinds = Counter((label, kind) for group in groups for _, label, kind in group.newer)
    wanted = {
        "supersedes": "preference_flip stopped started switched migrated cancelled corrected number"
        " date_time version config price move job owner name status relationship antonym on_off"
        " alias implicit amendment plain_value retracted",
        "neither": "other_entity other_attribute history plan hypothetical question quotation guess"
        " multi_valued both_events other_context homonym lexical_trap unrelated",
        "supports": "paraphrase refinement other_units",
    }
    missing = {
        (label, kind)
        for label, names in wanted.items()
        for kind in names.split()
        if kinds[label, kind] < 10
    }
    assert not missing
