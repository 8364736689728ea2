"""Temporal Mutation: the instances are what they claim, and the mechanism gives what it must."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import bag_of_facts, detectors, results, temporal_mutation, theory
from benchmarks.mutation import experiment
from benchmarks.mutation.candidates import Candidates
from benchmarks.mutation.experiment import Condition
from benchmarks.mutation.instances import (
    RATIOS,
    Chunk,
    Instance,
    held_out_families,
    leakage,
    make_instances,
)
from benchmarks.mutation.methods import (
    StateOracle,
    collecting,
    multi_factor,
    newest_first,
    oracle,
    standard,
    time_decay,
)
from benchmarks.mutation.reading import first, interval, majority, measure
from gcmem import Collector


def chat(states: str, *, current: str = "B") -> Instance:
    """One chunk per letter; "-" is a distractor; repeated letters repeat the state's wordings."""
    seen: Counter[str] = Counter()
    chunks = []
    for day, letter in enumerate(states):
        seen[letter] += 1
        role = "distractor" if letter == "-" else "new" if letter == current else "old"
        text = f"{letter} {seen[letter] % 3}"
        chunks.append(Chunk(f"c{day}", text, day, role, None if letter == "-" else letter))
    labels = {state: state for state in "ABC"}
    return Instance("x", "f", "change", (1, 1), "Which?", current, labels, tuple(chunks))


def candidates_of(instance: Instance, **changes) -> Candidates:
    level = {chunk.id: 0.5 for chunk in instance.chunks}
    found = Candidates(instance, instance.chunks, level, level, level, 0.0)
    return replace(found, **changes)


def texts(shown) -> list[str]:
    return [chunk.text for chunk in shown.chunks]


@pytest.fixture(scope="module")
def instances() -> list[Instance]:
    return make_instances(48, seed=3)


def test_each_instance_has_n_old_and_m_new_statements_and_the_new_come_last(instances):
    for instance in instances:
        roles = Counter(chunk.role for chunk in instance.chunks)
        assert (roles["old"] + roles["earlier"], roles["new"]) == instance.ratio
        assert roles["distractor"] == 20
        last_before = max(c.day for c in instance.chunks if c.role in {"old", "earlier"})
        assert all(chunk.day > last_before for chunk in instance.chunks if chunk.role == "new")


def test_ratios_take_turns_and_chains_and_flips_need_a_third_state(instances):
    assert Counter(instance.ratio for instance in instances) == dict.fromkeys(RATIOS, 8)
    kinds = Counter(instance.kind for instance in instances)
    assert kinds["chain"]
    assert kinds["flip"]
    for instance in instances:
        assert len(instance.states) == (3 if instance.kind == "chain" else 2)
        assert (instance.kind == "flip") == any(c.role == "earlier" for c in instance.chunks)


def test_statements_are_of_held_out_single_valued_attributes_only(instances):
    families = {family.id: family for family in held_out_families()}
    assert {family.split for family in families.values()} == {"dev", "test"}
    assert not any(family.multi for family in families.values())
    assert {instance.family for instance in instances} <= set(families)


@pytest.mark.parametrize(("wording", "part"), [("said", 0), ("behaviour", 1)])
def test_old_statements_come_in_every_wording_of_the_family_before_one_returns(wording, part):
    families = {family.id: family for family in held_out_families()}
    (instance,) = make_instances(1, wording=wording, ratios=((9, 1),), seed=5)
    states = Counter(chunk.state for chunk in instance.chunks if chunk.role == "old")
    for state, said in states.items():
        known = families[instance.family].states[state][part]
        found = {c.text for c in instance.chunks if c.role == "old" and c.state == state}
        assert found <= set(known)
        assert len(found) == min(said, len(known))


def test_the_same_seed_gives_the_same_instances_and_another_gives_others():
    assert make_instances(6, seed=1) == make_instances(6, seed=1) != make_instances(6, seed=2)


def test_behaviour_leaks_no_more_of_the_label_than_the_paper_allows(instances):
    said = leakage(make_instances(48, wording="said", seed=3))
    behaviour = leakage(instances)
    assert behaviour["a word"] <= 0.03 < said["a word"]


def test_the_majority_reader_is_trapped_by_two_old_statements_and_unsure_of_one():
    assert majority(chat("AB"), chat("AB").chunks)["forced"] == 0.5
    assert majority(chat("AB"), chat("AB").chunks)["unclear"] == 1.0
    assert majority(chat("AAB"), chat("AAB").chunks)["forced"] == 0.0
    assert majority(chat("ABB"), chat("ABB").chunks)["allow-unclear"] == 1.0
    assert majority(chat("AB"), ())["forced"] == 0.5


def test_the_reader_who_trusts_the_order_is_right_where_the_newest_comes_first():
    found = candidates_of(chat("AAB-"))
    assert first(found.instance, standard(found).chunks) == 0.0
    assert first(found.instance, newest_first(found).chunks) == 1.0
    assert texts(time_decay(found))[0] == "- 1"


def test_gcmem_with_the_oracle_leaves_the_newest_state_alone_in_changes_chains_and_flips():
    for states, current in (("AA-AB", "B"), ("AABB-C", "C"), ("AAB-BA", "A")):
        shown = oracle()(candidates_of(chat(states, current=current)))
        assert {chunk.state for chunk in shown.chunks} == {current, None}
    row = measure(candidates_of(chat("AA-AB")), oracle()(candidates_of(chat("AA-AB"))))
    assert (row["CR-Acc"], row["stale removed"], row["distractors removed"]) == (1.0, 3.0, 0.0)


def test_the_explicit_detector_removes_nothing_from_chunks_without_metadata():
    found = candidates_of(chat("AAB"))
    assert texts(collecting(Collector("explicit"))(found)) == texts(standard(found))


def test_time_alone_keeps_the_new_state_and_usage_alone_throws_it_away():
    instance = chat("AAAB")
    usage = {chunk.id: 1.0 / (1 + chunk.day) for chunk in instance.chunks}
    found = candidates_of(instance, usage=usage)
    assert {c.state for c in multi_factor(only="recency")(found).chunks} == {"B"}
    assert {c.state for c in multi_factor(only="usage")(found).chunks} == {"A"}


def test_an_oracle_of_degraded_recall_finds_about_that_share_and_never_more_than_a_better_one():
    letters = "A" * 200 + "B"
    instance = chat(letters)
    chunks = tuple(replace(c, text=f"{c.state} {c.day}") for c in instance.chunks)
    instance = replace(instance, chunks=chunks)
    pairs = [(chunk.text, chunks[-1].text) for chunk in chunks[:-1]]
    found = {r: StateOracle(instance, recall=r).score(pairs) for r in (0.0, 0.3, 0.6, 1.0)}
    assert found[0.0].sum() == 0
    assert found[1.0].sum() == 200
    assert np.all(found[0.3] <= found[0.6])
    assert 0.45 < found[0.6].mean() < 0.75


def test_bootstrap_intervals_hold_the_mean_and_have_no_width_without_spread():
    low, high = interval([0.0, 1.0] * 20)
    assert low < 0.5 < high
    assert interval([1.0] * 20) == [1.0, 1.0]


def test_theorem_one_is_the_mean_of_random_draws():
    (instance,) = make_instances(1, ratios=((10, 1),), seed=4)
    assert theory.bound(10, 10, 1) == pytest.approx(10 / 11)
    assert theory.bound(10, 1, 1) == 1
    assert theory.random_draw(instance, 10) == pytest.approx(10 / 11, abs=0.1)


def test_chroma_gives_k_candidates_and_short_term_memory_adds_the_newest():
    (instance,) = make_instances(1, ratios=((10, 1),), seed=3)
    conditions = [Condition("off", 10), Condition("on", 10, 10), Condition("all", None)]
    frozen = {
        name: found[0]
        for name, found in experiment.freeze([instance], conditions, title="test").items()
    }
    ids = {name: {chunk.id for chunk in found.chunks} for name, found in frozen.items()}
    newest = {chunk.text for chunk in instance.chunks[-10:]}
    assert len(ids["off"]) == 10
    assert ids["off"] < ids["on"] < ids["all"] == {chunk.id for chunk in instance.chunks}
    assert newest <= {chunk.text for chunk in frozen["on"].chunks}
    assert max(frozen["all"].usage.values()) == 1.0


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("temporal_mutation", temporal_mutation),
        ("bag_of_facts", bag_of_facts),
        ("detectors", detectors),
        ("theory", theory),
    ],
)
def test_every_command_writes_its_figures_with_the_seed(name, module, tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(theory, "RATIOS", RATIOS[:2])
    options = ["--instances", "2", "--distractors", "12", "--seed", "9", "--sizes", "medium"]
    if module is not theory:
        options += ["--detectors", "explicit"]
    module.main([*options, "--wordings", "behaviour"])
    written = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    assert written["seed"] == 9
    assert written["config"].get("detectors") == (None if module is theory else ["explicit"])
    assert written["command"].startswith(f"python -m benchmarks {name.replace('_', '-')} --inst")
    assert written["results"]
