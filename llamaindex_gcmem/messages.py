"""Chat messages as nodes of a vector store: one node per message, with its time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.schema import TextNode

from gcmem import Memory, to_utc
from gcmem.mapping import MetadataMapping
from gcmem.short_term import ShortTermMemory

__all__ = [
    "AUTHORITY_KEY",
    "ROLE_KEY",
    "SESSION_KEY",
    "TIME_KEY",
    "MessageReader",
    "render",
]

TIME_KEY: Final = "created_at"
"""Metadata key of a message's time: seconds since 1970, UTC, as a float that stores can filter."""

ROLE_KEY: Final = "role"
SESSION_KEY: Final = "session_id"
AUTHORITY_KEY: Final = "authority"

_TICK: Final = timedelta(microseconds=1)


class MessageReader:
    """Reads messages as nodes to store, or as memories of what is being said right now.

    Args:
        mapping: Under which keys of ``additional_kwargs`` the time of a message stands.
        roles: Roles whose messages are remembered; None for every one.
        role_authority: Authority of a role's statements, 0 where it is not listed.
    """

    def __init__(
        self,
        mapping: MetadataMapping,
        *,
        roles: Sequence[str] | None,
        role_authority: Mapping[str, float],
    ) -> None:
        self._mapping = mapping
        self._roles = roles
        self._authority = dict(role_authority)

    def nodes(self, messages: Sequence[ChatMessage], scope: Mapping[str, str]) -> list[TextNode]:
        """Give one node per message that has text; the same message gives the same id.

        Raises:
            ValueError: The time of a message cannot be read.
        """
        nodes: dict[str, TextNode] = {}
        for message, when in self._timed(messages):
            metadata: dict[str, Any] = {
                TIME_KEY: when.timestamp(),
                ROLE_KEY: message.role.value,
                AUTHORITY_KEY: self._authority.get(message.role.value, 0.0),
                **scope,
            }
            session = message.additional_kwargs.get(SESSION_KEY)
            if session is not None:
                metadata.setdefault(SESSION_KEY, str(session))
            node = TextNode(
                id_=_node_id(message, when, scope),
                text=message.content or "",
                metadata=metadata,
                excluded_embed_metadata_keys=list(metadata),
                excluded_llm_metadata_keys=list(metadata),
            )
            nodes[node.id_] = node
        return list(nodes.values())

    def memories(self, messages: Sequence[ChatMessage], scope: Mapping[str, str]) -> list[Memory]:
        """Give one memory per message that has text, with ids that no stored node has.

        Raises:
            ValueError: The time of a message cannot be read.
        """
        return [
            Memory(
                message.content or "",
                when,
                id=f"live-{position}",
                scope=scope,
                authority=self._authority.get(message.role.value, 0.0),
                metadata={ROLE_KEY: message.role.value},
            )
            for position, (message, when) in enumerate(self._timed(messages))
        ]

    def fill(
        self, short_term: ShortTermMemory, messages: Sequence[ChatMessage], scope: Mapping[str, str]
    ) -> None:
        """Add what the user has said since the last call, given the conversation as it stands.

        Raises:
            ValueError: The time of a message cannot be read.
        """
        spoken = [m for m in messages if m.role.value == "user" and (m.content or "").strip()]
        for message in spoken:
            text, at = message.content or "", self._own_time(message)
            recent = short_term.recent(scope)
            held = next((memory for memory in recent if memory.text == text), None)
            if held is None or (at is not None and held.timestamp is None):
                is_new = True
            elif at is None or held.timestamp is None:  # the last message may repeat an earlier one
                is_new = message is spoken[-1] and held is not recent[-1]
            else:
                is_new = at > held.timestamp
            if is_new:
                short_term.add_message(text, at, scope=scope)

    def text(self, messages: Sequence[ChatMessage]) -> str:
        """Give the text of the messages in a row, to search with."""
        return " ".join(message.content or "" for message in messages if self._has_text(message))

    def _timed(self, messages: Sequence[ChatMessage]) -> Iterator[tuple[ChatMessage, datetime]]:
        """Give the time of each message: its own, else now, in the order of the messages."""
        now = datetime.now(UTC)
        for message in messages:
            now += _TICK
            if self._has_text(message):
                yield message, self._own_time(message) or now

    def _has_text(self, message: ChatMessage) -> bool:
        wanted = self._roles is None or message.role.value in self._roles
        return wanted and bool((message.content or "").strip())

    def _own_time(self, message: ChatMessage) -> datetime | None:
        for key in self._mapping.timestamp_keys:
            given = message.additional_kwargs.get(key)
            if given is not None and given != "":
                try:
                    return to_utc(given, unit=self._mapping.timestamp_unit)
                except (TypeError, ValueError) as error:
                    msg = f"additional_kwargs[{key!r}] of a message: {error}"
                    raise ValueError(msg) from error
        return None


def render(text: str, metadata: Mapping[str, Any]) -> str:
    """Write a stored message for a prompt: who said it, when, and what.

    A message that is kept although something newer contradicts it says so.
    """
    said = to_utc(metadata[TIME_KEY]).strftime("%Y-%m-%d %H:%M")
    outdated = " (no longer true)" if "superseded_by" in metadata else ""
    return f"{metadata[ROLE_KEY]}, {said} UTC{outdated}: {text}"


def _node_id(message: ChatMessage, when: datetime, scope: Mapping[str, str]) -> str:
    parts = (message.role.value, when.isoformat(), message.content or "", *sorted(scope.items()))
    return f"message-{hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()}"
