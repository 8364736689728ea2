"""How a wrong value is set right on purpose, also where evidence alone must not."""

from __future__ import annotations

import pytest

from gcmem.precedents import (
    Cause,
    LifecyclePolicy,
    PrecedentLedger,
    PrecedentStateError,
    State,
    Trials,
)
from gcmem.precedents.evidence import Claim, record_claims


def values(ledger: PrecedentLedger) -> list[str]:
    return [item.value for item in ledger.active()]


@pytest.fixture
def born(ledger: PrecedentLedger) -> PrecedentLedger:
    ledger.define_key("birthplace", cardinality="immutable")
    ledger.observe("birthplace", "Porto", at="2025-01-01")
    return ledger


def test_a_correction_replaces_an_immutable_value_and_says_why(born):
    born.observe("birthplace", "Faro", at="2025-06-01")
    assert values(born) == ["Porto"]
    fall, rise = born.correct("birthplace", "Faro", reason="her passport", at="2026-01-01")
    assert (fall.value, fall.after, fall.cause) == ("Porto", State.REVOKED, Cause.CORRECTED)
    assert fall.reason == "corrected to 'Faro': her passport"
    assert (rise.value, rise.after, rise.cause) == ("Faro", State.ACTIVE, Cause.CORRECTED)
    assert values(born) == ["Faro"]
    assert born.conflicts() == []
    assert [item.value for item in born.active(as_of="2025-12-31")] == ["Porto"]
    assert [item.value for item in born.active(as_of="2026-01-02")] == ["Faro"]


def test_what_was_corrected_is_as_immutable_as_before(born):
    born.correct("birthplace", "Faro", reason="her passport")
    born.observe("birthplace", "Porto")
    assert values(born) == ["Faro"]
    (conflict,) = born.conflicts()
    assert (conflict.challenger.value, conflict.cause) == ("Porto", Cause.IMMUTABLE)


def test_older_evidence_that_arrives_later_does_not_overturn_a_correction(born):
    born.correct("birthplace", "Faro", reason="her passport", at="2026-01-01")
    for day in range(1, 6):
        born.observe("birthplace", "Porto", at=f"2024-01-0{day}")
    assert values(born) == ["Faro"]


def test_a_correction_is_undone_exactly_by_revoke_and_restore(born):
    born.pin(born.active()[0].id, at="2025-01-02")
    (porto,) = born.active()
    born.correct("birthplace", "Faro", reason="a rumour", at="2026-01-01")
    with pytest.raises(PrecedentStateError, match="'Faro'"):
        born.restore(porto.id)
    born.revoke(born.active()[0].id, "only a rumour")
    born.restore(porto.id)
    assert born.active() == [porto]


def test_a_correction_outranks_a_pin_and_a_higher_authority(ledger):
    ledger.observe("city", "Ulm", authority=5)
    ledger.pin(ledger.active()[0].id)
    ledger.observe("city", "Kiel")
    assert values(ledger) == ["Ulm"]
    ledger.correct("city", "Kiel", reason="the register was wrong")
    (active,) = ledger.active()
    assert (active.value, active.authority, active.pinned) == ("Kiel", 5, False)
    ledger.observe("city", "Bonn")
    assert values(ledger) == ["Kiel"], "it ranks with what it replaced"
    ledger.observe("city", "Bonn", authority=5)
    assert values(ledger) == ["Bonn"], "evidence that comes later counts as ever"


def test_a_correction_may_have_a_rank_of_its_own(ledger):
    ledger.observe("city", "Ulm", authority=5)
    ledger.correct("city", "Kiel", reason="wrong", authority=1)
    ledger.observe("city", "Bonn", authority=1)
    assert values(ledger) == ["Bonn"]


@pytest.mark.parametrize(
    "policy",
    [
        LifecyclePolicy(),
        LifecyclePolicy.tepa_rev(),
        LifecyclePolicy.tepa_full(Trials(lambda trial: False)),
        LifecyclePolicy.no_revocation(),
        LifecyclePolicy.last_write_wins(),
        LifecyclePolicy.append_only(),
        LifecyclePolicy.sliding_window(2),
        LifecyclePolicy.reactive(),
    ],
    ids=lambda policy: f"{policy.strategy} {policy.testimony} {policy.revocation}",
)
def test_a_correction_works_under_every_policy(policy):
    with PrecedentLedger("sqlite://", policy) as ledger:
        for _ in range(4):
            ledger.observe("city", "Ulm")
        ledger.correct("city", "Kiel", reason="wrong")
        assert values(ledger) == ["Kiel"]


def test_a_correction_of_nothing_and_of_what_stands_are_observations(ledger):
    (rise,) = ledger.correct("city", "Kiel", reason="he told us")
    assert (rise.before, rise.after) == (None, State.ACTIVE)
    assert ledger.correct("city", "Kiel", reason="he told us") == []
    assert ledger.active()[0].support == 2


def test_a_correction_of_a_multi_valued_key_says_what_to_do_instead(ledger):
    ledger.observe("hobby", "chess", cardinality="multi")
    with pytest.raises(ValueError, match=r"'hobby' is multi-valued.*revoke the wrong one"):
        ledger.correct("hobby", "golf", reason="wrong")
    assert values(ledger) == ["chess"]


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"reason": " "}, ValueError),
        ({"value": ""}, ValueError),
        ({"key": 7}, TypeError),
        ({"source": ""}, ValueError),
        ({"authority": float("inf")}, ValueError),
        ({"at": "soon"}, ValueError),
    ],
)
def test_a_correction_that_is_not_allowed_is_an_error(ledger, changed, error):
    given = {"key": "city", "value": "Kiel", "reason": "wrong", **changed}
    key, value = given.pop("key"), given.pop("value")
    with pytest.raises(error):
        ledger.correct(key, value, **given)
    assert ledger.active() == []


# retract


def test_what_the_user_said_later_takes_the_place_of_what_is_taken_back(born):
    born.observe("birthplace", "Faro", at="2025-06-01")
    fall, rise = born.retract(born.active()[0].id, "a slip", at="2026-01-01")
    assert (fall.value, fall.cause, fall.reason) == ("Porto", Cause.RETRACTED, "a slip")
    assert (rise.value, rise.after, rise.cause) == ("Faro", State.ACTIVE, Cause.TESTIMONY)
    assert values(born) == ["Faro"]
    assert [item.value for item in born.active(as_of="2025-12-31")] == ["Porto"]


def test_what_an_assistant_guessed_does_not_take_that_place(born):
    for _ in range(9):
        born.observe("birthplace", "Faro", source="assistant")
    born.retract(born.active()[0].id, "a slip")
    assert values(born) == []


def test_what_was_true_before_does_not_come_back_for_a_retraction(ledger):
    ledger.observe("city", "Ulm", at="2026-01-01")
    ledger.observe("city", "Kiel", at="2026-02-01")
    ledger.retract(ledger.active()[0].id, "a slip")
    assert values(ledger) == []


def test_revoke_alone_leaves_the_place_free_so_that_restore_undoes_it(born):
    born.observe("birthplace", "Faro", at="2025-06-01")
    before = born.active() + born.hypotheses()
    born.revoke(before[0].id, "trying")
    assert values(born) == []
    born.restore(before[0].id)
    assert born.active() + born.hypotheses() == before


def test_a_retraction_is_undone_exactly(ledger):
    ledger.observe("city", "Kiel", at="2026-01-01", authority=1)
    (before,) = ledger.active()
    ledger.retract(before.id, "a slip")
    ledger.restore(before.id)
    assert ledger.active() == [before]
    with pytest.raises(PrecedentStateError, match="Revoked already"):
        [ledger.retract(before.id, "a slip") for _ in range(2)]


@pytest.mark.parametrize("order", [("not Porto", "Faro"), ("Faro", "not Porto")])
def test_a_user_corrects_an_immutable_key_in_a_conversation_in_either_order(born, order):
    claims = {
        "Faro": Claim("birthplace", "Faro", source="user:m2"),
        "not Porto": Claim("birthplace", "Porto", source="user:m2", retracts=True),
    }
    record_claims(born, [claims[name] for name in order])
    assert values(born) == ["Faro"]
    assert [item.value for item in born.archive()] == ["Porto"]
    assert born.conflicts() == []


def test_a_user_cannot_take_back_what_is_pinned_or_ranks_higher(born):
    born.pin(born.active()[0].id)
    born.observe("city", "Ulm", authority=1)
    for key, value in (("birthplace", "Porto"), ("city", "Ulm")):
        assert record_claims(born, [Claim(key, value, retracts=True)]) == []
    assert values(born) == ["Porto", "Ulm"]
