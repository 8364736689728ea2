"""What did not come out as published or as aimed at, from the same files.

Every function gives a sentence, or None once the figure is as wanted; so an entry goes by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from benchmarks.report.reading import Content, Contents, made_from
from benchmarks.report.weak import costs, keeping, papers

WEAK: Final[tuple[tuple[str, Callable[[Content], str | None]], ...]] = (
    ("detectors", papers.behaviour),
    ("streams", keeping.streams),
    ("field", keeping.field),
    ("factconsolidation", keeping.facts),
    ("bag_of_facts", papers.bag_of_facts),
    ("detectors", papers.threshold),
    ("theory", papers.theory),
    ("drift", papers.drift),
    ("head_lookup", keeping.head_lookup),
    ("history", keeping.history),
    ("trial_chat_memory", keeping.trial_chat_memory),
    ("latency", costs.latency),
    ("ledger", costs.ledger),
    ("detector_speed", costs.detector_speed),
)


def weak(contents: Contents) -> str:
    """Write the list; experiments without a file are left out."""
    found = (made_from(name, contents, write) for name, write in WEAK if name in contents)
    return "".join(f"- {sentence}\n" for sentence in found if sentence is not None)
