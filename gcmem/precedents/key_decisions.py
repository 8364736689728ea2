"""What decisions by hand, trials and resets do to the precedents of one key."""

from __future__ import annotations

from gcmem.precedents.entry import Entry, Event, EventKind
from gcmem.precedents.key_state import KeyState
from gcmem.precedents.precedent import Cause, State

__all__ = ["KeyDecisions"]


class KeyDecisions(KeyState):
    """The decisions from outside; none of them weighs evidence."""

    def _decide(self, event: Event, entry: Entry) -> None:
        kind, before = event.kind, entry.state
        if kind in {EventKind.TRIAL_PASSED, EventKind.TRIAL_FAILED}:
            entry.tried = entry.fresh_support
            entry.trial_passed = kind is EventKind.TRIAL_PASSED
            self.dirty.add(entry.match)
            self._promote_if_earned(entry, event.at)
        elif kind is EventKind.REVOKE and before is not State.REVOKED:
            self._revoke(entry, Cause.REVOKED_BY_HAND, event.detail or "", event.at)
        elif kind is EventKind.RETRACT and before is not State.REVOKED:
            self._revoke(entry, Cause.RETRACTED, event.detail or "", event.at)
            self._fill_vacancy(event.at)
        elif kind is EventKind.RESTORE and before is State.REVOKED:
            if not (self.exclusive and entry.restored_state() is State.ACTIVE and self.active()):
                self._restore(entry, event.at)
        elif kind in {EventKind.PIN, EventKind.UNPIN} and before is not None:
            entry.pinned = kind is EventKind.PIN
            cause = Cause.PIN if entry.pinned else Cause.UNPIN
            self._report(entry, before, cause, event.detail or "by hand", event.at)

    def _correct(self, event: Event) -> None:
        entry = self._target(event)
        if entry is None:
            return
        replaced = self._rivals(entry)
        rank = event.authority
        if rank is None:
            rank = max((rival.authority for rival in replaced), default=0.0)
        entry.authority = max(entry.authority, rank) if entry.fresh_support else rank
        entry.support += 1
        entry.fresh_support += 1
        self.supports += 1
        entry.ordinal = self.supports
        entry.testified = entry.testified or self.policy.testimony
        entry.recent = ()
        entry.updated_at = event.at
        reason = event.detail or ""
        for rival in replaced:
            self._revoke(
                rival, Cause.CORRECTED, f"corrected to {entry.value!r}: {reason}", event.at
            )
        if entry.state is not State.ACTIVE:
            self._move(entry, State.ACTIVE, Cause.CORRECTED, reason, event.at)

    def _revoke(self, entry: Entry, cause: Cause, reason: str, at: int) -> None:
        """Revoke by hand, so that it can be undone byte for byte."""
        undo = entry.snapshot()
        entry.pinned = False
        self._move(entry, State.REVOKED, cause, reason, at)
        entry.undo, entry.updated_at = undo, at

    def _restore(self, entry: Entry, at: int) -> None:
        if entry.undo is None:
            entry.updated_at = at
        entry.undo_revocation()
        entry.recent = entry.recent[-self.policy.window :]
        self._report(entry, State.REVOKED, Cause.RESTORED, "restored by hand", at)

    def _reset(self, event: Event) -> None:
        for entry in self.entries.values():
            if entry.state is State.ACTIVE:
                reason = event.detail or "reset"
                self._move(entry, State.REVOKED, Cause.RESET, reason, event.at)
            entry.close_episode()
            self.dirty.add(entry.match)
