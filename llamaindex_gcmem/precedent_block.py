"""A memory block of what is known and still true, with the evidence behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr, model_validator
from llama_index.core.memory.memory import BaseMemoryBlock
from llama_index.core.utils import get_tokenizer

from gcmem import to_utc
from gcmem.memory import ScopeLike
from gcmem.precedents import PrecedentLedger, Purge
from gcmem.precedents.chat_memory import Given, OnError, PrecedentMemory, open_memory
from gcmem.precedents.evidence import EvidenceExtractor, Utterance
from gcmem.precedents.recall import shortened
from gcmem.short_term import ShortTermMemory
from llamaindex_gcmem.messages import SESSION_KEY, TIME_KEY

__all__ = ["PrecedentMemoryBlock"]


class PrecedentMemoryBlock(BaseMemoryBlock[str]):
    """Learns from the user's messages what is true, and shows it until it is revoked.

    For ``Memory.from_defaults(memory_blocks=[PrecedentMemoryBlock(ledger=...)])``. Each message is
    read for evidence once, when the memory is first asked about it: not only when it leaves the
    short-term memory, so that what the user has just said counts at once. What was read is noted
    by session in the ledger's database, so a restart changes nothing. Only Active precedents are
    shown, as data, most relevant to the user's last message first.

    ``Memory.reset()`` forgets messages and not what was learnt from them; `purge` deletes
    everything of the scope, for a privacy request.

    A `ReActAgent` drops the first system message: give it a ``system_prompt``, or the memory
    ``insert_method=InsertMethod.USER``.

    Example:
        >>> from llama_index.core.memory import Memory
        >>> block = PrecedentMemoryBlock(ledger="sqlite://", scope={"user_id": "u7"})
        >>> memory = Memory.from_defaults(session_id="s1", memory_blocks=[block])

    Raises:
        ValueError: A field is unknown or not allowed.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    name: str = Field(default="KnownFacts", description="Name of the block in the prompt.")
    ledger: PrecedentMemory | PrecedentLedger | str = Field(
        description="The ledger or its URL; or a PrecedentMemory, to share one."
    )
    extractor: Any = Field(
        default=None,
        description="An EvidenceExtractor; None: ConflictExtractor, which works offline.",
    )
    scope: Any = Field(
        default=None,
        description='Whose memory it is, such as {"user_id": "u7"}, across sessions. None: each '
        "session has its own.",
    )
    timestamp_key: str = Field(
        default=TIME_KEY, description="Key in additional_kwargs of a message's time."
    )
    max_items: int | None = Field(
        default=None, ge=1, description="How many precedents are shown at most; None: 20."
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="Tokens of the block at most; None: 1,000."
    )
    count_tokens: Callable[[str], int] | None = Field(
        default=None, description="Counts tokens; None estimates."
    )
    short_term: ShortTermMemory | None = Field(
        default=None, description="What the user says is added to it, for retrievers that share it."
    )
    show_tentative: bool | None = Field(
        default=None, description="See PrecedentMemory; None: False."
    )
    on_error: OnError | None = Field(
        default=None, description='"raise" (None) or "warn" where the extractor fails.'
    )
    _memory: PrecedentMemory = PrivateAttr()

    @model_validator(mode="after")
    def _open(self) -> Self:
        if self.extractor is not None and not isinstance(self.extractor, EvidenceExtractor):
            msg = f"extractor must have the methods extract and aextract, got {self.extractor!r}."
            raise ValueError(msg)
        self._memory = open_memory(
            self.ledger,
            self.extractor,
            max_items=self.max_items,
            max_tokens=self.max_tokens,
            count_tokens=self.count_tokens,
            short_term=self.short_term,
            show_tentative=self.show_tentative,
            on_error=self.on_error,
        )
        return self

    @property
    def memory(self) -> PrecedentMemory:
        """The memory behind the block."""
        return self._memory

    def purge(self, session_id: str | None = None) -> Purge:
        """Delete everything of the scope, or of a session that is a scope of its own."""
        return self._memory.purge(self._scope(session_id))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Read messages that leave the short-term memory, as far as they have not been read."""
        for session, said in _by_session(messages).items():
            await self._observe(said, session, "flushed")

    async def _aget(
        self,
        messages: list[ChatMessage] | None = None,
        session_id: str | None = None,
        **block_kwargs: Any,
    ) -> str:
        """Read what is new in the conversation, and write what is known after it."""
        del block_kwargs
        said = list(messages or [])
        await self._observe(said, session_id, "window")
        spoken = [message.content or "" for message in said if message.role.value == "user"]
        query = spoken[-1] if spoken else ""
        return await self._memory.arecall(query, scope=self._scope(session_id))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leave out the least relevant precedents until enough tokens are saved."""
        count = get_tokenizer()
        return shortened(content, tokens_to_truncate, lambda text: len(count(text)))

    async def _observe(
        self, messages: Sequence[ChatMessage], session: str | None, given: Given
    ) -> None:
        await self._memory.aobserve(
            [self._utterance(message) for message in messages],
            scope=self._scope(session),
            session=session or "",
            given=given,
        )

    def _scope(self, session_id: str | None) -> ScopeLike:
        if self.scope is not None:
            scope: ScopeLike = self.scope
            return dict(scope) if isinstance(scope, Mapping) else scope
        return {SESSION_KEY: session_id or ""}

    def _utterance(self, message: ChatMessage) -> Utterance:
        given = message.additional_kwargs.get(self.timestamp_key)
        at = None
        if given is not None and given != "":
            try:
                at = to_utc(given)
            except (TypeError, ValueError) as error:
                msg = f"additional_kwargs[{self.timestamp_key!r}] of a message: {error}"
                raise ValueError(msg) from error
        return Utterance(message.role.value, message.content or "", at=at)


def _by_session(messages: Sequence[ChatMessage]) -> dict[str | None, list[ChatMessage]]:
    """LlamaIndex's Memory writes the session into each message that it hands over."""
    sessions: dict[str | None, list[ChatMessage]] = {}
    for message in messages:
        sessions.setdefault(message.additional_kwargs.get(SESSION_KEY), []).append(message)
    return sessions
