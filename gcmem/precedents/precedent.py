"""The records of the ledger: precedents, transitions, observations and open conflicts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from gcmem.memory import Scope, ScopeLike
from gcmem.timestamps import TimeLike

__all__ = [
    "Cardinality",
    "Cause",
    "Compaction",
    "OpenConflict",
    "Evidence",
    "Observation",
    "Outcome",
    "Precedent",
    "Purge",
    "State",
    "Transition",
]

Evidence: TypeAlias = Literal["testimony", "inferred", "guess"]
"""How strong a piece of evidence is: said by the user, inferred, or guessed by the assistant."""


class State(StrEnum):
    """Where a precedent stands in its life (TEPA, Lifecycle)."""

    HYPOTHESIS = "Hypothesis"
    ACTIVE = "Active"
    REVOKED = "Revoked"


class Cardinality(StrEnum):
    """How many values of a key hold at once."""

    SINGLE = "single"
    """One at a time; a newer one supersedes (the default)."""
    MULTI = "multi"
    """Any number side by side; no value contradicts another."""
    IMMUTABLE = "immutable"
    """One for ever; a later claim is kept as a Hypothesis and surfaced as a conflict.

    A mistake is set right by `PrecedentLedger.correct`, or by whoever said it by `retract`.
    """


class Cause(StrEnum):
    """Why a transition happened."""

    OBSERVED = "observed"
    """First evidence of the value."""
    TESTIMONY = "testimony"
    """The user said so."""
    PROMOTED = "promoted"
    """Enough inferred support: theta_propose and theta_promote."""
    TRIAL_PASSED = "trial_passed"
    WRITTEN = "written"
    """The policy makes every success Active at once (baselines)."""
    SUPERSEDED = "superseded"
    """Another value of the same key took its place."""
    POSTERIOR = "posterior"
    """The posterior mean fell below theta_revoke after n_min observations."""
    RECENT_OUTCOMES = "recent_outcomes"
    """The recent success rate fell below theta_recent over at least n_recent outcomes."""
    FAILURE = "failure"
    """One failure was enough (the reactive baseline)."""
    LEFT_WINDOW = "left_window"
    """It is no longer among the last n pieces of evidence (the sliding-window baseline)."""
    IMMUTABLE = "immutable"
    """Kept beside the Active value of an immutable key."""
    PINNED = "pinned"
    """Kept beside a pinned Active value."""
    AUTHORITY = "authority"
    """Kept beside an Active value of higher authority."""
    WEAKER_EVIDENCE = "weaker_evidence"
    """Kept beside what the user said; inference alone does not unsay it."""
    GUESS = "guess"
    """Said by the assistant alone; repetition never makes it Active."""
    REVOKED_BY_HAND = "revoked_by_hand"
    RETRACTED = "retracted"
    """Whoever said it took it back."""
    CORRECTED = "corrected"
    """A person put another value in its place, or this value in the place of another."""
    RESTORED = "restored"
    PIN = "pin"
    UNPIN = "unpin"
    RESET = "reset"
    """An oracle reset (benchmarks)."""
    LATE_EVIDENCE = "late_evidence"
    """Evidence arrived that is older than what was known; the key was decided again."""
    COMPACTED = "compacted"
    """The evidence that led to it was compacted."""
    REDEFINED = "redefined"
    """The cardinality of the key changed; the key was decided again."""


@dataclass(frozen=True, slots=True)
class Precedent:
    """One value of one key in one scope, with the evidence for and against it.

    Attributes:
        id: Identifier within the ledger; never used again, not even after a purge.
        scope: Whose precedent it is.
        key: The conflict key, as first written.
        value: The value, as first written.
        support: Number of observations of the value, the first included.
        conflict: Number of pieces of evidence against it that were strong enough to count.
        state: Hypothesis, Active or Revoked.
        created_at: Time of its earliest evidence; a later restatement never moves it.
        updated_at: Time of the latest evidence or decision about it.
        recent: The last outcomes since it was last revoked or restated, oldest first.
        pinned: No evidence revokes it.
        authority: The highest authority that supports it now.

    Example:
        >>> from gcmem.precedents import PrecedentLedger
        >>> with PrecedentLedger("sqlite://") as ledger:
        ...     _ = ledger.observe("home city", "Kiel", at="2026-03-01")
        ...     precedent = ledger.active()[0]
        >>> precedent.value, precedent.support, str(precedent.state)
        ('Kiel', 1, 'Active')
    """

    id: str
    scope: Scope
    key: str
    value: str
    support: int
    conflict: int
    state: State
    created_at: datetime
    updated_at: datetime
    recent: tuple[bool, ...] = ()
    _: KW_ONLY
    pinned: bool = False
    authority: float = 0.0


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of the audit trail: what happened to a precedent, when, and why.

    Attributes:
        precedent_id: Which precedent.
        scope: Whose it is.
        key: Its key.
        value: Its value.
        before: State before; None where the precedent is new.
        after: State after.
        at: Time of the evidence or of the decision.
        cause: The rule that fired.
        reason: The same as a sentence, with the figures.
        support: Support after the transition.
        conflict: OpenConflict after the transition.
    """

    precedent_id: str
    scope: Scope
    key: str
    value: str
    before: State | None
    after: State
    at: datetime
    cause: Cause
    reason: str
    support: int
    conflict: int


@dataclass(frozen=True, slots=True)
class Observation:
    """One item for `PrecedentLedger.observe_many`; its fields are those of `observe`.

    Attributes:
        key: The conflict key.
        value: The value that was observed.
        scope: Whose it is.
        at: When it was observed; None means now, after everything that is known.
        source: Where it comes from, such as "user" or "assistant:message-7".
        evidence: "testimony", "inferred" or "guess"; None lets the policy decide.
        authority: Rank of the source; None lets the policy decide.
    """

    key: str
    value: str
    _: KW_ONLY
    scope: ScopeLike = ()
    at: TimeLike | None = None
    source: str | None = None
    evidence: Evidence | None = None
    authority: float | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """One item for `PrecedentLedger.outcome_many`; its fields are those of `outcome`.

    Attributes:
        key: The conflict key.
        success: Whether acting on the value worked.
        value: The value that was acted on; None means the one that was Active at that time.
        scope: Whose it is.
        at: When it happened; None means now, after everything that is known.
        source: Where it comes from, such as "tool:call-7".
        authority: Rank of the source; None ranks a failure with what it is about.
    """

    key: str
    success: bool
    _: KW_ONLY
    value: str | None = None
    scope: ScopeLike = ()
    at: TimeLike | None = None
    source: str | None = None
    authority: float | None = None


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """A contradiction that the ledger keeps open because no rule may decide it.

    Attributes:
        key: The key.
        active: The value that stands.
        challenger: The Hypothesis that says otherwise.
        cause: Why it did not take over.
        reason: The same as a sentence.
    """

    key: str
    active: Precedent
    challenger: Precedent
    cause: Cause
    reason: str


@dataclass(frozen=True, slots=True)
class Purge:
    """The audit row of a privacy request; it holds no content.

    Attributes:
        at: When the scope was purged.
        scope_digest: SHA-256 of the canonical scope, so that the request can be proved.
        precedents: Number of precedents removed.
        observations: Number of pieces of evidence removed.
        transitions: Number of audit rows removed.
        messages: Number of stored chat messages removed.
        chunks: Number of chunks of short-term memory removed.
    """

    at: datetime
    scope_digest: str
    precedents: int
    observations: int
    transitions: int
    messages: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class Compaction:
    """The audit row of a compaction.

    Attributes:
        at: When evidence was compacted.
        before: The evidence that was dated before this was.
        scope_digest: SHA-256 of the scope that it was asked for; None: of every scope.
        keys: Number of keys with evidence compacted.
        observations: Number of pieces of evidence that they no longer hold one by one.
    """

    at: datetime
    before: datetime
    scope_digest: str | None
    keys: int
    observations: int
