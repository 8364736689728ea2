"""Pairs per second of the bundled detector, against onnxruntime alone on the same padded shapes.

Both run in one process and in turn, several times; which comes first alternates. The ratio is taken
side by side, repeat by repeat, so that what else the machine does meets both alike. The aim is a
ratio of at least 0.8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

from rich.console import Console

from benchmarks import results
from benchmarks.options import Parser, count
from gcmem.detectors.bundled import BundledDetector
from gcmem.onnx_model import OnnxTextModel, load_tokenizer, padded_batches
from gcmem.training.minimal_pairs import minimal_pairs
from gcmem.training.packaging import MAX_TOKENS

AIM = 0.8


def main(arguments: list[str]) -> None:
    parser = Parser("detector-speed", __doc__, trials=("--pairs", "--repeats"))
    parser.add_argument("--pairs", type=count(), default=2_000, help="pairs in one repeat")
    parser.add_argument("--repeats", type=count(), default=7)
    parser.add_argument("--seed", type=int, default=7)
    chosen, started = parser.read(arguments)
    found = [(pair.older, pair.newer) for pair in minimal_pairs(seed=chosen.seed, per_frame=60)]
    pairs = Random(chosen.seed).sample(found, min(chosen.pairs, len(found)))
    detector = BundledDetector()
    figures = measure(detector, pairs, repeats=chosen.repeats)
    config = {"pairs": len(pairs), "repeats": chosen.repeats, "detector": detector.name}
    path = results.write(
        "detector_speed", config=config, results=figures, seed=chosen.seed, run=started
    )
    Console().print(
        f"ratio {figures['ratio']:.2f} (aim {AIM}): detector "
        f"{figures['detector pairs per second']:.0f}, onnxruntime "
        f"{figures['onnxruntime pairs per second']:.0f} pairs per second"
    )
    print(f"figures: {results.shown(path)}")


def measure(
    detector: BundledDetector, pairs: Sequence[tuple[str, str]], *, repeats: int
) -> dict[str, Any]:
    """Time the detector and its bare session in turn, and give rates and ratios."""
    config = detector.__getstate__()
    folder, threads = detector.folder, config["threads"]
    model = OnnxTextModel(folder / "conflict.onnx", folder / "tokenizer.json", threads=threads)
    session = model.session()
    encoded = load_tokenizer(folder / "tokenizer.json", MAX_TOKENS).encode_batch(list(pairs))
    rows = [(item.ids, item.type_ids) for item in encoded]
    batches = [
        {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        for _, ids, mask, types in padded_batches(rows, config["batch_tokens"])
    ]

    def alone() -> None:
        for inputs in batches:
            session.run(None, inputs)

    ways: dict[str, Callable[[], object]] = {
        "detector": lambda: detector.score(pairs),
        "onnxruntime": alone,
    }
    for way in ways.values():
        way()  # loads what is loaded once
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for repeat in range(repeats):
        for name in sorted(ways, reverse=bool(repeat % 2)):
            start = perf_counter()
            ways[name]()
            seconds[name].append(perf_counter() - start)
    ratios = [
        bare / whole
        for whole, bare in zip(seconds["detector"], seconds["onnxruntime"], strict=True)
    ]
    return {
        "ratio": median(ratios),
        "ratios": ratios,
        "aim": AIM,
        **{f"{name} pairs per second": len(pairs) / median(seconds[name]) for name in ways},
        "shapes": [list(inputs["input_ids"].shape) for inputs in batches],
    }
