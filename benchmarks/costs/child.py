"""Measures one row in a process of its own, so that its memory is that of gcmem and nothing else.

``python -m benchmarks.costs.child`` reads sets from stdin and writes their row to stdout, as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.costs.row import Bounds
    from gcmem import Memory

_ROOT = Path(__file__).parents[2]


def in_fresh_process(
    sets: Sequence[Sequence[Memory]], *, bounds: Bounds, seed: int
) -> dict[str, Any]:
    """Measure sets with the bundled model in a new process.

    Returns:
        What `benchmarks.costs.row.measure` gives, with the memory of a process that has imported
        gcmem, and how much more the collection took at its peak.

    Raises:
        subprocess.CalledProcessError: The process failed; its message is on stderr.
    """
    request = {
        "sets": [
            [{"text": m.text, "timestamp": str(m.timestamp), "id": m.id} for m in memories]
            for memories in sets
        ],
        "whole": bounds.whole,
        "sample": bounds.sample,
        "seconds": bounds.seconds,
        "seed": seed,
    }
    command = [sys.executable, "-m", "benchmarks.costs.child"]
    answer = subprocess.run(
        command,
        input=json.dumps(request),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=_ROOT,
    )
    row: dict[str, Any] = json.loads(answer.stdout)
    return row


def main() -> None:
    import gcmem
    from benchmarks.costs.peak import peak_mib

    bare = peak_mib()  # before anything else is imported or loaded
    from benchmarks.costs.row import Bounds, measure

    request = json.load(sys.stdin)
    row = measure(
        [[gcmem.Memory(**fields) for fields in memories] for memories in request["sets"]],
        gcmem.load_detector("bundled"),
        bounds=Bounds(request["whole"], request["sample"], request["seconds"]),
        seed=request["seed"],
    )
    row["bare import MiB"] = round(bare, 1)
    row["peak MiB over bare import"] = round(row["peak MiB"] - bare, 1)
    json.dump(row, sys.stdout)


if __name__ == "__main__":
    main()
