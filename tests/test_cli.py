"""The command line: what a newcomer sees, and that every mistake is one line and exit code 2."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import gcmem
from gcmem import load_detector
from gcmem.calibration_report import cross_validated, report, report_text
from gcmem.cli import app
from gcmem.cli_input import read_memories, read_pair_rows
from gcmem.detectors.calibration import CalibratedDetector
from gcmem.onnx_model import WEIGHTS
from gcmem.rows import RowError, read_rows

needs_weights = pytest.mark.skipif(
    not (WEIGHTS / "conflict.onnx").is_file(), reason="the bundled weights are not here"
)

MEMORIES = [
    {"id": "m1", "text": "0412", "key": "meter", "timestamp": "2026-01-31"},
    {"id": "m2", "text": "0460", "key": "meter", "timestamp": "2026-02-28"},
    {"id": "note", "text": "Ring twice.", "timestamp": 1767225600},
    {"id": "pass", "text": "The pass.", "timestamp": "2026-01-01", "valid_until": "2026-01-02"},
]
PAIRS = [
    ("Ann lives in Ulm.", "Ann moved from Ulm to Kiel.", "supersedes"),
    ("The port is 8080.", "The port was changed to 9090.", "supersedes"),
    ("We use Postgres.", "We migrated from Postgres to MySQL.", "supersedes"),
    ("Ann lives in Ulm.", "Bob plays chess.", "neither"),
    ("The port is 8080.", "The sky is blue.", "neither"),
    ("We use Postgres.", "It rained in May.", "neither"),
]


def run(*arguments: str | Path) -> Result:
    return CliRunner(env={"COLUMNS": "160"}).invoke(app, [str(part) for part in arguments])


def assert_one_error(result: Result, *parts: str) -> None:
    assert result.exit_code == 2
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("error: ")
    assert "Traceback" not in result.output
    for part in parts:
        assert part in lines[0]


@pytest.fixture
def memories(tmp_path: Path) -> Path:
    path = tmp_path / "memories.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in MEMORIES))
    return path


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    rows = [dict(zip(("older", "newer", "label"), pair, strict=True)) for pair in PAIRS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


class TestProgram:
    def test_version(self) -> None:
        result = run("--version")
        assert (result.exit_code, result.stdout.strip()) == (0, f"gcmem {gcmem.__version__}")

    def test_without_arguments_it_shows_its_commands(self) -> None:
        result = run()
        assert all(name in result.output for name in ("check", "calibrate", "train"))

    def test_errors_have_no_traceback_in_a_real_process_either(self) -> None:
        code = "from gcmem.cli import app; app()"
        done = subprocess.run(
            [sys.executable, "-c", code, "check", "nothing.jsonl", "--detector", "explicit"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert done.stderr.strip() == "error: there is no file 'nothing.jsonl'."


class TestCheck:
    def test_it_shows_what_is_kept_and_removed_by_what_and_why(self, memories: Path) -> None:
        result = run("check", memories, "--detector", "explicit")
        assert result.exit_code == 0, result.output
        rows = {name: line for line in result.stdout.splitlines() for name in line.split()[1:2]}
        assert "removed" in rows["m1"]
        assert "m2" in rows["m1"]
        assert "slot meter" in rows["m1"]
        assert "kept" in rows["m2"]
        assert "kept" in rows["note"]
        assert "removed" in rows["pass"]
        assert "expired" in rows["pass"]
        assert "2 kept, 2 outdated" in result.stdout
        assert "explicit: 2" in result.stdout

    def test_as_json_it_gives_the_report(self, memories: Path) -> None:
        result = run("check", memories, "--detector", "explicit", "--json")
        assert json.loads(result.stdout)["kept"] == ["m2", "note"]

    def test_reading_as_of_an_earlier_time(self, memories: Path) -> None:
        result = run("check", memories, "--detector", "explicit", "--as-of", "2026-02-01", "--json")
        assert json.loads(result.stdout)["kept"] == ["m1", "note"]

    def test_history_removes_nothing(self, memories: Path) -> None:
        result = run("check", memories, "--detector", "explicit", "--history")
        assert "4 kept, 2 outdated" in result.stdout

    def test_the_time_may_have_another_name(self, tmp_path: Path) -> None:
        path = tmp_path / "m.csv"
        path.write_text("text,key,created_at\n1,k,2026-01-01\n2,k,2026-01-02\n3,k,\n")
        result = run(
            "check", path, "--detector", "explicit", "--json", "--timestamp-field", "created_at"
        )
        assert json.loads(result.stdout)["kept"] == ["line 3", "line 4"]

    def test_text_with_markup_is_shown_as_it_is(self, tmp_path: Path) -> None:
        path = tmp_path / "m.jsonl"
        path.write_text('{"text": "[red]x[/red] [/nothing]", "id": "[b]"}\n')
        result = run("check", path, "--detector", "explicit")
        assert "[red]x[/red] [/nothing]" in result.stdout
        assert "[b]" in result.stdout

    @needs_weights
    @pytest.mark.filterwarnings("ignore::gcmem.LowRecallWarning")
    def test_with_the_bundled_model(self, memories: Path) -> None:
        result = run("check", memories)
        assert result.exit_code == 0, result.output
        assert "slot meter" in result.stdout

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--granularity", "word"], "granularity must be one of"),
            (["--on-conflict", "burn"], "on_conflict must be one of"),
            (["--threshold", "2"], "threshold must be"),
            (["--as-of", "yesterday"], "'yesterday'"),
            (["--detector", "./nothing"], "there is no folder"),
        ],
    )
    def test_a_wrong_option_is_one_line(
        self, memories: Path, options: list[str], message: str
    ) -> None:
        assert_one_error(run("check", memories, "--detector", "explicit", *options), message)

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("{", "line 2: this is not JSON"),
            ("[1]", "line 2: this is not a JSON object"),
            ('{"text": "x", "timestmap": 1}', "line 2: unknown field(s) timestmap; allowed are"),
            ('{"text": ""}', "line 2: text must be"),
            ('{"text": "x", "timestamp": "soon"}', "line 2: timestamp:"),
            ('{"text": "x", "value": "v"}', "line 2: value="),
            ('{"text": "x", "authority": "high"}', "line 2: authority must be a number"),
        ],
    )
    def test_a_bad_row_is_named_by_file_and_line(
        self, tmp_path: Path, line: str, message: str
    ) -> None:
        path = tmp_path / "bad.jsonl"
        path.write_text('{"text": "fine"}\n' + line + "\n")
        assert_one_error(run("check", path, "--detector", "explicit"), "bad.jsonl", message)


class TestCalibrate:
    @needs_weights
    def test_it_writes_a_detector_that_loads_and_two_reports(
        self, pairs: Path, tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        result = run("calibrate", pairs, "--out", out, "--min-precision", "0.5")
        assert result.exit_code == 0, result.output
        content = json.loads((out / "report.json").read_text())
        assert content["calibration"]["n"] == 6
        assert f"{content['calibration']['threshold']:.4f}" in result.stdout
        assert (out / "report.md").read_text().startswith("# Calibration of bundled")
        loaded = load_detector(out)
        assert isinstance(loaded, CalibratedDetector)
        assert loaded.threshold == content["calibration"]["threshold"]

    @needs_weights
    def test_test_pairs_do_not_choose_the_threshold(self, tmp_path: Path) -> None:
        path = tmp_path / "pairs.csv"
        lines = [f'"{o}","{n}",{label},' for o, n, label in PAIRS]
        lines += [f'"{o}","{n}",{label},test' for o, n, label in PAIRS]
        path.write_text("\n".join(["older,newer,label,split", *lines]) + "\n")
        out = tmp_path / "out"
        assert run("calibrate", path, "--out", out, "--min-precision", "0.5").exit_code == 0
        content = json.loads((out / "report.json").read_text())
        assert content["calibration"]["n"] == content["test"]["n"] == 6
        assert content["test"]["recall"] == content["calibration"]["recall"]

    @pytest.mark.parametrize(
        ("detector", "message"),
        [("explicit", "can be saved"), ("./nothing", "there is no folder")],
    )
    def test_a_detector_that_will_not_do_is_one_line(
        self, pairs: Path, tmp_path: Path, detector: str, message: str
    ) -> None:
        out = tmp_path / "out"
        assert_one_error(run("calibrate", pairs, "--out", out, "--detector", detector), message)
        assert not out.exists()

    def test_an_option_for_another_detector_is_one_line(self, pairs: Path, tmp_path: Path) -> None:
        result = run(
            "calibrate",
            pairs,
            "--out",
            tmp_path / "o",
            "--detector",
            "explicit",
            "--direction",
            "both",
        )
        assert_one_error(result, "direction")

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ('"a","b",perhaps', "label must be one of"),
            ('"a",,neither', "newer must be a text"),
            ('"a","b",neither,5', "more fields than the header"),
        ],
    )
    def test_bad_rows_are_named_by_file_and_line(
        self, tmp_path: Path, row: str, message: str
    ) -> None:
        path = tmp_path / "bad.csv"
        path.write_text(f"older,newer,label\na,b,supersedes\n{row}\n")
        result = run("calibrate", path, "--out", tmp_path / "out")
        assert_one_error(result, "bad.csv, line 3", message)

    def test_pairs_of_one_kind_are_one_line(self, tmp_path: Path) -> None:
        path = tmp_path / "one.csv"
        path.write_text("older,newer,label\na,b,true\n")
        result = run("calibrate", path, "--out", tmp_path / "o", "--detector", "owner/never-loaded")
        assert_one_error(result, "conflicts only")


class TestTrain:
    def test_bad_rows_are_named_before_anything_is_trained(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.jsonl"
        path.write_text('{"older": "a", "newer": "b", "label": "maybe"}\n')
        result = run("train", path, "--out", tmp_path / "out")
        assert_one_error(result, "bad.jsonl, line 1", "label must be one of")

    def test_too_few_pairs_are_one_line(self, pairs: Path, tmp_path: Path) -> None:
        pytest.importorskip("torch")
        one_kind = tmp_path / "one.jsonl"
        one_kind.write_text(pairs.read_text().splitlines()[0] + "\n")
        assert_one_error(run("train", one_kind, "--out", tmp_path / "out"), "split needs pairs")

    def test_without_torch_the_extra_is_named(
        self, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "gcmem.training.training", None)
        result = run("train", pairs, "--out", tmp_path / "out")
        assert_one_error(result, 'pip install "gcmem[train]"')


class TestRows:
    def test_all_bad_rows_are_told_at_once_but_not_hundreds(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.jsonl"
        path.write_text("x\n" * 30)
        with pytest.raises(RowError) as caught:
            read_rows(path, lambda row, line: row)
        lines = str(caught.value).splitlines()
        assert len(lines) == 11
        assert "line 10:" in lines[9]
        assert lines[10] == "and 20 more bad rows"

    def test_blank_lines_and_a_byte_order_mark_are_no_rows(self, tmp_path: Path) -> None:
        path = tmp_path / "fine.jsonl"
        path.write_text('\ufeff{"a": 1}\n\n{"a": 2}\n', encoding="utf-8")
        assert read_rows(path, lambda row, line: (row["a"], line)) == [(1, 1), (2, 3)]

    def test_quoted_csv_cells_may_hold_line_breaks(self, tmp_path: Path) -> None:
        path = tmp_path / "fine.csv"
        path.write_text('a,b\n"one\ntwo",\nthree,3\n')
        assert read_rows(path, lambda row, line: dict(row)) == [
            {"a": "one\ntwo"},
            {"a": "three", "b": "3"},
        ]

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("x.txt", b"", "must end in"),
            ("x.jsonl", b"", "holds no rows"),
            ("x.csv", b"a,b\n", "holds no rows"),
            ("x.jsonl", b"\xff\xfe\x00", "not UTF-8"),
        ],
    )
    def test_a_file_that_cannot_be_read_is_named(
        self, tmp_path: Path, name: str, content: bytes, message: str
    ) -> None:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(RowError, match=message) as caught:
            read_rows(tmp_path / name, lambda row, line: row)
        assert name in str(caught.value)

    def test_every_field_of_a_memory_is_read_from_both_kinds_of_file(self, tmp_path: Path) -> None:
        row: dict[str, Any] = {
            "text": "t",
            "timestamp": "2026-01-01",
            "id": "a",
            "scope": "u1",
            "relevance": 0.5,
            "key": "k",
            "value": "v",
            "supersedes": "x, y",
            "valid_from": "2026-01-01",
            "valid_until": "2026-02-01",
            "authority": 2,
            "source": "s",
            "metadata": {"seq": 1},
        }
        as_json, as_csv = tmp_path / "m.jsonl", tmp_path / "m.csv"
        as_json.write_text(json.dumps(row) + "\n")
        cells = [json.dumps(v) if isinstance(v, dict) else str(v) for v in row.values()]
        quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
        as_csv.write_text(",".join(row) + "\n" + ",".join(quoted) + "\n")
        (memory,) = read_memories(as_json)
        assert read_memories(as_csv) == [memory]
        assert memory.supersedes == ("x", "y")
        assert memory.authority == 2.0
        assert memory.metadata == {"seq": 1}

    def test_every_field_of_a_pair_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "p.csv"
        path.write_text(
            "older,newer,label,kind,attribute_id,query,split,weight\n"
            "a,b,True,number,g1,why?,dev,2\n"
        )
        (row,) = read_pair_rows(path)
        assert row.conflict
        assert (row.kind, row.group, row.query, row.split, row.weight) == (
            "number",
            "g1",
            "why?",
            "dev",
            2.0,
        )


class TestReport:
    SCORES = np.array([0.9, 0.8, 0.7, 0.3, 0.2, np.nan], dtype=np.float32)
    TRUTH = np.array([True, True, False, True, False, False])

    def text(self, precision: float) -> str:
        from gcmem.detectors.calibration import choose_threshold, quality

        threshold = choose_threshold(self.SCORES, self.TRUTH, min_precision=precision)
        content = report(
            "mine",
            quality(self.SCORES, self.TRUTH, threshold),
            self.SCORES,
            self.TRUTH,
            kinds=["number", "number", "place", "place", "place", "place"],
            groups=[str(number) for number in range(6)],
            min_precision=precision,
            held_out=None,
        )
        assert json.loads(json.dumps(content)) == content
        return report_text(content)

    def test_it_says_how_the_threshold_was_chosen_and_counts_by_kind(self) -> None:
        text = self.text(0.95)
        assert "Threshold 0.7500, the smallest with a precision of at least 95%" in text
        assert "| number | 2 | 2 | 2 | 0 |" in text.splitlines()
        assert "| place | 4 | 1 | 0 | 0 |" in text.splitlines()
        assert "no verdict on 1 pairs" in text

    def test_cross_validation_pools_the_fifths_that_did_not_choose_the_threshold(self) -> None:
        scores = np.linspace(0.01, 0.99, 100, dtype=np.float32)
        truth = scores > 0.5
        groups = [str(number) for number in range(100)]
        found = cross_validated(scores, truth, groups, min_precision=0.95)
        assert found is not None
        assert found["precision"] > 0.9
        assert found["recall"] > 0.9

    def test_with_too_few_pairs_there_is_no_cross_validation(self) -> None:
        scores, truth = np.array([0.9, 0.1], dtype=np.float32), np.array([True, False])
        assert cross_validated(scores, truth, ["a", "b"], min_precision=0.9) is None


def test_the_command_is_installed_under_its_name() -> None:
    found = shutil.which("gcmem", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("gcmem runs from its source folder here and is not installed")
    done = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == f"gcmem {gcmem.__version__}"
