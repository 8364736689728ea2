"""``python -m gcmem.training.evaluate``: the shipped model on the test split, kind by kind."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gcmem.detectors.bundled import SUPERSEDES, BundledDetector, probabilities_of
from gcmem.onnx_model import WEIGHTS
from gcmem.training.calibrating import quality
from gcmem.training.mixture import measured_pairs
from gcmem.training.packaging import onnx_model
from gcmem.training.pairs import LABELS, LabelledPair

FloatArray = npt.NDArray[np.float32]


def evaluate(detector: BundledDetector, pairs: Sequence[LabelledPair]) -> dict[str, Any]:
    """Precision, recall, reliability and a row per kind of a detector on labelled pairs.

    The texts are scored whatever their language.

    Returns:
        ``sources`` (precision and recall per source, at the threshold of the detector), ``kinds``
        (support, label and share reported as conflicts) and ``reliability`` (mean score and share
        of true conflicts in ten bins of the score) and ``reliability_by_source`` (the same in five
        bins, for each source).
    """
    config = json.loads((detector.folder / "config.json").read_text(encoding="utf-8"))
    logits = onnx_model(detector.folder).run([(pair.older, pair.newer) for pair in pairs])
    scores = probabilities_of(logits, config)[:, SUPERSEDES]
    truth = np.array([LABELS.index(pair.label) == SUPERSEDES for pair in pairs])
    sources: dict[str, list[int]] = defaultdict(list)
    kinds: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row, pair in enumerate(pairs):
        sources[pair.kind.partition(":")[0]].append(row)
        kinds[pair.kind, pair.label].append(row)
    sources["all"] = list(range(len(pairs)))
    return {
        "detector": detector.name,
        "threshold": detector.threshold,
        "pairs": len(pairs),
        "sources": {
            name: _source(scores[rows], truth[rows], detector.threshold)
            for name, rows in sources.items()
        },
        "reliability_by_source": {
            name: reliability(scores[rows], truth[rows], bins=5)
            for name, rows in sources.items()
            if name != "all"
        },
        "kinds": [
            {
                "kind": kind,
                "label": label,
                "support": len(rows),
                "reported": float((scores[rows] >= detector.threshold).mean()),
                "mean_score": float(scores[rows].mean()),
            }
            for (kind, label), rows in sorted(kinds.items())
        ],
        "reliability": reliability(scores, truth),
    }


def reliability(
    scores: FloatArray, truth: npt.NDArray[np.bool_], *, bins: int = 10
) -> list[dict[str, float]]:
    """For equal bins of the score: support, mean score and share of true conflicts."""
    which = np.minimum((scores * bins).astype(int), bins - 1)
    return [
        {
            "from": number / bins,
            "support": int((which == number).sum()),
            "mean_score": float(scores[which == number].mean()),
            "true": float(truth[which == number].mean()),
        }
        for number in range(bins)
        if (which == number).any()
    ]


def table(result: Mapping[str, Any]) -> str:
    """The result as Markdown."""
    lines = [
        (
            f"Detector {result['detector']}, threshold {result['threshold']:.3f}, "
            f"{result['pairs']} pairs of the test split."
        ),
        "",
        "| source | pairs | conflicts | precision | if balanced | recall | false positives |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {row['pairs']} | {row['conflicts']} | {row['precision']:.3f} "
        f"| {row['balanced_precision']:.3f} "
        f"| {row['recall']:.3f} | {row['false_positive_rate']:.4f} |"
        for name, row in result["sources"].items()
    ]
    lines += ["", "| kind | label | pairs | reported as conflict | mean score |"]
    lines += ["|---|---|---|---|---|"]
    lines += [
        f"| {row['kind']} | {row['label']} | {row['support']} | {row['reported']:.3f} "
        f"| {row['mean_score']:.3f} |"
        for row in result["kinds"]
    ]
    lines += ["", "| score | pairs | mean score | true conflicts |", "|---|---|---|---|"]
    lines += [
        f"| {row['from']:.1f}-{row['from'] + 0.1:.1f} | {row['support']} "
        f"| {row['mean_score']:.3f} | {row['true']:.3f} |"
        for row in result["reliability"]
    ]
    lines += ["", "Mean score / share of true conflicts (pairs), by source and score:", ""]
    lines += ["| source | 0.0-0.2 | 0.2-0.4 | 0.4-0.6 | 0.6-0.8 | 0.8-1.0 |", "|---" * 6 + "|"]
    for name, rows in result["reliability_by_source"].items():
        cells = {
            round(row["from"] * 5): f"{row['mean_score']:.2f} / {row['true']:.2f} "
            f"({row['support']})"
            for row in rows
        }
        lines.append(f"| {name} | " + " | ".join(cells.get(bin_, "-") for bin_ in range(5)) + " |")
    return "\n".join(lines)


def _source(scores: FloatArray, truth: npt.NDArray[np.bool_], threshold: float) -> dict[str, float]:
    found = quality(scores, truth, threshold)
    negative = scores[~truth]
    return {
        "pairs": len(scores),
        "conflicts": int(truth.sum()),
        "precision": found.precision,
        "balanced_precision": quality(scores, truth, threshold, balanced=True).precision,
        "recall": found.recall,
        "false_positive_rate": float((negative >= threshold).mean()) if len(negative) else 0.0,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, write ``evaluation.json`` and renew the tables of MODEL_CARD.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=WEIGHTS)
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--share", type=float, default=0.15, help="share of the family pairs")
    options = parser.parse_args(arguments)
    pairs = measured_pairs(options.split, share=options.share)
    result = evaluate(BundledDetector(options.folder), pairs)
    text = table(result)
    print(text)
    if options.split == "test":
        path = options.folder / "evaluation.json"
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        renew_card(options.folder / "MODEL_CARD.md", text)


def renew_card(path: Path, text: str) -> None:
    """Put the tables between the two marks of a model card, where there is one."""
    if path.is_file():
        card = path.read_text(encoding="utf-8")
        start, end = "<!-- evaluation -->", "<!-- end of evaluation -->"
        if start in card and end in card:
            head, tail = card.split(start, 1)[0], card.split(end, 1)[1]
            path.write_text(f"{head}{start}\n{text}\n{end}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
