"""The precedents of one key while evidence is folded in: who stands, who is ready, what moved."""

from __future__ import annotations

from collections.abc import Iterable

from gcmem.precedents.entry import Change, Entry, Event
from gcmem.precedents.policy import LifecyclePolicy
from gcmem.precedents.precedent import Cardinality, Cause, State

__all__ = ["KeyState"]


class KeyState:
    """The precedents of one key, and the rules of promotion (TEPA, Lifecycle).

    Args:
        policy: The rules.
        cardinality: How many values hold at once.
        entries: The precedents that can matter: the Active ones, the candidates that are ready,
            and those that the next events are about.
        supports: Number of supports that the key has seen.
    """

    def __init__(
        self,
        policy: LifecyclePolicy,
        cardinality: Cardinality,
        entries: Iterable[Entry] = (),
        *,
        supports: int = 0,
    ) -> None:
        self.policy = policy
        self.cardinality = cardinality
        self.entries = {entry.match: entry for entry in entries}
        self.supports = supports
        self.dirty: set[str] = set()
        self._changes: list[Change] = []

    @property
    def exclusive(self) -> bool:
        """Whether at most one value may be Active."""
        return self.policy.exclusive and self.cardinality is not Cardinality.MULTI

    def active(self) -> list[Entry]:
        """Give the Active precedents, the one supported last first."""
        standing = [entry for entry in self.entries.values() if entry.state is State.ACTIVE]
        return sorted(standing, key=lambda entry: -entry.ordinal)

    def ready(self, entry: Entry) -> bool:
        """Say whether a precedent that is not Active could become so without more evidence."""
        return entry.testified or entry.fresh_support >= self.policy.theta_propose

    def wants_trial(self, entry: Entry) -> bool:
        """Say whether the candidate waits for a trial (TEPA-Full)."""
        return (
            self.policy.trials is not None
            and entry.state is not State.ACTIVE
            and not entry.trial_passed
            and entry.fresh_support - entry.tried >= self.policy.theta_propose
        )

    def _rivals(self, entry: Entry) -> list[Entry]:
        if self.cardinality is Cardinality.MULTI:
            return []
        return [rival for rival in self.active() if rival is not entry]

    def settle(self, at: int) -> list[Change]:
        """Leave one Active value where only one may be, as a rule that changed may demand it.

        It is the one supported last; of an immutable key, the one that was first.
        """
        self._changes = []
        standing = self.active()
        if self.exclusive and len(standing) > 1:
            if self.cardinality is Cardinality.IMMUTABLE:
                standing.sort(key=lambda entry: entry.created_at)
            for extra in standing[1:]:
                reason = f"superseded by {standing[0].value!r}: the key holds one value"
                self._move(extra, State.REVOKED, Cause.SUPERSEDED, reason, at)
        return self._changes

    # promotion

    def _earned(self, entry: Entry) -> bool:
        if entry.testified:
            return True
        if entry.fresh_support < self.policy.theta_propose:
            return False
        if self.policy.trials is not None:
            return entry.trial_passed
        return self._mean(entry) >= self.policy.theta_promote

    def _mean(self, entry: Entry) -> float:
        return self.policy.posterior(entry.fresh_support, entry.fresh_conflict)

    def _promote_if_earned(self, entry: Entry, at: int) -> None:
        if entry.state is State.ACTIVE or not self._earned(entry):
            return
        if self.exclusive and self.active():
            return
        if entry.trial_passed:
            cause, reason = Cause.TRIAL_PASSED, "it passed its trial"
        elif entry.testified:
            cause, reason = Cause.TESTIMONY, "the user said so, and what stood against it fell"
        else:
            cause = Cause.PROMOTED
            reason = (
                f"{entry.fresh_support} supports, posterior {self._mean(entry):.3f} >= "
                f"{self.policy.theta_promote}"
            )
        self._move(entry, State.ACTIVE, cause, reason, at)

    def _fill_vacancy(self, at: int) -> None:
        waiting = [
            entry
            for entry in self.entries.values()
            if entry.state is not State.ACTIVE and self._earned(entry)
        ]
        if waiting:
            best = max(
                waiting, key=lambda entry: (entry.testified, self._mean(entry), entry.ordinal)
            )
            self._promote_if_earned(best, at)

    # bookkeeping

    def _target(self, event: Event) -> Entry | None:
        if event.match is None:
            entry = next(iter(self.active()), None)
        else:
            entry = self.entries.get(event.match)
        if entry is None:
            return None
        if entry.state is None:
            entry.created_at = entry.updated_at = event.at
        self.dirty.add(entry.match)
        return entry

    def _move(self, entry: Entry, after: State, cause: Cause, reason: str, at: int) -> None:
        before = entry.state
        entry.state = after
        entry.updated_at = at
        if after is State.REVOKED:
            entry.close_episode()
            entry.undo = None
        elif after is State.ACTIVE:
            entry.undo = None
        self._report(entry, before, cause, reason, at)

    def _report(
        self, entry: Entry, before: State | None, cause: Cause, reason: str, at: int
    ) -> None:
        self.dirty.add(entry.match)
        after = entry.state or State.HYPOTHESIS
        self._changes.append(
            Change(entry.match, before, after, cause, reason, at, entry.support, entry.conflict)
        )
