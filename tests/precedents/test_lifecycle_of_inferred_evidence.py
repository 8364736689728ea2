"""The paper's rule (TEPA-Rev): propose, promote, revoke, promote again."""

from __future__ import annotations

import pytest

from gcmem.precedents import Cause, LifecyclePolicy, PrecedentLedger, State


def observe(ledger: PrecedentLedger, value: str, times: int = 1, key: str = "tool") -> list[object]:
    return [item for _ in range(times) for item in ledger.observe(key, value)]


def values(ledger: PrecedentLedger) -> list[str]:
    return [item.value for item in ledger.active()]


def test_a_value_is_a_hypothesis_until_its_third_support(paper_ledger):
    observe(paper_ledger, "pandas", 2)
    assert values(paper_ledger) == []
    assert [item.support for item in paper_ledger.hypotheses()] == [2]
    (promotion,) = paper_ledger.observe("tool", "pandas")
    assert (promotion.before, promotion.after) == (State.HYPOTHESIS, State.ACTIVE)
    assert promotion.cause is Cause.PROMOTED
    assert (promotion.support, promotion.conflict) == (3, 0)
    assert values(paper_ledger) == ["pandas"]


def test_support_counts_every_observation_the_first_included(paper_ledger):
    observe(paper_ledger, "pandas", 7)
    (active,) = paper_ledger.active()
    assert (active.support, active.conflict) == (7, 0)


def test_the_posterior_mean_is_beta_bernoulli():
    policy = LifecyclePolicy()
    assert policy.posterior(0, 0) == 0.5
    assert policy.posterior(3, 1) == 4 / 6
    assert LifecyclePolicy(prior=(2, 5)).posterior(3, 1) == 5 / 11


def test_another_value_counts_as_conflict_for_the_active_one(paper_ledger):
    observe(paper_ledger, "pandas", 3)
    observe(paper_ledger, "polars")
    (active,) = paper_ledger.active()
    assert (active.value, active.support, active.conflict) == ("pandas", 3, 1)
    assert active.recent == (True, True, True, False)


def test_three_failures_in_a_row_revoke_whatever_came_before(paper_ledger):
    observe(paper_ledger, "pandas", 50)
    assert paper_ledger.outcome("tool", False) == []
    assert paper_ledger.outcome("tool", False) == []
    (fall,) = paper_ledger.outcome("tool", False)
    assert (fall.after, fall.cause) == (State.REVOKED, Cause.RECENT_OUTCOMES)
    assert values(paper_ledger) == []
    assert [item.value for item in paper_ledger.archive()] == ["pandas"]


def test_a_success_among_failures_keeps_the_value(paper_ledger):
    observe(paper_ledger, "pandas", 3)
    for success in (False, False, True, True) * 5:
        paper_ledger.outcome("tool", success)
    assert values(paper_ledger) == ["pandas"]


def test_a_wider_window_adapts_more_slowly():
    needed = {}
    for window in (3, 4, 6):
        with PrecedentLedger("sqlite://", LifecyclePolicy.tepa_rev(window=window)) as ledger:
            observe(ledger, "pandas", 10)
            needed[window] = next(n for n in range(1, 20) if ledger.outcome("tool", False))
    assert needed == {3: 2, 4: 3, 6: 4}


def test_the_posterior_revokes_only_after_n_min_observations():
    policy = LifecyclePolicy.tepa_rev(theta_propose=1, n_min=5, theta_recent=0.0, theta_revoke=0.3)
    with PrecedentLedger("sqlite://", policy) as ledger:
        observe(ledger, "pandas")
        for _ in range(3):
            assert ledger.outcome("tool", False) == []  # 2/6 = .33 after 4
        (fall,) = ledger.outcome("tool", False)  # 2/7 = .29 after 5
        assert fall.cause is Cause.POSTERIOR
        assert (fall.support, fall.conflict) == (1, 4)
    patient = LifecyclePolicy.tepa_rev(theta_propose=1, n_min=7, theta_recent=0.0, theta_revoke=0.3)
    with PrecedentLedger("sqlite://", patient) as ledger:
        observe(ledger, "pandas")
        needed = next(n for n in range(1, 20) if ledger.outcome("tool", False))
        assert needed == 6


def test_theta_promote_keeps_a_candidate_whose_own_failures_are_too_many(paper_ledger):
    paper_ledger.outcome("tool", False, value="polars")
    paper_ledger.outcome("tool", False, value="polars")
    observe(paper_ledger, "polars", 3)  # (3 + 1) / (5 + 2) = .571
    assert values(paper_ledger) == []
    observe(paper_ledger, "polars")  # 5 / 8 = .625
    assert values(paper_ledger) == ["polars"]


def test_the_failures_of_one_regime_do_not_bar_a_candidate_from_the_next(paper_ledger):
    observe(paper_ledger, "pandas", 3)
    for _ in range(20):
        paper_ledger.outcome("tool", False, value="polars")
    for _ in range(3):
        paper_ledger.outcome("tool", False)
    needed = next(n for n in range(1, 20) if observe(paper_ledger, "polars"))
    assert needed <= 4
    assert values(paper_ledger) == ["polars"]


def test_a_reversal_replaces_the_value_on_the_third_observation(paper_ledger):
    observe(paper_ledger, "pandas", 20)
    assert [item.cause for item in paper_ledger.observe("tool", "polars")] == [Cause.OBSERVED]
    assert paper_ledger.observe("tool", "polars") == []
    fall, rise = paper_ledger.observe("tool", "polars")
    assert (fall.value, fall.after) == ("pandas", State.REVOKED)
    assert (rise.value, rise.after) == ("polars", State.ACTIVE)


def test_a_waiting_hypothesis_takes_over_as_soon_as_the_active_value_falls(paper_ledger):
    observe(paper_ledger, "pandas", 3)
    for _ in range(3):
        observe(paper_ledger, "polars")
        observe(paper_ledger, "pandas")
    assert values(paper_ledger) == ["pandas"]
    changes = [item for _ in range(3) for item in paper_ledger.outcome("tool", False)]
    assert [(item.value, item.after) for item in changes] == [
        ("pandas", State.REVOKED),
        ("polars", State.ACTIVE),
    ]


def test_fresh_evidence_promotes_a_revoked_value_again(paper_ledger):
    observe(paper_ledger, "pandas", 10)
    created = paper_ledger.active()[0].created_at
    observe(paper_ledger, "polars", 10)
    assert values(paper_ledger) == ["polars"]
    observe(paper_ledger, "pandas", 3)
    (active,) = paper_ledger.active()
    assert (active.value, active.support, active.created_at) == ("pandas", 13, created)
    assert active.updated_at > created


def test_one_stray_observation_does_not_bring_a_revoked_value_back(paper_ledger):
    observe(paper_ledger, "pandas", 40)
    observe(paper_ledger, "polars", 5)
    observe(paper_ledger, "pandas")
    assert values(paper_ledger) == ["polars"]


def test_keys_and_scopes_do_not_touch_each_other(paper_ledger):
    for scope, value in (("ann", "pandas"), ("ben", "polars")):
        for _ in range(3):
            paper_ledger.observe("tool", value, scope=scope)
            paper_ledger.observe("other", "x", scope=scope)
    assert [item.value for item in paper_ledger.active("ann", keys="tool")] == ["pandas"]
    assert [item.value for item in paper_ledger.active("ben", keys=["tool"])] == ["polars"]
    assert paper_ledger.active("ann", keys="tool")[0].conflict == 0
    assert paper_ledger.active(()) == []


def test_an_outcome_without_a_known_value_changes_nothing(paper_ledger):
    assert paper_ledger.outcome("never seen", True) == []
    assert paper_ledger.outcome("never seen", False) == []
    assert paper_ledger.active() == paper_ledger.archive() == paper_ledger.hypotheses() == []


def test_a_success_supports_the_active_value(paper_ledger):
    observe(paper_ledger, "pandas", 3)
    paper_ledger.outcome("tool", True)
    assert paper_ledger.active()[0].support == 4


def test_every_transition_is_an_audit_row_with_its_counts(paper_ledger):
    returned = observe(paper_ledger, "pandas", 3) + observe(paper_ledger, "polars", 3)
    assert paper_ledger.history("tool") == returned
    assert [(item.value, item.before, item.after) for item in paper_ledger.history("TOOL ")] == [
        ("pandas", None, State.HYPOTHESIS),
        ("pandas", State.HYPOTHESIS, State.ACTIVE),
        ("polars", None, State.HYPOTHESIS),
        ("pandas", State.ACTIVE, State.REVOKED),
        ("polars", State.HYPOTHESIS, State.ACTIVE),
    ]
    assert [(item.support, item.conflict) for item in returned] == [
        (1, 0),
        (3, 0),
        (1, 0),
        (3, 3),
        (3, 0),
    ]


def test_explain_names_the_state_the_counts_and_every_step(paper_ledger):
    observe(paper_ledger, "pandas", 3)
    observe(paper_ledger, "polars", 3)
    said = paper_ledger.explain(paper_ledger.archive()[0].id)
    assert "tool = 'pandas' is Revoked: 3 for it, 3 against it" in said
    assert "Active -> Revoked (recent_outcomes)" in said


@pytest.mark.parametrize("writing", ["PANDAS", " pandas ", "pan\u0064as", "Pandas"])
def test_another_writing_of_a_value_is_the_same_value(paper_ledger, writing):
    observe(paper_ledger, "pandas", 2)
    observe(paper_ledger, writing)
    (active,) = paper_ledger.active()
    assert (active.value, active.support) == ("pandas", 3)
