"""Curves over a threshold, a number of candidates, a number of records."""

from __future__ import annotations

from typing import Any

from benchmarks import pictures
from benchmarks.report.tables.collecting import shipped_row
from benchmarks.report.weak.keeping import STREAM_BARS


def streams(content: dict[str, Any]) -> Any | None:
    opened = pictures.panels()
    if opened is None:
        return None
    figure, (panel,) = opened
    thresholds = [row["threshold"] for row in content["results"]]
    for (name, aim), label, colour in zip(
        STREAM_BARS.items(),
        ("stale, still shown", "true, removed"),
        ("tab:red", "tab:blue"),
        strict=True,
    ):
        shares = [row[name] for row in content["results"]]
        panel.plot(thresholds, shares, marker="o", color=colour, label=label)
        panel.axhline(aim, color=colour, linestyle=":", linewidth=1, label=f"aim: {aim:.0%}")
    panel.axvline(shipped_row(content)["threshold"], color="0.6", linewidth=1)
    panel.annotate(
        "ships",
        (shipped_row(content)["threshold"], 1),
        xycoords=("data", "axes fraction"),
        xytext=(4, -4),
        textcoords="offset points",
        va="top",
        color="0.4",
    )
    panel.set(
        xlabel="threshold of the conflict score", ylabel="share of statements", ylim=(0, None)
    )
    pictures.as_percent(panel.yaxis)
    panel.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure


def latency(content: dict[str, Any]) -> Any | None:
    rows = content["results"]["rows"]
    lengths = sorted({row["words"] for row in rows})
    opened = pictures.panels(len(lengths))
    if opened is None:
        return None
    figure, row_of_panels = opened
    costs = [cost for row in rows for cost in row["milliseconds"].values()]
    limits = (min(costs) / 2, max(costs) * 2)
    for panel, words in zip(row_of_panels, lengths, strict=True):
        of_length = sorted((row for row in rows if row["words"] == words), key=lambda r: r["k"])
        sizes = [row["k"] for row in of_length]
        for name, label, colour in (
            ("all pairs", "all pairs", pictures.OTHERS),
            ("cold", "gcmem, cold", pictures.OURS),
            ("warm", "gcmem, warm", "tab:blue"),
        ):
            spent = [row["milliseconds"][name] for row in of_length]
            panel.plot(sizes, spent, marker="o", color=colour, label=label)
        panel.set(title=f"{words} words", xlabel="k", xscale="log", yscale="log", ylim=limits)
        panel.set_xticks(sizes, [str(size) for size in sizes])
        panel.minorticks_off()
    row_of_panels[0].set_ylabel("milliseconds")
    pictures.legend(figure, row_of_panels[0])
    return figure


def ledger(content: dict[str, Any]) -> Any | None:
    opened = pictures.panels(2)
    if opened is None:
        return None
    figure, row_of_panels = opened
    every = content["results"]["rows"]
    stores = list(dict.fromkeys(row["store"] for row in every))
    for panel, cost, title in zip(
        row_of_panels,
        ("query", "update_batched"),
        ("query", f"update, {content['config']['update_batch']:,} at once"),
        strict=True,
    ):
        colours = (pictures.OTHERS, pictures.OURS, "tab:blue")
        for rank, (store, colour) in enumerate(zip(stores, colours, strict=True)):
            rows = [row for row in every if row["store"] == store]
            panel.plot(
                [row["records"] for row in rows],
                [row[cost]["wall_median_us"] for row in rows],
                marker="o",
                color=colour,
                label=store,
                linewidth=3 - rank,  # later ones are thinner, so that equal curves stay visible
                markersize=7 - 1.5 * rank,
            )
        panel.set(title=title, xlabel="records", xscale="log", yscale="log")
    row_of_panels[0].set_ylabel("microseconds")
    pictures.legend(figure, row_of_panels[0])
    return figure
