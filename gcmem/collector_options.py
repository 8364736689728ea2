"""What a collector makes of its options, and what it says where they will not do."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from gcmem.detectors.base import Detector
from gcmem.detectors.cache import MemoryVerdictCache, VerdictCache
from gcmem.rounds import Gate

__all__ = [
    "LowRecallWarning",
    "check_choice",
    "gate_of",
    "resolve_cache",
    "resolve_detector",
    "warn_of_low_recall",
]

_DEPLOYMENT_RECALL: Final = 0.5


class LowRecallWarning(UserWarning):
    """The detector finds too few conflicts to be deployed (GC-Mem, section 6.3)."""


def resolve_cache(given: VerdictCache | str | Path | Literal[False] | None) -> VerdictCache | None:
    """The cache behind the option `cache`: a path becomes a SQLite file."""
    if given is None:
        return MemoryVerdictCache()
    if given is False:
        return None
    if isinstance(given, str | Path):
        from gcmem.detectors.sqlite_cache import SQLiteVerdictCache  # noqa: PLC0415

        return SQLiteVerdictCache(given)
    if not (hasattr(given, "get_many") and hasattr(given, "put_many")):
        msg = (
            "cache must be None, False, a path of a SQLite file, or have the methods get_many and "
            f"put_many; got {given!r}."
        )
        raise TypeError(msg)
    return given


def resolve_detector(detector: Detector | str | None) -> Detector:
    """The detector behind the option `detector`: a name is loaded."""
    if detector is None or isinstance(detector, str):
        from gcmem.detectors import load_detector  # noqa: PLC0415  (keeps `import gcmem` light)

        return load_detector(detector or "bundled")
    if not isinstance(detector, Detector):
        msg = (
            "detector must have the attributes name, threshold and calibration and the method "
            f"score(pairs, query=None), or be a name for load_detector; got {detector!r}."
        )
        raise TypeError(msg)
    return detector


def gate_of(detector: Detector) -> Gate | None:
    """The detector's own gate, if it has one."""
    return getattr(detector, "gate", None)


def check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    """Raise ValueError where a value is none of those allowed."""
    if value not in allowed:
        msg = f"{name} must be one of {list(allowed)}, got {value!r}."
        raise ValueError(msg)


def warn_of_low_recall(detector: Detector) -> None:
    """Warn whoever makes a collector with a detector that finds half of the conflicts or less."""
    measured = detector.calibration
    if measured is not None and measured.recall <= _DEPLOYMENT_RECALL:
        warnings.warn(
            f"Detector {detector.name!r} finds {measured.recall:.0%} of the conflicts at threshold "
            f"{measured.threshold:.3f} (measured on {measured.n} pairs). GC-Mem should not be "
            "deployed at 50 % or below (section 6.3): partly cleaned contexts mislead the model. "
            "Use a better detector, or calibrate this one on your own pairs (gcmem.calibrate).",
            LowRecallWarning,
            stacklevel=3,
        )
