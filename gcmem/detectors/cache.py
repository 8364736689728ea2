"""Caches of verdicts: by detector, older text, newer text and, where it matters, query."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

__all__ = ["MemoryVerdictCache", "VerdictCache", "verdict_key"]


def verdict_key(detector: str, older: str, newer: str, query: str | None = None) -> bytes:
    """Give the key of a verdict: 16 bytes that depend on every part and hold no text."""
    digest = hashlib.blake2b(digest_size=16)
    for part in (detector, older, newer, "" if query is None else "q" + query):
        encoded = part.encode(errors="surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.digest()


class VerdictCache(Protocol):
    """Where scores are kept between calls. Both methods must be safe to call from threads."""

    def get_many(self, keys: Sequence[bytes]) -> Mapping[bytes, float]:
        """Give the scores that are known."""
        ...

    def put_many(self, scores: Mapping[bytes, float]) -> None:
        """Keep scores."""
        ...


class MemoryVerdictCache:
    """A bounded cache in memory that forgets the least recently used verdict first.

    Args:
        capacity: How many verdicts to keep (about 150 bytes each).
    """

    def __init__(self, *, capacity: int = 200_000) -> None:
        if capacity < 1:
            msg = f"capacity must be at least 1, got {capacity}."
            raise ValueError(msg)
        self._capacity = capacity
        self._scores: OrderedDict[bytes, float] = OrderedDict()
        self._lock = threading.Lock()

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, float]:
        """Give the scores that are known, and mark them as used."""
        with self._lock:
            found = {key: self._scores[key] for key in keys if key in self._scores}
            for key in found:
                self._scores.move_to_end(key)
        return found

    def put_many(self, scores: Mapping[bytes, float]) -> None:
        """Keep scores, and drop the least recently used ones beyond the capacity."""
        with self._lock:
            for key, score in scores.items():
                self._scores[key] = score
                self._scores.move_to_end(key)
            while len(self._scores) > self._capacity:
                self._scores.popitem(last=False)

    def __len__(self) -> int:
        return len(self._scores)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the lock."""
        with self._lock:
            return {"_capacity": self._capacity, "_scores": OrderedDict(self._scores)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
