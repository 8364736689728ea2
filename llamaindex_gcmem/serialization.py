"""Writes a collector as plain values and builds it again, so that it decides the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gcmem import Collector, Detector
from gcmem.detectors.bundled import BundledDetector
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
)
_KEYS: Final = frozenset({*_PLAIN, "detector", "tie_breaker", "explicit", "gate", "cache"})


def dump_collector(collector: Collector) -> dict[str, Any]:
    """Write the options of a collector as values that JSON can hold.

    A verdict cache cannot change a decision: only whether there is one is written, and it comes
    back empty.

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
        return {"name": "explicit", "multi_valued": list(detector.multi_valued)}
    if type(detector) is BundledDetector:
        state = detector.__getstate__()
        folder = None if state["folder"] == WEIGHTS else str(state["folder"])
        return {"name": "bundled", **state, "folder": folder}
    raise _refusal(detector, "detector")


def _load_detector(options: Mapping[str, Any]) -> Detector:
    given = {name: value for name, value in options.items() if name != "name"}
    if options.get("name") == "explicit":
        return ExplicitDetector(**given)
    if options.get("name") == "bundled":
        return BundledDetector(**given)
    msg = f'detector["name"] must be "explicit" or "bundled", got {options.get("name")!r}.'
    raise ValueError(msg)


def _refusal(value: object, name: str) -> ValueError:
    msg = (
        f"the {name} {value!r} of type {type(value).__name__} is an object of your own and cannot "
        'be serialised. Leave the collector out, to_dict(exclude={"collector"}), and pass it '
        "again: from_dict(data, collector=...)."
    )
    return ValueError(msg)
