"""The ledger: what an agent has learned, with the evidence for it and the power to revoke it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from gcmem.memory import ScopeLike
from gcmem.precedents import compacting, drafts, key_rows, purging
from gcmem.precedents.decisions import LedgerDecisions
from gcmem.precedents.labels import (
    checked_text,
    encode_scope,
    forget_texts,
    match_key,
    scope_digest,
    to_microseconds,
)
from gcmem.precedents.policy import LifecyclePolicy
from gcmem.precedents.precedent import (
    Cardinality,
    Compaction,
    Evidence,
    Observation,
    Outcome,
    Purge,
    Transition,
)
from gcmem.precedents.storage import Storage
from gcmem.timestamps import TimeLike

__all__ = ["PrecedentLedger"]

T = TypeVar("T", Observation, Outcome)


class PrecedentLedger(LedgerDecisions):
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
        pairs = partial(
            Observation, scope=scope, at=at, source=source, evidence=evidence, authority=authority
        )
        told = _complete(observations, Observation, pairs, "observations", "value")
        return self._tell([drafts.of_observation(self._policy, item) for item in told])

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
        item = Outcome(
            key, success, value=value, scope=scope, at=at, source=source, authority=authority
        )
        return self._tell([drafts.of_outcome(self._policy, item)])

    def outcome_many(
        self,
        outcomes: Iterable[Outcome | tuple[str, bool]],
        *,
        scope: ScopeLike = (),
        at: TimeLike | None = None,
        source: str | None = None,
        authority: float | None = None,
    ) -> list[Transition]:
        """Store many outcomes in one transaction: all of them or, on an error, none.

        Args:
            outcomes: `Outcome` objects, or pairs (key, success) about what was Active, that take
                the other parameters of this call.
            scope: For pairs.
            at: For pairs.
            source: For pairs.
            authority: For pairs.

        Returns:
            The transitions that followed, grouped by key.

        Raises:
            TypeError: An item is neither, or a parameter has another type.
            ValueError: A parameter is blank, or the key is multi-valued and no value was given.
        """
        pairs = partial(Outcome, scope=scope, at=at, source=source, authority=authority)
        told = _complete(outcomes, Outcome, pairs, "outcomes", "success")
        return self._tell([drafts.of_outcome(self._policy, item) for item in told])

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

    def compact(
        self, before: TimeLike, *, scope: ScopeLike | None = None, at_least: int = 100
    ) -> Compaction:
        """Fold the evidence dated before a time for good, so that the log does not grow for ever.

        Nothing that is Active, archived, counted or audited changes, nor what evidence does from
        now on, nor which values `active(as_of=...)` gives for any time, nor what `restore` brings
        back. What is forgotten of the compacted evidence, key by key:

        - its single pieces with their sources; `as_of` in that time gives the counts of the last
          transition before,
        - its order: evidence that arrives later and is older than the newest compacted piece is
          counted, and decides nothing (a new value is archived; one of a multi-valued key stands),
          and a decision by hand dated so is an error,
        - other readings of it: another policy, or `define_key`, decides only what comes after.

        It takes a few keys in each transaction, so other writers get their turn, and a process
        that is killed leaves whole keys. In SQLite the file keeps its size and uses the room again.

        Args:
            before: Evidence dated before it is compacted.
            scope: Whose; None means every scope.
            at_least: Keys with fewer pieces of such evidence are left as they are.

        Returns:
            The audit row, also given by `compactions`.

        Raises:
            TypeError: A parameter has another type.
            ValueError: The time cannot be read, or `at_least` is below 1.
        """
        if isinstance(at_least, bool) or not isinstance(at_least, int):
            msg = f"at_least must be a whole number, got {at_least!r}."
            raise TypeError(msg)
        if at_least < 1:
            msg = f"at_least must be at least 1, got {at_least!r}."
            raise ValueError(msg)
        return compacting.compact(
            self._storage,
            self._policy,
            before=to_microseconds("before", before),
            scope=None if scope is None else encode_scope(scope),
            digest=None if scope is None else scope_digest(scope),
            at_least=at_least,
        )

    def purge(self, scope: ScopeLike) -> Purge:
        """Delete everything of exactly this scope, for a privacy request.

        Keys, values, evidence, sources, audit rows, stored chat messages, and short-term memory
        that is kept in the same database: all of it, irrevocably. What stays is one audit row with
        the time, the counts and the SHA-256 of the scope. In SQLite the freed
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


def _complete(
    items: Iterable[T | tuple[str, Any]],
    kind: type[T],
    of_pair: Callable[[str, Any], T],
    name: str,
    second: str,
) -> Iterator[T]:
    """Make full items of pairs, and say what is wrong with what is neither."""
    for item in items:
        if isinstance(item, kind):
            yield item
        elif isinstance(item, tuple) and len(item) == 2:
            yield of_pair(*item)
        else:
            msg = f"{name} must hold {kind.__name__} or (key, {second}), got {item!r}."
            raise TypeError(msg)
