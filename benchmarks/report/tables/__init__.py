"""A table for every experiment: its JSON in, Markdown out.

A table shows the rows that carry the claim; the lines above it say what else the file holds. A
field that a file lacks is a KeyError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from benchmarks.report.tables.chat_memory import trial_chat_memory
from benchmarks.report.tables.collecting import field, peers, streams
from benchmarks.report.tables.costs import detector_speed, latency, ledger
from benchmarks.report.tables.drift import drift
from benchmarks.report.tables.facts import factconsolidation
from benchmarks.report.tables.mutation import bag_of_facts, detectors, temporal_mutation, theory
from benchmarks.report.tables.questions import head_lookup, history

TABLES: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "field": field,
    "peers": peers,
    "peers_llm": peers,
    "streams": streams,
    "detectors": detectors,
    "temporal_mutation": temporal_mutation,
    "bag_of_facts": bag_of_facts,
    "theory": theory,
    "factconsolidation": factconsolidation,
    "head_lookup": head_lookup,
    "history": history,
    "drift": drift,
    "trial_chat_memory": trial_chat_memory,
    "ledger": ledger,
    "latency": latency,
    "detector_speed": detector_speed,
}
