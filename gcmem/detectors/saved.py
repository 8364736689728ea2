"""Detectors on disk: a folder with ``detector.json``, written by `save_detector`."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from gcmem.detectors.base import Calibration, Detector
from gcmem.detectors.calibration import CalibratedDetector, calibrated

__all__ = [
    "DESCRIPTION",
    "SavedDetectorError",
    "StaleCalibrationWarning",
    "check_savable",
    "load_saved",
    "save_detector",
]

DESCRIPTION: Final = "detector.json"
_FORMAT: Final = 1
_KINDS: Final = ("bundled", "cross-encoder")
_CROSS_ENCODER_OPTIONS: Final = (
    "direction",
    "labels",
    "batch_size",
    "max_tokens",
    "revision",
    "local_files_only",
)


class SavedDetectorError(ValueError):
    """A folder holds no detector that can be loaded; the message names the file and the reason."""


class StaleCalibrationWarning(UserWarning):
    """A detector is not the one that its saved threshold was measured with."""


def save_detector(detector: Detector, folder: str | Path) -> Path:
    """Describe a detector, with its threshold and calibration, in a folder.

    The description names the model; it does not copy it. A model that lies in the folder itself,
    or in another one, is named by its path relative to the folder.

    Args:
        detector: A `BundledDetector` or `CrossEncoderDetector`, calibrated or not.
        folder: Where `load_detector` will look; it is made if it does not exist.

    Returns:
        The file that was written.

    Raises:
        TypeError: The detector is of another class, which a file cannot describe.
    """
    folder = Path(folder)
    inner = detector.detector if isinstance(detector, CalibratedDetector) else detector
    kind, base, options = _described(inner, folder)
    content = {
        "format": _FORMAT,
        "kind": kind,
        "base": base,
        "options": options,
        "detector": detector.name,
        "threshold": detector.threshold,
        "calibration": None if detector.calibration is None else asdict(detector.calibration),
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / DESCRIPTION
    part = path.with_suffix(".part")
    part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    part.replace(path)
    return path


def check_savable(detector: Detector) -> None:
    """Check that a detector can be described in a file, before anything costly is done with it.

    Raises:
        TypeError: It is of a class that a file cannot describe.
    """
    inner = detector.detector if isinstance(detector, CalibratedDetector) else detector
    _described(inner, Path())


def load_saved(folder: str | Path, **options: Any) -> Detector:
    """Load a detector that `save_detector` described.

    Args:
        folder: The folder with ``detector.json``.
        **options: Passed to the detector's class; they win over the saved ones.

    Raises:
        SavedDetectorError: The description is unreadable or of an unknown form.
        FileNotFoundError: The model that it names is gone.
    """
    folder = Path(folder)
    path = folder / DESCRIPTION
    content = _read(path)
    try:
        figures = content["calibration"]
        measured = None if figures is None else Calibration(**figures)
        threshold = float(content["threshold"])
    except (KeyError, TypeError, ValueError) as error:
        msg = f"{path}: threshold or calibration cannot be read: {error}."
        raise SavedDetectorError(msg) from error
    detector = _rebuilt(path, content, {"threshold": threshold, **options})
    if measured is None:
        return detector
    if detector.name != content.get("detector"):
        warnings.warn(
            f"{path} was measured with {content.get('detector')!r}, but the model is now "
            f"{detector.name!r}; its threshold may no longer fit. Calibrate it again.",
            StaleCalibrationWarning,
            stacklevel=3,
        )
    if "threshold" in options or measured.threshold != threshold:
        return detector
    return calibrated(detector, measured)


def _described(detector: Detector, folder: Path) -> tuple[str, str | None, dict[str, Any]]:
    from gcmem.detectors.bundled import BundledDetector  # noqa: PLC0415  (loads onnxruntime)
    from gcmem.detectors.cross_encoder import CrossEncoderDetector  # noqa: PLC0415
    from gcmem.onnx_model import WEIGHTS  # noqa: PLC0415

    if isinstance(detector, BundledDetector):
        own = Path(detector.folder).resolve() == Path(WEIGHTS).resolve()
        return "bundled", None if own else _relative(Path(detector.folder), folder), {}
    if isinstance(detector, CrossEncoderDetector):
        name = detector.model_name_or_path
        base = _relative(Path(name), folder) if Path(name).is_dir() else name
        given = {option: getattr(detector, option) for option in _CROSS_ENCODER_OPTIONS}
        return "cross-encoder", base, {k: v for k, v in given.items() if v is not None}
    msg = (
        f"only bundled and cross-encoder detectors can be saved, got {detector!r}; keep its "
        "Calibration and give it to gcmem.detectors.calibration.calibrated."
    )
    raise TypeError(msg)


def _relative(path: Path, folder: Path) -> str:
    """A path that is seen to be one, from the folder."""
    found = os.path.relpath(path.resolve(), folder.resolve())
    return found if found.startswith(".") else os.path.join(".", found)  # noqa: PTH118


def _read(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        msg = f"{path} is not JSON: {error}."
        raise SavedDetectorError(msg) from error
    if not isinstance(content, Mapping) or content.get("format") != _FORMAT:
        found = content.get("format") if isinstance(content, Mapping) else content
        msg = f"{path} must have the format {_FORMAT}, got {found!r}."
        raise SavedDetectorError(msg)
    return content


def _rebuilt(path: Path, content: Mapping[str, Any], options: Mapping[str, Any]) -> Detector:
    kind, base = content.get("kind"), content.get("base")
    if kind not in _KINDS:
        msg = f"{path}: kind must be one of {list(_KINDS)}, got {kind!r}."
        raise SavedDetectorError(msg)
    local = path.parent / base if isinstance(base, str) and base.startswith(".") else None
    if local is not None and not local.is_dir():
        msg = f"{path} names the model folder {local}, which does not exist."
        raise FileNotFoundError(msg)
    settings = {**(content.get("options") or {}), **options}
    try:
        if kind == "bundled":
            from gcmem.detectors.bundled import BundledDetector  # noqa: PLC0415

            return BundledDetector(local.resolve() if local else None, **settings)
        from gcmem.detectors.cross_encoder import CrossEncoderDetector  # noqa: PLC0415

        return CrossEncoderDetector(local.resolve() if local else str(base), **settings)
    except TypeError as error:
        msg = f"{path}: {error}."
        raise SavedDetectorError(msg) from error
