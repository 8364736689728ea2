"""Kappa, the conflict function: its protocol, and `load_detector`, which finds one by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gcmem.detectors.base import AsyncDetector, Calibration, Detector, ScoreArray, TextPair

__all__ = ["AsyncDetector", "Calibration", "Detector", "ScoreArray", "TextPair", "load_detector"]


def load_detector(name: str | Path = "bundled", **options: Any) -> Detector:
    """Load a detector by name; models are read at the first score, not here.

    Args:
        name: "bundled" (the model that ships with gcmem: offline, CPU, no torch), "explicit"
            (links and slots in metadata, no model), a folder that `gcmem train` or
            `gcmem calibrate` wrote, or an NLI cross-encoder by its Hugging Face name or folder
            (extra ``nli``).
        **options: Passed to the detector's class.

    Raises:
        ValueError: The name is empty.
        ImportError: The detector needs an extra that is not installed; the message names it.
        FileNotFoundError: The name looks like a path and nothing is there.
    """
    text = str(name)
    if not text.strip():
        msg = 'name must be "bundled", "explicit", a model name or a folder, got an empty text.'
        raise ValueError(msg)
    if text == "explicit":
        from gcmem.detectors.explicit import ExplicitDetector  # noqa: PLC0415

        return ExplicitDetector(**options)
    if text == "bundled":
        from gcmem.detectors.bundled import BundledDetector  # noqa: PLC0415

        return BundledDetector(**options)
    raise NotImplementedError(text)
