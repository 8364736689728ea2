"""Shows the figures as tables and draws them over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from benchmarks import pictures
from benchmarks.drift.settings import PHASES, TASKS_PER_PHASE

PAPER: Final = {
    "controlled": {
        "append-only": 0.210,
        "no memory": 0.309,
        "last write wins": 0.210,
        "TEPA-Rev": 0.950,
        "no revocation": 0.211,
        "reactive": 0.796,
        "oracle reset": 0.812,
    },
    "executable": {
        "append-only": 0.203,
        "no memory": 0.298,
        "last write wins": 0.203,
        "TEPA-Rev": 0.950,
        "reactive": 0.771,
    },
    "preference": {"append-only": 0.138, "no memory": 0.837, "TEPA-Full": 0.872},
}
"""Success in the full reversal as published (arXiv 2608.07429v2), for the eye alone."""

_SIGNIFICANT: Final = 0.05
_DRAWN: Final = {
    "no memory": "0.6",
    "append-only": "tab:red",
    "last write wins": "tab:orange",
    "reactive": "tab:purple",
    "oracle reset": "tab:blue",
    "TEPA-Rev": "tab:green",
    "gcmem": "black",
}
"""Methods with their colours; later ones are thinner, so that equal curves stay visible."""


def show_setting(console: Console, name: str, figures: dict[str, Any]) -> None:
    """Print the methods of a setting and the tests."""
    table = Table(title=f"{name}: success by phase")
    table.add_column("method")
    columns = (*PHASES[:2], "reversal", "95 %", "paper", "return", "overall", "MPI", "adapts in")
    for column in columns:
        table.add_column(column, justify="right")
    for method, found in figures["methods"].items():
        reversal = found["reversal"]
        published = PAPER[name].get(method)
        table.add_row(
            method,
            *(f"{found[phase]['success']:.3f}" for phase in PHASES[:3]),
            _span(reversal["95 %"]),
            "" if published is None else f"{published:.3f}",
            f"{found['return']['success']:.3f}",
            f"{found['overall']:.3f}",
            f"{reversal['MPI']:+.2f}",
            f"{reversal['adaptation']:.1f}",
        )
    console.print(table)
    tests = Table(title=f"{name}: the reversal, one-tailed paired permutation, Holm-Bonferroni")
    for column in ("claim", "difference", "p", "p, Holm", ""):
        tests.add_column(column)
    for test in figures["tests in the reversal"]:
        verdict = "holds" if test["p, Holm"] < _SIGNIFICANT else "not shown"
        tests.add_row(
            test["claim"],
            f"{test['difference']:+.3f}",
            f"{test['p']:.4f}",
            f"{test['p, Holm']:.4f}",
            verdict,
        )
    console.print(tests)


def show_sweep(console: Console, name: str, rows: list[dict[str, Any]]) -> None:
    """Print the rows of a sweep."""
    table = Table(title=f"sweep: {name}")
    for column in rows[0]:
        table.add_column(column)
    for row in rows:
        table.add_row(*(_cell(column, value) for column, value in row.items()))
    console.print(table)


def draw(path: Path, settings: dict[str, Any]) -> bool:
    """Draw success over time, a panel for each setting; False without matplotlib."""
    opened = pictures.panels(len(settings), height=2.2 * len(settings), stacked=True)
    if opened is None:
        return False
    figure, panels = opened
    for panel, (name, figures) in zip(panels, settings.items(), strict=True):
        for rank, (method, colour) in enumerate(_DRAWN.items()):
            curve = figures["methods"][method]["success in blocks of 5"]
            times = [5 * number + 2.5 for number in range(len(curve))]
            width = 4.0 - 0.45 * rank
            panel.plot(times, curve, label=method, color=colour, linewidth=width)
        for number, phase in enumerate(PHASES):
            panel.axvline(number * TASKS_PER_PHASE, color="0.8", linewidth=0.8)
            panel.text(number * TASKS_PER_PHASE + 1, 1.03, phase, fontsize=8)
        panel.set(ylim=(0, 1.12), ylabel=f"success, {name}")
    panels[-1].set_xlabel("task")
    pictures.legend(figure, panels[0])
    pictures.save(figure, path)
    return True


def _span(bounds: list[float]) -> str:
    return f"{bounds[0]:.3f}-{bounds[1]:.3f}"


def _cell(column: str, value: Any) -> str:
    if isinstance(value, list):
        return _span(value)
    if isinstance(value, float):
        return f"{value:.0%}" if column == "wrong keys" else f"{value:.3f}"
    return "unlimited" if value is None else str(value)
