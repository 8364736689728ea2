"""What a collector makes of its options, and what it says where they will not do."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Literal

from gcmem.checks import whole_number
from gcmem.detectors.base import Detector
from gcmem.detectors.cache import MemoryVerdictCache, VerdictCache
from gcmem.detectors.explicit import ExplicitDetector
from gcmem.memory import Memory
from gcmem.rounds import Gate

__all__ = [
    "LowRecallWarning",
    "UndatedWarning",
    "check_choice",
    "check_limits",
    "check_tie_breaker",
    "resolve_cache",
    "resolve_detector",
    "resolve_explicit",
    "resolve_gate",
    "resolve_relations",
    "warn_of_low_recall",
    "warn_of_undated",
]

_DEPLOYMENT_RECALL: Final = 0.5
_FEW: Final = 2
_KEYS_NAMED: Final = 12


class LowRecallWarning(UserWarning):
    """The detector finds too few conflicts to be deployed (GC-Mem, section 6.3)."""


class UndatedWarning(UserWarning):
    """No memory has a time, so that nothing can be told to be older than anything."""


def resolve_cache(given: VerdictCache | str | Path | Literal[False] | None) -> VerdictCache | None:
    """The cache behind the option `cache`: a path becomes a SQLite file."""
    if given is None:
        return MemoryVerdictCache()
    if given is False:
        return None
    if isinstance(given, str) and not given.strip():
        msg = "cache must be the path of a SQLite file, got an empty text; False takes no cache."
        raise ValueError(msg)
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

        return load_detector("bundled" if detector is None else detector)
    if not isinstance(detector, Detector):
        msg = (
            "detector must have the attributes name, threshold and calibration and the method "
            f"score(pairs, query=None), or be a name for load_detector; got {detector!r}."
        )
        raise TypeError(msg)
    return detector


def resolve_explicit(given: ExplicitDetector | None, detector: Detector) -> ExplicitDetector:
    """The rules behind the option `explicit`: those of a detector that is one, unless given.

    Raises:
        TypeError: What was given is no `ExplicitDetector`.
        ValueError: The detector is one too, with other rules.
    """
    rules = detector if isinstance(detector, ExplicitDetector) else None
    if given is None:
        return rules or ExplicitDetector()
    if not isinstance(given, ExplicitDetector):
        msg = f"explicit must be an ExplicitDetector or None, got {given!r}."
        raise TypeError(msg)
    if rules is not None and rules.multi_valued and rules != given:
        msg = (
            "explicit and detector are both an ExplicitDetector, with other rules: "
            f"{given!r} and {rules!r}. Give the rules once."
        )
        raise ValueError(msg)
    return given


def resolve_relations(detector: Detector, given: bool | None) -> tuple[Detector, Detector] | None:
    """What tells which statements say the same and which are apart, unless it is not wanted.

    Raises:
        TypeError: `given` is neither a truth value nor None.
        ValueError: It is wanted, and the detector cannot tell.
    """
    if given is not None and not isinstance(given, bool):
        msg = f"cross_check must be True, False or None, got {given!r}."
        raise TypeError(msg)
    relation: Callable[[str], Detector] | None = getattr(detector, "relation", None)
    if given is False or (given is None and relation is None):
        return None
    if relation is None:
        msg = (
            f"cross_check is True, but detector {detector.name!r} cannot tell which statements "
            "say the same: it has no method relation(). Leave cross_check out."
        )
        raise ValueError(msg)
    return relation("supports"), relation("neither")


def check_limits(threshold: float | None, max_pairs: int | None, deadline: float | None) -> None:
    """Check the numbers that a collector takes.

    Raises:
        TypeError: One is no number, or `max_pairs` no whole one.
        ValueError: One is out of range.
    """
    for name, value in (("threshold", threshold), ("deadline", deadline)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            msg = f"{name} must be a number or None, got {value!r}."
            raise TypeError(msg)
    if threshold is not None and not 0 < threshold <= 1:
        msg = f"threshold must be above 0 and at most 1, got {threshold!r}."
        raise ValueError(msg)
    if max_pairs is not None:
        whole_number("max_pairs", max_pairs, least=0)
    if deadline is not None and not deadline >= 0:
        msg = f"deadline must be at least 0 seconds (None for no limit), got {deadline!r}."
        raise ValueError(msg)


def resolve_gate(given: Gate | Literal[False] | None, detector: Detector) -> Gate | None:
    """The gate behind the option `gate`: None takes the detector's own, if it has one.

    Raises:
        TypeError: It is neither None nor False, and lacks the method ``allowed``.
    """
    if given is None:
        own: Gate | None = getattr(detector, "gate", None)
        return own
    if given is False:
        return None
    if not callable(getattr(given, "allowed", None)):
        msg = (
            "gate must be None (the detector's own), False (none) or have the method "
            f"allowed(older, newer); got {given!r}."
        )
        raise TypeError(msg)
    return given


def check_tie_breaker(given: object) -> None:
    """Check what orders memories of the same time.

    Raises:
        TypeError: It is neither None, nor a metadata key, nor callable.
        ValueError: It is an empty key.
    """
    if given is not None and not isinstance(given, str) and not callable(given):
        msg = f"tie_breaker must be a metadata key, a callable or None, got {given!r}."
        raise TypeError(msg)
    if given == "":
        msg = "tie_breaker must be a metadata key, a callable or None, got an empty text."
        raise ValueError(msg)


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


def warn_of_undated(memories: Sequence[Memory]) -> bool:
    """Warn where several memories were given and none has a time or a link.

    Returns:
        Whether it warned.
    """
    if len(memories) < _FEW or any(m.timestamp is not None or m.supersedes for m in memories):
        return False
    keys = sorted({str(key) for memory in memories for key in memory.metadata})
    held = f"their metadata has the keys {keys[:_KEYS_NAMED]}" if keys else "they have no metadata"
    warnings.warn(
        f"None of the {len(memories)} memories has a time, so nothing can be removed as outdated; "
        f"{held}. Give Memory a timestamp, or name the metadata key that holds the time in the "
        "adapter's timestamp_key.",
        UndatedWarning,
        stacklevel=2,
    )
    return True
