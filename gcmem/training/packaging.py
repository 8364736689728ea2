"""Writes a trained model as a folder that `BundledDetector` and `load_detector` take."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gcmem.detectors.bundled import SUPERSEDES, probabilities
from gcmem.onnx_model import WEIGHTS, OnnxTextModel
from gcmem.training.calibrating import NO_BIASES, Biases, Fit
from gcmem.training.export import export_conflict_model, save_tokenizer
from gcmem.training.fitting import load_tokenizer, predict_logits
from gcmem.training.model import ConflictModel, base_folder
from gcmem.training.pairs import LabelledPair

MAX_TOKENS = 192
"""Longer pairs are cut at run time."""


def onnx_model(folder: str | Path) -> OnnxTextModel:
    """The exported conflict model of a folder."""
    folder = Path(folder)
    return OnnxTextModel(folder / "conflict.onnx", folder / "tokenizer.json", max_tokens=MAX_TOKENS)


def export_to(model: ConflictModel, folder: str | Path, *, base: str | Path | None = None) -> None:
    """Write ``conflict.onnx`` and ``tokenizer.json``."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    save_tokenizer(folder / "tokenizer.json", folder=base)
    export_conflict_model(model, folder / "conflict.onnx")


def shipped_gate() -> dict[str, Any]:
    """The gate settings of the weights that ship; the gate's encoder is the bundled one."""
    config = json.loads((WEIGHTS / "config.json").read_text(encoding="utf-8"))
    settings: dict[str, Any] = config["gate"]
    return settings


def write_config(folder: str | Path, fit: Fit, *, name: str, **more: Any) -> dict[str, Any]:
    """Write ``config.json`` beside an exported model and give back what it holds."""
    folder = Path(folder)
    digest = hashlib.sha256((folder / "conflict.onnx").read_bytes())
    digest.update(f"{fit.temperature!r} {fit.biases!r}".encode())
    config = {
        "name": name,
        "version": digest.hexdigest()[:12],
        "temperature": fit.temperature,
        "biases": list(fit.biases),
        "threshold": fit.threshold,
        "max_tokens": MAX_TOKENS,
        "calibration": asdict(fit.calibration),
        "false_positive_rate": fit.false_positive_rate,
        **more,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    return config


def agreement(
    model: ConflictModel,
    folder: str | Path,
    pairs: Sequence[LabelledPair],
    *,
    temperature: float,
    threshold: float,
    biases: Biases = NO_BIASES,
    base: str | Path | None = None,
) -> dict[str, float]:
    """How far the int8 scores of an exported model are from the float scores of the trained one.

    Returns:
        ``max`` and ``mean`` absolute difference of P(supersedes), and the share of the pairs with
        another decision at the threshold (``flipped``).
    """
    texts = [(pair.older, pair.newer) for pair in pairs]
    tokenizer = load_tokenizer(base if base is not None else base_folder(), max_length=MAX_TOKENS)
    exact = probabilities(predict_logits(model, tokenizer, texts), temperature, biases)[
        :, SUPERSEDES
    ]
    shipped = probabilities(onnx_model(folder).run(texts), temperature, biases)[:, SUPERSEDES]
    difference = np.abs(exact - shipped)
    return {
        "pairs": len(pairs),
        "max": float(difference.max()),
        "mean": float(difference.mean()),
        "flipped": float(((exact >= threshold) != (shipped >= threshold)).mean()),
    }
