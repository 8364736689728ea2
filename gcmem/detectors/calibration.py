"""Measures a detector on labelled pairs and chooses the threshold that is precise enough."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gcmem.detectors.base import Calibration, Detector, ScoreArray, TextPair, score_async
from gcmem.detectors.quoting import dated

__all__ = [
    "CalibratedDetector",
    "CalibrationWarning",
    "calibrate",
    "calibrated",
    "check_classes",
    "choose_threshold",
    "quality",
    "read_label",
    "score_all",
]

_CONFLICT: Final = frozenset({"supersedes", "contradiction", "conflict", "true", "yes", "1"})
_NO_CONFLICT: Final = frozenset(
    {"supports", "neither", "entailment", "neutral", "no conflict", "false", "no", "0"}
)
_OPTIONAL: Final = frozenset(
    {
        "gate",
        "relation",
        "can_judge",
        "uses_query",
        "uses_dates",
        "decided_by",
        "refuses",
        "usage",
    }
)


class CalibrationWarning(UserWarning):
    """No threshold reached the wanted precision; the most precise one was taken."""


def calibrate(
    detector: Detector,
    labelled_pairs: Iterable[Any],
    *,
    min_precision: float = 0.95,
    batch_size: int = 256,
    progress: Callable[[int, int], None] | None = None,
) -> Calibration:
    """Choose the smallest threshold at which a detector is precise enough, and measure it there.

    The smallest such threshold is the one with the greatest recall. It lies halfway between the
    lowest score that still counts and the next lower one; equal scores are never torn apart. A
    pair without a verdict (NaN) counts as not reported, and so costs recall. Where no threshold
    is precise enough, the most precise one is taken (of equals the one with more recall) and a
    `CalibrationWarning` says how precise it is.

    The figures are measured on the pairs that chose the threshold, so they flatter it a little;
    a few hundred pairs of your own data keep that small.

    Apply it with ``Collector(detector, threshold=calibration.threshold)``, or with `calibrated`,
    so that the collector also knows the recall.

    Args:
        detector: What to measure.
        labelled_pairs: (older, newer, label), or objects or mappings with those three names. A
            label is a boolean (True: the newer makes the older untrue) or a word, see
            `read_label`. Objects and mappings may also have ``query``, the question, and both
            ``older_at`` and ``newer_at``, when the two were recorded: a detector that uses these is
            shown them, as a collector would show them.
        min_precision: Share of the reported conflicts that must be real, above 0 and up to 1.
        batch_size: Pairs scored at once.
        progress: Called after each batch with the pairs done and their total.

    Returns:
        The threshold and what was measured at it.

    Raises:
        ValueError: There are no pairs, none or all of them are conflicts, a label is unknown, the
            detector gave no verdict at all, or no conflict scored above 0.
        TypeError: A pair has another form.

    Example:
        >>> from gcmem import calibrate, load_detector
        >>> pairs = [
        ...     ("Ann lives in Ulm.", "Ann moved from Ulm to Kiel.", True),
        ...     ("Ann lives in Ulm.", "Bob lives in Kiel.", False),
        ... ]
        >>> calibration = calibrate(load_detector("bundled"), pairs)
        >>> calibration.n
        2
    """
    if not 0 < min_precision <= 1:
        msg = f"min_precision must be above 0 and at most 1, got {min_precision!r}."
        raise ValueError(msg)
    rows = [_row(position, given) for position, given in enumerate(labelled_pairs)]
    truth = np.array([row.label for row in rows], dtype=bool)
    check_classes(truth)
    uses_dates = bool(getattr(detector, "uses_dates", False))
    pairs = [row.dated if uses_dates else row.pair for row in rows]
    scores = score_all(
        detector,
        pairs,
        batch_size=batch_size,
        progress=progress,
        queries=[row.query for row in rows],
    )
    return quality(scores, truth, choose_threshold(scores, truth, min_precision=min_precision))


def score_all(
    detector: Detector,
    pairs: Sequence[TextPair],
    *,
    batch_size: int = 256,
    progress: Callable[[int, int], None] | None = None,
    queries: Sequence[str | None] | None = None,
) -> ScoreArray:
    """Score many pairs, batch by batch; parameters and errors are those of `calibrate`.

    ``queries`` holds the question of each pair; pairs of one question are scored together where the
    detector uses it. None: no questions.
    """
    if batch_size < 1:
        msg = f"batch_size must be at least 1, got {batch_size!r}."
        raise ValueError(msg)
    scores = np.empty(len(pairs), dtype=np.float32)
    by_query: dict[str | None, list[int]] = {}
    uses_query = queries is not None and bool(getattr(detector, "uses_query", True))
    for position in range(len(pairs)):
        query = queries[position] if queries is not None and uses_query else None
        by_query.setdefault(query, []).append(position)
    done = 0
    for query, positions in by_query.items():
        for start in range(0, len(positions), batch_size):
            batch = positions[start : start + batch_size]
            scores[batch] = detector.score([pairs[position] for position in batch], query)
            done += len(batch)
            if progress is not None:
                progress(done, len(pairs))
    return scores


def choose_threshold(
    scores: ScoreArray, truth: npt.NDArray[np.bool_], *, min_precision: float
) -> float:
    """Choose the smallest threshold that is precise enough; the rules are those of `calibrate`.

    Args:
        scores: Shape (n,), NaN where there is no verdict.
        truth: Shape (n,), whether the pair is a conflict.
        min_precision: Wanted precision.

    Returns:
        The threshold, above 0 and at most 1.

    Raises:
        ValueError: No conflict has a score above 0.
    """
    usable = np.flatnonzero(scores > 0)  # false for NaN
    order = usable[np.argsort(-scores[usable], kind="stable")]
    ranked, real = scores[order].astype(np.float64), np.cumsum(truth[order])
    if not len(real) or not real[-1]:
        msg = (
            "the detector gave no conflict a score above 0, so no threshold can be chosen; it "
            "either cannot judge these texts (no verdict) or finds nothing in them."
        )
        raise ValueError(msg)
    last_of_equals = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    precision = real[last_of_equals] / (last_of_equals + 1)
    good = np.flatnonzero(precision >= min_precision)
    if not len(good):
        good = np.flatnonzero(precision == precision.max())
        warnings.warn(
            f"no threshold gives a precision of {min_precision:.0%}; the most precise one gives "
            f"{precision.max():.0%}. Use a better detector, or accept a lower min_precision.",
            CalibrationWarning,
            stacklevel=3,
        )
    at = int(last_of_equals[good[-1]])
    below = ranked[at + 1] if at + 1 < len(ranked) else 0.0
    return float((ranked[at] + below) / 2)


def quality(scores: ScoreArray, truth: npt.NDArray[np.bool_], threshold: float) -> Calibration:
    """Measure precision and recall at a threshold; the precision of no report at all is 1."""
    reported = scores >= threshold
    hits = int((reported & truth).sum())
    return Calibration(
        threshold=threshold,
        precision=hits / int(reported.sum()) if reported.any() else 1.0,
        recall=hits / int(truth.sum()),
        n=len(scores),
    )


def read_label(given: object) -> bool:
    """Read whether a label says that the newer statement makes the older one untrue.

    Args:
        given: A boolean, 0 or 1, or a word in any case: "supersedes", "contradiction", "conflict",
            "true", "yes"; or "supports", "neither", "entailment", "neutral", "no conflict",
            "false", "no".

    Raises:
        ValueError: It is none of these.
    """
    word = str(given).strip().casefold()
    if word in _CONFLICT:
        return True
    if word in _NO_CONFLICT:
        return False
    msg = f"label must be one of {sorted(_CONFLICT | _NO_CONFLICT)}, got {given!r}."
    raise ValueError(msg)


class CalibratedDetector:
    """A detector with the threshold and the figures that were measured for it.

    Scores are those of the detector, under its name; see `calibrated`.
    """

    def __init__(self, detector: Detector, calibration: Calibration) -> None:
        self.detector = detector
        self.threshold = calibration.threshold
        self.calibration: Calibration | None = calibration

    @property
    def name(self) -> str:
        """The detector's name: its scores are the same, and so are its cached verdicts."""
        return self.detector.name

    def score(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        """Score pairs as the detector does."""
        return self.detector.score(pairs, query)

    async def ascore(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        """Score pairs as the detector does, in a thread where it has no ``ascore``."""
        return await score_async(self.detector, pairs, query)

    def __getattr__(self, name: str) -> Any:
        if name in _OPTIONAL:
            return getattr(self.detector, name)
        msg = f"{type(self).__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)

    def __repr__(self) -> str:
        return f"CalibratedDetector({self.detector!r}, {self.calibration!r})"


def calibrated(detector: Detector, calibration: Calibration) -> CalibratedDetector:
    """Give a detector the threshold and the figures of a calibration.

    A `Collector` then uses that threshold, and warns where the measured recall is too low.

    Raises:
        TypeError: One of the two has another type.
    """
    if not isinstance(detector, Detector):
        msg = f"detector must be a detector, got {detector!r}."
        raise TypeError(msg)
    if not isinstance(calibration, Calibration):
        msg = f"calibration must be a gcmem.Calibration, got {calibration!r}."
        raise TypeError(msg)
    inner = detector.detector if isinstance(detector, CalibratedDetector) else detector
    return CalibratedDetector(inner, calibration)


@dataclass(frozen=True, slots=True)
class _Row:
    """A labelled pair, with what a detector may want to know besides the texts."""

    pair: TextPair
    label: bool
    query: str | None
    dated: TextPair


def _row(position: int, given: Any) -> _Row:
    if isinstance(given, Mapping):
        parts = tuple(given.get(name) for name in ("older", "newer", "label"))
    elif isinstance(given, Sequence) and not isinstance(given, str):
        parts = tuple(given)
    else:
        parts = tuple(getattr(given, name, None) for name in ("older", "newer", "label"))
    if len(parts) != 3 or not isinstance(parts[0], str) or not isinstance(parts[1], str):
        msg = (
            f"labelled_pairs[{position}] must be (older, newer, label) with two texts, or have "
            f"those names; got {given!r}."
        )
        raise TypeError(msg)
    try:
        label = read_label(parts[2])
        older_at, newer_at = _optional(given, "older_at"), _optional(given, "newer_at")
        pair = parts[0], parts[1]
        timed = older_at is not None and newer_at is not None
        with_dates = (dated(pair[0], older_at), dated(pair[1], newer_at)) if timed else pair
        return _Row(pair, label, _optional(given, "query") or None, with_dates)
    except ValueError as error:
        msg = f"labelled_pairs[{position}]: {error}"
        raise ValueError(msg) from error


def _optional(given: Any, name: str) -> Any:
    return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)


def check_classes(truth: npt.NDArray[np.bool_]) -> None:
    """Check that there are pairs with and without a conflict.

    Raises:
        ValueError: There are none of one kind.
    """
    if not len(truth):
        msg = "labelled_pairs is empty; a threshold needs pairs with and without a conflict."
        raise ValueError(msg)
    if truth.all() or not truth.any():
        kind = "conflicts" if truth.all() else "no conflicts"
        msg = f"labelled_pairs holds {kind} only; a threshold needs pairs of both kinds."
        raise ValueError(msg)
