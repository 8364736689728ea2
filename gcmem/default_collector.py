"""The collector of every adapter that was not given one."""

from __future__ import annotations

import threading
from typing import Final

from gcmem.collector import Collector

__all__ = ["default_collector"]

_default: Final[list[Collector]] = []
_building: Final = threading.Lock()


def default_collector() -> Collector:
    """Give `Collector()`, built once in a process; its verdicts are cached for all who use it."""
    with _building:
        if not _default:
            _default.append(Collector())
        return _default[0]
