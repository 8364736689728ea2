"""Single, multi-valued and immutable keys."""

from __future__ import annotations

import pytest

from gcmem.precedents import Cardinality, Cause, LifecyclePolicy, PrecedentLedger, State


def values(ledger: PrecedentLedger, scope: object = ()) -> list[str]:
    return sorted(item.value for item in ledger.active(scope))  # type: ignore[arg-type]


def test_values_of_a_multi_valued_key_stand_side_by_side(ledger):
    ledger.define_key("hobby", cardinality="multi")
    for value in ("chess", "sailing", "chess"):
        ledger.observe("hobby", value)
    assert values(ledger) == ["chess", "sailing"]
    assert {item.conflict for item in ledger.active()} == {0}
    assert ledger.conflicts() == []


def test_a_failure_of_one_value_of_a_multi_valued_key_leaves_the_others(ledger):
    ledger.define_key("hobby", cardinality=Cardinality.MULTI)
    ledger.observe("hobby", "chess")
    ledger.observe("hobby", "sailing")
    for _ in range(3):
        ledger.outcome("hobby", False, value="chess")
    assert values(ledger) == ["sailing"]


def test_an_outcome_of_a_multi_valued_key_must_name_the_value(ledger):
    ledger.observe("hobby", "chess", cardinality="multi")
    with pytest.raises(ValueError, match=r"value must be given .*'hobby'"):
        ledger.outcome("hobby", False)
    assert values(ledger) == ["chess"]


def test_a_later_claim_about_an_immutable_key_is_kept_and_surfaced(ledger):
    ledger.define_key("birthplace of Elena", cardinality="immutable")
    ledger.observe("birthplace of Elena", "Porto", at="2020-01-01", source="user")
    (claim,) = ledger.observe("birthplace of Elena", "Faro", at="2024-01-01", source="user")
    assert (claim.after, claim.cause) == (State.HYPOTHESIS, Cause.IMMUTABLE)
    assert values(ledger) == ["Porto"]
    (conflict,) = ledger.conflicts()
    assert (conflict.active.value, conflict.challenger.value) == ("Porto", "Faro")
    assert conflict.cause is Cause.IMMUTABLE
    assert "Faro" in conflict.reason


@pytest.mark.parametrize("policy", [LifecyclePolicy(), LifecyclePolicy.last_write_wins()])
def test_no_amount_of_evidence_supersedes_an_immutable_value(policy):
    with PrecedentLedger("sqlite://", policy) as ledger:
        ledger.define_key("birthplace", cardinality="immutable")
        ledger.observe("birthplace", "Porto")
        for _ in range(20):
            ledger.observe("birthplace", "Faro")
            ledger.outcome("birthplace", False)
        assert values(ledger) == ["Porto"]


def test_the_earliest_claim_about_an_immutable_key_stands_in_any_order_of_arrival(ledger):
    ledger.define_key("birthplace", cardinality="immutable")
    ledger.observe("birthplace", "Faro", at="2024-01-01")
    ledger.observe("birthplace", "Porto", at="2020-01-01")
    assert values(ledger) == ["Porto"]


def test_an_immutable_value_can_still_be_corrected_by_hand(ledger):
    ledger.define_key("birthplace", cardinality="immutable")
    ledger.observe("birthplace", "Faro")
    ledger.revoke(ledger.active()[0].id, "typing mistake")
    ledger.observe("birthplace", "Porto")
    assert values(ledger) == ["Porto"]


def test_a_definition_reaches_every_scope_present_and_future(ledger):
    ledger.observe("hobby", "chess", scope="ann", at="2026-01-01")
    ledger.observe("hobby", "sailing", scope="ann", at="2026-01-02")
    assert values(ledger, "ann") == ["sailing"]
    changes = ledger.define_key("Hobby", cardinality="multi")
    assert [(item.value, item.after, item.cause) for item in changes] == [
        ("chess", State.ACTIVE, Cause.REDEFINED)
    ]
    assert values(ledger, "ann") == ["chess", "sailing"]
    ledger.observe("hobby", "chess", scope="ben")
    ledger.observe("hobby", "golf", scope="ben")
    assert values(ledger, "ben") == ["chess", "golf"]


def test_a_definition_for_one_scope_beats_the_general_one(ledger):
    ledger.define_key("hobby", cardinality="single", scope="ann")
    ledger.define_key("hobby", cardinality="multi")
    for scope in ("ann", "ben"):
        ledger.observe("hobby", "chess", scope=scope, at="2026-01-01")
        ledger.observe("hobby", "golf", scope=scope, at="2026-01-02")
    assert values(ledger, "ann") == ["golf"]
    assert values(ledger, "ben") == ["chess", "golf"]


def test_defining_back_and_forth_loses_nothing(ledger):
    for day, value in enumerate(("chess", "golf", "chess", "sailing"), start=1):
        ledger.observe("hobby", value, at=f"2026-01-0{day}")
    before = (ledger.active(), ledger.archive())
    ledger.define_key("hobby", cardinality="multi")
    ledger.define_key("hobby", cardinality="single")
    assert (ledger.active(), ledger.archive()) == before


def test_a_definition_survives_the_process(tmp_path):
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    with PrecedentLedger(url) as ledger:
        ledger.define_key("hobby", cardinality="multi")
    with PrecedentLedger(url) as ledger:
        ledger.observe("hobby", "chess")
        ledger.observe("hobby", "golf")
        assert values(ledger) == ["chess", "golf"]
