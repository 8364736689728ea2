"""The ledger: what an agent has learned, with the evidence for it and the power to revoke it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Self

from sqlalchemy import Connection

from gcmem.memory import ScopeLike
from gcmem.precedents import deciding, drafts, key_rows, purging
from gcmem.precedents.entry import EventKind
from gcmem.precedents.labels import checked_text, encode_scope, forget_texts, match_key
from gcmem.precedents.policy import LifecyclePolicy
from gcmem.precedents.precedent import (
    Cardinality,
    Evidence,
    Observation,
    Precedent,
    Purge,
    Transition,
)
from gcmem.precedents.recording import Draft, Recording
from gcmem.precedents.storage import Storage
from gcmem.precedents.views import LedgerViews
from gcmem.timestamps import TimeLike

__all__ = ["PrecedentLedger"]


class PrecedentLedger(LedgerViews):
    """Keyed precedents whose validity is falsifiable: evidence promotes and revokes them (TEPA).

    Everything that is told to the ledger is stored as evidence, and the state of a key is what
    the policy makes of its evidence *in order of time*. So a statement that arrives late (``at``
    before what is known) never revokes a newer one, and any order of arrival of evidence with
    distinct times gives the same state; evidence of one and the same time counts in order of
    arrival. ``at=None`` means now. A decision by hand also has its time: evidence dated before it
    does not overturn it, even if it arrives afterwards.

    Keys and values match regardless of case, runs of white space and Unicode composition; the
    text is kept as first written. Scopes are never mixed.

    Every call is one transaction. What has returned survives a kill -9 and a power cut; a damaged
    or foreign file is an error that names it. Threads and processes may share a ledger's file,
    and threads a ledger.

    Args:
        url: "sqlite:///memory.db" (a file), "sqlite://" (in memory, for this process),
            "postgresql+psycopg://user@host/database" (many machines).
        policy: When precedents are promoted and revoked. It decides what is told from now on; a
            key is decided anew under it only when evidence arrives late or the key is redefined.

    Raises:
        ValueError: The URL names no such storage.
        LedgerFileError: The file is damaged, truncated, foreign or newer.

    Example:
        >>> ledger = PrecedentLedger("sqlite://")
        >>> _ = ledger.observe("home city", "Ulm", scope="user-7", at="2026-01-05")
        >>> moved = ledger.observe("home city", "Kiel", scope="user-7", at="2026-03-01")
        >>> [f"{item.value}: {item.after} ({item.cause})" for item in moved]
        ['Ulm: Revoked (superseded)', 'Kiel: Active (testimony)']
        >>> [item.value for item in ledger.active("user-7")]
        ['Kiel']
        >>> [item.value for item in ledger.active("user-7", as_of="2026-02-01")]
        ['Ulm']
        >>> ledger.close()
    """

    def __init__(
        self, url: str = "sqlite:///memory.db", policy: LifecyclePolicy | None = None
    ) -> None:
        if policy is not None and not isinstance(policy, LifecyclePolicy):
            msg = f"policy must be a LifecyclePolicy, got {policy!r}."
            raise TypeError(msg)
        super().__init__(Storage(url), policy or LifecyclePolicy())
        self._in_order = threading.RLock()

    # evidence

    def observe(
        self,
        key: str,
        value: str,
        *,
        scope: ScopeLike = (),
        at: TimeLike | None = None,
        source: str | None = None,
        evidence: Evidence | None = None,
        authority: float | None = None,
        cardinality: Cardinality | str | None = None,
    ) -> list[Transition]:
        """Store that a key was observed to have a value, and decide what follows.

        Args:
            key: The conflict key.
            value: The value.
            scope: Whose it is.
            at: When it was observed; None means now.
            source: Where it comes from. "assistant" and "ai" (also "assistant:message-7") make it
                a guess, whatever `evidence` says.
            evidence: "testimony" (the default: somebody said so), "inferred" or "guess"; see
                `LifecyclePolicy`.
            authority: Rank of the source (default 0, for a guess -1); lower never revokes higher.
            cardinality: "single", "multi" or "immutable", as `define_key` for this scope.

        Returns:
            The transitions that followed, in order; none if nothing changed its state.

        Raises:
            TypeError: A parameter has another type.
            ValueError: A parameter is blank or not allowed.
            TrialError: The policy's trial callable raised; the evidence is stored.
        """
        item = Observation(
            key,
            value,
            scope=scope,
            at=at,
            source=source,
            evidence=evidence,
            authority=authority,
        )
        return self._tell([drafts.of_observation(self._policy, item, cardinality)])

    def observe_many(
        self,
        observations: Iterable[Observation | tuple[str, str]],
        *,
        scope: ScopeLike = (),
        at: TimeLike | None = None,
        source: str | None = None,
        evidence: Evidence | None = None,
        authority: float | None = None,
    ) -> list[Transition]:
        """Store many observations in one transaction: all of them or, on an error, none.

        Args:
            observations: `Observation` objects, or pairs (key, value) that take the other
                parameters of this call.
            scope: For pairs.
            at: For pairs.
            source: For pairs.
            evidence: For pairs.
            authority: For pairs.

        Returns:
            The transitions that followed, grouped by key.

        Raises:
            TypeError: An item is neither.
            ValueError: A parameter is blank or not allowed.
        """
        told = []
        for item in observations:
            if isinstance(item, Observation):
                told.append(drafts.of_observation(self._policy, item))
                continue
            if not isinstance(item, tuple) or len(item) != 2:
                msg = f"observations must hold Observation or (key, value), got {item!r}."
                raise TypeError(msg)
            key, value = item
            full = Observation(
                key,
                value,
                scope=scope,
                at=at,
                source=source,
                evidence=evidence,
                authority=authority,
            )
            told.append(drafts.of_observation(self._policy, full))
        return self._tell(told)

    def outcome(
        self,
        key: str,
        success: bool,
        *,
        value: str | None = None,
        scope: ScopeLike = (),
        at: TimeLike | None = None,
        source: str | None = None,
        authority: float | None = None,
    ) -> list[Transition]:
        """Store whether acting on a value worked.

        Args:
            key: The conflict key.
            success: True supports the value, False counts against it.
            value: The value that was acted on; None means the one that was Active at that time
                (of several, the newest). Where none was, nothing follows.
            scope: Whose it is.
            at: When it happened; None means now.
            source: Where it comes from; the assistant's own judgement of success is a guess.
            authority: Rank of the source; None ranks a failure with what it is about.

        Returns:
            The transitions that followed.

        Raises:
            TypeError: A parameter has another type.
            ValueError: A parameter is blank, or the key is multi-valued and no value was given.
        """
        draft = drafts.of_outcome(
            self._policy,
            key,
            success,
            value=value,
            scope=scope,
            at=at,
            source=source,
            authority=authority,
        )
        return self._tell([draft])

    def define_key(
        self, key: str, *, cardinality: Cardinality | str, scope: ScopeLike | None = None
    ) -> list[Transition]:
        """Say how many values a key holds, and decide its evidence again under that.

        Args:
            key: The conflict key.
            cardinality: "single" (the default of every key), "multi" or "immutable".
            scope: The one scope that it is meant for; None means every scope, present and
                future, that has no definition of its own.

        Returns:
            The transitions of what is already known.
        """
        match = match_key(checked_text("key", key))
        kind = drafts.to_cardinality(cardinality)
        place = None if scope is None else encode_scope(scope)
        return self._write(
            lambda connection: self._recorder.redecide(
                connection, key_rows.define(connection, place, match, kind), kind
            )
        ).transitions

    # decisions by hand

    def revoke(
        self,
        id: str,  # noqa: A002  (the contract's name)
        reason: str,
        *,
        at: TimeLike | None = None,
    ) -> list[Transition]:
        """Take a precedent out of the Active set (or the Hypotheses), whatever the evidence.

        Fresh evidence can promote it again. `restore` is the exact inverse.

        Raises:
            UnknownPrecedentError: There is none with this id.
            PrecedentStateError: It is Revoked already.
        """
        return self._decide(id, EventKind.REVOKE, checked_text("reason", reason), at)

    def restore(
        self,
        id: str,  # noqa: A002  (the contract's name)
        *,
        at: TimeLike | None = None,
    ) -> list[Transition]:
        """Undo a revocation.

        After `revoke`, the record is byte for byte what it was before, the audit trail aside;
        evidence that came in between is kept. A precedent that evidence revoked becomes Active
        again with its counts, and starts a new episode: what brought it down is answered.

        Raises:
            UnknownPrecedentError: There is none with this id.
            PrecedentStateError: It is not Revoked, or another value of its key is Active and
                would have to be revoked first.
        """
        return self._decide(id, EventKind.RESTORE, None, at)

    def pin(
        self,
        id: str,  # noqa: A002  (the contract's name)
        *,
        at: TimeLike | None = None,
    ) -> list[Transition]:
        """Keep evidence from revoking an Active precedent; only `revoke` still can.

        Raises:
            UnknownPrecedentError: There is none with this id.
            PrecedentStateError: It is not Active.
        """
        return self._decide(id, EventKind.PIN, None, at)

    def unpin(
        self,
        id: str,  # noqa: A002  (the contract's name)
        *,
        at: TimeLike | None = None,
    ) -> list[Transition]:
        """Let evidence decide again; the evidence to come, not what came while it was pinned.

        Raises:
            UnknownPrecedentError: There is none with this id.
            PrecedentStateError: It is not pinned.
        """
        return self._decide(id, EventKind.UNPIN, None, at)

    def reset(self, scope: ScopeLike = (), *, reason: str = "oracle reset") -> list[Transition]:
        """Revoke everything Active in a scope and start its evidence anew (for benchmarks).

        It takes effect right after the latest evidence of each key.
        """
        place = encode_scope(scope)
        detail = checked_text("reason", reason)

        def work(connection: Connection) -> Recording:
            rows = key_rows.find_keys(connection, place)
            told = [
                Draft(place, row.text, EventKind.RESET, None, follow=True, detail=detail)
                for row in rows
                if row.latest_at is not None
            ]
            return self._recorder.record(connection, told)

        return self._write(work).transitions

    def purge(self, scope: ScopeLike) -> Purge:
        """Delete everything of exactly this scope, for a privacy request.

        Keys, values, evidence, sources, audit rows: all of it, irrevocably. What stays is one
        audit row with the time, the counts and the SHA-256 of the scope. In SQLite the freed
        pages are overwritten and the write-ahead log is emptied; PostgreSQL frees the space at
        its next VACUUM. Scopes below this one are scopes of their own.

        Raises:
            LedgerBusyError: It is deleted, but readers still hold the write-ahead log.
        """
        with self._in_order:
            done = self._storage.write(lambda connection: purging.purge_scope(connection, scope))
            if self._index is not None:
                self._index.forget(encode_scope(scope))
        forget_texts()
        self._storage.forget_deleted()
        return done

    # life of the ledger

    def close(self) -> None:
        """Close the storage; every later call but this one raises LedgerClosedError."""
        self._storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"PrecedentLedger({self._storage.name!r})"

    # inside

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

    def _decide(
        self, precedent_id: str, kind: EventKind, detail: str | None, at: TimeLike | None
    ) -> list[Transition]:
        moment = drafts.to_time(at)

        def work(connection: Connection) -> Recording:
            row, entry = deciding.allowed(connection, precedent_id, kind, self._policy)
            draft = Draft(row.scope, row.text, kind, entry.value, at=moment, detail=detail)
            return self._recorder.record(connection, [draft])

        return self._write(work).transitions
