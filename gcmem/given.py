"""What a collector is given: memories that it may see, scope by scope, and what is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from gcmem.history import asks_about_past
from gcmem.memory import Memory, Scope

__all__ = ["HistoryMode", "asks_for_history", "by_scope", "checked_memories", "known_at"]

HistoryMode: TypeAlias = bool | Literal["auto"] | Callable[[str], bool]


def checked_memories(memories: Iterable[Memory]) -> list[Memory]:
    """Give the memories as a list.

    Raises:
        TypeError: One is no `Memory`.
    """
    given = list(memories)
    for position, memory in enumerate(given):
        if not isinstance(memory, Memory):
            msg = (
                f"memories[{position}] must be a gcmem.Memory, got {memory!r} of type "
                f"{type(memory).__name__}."
            )
            raise TypeError(msg)
    return given


def known_at(memories: Sequence[Memory], when: datetime | None) -> list[int]:
    """Give the positions of what was known at a time; None is now, undated memories always were."""
    return [
        position
        for position, memory in enumerate(memories)
        if when is None or memory.timestamp is None or memory.timestamp <= when
    ]


def by_scope(memories: Sequence[Memory], positions: Sequence[int]) -> list[tuple[Scope, list[int]]]:
    """Group positions by the scope of their memories, scopes in a fixed order."""
    groups: dict[Scope, list[int]] = {}
    for position in positions:
        groups.setdefault(memories[position].scope, []).append(position)
    return sorted(groups.items())


def asks_for_history(history: HistoryMode, query: str, now: datetime) -> bool:
    """Whether a question is to be answered from the past.

    Raises:
        ValueError: `history` is none of what is allowed.
    """
    if isinstance(history, bool):
        return history
    if history == "auto":
        return asks_about_past(query, today=now)
    if callable(history):
        return bool(history(query))
    msg = f'history must be True, False, "auto" or a callable, got {history!r}.'
    raise ValueError(msg)
