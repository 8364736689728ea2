"""Turns sessions into records for a vector store: chunks with event times and stable ids."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Final

from gcmem.sentences import split_statements
from gcmem.timestamps import TimeLike, TimestampUnit, to_utc

__all__ = ["ANCHOR_KEY", "MemoryStream", "Message", "Record"]

ANCHOR_KEY: Final = "anchor"
"""Metadata key of the event time as ISO 8601 text with its own offset: what "last week" counts
from. It is never written into the text."""

_PLAIN: Final = (str, int, float, bool)


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody said.

    Attributes:
        role: Who: "user", "assistant", ...
        text: What.
        time: When, in any form that `gcmem.to_utc` reads; None if unknown. It is never replaced by
            the time of ingestion.
        metadata: Anything else to store with it: texts, numbers and booleans.
    """

    role: str
    text: str
    time: TimeLike | None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """One chunk, ready to be stored.

    Attributes:
        id: Derived from scope, role, time and text, so that the same chunk always has the same
            one; in the form of a UUID, which some stores demand.
        text: What was said, verbatim.
        metadata: ``created_at`` (float seconds since 1970, UTC: stores can filter it by range),
            ``anchor``, ``role``, ``authority``, ``session_id``, the scope, and the message's own.
    """

    id: str
    text: str
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class MemoryStream:
    """Segments the messages of a session into chunks.

    A message is one chunk; a longer one than ``max_characters`` is cut between statements.

    Attributes:
        session: Which conversation it is, or None.
        scope: Whose memory it is, such as ``{"user_id": "u7"}``; give its keys as ``scope_keys``
            to a retriever.
        roles: Roles whose messages are remembered; None for every one.
        role_authority: Authority of a role's statements, 0 where it is not listed. By default the
            assistant cannot overrule what the user said.
        max_characters: Longest chunk; a single statement may be longer.
        timestamp_unit: What a number as a time counts: "s", "ms", "us" or "ns".

    Example:
        >>> stream = MemoryStream(session="s1", scope={"user_id": "u7"})
        >>> said = {"role": "user", "text": "I moved last week.", "time": "2026-03-02T09:00+08:00"}
        >>> record = stream.to_records([said])[0]
        >>> record.text, record.metadata["created_at"], record.metadata["anchor"]
        ('I moved last week.', 1772413200.0, '2026-03-02T09:00:00+08:00')
    """

    session: str | None = None
    scope: Mapping[str, Any] = field(default_factory=dict)
    roles: Sequence[str] | None = ("user", "assistant")
    role_authority: Mapping[str, float] = field(default_factory=lambda: {"user": 1.0})
    max_characters: int = 1000
    timestamp_unit: TimestampUnit = "s"

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            TypeError: ``roles`` is one text, or the scope is no mapping of plain values.
            ValueError: ``max_characters`` is below 1.
        """
        if self.max_characters < 1:
            msg = f"max_characters must be at least 1, got {self.max_characters!r}."
            raise ValueError(msg)
        if isinstance(self.roles, str):
            msg = f"roles must be a sequence of roles, got the text {self.roles!r}."
            raise TypeError(msg)
        if not isinstance(self.scope, Mapping):
            msg = f'scope must be a mapping such as {{"user_id": "u7"}}, got {self.scope!r}.'
            raise TypeError(msg)
        _check_plain("scope", self.scope)

    def to_records(self, messages: Iterable[Message | Mapping[str, Any]]) -> list[Record]:
        """Give the chunks of the messages, each once, in order.

        Args:
            messages: `Message` objects, or mappings with the same names: role, text, time and,
                if wanted, metadata.

        Raises:
            TypeError: A message has a wrong type or holds what stores cannot keep.
            ValueError: A time cannot be read, or a message lacks a name or has an unknown one; the
                error names the message by its position.
        """
        records: dict[str, Record] = {}
        for position, given in enumerate(messages):
            try:
                message = _message(given)
                if self.roles is None or message.role in self.roles:
                    for record in self._chunks(message):
                        records.setdefault(record.id, record)
            except (TypeError, ValueError) as error:
                msg = f"messages[{position}]: {error}"
                raise type(error)(msg) from error
        return list(records.values())

    def _chunks(self, message: Message) -> list[Record]:
        metadata: dict[str, Any] = {
            **message.metadata,
            "role": message.role,
            "authority": float(self.role_authority.get(message.role, 0.0)),
            **self.scope,
        }
        if self.session is not None:
            metadata["session_id"] = self.session
        when = ""
        if message.time is not None:
            moment = to_utc(message.time, unit=self.timestamp_unit)
            metadata["created_at"] = moment.timestamp()
            metadata[ANCHOR_KEY] = _anchor(message.time, moment)
            when = moment.isoformat()
        return [
            Record(self._id(text, when, message.role), text, dict(metadata))
            for text in self._pieces(message.text)
        ]

    def _pieces(self, text: str) -> list[str]:
        """Cut a text between statements, as late as the longest chunk allows."""
        if len(text.strip()) <= self.max_characters:
            return [text.strip()] if text.strip() else []
        pieces: list[str] = []
        begin = end = 0
        for span in split_statements(text):
            if end > begin and len(text[begin : span.end].strip()) > self.max_characters:
                pieces.append(text[begin:end].strip())
                begin = end
            end = span.end
        pieces.append(text[begin:].strip())
        return [piece for piece in pieces if piece]

    def _id(self, text: str, when: str, role: str) -> str:
        scope = sorted((str(key), str(value)) for key, value in self.scope.items())
        identity = repr((scope, role, when, text)).encode(errors="surrogatepass")
        return str(uuid.UUID(bytes=hashlib.blake2b(identity, digest_size=16).digest()))


def _message(given: Message | Mapping[str, Any]) -> Message:
    if not isinstance(given, Message):
        if not isinstance(given, Mapping):
            msg = f"a message must be a gcmem.ingestion.Message or a mapping, got {given!r}."
            raise TypeError(msg)
        allowed = [known.name for known in fields(Message)]
        missing = [name for name in allowed[:3] if name not in given]
        unknown = [name for name in given if name not in allowed]
        if missing or unknown:
            msg = (
                f"a message has the names {allowed}; missing: {missing}, unknown: {unknown} "
                "(time may be None; further facts go into metadata)."
            )
            raise ValueError(msg)
        given = Message(**given)
    for name in ("role", "text"):
        if not isinstance(getattr(given, name), str):
            msg = f"{name} must be a string, got {getattr(given, name)!r}."
            raise TypeError(msg)
    _check_plain("metadata", given.metadata)
    return given


def _check_plain(name: str, values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        if not isinstance(value, _PLAIN):
            msg = f"{name}[{key!r}] must be a text, number or boolean to be stored, got {value!r}."
            raise TypeError(msg)


def _anchor(time: TimeLike, moment: datetime) -> str:
    """The event time with the offset that it was given in: "today" is a day of that place."""
    if isinstance(time, str):
        try:
            time = datetime.fromisoformat(time.strip())
        except ValueError:
            return moment.isoformat()  # a number as text
    if isinstance(time, datetime):
        return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).isoformat()
    return moment.isoformat()
