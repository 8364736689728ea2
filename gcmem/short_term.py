"""Short-term memory: the newest chunks of a scope, first in, first out (GC-Mem, section 4.1)."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import Any

from gcmem.memory import Memory, Scope, ScopeLike, to_scope

__all__ = ["ShortTermMemory"]


class ShortTermMemory:
    """Keeps the ``maxlen`` newest chunks of each scope, so that what was just said is a candidate.

    Safe to use from several threads.

    Args:
        maxlen: How many chunks of a scope to keep (N in the paper).

    Raises:
        ValueError: ``maxlen`` is below 1.

    Example:
        >>> recent = ShortTermMemory(2)
        >>> recent.extend(Memory(text, i, scope="u1") for i, text in enumerate("abc"))
        >>> [memory.text for memory in recent.recent("u1")]
        ['b', 'c']
    """

    def __init__(self, maxlen: int = 20) -> None:
        if maxlen < 1:
            msg = f"maxlen must be at least 1, got {maxlen!r}."
            raise ValueError(msg)
        self.maxlen = maxlen
        self._chunks: dict[Scope, deque[Memory]] = {}
        self._lock = threading.Lock()

    def add(self, memory: Memory) -> None:
        """Append a chunk to its scope; one with the same id is replaced, the oldest falls out."""
        self.extend((memory,))

    def extend(self, memories: Iterable[Memory]) -> None:
        """Append chunks in the given order."""
        given = list(memories)
        with self._lock:
            for memory in given:
                chunks = self._chunks.setdefault(memory.scope, deque(maxlen=self.maxlen))
                for old in [chunk for chunk in chunks if chunk.id == memory.id]:
                    chunks.remove(old)
                chunks.append(memory)

    def recent(self, scope: ScopeLike = ()) -> list[Memory]:
        """Give the chunks of a scope, oldest first."""
        with self._lock:
            return list(self._chunks.get(to_scope(scope), ()))

    def clear(self, scope: ScopeLike = ()) -> None:
        """Forget the chunks of a scope."""
        with self._lock:
            self._chunks.pop(to_scope(scope), None)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the lock."""
        with self._lock:
            chunks = {scope: deque(kept, self.maxlen) for scope, kept in self._chunks.items()}
        return {"maxlen": self.maxlen, "_chunks": chunks}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
