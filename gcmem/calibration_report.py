"""The report of `gcmem calibrate`: what was chosen, and what to expect on other pairs."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gcmem.detectors.base import Calibration, ScoreArray
from gcmem.detectors.calibration import CalibrationWarning, choose_threshold, quality

__all__ = ["by_kind", "cross_validated", "kinds_table", "report", "report_text"]

_FOLDS: Final = 5
_COLUMNS: Final = ("pairs", "conflicts", "found", "false_reports")
_KINDS_HEADER: Final = "| kind | pairs | conflicts | found | false reports |"
_LOW_RECALL: Final = (
    "At most half of the conflicts are found. A collector will warn of this detector: partly "
    "cleaned contexts mislead a model (GC-Mem, section 6.3)."
)

BoolArray = npt.NDArray[np.bool_]


def cross_validated(
    scores: ScoreArray, truth: BoolArray, groups: Sequence[str], *, min_precision: float
) -> dict[str, float] | None:
    """Measure each fifth of the pairs at the threshold that the other four fifths choose.

    Args:
        scores: Shape (n,), NaN where there is no verdict.
        truth: Shape (n,), whether the pair is a conflict.
        groups: Pairs of one group stay in one fifth.
        min_precision: As for the choice of the threshold.

    Returns:
        Precision and recall over all fifths together; None where a fifth cannot be measured so,
        because the rest holds no conflict with a score.
    """
    digests = [hashlib.blake2b(group.encode(), digest_size=4).digest() for group in groups]
    fold = np.array([int.from_bytes(digest, "big") % _FOLDS for digest in digests])
    reported = np.zeros(len(scores), dtype=bool)
    for number in range(_FOLDS):
        here = fold == number
        if not here.any():
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CalibrationWarning)
                chosen = choose_threshold(scores[~here], truth[~here], min_precision=min_precision)
        except ValueError:
            return None  # said in the report as "too few pairs"
        reported[here] = scores[here] >= chosen
    hits = int((reported & truth).sum())
    return {
        "precision": hits / int(reported.sum()) if reported.any() else 1.0,
        "recall": hits / int(truth.sum()),
    }


def by_kind(
    scores: ScoreArray, truth: BoolArray, kinds: Sequence[str], threshold: float
) -> dict[str, dict[str, int]]:
    """Count, for each kind of pair, the pairs, the conflicts and what is reported of either."""
    reported = scores >= threshold
    table: dict[str, dict[str, int]] = {}
    for kind in sorted(set(kinds)):
        here = np.array([own == kind for own in kinds])
        table[kind] = {
            "pairs": int(here.sum()),
            "conflicts": int((here & truth).sum()),
            "found": int((here & truth & reported).sum()),
            "false_reports": int((here & ~truth & reported).sum()),
        }
    return table


def report(
    detector: str,
    calibration: Calibration,
    scores: ScoreArray,
    truth: BoolArray,
    *,
    kinds: Sequence[str],
    groups: Sequence[str],
    min_precision: float,
    held_out: tuple[ScoreArray, BoolArray] | None,
) -> dict[str, Any]:
    """Give everything that the report says, as plain values.

    Args:
        detector: Its name.
        calibration: What was chosen.
        scores: Shape (n,), of the pairs that chose the threshold.
        truth: Shape (n,), their labels.
        kinds: Their kinds.
        groups: Their groups.
        min_precision: What was wanted.
        held_out: Scores and labels of the pairs of the split "test", if there are any.
    """
    content: dict[str, Any] = {
        "detector": detector,
        "min_precision": min_precision,
        "calibration": asdict(calibration),
        "conflicts": int(truth.sum()),
        "without_verdict": int(np.isnan(scores).sum()),
        "cross_validated": cross_validated(scores, truth, groups, min_precision=min_precision),
        "test": None,
        "by_kind": by_kind(scores, truth, kinds, calibration.threshold),
    }
    if held_out is not None and held_out[1].any():
        content["test"] = asdict(quality(*held_out, calibration.threshold))
    return content


def kinds_table(table: Mapping[str, Mapping[str, int]]) -> str:
    """Write what `by_kind` counted, in Markdown."""
    kinds = [
        f"| {kind} | {' | '.join(str(row[column]) for column in _COLUMNS)} |"
        for kind, row in table.items()
    ]
    return "\n".join([_KINDS_HEADER, "|---|---|---|---|---|", *kinds])


def report_text(content: Mapping[str, Any]) -> str:
    """Write the report for people, in Markdown."""
    chosen = content["calibration"]
    wanted, pairs = content["min_precision"], f"{chosen['n']} pairs"
    if chosen["precision"] >= wanted:
        why = f"the smallest with a precision of at least {wanted:.0%} on {pairs}"
    else:
        why = f"the most precise on {pairs}; no threshold reaches the wanted {wanted:.0%}"
    measured = [
        ("the pairs that chose the threshold", chosen),
        ("each fifth, with the threshold of the others", content["cross_validated"]),
        ("the test pairs of the file", content["test"]),
    ]
    notes: list[str] = ["The columns query and weight are not used; every pair counts once."]
    if content["cross_validated"] is None:
        notes.append("There are too few pairs to say what to expect on others.")
    if content["without_verdict"]:
        notes.append(f"The detector gave no verdict on {content['without_verdict']} pairs.")
    if chosen["recall"] <= 0.5:
        notes.append(_LOW_RECALL)
    rows = [
        f"| {title} | {figures['precision']:.3f} | {figures['recall']:.3f} |"
        for title, figures in measured
        if figures is not None
    ]
    blocks = [
        f"# Calibration of {content['detector']}",
        f"Threshold {chosen['threshold']:.4f}, {why} ({content['conflicts']} conflicts).",
        "\n".join(["| measured on | precision | recall |", "|---|---|---|", *rows]),
        *notes,
        kinds_table(content["by_kind"]),
    ]
    return "\n\n".join(blocks) + "\n"
