"""Tables of what is removed and what it costs: field cases, streams, peers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.report.markdown import percent, table


def field(content: dict[str, Any]) -> str:
    rows = []
    for name, result in content["results"].items():
        total = result["total"]
        rows.append(
            [
                name,
                f"{total['passed']}/{total['cases']}",
                f"{total['stale_dropped']}/{total['stale']}",
                f"{total['needed_kept']}/{total['needed']}",
            ]
        )
    config = content["config"]
    return (
        f"Detector {config['detector']}, threshold {config['threshold']:.3f}. The file also holds "
        "the figures of each kind of case, and which cases were not passed.\n\n"
    ) + table(["method", "cases passed", "stale dropped", "needed kept"], rows)


def ours_of(names: Iterable[str]) -> str:
    """Give gcmem's name among the methods.

    Raises:
        KeyError: It is not there.
    """
    found = [name for name in names if name.startswith("gcmem")]
    if not found:
        raise KeyError("gcmem")
    return found[0]


def streams(content: dict[str, Any]) -> str:
    shipped = shipped_row(content)
    rows = []
    for row in content["results"]:
        cells = [
            f"{row['threshold']:.2f}",
            percent(row["stale exposure"]),
            percent(row["over-deletion"]),
            percent(row["share judged"]),
        ]
        rows.append([f"**{cell}**" for cell in cells] if row is shipped else cells)
    return (
        f"Detector {content['config']['detector']}; {shipped['stale']} statements that end stale, "
        f"{shipped['needed']} that are still true. In bold: the threshold that ships.\n\n"
    ) + table(["threshold", "stale still shown", "true removed", "pairs judged"], rows)


def shipped_row(content: dict[str, Any]) -> dict[str, Any]:
    """Give the row at the detector's own threshold."""
    shipped = content["config"]["threshold"]
    row: dict[str, Any] = min(
        content["results"], key=lambda row: abs(row["threshold"] - float(shipped))
    )
    return row


def peers(content: dict[str, Any]) -> str:
    found = content["results"]
    tools, on_streams = found["tools"], found["streams"] or {}
    rows, failing = [], []
    for tool, figures in found["field"].items():
        for reading, judged in figures["readings"].items():
            # A reading that needs a question is missing from the streams.
            streamed = on_streams[tool]["readings"].get(reading) if tool in on_streams else None
            rows.append(
                [
                    reading_name(tool, reading),
                    f"{judged['passed']}/{figures['items']}",
                    f"{judged['stale shown']}/{judged['stale']}",
                    f"{judged['needed removed']}/{judged['needed']}",
                    "-" if streamed is None else _streamed(streamed),
                    str(figures["counts"].get("LLM calls", 0)),
                    "-" if figures["times gcmem"] is None else f"{figures['times gcmem']:.2f}x",
                    tools[tool]["given"],
                ]
            )
        if figures["errors"]:
            failing.append(f"{tool} ({len(figures['errors'])} of {figures['items']} inputs)")
    columns = [
        "tool",
        "passed",
        "stale shown",
        "needed removed",
        "streams: stale shown, true removed",
        "LLM calls",
        "time",
        "it was given",
    ]
    config = content["config"]
    text = f"Detector of gcmem: {config['detector']}" + (
        f"; LLM: {config['LLM']}" if config["LLM"] else ""
    )
    text += (
        ". The file also holds what each tool cannot express, its versions, and what it did not "
        f"pass.\n\n{table(columns, rows)}"
    )
    if failing:
        text += f"\nRaised errors (shown in full then, not passed): {', '.join(failing)}.\n"
    if found["not run"]:
        missing = (f"{name} ({_first_line(why)})" for name, why in found["not run"].items())
        text += f"\nNot run: {'; '.join(missing)}.\n"
    return text


def reading_name(tool: str, reading: str) -> str:
    """Name a tool, and the way to read its output where it has several."""
    return f"{tool}: {reading}" if reading else tool


def _streamed(judged: dict[str, Any]) -> str:
    stale = judged["stale shown"] / judged["stale"]
    return f"{percent(stale)}, {percent(judged['needed removed'] / judged['needed'])}"


def _first_line(text: str) -> str:
    return text.splitlines()[0][:120] if text else "no reason given"
