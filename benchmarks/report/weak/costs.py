"""What costs more than was aimed at or published."""

from __future__ import annotations

from typing import Final

from benchmarks.report.reading import Content

_PAPER_MILLISECONDS: Final = 250
_PAPER_K: Final = (5, 50)


def latency(content: Content) -> str | None:
    fast: dict[int, list[int]] = {}
    slow = False
    for row in content["results"]["rows"]:
        if _PAPER_K[0] <= row["k"] <= _PAPER_K[1]:
            within = row["milliseconds"]["cold"] <= _PAPER_MILLISECONDS
            fast.setdefault(row["words"], []).extend([row["k"]] if within else [])
            slow = slow or not within
    if not slow:
        return None
    reach = (
        f"to k = {max(sizes)} with {words} words" if sizes else f"never with {words} words"
        for words, sizes in fast.items()
    )
    return (
        f"**The paper's {_PAPER_MILLISECONDS} ms for k of {_PAPER_K[0]} to {_PAPER_K[1]}** are "
        f"held by a cold collection, on the CPU that measured, {', '.join(reach)}."
    )


def ledger(content: Content) -> str | None:
    paper = content["results"]["paper"]
    slower = {
        row["store"]: row["query"]["wall_median_us"]
        for row in content["results"]["rows"]
        if row["store"].startswith("ledger") and row["records"] == paper["records"]
    }
    if not any(cost > paper["query_us"] for cost in slower.values()):
        return None
    costs = ", ".join(f"{cost:,.1f} us ({store})" for store, cost in slower.items())
    return (
        f"**A query of the ledger is slower than TEPA's {paper['query_us']} us**, which is a "
        f"look-up in memory: {costs} at {paper['records']:,} records, the file through SQL."
    )


def detector_speed(content: Content) -> str | None:
    found = content["results"]
    if found["ratio"] >= found["aim"]:
        return None
    return (
        f"**The bundled detector is slow:** {found['ratio']:.2f} of the pairs per second of "
        f"onnxruntime alone; the aim is {found['aim']}."
    )
