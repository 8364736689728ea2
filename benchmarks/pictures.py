"""Opens and saves figures: as wide as a README, small, and the same from the same numbers."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Final

OURS: Final = "tab:green"
OTHERS: Final = "0.45"
_WIDTH: Final = 8.0
_DPI: Final = 110
_COLOURS: Final = 128


def panels(
    count: int = 1,
    *,
    height: float = 3.2,
    stacked: bool = False,
) -> tuple[Any, list[Any]] | None:
    """Give a figure and its panels; None where matplotlib (extra ``bench``) is missing.

    Args:
        count: How many panels.
        height: Of the whole figure, in inches.
        stacked: Put them below each other, over one axis, and not side by side.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    rows, columns = (count, 1) if stacked else (1, count)
    every: list[Any] = list(figure.subplots(rows, columns, squeeze=False, sharex=stacked).flat)
    for panel in every:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(color="0.92")
        panel.set_axisbelow(True)
    return figure, every


def as_percent(*axes: Any) -> None:
    """Label axes of shares as percentages."""
    from matplotlib.ticker import PercentFormatter

    for axis in axes:
        axis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def legend(figure: Any, panel: Any) -> None:
    """Put one legend, that of a panel, above all panels."""
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper center", ncols=len(labels), fontsize=8, frameon=False
    )


def save(figure: Any, path: Path) -> None:
    """Write a figure as a PNG of few colours, without the date and version that PNGs may hold."""
    from PIL import Image  # matplotlib needs it, too

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=_DPI)
    with Image.open(drawn) as image:
        few = image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
        few.save(path, format="PNG", optimize=True)
