"""gcmem: garbage collection for what LLM applications remember.

Takes the contradicted, outdated statements out of what a model is about to read. The core knows
no framework; the adapters are the packages `langchain_gcmem` and `llamaindex_gcmem`.
"""

from __future__ import annotations

from gcmem._version import __version__
from gcmem.collection import Collection, CollectionStats, Conflict, Excision, Shadow
from gcmem.collector import Collector, LowRecallWarning
from gcmem.detectors import Calibration, Detector, load_detector
from gcmem.memory import Memory, to_scope
from gcmem.timestamps import to_utc

__all__ = [
    "Calibration",
    "Collection",
    "CollectionStats",
    "Collector",
    "Conflict",
    "Detector",
    "Excision",
    "LowRecallWarning",
    "Memory",
    "Shadow",
    "__version__",
    "load_detector",
    "to_scope",
    "to_utc",
]
