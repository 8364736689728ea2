"""The chat memory on top of a ledger that every framework's adapter shares."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

from gcmem.encoder import SentenceEncoder
from gcmem.memory import ScopeLike
from gcmem.precedents.chat_log import ChatLog
from gcmem.precedents.evidence import Claim, EvidenceExtractor, Known, Utterance, record_claims
from gcmem.precedents.evidence_conflict import ConflictExtractor
from gcmem.precedents.hearing import new_in_flush, new_in_window
from gcmem.precedents.ledger import PrecedentLedger
from gcmem.precedents.precedent import Purge, Transition
from gcmem.precedents.recall import (
    RECALL_HEADER,
    approximate_tokens,
    by_relevance,
    recall_text,
    tentative,
)
from gcmem.short_term import ShortTermMemory

__all__ = ["ExtractionWarning", "Given", "OnError", "PrecedentMemory", "open_memory"]

OnError: TypeAlias = Literal["raise", "warn"]

Given: TypeAlias = Literal["window", "flushed", "new"]
"""What messages are: a conversation as it stands now, what leaves a short-term memory, or news."""

_READ: Final = frozenset({"user", "assistant"})
_ROOM_FOR_ONE: Final = 40  # tokens of the marks and a short fact


class ExtractionWarning(UserWarning):
    """Messages could not be read for evidence; they are read again with the next ones."""


class PrecedentMemory:
    """Learns from conversations what is true of a scope, and writes it for a prompt.

    Each message is read for evidence once, also after a restart: what was read is noted, by
    hashes, in the ledger's database. Only Active precedents are written, unless `show_tentative`
    is chosen; nothing Revoked ever is.

    Args:
        ledger: The ledger, or its URL.
        extractor: Finds evidence in messages; None takes `ConflictExtractor`, which works offline.
        max_items: How many precedents are written at most.
        max_tokens: Tokens of what is written, at most.
        count_tokens: Counts the tokens of a text; None estimates (`approximate_tokens`).
        encoder: Finds what is relevant; None takes the bundled one.
        short_term: What the user says is added to it, for retrievers that share it; None for none.
        show_tentative: Also write, behind the others and marked as not established, the Hypothesis
            that worked the last time it was tried, where a key has nothing Active. For an agent
            that learns from outcomes alone (see `PrecedentMemoryMiddleware`): by the policy's
            three supports it would have to hit upon what works three times unaided.
        on_error: What to do where an extractor fails: "raise" its error, or "warn" and go on
            without; the messages are then read again with the next ones.

    Raises:
        TypeError: `ledger` is neither, or `extractor` lacks a method.
        ValueError: A number or a choice is out of range.

    Example:
        >>> memory = PrecedentMemory("sqlite://")
        >>> _ = memory.observe([Utterance("user", "I live in Ulm.")], scope="user-7")
        >>> _ = memory.observe([Utterance("user", "Hi! I live in Kiel now.")], scope="user-7")
        >>> text = memory.recall("Where do I live?", scope="user-7")
        >>> "Kiel" in text, "Ulm" in text
        (True, False)
    """

    def __init__(
        self,
        ledger: PrecedentLedger | str,
        extractor: EvidenceExtractor | None = None,
        *,
        max_items: int = 20,
        max_tokens: int = 1_000,
        count_tokens: Callable[[str], int] | None = None,
        encoder: SentenceEncoder | None = None,
        short_term: ShortTermMemory | None = None,
        show_tentative: bool = False,
        on_error: OnError = "raise",
    ) -> None:
        if not isinstance(ledger, PrecedentLedger | str):
            msg = f"ledger must be a PrecedentLedger or its URL, got {ledger!r}."
            raise TypeError(msg)
        if extractor is not None and not isinstance(extractor, EvidenceExtractor):
            msg = f"extractor must have the methods extract and aextract, got {extractor!r}."
            raise TypeError(msg)
        if max_items < 1:
            msg = f"max_items must be at least 1, got {max_items!r}."
            raise ValueError(msg)
        self.count_tokens = count_tokens or approximate_tokens
        least = self.count_tokens(RECALL_HEADER) + _ROOM_FOR_ONE
        if max_tokens < least:
            msg = (
                f"max_tokens must be at least {least} (the explanation alone), got {max_tokens!r}."
            )
            raise ValueError(msg)
        if on_error not in get_args(OnError):
            msg = f"on_error must be one of {get_args(OnError)}, got {on_error!r}."
            raise ValueError(msg)
        self.ledger = PrecedentLedger(ledger) if isinstance(ledger, str) else ledger
        self.encoder = encoder or SentenceEncoder()
        self.extractor = extractor or ConflictExtractor(encoder=self.encoder)
        self.short_term = short_term
        self.show_tentative = show_tentative
        self.max_items = max_items
        self.max_tokens = max_tokens
        self.on_error = on_error
        self.log = ChatLog(self.ledger)

    def observe(
        self,
        utterances: Iterable[Utterance],
        *,
        scope: ScopeLike = (),
        session: str = "",
        given: Given = "window",
    ) -> list[Transition]:
        """Read the messages that have not been read, and tell the ledger what they say.

        Args:
            utterances: The messages, oldest first.
            scope: Whose memory it is.
            session: Names the conversation within the scope.
            given: "window": they are the conversation as it stands now, which may overlap what
                was given before and begin anywhere. "flushed": they leave a short-term memory.
                "new": none of them has been given before.

        Returns:
            The transitions that followed.
        """
        new = self._new(utterances, scope, session, given)
        if not new:
            return []
        try:
            claims = self.extractor.extract(new, Known.of(self.ledger, scope))
        except Exception as error:  # noqa: BLE001  (raised again, unless a warning was asked for)
            return self._failed(error)
        return self._record(claims, new, scope, session)

    async def aobserve(
        self,
        utterances: Iterable[Utterance],
        *,
        scope: ScopeLike = (),
        session: str = "",
        given: Given = "window",
    ) -> list[Transition]:
        """Do the same without blocking the event loop."""
        new = await asyncio.to_thread(self._new, utterances, scope, session, given)
        if not new:
            return []
        known = await asyncio.to_thread(Known.of, self.ledger, scope)
        try:
            claims = await self.extractor.aextract(new, known)
        except Exception as error:  # noqa: BLE001  (raised again, unless a warning was asked for)
            return self._failed(error)
        return await asyncio.to_thread(self._record, claims, new, scope, session)

    def recall(self, query: str = "", *, scope: ScopeLike = ()) -> str:
        """Write what is Active in a scope, most relevant to the query first, as data.

        Returns:
            A block for a system message; empty where nothing is known.
        """
        active = self.ledger.active(scope)
        relevant = by_relevance(active, query, self.encoder)
        if self.show_tentative:
            waiting = tentative(active, self.ledger.hypotheses(scope))
            relevant += by_relevance(waiting, query, self.encoder)
        return recall_text(
            relevant,
            max_items=self.max_items,
            max_tokens=self.max_tokens,
            count_tokens=self.count_tokens,
        )

    async def arecall(self, query: str = "", *, scope: ScopeLike = ()) -> str:
        """Do the same without blocking the event loop."""
        return await asyncio.to_thread(self.recall, query, scope=scope)

    def purge(self, scope: ScopeLike) -> Purge:
        """Delete everything of exactly this scope: precedents, archive, audit, stored messages.

        Short-term memory of this scope goes as well, also one that lives elsewhere.
        """
        done = self.ledger.purge(scope)
        if self.short_term is not None:
            self.short_term.clear(scope)
        return done

    def _new(
        self, utterances: Iterable[Utterance], scope: ScopeLike, session: str, given: Given
    ) -> list[Utterance]:
        readable = [said for said in utterances if said.role in _READ and said.text.strip()]
        if given not in get_args(Given):
            msg = f"given must be one of {get_args(Given)}, got {given!r}."
            raise ValueError(msg)
        new = readable
        if readable and given != "new":
            find_new = new_in_flush if given == "flushed" else new_in_window
            new = find_new(self.log.heard(scope, session), readable)
        if self.short_term is not None:
            for said in new:
                if said.role == "user":
                    self.short_term.add_message(said.text, said.at, scope=scope)
        return new

    def _record(
        self, claims: list[Claim], new: Sequence[Utterance], scope: ScopeLike, session: str
    ) -> list[Transition]:
        transitions = record_claims(self.ledger, claims, scope)
        self.log.hear(scope, session, new)
        return transitions

    def _failed(self, error: Exception) -> list[Transition]:
        if self.on_error == "raise":
            raise error
        warnings.warn(
            f"messages could not be read for evidence: {error!r}", ExtractionWarning, stacklevel=3
        )
        return []


def open_memory(
    ledger: PrecedentMemory | PrecedentLedger | str,
    extractor: EvidenceExtractor | None = None,
    **options: Any,
) -> PrecedentMemory:
    """Give the memory that an adapter works with: the one that it was given, or a new one.

    Args:
        ledger: A memory, to share it between adapters; or a ledger or its URL.
        extractor: See `PrecedentMemory`.
        **options: See `PrecedentMemory`; None is its default.

    Raises:
        TypeError: Options were given for a memory that has its own.
    """
    wanted = {name: value for name, value in options.items() if value is not None}
    if not isinstance(ledger, PrecedentMemory):
        return PrecedentMemory(ledger, extractor, **wanted)
    if extractor is not None or wanted:
        named = [*(["extractor"] if extractor is not None else []), *wanted]
        msg = f"{', '.join(named)} must be given to the PrecedentMemory itself, not beside it."
        raise TypeError(msg)
    return ledger
