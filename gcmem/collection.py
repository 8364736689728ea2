"""The outcome of one collection: what stays, what goes, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gcmem.memory import Memory

__all__ = ["Collection", "CollectionStats", "Conflict", "Excision", "Shadow"]


@dataclass(frozen=True, slots=True)
class Shadow:
    """A memory that is no longer true, as decided by a verdict.

    Attributes:
        memory: The stale memory, as it was given.
        by: The newer memory that contradicts it; None when its own validity had ended.
        score: The detector's score, 0 to 1; 1 for explicit rules.
        reason: What decided: "expired", "supersedes link", "slot KEY", or the detector's name.
        via: Where the detector was sure about another memory only, which says the same: that one.
            The score is then that of its contradiction.

    Example:
        >>> from gcmem import Collector, Memory
        >>> rent = Memory("Rent: 900.", "2024-05-01", id="rent", valid_until="2025-04-30")
        >>> (shadow,) = Collector("explicit").collect("", [rent, Memory("Rent: 950.")]).shadowed
        >>> shadow.memory.id, shadow.by, shadow.reason
        ('rent', None, 'expired')
    """

    memory: Memory
    by: Memory | None
    score: float
    reason: str
    via: Memory | None = None

    def describe(self) -> str:
        """Say in one sentence what happened to the memory and why."""
        if self.by is None:
            ended = _day(self.memory.valid_until)
            return f"Memory {self.memory.id!r} is no longer valid: its validity ended {ended}."
        return (
            f"Memory {self.memory.id!r} ({_day(self.memory.timestamp)}) is contradicted by the "
            f"newer memory {self.by.id!r} ({_day(self.by.timestamp)}){_as_it_restates(self.via)}; "
            f"decided by {self.reason}, score {self.score:.2f}."
        )


@dataclass(frozen=True, slots=True)
class Excision:
    """A part of a memory that is no longer true; the rest of the memory was kept.

    Attributes:
        memory: The memory as it was given; `Collection.kept` holds its shortened copy.
        start: Offset of the first character of the part in ``memory.text``.
        end: Offset after its last character.
        by: The newer memory that contradicts the part.
        score: The detector's score, 0 to 1.
        reason: What decided.
        cut: Whether the part was cut out, or could not be without losing something that is
            still true and was therefore kept and only marked.
        via: As in `Shadow`.

    Example:
        >>> from gcmem import Collector, Memory
        >>> old = Memory("Elena lives in Osaka. She plays the viola.", "2024-01-01", id="old")
        >>> new = Memory("Elena moved from Osaka to Bremen.", "2025-01-01", id="new")
        >>> collection = Collector().collect("Where does Elena live?", [old, new])
        >>> collection.excisions[0].text.strip(), collection.kept[0].text
        ('Elena lives in Osaka.', 'She plays the viola.')
    """

    memory: Memory
    start: int
    end: int
    by: Memory
    score: float
    reason: str
    cut: bool = True
    via: Memory | None = None

    @property
    def text(self) -> str:
        """The contradicted part itself."""
        return self.memory.text[self.start : self.end]

    def describe(self) -> str:
        """Say in one sentence what happened to the part and why."""
        done = "was cut" if self.cut else "is marked, not cut, because the rest still holds"
        return (
            f"Characters {self.start} to {self.end} of memory {self.memory.id!r} are contradicted "
            f"by the newer memory {self.by.id!r} ({_day(self.by.timestamp)})"
            f"{_as_it_restates(self.via)} and the part {done}; "
            f"decided by {self.reason}, score {self.score:.2f}."
        )


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories in conflict that time could not decide; both were kept.

    Attributes:
        first: One of the two.
        second: The other.
        score: The detector's score, 0 to 1.
        reason: What kept both: "same time", "undated" or "authority".

    Example:
        >>> from gcmem import Collector, Memory
        >>> meter = {"key": "meter 7"}
        >>> first = Memory("Meter 7 reads 310.", "2025-01-01", id="a", value="310", **meter)
        >>> second = Memory("Meter 7 reads 340.", "2025-01-01", id="b", value="340", **meter)
        >>> collection = Collector("explicit").collect("", [first, second])
        >>> [(pair.first.id, pair.second.id, pair.reason) for pair in collection.unresolved]
        [('a', 'b', 'same time')]
    """

    first: Memory
    second: Memory
    score: float
    reason: str

    @property
    def memories(self) -> tuple[Memory, Memory]:
        """Both memories."""
        return (self.first, self.second)

    def describe(self) -> str:
        """Say in one sentence what could not be decided."""
        return (
            f"Memories {self.first.id!r} and {self.second.id!r} contradict each other and both "
            f"were kept ({self.reason}), score {self.score:.2f}."
        )


@dataclass(slots=True)
class CollectionStats:
    """What a collection cost.

    Attributes:
        pairs_possible: Pairs that scope and time allow, as judging every pair would judge them
            (pairs of sentences where granularity is "sentence").
        pairs_gated: Of these, pairs that the gate left out.
        pairs_judged: Pairs that the detector scored.
        cache_hits: Pairs whose verdict came from the cache.
        pairs_explicit: Conflicts decided by links, slots or validity, with no model.
        pairs_unjudged: Pairs left out because a budget or an error ended the judging.
        pairs_refused: Pairs that the detector cannot judge, such as other languages.
        stages: How many pairs each stage decided: "explicit", "gate", and the detector by its
            name; a cascade by the name of the stage that gave the verdict. A verdict from the
            cache counts for the stage that once gave it.
        model_calls: Calls of a chat model, where the detector asks one.
        input_tokens: Tokens that the chat model read, as far as it reports them.
        output_tokens: Tokens that the chat model wrote, as far as it reports them.
        pairs_cross_checked: Pairs that were read, by the detector or from the cache, to check
            doubtful verdicts against sure ones.
        seconds: Wall time.

    Example:
        >>> from gcmem import Collector, Memory
        >>> memories = [Memory("The door is red.", 1), Memory("The door is blue now.", 2)]
        >>> stats = Collector().collect("", memories).stats
        >>> stats.pairs_possible, stats.pairs_judged, stats.pairs_unjudged
        (1, 1, 0)
    """

    pairs_possible: int = 0
    pairs_gated: int = 0
    pairs_judged: int = 0
    cache_hits: int = 0
    pairs_explicit: int = 0
    pairs_unjudged: int = 0
    pairs_refused: int = 0
    stages: dict[str, int] = field(default_factory=dict)
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    pairs_cross_checked: int = 0
    seconds: float = 0.0

    def count_stage(self, stage: str, pairs: int = 1) -> None:
        """Add pairs to those that a stage decided."""
        if pairs:
            self.stages[stage] = self.stages.get(stage, 0) + pairs


@dataclass(frozen=True, slots=True)
class Collection:
    """What one call of `Collector.collect` decided.

    Attributes:
        kept: Memories that stay, in input order. Those that lost a part or were annotated are
            copies; all others are the very objects that were given.
        kept_indices: For each kept memory, its position in the input.
        shadowed: Contradicted or expired memories. With ``on_conflict`` "annotate" or "report",
            or ``history=True``, they are in `kept` as well.
        excisions: Contradicted parts of memories that stay.
        unresolved: Conflicts that time could not decide.
        hidden: Memories that were not yet known at ``as_of``.
        stats: What it cost.

    Example:
        >>> from gcmem import Collector, Memory
        >>> old = Memory("Elena lives in Osaka.", "2024-01-01", id="old")
        >>> new = Memory("Elena moved from Osaka to Bremen.", "2025-01-01", id="new")
        >>> collection = Collector().collect("Where does Elena live?", [old, new])
        >>> [memory.id for memory in collection], [s.memory.id for s in collection.shadowed]
        (['new'], ['old'])
        >>> print(collection.explain("old"))  # doctest: +ELLIPSIS
        Memory 'old' (2024-01-01 00:00:00+00:00) is contradicted by the newer memory 'new' ...
    """

    kept: list[Memory]
    kept_indices: list[int] = field(default_factory=list)
    shadowed: list[Shadow] = field(default_factory=list)
    excisions: list[Excision] = field(default_factory=list)
    unresolved: list[Conflict] = field(default_factory=list)
    hidden: list[Memory] = field(default_factory=list)
    stats: CollectionStats = field(default_factory=CollectionStats)

    def __iter__(self) -> Iterator[Memory]:
        return iter(self.kept)

    def __len__(self) -> int:
        return len(self.kept)

    def explain(self, id: str) -> str:  # noqa: A002  (the contract's name)
        """Say in words what happened to a memory, and by which memory, when and why.

        Raises:
            KeyError: No memory with this id was part of the collection.
        """
        found = [shadow.describe() for shadow in self.shadowed if shadow.memory.id == id]
        found += [part.describe() for part in self.excisions if part.memory.id == id]
        found += [
            pair.describe() for pair in self.unresolved if id in {pair.first.id, pair.second.id}
        ]
        is_kept = any(memory.id == id for memory in self.kept)
        if found:
            removed = any(shadow.memory.id == id for shadow in self.shadowed)
            if is_kept and removed:
                found.append("It was kept and marked, not removed.")
            return " ".join(found)
        if is_kept:
            return f"Memory {id!r} was kept: no newer memory contradicts it."
        if any(memory.id == id for memory in self.hidden):
            return f"Memory {id!r} was hidden: it was not yet known at the given time."
        known = [memory.id for memory in self.kept] + [s.memory.id for s in self.shadowed]
        msg = f"No memory with id {id!r} was collected; known ids: {known!r}."
        raise KeyError(msg)

    def report(self, *, texts: bool = False) -> dict[str, Any]:
        """Give counts, ids and costs as plain values, for logs and traces.

        Args:
            texts: Whether to say what was removed or cut, too; without it there is no memory text.
        """
        removed = [
            {
                "id": shadow.memory.id,
                "by": shadow.by.id if shadow.by else None,
                "score": round(shadow.score, 4),
                "reason": shadow.reason,
            }
            | ({"via": shadow.via.id} if shadow.via else {})
            | ({"text": shadow.memory.text} if texts else {})
            for shadow in self.shadowed
        ]
        excised = [
            {"id": p.memory.id, "by": p.by.id, "start": p.start, "end": p.end, "cut": p.cut}
            | ({"via": p.via.id} if p.via else {})
            | ({"text": p.text} if texts else {})
            for p in self.excisions
        ]
        return {
            "kept": [memory.id for memory in self.kept],
            "removed": removed,
            "excised": excised,
            "unresolved": [[pair.first.id, pair.second.id] for pair in self.unresolved],
            "hidden": [memory.id for memory in self.hidden],
            "pairs_possible": self.stats.pairs_possible,
            "pairs_judged": self.stats.pairs_judged,
            "pairs_unjudged": self.stats.pairs_unjudged,
            "pairs_refused": self.stats.pairs_refused,
            "cache_hits": self.stats.cache_hits,
            "stages": dict(self.stats.stages),
            "model_calls": self.stats.model_calls,
            "input_tokens": self.stats.input_tokens,
            "output_tokens": self.stats.output_tokens,
            "milliseconds": round(self.stats.seconds * 1000, 3),
        }


def _as_it_restates(via: Memory | None) -> str:
    return "" if via is None else f", as it says the same as memory {via.id!r}"


def _day(when: datetime | None) -> str:
    return "undated" if when is None else when.isoformat(sep=" ", timespec="seconds")
