"""Evidence counts in order of its time; as_of reads what was Active then."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gcmem.precedents import Cause, State


def test_late_testimony_never_revokes_a_newer_one(ledger):
    ledger.observe("city", "Kiel", at="2026-03-01")
    (change,) = ledger.observe("city", "Ulm", at="2026-01-01")
    assert (change.before, change.after) == (None, State.REVOKED)
    assert change.cause is Cause.LATE_EVIDENCE
    (active,) = ledger.active()
    assert active.value == "Kiel"
    assert [item.value for item in ledger.archive()] == ["Ulm"]


def test_late_evidence_is_where_it_belongs_in_the_past(ledger):
    ledger.observe("city", "Bonn", at="2026-01-01")
    ledger.observe("city", "Kiel", at="2026-03-01")
    ledger.observe("city", "Ulm", at="2026-02-01")
    seen = {
        when: [item.value for item in ledger.active(as_of=when)]
        for when in ("2025-12-31", "2026-01-15", "2026-02-15", "2026-03-15")
    }
    assert seen == {
        "2025-12-31": [],
        "2026-01-15": ["Bonn"],
        "2026-02-15": ["Ulm"],
        "2026-03-15": ["Kiel"],
    }


def test_late_outcomes_do_not_revoke_what_came_after_them(ledger):
    ledger.observe("city", "Ulm", at="2026-01-01")
    ledger.observe("city", "Kiel", at="2026-03-01")
    for day in (1, 2, 3):
        ledger.outcome("city", False, at=f"2026-02-0{day}")
    (active,) = ledger.active()
    assert (active.value, active.conflict) == ("Kiel", 0)
    assert ledger.active(as_of="2026-02-10") == []


def test_a_late_restatement_moves_created_at_back_and_nothing_else(ledger):
    ledger.observe("city", "Kiel", at="2026-03-01")
    ledger.observe("city", "Kiel", at="2026-01-01")
    (active,) = ledger.active()
    assert active.support == 2
    assert (active.created_at.month, active.updated_at.month) == (1, 3)


def test_as_of_gives_the_record_as_it_was_then(paper_ledger):
    for day in range(1, 7):
        paper_ledger.observe("tool", "pandas", at=f"2026-01-0{day}")
    (then,) = paper_ledger.active(as_of="2026-01-04T12:00:00Z")
    assert (then.support, then.updated_at) == (4, datetime(2026, 1, 4, tzinfo=UTC))
    assert paper_ledger.active(as_of="2026-01-02T12:00:00Z") == []


def test_as_of_may_be_asked_for_some_keys(ledger):
    ledger.observe("city", "Kiel", at="2026-01-01")
    ledger.observe("drink", "tea", at="2026-01-01")
    assert [item.key for item in ledger.active(keys=["DRINK"], as_of="2026-02-01")] == ["drink"]


def test_a_decision_by_hand_is_not_overturned_by_older_evidence(ledger):
    ledger.observe("city", "Kiel", at="2025-01-01")
    ledger.revoke(ledger.active()[0].id, "the user asked to forget it")
    ledger.observe("city", "Kiel", at="2025-06-01")
    assert ledger.active() == []
    assert [item.value for item in ledger.active(as_of="2025-02-01")] == ["Kiel"]


def test_a_decision_may_carry_its_own_time(ledger):
    ledger.observe("city", "Kiel", at="2025-01-01")
    ledger.revoke(ledger.active()[0].id, "moved away", at="2025-03-01")
    assert ledger.active() == []
    ledger.observe("city", "Kiel", at="2025-06-01")
    assert [item.value for item in ledger.active()] == ["Kiel"]
    assert ledger.active(as_of="2025-04-01") == []


def test_evidence_without_a_time_comes_after_all_that_is_known(ledger):
    ledger.observe("city", "Kiel", at="2999-01-01")
    ledger.observe("city", "Ulm")
    assert [item.value for item in ledger.active()] == ["Ulm"]


def test_evidence_of_one_time_counts_in_order_of_arrival(ledger):
    for value in ("Kiel", "Ulm", "Bonn"):
        ledger.observe("city", value, at="2026-01-01")
    assert [item.value for item in ledger.active()] == ["Bonn"]


@pytest.mark.parametrize(
    "at", ["2026-03-01", datetime(2026, 3, 1), 1772323200, "2026-03-01T01:00:00+01:00"]
)
def test_every_form_of_time_is_the_same_instant(ledger, at):
    ledger.observe("city", "Kiel", at=at)
    assert ledger.active()[0].created_at == datetime(2026, 3, 1, tzinfo=UTC)
