from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import pytest

from gcmem.detectors.bundled import BundledDetector
from gcmem.detectors.gate import Gate
from gcmem.onnx_model import WEIGHTS

OLDER = ["Elena lives in Osaka.", "The events store has 16 shards."]
NEWER = ["Elena moved to Bremen.", "Resharding complete: events is spread over 32 shards."]


def test_statements_about_one_slot_pass_and_others_do_not() -> None:
    gate = Gate.default()
    assert gate.allowed(OLDER, NEWER).tolist() == [[True, False], [False, True]]


def test_both_forms_decide_alike() -> None:
    gate = Gate.default()
    older, newer = gate.encoder.encode(OLDER), gate.encoder.encode(NEWER)
    assert gate.passes(older, newer).tolist() == [True, True]
    assert gate.passes(older, newer[::-1]).tolist() == [False, False]


def test_empty_sides_give_an_empty_matrix() -> None:
    gate = Gate.default()
    assert gate.allowed([], NEWER).shape == (0, 2)
    assert gate.allowed(OLDER, []).shape == (2, 0)


def test_the_bundled_gate_meets_its_aim_on_attributes_that_were_kept_out() -> None:
    measured = Gate.default().measured
    assert measured["test_explicit_passed"] >= 0.99
    assert measured["test_random_passed"] <= 0.20


def test_the_bundled_detector_carries_it_and_it_is_loaded_once() -> None:
    assert BundledDetector().gate is Gate.default()


def test_it_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Gate.default())) is Gate.default()
    assert pickle.loads(pickle.dumps(Gate(0.5))).threshold == 0.5


def test_a_strict_gate_lets_only_the_same_text_pass() -> None:
    assert Gate(0.99).allowed(OLDER, OLDER).tolist() == [[True, False], [False, True]]


@pytest.mark.parametrize("threshold", [-1.5, 1.5])
def test_a_threshold_that_no_cosine_reaches_is_an_error(threshold: float) -> None:
    with pytest.raises(ValueError, match="threshold"):
        Gate(threshold)


def test_a_folder_that_was_measured_with_another_gate_keeps_it(tmp_path: Path) -> None:
    for name in ("conflict.onnx", "tokenizer.json", "config.json"):
        shutil.copy(WEIGHTS / name, tmp_path)
    assert BundledDetector(tmp_path).gate is Gate.default()
    settings = json.loads((tmp_path / "config.json").read_text())
    settings["gate"] = {"threshold": 0.4, "measured": {}}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    own = BundledDetector(tmp_path).gate
    assert own is not None
    assert (own.threshold, own.encoder) == (0.4, Gate.default().encoder)
