"""The variants and baselines of the paper, and trial by execution."""

from __future__ import annotations

import threading

import pytest

from gcmem.precedents import (
    Cause,
    LifecyclePolicy,
    PrecedentLedger,
    State,
    TrialError,
    TrialKind,
    Trials,
)


def values(ledger: PrecedentLedger) -> list[str]:
    return [item.value for item in ledger.active()]


def tell(policy: LifecyclePolicy, *evidence: str | bool) -> list[str]:
    """What is Active after successes (their values) and failures (False)."""
    with PrecedentLedger("sqlite://", policy) as ledger:
        for item in evidence:
            if isinstance(item, str):
                ledger.observe("tool", item)
            else:
                ledger.outcome("tool", item)
        return values(ledger)


def test_the_defaults_are_the_papers():
    policy = LifecyclePolicy()
    assert (policy.theta_propose, policy.theta_promote, policy.theta_revoke) == (3, 0.6, 0.3)
    assert (policy.n_min, policy.n_recent, policy.theta_recent) == (5, 3, 0.34)
    assert policy.prior == (1, 1)


def test_no_revocation_keeps_every_promoted_value_newest_first():
    policy = LifecyclePolicy.no_revocation()
    assert tell(policy, *["a"] * 3, *[False] * 9, *["b"] * 3) == ["b", "a"]
    assert tell(policy, "a", "a") == []


def test_last_write_wins_keeps_the_newest_success_and_ignores_failures():
    policy = LifecyclePolicy.last_write_wins()
    assert tell(policy, "a", "b", *[False] * 20) == ["b"]
    assert tell(policy, "a", "b", "a") == ["a"]


def test_append_only_keeps_everything_newest_first():
    assert tell(LifecyclePolicy.append_only(), "a", "b", False, "c", False) == ["c", "b", "a"]
    assert tell(LifecyclePolicy.append_only(), "a", "b", "a") == ["a", "b"]


def test_a_sliding_window_keeps_the_values_of_the_last_n_successes():
    policy = LifecyclePolicy.sliding_window(2)
    assert tell(policy, "a", "b", "c") == ["c", "b"]
    assert tell(policy, "a", "b", "b") == ["b"]
    assert tell(policy, "a", "b", "a", "c") == ["c", "a"]
    assert tell(policy, "a", False, False, False) == ["a"]


def test_reactive_forgets_at_the_first_failure():
    assert tell(LifecyclePolicy.reactive(), "a", False) == []
    assert tell(LifecyclePolicy.reactive(), "a", False, "b", "c") == ["c"]


def test_an_oracle_reset_starts_the_scope_anew():
    with PrecedentLedger("sqlite://", LifecyclePolicy.oracle_reset()) as ledger:
        ledger.observe("tool", "a", scope="x", at="2026-01-01")
        ledger.observe("tool", "a", scope="y", at="2026-01-01")
        (fall,) = ledger.reset("x")
        assert (fall.value, fall.cause) == ("a", Cause.RESET)
        assert ledger.active("x") == []
        assert [item.value for item in ledger.active("y")] == ["a"]
        ledger.observe("tool", "b", scope="x", at="2026-01-02")
        assert [item.value for item in ledger.active("x")] == ["b"]


def test_a_reset_also_forgets_what_hypotheses_had_gathered(paper_ledger):
    paper_ledger.observe("tool", "a", at="2026-01-01")
    paper_ledger.observe("tool", "a", at="2026-01-02")
    paper_ledger.reset()
    paper_ledger.observe("tool", "a", at="2026-01-03")
    assert values(paper_ledger) == []


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"theta_propose": 0}, "theta_propose must be at least 1"),
        ({"theta_promote": 1.5}, "theta_promote must lie between"),
        ({"theta_revoke": 0.9}, "theta_revoke=0.9 must not exceed theta_promote"),
        ({"window": 2}, "window=2 must not be smaller than n_recent=3"),
        ({"prior": (0, 1)}, "prior must be two positive"),
        ({"keep": 3}, "keep=3 goes with"),
        ({"strategy": "lru"}, "'lru' is not a valid Strategy"),
    ],
)
def test_impossible_parameters_are_errors_that_name_them(parameters, problem):
    with pytest.raises(ValueError, match=problem):
        LifecyclePolicy(**parameters)


def test_a_misspelt_parameter_is_an_error():
    with pytest.raises(TypeError, match="theta_prop"):
        LifecyclePolicy(theta_prop=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="windw"):
        LifecyclePolicy.tepa_rev(windw=3)
    with pytest.raises(TypeError, match="theta_propose must be a whole number"):
        LifecyclePolicy(theta_propose=2.5)  # type: ignore[arg-type]


# trial by execution (TEPA-Full)


def full(run, **changes) -> LifecyclePolicy:
    return LifecyclePolicy.tepa_full(Trials(run, **changes))


def test_a_candidate_is_tried_by_support_counterfactual_and_contamination():
    seen: list[tuple[str, str]] = []

    def run(trial):
        seen.append((str(trial.kind), trial.candidate.value))
        return True

    assert tell(full(run), "a", "a") == []
    assert seen == []
    assert tell(full(run), "a", "a", "a") == ["a"]
    assert seen == [("support", "a"), ("counterfactual", "a"), ("contamination", "a")]


@pytest.mark.parametrize(
    ("positive", "passes"),
    [
        ({"support", "counterfactual", "contamination"}, True),
        ({"support", "contamination"}, True),
        ({"counterfactual", "contamination"}, False),  # 67 %, but no support success
        ({"support"}, False),  # 33 %
        (set(), False),
    ],
)
def test_promotion_needs_sixty_per_cent_and_one_support_success(positive, passes):
    active = tell(full(lambda trial: trial.kind in positive), "a", "a", "a")
    assert active == (["a"] if passes else [])


def test_a_failed_candidate_is_tried_again_only_after_as_much_new_support():
    runs: list[TrialKind] = []

    def run(trial):
        runs.append(trial.kind)
        return False

    with PrecedentLedger("sqlite://", full(run)) as ledger:
        counts = []
        for _ in range(7):
            ledger.observe("tool", "a")
            counts.append(len(runs))
    assert counts == [0, 0, 3, 3, 3, 6, 6]


def test_trials_stop_at_the_budget_and_the_candidate_stays_a_hypothesis():
    trials = Trials(lambda trial: True, budget=5)
    with PrecedentLedger("sqlite://", LifecyclePolicy.tepa_full(trials)) as ledger:
        for value in ("a", "b"):
            for _ in range(3):
                ledger.observe(value, value)
        assert values(ledger) == ["a"]
        assert [item.value for item in ledger.hypotheses()] == ["b"]
    assert trials.left == 2


def test_the_trial_sees_what_stands_in_the_candidates_place():
    incumbents = []

    def run(trial):
        incumbents.append(trial.incumbent and trial.incumbent.value)
        return True

    policy = LifecyclePolicy.tepa_full(run, window=9)
    assert tell(policy, *["a"] * 9, *["b"] * 3) == ["a"]
    assert incumbents == [None] * 3 + ["a"] * 3


def test_a_passed_trial_waits_until_the_active_value_falls():
    evidence = [*["a"] * 9, *["b"] * 3, False, False, False]
    assert tell(LifecyclePolicy.tepa_full(lambda trial: True), *evidence[:12]) == ["b"]
    slow = LifecyclePolicy.tepa_full(lambda trial: True, window=6)
    assert tell(slow, *evidence[:12]) == ["a"]
    assert tell(slow, *evidence) == ["b"]


def test_a_trial_that_raises_says_so_and_loses_no_evidence(url):
    def run(trial):
        raise ConnectionError("sandbox gone")

    with PrecedentLedger(url, LifecyclePolicy.tepa_full(run)) as ledger:
        ledger.observe("tool", "a")
        ledger.observe("tool", "a")
        with pytest.raises(TrialError, match="sandbox gone"):
            ledger.observe("tool", "a")
        assert [item.support for item in ledger.hypotheses()] == [3]


def test_a_trial_that_does_not_answer_with_a_bool_is_an_error():
    with pytest.raises(TrialError, match="must answer True or False, got 'yes'"):
        tell(LifecyclePolicy.tepa_full(lambda trial: "yes"), "a", "a", "a")  # type: ignore[arg-type,return-value]


def test_a_slow_trial_blocks_no_other_writer(tmp_path):
    inside, go_on = threading.Event(), threading.Event()

    def run(trial):
        inside.set()
        return go_on.wait(30)

    url = f"sqlite:///{tmp_path / 'memory.db'}"
    with PrecedentLedger(url, LifecyclePolicy.tepa_full(run)) as ledger:
        ledger.observe_many([("tool", "a"), ("tool", "a")])
        tried = threading.Thread(target=ledger.observe, args=("tool", "a"))
        tried.start()
        assert inside.wait(30)
        ledger.observe("tool", "a")  # a candidate on trial is not tried a second time
        ledger.observe("other", "x")
        go_on.set()
        tried.join(30)
        (active,) = ledger.active(keys="tool")
        assert (active.support, active.state) == (4, State.ACTIVE)


def test_a_trial_is_evidence_and_is_not_run_again_for_late_arrivals(url):
    runs = []

    def run(trial):
        runs.append(trial.kind)
        return True

    with PrecedentLedger(url, LifecyclePolicy.tepa_full(run)) as ledger:
        for day in (2, 3, 4):
            ledger.observe("tool", "a", at=f"2026-01-0{day}")
        ledger.observe("tool", "b", at="2026-01-01")
        assert values(ledger) == ["a"]
    assert len(runs) == 3


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"runs": ("contamination",)}, "at least one support run"),
        ({"threshold": 0.0}, "threshold must lie in"),
        ({"budget": -1}, "budget must be None or"),
    ],
)
def test_impossible_trials_are_errors(arguments, problem):
    with pytest.raises(ValueError, match=problem):
        Trials(lambda trial: True, **arguments)
