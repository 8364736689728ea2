"""Testimony, inference and guesses; authority, pins and open conflicts (the default policy)."""

from __future__ import annotations

import pytest

from gcmem.precedents import Cause, LifecyclePolicy, PrecedentLedger, State


def values(ledger: PrecedentLedger) -> list[str]:
    return [item.value for item in ledger.active()]


def test_what_the_user_says_is_active_at_once(ledger):
    (rise,) = ledger.observe("city", "Kiel")
    assert (rise.before, rise.after, rise.cause) == (None, State.ACTIVE, Cause.TESTIMONY)
    assert values(ledger) == ["Kiel"]


def test_testimony_supersedes_and_archives_the_older_value_with_the_cause(ledger):
    ledger.observe("city", "Ulm", at="2026-01-01")
    fall, rise = ledger.observe("city", "Kiel", at="2026-02-01")
    assert (fall.value, fall.after, fall.cause) == ("Ulm", State.REVOKED, Cause.SUPERSEDED)
    assert "Kiel" in fall.reason
    assert rise.after is State.ACTIVE
    assert [(item.value, item.conflict) for item in ledger.archive()] == [("Ulm", 1)]


def test_a_preference_that_flips_back_is_active_again(ledger):
    for day, value in enumerate(["tea", "coffee", "tea"], start=1):
        ledger.observe("drink", value, at=f"2026-01-0{day}")
    (active,) = ledger.active()
    assert (active.value, active.support) == ("tea", 2)
    assert active.created_at.day == 1
    assert active.updated_at.day == 3
    assert [item.value for item in ledger.archive()] == ["coffee"]


def test_restating_keeps_created_at_and_moves_updated_at(ledger):
    ledger.observe("city", "Kiel", at="2026-01-01")
    first = ledger.active()[0]
    assert ledger.observe("city", "kiel", at="2026-02-01") == []
    second = ledger.active()[0]
    assert (second.id, second.created_at) == (first.id, first.created_at)
    assert second.updated_at.month == 2
    assert second.value == "Kiel"


def test_inference_alone_does_not_unsay_what_the_user_said(ledger):
    ledger.observe("city", "Kiel")
    for _ in range(20):
        ledger.observe("city", "Berlin", evidence="inferred")
    (active,) = ledger.active()
    assert (active.value, active.conflict) == ("Kiel", 0)
    (conflict,) = ledger.conflicts()
    assert (conflict.active.value, conflict.challenger.value) == ("Kiel", "Berlin")
    assert conflict.cause is Cause.WEAKER_EVIDENCE


def test_failing_outcomes_do_revoke_what_the_user_said(ledger):
    ledger.observe("wifi password", "amber")
    changes = [item for _ in range(3) for item in ledger.outcome("wifi password", False)]
    assert [item.cause for item in changes] == [Cause.RECENT_OUTCOMES]
    assert values(ledger) == []


def test_two_failures_do_not_revoke_what_the_user_said_once(ledger):
    ledger.observe("wifi password", "amber")
    assert ledger.outcome("wifi password", False) == []
    assert ledger.outcome("wifi password", False) == []
    assert values(ledger) == ["amber"]


def test_a_restatement_answers_earlier_failures(ledger):
    ledger.observe("wifi password", "amber")
    for _ in range(4):
        ledger.outcome("wifi password", False)
        ledger.outcome("wifi password", False)
        ledger.observe("wifi password", "amber")
    assert values(ledger) == ["amber"]


def test_inferred_evidence_without_testimony_follows_the_papers_rule(ledger):
    for _ in range(3):
        ledger.observe("tool", "pandas", evidence="inferred")
    assert values(ledger) == ["pandas"]
    for _ in range(3):
        ledger.observe("tool", "polars", evidence="inferred")
    assert values(ledger) == ["polars"]


def test_testimony_overrules_inference_at_once(ledger):
    for _ in range(30):
        ledger.observe("tool", "pandas", evidence="inferred")
    ledger.observe("tool", "polars")
    assert values(ledger) == ["polars"]


def test_the_papers_policy_counts_testimony_like_any_evidence(paper_ledger):
    paper_ledger.observe("city", "Kiel", evidence="testimony")
    assert values(paper_ledger) == []


@pytest.mark.parametrize("source", ["assistant", "assistant:message-7", "AI", " Assistant : 3"])
@pytest.mark.parametrize("evidence", [None, "testimony", "inferred", "guess"])
def test_the_assistants_own_guess_never_becomes_active_by_repetition(ledger, source, evidence):
    for _ in range(12):
        ledger.observe("birthplace", "Faro", source=source, evidence=evidence)
    ledger.outcome("birthplace", True, value="Faro", source=source)
    assert values(ledger) == []
    (guess,) = ledger.hypotheses()
    assert guess.support == 13


@pytest.mark.parametrize(
    "policy",
    [
        LifecyclePolicy.tepa_rev(),
        LifecyclePolicy.no_revocation(),
        LifecyclePolicy.last_write_wins(),
        LifecyclePolicy.append_only(),
        LifecyclePolicy.sliding_window(3),
        LifecyclePolicy.reactive(),
        LifecyclePolicy.tepa_full(lambda trial: True),
    ],
)
def test_no_policy_lets_a_guess_in_or_lets_it_revoke(policy):
    with PrecedentLedger("sqlite://", policy) as ledger:
        for _ in range(3):
            ledger.observe("city", "Kiel", source="user")
        for _ in range(9):
            ledger.observe("city", "Faro", source="assistant")
        assert values(ledger) == ["Kiel"]
        assert ledger.active()[0].conflict == 0


def test_a_guess_that_the_user_confirms_is_active(ledger):
    ledger.observe("city", "Kiel", source="assistant")
    ledger.observe("city", "Kiel", source="user")
    (active,) = ledger.active()
    assert (active.support, active.authority) == (2, 0.0)


def test_an_assistant_cannot_fail_what_the_user_said(ledger):
    ledger.observe("city", "Kiel")
    for _ in range(9):
        ledger.outcome("city", False, source="assistant")
    assert values(ledger) == ["Kiel"]


def test_lower_authority_never_revokes_higher(ledger):
    ledger.observe("refund days", "30", source="policy office", authority=2.0)
    for _ in range(5):
        ledger.observe("refund days", "60", source="forum", authority=1.0)
        ledger.outcome("refund days", False, authority=1.0)
    (active,) = ledger.active()
    assert (active.value, active.conflict) == ("30", 0)
    assert [item.cause for item in ledger.conflicts()] == [Cause.AUTHORITY]


def test_equal_or_higher_authority_does_supersede(ledger):
    ledger.observe("refund days", "30", authority=2.0)
    ledger.observe("refund days", "60", authority=2.0)
    ledger.observe("refund days", "90", authority=3.0)
    assert values(ledger) == ["90"]


def test_a_pinned_value_is_never_revoked_by_evidence(ledger):
    ledger.observe("city", "Kiel")
    ledger.pin(ledger.active()[0].id)
    ledger.observe("city", "Ulm")
    for _ in range(9):
        ledger.outcome("city", False)
    (active,) = ledger.active()
    assert (active.value, active.pinned) == ("Kiel", True)
    (conflict,) = ledger.conflicts()
    assert (conflict.challenger.value, conflict.cause) == ("Ulm", Cause.PINNED)


def test_an_unpinned_value_follows_the_evidence_to_come(ledger):
    ledger.observe("city", "Kiel")
    kept = ledger.active()[0].id
    ledger.pin(kept)
    ledger.observe("city", "Ulm")
    ledger.unpin(kept)
    assert values(ledger) == ["Kiel"]
    ledger.observe("city", "Ulm")
    assert values(ledger) == ["Ulm"]


def test_a_blocked_claim_takes_over_when_what_stood_against_it_fails(ledger):
    ledger.observe("city", "Kiel", authority=1.0)
    ledger.observe("city", "Ulm")
    assert values(ledger) == ["Kiel"]
    for _ in range(3):
        ledger.outcome("city", False)
    assert values(ledger) == ["Ulm"]
