"""The working form of a precedent while evidence is folded into it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gcmem.precedents.precedent import Cause, State

__all__ = ["SUPPORTING", "Change", "Entry", "Event", "EventKind"]


class EventKind(StrEnum):
    """What a row of the evidence log says."""

    TESTIMONY = "testimony"
    INFERRED = "inferred"
    GUESS = "guess"
    SUCCESS = "success"
    FAILURE = "failure"
    TRIAL_PASSED = "trial_passed"
    TRIAL_FAILED = "trial_failed"
    REVOKE = "revoke"
    RETRACT = "retract"
    CORRECT = "correct"
    RESTORE = "restore"
    PIN = "pin"
    UNPIN = "unpin"
    RESET = "reset"


SUPPORTING: Final = frozenset(
    {EventKind.TESTIMONY, EventKind.INFERRED, EventKind.GUESS, EventKind.SUCCESS}
)


@dataclass(frozen=True, slots=True)
class Event:
    """One row of the evidence log of a key.

    Attributes:
        kind: What happened.
        match: Match form of the value; None means the value that is Active then.
        at: Microseconds since the epoch.
        authority: Rank of the source; None for outcomes, which rank with what they are about.
        source: Where it comes from.
        detail: Free text, such as the reason of a revocation.
    """

    kind: EventKind
    match: str | None
    at: int
    authority: float | None = None
    source: str | None = None
    detail: str | None = None


_UNDONE: Final = (
    "support",
    "conflict",
    "state",
    "updated_at",
    "recent",
    "pinned",
    "authority",
    "testified",
    "fresh_support",
    "fresh_conflict",
    "tried",
    "trial_passed",
)


@dataclass(slots=True)
class Entry:
    """A precedent and the bookkeeping that only the lifecycle needs.

    The fresh counts and the fields after them belong to the present episode: the evidence since
    the precedent was last revoked. `undo` holds the record as it was before a revocation by hand.
    """

    match: str
    value: str
    id: int | None = None
    support: int = 0
    conflict: int = 0
    state: State | None = None
    created_at: int = 0
    updated_at: int = 0
    recent: tuple[bool, ...] = ()
    pinned: bool = False
    authority: float = 0.0
    testified: bool = False
    fresh_support: int = 0
    fresh_conflict: int = 0
    ordinal: int = 0
    tried: int = 0
    trial_passed: bool = False
    undo: str | None = None

    def close_episode(self) -> None:
        """Start counting evidence anew, as after a revocation."""
        self.recent = ()
        self.testified = False
        self.fresh_support = self.fresh_conflict = self.tried = 0
        self.trial_passed = False

    def snapshot(self) -> str:
        """Give what `undo_revocation` needs to bring the record back byte for byte."""
        return json.dumps({name: getattr(self, name) for name in _UNDONE}, separators=(",", ":"))

    def restored_state(self) -> State:
        """Give the state that undoing the last revocation leads to."""
        return State.ACTIVE if self.undo is None else State(json.loads(self.undo)["state"])

    def undo_revocation(self) -> None:
        """Be again what the snapshot holds, plus whatever evidence came since."""
        if self.undo is None:
            self.state = State.ACTIVE
            return
        before = json.loads(self.undo)
        self.undo = None
        if before["support"] == self.support and before["conflict"] == self.conflict:
            self.updated_at = before["updated_at"]
        self.state = State(before["state"])
        self.recent = (*before["recent"], *self.recent)
        self.pinned = before["pinned"]
        self.authority = (
            max(before["authority"], self.authority) if self.fresh_support else before["authority"]
        )
        self.testified = before["testified"] or self.testified
        self.fresh_support += before["fresh_support"]
        self.fresh_conflict += before["fresh_conflict"]
        self.tried = max(before["tried"], self.tried)
        self.trial_passed = before["trial_passed"] or self.trial_passed


@dataclass(frozen=True, slots=True)
class Change:
    """One transition as the lifecycle reports it."""

    match: str
    before: State | None
    after: State
    cause: Cause
    reason: str
    at: int
    support: int
    conflict: int
