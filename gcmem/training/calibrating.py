"""Temperature and threshold of a trained model, from its logits on development pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gcmem.detectors.base import Calibration
from gcmem.detectors.bundled import SUPERSEDES, probabilities
from gcmem.detectors.calibration import choose_threshold
from gcmem.training.pairs import LABELS, LabelledPair

FloatArray = npt.NDArray[np.float32]
Biases = tuple[float, float, float]
"""What is added to the logits of supersedes, supports and neither."""
NO_BIASES: Biases = (0.0, 0.0, 0.0)
BIASES: Biases = (0.0, 2.0, 1.0)
"""Logits by which pairs that say the same, or have nothing to do with each other, are more frequent
in a collection than in the pairs of training. Chosen on dev: at equal precision on explicit pairs
the one on ``neither`` keeps statements apart that share a topic only, and that on ``supports`` a
paraphrase from being taken for a change."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What was chosen on development pairs.

    Attributes:
        temperature: Divides the logits.
        biases: Added to the logits before that.
        threshold: Smallest probability that counts as a conflict.
        calibration: Precision and recall at that threshold.
        false_positive_rate: Share of the negative pairs that reach the threshold.
        negative_log_likelihood: Mean over the pairs, at that temperature.
    """

    temperature: float
    threshold: float
    calibration: Calibration
    false_positive_rate: float
    negative_log_likelihood: float
    biases: Biases = NO_BIASES


def fit_temperature(
    logits: FloatArray,
    is_positive: npt.NDArray[np.bool_],
    *,
    biases: Biases = NO_BIASES,
    weights: FloatArray | None = None,
) -> float:
    """The temperature with which P(supersedes) is likeliest to give the labels, by search."""

    def loss(temperature: float) -> float:
        return negative_log_likelihood(
            logits, is_positive, temperature, biases=biases, weights=weights
        )

    grid = np.exp(np.linspace(np.log(0.2), np.log(8.0), 400))
    return float(min(grid, key=loss))


def negative_log_likelihood(
    logits: FloatArray,
    is_positive: npt.NDArray[np.bool_],
    temperature: float,
    *,
    biases: Biases = NO_BIASES,
    weights: FloatArray | None = None,
) -> float:
    """Mean binary log loss of P(supersedes), weighted where weights are given."""
    chance = probabilities(logits, temperature, biases)[:, SUPERSEDES]
    chance = np.clip(chance, 1e-6, 1 - 1e-6)
    losses = -np.where(is_positive, np.log(chance), np.log1p(-chance))
    return float(np.average(losses, weights=weights))


def smallest_threshold(
    scores: FloatArray,
    is_positive: npt.NDArray[np.bool_],
    *,
    precision: float,
    false_positive_rate: float,
    balanced: bool = False,
) -> float:
    """The smallest threshold with at least this precision and at most this false-positive rate.

    With `balanced`, precision is what it would be with as many positive as negative pairs.

    Raises:
        ValueError: No threshold reaches them, or there are no positive pairs.
    """
    if not is_positive.any():
        msg = "no pair is labelled supersedes, so no threshold can be chosen."
        raise ValueError(msg)
    order = np.argsort(-scores, kind="stable")
    ranked, truth = scores[order], is_positive[order]
    right, wrong = np.cumsum(truth), np.cumsum(~truth)
    negatives = max(1, int((~is_positive).sum()))
    weight = int(is_positive.sum()) / negatives if balanced else 1.0
    good = (right / (right + weight * wrong) >= precision) & (
        wrong <= false_positive_rate * negatives
    )
    last_of_equals = np.append(ranked[1:] != ranked[:-1], True)
    good &= last_of_equals
    if not good.any():
        msg = (
            f"no threshold gives a precision of {precision} at a false-positive rate of at most "
            f"{false_positive_rate}; train longer, or ask for less."
        )
        raise ValueError(msg)
    at = int(np.flatnonzero(good).max())
    below = ranked[at + 1] if at + 1 < len(ranked) else 0.0
    return float((ranked[at] + below) / 2)


def calibrate_logits(
    logits: FloatArray,
    pairs: Sequence[LabelledPair],
    *,
    precision: float = 0.95,
    biases: Biases = NO_BIASES,
) -> Fit:
    """Choose temperature and threshold on development pairs.

    Where no threshold reaches the precision, the most precise one is taken and a
    `CalibrationWarning` is issued: a training is not lost for its last step.

    Args:
        logits: Outputs of the model, (n, 3).
        pairs: The pairs that gave them.
        precision: Wanted precision.
        biases: Added to the logits before the temperature divides them.

    Raises:
        ValueError: All pairs, or none, are labelled supersedes.
    """
    is_positive = np.array([LABELS.index(pair.label) == SUPERSEDES for pair in pairs])
    temperature = fit_temperature(logits, is_positive, biases=biases)
    scores = probabilities(logits, temperature, biases)[:, SUPERSEDES]
    threshold = choose_threshold(scores, is_positive, min_precision=precision)
    return Fit(
        temperature=temperature,
        threshold=threshold,
        calibration=quality(scores, is_positive, threshold),
        false_positive_rate=float((scores[~is_positive] >= threshold).mean()),
        negative_log_likelihood=negative_log_likelihood(
            logits, is_positive, temperature, biases=biases
        ),
        biases=biases,
    )


def quality(
    scores: FloatArray,
    is_positive: npt.NDArray[np.bool_],
    threshold: float,
    *,
    balanced: bool = False,
) -> Calibration:
    """Precision and recall at a threshold; the precision of no reports is 1.

    With `balanced`, precision is what it would be with as many positive as negative pairs.
    """
    reported = scores >= threshold
    positives = int(is_positive.sum())
    hits = int((reported & is_positive).sum())
    weight = positives / max(1, len(scores) - positives) if balanced else 1.0
    counted = hits + weight * int((reported & ~is_positive).sum())
    return Calibration(
        threshold=threshold,
        precision=hits / counted if counted else 1.0,
        recall=hits / positives if positives else 0.0,
        n=len(scores),
    )
