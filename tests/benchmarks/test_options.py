"""The command lines: where figures go, what made them, and what is refused."""

from __future__ import annotations

import importlib
import json

import pytest

pytest.importorskip("langchain_chroma")
from benchmarks import field, history, results, streams, theory
from benchmarks.__main__ import EXPERIMENTS
from benchmarks.options import Parser, count
from gcmem import Memory
from gcmem._version import __version__
from tests.support import ScriptedDetector, slot_rule

MEASURING = sorted(set(EXPERIMENTS) - {"report"})


def main_of(name: str):
    return importlib.import_module(f"benchmarks.{name.replace('-', '_')}").main


@pytest.fixture(autouse=True)
def published(tmp_path, monkeypatch):
    """Stands for benchmarks/results."""
    folder = tmp_path / "benchmarks" / "results"
    monkeypatch.setattr(results, "FOLDER", folder)
    return folder


@pytest.fixture
def one_case(monkeypatch):
    case = {"id": "F00", "kind": "moved", "query": "Which pier?", "note": ""}
    case |= {"must_keep": ["b"], "must_drop": ["a"]}
    memories = [Memory(f"pier={n}", 60.0 * n, id=i) for n, i in enumerate("ab", 1)]
    monkeypatch.setattr(field, "read_cases", lambda: [case])
    monkeypatch.setattr(field, "memories_of", lambda case: memories)
    monkeypatch.setattr(Parser, "detector", lambda *_: ScriptedDetector(slot_rule))


@pytest.mark.parametrize("name", MEASURING)
def test_every_experiment_says_what_it_measures_and_takes_a_file_for_its_figures(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main_of(name)(["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert "--output FILE" in said
    usage, _, description = said.partition("\n\n")
    assert usage.startswith(f"usage: python -m benchmarks {name} ")
    assert not description.startswith("options:")


@pytest.mark.parametrize("name", MEASURING)
def test_figures_go_to_a_json_file_or_nowhere(name, tmp_path, capsys):
    for output in (tmp_path / "figures.png", tmp_path):
        with pytest.raises(SystemExit):
            main_of(name)(["--output", str(output)])
        assert "--output must be a file that ends in .json" in capsys.readouterr().err


def test_a_run_with_an_output_leaves_the_published_figures_alone(published, tmp_path, capsys):
    output = tmp_path / "deep" / "trial.json"
    history.main(["--output", str(output)])
    assert not published.exists()
    written = json.loads(output.read_text())
    assert written["experiment"] == "history"
    assert written["command"] == "python -m benchmarks history --output FILE"
    assert written["versions"]["gcmem"] == __version__
    assert "deep/trial.json" in capsys.readouterr().out


def test_without_one_they_are_written_over_with_the_command_that_made_them(published, capsys):
    history.main([])
    written = json.loads((published / "history.json").read_text())
    assert written["command"] == "python -m benchmarks history"
    assert "figures: benchmarks/results/history.json" in capsys.readouterr().out


def test_a_figure_is_drawn_beside_its_numbers(published, tmp_path):
    pytest.importorskip("matplotlib")
    output = tmp_path / "trial.json"
    small = ["--instances", "1", "--sizes", "medium", "--distractors", "2"]
    theory.main([*small, "--output", str(output)])
    assert output.with_suffix(".png").exists()
    assert not published.exists()


def test_a_command_can_be_pasted_and_names_no_place_on_the_machine_that_ran_it():
    parser = Parser("some", "Measures.")
    parser.add_place("--llm-url", "URL")
    parser.add_place("--environments", "DIR")
    parser.add_argument("--words")
    given = ["--llm-url=http://10.0.0.1/v1", "--environments", "/home/me/peers"]
    _, run = parser.read([*given, "--words", "two words"])
    assert run.command == (
        "python -m benchmarks some --llm-url=URL --environments DIR --words 'two words'"
    )


@pytest.mark.parametrize("option", [["--detector", "explicit"], ["--threshold", "0.9"]])
def test_field_with_another_detector_or_threshold_is_written_only_to_a_file_of_its_own(
    option, one_case, published, tmp_path, capsys
):
    field.main(option)
    assert not published.exists()
    assert "no figures written" in capsys.readouterr().out
    output = tmp_path / "trial.json"
    field.main([*option, "--output", str(output)])
    assert json.loads(output.read_text())["command"].endswith(f"{' '.join(option)} --output FILE")
    assert not published.exists()
    field.main([])
    assert (published / "field.json").exists()


WHOLE = "must be a whole number of at least {}, got {}"
SHARE = "must be a number above 0 and at most 1, got {}"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bag-of-facts --instances 0", WHOLE.format(1, 0)),
        ("bag-of-facts --k 5", "unrecognized arguments: --k 5"),
        ("bag-of-facts --recent 5", "unrecognized arguments: --recent 5"),
        ("bag-of-facts --detectors llm", "--detectors llm needs --llm-url and --llm-model"),
        ("detector-speed --pairs none", f"--pairs: {WHOLE.format(1, 'none')}"),
        ("detector-speed --repeats 0", f"--repeats: {WHOLE.format(1, 0)}"),
        ("detectors --distractors -1", WHOLE.format(0, -1)),
        ("detectors --detectors cascade", "--detectors cascade needs --llm-url and --llm-model"),
        ("detectors --detectors ./nowhere", "there is no folder './nowhere'"),
        ("drift --seeds 0", WHOLE.format(1, 0)),
        ("drift --sweep-seeds -2", WHOLE.format(1, -2)),
        ("factconsolidation --questions 0", WHOLE.format(1, 0)),
        ("factconsolidation --k 0", WHOLE.format(1, 0)),
        ("field --threshold 2", SHARE.format(2)),
        ("field --threshold nan", SHARE.format("nan")),
        ("field --detector ./nowhere", "--detector: there is no folder './nowhere'"),
        ("head-lookup --distractors 10000000", "--distractors must be at most"),
        ("head-lookup --families 0", WHOLE.format(1, 0)),
        ("head-lookup --repeats 0", WHOLE.format(1, 0)),
        ("latency --sizes 1", WHOLE.format(2, 1)),
        ("latency --stores 0", WHOLE.format(1, 0)),
        ("latency --row-seconds 0", "must be a number above 0, got 0"),
        ("ledger --records 0", WHOLE.format(1, 0)),
        ("ledger --scans -1", WHOLE.format(1, -1)),
        ("peers --cases -1", WHOLE.format(0, -1)),
        ("peers --streams -1", WHOLE.format(0, -1)),
        ("streams --count 0", WHOLE.format(1, 0)),
        ("streams --groups two", WHOLE.format(1, "two")),
        ("streams --thresholds 0.5 2", SHARE.format(2)),
        ("temporal-mutation --recent 0", WHOLE.format(1, 0)),
        ("temporal-mutation --distractors 1000000", "--distractors must be at most"),
        ("theory --k 0", WHOLE.format(1, 0)),
        ("theory --detectors explicit", "unrecognized arguments: --detectors explicit"),
        ("theory --verdicts there", "unrecognized arguments: --verdicts there"),
    ],
)
def test_what_is_out_of_range_or_not_used_is_refused_before_anything_is_measured(
    line, message, published, capsys
):
    name, *arguments = line.split()
    with pytest.raises(SystemExit) as ended:
        main_of(name)(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not published.exists()


def test_an_option_is_named_in_full_so_that_the_command_in_a_file_is_read_as_it_was(capsys):
    with pytest.raises(SystemExit):
        streams.main(["--thresh", "0.5"])
    assert "unrecognized arguments: --thresh" in capsys.readouterr().err


def test_a_count_takes_what_is_allowed():
    assert (count()("1"), count(least=0)("0")) == (1, 0)
