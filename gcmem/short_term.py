"""Short-term memory: the newest chunks of a scope, first in, first out (GC-Mem, section 4.1)."""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gcmem.memory import Memory, Scope, ScopeLike, to_scope
from gcmem.timestamps import TimeLike

if TYPE_CHECKING:
    from gcmem.stored_chunks import StoredChunks

__all__ = ["ShortTermMemory"]


class ShortTermMemory:
    """Keeps the ``maxlen`` newest chunks of each scope, so that what was just said is a candidate.

    Safe to use from several threads; with a database, from several processes as well. Fill it by
    hand, or give it to a chat memory as ``short_term``, which adds what the user says; give it to
    a retriever as ``short_term`` to have it judged with what is retrieved.

    Args:
        maxlen: How many chunks of a scope to keep (N in the paper).
        url: Where to keep them: None for this process's memory, or a URL as for
            `gcmem.PrecedentLedger` ("sqlite:///memory.db", "postgresql+psycopg://..."), whose
            database may be the same. Metadata is stored as JSON there (a tuple comes back as a
            list). `clear` erases it, and so does `gcmem.PrecedentLedger.purge`.

    Raises:
        ValueError: ``maxlen`` is below 1, or the URL cannot be read.
        LedgerFileError: The file is damaged, foreign, newer, or cannot be created.

    Example:
        >>> from gcmem import Memory, ShortTermMemory
        >>> recent = ShortTermMemory(2)
        >>> recent.extend(Memory(text, i, scope="u1") for i, text in enumerate("abc"))
        >>> [memory.text for memory in recent.recent("u1")]
        ['b', 'c']
    """

    def __init__(self, maxlen: int = 20, *, url: str | None = None) -> None:
        if maxlen < 1:
            msg = f"maxlen must be at least 1, got {maxlen!r}."
            raise ValueError(msg)
        self.maxlen = maxlen
        self.url = url
        self._stored = None if url is None else _open(url, maxlen)
        self._chunks: dict[Scope, deque[Memory]] = {}
        self._lock = threading.Lock()

    def add(self, memory: Memory) -> None:
        """Append a chunk to its scope; one with the same id is replaced, the oldest falls out."""
        self.extend((memory,))

    def extend(self, memories: Iterable[Memory]) -> None:
        """Append chunks in the given order.

        Raises:
            TypeError: Chunks are kept in a database, and metadata holds what JSON cannot.
            LedgerBusyError: Other writers held the database too long; nothing was added.
        """
        given = list(memories)
        if self._stored is not None:
            self._stored.extend(given)
            return
        with self._lock:
            for memory in given:
                chunks = self._chunks.setdefault(memory.scope, deque(maxlen=self.maxlen))
                for old in [chunk for chunk in chunks if chunk.id == memory.id]:
                    chunks.remove(old)
                chunks.append(memory)

    def add_message(
        self,
        text: str,
        at: TimeLike | None = None,
        *,
        role: str = "user",
        scope: ScopeLike = (),
        authority: float = 1.0,
    ) -> None:
        """Append what somebody said, as the chat memories do.

        The same words of the same role in a scope are the same chunk, said anew.

        Args:
            text: What was said.
            at: When; None is now.
            role: Who said it; kept under "role" in the metadata.
            scope: Whose conversation it is.
            authority: Rank of who said it, by default that which `gcmem.MemoryStream` and the chat
                memories give the user.
        """
        own_scope = to_scope(scope)
        identity = repr((own_scope, role, " ".join(text.split()))).encode(errors="surrogatepass")
        memory = Memory(
            text,
            datetime.now(UTC) if at is None else at,
            id=f"said-{hashlib.blake2b(identity, digest_size=8).hexdigest()}",
            scope=own_scope,
            authority=authority,
            metadata={"role": role},
        )
        self.add(memory)

    def recent(self, scope: ScopeLike = ()) -> list[Memory]:
        """Give the chunks of a scope, oldest first."""
        if self._stored is not None:
            return self._stored.recent(to_scope(scope))
        with self._lock:
            return list(self._chunks.get(to_scope(scope), ()))

    def clear(self, scope: ScopeLike = ()) -> None:
        """Forget the chunks of a scope."""
        if self._stored is not None:
            self._stored.clear(to_scope(scope))
            return
        with self._lock:
            self._chunks.pop(to_scope(scope), None)

    def close(self) -> None:
        """Give the connections to a database back; without one this does nothing."""
        if self._stored is not None:
            self._stored.close()

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the lock; chunks in a database stay there and are shared.

        Raises:
            TypeError: The database is "sqlite://", which nothing outside this process can see.
        """
        if self._stored is not None and self._stored.in_memory:
            msg = f"short-term memory at {self.url!r} lives in this process and cannot be pickled."
            raise TypeError(msg)
        with self._lock:
            chunks = {scope: deque(kept, self.maxlen) for scope, kept in self._chunks.items()}
        return {"maxlen": self.maxlen, "url": self.url, "_chunks": chunks}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._stored = None if self.url is None else _open(self.url, self.maxlen)
        self._lock = threading.Lock()


def _open(url: str, maxlen: int) -> StoredChunks:
    from gcmem.stored_chunks import StoredChunks  # noqa: PLC0415  (keeps `import gcmem` light)

    return StoredChunks(url, maxlen)
