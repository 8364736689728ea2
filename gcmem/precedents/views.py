"""What can be read of a ledger; the ledger itself adds what can be written."""

from __future__ import annotations

from collections.abc import Iterable

from gcmem.memory import ScopeLike
from gcmem.precedents import reading, records
from gcmem.precedents.active_index import ActiveIndex
from gcmem.precedents.labels import (
    checked_text,
    encode_scope,
    match_key,
    match_of_key,
    to_microseconds,
)
from gcmem.precedents.policy import LifecyclePolicy
from gcmem.precedents.precedent import (
    Compaction,
    OpenConflict,
    Precedent,
    Purge,
    State,
    Transition,
)
from gcmem.precedents.recording import Recorder
from gcmem.precedents.storage import Storage
from gcmem.timestamps import TimeLike

__all__ = ["LedgerViews"]


class LedgerViews:
    """The questions that a ledger answers, whatever its storage.

    Args:
        storage: Where it lives.
        policy: Its rules.
    """

    def __init__(self, storage: Storage, policy: LifecyclePolicy) -> None:
        self._storage = storage
        self._policy = policy
        self._recorder = Recorder(policy)
        self._index = ActiveIndex() if storage.in_memory else None

    @property
    def policy(self) -> LifecyclePolicy:
        """The rules of this ledger."""
        return self._policy

    def active(
        self,
        scope: ScopeLike = (),
        *,
        keys: str | Iterable[str] | None = None,
        as_of: TimeLike | None = None,
    ) -> list[Precedent]:
        """Give the Active precedents of a scope: what may be put before a model.

        Args:
            scope: Whose they are.
            keys: One key or several; None means all.
            as_of: Give what the evidence up to then made Active, as it was then. It costs in
                proportion to the evidence about those keys; without it, the number of records
                does not matter. Where that evidence was compacted, the counts are those of the
                last transition before, and `recent` is empty.

        Returns:
            The precedents; keys in the order in which they were first seen, and within a key the
            value supported last comes first.
        """
        place = encode_scope(scope)
        if self._index is not None and as_of is None:
            self._storage.check_open()
            if isinstance(keys, str):
                return self._index.of_key(place, match_of_key(keys))
            return self._index.active(place, _matches(keys))
        matches = _matches(keys)
        if as_of is not None:
            until = to_microseconds("as_of", as_of)
            return self._storage.read(
                lambda connection: reading.active_as_of(
                    connection, self._policy, place, until, matches
                )
            )
        return self._storage.read(
            lambda connection: reading.in_state(connection, State.ACTIVE, place, matches)
        )

    def archive(self, scope: ScopeLike = ()) -> list[Precedent]:
        """Give the Revoked precedents of a scope; they wait for audit and for fresh evidence."""
        return self._in_state(State.REVOKED, scope)

    def hypotheses(self, scope: ScopeLike = ()) -> list[Precedent]:
        """Give the precedents of a scope that lack the evidence, or the right, to be Active."""
        return self._in_state(State.HYPOTHESIS, scope)

    def conflicts(self, scope: ScopeLike = ()) -> list[OpenConflict]:
        """Give the contradictions of a scope that no rule may decide, for a person to look at."""
        place = encode_scope(scope)
        return self._storage.read(
            lambda connection: reading.open_conflicts(connection, place, self._policy)
        )

    def get(self, id: str) -> Precedent:  # noqa: A002  (the contract's name)
        """Give one precedent, whatever its state.

        Raises:
            UnknownPrecedentError: There is none with this id.
        """
        row, entry = self._storage.read(lambda connection: reading.find(connection, id))
        return records.to_precedent(row, entry)

    def history(self, key: str, scope: ScopeLike = ()) -> list[Transition]:
        """Give every transition of a key, in the order in which they were recorded."""
        match = match_key(checked_text("key", key))
        place = encode_scope(scope)
        return self._storage.read(
            lambda connection: reading.transitions_of(connection, scope=place, match=match)
        )

    def explain(self, id: str) -> str:  # noqa: A002  (the contract's name)
        """Say what a precedent is and how it got there, for a person to read.

        Raises:
            UnknownPrecedentError: There is none with this id.
        """
        return self._storage.read(
            lambda connection: reading.explanation(connection, id, self._policy)
        )

    def purges(self) -> list[Purge]:
        """Give the audit rows of all purges."""
        return self._storage.read(reading.purges)

    def compactions(self) -> list[Compaction]:
        """Give the audit rows of all compactions."""
        return self._storage.read(reading.compactions)

    def _in_state(self, state: State, scope: ScopeLike) -> list[Precedent]:
        place = encode_scope(scope)
        return self._storage.read(lambda connection: reading.in_state(connection, state, place))


def _matches(keys: str | Iterable[str] | None) -> list[str] | None:
    if keys is None:
        return None
    if not isinstance(keys, Iterable):
        msg = f"keys must be None, a string or strings, got {keys!r}."
        raise TypeError(msg)
    named = [keys] if isinstance(keys, str) else keys
    return [
        match_of_key(name) if isinstance(name, str) else checked_text("keys", name)
        for name in named
    ]
