"""Contradicted statements of the user in a list of messages. Pure: messages are never edited."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import AnyMessage, HumanMessage

from gcmem import Collection, Collector, Memory
from gcmem.mapping import MetadataMapping

__all__ = ["CLEARED_TEXT", "VisibleHistory", "ordered_by_position"]

CLEARED_TEXT: Final = "[no longer true: a later message says otherwise]"
_POSITION_KEY: Final = "gcmem_position"
_MARK: Final = "gcmem"


def ordered_by_position(collector: Collector) -> Collector:
    """Give the collector with the order in the history as its second key, where it has none.

    Messages rarely carry a time. Their order then says which is newer, as it does where two
    carry the same time; a message without a time still never beats one that has it.
    """
    if collector.tie_breaker is not None:
        return collector
    ordered = copy.copy(collector)
    ordered.tie_breaker = _POSITION_KEY
    return ordered


@dataclass(frozen=True, slots=True)
class _Part:
    """A text of a message: the whole content, or one block of it."""

    message: int
    block: int | None


class VisibleHistory:
    """The user's statements among the messages that a model is about to read.

    Args:
        messages: The history. Only texts of human messages are statements; all other messages,
            and with them every tool call and its result, stay as they are.
        mapping: Reads a message's time and the like from its ``additional_kwargs``, then from its
            ``response_metadata``.
    """

    def __init__(self, messages: Sequence[AnyMessage], mapping: MetadataMapping) -> None:
        self._messages = list(messages)
        self._parts: list[_Part] = []
        self.statements: list[Memory] = []
        for position, message in enumerate(messages):
            if not isinstance(message, HumanMessage):
                continue
            metadata = {
                **message.response_metadata,
                **message.additional_kwargs,
                _POSITION_KEY: position,
            }
            for block, text in _texts(message):
                name = message.id or f"message-{position}"
                self._parts.append(_Part(position, block))
                self.statements.append(
                    mapping.memory(text, metadata, id=name if block is None else f"{name}#{block}")
                )

    @property
    def question(self) -> str:
        """What the user said last."""
        last = self._last_position
        return "" if last is None else str(self._messages[last].text)

    def cleaned(self, collection: Collection) -> list[AnyMessage]:
        """Give the messages without what the collection removed.

        A message keeps its place: what is gone whole is replaced by `CLEARED_TEXT`, so that turns
        still alternate. What the user said last stays as it is. Messages that changed are copies
        with a mark under "gcmem" in their ``response_metadata``.
        """
        kept = dict(zip(collection.kept_indices, collection.kept, strict=True))
        removed_by = {id(shadow.memory): shadow.by for shadow in collection.shadowed}
        messages = list(self._messages)
        for index, (part, statement) in enumerate(zip(self._parts, self.statements, strict=True)):
            if part.message == self._last_position:
                continue
            if index not in kept:
                by = removed_by.get(id(statement))
                mark = {"cleared": True, "superseded_by": by.id if by else None}
                messages[part.message] = _with_text(
                    messages[part.message], part.block, CLEARED_TEXT, mark
                )
            elif kept[index].text != statement.text:
                messages[part.message] = _with_text(
                    messages[part.message], part.block, kept[index].text, {"cut": True}
                )
        return messages

    @property
    def _last_position(self) -> int | None:
        return self._parts[-1].message if self._parts else None


def _texts(message: HumanMessage) -> list[tuple[int | None, str]]:
    if isinstance(message.content, str):
        return [(None, message.content)] if message.content.strip() else []
    found: list[tuple[int | None, str]] = []
    for number, block in enumerate(message.content):
        text = block if isinstance(block, str) else _text_of(block)
        if text.strip():
            found.append((number, text))
    return found


def _text_of(block: dict[str, Any]) -> str:
    text = block.get("text")
    return text if block.get("type") == "text" and isinstance(text, str) else ""


def _with_text(
    message: AnyMessage, number: int | None, text: str, mark: dict[str, Any]
) -> AnyMessage:
    content: Any = text
    if number is not None:
        content = list(message.content)
        block = content[number]
        content[number] = text if isinstance(block, str) else {**block, "text": text}
    metadata = {**message.response_metadata, _MARK: mark}
    return message.model_copy(update={"content": content, "response_metadata": metadata})
