"""What every tool is given and gives back, and the tools that run in this process."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from gcmem import Collector, Memory

Ids = set[str]


@dataclass(frozen=True)
class Item:
    """One input, the same for every tool; memories come oldest first, undated ones before them.

    Attributes:
        query: The question; empty where there is none (streams).
        memories: As an application would hand them over: times in UTC, scope and speaker read.
        now: When it is read: the time of the newest memory, so that ageing harms no tool.
        as_of: The past state that is asked about, if one is.
        scores: What a retriever would have scored each memory; empty where nothing is asked.
        case: With ``must_keep`` and ``must_drop``, for `benchmarks.field.judge`.
    """

    query: str
    memories: list[Memory]
    now: datetime
    as_of: str | None
    scores: dict[str, float]
    case: dict[str, list[str]]


@dataclass(frozen=True)
class Answer:
    """What one tool showed of one item, for each way to read its output."""

    kept: dict[str, Ids]
    seconds: float
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Words:
    """What a table of figures cannot say.

    Attributes:
        given: What a tool gets of an item besides the texts.
        cannot: What it has no means to express or to find.
    """

    given: str
    cannot: str


class ToolError(Exception):
    """A tool raised an error on an input, or its process ended."""


class NotRun(Exception):  # noqa: N818  (not an error: the experiment goes on without this tool)
    """A tool cannot be run here; the message says why."""


class Tool(Protocol):
    """Reads items one after the other."""

    @property
    def name(self) -> str:
        """Row of the table; a reading is added where there are several."""

    @property
    def words(self) -> Words:
        """What it is given, and what it cannot express."""

    @property
    def versions(self) -> dict[str, str]:
        """Of the packages that it uses, by name."""

    @property
    def takes_streams(self) -> bool:
        """Whether a stream (many statements, no question) makes sense for it, at bearable cost."""

    def read(self, item: Item) -> Answer:
        """Say what is shown.

        Raises:
            ToolError: It failed on this item.
        """

    def close(self) -> None:
        """Free what it holds."""


@dataclass(frozen=True)
class LocalTool:
    """A function of this process, timed here."""

    name: str
    words: Words
    function: Callable[[Item, Counter[str]], Ids]
    takes_streams: bool = True
    versions: dict[str, str] = field(default_factory=dict)

    def read(self, item: Item) -> Answer:
        counts: Counter[str] = Counter()
        start = time.perf_counter()
        try:
            kept = self.function(item, counts)
        except Exception as error:
            raise ToolError(f"{type(error).__name__}: {error}") from error
        return Answer({"": kept}, time.perf_counter() - start, counts)

    def close(self) -> None:
        """Nothing is held."""


def everything() -> LocalTool:
    """The context as it was: what doing nothing scores."""
    words = Words("everything", "removing anything")
    return LocalTool(
        "keep everything", words, lambda item, _: {memory.id for memory in item.memories}
    )


def gcmem(name: str, collector: Collector, *, takes_streams: bool = True) -> LocalTool:
    """gcmem with the settings of `benchmarks.field`."""

    def read(item: Item, counts: Counter[str]) -> Ids:
        collection = collector.collect(item.query, item.memories, as_of=item.as_of, history="auto")
        counts["pairs judged"] += collection.stats.pairs_judged + collection.stats.cache_hits
        return {memory.id for memory in collection.kept}

    words = Words(
        "time, scope, question, time asked about, speaker, validity, slot, order of ties",
        "conflicts that are only shown, not said; texts that are not English",
    )
    return LocalTool(name, words, read, takes_streams)


def in_order(memories: Sequence[Memory]) -> list[Memory]:
    """Oldest first, undated ones before them; ties stay as they come."""
    undated = float("-inf")
    return sorted(memories, key=lambda m: m.timestamp.timestamp() if m.timestamp else undated)
