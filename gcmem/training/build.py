"""``python -m gcmem.training.build``: makes ``gcmem/weights`` from the corpus and the NLI rows.

Five steps, each from the one before: value comparison (NLI alone), supersession (families, groups
and minimal pairs, with some NLI), sharpening (the same with more of the explicit groups, a lower
rate), discrimination (the same with pairs about two attributes of one entity), and the gate's
threshold. Then export, calibration and, with ``gcmem.training.evaluate``,
measurement. With ``--further`` the shipped model is trained further instead: on examples that it
does not read without error yet, then on all kinds, and the mean of the model before and after.
"""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

from gcmem.detectors.bundled import SUPERSEDES, probabilities
from gcmem.encoder import SentenceEncoder
from gcmem.onnx_model import WEIGHTS
from gcmem.training.calibrating import (
    BIASES,
    Fit,
    fit_temperature,
    negative_log_likelihood,
    quality,
    smallest_threshold,
)
from gcmem.training.corpus_files import read_families, read_groups
from gcmem.training.export import export_encoder, load_encoder, save_tokenizer
from gcmem.training.fitting import Example, fit, load_tokenizer
from gcmem.training.gating import (
    conflicts_by_source,
    cosines,
    random_texts,
    threshold_that_holds_back,
)
from gcmem.training.mining import Reader, hard_first
from gcmem.training.mixture import measured_pairs, round_of_training
from gcmem.training.model import ConflictModel, base_folder
from gcmem.training.nli import NLIRow, read_nli
from gcmem.training.packaging import agreement, export_to, onnx_model, write_config
from gcmem.training.pairs import LabelledPair, Split
from gcmem.training.restoring import restore
from gcmem.training.stages import (
    DISCRIMINATING,
    FINISHING,
    FURTHER,
    KEPT_OF_THE_MODEL_BEFORE,
    SHARPENED,
    SUPERSESSION,
    Stage,
)

log = logging.getLogger(__name__)

PASSING_AT_RANDOM = 0.18
"""Share of the random dev pairs that the gate may let pass."""


def compare_values(nli: Sequence[NLIRow], *, learning_rate: float = 1e-4) -> ConflictModel:
    """Train the base model on NLI rows alone, one epoch."""
    random = Random(1)
    examples = []
    for row in nli:
        texts = [row.premise, row.hypothesis]
        if row.label == 0:
            random.shuffle(texts)
        examples.append(Example(texts[0], texts[1], row.label, "nli"))
    model = ConflictModel.from_base()
    log.info("value comparison: %s", fit(
        model, load_tokenizer(base_folder()), [examples], number_of_epochs=1,
        learning_rate=learning_rate, batch_size=48,
    ))  # fmt: skip
    return model


def learn_supersession(
    model: ConflictModel,
    nli: Sequence[NLIRow],
    stage: Stage,
    *,
    after_round: Callable[[int], None] | None = None,
) -> None:
    """Train a model on rounds of the mixture, in place."""

    def examples(number: int) -> list[Example]:
        made = round_of_training(stage.first_round + number, nli, shares=stage.shares)
        if not stage.hard_first:
            return made
        kept = hard_first(made, quantised_reader(model), Random(f"hard {number}"))
        log.info("round %d: %d of %d examples stay", number, len(kept), len(made))
        return kept

    log.info("supersession: %s", fit(
        model, load_tokenizer(base_folder()), examples, number_of_epochs=stage.rounds,
        learning_rate=stage.learning_rate, batch_size=stage.batch_size, warmup=0.03,
        minutes=stage.minutes, after_epoch=after_round,
    ))  # fmt: skip


def quantised_reader(model: ConflictModel) -> Reader:
    """Reads pairs with the int8 form of the model as it is now: three times as fast as itself."""
    with TemporaryDirectory() as folder:
        export_to(deepcopy(model).eval(), Path(folder))
        reader = onnx_model(folder)
        reader.run([("loads", "all files")])
    return reader.run


def calibrate_on_dev(folder: Path, *, precision: float, false_positive_rate: float) -> Fit:
    """Temperature and threshold of an exported model, on the dev split.

    Constant biases make what does not conflict as frequent as it is in a collection; the
    temperature comes from all dev pairs, those that are ``neither`` weighing as much more. The
    threshold is the smallest that keeps the precision on the explicit pairs (the dev groups,
    conflicts and others weighing the same) and the false-positive rate on all dev pairs that are
    ``neither``. The calibration that is written down is that of the explicit pairs, weighed alike.
    """
    pairs = measured_pairs("dev")
    logits = onnx_model(folder).run([(pair.older, pair.newer) for pair in pairs])
    conflict = np.array([pair.label == "supersedes" for pair in pairs])
    explicit = np.array([pair.kind.startswith("group:") for pair in pairs])
    neither = np.array([pair.label == "neither" for pair in pairs])
    weights = np.where(neither, np.exp(BIASES[2]), 1.0).astype(np.float32)
    counted = conflict | neither
    temperature = fit_temperature(logits, conflict, biases=BIASES, weights=weights)
    scores = probabilities(logits, temperature, BIASES)[:, SUPERSEDES]
    precise = smallest_threshold(
        scores[explicit],
        conflict[explicit],
        precision=precision,
        false_positive_rate=1.0,
        balanced=True,
    )
    rare = smallest_threshold(
        scores[counted],
        conflict[counted],
        precision=0.0,
        false_positive_rate=false_positive_rate,
    )
    threshold = max(precise, rare)
    return Fit(
        temperature=temperature,
        threshold=threshold,
        calibration=quality(scores[explicit], conflict[explicit], threshold, balanced=True),
        false_positive_rate=float((scores[counted & ~conflict] >= threshold).mean()),
        negative_log_likelihood=negative_log_likelihood(
            logits, conflict, temperature, biases=BIASES, weights=weights
        ),
        biases=BIASES,
    )


def build_gate(folder: Path) -> dict[str, object]:
    """Choose the gate's threshold on dev and measure it; gives the settings for the config.

    ``explicit_passed``, ``behaviour_passed`` and ``random_passed`` are the shares of the conflicts
    and of the random pairs that pass.
    """
    encoder = SentenceEncoder(folder, cache_size=0)
    threshold = 0.0
    measured: dict[str, float] = {}
    splits: tuple[Split, ...] = ("dev", "test")
    for split in splits:
        families = [family for family in read_families() if family.split == split]
        groups = [group for group in read_groups() if group.split == split]
        sets = conflicts_by_source(families, groups, Random(0))
        sets["random"] = random_texts(families, groups, Random(1), count=20_000)
        texts = sorted({text for pairs in sets.values() for pair in pairs for text in pair})
        vectors = dict(zip(texts, encoder.encode(texts), strict=True))
        found = {name: cosines(vectors, pairs) for name, pairs in sets.items()}
        if split == "dev":
            threshold = threshold_that_holds_back(found["random"], PASSING_AT_RANDOM)
        for name, cosine in found.items():
            measured[f"{split}_{name}_passed"] = round(float((cosine >= threshold).mean()), 4)
    return {"threshold": threshold, "measured": measured}


def export_all(
    model: ConflictModel,
    folder: Path,
    *,
    precision: float = 0.95,
    false_positive_rate: float = 0.025,
) -> None:
    """Write both ONNX models, the tokenizer, the gate and ``config.json``."""
    export_to(model, folder)
    save_tokenizer(folder / "tokenizer.json")
    export_encoder(load_encoder(), folder / "encoder.onnx")
    chosen = calibrate_on_dev(folder, precision=precision, false_positive_rate=false_positive_rate)
    sample: list[LabelledPair] = measured_pairs("dev", share=0.1)
    write_config(
        folder,
        chosen,
        name="bundled",
        gate=build_gate(folder),
        int8_agreement=agreement(
            model,
            folder,
            sample,
            temperature=chosen.temperature,
            threshold=chosen.threshold,
            biases=chosen.biases,
        ),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all stages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nli", type=Path, required=True, help="nli_train.jsonl.gz")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--further", action="store_true", help="train the shipped model further")
    parser.add_argument(
        "--checkpoints",
        type=Path,
        required=True,
        help="for the float models, which ``train(base=...)`` takes",
    )
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    nli = read_nli(options.nli, captions=7_000, longest=180)
    if options.further:
        model = restore(WEIGHTS / "conflict.onnx")
        before = deepcopy(model)
        stages = {"further": FURTHER, "finished": FINISHING}
    else:
        model = compare_values(read_nli(options.nli, captions=9_000, longest=230))
        model.start_supersession_from_nli()
        stages = {
            "supersession": SUPERSESSION,
            "sharpened": SHARPENED,
            "discriminating": DISCRIMINATING,
        }
    for name, stage in stages.items():
        learn_supersession(model, nli, stage)
        model.save(options.checkpoints / name)
    if options.further:
        model.mix_in(before, share=KEPT_OF_THE_MODEL_BEFORE)
    export_all(model, options.out)
    log.info("%s", json.loads((options.out / "config.json").read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
