"""Table of what a language model answers from the contexts, where the run had one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from benchmarks.report.markdown import percent, points, table

_MODES: Final = ("LLM, forced", "LLM, allow-unclear")


def language_reader(contexts: Mapping[str, Mapping[str, Any]], config: Mapping[str, Any]) -> str:
    """Write a row for each kind of context and each method that it was read with.

    Args:
        contexts: The rows of the methods by name, for each kind of context.
        config: Of the run.
    """
    rows = []
    for title, methods in contexts.items():
        for method, row in methods.items():
            if _MODES[0] in row:
                forced, unclear = (row[mode] for mode in _MODES)
                gain = points(forced["delta"], forced["delta, 95 %"]) if "delta" in forced else "-"
                rows.append(
                    [
                        f"{title}: {method}",
                        str(forced["instances"]),
                        percent(forced["CR-Acc"], 0),
                        gain,
                        percent(unclear["CR-Acc"], 0),
                        str(forced["errors"] + unclear["errors"]),
                    ]
                )
    if not rows:
        return ""
    dates = "shown" if config["llm_dates"] else "not shown"
    columns = [
        "R_k: method",
        "contexts",
        "right, forced",
        "gain",
        "right, may say unclear",
        "errors",
    ]
    return (
        f"\nA language model reads ({config['llm_model']}, days {dates}): share of its answers "
        "that are right; gain against standard in points, with its 95 % interval.\n\n"
        f"{table(columns, rows)}"
    )
