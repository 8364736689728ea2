"""The most memory that this process has held."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def peak_mib() -> float:
    """Give the peak of the resident memory so far, in MiB.

    On Linux ``ru_maxrss`` of a process starts at what its parent held when it was started, so the
    kernel's own mark for this process is read where there is one.
    """
    if _STATUS.exists():
        for line in _STATUS.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
