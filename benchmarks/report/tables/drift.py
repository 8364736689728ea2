"""Table of the drift experiments."""

from __future__ import annotations

from typing import Any, Final

from benchmarks.drift.report import PAPER
from benchmarks.report.markdown import table

_COMPARED: Final = (
    "append-only",
    "last write wins",
    "reactive",
    "TEPA-Rev",
    "gcmem",
    "gcmem, tentative shown",
)


def drift(content: dict[str, Any]) -> str:
    """Success in the reversal, beside what is published; and what hangs on who is corrected."""
    settings, config = content["results"]["settings"], content["config"]
    rows = []
    for method in config["methods"]:
        cells = [method]
        for name, found in settings.items():
            figures = found["methods"].get(method)
            published = PAPER[name].get(method)
            cells.append("-" if figures is None else f"{figures['reversal']['success']:.3f}")
            cells.append("" if published is None else f"{published:.3f}")
        rows.append(cells)
    columns = ["memory", *(part for name in settings for part in (name, "paper"))]
    told = told_of_corrections(content)
    evidence = [
        [method, *(f"{rates[method]:.3f}" if method in rates else "-" for rates in told.values())]
        for method in _COMPARED
        if any(method in rates for rates in told.values())
    ]
    return (
        f"Mean of {config['seeds']} seeds. The file also holds the other phases, the pollution "
        "index, speed of adaptation, intervals, tests, and sweeps over wrong keys, windows and "
        "trials.\n\n"
        f"{table(columns, rows)}\n"
        "The same (controlled), by whose memory is told what would have been right:\n\n"
        f"{table(['memory', *told], evidence)}"
    )


def told_of_corrections(content: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Give success in the reversal by who is told of corrections, and by method."""
    settings, sweep = content["results"]["settings"], content["results"]["sweeps"]["evidence"]
    main = settings["controlled"]["methods"]
    told = {"the lifecycle's": {m: row["reversal"]["success"] for m, row in main.items()}}
    for reach, heading in (("everyone", "everyone's"), ("nobody", "nobody's")):
        told[heading] = {
            row["method"]: row["reversal"] for row in sweep if row["corrections reach"] == reach
        }
    return told
