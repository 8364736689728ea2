"""Folds evidence into the state of one key. Pure: no clock, no storage, no model.

The state of a key is a function of its evidence in order of time, which is what makes late
arrivals, `as_of` and a changed cardinality exact: the evidence is folded again.
"""

from __future__ import annotations

from gcmem.precedents.entry import SUPPORTING, Change, Entry, Event, EventKind
from gcmem.precedents.key_decisions import KeyDecisions
from gcmem.precedents.policy import Strategy
from gcmem.precedents.precedent import Cardinality, Cause, State

__all__ = ["KeyLifecycle", "obstacle"]


def obstacle(
    incumbent: Entry, authority: float, *, explicit: bool, cardinality: Cardinality
) -> Cause | None:
    """Name the rule by which an Active value stands against a challenger; None if none does."""
    if cardinality is Cardinality.IMMUTABLE:
        return Cause.IMMUTABLE
    if incumbent.pinned:
        return Cause.PINNED
    if incumbent.authority > authority:
        return Cause.AUTHORITY
    if incumbent.testified and not explicit:
        return Cause.WEAKER_EVIDENCE
    return None


class KeyLifecycle(KeyDecisions):
    """The precedents of one key and the rules that move them (TEPA, Lifecycle)."""

    def apply(self, event: Event) -> list[Change]:
        """Fold one event in and give the transitions that it caused."""
        self._changes = []
        if event.kind in SUPPORTING:
            self._support(event)
        elif event.kind is EventKind.FAILURE:
            self._failure(event)
        elif event.kind is EventKind.RESET:
            self._reset(event)
        elif event.kind is EventKind.CORRECT:
            self._correct(event)
        elif event.match in self.entries:
            self._decide(event, self.entries[event.match])
        return self._changes

    def count(self, event: Event, *, because: str) -> list[Change]:
        """Take in evidence that is too old to be put in its order: it counts, and decides nothing.

        Only a new value of a multi-valued key has no order to keep, so it is folded like any other.
        """
        entry = self.entries.get(event.match or "")
        if entry is None or not (event.kind in SUPPORTING or event.kind is EventKind.FAILURE):
            return []
        if entry.state is None and self.cardinality is Cardinality.MULTI:
            return self.apply(event)
        self._changes = []
        if entry.state is None:
            entry.created_at = event.at
            self._move(entry, State.REVOKED, Cause.LATE_EVIDENCE, because, event.at)
        if event.kind is EventKind.FAILURE:
            entry.conflict += 1
        else:
            entry.support += 1
            entry.created_at = min(entry.created_at, event.at)
        self.dirty.add(entry.match)
        return self._changes

    # evidence for a value

    def _support(self, event: Event) -> None:
        entry = self._target(event)
        if entry is None:
            return
        entry.support += 1
        entry.updated_at = event.at
        authority = event.authority or 0.0
        if event.kind is EventKind.GUESS:
            if entry.state is None:
                entry.authority = authority
                said = "only the assistant said so; repetition does not make it Active"
                self._move(entry, State.HYPOTHESIS, Cause.GUESS, said, event.at)
            return
        first = entry.fresh_support == 0
        entry.authority = authority if first else max(entry.authority, authority)
        entry.fresh_support += 1
        self.supports += 1
        entry.ordinal = self.supports
        explicit = event.kind is EventKind.TESTIMONY and self.policy.testimony
        if explicit:
            entry.testified = True
            entry.recent = ()
        else:
            self._remember(entry, success=True)
        if self.policy.strategy is Strategy.LIFECYCLE:
            self._weigh(entry, event, authority, explicit=explicit)
        else:
            self._write(entry, event, authority)

    def _weigh(self, entry: Entry, event: Event, authority: float, *, explicit: bool) -> None:
        blocked: Cause | None = None
        fallen = False
        for rival in self._rivals(entry):
            shield = obstacle(rival, authority, explicit=explicit, cardinality=self.cardinality)
            blocked = blocked or shield
            strong_enough = authority >= rival.authority and (explicit or not rival.testified)
            if strong_enough:
                self._count_conflict(rival, event, outcome=not explicit)
                fallen |= not explicit and self._falls(rival, event.at)
        if explicit and not (blocked and self.exclusive):
            self._take_over(entry, event, Cause.TESTIMONY, "the user said so")
            return
        if entry.state is None or (explicit and entry.state is State.REVOKED):
            cause = blocked or Cause.OBSERVED
            self._move(entry, State.HYPOTHESIS, cause, self._standing(cause), event.at)
        self._promote_if_earned(entry, event.at)
        if fallen:
            self._fill_vacancy(event.at)

    def _write(self, entry: Entry, event: Event, authority: float) -> None:
        blocked: Cause | None = None
        for rival in self._rivals(entry):
            if authority >= rival.authority:
                self._count_conflict(rival, event, outcome=False)
            if self.exclusive:
                blocked = blocked or obstacle(
                    rival, authority, explicit=True, cardinality=self.cardinality
                )
        if blocked:
            if entry.state is None:
                self._move(entry, State.HYPOTHESIS, blocked, self._standing(blocked), event.at)
            return
        self._take_over(entry, event, Cause.WRITTEN, f"written by {self.policy.strategy}")
        keep = self.policy.keep
        for old in self.active() if keep is not None else ():
            if self.supports - old.ordinal >= (keep or 0) and not old.pinned:
                left = f"not among the last {keep} successes of the key"
                self._move(old, State.REVOKED, Cause.LEFT_WINDOW, left, event.at)

    def _take_over(self, entry: Entry, event: Event, cause: Cause, why: str) -> None:
        for rival in self._rivals(entry) if self.exclusive else ():
            reason = f"superseded by {entry.value!r}: {why}"
            self._move(rival, State.REVOKED, Cause.SUPERSEDED, reason, event.at)
        if entry.state is not State.ACTIVE:
            self._move(entry, State.ACTIVE, cause, why, event.at)

    # evidence against a value

    def _failure(self, event: Event) -> None:
        entry = self._target(event)
        if entry is None:
            return
        if entry.state is None:
            entry.authority = event.authority or 0.0
            failed = "it failed before anything supported it"
            self._move(entry, State.HYPOTHESIS, Cause.OBSERVED, failed, event.at)
        elif event.authority is not None and event.authority < entry.authority:
            return
        self._count_conflict(entry, event, outcome=True)
        if self.policy.strategy is Strategy.REACTIVE:
            if entry.state is State.ACTIVE and not self._shielded(entry):
                self._move(entry, State.REVOKED, Cause.FAILURE, "one failure", event.at)
        elif self.policy.strategy is Strategy.LIFECYCLE:
            if entry.state is not State.ACTIVE:
                self._refute(entry)
            elif self._falls(entry, event.at):
                self._fill_vacancy(event.at)

    def _refute(self, entry: Entry) -> None:
        """Let a candidate start anew where an Active precedent would fall.

        Otherwise the failures of one regime would bar it from the next for ever.
        """
        if self._downfall(entry) is not None:
            entry.close_episode()

    def _count_conflict(self, entry: Entry, event: Event, *, outcome: bool) -> None:
        entry.conflict += 1
        entry.fresh_conflict += 1
        entry.updated_at = event.at
        self.dirty.add(entry.match)
        if outcome:
            self._remember(entry, success=False)

    def _remember(self, entry: Entry, *, success: bool) -> None:
        entry.recent = (*entry.recent, success)[-self.policy.window :]

    def _shielded(self, entry: Entry) -> bool:
        return entry.pinned or self.cardinality is Cardinality.IMMUTABLE

    def _falls(self, entry: Entry, at: int) -> bool:
        if not self.policy.revocation or self._shielded(entry):
            return False
        downfall = self._downfall(entry)
        if downfall is None:
            return False
        cause, reason = downfall
        self._move(entry, State.REVOKED, cause, reason, at)
        return True

    def _downfall(self, entry: Entry) -> tuple[Cause, str] | None:
        policy = self.policy
        seen = entry.fresh_support + entry.fresh_conflict
        mean = policy.posterior(entry.fresh_support, entry.fresh_conflict)
        if seen >= policy.n_min and mean < policy.theta_revoke:
            reason = f"posterior {mean:.3f} < {policy.theta_revoke} after {seen} observations"
            return Cause.POSTERIOR, reason
        outcomes, good = len(entry.recent), sum(entry.recent)
        if outcomes >= policy.n_recent and good / outcomes < policy.theta_recent:
            return Cause.RECENT_OUTCOMES, f"{good} of the last {outcomes} outcomes were good"
        return None

    def _standing(self, cause: Cause) -> str:
        if cause is Cause.OBSERVED:
            return "first evidence of this value"
        return f"kept beside the Active value ({cause})"
