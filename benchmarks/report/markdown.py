"""Writes figures as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; the first column is set left, the others right."""
    lines = [columns, ["---", *("---:" for _ in columns[1:])], *rows]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines) + "\n"


def cell(text: str) -> str:
    """Give a text that cannot end its cell."""
    return text.replace("|", r"\|").replace("\n", " ")


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share; "-" for none."""
    return "-" if share is None else f"{100 * share:.{digits}f} %"


def span(bounds: Sequence[float], digits: int = 0) -> str:
    """Write the interval of a share, in percent."""
    low, high = (f"{100 * bound:.{digits}f}" for bound in bounds)
    return f"{low} to {high}"


def points(difference: float, bounds: Sequence[float]) -> str:
    """Write the difference of two shares with its interval, in points."""
    return f"{100 * difference:+.1f} ({span(bounds)})"


def slug(heading: str) -> str:
    """Give the anchor that a heading gets on a code host."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
