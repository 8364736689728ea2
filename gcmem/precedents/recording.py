"""The write path: evidence in, folded by the lifecycle, saved with its audit rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from gcmem.precedents import key_rows, records
from gcmem.precedents.checkpoints import Checkpoint, checkpoints_of
from gcmem.precedents.entry import SUPPORTING, Change, Entry, Event, EventKind
from gcmem.precedents.key_rows import KeyRow
from gcmem.precedents.labels import from_microseconds, match_key, microseconds_now
from gcmem.precedents.lifecycle import KeyLifecycle
from gcmem.precedents.policy import LifecyclePolicy
from gcmem.precedents.precedent import Cardinality, Cause, Precedent, State, Transition
from gcmem.precedents.records import LoggedEvent
from gcmem.precedents.replaying import replayed

__all__ = ["Candidate", "Draft", "Recorder", "Recording"]


@dataclass(frozen=True, slots=True)
class Draft:
    """One piece of evidence before it has a time and a row.

    Attributes:
        scope: Canonical scope text.
        key: The key as written.
        kind: What happened.
        value: The value as written; None means the value that is Active then.
        at: Microseconds since the epoch; None means now, after everything that is known.
        follow: With no time: right after what is known, even where that lies in the past.
        authority: Rank of the source.
        source: Where it comes from.
        detail: Free text.
        cardinality: How many values the key holds, where the caller says so.
    """

    scope: str
    key: str
    kind: EventKind
    value: str | None
    at: int | None = None
    follow: bool = False
    authority: float | None = None
    source: str | None = None
    detail: str | None = None
    cardinality: Cardinality | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A precedent that waits for a trial, and what stands in its place."""

    scope: str
    candidate: Precedent
    incumbent: Precedent | None


@dataclass(slots=True)
class Recording:
    """What one write changed.

    Attributes:
        transitions: The audit rows, in order.
        candidates: What waits for a trial now.
        active: For each key touched, its Active precedents, newest first.
    """

    transitions: list[Transition] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    active: list[tuple[KeyRow, list[Entry]]] = field(default_factory=list)


class _Plan:
    """What one write has to do with one key."""

    def __init__(self, row: KeyRow, drafts: Sequence[Draft], now: int, *, again: bool) -> None:
        self.row = row
        self.texts: dict[str, str] = {}
        events = []
        latest = row.latest_at
        self.new = latest is None
        for draft in drafts:
            at = draft.at
            if at is None:
                known = latest if latest is not None else now
                at = known if draft.follow else max(now, known)
            latest = at if latest is None else max(at, latest)
            match = None if draft.value is None else match_key(draft.value)
            if match is not None and draft.value is not None:
                self.texts.setdefault(match, draft.value)
            events.append(Event(draft.kind, match, at, draft.authority, draft.source, draft.detail))
        self.events = sorted(events, key=lambda event: event.at)
        self.late = row.latest_at is not None and bool(events) and self.events[0].at < row.latest_at
        self.fold_again = self.late or again
        self.load_all = self.fold_again or any(
            event.kind is EventKind.RESET for event in self.events
        )
        row.latest_at = latest
        self.entries: list[Entry] = []
        self.lifecycle: KeyLifecycle
        self.changes: list[Change] = []

    def complete(self, found: list[Entry]) -> None:
        """Take the precedents that the storage knows, and add those that are new."""
        known = {entry.match for entry in found}
        new = [Entry(match, text) for match, text in self.texts.items() if match not in known]
        self.entries = found + new


class Recorder:
    """Decides what evidence changes, by one policy."""

    def __init__(self, policy: LifecyclePolicy) -> None:
        self._policy = policy

    def record(self, connection: Connection, drafts: Sequence[Draft]) -> Recording:
        """Store evidence and what follows from it, in the present transaction.

        Raises:
            ValueError: An outcome without a value is about a multi-valued key, or one batch gives
                a key two cardinalities.
        """
        groups: dict[tuple[str, str], list[Draft]] = {}
        for draft in drafts:
            groups.setdefault((draft.scope, match_key(draft.key)), []).append(draft)
        texts = {pair: group[0].key for pair, group in groups.items()}
        rows = key_rows.ensure_keys(connection, texts)
        now = microseconds_now()
        plans = []
        for pair, group in groups.items():
            row = rows[pair]
            again = _declare(connection, row, group)
            _check_named(row, group)
            plans.append(_Plan(row, group, now, again=again))
        return self._carry_out(connection, plans, now)

    def redecide(
        self, connection: Connection, rows: Iterable[KeyRow], cardinality: Cardinality
    ) -> Recording:
        """Fold the evidence of keys again under another cardinality."""
        now = microseconds_now()
        plans = []
        for row in rows:
            if row.cardinality is not cardinality:
                row.cardinality = cardinality
                plans.append(_Plan(row, [], now, again=True))
        return self._carry_out(connection, plans, now)

    def _carry_out(self, connection: Connection, plans: list[_Plan], now: int) -> Recording:
        found = records.entries_of(
            connection,
            {
                plan.row.id: None if plan.load_all else set(plan.texts)
                for plan in plans
                if not plan.new
            },
        )
        again = [plan.row.id for plan in plans if plan.fold_again]
        logged = records.events_of(connection, again) if again else {}
        compacted = checkpoints_of(connection, again) if again else {}
        for plan in plans:
            plan.complete(found.get(plan.row.id, []))
            if plan.fold_again:
                past = [item.event for item in logged[plan.row.id]]
                self._fold_again(plan, past, compacted.get(plan.row.id))
            else:
                self._fold_on(plan)
        return self._save(connection, plans, now)

    def _fold_on(self, plan: _Plan) -> None:
        row = plan.row
        plan.lifecycle = KeyLifecycle(
            self._policy, row.cardinality, plan.entries, supports=row.supports
        )
        plan.changes = [change for event in plan.events for change in plan.lifecycle.apply(event)]

    def _fold_again(self, plan: _Plan, past: list[Event], compacted: Checkpoint | None) -> None:
        if compacted is not None:
            _check_decisions(plan, compacted)
        events = sorted(past + plan.events, key=lambda event: event.at)  # ties: by arrival
        replay = replayed(self._policy, plan.row, plan.entries, events, compacted)
        plan.lifecycle = replay.lifecycle
        cause = Cause.LATE_EVIDENCE if plan.late else Cause.REDEFINED
        for old in plan.entries:
            new = plan.lifecycle.entries[old.match]
            if new == old:
                plan.lifecycle.dirty.discard(old.match)
                continue
            plan.lifecycle.dirty.add(old.match)
            if new.state is old.state:
                continue
            change = replay.last(old.match, compacted)
            if plan.late:
                dated = from_microseconds(plan.events[0].at).isoformat()
                reason = f"evidence of {dated} arrived late; {change.cause}: {change.reason}"
            else:
                reason = f"the key is {plan.row.cardinality} now; {change.cause}: {change.reason}"
            plan.changes.append(
                Change(
                    old.match,
                    old.state,
                    new.state or State.HYPOTHESIS,
                    cause,
                    reason,
                    change.at,
                    new.support,
                    new.conflict,
                )
            )

    def _save(self, connection: Connection, plans: list[_Plan], now: int) -> Recording:
        records.save_entries(
            connection,
            [
                (plan.row.id, entry, plan.lifecycle.ready(entry), plan.lifecycle.exclusive)
                for plan in plans
                for entry in plan.lifecycle.entries.values()
                if entry.match in plan.lifecycle.dirty
            ],
        )
        numbered = [
            LoggedEvent(
                plan.row.id,
                None if event.match is None else plan.lifecycle.entries[event.match].id,
                event,
            )
            for plan in plans
            for event in plan.events
        ]
        records.add_events(connection, numbered)
        for plan in plans:
            plan.row.supports = plan.lifecycle.supports
        key_rows.save_keys(connection, [plan.row for plan in plans])
        changes = [
            (plan.row, plan.lifecycle.entries[change.match], change)
            for plan in plans
            for change in plan.changes
        ]
        recording = Recording(records.add_transitions(connection, changes, now=now))
        for plan in plans:
            standing = plan.lifecycle.active()
            recording.active.append((plan.row, standing))
            recording.candidates += [
                Candidate(
                    plan.row.scope,
                    records.to_precedent(plan.row, entry),
                    records.to_precedent(plan.row, standing[0]) if standing else None,
                )
                for entry in map(plan.lifecycle.entries.__getitem__, plan.texts)
                if plan.lifecycle.wants_trial(entry)
            ]
        return recording


def _check_decisions(plan: _Plan, compacted: Checkpoint) -> None:
    for event in plan.events:
        evidence = event.kind in SUPPORTING or event.kind is EventKind.FAILURE
        if event.at < compacted.until and not evidence:
            dated = from_microseconds(compacted.until).isoformat()
            msg = (
                f"at must not be before {dated} for a decision about {plan.row.text!r}: up to then "
                f"its evidence was compacted; got {from_microseconds(event.at).isoformat()}."
            )
            raise ValueError(msg)


def _declare(connection: Connection, row: KeyRow, group: Sequence[Draft]) -> bool:
    declared = {draft.cardinality for draft in group if draft.cardinality is not None}
    if len(declared) > 1:
        msg = f"cardinality of {row.text!r} must be one of {sorted(declared)}, not all of them."
        raise ValueError(msg)
    for cardinality in declared - {row.cardinality}:
        row.cardinality = cardinality
        key_rows.define(connection, row.scope, row.match, cardinality)
        return row.latest_at is not None
    return False


def _check_named(row: KeyRow, group: Sequence[Draft]) -> None:
    unnamed = any(
        draft.value is None and draft.kind in {EventKind.SUCCESS, EventKind.FAILURE}
        for draft in group
    )
    if row.cardinality is not Cardinality.MULTI:
        return
    if any(draft.kind is EventKind.CORRECT for draft in group):
        msg = (
            f"key {row.text!r} is multi-valued, so nothing says which value to correct; revoke "
            "the wrong one and observe the right one."
        )
        raise ValueError(msg)
    if unnamed:
        msg = f"value must be given for an outcome of the multi-valued key {row.text!r}."
        raise ValueError(msg)
