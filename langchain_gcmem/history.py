"""Chat history with a memory of precedents, for chains on RunnableWithMessageHistory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Final

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import (
    BaseMessage,
    SystemMessage,
    message_to_dict,
    messages_from_dict,
)
from typing_extensions import override

from gcmem.memory import ScopeLike
from gcmem.precedents import PrecedentLedger, Purge, Transition
from gcmem.precedents.chat_memory import OnError, PrecedentMemory, open_memory
from gcmem.precedents.evidence import EvidenceExtractor
from gcmem.precedents.labels import checked_text
from gcmem.short_term import ShortTermMemory
from langchain_gcmem.utterances import last_question, utterances_of

__all__ = ["PrecedentChatMessageHistory"]

_NOTHING_KNOWN: Final = "Nothing is known from earlier conversations."


class PrecedentChatMessageHistory(BaseChatMessageHistory):
    """The messages of a session, led by what is known and still true of its user.

    For existing chains: LangChain has deprecated this base class and RunnableWithMessageHistory
    (removal in 2.0); new code takes `PrecedentMemoryMiddleware`.

    `messages` begins with one system message that holds the Active precedents as data. A chain
    adds its input only after its answer, so what the user says in a turn is in that block from
    the next turn on.

    `clear` forgets the messages of the session and nothing else: what was learnt from them stays.
    `forget` revokes what is known under a key (it stays in the archive and can be restored).
    `purge` deletes everything of the scope, for a privacy request.

    Args:
        ledger: A `PrecedentLedger` or its URL, or a `PrecedentMemory`. A factory of sessions
            should be given an open one, so that not every call opens the database.
        session_id: Names the conversation.
        scope: Whose memory it is; it spans the sessions.
        extractor: Finds evidence in messages; None takes `ConflictExtractor`.
        delegate: Where the messages are kept; None: in the ledger's database.
        include_facts: Whether `messages` begins with what is known.
        timestamp_key: Where messages carry their time, see `GCMemMiddleware`.
        max_items: How many precedents are shown at most (None: 20).
        max_tokens: Tokens of the block at most (None: 1,000).
        count_tokens: Counts tokens; None estimates.
        short_term: What the user says is added to it, for retrievers that share it.
        show_tentative: See `PrecedentMemory` (None: False).
        on_error: "raise" or "warn" where the extractor fails (None: "raise").

    Raises:
        TypeError: A parameter has another type.
        ValueError: A parameter is blank or out of range.

    Example:
        >>> from langchain_core.messages import AIMessage, HumanMessage
        >>> memory = PrecedentMemory("sqlite://")  # "sqlite:///memory.db" for a file
        >>> history = PrecedentChatMessageHistory(memory, "session 1", scope="u7")
        >>> history.add_messages([HumanMessage("I moved to Kiel."), AIMessage("Noted.")])
        >>> later = PrecedentChatMessageHistory(memory, "session 2", scope="u7")
        >>> "Kiel" in later.messages[0].content
        True
    """

    def __init__(
        self,
        ledger: PrecedentMemory | PrecedentLedger | str,
        session_id: str,
        *,
        scope: ScopeLike = (),
        extractor: EvidenceExtractor | None = None,
        delegate: BaseChatMessageHistory | None = None,
        include_facts: bool = True,
        timestamp_key: str = "created_at",
        max_items: int | None = None,
        max_tokens: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
        short_term: ShortTermMemory | None = None,
        show_tentative: bool | None = None,
        on_error: OnError | None = None,
    ) -> None:
        super().__init__()
        self.memory = open_memory(
            ledger,
            extractor,
            max_items=max_items,
            max_tokens=max_tokens,
            count_tokens=count_tokens,
            short_term=short_term,
            show_tentative=show_tentative,
            on_error=on_error,
        )
        self.session_id = checked_text("session_id", session_id)
        self.scope = scope
        self.delegate = delegate
        self.include_facts = include_facts
        self.timestamp_key = timestamp_key

    @property
    def stored(self) -> list[BaseMessage]:
        """The messages of the session alone."""
        if self.delegate is not None:
            return list(self.delegate.messages)
        found = self.memory.log.messages(self.scope, self.session_id)
        return messages_from_dict([json.loads(content) for content in found])

    @property
    @override
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # declared as a field
        """What is known, as one system message, then the messages of the session.

        The system message is there even where nothing is known: RunnableWithMessageHistory counts
        the messages again after a run to find which are new.
        """
        stored = self.stored
        if not self.include_facts:
            return stored
        facts = self.memory.recall(last_question(stored), scope=self.scope)
        return [SystemMessage(facts or _NOTHING_KNOWN), *stored]

    @override
    async def aget_messages(self) -> list[BaseMessage]:
        """Give `messages` without blocking the event loop."""
        return await asyncio.to_thread(lambda: self.messages)

    @override
    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Store messages and read the user's for evidence."""
        self._store(messages)
        said = utterances_of(messages, self.timestamp_key)
        self.memory.observe(said, scope=self.scope, session=self.session_id, given="new")

    @override
    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Store messages and read the user's for evidence, without blocking the event loop."""
        if self.delegate is not None:
            await self.delegate.aadd_messages(messages)
        else:
            await asyncio.to_thread(self._store, messages)
        said = utterances_of(messages, self.timestamp_key)
        await self.memory.aobserve(said, scope=self.scope, session=self.session_id, given="new")

    @override
    def clear(self) -> None:
        """Forget the messages of the session; what was learnt from them stays."""
        if self.delegate is not None:
            self.delegate.clear()
        self.memory.log.clear(self.scope, self.session_id)

    @override
    async def aclear(self) -> None:
        """Do the same without blocking the event loop."""
        if self.delegate is not None:
            await self.delegate.aclear()
        await asyncio.to_thread(self.memory.log.clear, self.scope, self.session_id)

    def forget(self, key: str, reason: str = "the user asked to forget it") -> list[Transition]:
        """Revoke what is Active under a key; it stays in the archive."""
        ledger = self.memory.ledger
        return [
            transition
            for precedent in ledger.active(self.scope, keys=key)
            for transition in ledger.revoke(precedent.id, reason)
        ]

    def purge(self) -> Purge:
        """Delete everything of the scope from the ledger's database, and clear the delegate.

        A delegate holds other sessions of the user apart; clear those yourself.
        """
        if self.delegate is not None:
            self.delegate.clear()
        return self.memory.purge(self.scope)

    def _store(self, messages: Sequence[BaseMessage]) -> None:
        if self.delegate is not None:
            self.delegate.add_messages(messages)
            return
        rows = [json.dumps(message_to_dict(message)) for message in messages]
        self.memory.log.add(self.scope, self.session_id, rows)
