"""LangChain's messages in the form in which they are read for evidence. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from gcmem import to_utc
from gcmem.precedents.evidence import Utterance

__all__ = ["last_question", "utterances_of"]

_WRITTEN_BY: Final = "lc_source"  # marks messages that a middleware wrote, such as summaries


def utterances_of(
    messages: Iterable[BaseMessage], timestamp_key: str = "created_at"
) -> list[Utterance]:
    """Give what the user and the assistant said, oldest first.

    A human message that LangChain wrote itself (a summary of the conversation, a notification) is
    nothing that the user said, and is left out.

    Args:
        messages: The messages.
        timestamp_key: Key of a message's time in its ``additional_kwargs``, else in its
            ``response_metadata``; a message without one was said now.

    Raises:
        ValueError: The time of a message cannot be read.
    """
    said = []
    for message in messages:
        if not isinstance(message, HumanMessage | AIMessage):
            continue
        text = str(message.text)
        if not text.strip() or _WRITTEN_BY in message.additional_kwargs:
            continue
        role = "user" if isinstance(message, HumanMessage) else "assistant"
        found = {**message.response_metadata, **message.additional_kwargs}.get(timestamp_key)
        said.append(Utterance(role, text, at=_time(found, timestamp_key), source=message.id))
    return said


def last_question(messages: Sequence[BaseMessage]) -> str:
    """Give what the user said last."""
    spoken = [str(message.text) for message in messages if isinstance(message, HumanMessage)]
    return spoken[-1] if spoken else ""


def _time(found: object, key: str) -> str | None:
    if found is None or found == "":
        return None
    try:
        return to_utc(found).isoformat()  # type: ignore[arg-type]  # it says what it cannot read
    except (TypeError, ValueError) as error:
        msg = f"{key!r} of a message: {error}"
        raise ValueError(msg) from error
