from __future__ import annotations

import numpy as np
import pytest

from gcmem.detectors.bundled import probabilities
from gcmem.training.calibrating import (
    calibrate_logits,
    fit_temperature,
    quality,
    smallest_threshold,
)
from gcmem.training.evaluate import reliability, renew_card, table
from gcmem.training.pairs import LabelledPair


def sample(temperature: float, size: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Logits whose probabilities are right after division by the temperature, and labels."""
    random = np.random.default_rng(0)
    logits = random.normal(size=(size, 3)).astype(np.float32) * 2
    chance = probabilities(logits, 1.0)[:, 0]
    return logits * np.float32(temperature), random.random(size) < chance


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
def test_the_temperature_that_made_the_logits_is_found(temperature: float) -> None:
    logits, positive = sample(temperature)
    assert fit_temperature(logits, positive) == pytest.approx(temperature, rel=0.15)


def test_the_threshold_is_the_smallest_that_keeps_the_precision() -> None:
    scores = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], dtype=np.float32)
    positive = np.array([True, True, False, True, False, False])
    assert smallest_threshold(
        scores, positive, precision=0.75, false_positive_rate=1.0
    ) == pytest.approx(0.55)
    assert smallest_threshold(
        scores, positive, precision=1.0, false_positive_rate=1.0
    ) == pytest.approx(0.75)


def test_equal_scores_are_never_parted_by_a_threshold() -> None:
    scores = np.array([0.9, 0.9, 0.1], dtype=np.float32)
    with pytest.raises(ValueError, match="no threshold"):
        smallest_threshold(
            scores, np.array([True, False, False]), precision=1.0, false_positive_rate=1.0
        )


def test_the_false_positive_rate_bounds_the_threshold_too() -> None:
    scores = np.linspace(1, 0, 100, dtype=np.float32)
    positive = np.arange(100) % 2 == 0
    threshold = smallest_threshold(scores, positive, precision=0.1, false_positive_rate=0.1)
    assert ((scores >= threshold) & ~positive).sum() <= 5


def test_without_positive_pairs_there_is_no_threshold() -> None:
    with pytest.raises(ValueError, match="no pair is labelled supersedes"):
        smallest_threshold(
            np.ones(3, dtype=np.float32),
            np.zeros(3, dtype=bool),
            precision=0.9,
            false_positive_rate=1.0,
        )


def test_calibration_reports_what_the_threshold_gives() -> None:
    logits, positive = sample(1.0)
    pairs = [
        LabelledPair("a", "b", "supersedes" if is_positive else "neither", "k", "a")
        for is_positive in positive
    ]
    fit = calibrate_logits(logits, pairs, precision=0.8)
    scores = probabilities(logits, fit.temperature)[:, 0]
    reported = scores >= fit.threshold
    assert fit.calibration.precision == pytest.approx(positive[reported].mean())
    assert fit.calibration.precision >= 0.8
    assert fit.calibration.recall == pytest.approx(reported[positive].mean())
    assert fit.calibration.n == len(pairs)


def test_nothing_reported_counts_as_precise_and_recalls_nothing() -> None:
    found = quality(np.zeros(4, dtype=np.float32), np.array([True] * 4), 0.5)
    assert (found.precision, found.recall) == (1.0, 0.0)


def test_reliability_of_right_probabilities_lies_on_the_diagonal() -> None:
    logits, positive = sample(1.0, size=20_000)
    rows = reliability(probabilities(logits, 1.0)[:, 0], positive)
    assert sum(row["support"] for row in rows) == 20_000
    assert all(abs(row["mean_score"] - row["true"]) < 0.05 for row in rows)


def test_the_tables_of_a_card_are_put_between_its_marks(tmp_path) -> None:
    card = tmp_path / "MODEL_CARD.md"
    card.write_text("# Card\n<!-- evaluation -->\nold\n<!-- end of evaluation -->\nlimits\n")
    renew_card(card, "| new |")
    text = card.read_text()
    assert "old" not in text
    assert "| new |" in text
    assert text.startswith("# Card\n")
    assert text.endswith("limits\n")


def test_the_tables_give_the_reliability_of_each_source_in_one_row() -> None:
    row = {"from": 0.8, "support": 4, "mean_score": 0.9, "true": 0.75}
    result = {
        "detector": "d",
        "threshold": 0.5,
        "pairs": 4,
        "sources": {},
        "kinds": [],
        "reliability": [],
        "reliability_by_source": {"beside": [row]},
    }
    assert "| beside | - | - | - | - | 0.90 / 0.75 (4) |" in table(result)
