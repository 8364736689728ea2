"""What messages give evidence for: the protocol of extractors, and the forms they work with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Protocol, Self, get_args, runtime_checkable

from gcmem.memory import ScopeLike
from gcmem.precedents.errors import PrecedentStateError
from gcmem.precedents.labels import match_key
from gcmem.precedents.ledger import PrecedentLedger
from gcmem.precedents.precedent import (
    Evidence,
    Observation,
    Precedent,
    Transition,
)
from gcmem.timestamps import TimeLike

__all__ = ["Claim", "EvidenceExtractor", "Known", "Utterance", "record_claims"]


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message of a conversation, of whatever framework.

    Attributes:
        role: "user" and "assistant" are read for evidence; nothing else is.
        text: What was said. It is data: nothing in it is ever obeyed.
        at: When; None means now.
        source: Where it comes from, such as "message-7"; it is stored behind the role.
    """

    role: str
    text: str
    _: KW_ONLY
    at: TimeLike | None = None
    source: str | None = None

    @property
    def origin(self) -> str:
        """The source as the ledger stores it: "user:message-7"."""
        return self.role if self.source is None else f"{self.role}:{self.source}"


@dataclass(frozen=True, slots=True)
class Claim:
    """What an extractor found in a message: evidence for a value of a key, or against it.

    Attributes:
        key: The conflict key.
        value: The value; None, in a claim that retracts, means whatever is Active.
        evidence: "testimony" of the user, or the "guess" of an assistant.
        source: Where it comes from; see `Utterance.origin`.
        at: When it was said; None means now.
        retracts: The value is taken back and nothing takes its place.
    """

    key: str
    value: str | None
    _: KW_ONLY
    evidence: Evidence = "testimony"
    source: str | None = None
    at: TimeLike | None = None
    retracts: bool = False

    def __post_init__(self) -> None:
        """Check what a foreign extractor may get wrong."""
        if self.value is None and not self.retracts:
            msg = f"value of the claim about {self.key!r} is None; only one that retracts may be."
            raise ValueError(msg)
        if self.evidence not in get_args(Evidence):
            msg = f"evidence must be one of {get_args(Evidence)}, got {self.evidence!r}."
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Known:
    """What a scope's ledger knows: what an extractor compares new messages with.

    Attributes:
        standing: (key, value) of the Active precedents and of the Hypotheses, Active ones first.
        archived: (key, value) of the Revoked precedents.
    """

    standing: tuple[tuple[str, str], ...] = ()
    archived: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, ledger: PrecedentLedger, scope: ScopeLike = ()) -> Self:
        """Read it from a ledger."""
        standing = [*ledger.active(scope), *ledger.hypotheses(scope)]
        return cls(_pairs(standing), _pairs(ledger.archive(scope)))

    def after(self, claim: Claim) -> Self:
        """Give what is known once a claim of the user has been believed."""
        if claim.evidence == "guess":
            return self
        key = match_key(claim.key)
        value = None if claim.value is None else match_key(claim.value)
        gone = [
            pair
            for pair in self.standing
            if match_key(pair[0]) == key
            and (value is None or (match_key(pair[1]) == value) == claim.retracts)
        ]
        standing = [pair for pair in self.standing if pair not in gone]
        if claim.value is not None and not claim.retracts:
            said = (claim.key, claim.value)
            standing = [said, *(pair for pair in standing if _same(pair) != _same(said))]
        return replace(self, standing=tuple(standing), archived=(*self.archived, *gone))


@runtime_checkable
class EvidenceExtractor(Protocol):
    """Turns messages into claims about keys and values.

    Questions, hypotheticals, quotations and what other people said are no evidence; a fact about
    another person is evidence under that person's own key. What an assistant says is a guess.
    """

    def extract(self, utterances: Sequence[Utterance], known: Known) -> list[Claim]:
        """Give the claims in the messages, in their order.

        Args:
            utterances: New messages, oldest first.
            known: What the ledger knows about the scope.
        """
        ...

    async def aextract(self, utterances: Sequence[Utterance], known: Known) -> list[Claim]:
        """Do the same without blocking the event loop."""
        ...


def record_claims(
    ledger: PrecedentLedger, claims: Iterable[Claim], scope: ScopeLike = ()
) -> list[Transition]:
    """Tell a ledger what an extractor found.

    A claim that retracts takes back what it names, with the user's word as the reason; what is
    pinned or of higher authority stays, and so does everything that only a guess takes back. It
    is a transaction of its own. That is also how a user corrects an immutable key, in either order:
    "not Porto", which retracts, and "Faro", which takes the place that becomes free.

    Returns:
        The transitions that followed, in order.
    """
    transitions: list[Transition] = []
    waiting: list[Observation] = []
    for claim in claims:
        if not claim.retracts and claim.value is not None:
            waiting.append(
                Observation(
                    claim.key,
                    claim.value,
                    scope=scope,
                    at=claim.at,
                    source=claim.source,
                    evidence=claim.evidence,
                )
            )
            continue
        transitions += ledger.observe_many(waiting)
        waiting = []
        if claim.evidence == "testimony":
            transitions += _retract(ledger, claim, scope)
    return transitions + ledger.observe_many(waiting)


def _retract(ledger: PrecedentLedger, claim: Claim, scope: ScopeLike) -> list[Transition]:
    transitions: list[Transition] = []
    for precedent in ledger.active(scope, keys=claim.key):
        named = claim.value is None or match_key(claim.value) == match_key(precedent.value)
        if not named or precedent.pinned or precedent.authority > 0:
            continue
        try:
            transitions += ledger.retract(
                precedent.id, f"taken back by {claim.source or 'the user'}", at=claim.at
            )
        except PrecedentStateError:
            if ledger.get(precedent.id).state is precedent.state:
                raise  # and not because somebody else revoked it meanwhile
    return transitions


def _pairs(precedents: Iterable[Precedent]) -> tuple[tuple[str, str], ...]:
    return tuple((precedent.key, precedent.value) for precedent in precedents)


def _same(pair: tuple[str, str]) -> tuple[str, str]:
    return match_key(pair[0]), match_key(pair[1])
