"""Choosing a threshold: precision first, then recall; ties, missing verdicts, bad input."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gcmem import Calibration, Collector, LowRecallWarning, Memory, calibrate
from gcmem.detectors import AsyncDetector, Detector
from gcmem.detectors.base import ScoreArray, TextPair
from gcmem.detectors.calibration import (
    CalibratedDetector,
    CalibrationWarning,
    calibrated,
    choose_threshold,
    quality,
    read_label,
)
from tests.support import ScriptedDetector, slot_rule


class ByOlder(ScriptedDetector):
    """The older text is the score."""

    def __init__(self) -> None:
        super().__init__(lambda older, newer: float(older), name="by older")


def pairs(*scores: tuple[float, bool]) -> list[tuple[str, str, bool]]:
    return [(str(score), "newer", label) for score, label in scores]


def test_the_smallest_precise_threshold_is_chosen_and_measured() -> None:
    given_pairs = pairs((0.9, True), (0.8, True), (0.6, False), (0.4, True), (0.2, False))
    found = calibrate(ByOlder(), given_pairs, min_precision=0.95)
    assert found == Calibration(pytest.approx(0.7), precision=1.0, recall=pytest.approx(2 / 3), n=5)
    wider = calibrate(ByOlder(), given_pairs, min_precision=0.75)
    assert wider == Calibration(pytest.approx(0.3), precision=0.75, recall=1.0, n=5)


def test_equal_scores_are_never_torn_apart() -> None:
    found = calibrate(ByOlder(), pairs((0.9, True), (0.5, True), (0.5, False), (0.1, False)))
    assert found.threshold == pytest.approx(0.7)
    assert found.recall == 0.5


def test_a_conflict_with_the_lowest_score_of_all_still_has_a_threshold_above_zero() -> None:
    found = calibrate(ByOlder(), pairs((0.3, True), (0.0, False)))
    assert 0 < found.threshold < 0.3


def test_a_pair_without_a_verdict_costs_recall_and_counts() -> None:
    found = calibrate(ByOlder(), pairs((0.9, True), (float("nan"), True), (0.2, False)))
    assert (found.recall, found.n) == (0.5, 3)


def test_where_nothing_is_precise_enough_the_most_precise_is_taken_with_a_warning() -> None:
    rows = pairs((0.9, False), (0.8, True), (0.7, True), (0.6, False), (0.5, True), (0.4, True))
    with pytest.warns(CalibrationWarning, match="67%"):
        found = calibrate(ByOlder(), rows)
    assert found.precision == pytest.approx(4 / 6)  # as precise as 2 of 3, with more recall
    assert found.recall == 1.0


@dataclass
class Labelled:
    older: str
    newer: str
    label: str


@pytest.mark.parametrize(
    "rows",
    [
        [("0.9", "n", True), ("0.1", "n", False)],
        [["0.9", "n", 1], ["0.1", "n", 0]],
        [("0.9", "n", "supersedes"), ("0.1", "n", "supports")],
        [("0.9", "n", "Contradiction"), ("0.1", "n", "neutral")],
        [Labelled("0.9", "n", "supersedes"), Labelled("0.1", "n", "neither")],
        [
            {"older": "0.9", "newer": "n", "label": True},
            {"older": "0.1", "newer": "n", "label": "no"},
        ],
        iter([("0.9", "n", np.True_), ("0.1", "n", np.False_)]),
    ],
)
def test_pairs_come_in_several_forms(rows: Any) -> None:
    assert calibrate(ByOlder(), rows).n == 2


def test_pairs_are_scored_in_batches_with_progress() -> None:
    detector, seen = ByOlder(), []
    rows = pairs(*[(0.9, True), (0.1, False)] * 5)
    calibrate(detector, rows, batch_size=4, progress=lambda *counts: seen.append(counts))
    assert [len(batch) for batch in detector.batches] == [4, 4, 2]
    assert seen == [(4, 10), (8, 10), (10, 10)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "is empty"),
        (pairs((0.9, True)), "conflicts only"),
        (pairs((0.9, False), (0.8, False)), "no conflicts only"),
        ([("0.9", "n", "perhaps")], r"labelled_pairs\[0\].*'perhaps'"),
        (pairs((float("nan"), True), (0.2, False)), "no conflict a score above 0"),
        (pairs((0.0, True), (0.2, False)), "no conflict a score above 0"),
    ],
)
def test_bad_input_is_an_error_that_says_what_is_wrong(rows: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        calibrate(ByOlder(), rows)


@pytest.mark.parametrize("row", [("a", "b"), ("a", "b", True, 1), (1, "b", True), "abc", object()])
def test_a_pair_of_another_form_is_an_error_with_its_position(row: Any) -> None:
    with pytest.raises(TypeError, match=r"labelled_pairs\[1\]"):
        calibrate(ByOlder(), [("0.5", "b", True), row])


@pytest.mark.parametrize("precision", [0.0, -0.1, 1.1])
def test_a_precision_out_of_range_is_an_error(precision: float) -> None:
    with pytest.raises(ValueError, match="min_precision"):
        calibrate(ByOlder(), pairs((0.9, True), (0.1, False)), min_precision=precision)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 1, width=16) | st.just(float("nan")), st.booleans()),
        min_size=2,
        max_size=30,
    ),
    st.floats(0.1, 1),
)
def test_no_other_threshold_is_as_precise_with_more_recall(
    rows: list[tuple[float, bool]], wanted: float
) -> None:
    scores = np.array([score for score, _ in rows], dtype=np.float32)
    truth = np.array([label for _, label in rows])
    if not (truth & (scores > 0)).any():
        with pytest.raises(ValueError, match="above 0"):
            choose_threshold(scores, truth, min_precision=wanted)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        chosen = choose_threshold(scores, truth, min_precision=wanted)
    assert 0 < chosen <= 1
    got = quality(scores, truth, chosen)
    others = [quality(scores, truth, float(t)) for t in scores if t > 0]
    assert bool(caught) is all(other.precision < wanted for other in others)
    if caught:
        assert got.precision == max(other.precision for other in others)
    else:
        assert got.precision >= wanted
    assert not any(
        other.recall > got.recall and other.precision >= min(wanted, got.precision)
        for other in others
    )


@pytest.mark.parametrize("label", [True, 1, "1", "yes", " SUPERSEDES ", "contradiction"])
def test_labels_of_conflicts_are_read(label: object) -> None:
    assert read_label(label) is True


@pytest.mark.parametrize("label", [None, 2, 0.5, "maybe", ""])
def test_other_labels_are_errors(label: object) -> None:
    with pytest.raises(ValueError, match="label must be one of"):
        read_label(label)


class TestCalibrated:
    POOR = Calibration(threshold=0.7, precision=1.0, recall=0.4, n=10)
    GOOD = Calibration(threshold=0.7, precision=1.0, recall=0.9, n=10)

    def test_it_is_the_same_detector_with_another_threshold(self) -> None:
        inner = ScriptedDetector(slot_rule)
        detector = calibrated(inner, self.GOOD)
        assert isinstance(detector, Detector)
        assert isinstance(detector, AsyncDetector)
        assert (detector.name, detector.threshold) == (inner.name, 0.7)
        assert detector.score([("a=1", "a=2")]).tolist() == [1.0]
        assert Collector(detector).threshold == 0.7

    def test_the_collector_warns_of_a_recall_that_the_paper_forbids(self) -> None:
        with pytest.warns(LowRecallWarning, match="40%"):
            Collector(calibrated(ScriptedDetector(slot_rule), self.POOR))

    def test_the_collector_is_silent_about_a_good_one(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Collector(calibrated(ScriptedDetector(slot_rule), self.GOOD))

    async def test_the_asynchronous_path_works_with_and_without_one_inside(self) -> None:
        memories = [Memory("a=1", 1, id="old"), Memory("a=2", 2, id="new")]
        for inner in (ScriptedDetector(slot_rule), _Awaited(slot_rule)):
            collection = await Collector(calibrated(inner, self.GOOD)).acollect("", memories)
            assert [memory.id for memory in collection.kept] == ["new"]

    def test_what_a_detector_offers_besides_is_passed_on(self) -> None:
        inner = ScriptedDetector(slot_rule)
        assert not hasattr(calibrated(inner, self.GOOD), "gate")
        inner.gate = gate = object()  # type: ignore[attr-defined]
        assert calibrated(inner, self.GOOD).gate is gate
        assert not hasattr(calibrated(inner, self.GOOD), "rule")

    def test_calibrating_again_replaces_the_first_calibration(self) -> None:
        again = calibrated(calibrated(ScriptedDetector(slot_rule), self.POOR), self.GOOD)
        assert again.calibration == self.GOOD
        assert isinstance(again.detector, ScriptedDetector)

    def test_it_can_be_pickled(self) -> None:
        copy = pickle.loads(pickle.dumps(calibrated(ScriptedDetector(slot_rule), self.GOOD)))
        assert isinstance(copy, CalibratedDetector)
        assert copy.calibration == self.GOOD

    def test_wrong_types_are_named(self) -> None:
        with pytest.raises(TypeError, match="detector must be"):
            calibrated("bundled", self.GOOD)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="calibration must be"):
            calibrated(ScriptedDetector(slot_rule), 0.7)  # type: ignore[arg-type]


class _Awaited(ScriptedDetector):
    async def ascore(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        return self.score(pairs, query)
