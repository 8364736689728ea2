"""Puts the same items through every tool, and counts what each showed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.progress import track

from benchmarks.field import judge
from benchmarks.peers.tools import Item, Tool, ToolError


class Tally:
    """The figures of one tool over one set of items."""

    def __init__(self) -> None:
        self._readings: dict[str, Counter[str]] = {}
        self._failed: dict[str, list[str]] = {}
        self._errors: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._seconds = 0.0

    def add(self, tool: Tool, name: str, item: Item) -> None:
        """Let a tool read one item, and judge what it shows.

        An item on which it fails is not passed, and counts as shown in full: an application that
        catches the error has what it had before.
        """
        try:
            answer = tool.read(item)
        except ToolError as error:
            self._errors[name] = str(error)
            return
        self._seconds += answer.seconds
        self._counts += answer.counts
        for reading, kept in answer.kept.items():
            judged = judge(item.case, kept)
            self._readings.setdefault(reading, Counter()).update(judged)
            if not judged["passed"]:
                self._failed.setdefault(reading, []).append(name)

    def figures(self, items: Mapping[str, Item]) -> dict[str, Any]:
        """Give what was counted; shares are None where nothing could be stale or lost."""
        unread = Counter[str]()
        for name in self._errors:
            item = items[name]
            shown = judge(item.case, {memory.id for memory in item.memories})
            unread.update(shown | {"passed": 0})
        readings = {}
        for reading, counted in (self._readings or {"": Counter[str]()}).items():
            total = counted + unread
            readings[reading] = {
                "passed": total["passed"],
                "stale": total["stale"],
                "stale shown": total["stale"] - total["stale_dropped"],
                "needed": total["needed"],
                "needed removed": total["needed"] - total["needed_kept"],
                "not passed": sorted([*self._failed.get(reading, []), *self._errors]),
            }
        return {
            "items": len(items),
            "readings": readings,
            "seconds": round(self._seconds, 4),
            "counts": dict(self._counts),
            "errors": self._errors,
        }


def measure(
    tools: Sequence[Tool], items: Mapping[str, Item], *, title: str = ""
) -> dict[str, dict[str, Any]]:
    """Measure every tool on every item, item by item, so that the machine is alike for all."""
    tallies = {tool.name: Tally() for tool in tools}
    for name, item in track(items.items(), description=title, total=len(items)):
        for tool in tools:
            tallies[tool.name].add(tool, name, item)
    return {name: tally.figures(items) for name, tally in tallies.items()}


def with_ratios(figures: dict[str, dict[str, Any]], base: str) -> dict[str, dict[str, Any]]:
    """Add how many times the seconds of a base tool each tool took; None where base took none."""
    seconds = figures[base]["seconds"]
    return {
        name: found | {"times gcmem": round(found["seconds"] / seconds, 3) if seconds else None}
        for name, found in figures.items()
    }
