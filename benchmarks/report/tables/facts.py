"""Table of FactConsolidation."""

from __future__ import annotations

from typing import Any, Final

from benchmarks.report.markdown import percent, table

RETRIEVER: Final = "gcmem + head look-up"
LEDGER: Final = "gcmem ledger"
METHODS: Final = ("plain", "newest first", "gcmem", RETRIEVER, LEDGER)
PAPER: Final = {
    ("single", "6k"): 0.890,
    ("single", "32k"): 0.680,
    ("single", "262k"): 0.000,
    ("multi", "6k"): 0.040,
}
"""TEPA-Rev's exact match as published (arXiv 2608.07429v2); another reader, another retrieval."""

OURS: Final = (RETRIEVER, LEDGER)
_READ: Final = ("plain", *OURS)

Rows = dict[tuple[str, str], dict[str, dict[str, Any]]]


def by_task(content: dict[str, Any]) -> Rows:
    """Give the rows by hops and length, then by method."""
    found: Rows = {}
    for row in content["results"]:
        found.setdefault((row["hops"], row["length"]), {})[row["method"]] = row
    return found


def factconsolidation(content: dict[str, Any]) -> str:
    tasks, config = by_task(content), content["config"]
    with_model = any(row["LLM exact match"]["of"] for row in content["results"])
    rows = []
    for (hops, length), methods in tasks.items():
        rows.append(
            [
                f"{hops}, {length}",
                str(methods["plain"]["questions"]),
                *(_share(methods, name, "exact match") for name in METHODS),
                _published(hops, length),
                *(_share(methods, name, "stale exposure") for name in _READ),
                *(_share(methods, name, "current removed") for name in OURS),
                *(_share(methods, name, "LLM exact match") for name in _READ if with_model),
            ]
        )
    columns = [
        "hops, length",
        "questions",
        *METHODS,
        "TEPA, paper",
        *(f"stale: {name}" for name in ("plain", "look-up", "ledger")),
        *(f"current removed: {name}" for name in ("look-up", "ledger")),
        *(f"LLM: {name}" for name in ("plain", "look-up", "ledger") if with_model),
    ]
    return (
        f"Detector {config['detector']}, k = {config['k']} of {config['fetch_k']} fetched. Share "
        "of the questions that the reader without a language model answers right (substring exact "
        "match); stale: of the questions whose fact has an older version, those that are shown it; "
        "current removed: of what was fetched and is current; look-up: gcmem with head look-up; "
        "ledger: every fact was compared once, when it was written. The file also holds retrieval "
        "and every method's exposure.\n\n"
        f"{table(columns, rows)}"
    )


def _share(methods: dict[str, dict[str, Any]], method: str, figure: str) -> str:
    return percent(methods[method][figure]["share"], 0) if method in methods else "-"


def _published(hops: str, length: str) -> str:
    published = PAPER.get((hops, length))
    return "" if published is None else percent(published, 0)
