"""Kappa, the conflict function: its protocol, and `load_detector`, which finds one by name."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gcmem.detectors.base import AsyncDetector, Calibration, Detector, ScoreArray, TextPair

if TYPE_CHECKING:
    from gcmem.detectors.bundled import BundledDetector
    from gcmem.detectors.calibration import calibrate, calibrated
    from gcmem.detectors.cascade import CascadeDetector
    from gcmem.detectors.cross_encoder import CrossEncoderDetector
    from gcmem.detectors.explicit import ExplicitDetector
    from gcmem.detectors.llm import LLMDetector
    from gcmem.detectors.saved import save_detector
    from gcmem.detectors.slots import SlotAnnotator
    from gcmem.detectors.sqlite_cache import SQLiteVerdictCache

__all__ = [
    "AsyncDetector",
    "BundledDetector",
    "Calibration",
    "CascadeDetector",
    "CrossEncoderDetector",
    "Detector",
    "ExplicitDetector",
    "LLMDetector",
    "SQLiteVerdictCache",
    "ScoreArray",
    "SlotAnnotator",
    "TextPair",
    "calibrate",
    "calibrated",
    "load_detector",
    "save_detector",
]

_BUILT_IN: Final = ("bundled", "explicit")

_HOMES: Final = {
    "BundledDetector": "bundled",
    "CascadeDetector": "cascade",
    "CrossEncoderDetector": "cross_encoder",
    "ExplicitDetector": "explicit",
    "LLMDetector": "llm",
    "SQLiteVerdictCache": "sqlite_cache",
    "SlotAnnotator": "slots",
    "calibrate": "calibration",
    "calibrated": "calibration",
    "save_detector": "saved",
}


def __getattr__(name: str) -> Any:
    """Import a detector when it is first asked for, so that `import gcmem` stays light."""
    from importlib import import_module  # noqa: PLC0415

    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def load_detector(name: str | Path = "bundled", **options: Any) -> Detector:
    """Load a detector by name; models are read at the first score, not here.

    Args:
        name: "bundled" (the model that ships with gcmem: offline, CPU, no torch), "explicit"
            (links and slots in metadata, no model), a folder that `gcmem train` or
            `gcmem calibrate` wrote, or an NLI cross-encoder by its Hugging Face name or folder
            (extra ``nli``).
        **options: Passed to the detector's class (``direction="both"`` for a cross-encoder).

    Raises:
        ValueError: The name is empty or a misspelt "bundled" or "explicit", or a folder holds no
            detector.
        ImportError: At the first score: the detector needs an extra that is not installed; the
            message names it.
        FileNotFoundError: The name looks like a path and nothing is there.

    Example:
        >>> load_detector("explicit").name
        'explicit'
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
    folder = Path(text).expanduser()
    if folder.is_dir():
        return _from_folder(folder, options)
    if isinstance(name, Path) or _looks_like_a_path(text):
        msg = f"there is no folder {text!r} to load a detector from."
        raise FileNotFoundError(msg)
    if "/" not in text and (near := get_close_matches(text.casefold(), _BUILT_IN, cutoff=0.76)):
        msg = (
            f"name must be one of {list(_BUILT_IN)}, a folder or the name of a model, "
            f"got {text!r}; did you mean {near[0]!r}?"
        )
        raise ValueError(msg)
    from gcmem.detectors.cross_encoder import CrossEncoderDetector  # noqa: PLC0415

    return CrossEncoderDetector(text, **options)


def _from_folder(folder: Path, options: dict[str, Any]) -> Detector:
    if (folder / "detector.json").is_file():
        from gcmem.detectors.saved import load_saved  # noqa: PLC0415

        return load_saved(folder, **options)
    if (folder / "conflict.onnx").is_file():
        from gcmem.detectors.bundled import BundledDetector  # noqa: PLC0415

        return BundledDetector(folder, **options)
    if (folder / "config.json").is_file():
        from gcmem.detectors.cross_encoder import CrossEncoderDetector  # noqa: PLC0415

        return CrossEncoderDetector(folder, **options)
    msg = (
        f"the folder {str(folder)!r} holds no detector: no detector.json (gcmem calibrate), "
        "no conflict.onnx (gcmem train), no config.json (Hugging Face)."
    )
    raise ValueError(msg)


def _looks_like_a_path(text: str) -> bool:
    """Hugging Face names are "name" or "owner/name", without a leading dot, slash or tilde."""
    return text.startswith((".", "~", os.sep, "/")) or "\\" in text or text.count("/") > 1
