"""The Active set as a dictionary, in front of a ledger that lives in this process alone."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from gcmem.precedents.entry import Entry
from gcmem.precedents.key_rows import KeyRow
from gcmem.precedents.precedent import Precedent
from gcmem.precedents.records import to_precedent

__all__ = ["ActiveIndex"]


class ActiveIndex:
    """Answers which precedents are Active without touching the database.

    Only right where no other process can write: the ledger uses it for "sqlite://" and updates it
    before the write that changed it is acknowledged.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._scopes: dict[str, dict[str, tuple[int, tuple[Precedent, ...]]]] = {}

    def update(self, changed: Iterable[tuple[KeyRow, Sequence[Entry]]]) -> None:
        """Take over the Active precedents of the keys that a write touched."""
        public = [(row, [to_precedent(row, entry) for entry in found]) for row, found in changed]
        with self._lock:
            for row, standing in public:
                keys = self._scopes.setdefault(row.scope, {})
                if standing:
                    keys[row.match] = (row.id, tuple(standing))
                else:
                    keys.pop(row.match, None)

    def forget(self, scope: str) -> None:
        """Drop a scope."""
        with self._lock:
            self._scopes.pop(scope, None)

    def of_key(self, scope: str, match: str) -> list[Precedent]:
        """Give the Active precedents of one key, newest value first.

        What a key holds is replaced as a whole, so to read it takes no lock.
        """
        keys = self._scopes.get(scope)
        held = None if keys is None else keys.get(match)
        return [] if held is None else list(held[1])

    def active(self, scope: str, matches: Sequence[str] | None = None) -> list[Precedent]:
        """Give the Active precedents of a scope: keys as they came, newest value first."""
        with self._lock:
            keys = self._scopes.get(scope)
            if keys is None:
                return []
            if matches is None:
                found = list(keys.values())
            else:
                found = [keys[match] for match in dict.fromkeys(matches) if match in keys]
        return [precedent for _, standing in sorted(found, key=_number) for precedent in standing]


def _number(held: tuple[int, tuple[Precedent, ...]]) -> int:
    return held[0]
