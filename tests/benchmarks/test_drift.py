"""The drift experiments: the shapes that the mechanism must give, and that they can be repeated."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import results
from benchmarks.drift import command, measures
from benchmarks.drift.methods import METHODS, choose
from benchmarks.drift.playing import play
from benchmarks.drift.settings import (
    PHASES,
    SETTINGS,
    TASKS,
    TASKS_PER_PHASE,
    Controlled,
    Preference,
    Task,
    make_setting,
)

REVERSAL = PHASES.index("reversal")


def success(setting, method: str, *, seeds=(1, 2), **changes) -> np.ndarray:
    """Mean success in each phase."""
    streams = [setting.stream(seed) for seed in seeds]
    return measures.by_phase(play(setting, streams, METHODS[method], **changes)).mean(axis=0)


@pytest.fixture
def setting(request, tmp_path):
    return make_setting(request.param, tmp_path)


def every(*names: str):
    return pytest.mark.parametrize("setting", names, indirect=True)


@every("controlled", "executable")
def test_stale_memory_is_worse_than_none_and_tepa_is_better_than_both(setting):
    stale_ones = ("append-only", "last write wins", "no revocation")
    compared = ("no memory", "reactive", "TEPA-Rev", "gcmem", *stale_ones)
    reversal = {name: success(setting, name)[REVERSAL] for name in compared}
    for stale in stale_ones:
        assert reversal["TEPA-Rev"] > reversal["no memory"] > reversal[stale]
    assert reversal["reactive"] > reversal["no memory"]
    assert reversal["gcmem"] == reversal["TEPA-Rev"]  # nobody testifies here


def test_tepa_beats_forgetting_at_the_first_failure_which_must_explore_again():
    seeds = range(6)
    tepa = success(Controlled(), "TEPA-Rev", seeds=seeds)
    assert (tepa > success(Controlled(), "reactive", seeds=seeds)).all()


@every("preference")
def test_old_profiles_pollute_and_direct_testimony_recovers_first(setting):
    reversal = {
        name: success(setting, name, seeds=range(6))[REVERSAL]
        for name in ("no memory", "append-only", "TEPA-Rev", "TEPA-Full", "gcmem")
    }
    assert reversal["gcmem"] > reversal["TEPA-Rev"] > reversal["append-only"]
    assert reversal["TEPA-Full"] > reversal["no memory"] > reversal["append-only"]


def test_last_write_wins_recovers_only_if_it_is_given_the_corrections():
    stale = success(Controlled(), "last write wins")[REVERSAL]
    corrected = success(Controlled(), "last write wins", corrections="everyone")[REVERSAL]
    assert corrected > 0.9 > 0.5 > stale


def test_without_corrections_the_lifecycle_adapts_more_slowly():
    with_corrections = success(Controlled(), "TEPA-Rev")[REVERSAL]
    assert success(Controlled(), "TEPA-Rev", corrections="nobody")[REVERSAL] < with_corrections


def test_wrong_keys_cost_success():
    def overall(share: float) -> float:
        streams = [Controlled().stream(seed, wrong_keys=share) for seed in (1, 2)]
        return float(play(Controlled(), streams, METHODS["TEPA-Rev"]).mean())

    assert overall(0.0) > overall(0.05) > overall(0.2)


def test_without_a_budget_for_trials_nothing_is_promoted():
    setting = Preference()
    streams = [setting.stream(seed) for seed in (1, 2)]
    tried = play(setting, streams, METHODS["TEPA-Full"])
    untried = play(setting, streams, METHODS["TEPA-Full"], budget=0)
    assert np.array_equal(untried, play(setting, streams, METHODS["no memory"]))
    assert tried.mean() > untried.mean()


@pytest.mark.parametrize("name", SETTINGS)
def test_a_seed_gives_the_same_tasks_and_the_same_successes(name, tmp_path):
    first, second = make_setting(name, tmp_path), make_setting(name, tmp_path)
    assert first.stream(1) == second.stream(1)
    assert first.stream(1) != first.stream(2)
    for method in ("TEPA-Full", "reactive"):
        once = play(first, [first.stream(1)], METHODS[method])
        assert np.array_equal(once, play(second, [second.stream(1)], METHODS[method]))


def test_seeds_that_share_a_ledger_do_not_touch_each_other():
    setting = Preference()
    streams = [setting.stream(1), setting.stream(2)]
    alone = [play(setting, [stream], METHODS["gcmem"]) for stream in streams]
    assert np.array_equal(play(setting, streams, METHODS["gcmem"]), np.concatenate(alone))


def test_noise_changes_how_tasks_are_filed_and_nothing_else():
    clean, noisy = Controlled().stream(3).tasks, Controlled().stream(3, wrong_keys=0.2).tasks
    assert [(task.key, task.right, task.guess) for task in clean] == [
        (task.key, task.right, task.guess) for task in noisy
    ]
    assert all(task.filed == task.key for task in clean)
    assert 0.1 < np.mean([task.filed != task.key for task in noisy]) < 0.3


@every("executable")
def test_csv_needs_another_backend_in_the_reversal_and_json_does_not(setting):
    tasks = setting.stream(5).tasks
    for task in tasks:
        assert setting.execute(task, task.right)
    stable, reversal = (
        tasks[phase * TASKS_PER_PHASE : (phase + 1) * TASKS_PER_PHASE] for phase in (0, REVERSAL)
    )
    for key, stays in (("sum / sales, csv", False), ("sum / sales, json", True)):
        old = next(task.right for task in stable if task.key == key)
        later = [task for task in reversal if task.key == key]
        assert {setting.execute(task, old) for task in later} == {stays}


@every("executable")
def test_exactly_one_backend_reads_a_file_right(setting):
    backends = (*setting.options("sum / sales, csv"), "json.load")
    for task in setting.stream(5).tasks[:20]:
        assert [name for name in backends if setting.execute(task, name)] == [task.right]


@every("executable")
def test_a_missing_file_is_an_error_and_not_a_failed_task(setting, tmp_path):
    task = setting.stream(5).tasks[0]
    for path in tmp_path.iterdir():
        path.unlink()
    with pytest.raises(FileNotFoundError):
        setting.execute(task, task.right)


def test_the_agent_follows_the_majority_and_trusts_this_session_in_a_tie():
    task = Task("k", "k", right="b", guess="c", said="b")
    assert choose(task, []) == "b"
    assert choose(task, [("a", 1.0, 9)]) == "b"
    assert choose(task, [("a", 2.0, 2)]) == "a"
    silent = Task("k", "k", right="b", guess="c")
    assert choose(silent, []) == "c"
    assert choose(silent, [("b", 1.0, 3), ("a", 1.0, 9)]) == "a"
    assert choose(silent, [("b", 1.0, 3), ("a", 1.0, 3)]) == "b"


# measures


def test_adaptation_counts_the_tasks_before_four_of_five_succeed():
    played = np.ones((3, TASKS), dtype=bool)
    start = REVERSAL * TASKS_PER_PHASE
    played[1, start : start + 6] = False
    played[2, start : start + TASKS_PER_PHASE] = False
    assert measures.adaptation(played, "reversal").tolist() == [0.0, 5.0, 40.0]


def test_pollution_is_positive_where_the_memory_hurts():
    assert measures.pollution(0.21, 0.309) == pytest.approx(0.32, abs=0.005)
    assert measures.pollution(0.95, 0.309) < 0


def test_holm_multiplies_by_the_hypotheses_left_and_never_decreases():
    adjusted = measures.holm({"a": 0.04, "b": 0.01, "c": 0.03})
    assert list(adjusted) == ["a", "b", "c"]
    assert adjusted == pytest.approx({"a": 0.06, "b": 0.03, "c": 0.06})


def test_the_permutation_test_is_one_tailed_and_paired():
    random = np.random.default_rng(1)
    seeds = random.normal(0.5, 0.3, size=50)
    better = seeds + 0.05 + random.normal(0, 0.01, size=50)
    assert measures.permutation(better, seeds, seed=1) < 0.001
    assert measures.permutation(seeds, better, seed=1) > 0.99
    assert measures.permutation(seeds, seeds, seed=1) == 1.0


def test_the_bootstrap_interval_holds_the_mean_and_narrows_with_more_seeds():
    rates = np.random.default_rng(1).normal(0.5, 0.1, size=200)
    few, many = (measures.interval(part, seed=1) for part in (rates[:10], rates))
    assert many[0] < rates.mean() < many[1]
    assert many[1] - many[0] < few[1] - few[0]


# the command


def test_the_command_writes_configuration_figures_and_tests(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path / "benchmarks" / "results")
    results.FOLDER.mkdir(parents=True)
    command.main(["--seeds", "2", "--settings", "preference", "--sweeps", "trials"])
    written = json.loads((results.FOLDER / "drift.json").read_text(encoding="utf-8"))
    assert written["config"]["seeds"] == 2
    found = written["results"]["settings"]["preference"]
    assert set(found["methods"]) == set(METHODS)
    assert len(METHODS) == 11
    assert {test["claim"] for test in found["tests in the reversal"]} > {"gcmem > TEPA-Rev"}
    assert [row["trial runs per seed"] for row in written["results"]["sweeps"]["trials"]] == [
        0, 21, 42, 84, None
    ]  # fmt: skip


def test_an_unknown_setting_is_an_error(capsys):
    with pytest.raises(SystemExit):
        command.main(["--settings", "weather"])
    assert "weather" in capsys.readouterr().err
