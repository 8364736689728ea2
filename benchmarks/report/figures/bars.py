"""Grouped bars: FactConsolidation, head look-up, questions about the past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import pictures
from benchmarks.report.tables.facts import METHODS, by_task
from benchmarks.report.tables.questions import DEPTHS, JUDGES

_FIVE = ("0.75", "0.5", "tab:blue", pictures.OURS, "tab:olive")
_WITHOUT_AND_WITH = (pictures.OTHERS, pictures.OURS)


def factconsolidation(content: dict[str, Any]) -> Any | None:
    tasks = by_task(content)
    kinds = list(dict.fromkeys(hops for hops, _ in tasks))
    opened = pictures.panels(len(kinds))
    if opened is None:
        return None
    figure, panels = opened
    for panel, kind in zip(panels, kinds, strict=True):
        lengths = [length for hops, length in tasks if hops == kind]
        shares = {
            method: [_answered(tasks[kind, length], method) for length in lengths]
            for method in METHODS
        }
        _bars(panel, lengths, shares, _FIVE)
        panel.set(title={"single": "one hop", "multi": "several hops"}[kind], xlabel="context")
    panels[0].set_ylabel("answered right")
    pictures.legend(figure, panels[0])
    return figure


def _answered(methods: Mapping[str, dict[str, Any]], method: str) -> float:
    """The share of questions, 0 where the method was not run."""
    return methods[method]["exact match"]["share"] if method in methods else 0.0


def head_lookup(content: dict[str, Any]) -> Any | None:
    opened = pictures.panels(height=2.8)
    if opened is None:
        return None
    figure, (panel,) = opened
    results = content["results"]
    groups = {
        f"{judge_name},\n{depth_name} fetched": (
            results[f"{judge}, {depth}, without"]["current shown"],
            results[f"{judge}, {depth}, with"]["current shown"],
        )
        for judge, judge_name in JUDGES.items()
        for depth, depth_name in DEPTHS.items()
        if f"{judge}, {depth}, with" in results
    }
    without, with_it = zip(*groups.values(), strict=True)
    _bars(
        panel,
        list(groups),
        {"without look-up": without, "with head look-up": with_it},
        _WITHOUT_AND_WITH,
    )
    panel.set_ylabel("current statement shown")
    panel.tick_params(axis="x", labelsize=8)
    pictures.legend(figure, panel)
    return figure


def history(content: dict[str, Any]) -> Any | None:
    opened = pictures.panels(height=2.8)
    if opened is None:
        return None
    figure, (panel,) = opened
    results = content["results"]
    shares = {
        "found, of questions about the past": [row["recall"] for row in results.values()],
        "left alone, of lookalikes": [row["lookalikes left alone"] for row in results.values()],
    }
    _bars(panel, list(results), shares, ("tab:blue", pictures.OURS))
    pictures.legend(figure, panel)
    return figure


def _bars(
    panel: Any,
    groups: Sequence[str],
    shares: Mapping[str, Sequence[float]],
    colours: Sequence[str],
) -> None:
    """Draw a group of bars per name, one bar of each kind, with its value above it."""
    width = 0.8 / len(shares)
    for number, (kind, values) in enumerate(shares.items()):
        offset = (number - (len(shares) - 1) / 2) * width
        places = [place + offset for place in range(len(groups))]
        drawn = panel.bar(places, values, width * 0.92, color=colours[number], label=kind)
        panel.bar_label(drawn, [f"{100 * value:.0f}" for value in values], fontsize=7, padding=1)
    panel.set_xticks(range(len(groups)), groups)
    panel.set_ylim(0, 1.08)
    panel.grid(visible=False, axis="x")
    pictures.as_percent(panel.yaxis)
