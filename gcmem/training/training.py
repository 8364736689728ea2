"""`train`: fine-tune a conflict detector on a user's own labelled pairs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from gcmem.calibration_report import by_kind
from gcmem.detectors.base import Calibration
from gcmem.detectors.bundled import SUPERSEDES, probabilities
from gcmem.onnx_model import WEIGHTS
from gcmem.training.calibrating import BIASES, calibrate_logits, quality
from gcmem.training.fitting import fit, load_tokenizer
from gcmem.training.mixture import to_example
from gcmem.training.model import ConflictModel, base_folder
from gcmem.training.packaging import (
    agreement,
    export_to,
    onnx_model,
    shipped_gate,
    write_config,
)
from gcmem.training.pairs import LabelledPair, read_pairs
from gcmem.training.restoring import restore


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What a training gave; also written to ``training.json`` in its folder.

    Attributes:
        folder: Where the detector lies; `load_detector` takes it.
        train_pairs: Pairs that were trained on.
        dev_pairs: Pairs that temperature and threshold were chosen on.
        loss: Mean training loss at the end.
        seconds: Duration of the training.
        calibration: Threshold, precision and recall on the dev pairs.
        int8_agreement: Differences of the int8 scores from the float scores on dev pairs.
        test: The same on the pairs of the split test, which chose nothing; None without any.
        by_kind: Counts for each kind, of the test pairs where there are any, else of the dev pairs.
    """

    folder: Path
    train_pairs: int
    dev_pairs: int
    loss: float
    seconds: float
    calibration: Calibration
    int8_agreement: dict[str, float]
    test: Calibration | None
    by_kind: dict[str, dict[str, int]]


def train(
    pairs: str | Path | Iterable[LabelledPair],
    out_dir: str | Path,
    *,
    base: str | Path | None = None,
    epochs: int = 3,
    learning_rate: float = 5e-5,
    batch_size: int = 32,
    precision: float = 0.95,
    name: str = "trained",
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> TrainingReport:
    """Fine-tune, calibrate and export a conflict detector.

    Pairs of the split ``dev`` choose temperature and threshold. Where no pair has that split, one
    attribute in five is set aside for it (attributes, not pairs: statements about one thing never
    stand on both sides). Pairs of the split ``test`` are only measured.
    The gate and the biases are those of the weights that ship.

    Args:
        pairs: A JSON Lines or CSV file with the columns older, newer and label (supersedes,
            supports or neither), or the pairs themselves.
        out_dir: A folder for the detector; made if it is not there.
        base: A folder of a BERT model or of a model that this package saved (``model.pt``); None
            goes on from the conflict model that gcmem ships, which a few hundred pairs can teach
            a new domain.
        epochs: How often every pair is read.
        learning_rate: Peak of the schedule.
        batch_size: Pairs in one step.
        precision: Wanted precision on the dev pairs; the threshold is the smallest that gives it,
            or with a `CalibrationWarning` the most precise one where none does.
        name: The detector's name.
        seed: Of the order of the pairs and of fresh weights.
        progress: Called with the number of each finished epoch, counted from 0.

    Raises:
        RowError: Rows of the file are bad; file and lines are named.
        ValueError: An argument is out of range, or a split has no pair of a needed label.

    Example:
        >>> report = train("pairs.jsonl", "my-detector", epochs=3)  # doctest: +SKIP
        >>> detector = load_detector("my-detector")  # doctest: +SKIP
    """
    if epochs < 1:
        msg = f"epochs must be at least 1, got {epochs}."
        raise ValueError(msg)
    if batch_size < 1:
        msg = f"batch_size must be at least 1, got {batch_size}."
        raise ValueError(msg)
    if not 0.0 < learning_rate < math.inf:
        msg = f"learning_rate must be above 0 and finite, got {learning_rate}."
        raise ValueError(msg)
    if not 0.0 < precision <= 1.0:
        msg = f"precision must be above 0 and at most 1, got {precision}."
        raise ValueError(msg)
    given = read_pairs(pairs) if isinstance(pairs, str | Path) else list(pairs)
    trained, dev = _split(given)
    test = [pair for pair in given if pair.split == "test"]
    folder = Path(out_dir)
    model, tokenizer_folder = _start(base)
    tokenizer = load_tokenizer(tokenizer_folder)
    outcome = fit(
        model,
        tokenizer,
        [[to_example(pair) for pair in trained]],
        number_of_epochs=epochs,
        learning_rate=learning_rate,
        batch_size=batch_size,
        seed=seed,
        after_epoch=progress,
    )
    export_to(model, folder, base=tokenizer_folder)
    model.save(folder / "float")
    logits = onnx_model(folder).run([(pair.older, pair.newer) for pair in dev])
    chosen = calibrate_logits(logits, dev, precision=precision, biases=BIASES)
    write_config(folder, chosen, name=name, gate=shipped_gate())
    measured = test or dev
    if test:
        logits = onnx_model(folder).run([(pair.older, pair.newer) for pair in test])
    scores = probabilities(logits, chosen.temperature, chosen.biases)[:, SUPERSEDES]
    truth = np.array([pair.label == "supersedes" for pair in measured])
    report = TrainingReport(
        folder=folder,
        train_pairs=len(trained),
        dev_pairs=len(dev),
        loss=outcome["loss"],
        seconds=outcome["seconds"],
        calibration=chosen.calibration,
        int8_agreement=agreement(
            model,
            folder,
            dev,
            temperature=chosen.temperature,
            threshold=chosen.threshold,
            biases=chosen.biases,
            base=tokenizer_folder,
        ),
        test=quality(scores, truth, chosen.threshold) if test else None,
        by_kind=by_kind(scores, truth, [pair.kind for pair in measured], chosen.threshold),
    )
    written = asdict(report) | {"folder": str(folder)}
    (folder / "training.json").write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    return report


def _start(base: str | Path | None) -> tuple[ConflictModel, Path]:
    if base is None:
        return restore(WEIGHTS / "conflict.onnx"), base_folder()
    folder = Path(base)
    if not folder.is_dir():
        msg = f"base must be a folder of a model, got {str(base)!r}."
        raise ValueError(msg)
    if (folder / "model.pt").is_file():
        return ConflictModel.load(folder), base_folder()
    return ConflictModel.from_base(folder), folder


def _split(pairs: Sequence[LabelledPair]) -> tuple[list[LabelledPair], list[LabelledPair]]:
    if not any(pair.split == "dev" for pair in pairs):
        pairs = [
            replace(pair, split="dev")
            if pair.split == "train" and _set_aside(pair.attribute_id)
            else pair
            for pair in pairs
        ]
    parts = {name: [pair for pair in pairs if pair.split == name] for name in ("train", "dev")}
    for name, part in parts.items():
        found = {pair.label for pair in part}
        if "supersedes" not in found or len(found) < 2:
            msg = (
                f"the {name} split needs pairs labelled supersedes and pairs of another label, "
                f"got {len(part)} pairs with the labels {sorted(found)}."
            )
            raise ValueError(msg)
    return parts["train"], parts["dev"]


def _set_aside(attribute: str) -> bool:
    return int(sha256(attribute.encode()).hexdigest(), 16) % 5 == 0
