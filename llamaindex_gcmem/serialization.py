"""Writes a collector as plain values and builds it again, so that it decides the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from gcmem import Collector, Detector
from gcmem.detectors.base import Calibration
from gcmem.detectors.bundled import BundledDetector
from gcmem.detectors.calibration import CalibratedDetector, calibrated
from gcmem.detectors.cascade import CascadeDetector
from gcmem.detectors.cross_encoder import CrossEncoderDetector
from gcmem.detectors.explicit import ExplicitDetector
from gcmem.onnx_model import WEIGHTS

__all__ = ["dump_collector", "load_collector"]

_PLAIN: Final = (
    "threshold",
    "on_conflict",
    "granularity",
    "undated",
    "max_pairs",
    "deadline",
    "on_error",
    "cross_check",
)
_KEYS: Final = frozenset({*_PLAIN, "detector", "tie_breaker", "explicit", "gate", "cache"})
_KINDS: Final = ("explicit", "bundled", "cross-encoder", "calibrated", "cascade")
_CROSS_ENCODER: Final = (
    "model_name_or_path",
    "direction",
    "labels",
    "threshold",
    "device",
    "batch_size",
    "max_tokens",
    "revision",
    "local_files_only",
)


def dump_collector(collector: Collector) -> dict[str, Any]:
    """Write the options of a collector as values that JSON can hold.

    A verdict cache cannot change a decision: only whether there is one is written, and it comes
    back empty and in memory.

    Raises:
        ValueError: It holds an object of the user's own that cannot be written as a value.
    """
    if type(collector) is not Collector:
        raise _refusal(collector, "collector")
    if collector.tie_breaker is not None and not isinstance(collector.tie_breaker, str):
        raise _refusal(collector.tie_breaker, "tie_breaker")
    if type(collector.explicit) is not ExplicitDetector:
        raise _refusal(collector.explicit, "explicit")
    own_gate = getattr(collector.detector, "gate", None)
    if collector.gate is not None and collector.gate is not own_gate:
        raise _refusal(collector.gate, "gate")
    return {
        "detector": _dump_detector(collector.detector),
        **{name: getattr(collector, name) for name in _PLAIN},
        "tie_breaker": collector.tie_breaker,
        "explicit": {"multi_valued": list(collector.explicit.multi_valued)},
        "gate": collector.gate is not None or own_gate is None,
        "cache": collector.cache is not None,
    }


def load_collector(options: Mapping[str, Any]) -> Collector:
    """Build the collector that `dump_collector` wrote.

    Raises:
        ValueError: A key is missing or unknown, or the detector is none that can be written.
        FileNotFoundError: The folder of the detector's model is not there.
    """
    if set(options) != _KEYS:
        wrong = sorted(_KEYS.symmetric_difference(options))
        msg = f"collector must hold exactly the keys {sorted(_KEYS)}; missing or unknown: {wrong}."
        raise ValueError(msg)
    return Collector(
        _load_detector(options["detector"]),
        **{name: options[name] for name in _PLAIN},
        tie_breaker=options["tie_breaker"],
        explicit=ExplicitDetector(**options["explicit"]),
        gate=None if options["gate"] else False,
        cache=None if options["cache"] else False,
    )


def _dump_detector(detector: Detector) -> dict[str, Any]:
    if type(detector) is ExplicitDetector:
        return {"kind": "explicit", "multi_valued": list(detector.multi_valued)}
    if type(detector) is BundledDetector:
        state = detector.__getstate__()
        folder = None if state["folder"] == WEIGHTS else str(state["folder"])
        return {"kind": "bundled", **state, "folder": folder}
    if type(detector) is CrossEncoderDetector:
        options = {name: getattr(detector, name) for name in _CROSS_ENCODER}
        labels = None if detector.labels is None else list(detector.labels)
        return {"kind": "cross-encoder", **options, "labels": labels}
    if type(detector) is CalibratedDetector and detector.calibration is not None:
        measured, inner = asdict(detector.calibration), _dump_detector(detector.detector)
        return {"kind": "calibrated", "detector": inner, "calibration": measured}
    if type(detector) is CascadeDetector:
        first, second = _dump_detector(detector.first), _dump_detector(detector.second)
        return {"kind": "cascade", "first": first, "second": second, "band": list(detector.band)}
    raise _refusal(detector, "detector")


def _load_detector(options: Mapping[str, Any]) -> Detector:
    kind, given = options.get("kind"), {k: v for k, v in options.items() if k != "kind"}
    if kind == "explicit":
        return ExplicitDetector(**given)
    if kind == "bundled":
        return BundledDetector(**given)
    if kind == "cross-encoder":
        return CrossEncoderDetector(**given)
    if kind == "calibrated":
        return calibrated(_load_detector(given["detector"]), Calibration(**given["calibration"]))
    if kind == "cascade":
        first, second = _load_detector(given["first"]), _load_detector(given["second"])
        low, high = given["band"]
        return CascadeDetector(first, second, band=(low, high))
    msg = f'detector["kind"] must be one of {list(_KINDS)}, got {kind!r}.'
    raise ValueError(msg)


def _refusal(value: object, name: str) -> ValueError:
    msg = (
        f"the {name} {value!r} of type {type(value).__name__} is an object of your own and cannot "
        'be serialised. Leave the collector out, to_dict(exclude={"collector"}), and pass it '
        "again: from_dict(data, collector=...)."
    )
    return ValueError(msg)
