"""Compaction forgets the single pieces of old evidence, and nothing that they came to."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from gcmem.precedents import Cause, LifecyclePolicy, PrecedentLedger, State
from gcmem.precedents.schema import evidence
from tests.precedents.test_properties import POLICIES, START, everything, names, opened, sequences


def pieces(ledger: PrecedentLedger) -> int:
    """How many pieces of evidence are stored one by one."""
    counted = select(func.count()).select_from(evidence)
    return int(ledger._storage.read(lambda connection: connection.scalar(counted)) or 0)


def then(ledger: PrecedentLedger, when: Any) -> list[str]:
    return [item.value for item in ledger.active(as_of=when)]


def steps(ledger: PrecedentLedger) -> list[tuple[Any, ...]]:
    """The audit trail without its sentences."""
    return [
        (item.value, item.before, item.after, item.support, item.conflict)
        for item in ledger.history("k")
    ]


@settings(max_examples=40, deadline=None)
@given(sequences, names, st.sampled_from(["single", "multi", "immutable"]), st.randoms())
def test_after_a_compaction_the_ledger_goes_on_as_one_that_was_not_compacted(
    sequence, name, cardinality, random
):
    told = [
        item
        for item in sequence
        if cardinality != "multi" or (item.kind != "correct" and item.value is not None)
    ]
    cut = random.randint(0, len(told))
    later = list(enumerate(told))[cut:]
    random.shuffle(later)  # late, but not older than what was compacted
    with (
        opened(POLICIES[name], cardinality) as whole,
        opened(POLICIES[name], cardinality) as compact,
    ):
        for ledger in (whole, compact):
            for minute, item in enumerate(told[:cut]):
                item.tell(ledger, minute)
        compact.compact(START + timedelta(minutes=cut), at_least=1)
        assert pieces(compact) == 0
        assert everything(compact) == everything(whole)
        for number, (minute, item) in enumerate(later):
            for ledger in (whole, compact):
                item.tell(ledger, minute)
            if number == len(later) // 2:
                compact.compact(START + timedelta(minutes=cut), at_least=1)
        assert everything(compact) == everything(whole)
        assert steps(compact) == steps(whole)
        for minute in range(-1, len(told) + 2):
            when = START + timedelta(minutes=minute)
            assert sorted(then(compact, when)) == sorted(then(whole, when))
            if minute >= cut:
                assert compact.active(as_of=when) == whole.active(as_of=when)
        for precedent in compact.active() + compact.hypotheses():
            for ledger in (whole, compact):
                ledger.revoke(precedent.id, "trying")
                ledger.restore(precedent.id)
        assert everything(compact) == everything(whole)


def test_counts_posterior_audit_and_explanations_stay(paper_ledger):
    for minute in range(40):
        value = "pandas" if minute < 30 else "polars"
        paper_ledger.observe("tool", value, at=START + timedelta(minutes=minute), source="user:1")
    asked = (
        paper_ledger.active,
        paper_ledger.archive,
        lambda: paper_ledger.history("tool"),
        lambda: [paper_ledger.explain(item.id) for item in paper_ledger.active()],
        lambda: paper_ledger.active(as_of=START + timedelta(hours=2)),
    )
    before = [ask() for ask in asked]
    done = paper_ledger.compact(START + timedelta(hours=1))
    assert (done.keys, done.observations) == (0, 0), "too few of them to be worth it"
    done = paper_ledger.compact(START + timedelta(hours=1), at_least=40)
    assert (done.keys, done.observations) == (1, 40)
    assert pieces(paper_ledger) == 0
    assert [ask() for ask in asked] == before


def test_evidence_that_goes_on_for_ever_takes_no_more_room(ledger):
    sizes = []
    for hour in range(4):
        for minute in range(50):
            at = START + timedelta(hours=hour, minutes=minute)
            ledger.observe("city", ("Ulm", "Kiel")[hour % 2], at=at)
        ledger.compact(START + timedelta(hours=hour, minutes=30), at_least=1)
        sizes.append(pieces(ledger))
    assert sizes == [20, 20, 20, 20]
    assert [(item.value, item.support) for item in ledger.active() + ledger.archive()] == [
        ("Kiel", 100),
        ("Ulm", 100),
    ]
    asked = [START + timedelta(hours=hour, minutes=40) for hour in range(4)]
    assert [then(ledger, when) for when in asked] == [["Ulm"], ["Kiel"], ["Ulm"], ["Kiel"]]


def test_as_of_in_the_compacted_past_gives_the_counts_of_the_last_transition(ledger):
    for day in range(1, 10):
        ledger.observe("city", "Kiel", at=f"2026-01-0{day}")
    ledger.compact("2026-01-09", at_least=1)
    (compacted,) = ledger.active(as_of="2026-01-05")
    assert (compacted.value, compacted.support, compacted.recent) == ("Kiel", 1, ())
    assert ledger.active(as_of="2025-12-31") == []
    (exact,) = ledger.active(as_of="2026-01-08")
    assert exact.support == 8
    assert ledger.active()[0].support == 9


def test_evidence_older_than_what_was_compacted_counts_and_decides_nothing(ledger):
    ledger.observe("city", "Kiel", at="2026-01-01")
    ledger.observe("city", "Kiel", at="2026-02-01")
    ledger.compact("2026-03-01", at_least=1)
    assert ledger.observe("city", "Kiel", at="2025-01-01") == []
    (change,) = ledger.observe("city", "Ulm", at="2026-01-15")
    assert (change.after, change.cause) == (State.REVOKED, Cause.LATE_EVIDENCE)
    assert "compacted" in change.reason
    ledger.outcome("city", False, at="2026-01-20")
    (active,) = ledger.active()
    assert (active.value, active.support, active.conflict) == ("Kiel", 3, 1)
    assert active.created_at.year == 2025
    assert then(ledger, "2026-01-16") == ["Kiel"]
    ledger.observe("city", "Ulm")
    assert [item.value for item in ledger.active()] == ["Ulm"]


def test_late_evidence_stays_counted_through_the_next_compaction(ledger):
    ledger.observe("city", "Kiel", at="2026-02-01")
    ledger.compact("2026-03-01", at_least=1)
    ledger.observe("city", "Ulm", at="2026-01-15")
    before = everything(ledger)
    ledger.compact("2026-03-01", at_least=1)
    assert pieces(ledger) == 0
    ledger.observe("city", "Kiel", at="2026-02-01")  # folds again
    after = everything(ledger)
    assert [(item.value, item.support) for item in after] == [("Kiel", 2), ("Ulm", 1)]
    assert [item.state for item in after] == [item.state for item in before]


def test_an_old_value_of_a_multi_valued_key_still_stands_beside_the_others(ledger):
    ledger.define_key("hobby", cardinality="multi")
    ledger.observe("hobby", "golf", at="2026-02-01")
    ledger.compact("2026-03-01", at_least=1)
    ledger.observe("hobby", "chess", at="2025-01-01")
    assert sorted(item.value for item in ledger.active()) == ["chess", "golf"]


def test_a_decision_dated_in_the_compacted_past_is_an_error(ledger):
    ledger.observe("city", "Kiel", at="2026-02-01")
    ledger.compact("2026-03-01", at_least=1)
    kept = ledger.active()[0].id
    with pytest.raises(ValueError, match=r"2026-02-01.*compacted.*2026-01-01"):
        ledger.revoke(kept, "wrong", at="2026-01-01")
    assert ledger.active()[0].id == kept
    ledger.revoke(kept, "wrong", at="2026-02-02")
    ledger.restore(kept)
    assert ledger.active()[0].id == kept


def test_what_was_revoked_by_hand_before_is_restored_byte_for_byte_after(ledger):
    ledger.observe("city", "Kiel", at="2026-01-01", authority=2.0)
    ledger.pin(ledger.active()[0].id, at="2026-01-02")
    (before,) = ledger.active()
    ledger.revoke(before.id, "trying", at="2026-01-03")
    ledger.compact("2026-02-01", at_least=1)
    ledger.observe("city", "Bonn", at="2026-01-03", evidence="inferred")  # folds again
    ledger.restore(before.id)
    assert ledger.active() == [before]


@pytest.mark.parametrize(("cardinality", "kept"), [("single", "golf"), ("immutable", "chess")])
def test_a_key_that_is_redefined_later_keeps_to_its_rule(ledger, cardinality, kept):
    ledger.define_key("hobby", cardinality="multi")
    ledger.observe("hobby", "chess", at="2026-01-01")
    ledger.observe("hobby", "golf", at="2026-01-02")
    ledger.compact("2026-03-01", at_least=1)
    (change,) = ledger.define_key("hobby", cardinality=cardinality)
    assert (change.after, change.cause) == (State.REVOKED, Cause.REDEFINED)
    assert [item.value for item in ledger.active()] == [kept]


def test_a_policy_that_allows_one_value_takes_over_a_compacted_ledger_of_many(tmp_path):
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    with PrecedentLedger(url, LifecyclePolicy.append_only()) as ledger:
        for day, value in enumerate(("Ulm", "Kiel"), start=1):
            ledger.observe("city", value, at=f"2026-01-0{day}")
        ledger.compact("2026-02-01", at_least=1)
    with PrecedentLedger(url) as ledger:
        ledger.observe("city", "Bonn", at="2026-01-02", evidence="inferred")
        ledger.observe("city", "Bonn", at="2026-01-01", evidence="inferred")  # decides it anew
        assert [item.value for item in ledger.active()] == ["Kiel"]


def test_only_the_scope_that_is_named_is_compacted_and_audited_without_its_name(ledger):
    for scope in ("ann", "ben"):
        for day in range(1, 6):
            ledger.observe("city", "Kiel", scope=scope, at=f"2026-01-0{day}")
    one = ledger.compact("2026-02-01", scope="ann", at_least=5)
    every = ledger.compact("2026-02-01", at_least=5)
    assert (one.observations, every.observations) == (5, 5)
    assert one.scope_digest is not None
    assert every.scope_digest is None
    assert ledger.compactions() == [one, every]
    assert "ann" not in repr(one)


def test_a_purge_takes_what_was_compacted_as_well(tmp_path):
    with PrecedentLedger(f"sqlite:///{tmp_path / 'memory.db'}") as ledger:
        ledger.observe("city", "Xanadu", scope="ann", at="2026-01-01")
        ledger.compact("2026-02-01", at_least=1)
        assert ledger.purge("ann").precedents == 1
        assert ledger.active("ann", as_of="2026-01-15") == []
        for path in tmp_path.iterdir():
            assert b"Xanadu" not in path.read_bytes(), path.name


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"before": "long ago"}, ValueError),
        ({"before": None}, TypeError),
        ({"before": "2026-01-01", "at_least": 0}, ValueError),
        ({"before": "2026-01-01", "at_least": True}, TypeError),
        ({"before": "2026-01-01", "scope": 7}, TypeError),
    ],
)
def test_bad_options_are_errors(ledger, options, error):
    with pytest.raises(error):
        ledger.compact(**options)
    assert ledger.compactions() == []


def test_writers_and_compactions_at_the_same_time_lose_nothing(url):
    with PrecedentLedger(url) as ledger:
        writing = threading.Event()
        writing.set()

        def write(number: int) -> None:
            for turn in range(25):
                ledger.observe(f"key {turn % 3}", f"value {number % 2}", scope="team")

        def compact(_: int) -> int:
            removed = 0
            while writing.is_set():
                removed += ledger.compact("2999-01-01", at_least=1).observations
            return removed

        with ThreadPoolExecutor(8) as pool:
            removing = [pool.submit(compact, number) for number in range(2)]
            list(pool.map(write, range(6)))
            writing.clear()
            removed = sum(future.result() for future in removing)
        left = pieces(ledger)
        assert removed + left == 6 * 25
        found = ledger.active("team") + ledger.archive("team")
        assert sum(item.support for item in found) == 6 * 25
        assert len(ledger.active("team")) == 3
        assert sum(item.observations for item in ledger.compactions()) == removed
