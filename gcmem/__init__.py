"""gcmem: garbage collection for what LLM applications remember.

Takes the contradicted, outdated statements out of what a model is about to read. The core knows
no framework; the adapters are the packages `langchain_gcmem` and `llamaindex_gcmem`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gcmem._version import __version__
from gcmem.collection import Collection, CollectionStats, Conflict, Excision, Shadow
from gcmem.collector import Collector, LowRecallWarning, UndatedWarning
from gcmem.detectors import Calibration, Detector, load_detector
from gcmem.detectors.calibration import calibrate
from gcmem.history import asks_about_past
from gcmem.ingestion import MemoryStream
from gcmem.memory import Memory, to_scope
from gcmem.record_writing import IngestionError
from gcmem.short_term import ShortTermMemory
from gcmem.timestamps import to_utc

if TYPE_CHECKING:
    from gcmem.precedents import LifecyclePolicy, PrecedentLedger

__all__ = [
    "Calibration",
    "Collection",
    "CollectionStats",
    "Collector",
    "Conflict",
    "Detector",
    "Excision",
    "IngestionError",
    "LifecyclePolicy",
    "LowRecallWarning",
    "Memory",
    "MemoryStream",
    "PrecedentLedger",
    "Shadow",
    "ShortTermMemory",
    "UndatedWarning",
    "__version__",
    "asks_about_past",
    "calibrate",
    "load_detector",
    "to_scope",
    "to_utc",
]


def __getattr__(name: str) -> Any:
    """Import the ledger, and with it SQLAlchemy, when it is first asked for."""
    if name not in {"LifecyclePolicy", "PrecedentLedger"}:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from gcmem import precedents  # noqa: PLC0415  (keeps `import gcmem` light)

    return getattr(precedents, name)
