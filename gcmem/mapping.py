"""Reads a `Memory` out of a framework object's text and metadata, the same way in every adapter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gcmem.memory import Memory
from gcmem.timestamps import TimeLike, TimestampUnit, to_utc

__all__ = ["MetadataMapping"]


@dataclass(frozen=True, slots=True)
class MetadataMapping:
    """Which metadata keys hold what gcmem needs.

    Attributes:
        timestamp_key: Key, or keys tried in order (event time before ingest time), of the time.
        timestamp_unit: What a number under them counts: "s", "ms", "us" or "ns".
        scope_keys: Keys that keep tenants, users or agents apart; records that lack one are
            compared only among themselves.
        source_key: Key of the document that a chunk comes from.
        version_key: Key of its version. Chunks of one version of one document never shadow each
            other; a source without a version protects nothing, since time already tells chunks of
            one ingest apart.
        slot_key: Key of the slot that a record fills ("meter"). None: a slot is read from "key"
            and "value" where both are present.
        value_key: Key of the slot's value; without it the text is the value.
        authority_key: Key of a number that ranks who said it.

    The keys "supersedes", "valid_from" and "valid_until" are always read.
    """

    timestamp_key: str | Sequence[str] = "created_at"
    timestamp_unit: TimestampUnit = "s"
    scope_keys: Sequence[str] = ()
    source_key: str = "source"
    version_key: str = "version"
    slot_key: str | None = None
    value_key: str | None = None
    authority_key: str = "authority"

    def __post_init__(self) -> None:
        """Check what cannot be checked by type.

        Raises:
            TypeError: ``scope_keys`` is one text instead of a sequence.
            ValueError: A key is empty, or ``value_key`` stands without ``slot_key``.
        """
        if not self.timestamp_keys or not all(self.timestamp_keys):
            msg = f"timestamp_key must name at least one key, got {self.timestamp_key!r}."
            raise ValueError(msg)
        if isinstance(self.scope_keys, str):
            msg = f"scope_keys must be a sequence of keys, got the text {self.scope_keys!r}."
            raise TypeError(msg)
        if self.value_key is not None and self.slot_key is None:
            msg = f"value_key={self.value_key!r} was given without slot_key."
            raise ValueError(msg)
        if self.timestamp_unit not in {"s", "ms", "us", "ns"}:
            msg = f'timestamp_unit must be "s", "ms", "us" or "ns", got {self.timestamp_unit!r}.'
            raise ValueError(msg)

    @property
    def timestamp_keys(self) -> tuple[str, ...]:
        """The time keys in the order in which they are tried."""
        if isinstance(self.timestamp_key, str):
            return (self.timestamp_key,)
        return tuple(self.timestamp_key)

    def memory(
        self,
        text: str,
        metadata: Mapping[str, Any],
        *,
        id: str | None = None,  # noqa: A002  (the name of Memory's field)
        relevance: float | None = None,
    ) -> Memory:
        """Read a memory.

        Raises:
            ValueError: A time cannot be read; the message names the record, the key and the value.
                A time that is absent or None is no error: the record is undated.
        """
        slot, value = self._slot(metadata)
        usable = relevance is not None and math.isfinite(relevance)
        try:
            return Memory(
                text,
                self._time(metadata),
                id=id,
                scope={key: metadata.get(key) for key in self.scope_keys},
                relevance=relevance if usable else None,
                key=slot,
                value=value,
                supersedes=_links(metadata.get("supersedes")),
                valid_from=self._read_time(metadata, "valid_from"),
                valid_until=self._read_time(metadata, "valid_until", end_of_day=True),
                authority=metadata.get(self.authority_key) or 0.0,
                source=self._source(metadata),
                metadata=metadata,
            )
        except (TypeError, ValueError) as error:
            msg = f"record {id!r}: {error}"
            raise ValueError(msg) from error

    def written(self, memory: Memory) -> dict[str, Any]:
        """Give metadata for a memory that no record stands behind, such as a short-term chunk.

        It holds the memory's own, and what `memory` reads of time and scope, so that a later step
        reads the same.
        """
        metadata: dict[str, Any] = dict(memory.metadata)
        for label in memory.scope:
            key, _, value = label.partition("=")
            if key in self.scope_keys:
                metadata.setdefault(key, value)
        known = any(metadata.get(key) for key in self.timestamp_keys)
        if memory.timestamp is not None and not known:
            metadata[self.timestamp_keys[0]] = memory.timestamp.isoformat()
        return metadata

    def _time(self, metadata: Mapping[str, Any]) -> TimeLike | None:
        given = (self._read_time(metadata, key) for key in self.timestamp_keys)
        return next((when for when in given if when is not None), None)

    def _read_time(
        self, metadata: Mapping[str, Any], key: str, *, end_of_day: bool = False
    ) -> TimeLike | None:
        given = metadata.get(key)
        if given is None or given == "":
            return None
        try:
            return to_utc(given, unit=self.timestamp_unit, end_of_day=end_of_day)
        except (TypeError, ValueError) as error:
            msg = f"metadata[{key!r}]: {error}"
            raise ValueError(msg) from error

    def _slot(self, metadata: Mapping[str, Any]) -> tuple[str | None, str | None]:
        if self.slot_key is None:
            key, value = metadata.get("key"), metadata.get("value")
            return (None, None) if key is None or value is None else (str(key), str(value))
        key = metadata.get(self.slot_key)
        if key is None:
            return None, None
        value = metadata.get(self.value_key) if self.value_key else None
        return f"{self.slot_key}={key}", None if value is None else str(value)

    def _source(self, metadata: Mapping[str, Any]) -> str | None:
        source, version = metadata.get(self.source_key), metadata.get(self.version_key)
        return None if source is None or version is None else f"{source}@{version}"


def _links(given: Any) -> tuple[str, ...]:
    """Read "supersedes": one id, a sequence of ids, or several separated by commas."""
    if given is None or given == "":
        return ()
    if isinstance(given, str):
        return tuple(part.strip() for part in given.split(",") if part.strip())
    if isinstance(given, int | float):
        return (str(given),)
    return tuple(str(link) for link in given)
