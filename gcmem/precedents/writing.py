"""How a ledger writes: one transaction, then the trials that it calls for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from gcmem.precedents.entry import EventKind
from gcmem.precedents.policy import LifecyclePolicy
from gcmem.precedents.precedent import Precedent, Transition
from gcmem.precedents.recording import Draft, Recording
from gcmem.precedents.storage import Storage
from gcmem.precedents.views import LedgerViews

__all__ = ["LedgerWriter"]


class LedgerWriter(LedgerViews):
    """A ledger that can be written.

    Args:
        storage: Where it lives.
        policy: Its rules.
    """

    def __init__(self, storage: Storage, policy: LifecyclePolicy) -> None:
        super().__init__(storage, policy)
        self._in_order = threading.RLock()

    def _tell(self, told: Sequence[Draft]) -> list[Transition]:
        recording = self._write(lambda connection: self._recorder.record(connection, told))
        transitions = recording.transitions
        for waiting in recording.candidates if self._policy.trials is not None else ():
            transitions += self._try(waiting.scope, waiting.candidate, waiting.incumbent)
        return transitions

    def _try(
        self, scope: str, candidate: Precedent, incumbent: Precedent | None
    ) -> list[Transition]:
        trials = self._policy.trials
        report = None if trials is None else trials.conduct(candidate, incumbent)
        if report is None:
            return []
        draft = Draft(
            scope=scope,
            key=candidate.key,
            kind=EventKind.TRIAL_PASSED if report.passed else EventKind.TRIAL_FAILED,
            value=candidate.value,
            follow=True,
            detail=", ".join(f"{kind}: {positive}" for kind, positive in report.outcomes),
        )
        return self._write(
            lambda connection: self._recorder.record(connection, [draft])
        ).transitions

    def _write(self, work: Callable[[Connection], Recording]) -> Recording:
        if self._index is None:
            return self._storage.write(work)
        with self._in_order:
            recording = self._storage.write(work)
            self._index.update(recording.active)
            return recording
