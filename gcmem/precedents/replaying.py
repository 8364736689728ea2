"""Folds the evidence of a key again: from nothing, or from where compaction left it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from gcmem.precedents.checkpoints import Checkpoint, Mark, mark
from gcmem.precedents.entry import Change, Entry, Event
from gcmem.precedents.key_rows import KeyRow
from gcmem.precedents.labels import from_microseconds
from gcmem.precedents.lifecycle import KeyLifecycle
from gcmem.precedents.policy import LifecyclePolicy
from gcmem.precedents.precedent import Cause, State

__all__ = ["Replay", "replayed"]

_BEGINNING: Final = -(2**63)


class Replay:
    """What evidence comes to, with every transition on the way."""

    def __init__(self, lifecycle: KeyLifecycle) -> None:
        self.lifecycle = lifecycle
        self.timeline: list[Mark] = []
        self._last: dict[str, Change] = {}

    def note(self, changes: Iterable[Change]) -> None:
        """Write down transitions that have just happened."""
        for change in changes:
            self._last[change.match] = change
            self.timeline.append(mark(self.lifecycle.entries[change.match], change))

    def last(self, match: str, compacted: Checkpoint | None) -> Change:
        """Give the last transition of a value; one that was compacted has lost its cause."""
        if match in self._last or compacted is None:
            return self._last[match]
        entry, at = self.lifecycle.entries[match], compacted.until
        state = entry.state or State.HYPOTHESIS
        reason = f"as its evidence up to {from_microseconds(at).isoformat()} left it"
        return Change(
            match, None, state, Cause.COMPACTED, reason, at, entry.support, entry.conflict
        )


def replayed(
    policy: LifecyclePolicy,
    row: KeyRow,
    entries: Iterable[Entry],
    events: Iterable[Event],
    past: Checkpoint | None = None,
) -> Replay:
    """Fold evidence in order of time.

    Args:
        policy: The rules.
        row: The key.
        entries: Its precedents; of these only the names and the ids are taken.
        events: Its evidence, oldest first.
        past: What its older evidence was compacted to.
    """
    start = past or Checkpoint(_BEGINNING, 0, {}, ())
    lifecycle = KeyLifecycle(policy, row.cardinality, start.start(entries), supports=start.supports)
    replay = Replay(lifecycle)
    if past is not None:
        replay.note(lifecycle.settle(past.until))
    for event in events:
        if event.at < start.until:
            replay.note(_count(lifecycle, event, start))
        else:
            replay.note(lifecycle.apply(event))
    return replay


def _count(lifecycle: KeyLifecycle, event: Event, past: Checkpoint) -> list[Change]:
    """Take in evidence that is older than what was compacted."""
    if event.match is None:  # an outcome of what was Active then
        standing = past.active_at(event.at)
        if not standing:
            return []
        event = replace(event, match=standing[0].match)
    dated = from_microseconds(past.until).isoformat()
    because = f"older than {dated}, up to which the evidence was compacted: counted, not decided"
    return lifecycle.count(event, because=because)
