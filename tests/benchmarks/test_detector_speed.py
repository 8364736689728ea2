from __future__ import annotations

import json

import pytest

from benchmarks import detector_speed, results


def test_the_speed_of_the_detector_is_written_beside_that_of_onnxruntime_alone(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    detector_speed.main(["--pairs", "6", "--repeats", "3"])
    found = json.loads((tmp_path / "detector-speed.json").read_text())["results"]
    assert sum(rows for rows, _ in found["shapes"]) == 6
    assert all(width % 8 == 0 for _, width in found["shapes"])
    assert len(found["ratios"]) == 3
    assert found["ratio"] == sorted(found["ratios"])[1]


def test_no_repeats_are_an_error_of_the_command_line(capsys) -> None:
    with pytest.raises(SystemExit):
        detector_speed.main(["--repeats", "0"])
    assert "--repeats must be at least 1" in capsys.readouterr().err
