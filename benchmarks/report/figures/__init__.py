"""Figures from the JSON files, for the experiments that draw none themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from benchmarks.report.figures.bars import factconsolidation, head_lookup, history
from benchmarks.report.figures.curves import latency, ledger, streams
from benchmarks.report.figures.exposure import field, peers

FIGURES: Final[dict[str, Callable[[dict[str, Any]], Any | None]]] = {
    "field": field,
    "peers": peers,
    "peers_llm": peers,
    "streams": streams,
    "factconsolidation": factconsolidation,
    "head_lookup": head_lookup,
    "history": history,
    "ledger": ledger,
    "latency": latency,
}
"""Each gives a figure, or None where matplotlib (extra ``bench``) is missing."""
