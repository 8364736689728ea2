"""What `gcmem calibrate` and `gcmem train` do, without the command line around it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from gcmem.calibration_report import kinds_table, report, report_text
from gcmem.cli_input import PairRow
from gcmem.detectors.base import Calibration, Detector
from gcmem.detectors.calibration import (
    calibrated,
    check_classes,
    choose_threshold,
    quality,
    score_all,
)
from gcmem.detectors.saved import save_detector

__all__ = ["calibrate_rows", "train_on_rows"]


def calibrate_rows(
    detector: Detector,
    rows: Sequence[PairRow],
    folder: Path,
    *,
    min_precision: float,
    progress: Callable[[int, int], None],
) -> dict[str, Any]:
    """Calibrate a detector, and write it and a report into a folder.

    Args:
        detector: What to measure.
        rows: Labelled pairs; those of the split "test" do not choose the threshold.
        folder: Gets ``detector.json``, ``report.json`` and ``report.md``.
        min_precision: Share of the reported conflicts that must be real, above 0 and up to 1.
        progress: Called after each batch with the pairs done and their total.

    Returns:
        What ``report.json`` holds.

    Raises:
        ValueError: There are no pairs of one kind, or no conflict has a score.
        TypeError: The detector cannot be saved.
    """
    if not 0 < min_precision <= 1:
        msg = f"min_precision must be above 0 and at most 1, got {min_precision!r}."
        raise ValueError(msg)
    choosing = np.array([row.split != "test" for row in rows])
    truth = np.array([row.conflict for row in rows])
    check_classes(truth[choosing])
    texts = [(row.older, row.newer) for row in rows]
    scores = score_all(detector, texts, progress=progress)
    own = [row for row, chooses in zip(rows, choosing, strict=True) if chooses]
    threshold = choose_threshold(scores[choosing], truth[choosing], min_precision=min_precision)
    chosen = quality(scores[choosing], truth[choosing], threshold)
    content = report(
        detector.name,
        chosen,
        scores[choosing],
        truth[choosing],
        kinds=[row.kind for row in own],
        groups=[row.group for row in own],
        min_precision=min_precision,
        held_out=(scores[~choosing], truth[~choosing]),
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    (folder / "report.md").write_text(report_text(content), encoding="utf-8")
    save_detector(calibrated(detector, chosen), folder)
    return content


def train_on_rows(
    rows: Sequence[PairRow],
    folder: Path,
    *,
    base: Path | None,
    epochs: int,
    learning_rate: float,
    batch_size: int,
    precision: float,
    name: str,
    seed: int,
    progress: Callable[[int], None],
) -> Calibration:
    """Train a detector on labelled pairs; parameters and errors are those of `training.train`.

    Returns:
        What was measured on the pairs that were set aside.
    """
    if not 0 < precision <= 1:
        msg = f"min_precision must be above 0 and at most 1, got {precision!r}."
        raise ValueError(msg)
    from gcmem.detectors.bundled import BundledDetector  # noqa: PLC0415  (loads onnxruntime)
    from gcmem.training.pairs import LabelledPair  # noqa: PLC0415
    from gcmem.training.training import train  # noqa: PLC0415  (loads torch)

    outcome = train(
        [
            LabelledPair(
                older=row.older,
                newer=row.newer,
                label=_training_label(row),
                kind=row.kind,
                attribute_id=row.group,
                query=row.query,
                split=cast("Any", row.split or "train"),  # checked when it was read
                weight=row.weight,
            )
            for row in rows
        ],
        folder,
        base=base,
        epochs=epochs,
        learning_rate=learning_rate,
        batch_size=batch_size,
        precision=precision,
        name=name,
        seed=seed,
        progress=progress,
    )
    save_detector(BundledDetector(folder), folder)
    measured: Calibration = outcome.calibration
    tested = outcome.test
    on_test = "The file has no test pairs."
    if tested is not None:
        on_test = (
            f"On its {tested.n} test pairs, which chose nothing: precision "
            f"{tested.precision:.3f}, recall {tested.recall:.3f}."
        )
    text = f"""\
# Training of {name}

{outcome.train_pairs} pairs were trained on, {epochs} times; {outcome.dev_pairs} were set aside.
It took {outcome.seconds:.0f} seconds and ended at a loss of {outcome.loss:.4f}.

Threshold {measured.threshold:.4f}: precision {measured.precision:.3f}, recall \
{measured.recall:.3f} on the pairs set aside, which also chose it.
{on_test}

Between the model as trained and as saved (int8), scores differ by at most \
{outcome.int8_agreement["max"]:.3f}, and {outcome.int8_agreement["flipped"]:.1%} of the decisions.

By kind, of the {"pairs set aside" if tested is None else "test pairs"}:

{kinds_table(outcome.by_kind)}
"""
    (folder / "report.md").write_text(text, encoding="utf-8")
    return measured


def _training_label(row: PairRow) -> Any:
    """The label that `training` knows; a plain "no conflict" is "neither"."""
    if row.conflict:
        return "supersedes"
    return "supports" if row.label in {"supports", "entailment"} else "neither"
