"""What a person may decide about a ledger, whatever the evidence."""

from __future__ import annotations

from sqlalchemy import Connection

from gcmem.memory import ScopeLike
from gcmem.precedents import deciding, drafts, key_rows
from gcmem.precedents.entry import EventKind
from gcmem.precedents.labels import checked_text, encode_scope
from gcmem.precedents.precedent import Transition
from gcmem.precedents.recording import Draft, Recording
from gcmem.precedents.writing import LedgerWriter
from gcmem.timestamps import TimeLike

__all__ = ["LedgerDecisions"]


class LedgerDecisions(LedgerWriter):
    """The decisions by hand; each has its time, and is evidence that is folded like any other.

    So none may be dated in the compacted past of its key (see `PrecedentLedger.compact`): there, a
    decision raises ValueError.
    """

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

    def retract(
        self,
        id: str,  # noqa: A002  (the contract's name)
        reason: str,
        *,
        at: TimeLike | None = None,
    ) -> list[Transition]:
        """Take a precedent back as the one who said it may: it was never so.

        As `revoke`, and what had earned its place and was only kept out by this precedent takes
        it at once: "I was born in Porto", later "I was born in Faro" (kept as a Hypothesis, since
        the key is immutable), then "forget that I was born in Porto" leaves Faro. `restore` is the
        exact inverse once nothing stands in the way.

        Raises:
            UnknownPrecedentError: There is none with this id.
            PrecedentStateError: It is Revoked already.
        """
        return self._decide(id, EventKind.RETRACT, checked_text("reason", reason), at)

    def correct(
        self,
        key: str,
        value: str,
        *,
        reason: str,
        scope: ScopeLike = (),
        at: TimeLike | None = None,
        source: str | None = None,
        authority: float | None = None,
    ) -> list[Transition]:
        """Put a value in the place of whatever is Active under a key, on purpose.

        The way to set right what evidence must not change: a wrong value of an immutable key, one
        that is pinned, of higher authority, or barred by the policy. What it replaces is Revoked
        and archived as `revoke` does; to undo it, revoke the new value and restore the old one.
        Evidence that comes later counts as ever, so pin what has to stay.

        Args:
            key: The conflict key.
            value: The right value, known or new.
            reason: Why; it stands in the audit trail.
            scope: Whose it is.
            at: When it was decided; None means now. Evidence dated before it does not overturn it.
            source: Who decided.
            authority: Rank of the decision; None ranks it with what it replaces.

        Raises:
            TypeError: A parameter has another type.
            ValueError: A parameter is blank, or the key is multi-valued: there, revoke the wrong
                value and observe the right one.
        """
        detail = checked_text("reason", reason)
        draft = drafts.of_correction(
            key, value, detail, scope=scope, at=at, source=source, authority=authority
        )
        return self._tell([draft])

    def _decide(
        self, precedent_id: str, kind: EventKind, detail: str | None, at: TimeLike | None
    ) -> list[Transition]:
        moment = drafts.to_time(at)

        def work(connection: Connection) -> Recording:
            row, entry = deciding.allowed(connection, precedent_id, kind, self._policy)
            draft = Draft(row.scope, row.text, kind, entry.value, at=moment, detail=detail)
            return self._recorder.record(connection, [draft])

        return self._write(work).transitions
