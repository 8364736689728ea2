"""Tables of what a collection, the ledger and the bundled detector cost."""

from __future__ import annotations

from typing import Any, Final

from benchmarks.report.markdown import percent, table

_SHOWN_K: Final = (5, 10, 50, 100)
_COSTS: Final = ("query", "update_batched", "update_single")


def latency(content: dict[str, Any]) -> str:
    """Rows of a few k, and, where the run had them, stores and an LLM judge."""
    results, config = content["results"], content["config"]
    rows = [_latency_row(row) for row in results["rows"] if row["k"] in _SHOWN_K]
    columns = [
        "k, words",
        "pairs judged",
        "all pairs",
        "cold",
        "warm",
        "faster, cold",
        "faster, warm",
        "MiB",
    ]
    text = (
        f"Detector {config['detector']}; median milliseconds of {config['repeats']} sets, ~ where "
        "scaled up from a sample (for gcmem an upper bound); MiB: peak of a collection over the "
        f"bare import. The file also holds other k.\n\n{table(columns, rows)}"
    )
    if "stores" in results:
        text += _stores(results["stores"])
    if "LLM judge" in results:
        text += _judge(results["LLM judge"], config)
    return text


def faster(row: dict[str, Any], way: str, digits: int) -> str:
    """Write how many times faster a collection is, with ~ where a time was extrapolated."""
    about = "~" if row["extrapolated"] else ""
    return f"{about}{row[f'{way} is faster by']:.{digits}f}x"


def _latency_row(row: dict[str, Any]) -> list[str]:
    marks = dict.fromkeys(row["extrapolated"], "~")
    times = row["milliseconds"]
    return [
        f"{row['k']}, {row['words']}",
        percent(row["share judged"], 0),
        *(f"{marks.get(n, '')}{times[n]:,.1f}" for n in ("all pairs", "cold", "warm")),
        faster(row, "cold", 1),
        faster(row, "warm", 0),
        f"{row['peak MiB over bare import']:.0f}",
    ]


def _stores(found: dict[str, Any]) -> str:
    rows = [
        [
            f"{row['records']:,}",
            f"{row['cold, times base']:.1f}x",
            f"{row['warm, times base']:.1f}x",
            f"{row['pairs judged per question']:.0f}",
        ]
        for row in found["rows"]
    ]
    grown = ", ".join(f"{way} {ratio:.2f}x" for way, ratio in found["last over first"].items())
    return (
        "\nA search through GCMemRetriever in times of one through its base retriever; from the "
        f"first store to the last a search takes {grown}:\n\n"
        f"{table(['records in the store', 'cold', 'warm', 'pairs judged'], rows)}"
    )


def _judge(found: list[dict[str, Any]], config: dict[str, Any]) -> str:
    columns = ("pairs possible", "pairs judged", "model calls", "input tokens", "output tokens")
    rows = [
        [f"{row['k']}", *(f"{row[name]:,}" for name in columns), f"{row['times gcmem']:,.1f}x"]
        for row in found
    ]
    return (
        f"\nAn LLM ({config['llm_model']}) as the judge of every pair, stopped after "
        f"{config['llm_calls']} calls; time against gcmem's own model, cold:\n\n"
        f"{table(['k', *columns, 'time'], rows)}"
    )


def detector_speed(content: dict[str, Any]) -> str:
    """Pairs per second of the detector and of onnxruntime alone, and the ratio of each repeat."""
    found, config = content["results"], content["config"]
    columns = [
        "pairs per second",
        "detector",
        "onnxruntime alone",
        "ratio",
        "lowest, highest",
        "aim, at least",
    ]
    row = [
        "median",
        *(f"{found[f'{way} pairs per second']:.0f}" for way in ("detector", "onnxruntime")),
        f"{found['ratio']:.2f}",
        f"{min(found['ratios']):.2f}, {max(found['ratios']):.2f}",
        f"{found['aim']:.2f}",
    ]
    return (
        f"Detector {config['detector']}; {config['pairs']:,} pairs, both in turn, "
        f"{config['repeats']} times. Each ratio is of the two times of one repeat, so that the "
        "median ratio need not be the ratio of the medians. The file also holds the ratios and "
        f"the shapes of the batches.\n\n{table(columns, [row])}"
    )


def ledger(content: dict[str, Any]) -> str:
    """Microseconds by number of records, beside the paper's."""
    found = content["results"]
    rows = [
        [
            row["store"],
            f"{row['records']:,}",
            *(f"{row[cost]['wall_median_us']:,.2f}" if cost in row else "-" for cost in _COSTS),
        ]
        for row in found["rows"]
    ]
    paper = found["paper"]
    updates = f"{1000 * paper['update_ms_per_1000'] / 1000:.2f}"
    million = f"{paper['records']:,}"
    rows.append(["paper: append-only list", million, f"{paper['append_query_us']:,.2f}", "-", "-"])
    rows.append(["paper: TEPA, in memory", million, f"{paper['query_us']:.2f}", updates, "-"])
    columns = [
        "store",
        "records",
        "query",
        f"update, {content['config']['update_batch']:,} at once",
    ]
    return (
        "Median microseconds (wall time) per operation. The file also holds processor time, "
        f"loading and file sizes.\n\n{table([*columns, 'update, alone'], rows)}"
    )
