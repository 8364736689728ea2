"""Tables of questions: about the past, and those whose wording matches only what is outdated."""

from __future__ import annotations

from typing import Any, Final

from benchmarks.report.markdown import percent, table

JUDGES: Final = {"none": "none", "bundled": "bundled model", "perfect": "perfect judge"}
DEPTHS: Final = {"shallow": "only k", "deep": "four times k"}


def history(content: dict[str, Any]) -> str:
    rows = [
        [
            name,
            str(row["past"]),
            percent(row["recall"]),
            str(row["lookalikes"]),
            percent(row["lookalikes left alone"]),
        ]
        for name, row in content["results"].items()
    ]
    columns = ["recogniser, split", "past", "found", "lookalikes", "left alone"]
    return (
        "The recogniser was built on dev and measured once on test. The file also holds each "
        f"question that was missed or mistaken.\n\n{table(columns, rows)}"
    )


def head_lookup(content: dict[str, Any]) -> str:
    results, config = content["results"], content["config"]
    rows = []
    for judge, judge_name in JUDGES.items():
        for depth, depth_name in DEPTHS.items():
            if f"{judge}, {depth}, with" not in results and judge == "bundled":
                continue  # the run was told to leave the model out
            off, on = (results[f"{judge}, {depth}, {look_up}"] for look_up in ("without", "with"))
            shares = (
                percent(found[name])
                for name in ("current shown", "only outdated shown")
                for found in (off, on)
            )
            rows.append([judge_name, depth_name, *shares, f"{on['queries']:.1f}"])
    columns = [
        "judge",
        "fetched",
        "current shown",
        "with look-up",
        "only outdated shown",
        "with look-up",
        "queries",
    ]
    return (
        f"Bundled: {config['detector']}; {config['families']} held-out attributes, "
        f"{config['statements']} statements, k = {config['k']}. The file also holds how "
        "many candidates were fetched.\n\n"
        f"{table(columns, rows)}"
    )
