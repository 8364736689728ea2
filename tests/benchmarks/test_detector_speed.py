from __future__ import annotations

import json

from benchmarks import detector_speed, results
from benchmarks.report.tables import TABLES


def test_the_speed_of_the_detector_is_written_beside_that_of_onnxruntime_alone(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    detector_speed.main(["--pairs", "6", "--repeats", "3"])
    written = json.loads((tmp_path / "detector_speed.json").read_text())
    found = written["results"]
    assert sum(rows for rows, _ in found["shapes"]) == 6
    assert all(width % 8 == 0 for _, width in found["shapes"])
    assert len(found["ratios"]) == 3
    assert found["ratio"] == sorted(found["ratios"])[1]
    assert f" {found['ratio']:.2f} | " in TABLES["detector_speed"](written)
