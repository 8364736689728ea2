"""Table of FactConsolidation."""

from __future__ import annotations

from typing import Any, Final

from benchmarks.report.markdown import percent, table

METHODS: Final = ("plain", "newest first", "gcmem", "gcmem + head look-up")
PAPER: Final = {
    ("single", "6k"): 0.890,
    ("single", "32k"): 0.680,
    ("single", "262k"): 0.000,
    ("multi", "6k"): 0.040,
}
"""TEPA-Rev's exact match as published (arXiv 2608.07429v2); another reader, another retrieval."""

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
        plain, ours = methods["plain"], methods[METHODS[-1]]
        cells = [
            f"{hops}, {length}",
            str(ours["questions"]),
            *(percent(methods[name]["exact match"]["share"], 0) for name in METHODS),
            _published(hops, length),
            f"{_share(plain, 'stale exposure')}, {_share(ours, 'stale exposure')}",
            _share(ours, "current removed"),
        ]
        if with_model:
            cells.append(f"{_share(plain, 'LLM exact match')}, {_share(ours, 'LLM exact match')}")
        rows.append(cells)
    columns = [
        "hops, length",
        "questions",
        *METHODS,
        "TEPA, paper",
        "stale in context: plain, last",
        "current removed: last",
        *(["LLM: plain, last"] if with_model else []),
    ]
    return (
        f"Detector {config['detector']}, k = {config['k']} of {config['fetch_k']} fetched. Share "
        "of the questions that the reader without a language model answers right (substring exact "
        "match); last: with gcmem and head look-up. The file also holds retrieval and every "
        "method's exposure.\n\n"
        f"{table(columns, rows)}"
    )


def _share(row: dict[str, Any], name: str) -> str:
    return percent(row[name]["share"], 0)


def _published(hops: str, length: str) -> str:
    published = PAPER.get((hops, length))
    return "" if published is None else percent(published, 0)
