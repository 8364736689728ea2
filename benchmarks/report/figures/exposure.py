"""What is shown that is stale, against what is removed that is needed: points with names."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any, Final

from benchmarks import pictures
from benchmarks.report.tables.collecting import reading_name

Point = tuple[float, float]
_LINE: Final = 0.058  # height of a line of text, as a share of the panel
_WIDTH: Final = 46


def field(content: dict[str, Any]) -> Any | None:
    totals = {name: found["total"] for name, found in content["results"].items()}
    points = {
        name: (
            1 - total["needed_kept"] / total["needed"],
            1 - total["stale_dropped"] / total["stale"],
        )
        for name, total in totals.items()
    }
    return _exposure(points, height=3.0)


def peers(content: dict[str, Any]) -> Any | None:
    points = {
        reading_name(tool, reading): (
            judged["needed removed"] / judged["needed"],
            judged["stale shown"] / judged["stale"],
        )
        for tool, found in content["results"]["field"].items()
        for reading, judged in found["readings"].items()
    }
    return _exposure(points, height=4.2)


def _exposure(points: Mapping[str, Point], *, height: float) -> Any | None:
    opened = pictures.panels(height=height)
    if opened is None:
        return None
    figure, (panel,) = opened
    panel.set(
        xlabel="needed, but removed", ylabel="stale, but shown", xlim=(-0.04, 1), ylim=(-0.04, 1.04)
    )
    pictures.as_percent(panel.xaxis, panel.yaxis)
    panel.text(0.0, -0.02, " best", color="0.5", fontsize=8, va="bottom")
    together: dict[Point, list[str]] = {}
    for name, (x, y) in points.items():
        together.setdefault((round(x, 3), round(y, 3)), []).append(name)
    labels = {point: textwrap.fill(", ".join(shared), _WIDTH) for point, shared in together.items()}
    for point, place in places(labels, height=height).items():
        text = labels[point]
        ours = text.startswith("gcmem")
        colour = pictures.OURS if ours else pictures.OTHERS
        panel.plot(*point, marker="o", color=colour, clip_on=False, zorder=3)
        panel.annotate(
            text,
            point,
            xytext=(1.06, place),
            textcoords="axes fraction",
            fontsize=8,
            va="center",
            color=pictures.OURS if ours else "0.2",
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "relpos": (0, 0.5)},
            annotation_clip=False,
        )
    return figure


def places(labels: Mapping[Point, str], *, height: float) -> dict[Point, float]:
    """Give each label a height of its own in the panel, in the order of their points."""
    line = _LINE * 3.0 / height
    heights = {point: line * (text.count("\n") + 1.5) for point, text in labels.items()}
    found: dict[Point, float] = {}
    top = 1.0
    for point in sorted(labels, key=lambda point: (-point[1], point[0])):
        place = min(point[1], top - heights[point] / 2)
        found[point] = place
        top = place - heights[point] / 2
    missing = max(0.0, -top)  # those that fell off the lower end push the others up
    floor = 0.0
    for point in reversed(found):
        place = max(found[point], floor + heights[point] / 2) if missing else found[point]
        found[point] = place
        floor = place + heights[point] / 2
    return found
