"""One immutable record of what an application remembers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias

from gcmem.timestamps import TimeLike, to_utc

__all__ = ["Memory", "Scope", "ScopeLike", "to_scope"]

Scope: TypeAlias = tuple[str, ...]
"""The canonical form of a scope: who the memory belongs to (tenant, user, agent)."""

ScopeLike: TypeAlias = str | Mapping[str, object] | Iterable[object] | None


def to_scope(value: ScopeLike) -> Scope:
    """Read a scope in any accepted form as a tuple of strings.

    Args:
        value: None or ``()`` (no scope), one string, a sequence of labels (their order
            matters), or a mapping such as ``{"tenant": "acme", "user_id": 7}`` (its order does
            not matter; entries whose value is None are left out).

    Returns:
        The canonical tuple; equal scopes give equal tuples.

    Raises:
        TypeError: The value is none of these, or a label is None.
        ValueError: A key of the mapping holds "=".
    """
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Mapping):
        if bad := [key for key in value if "=" in str(key)]:
            msg = f'scope keys must not hold "=", got {bad!r}.'
            raise ValueError(msg)
        return tuple(f"{key}={value[key]}" for key in sorted(value) if value[key] is not None)
    if not isinstance(value, Iterable):
        msg = f"scope must be a string, a sequence or a mapping, got {value!r}."
        raise TypeError(msg)
    labels = tuple(value)
    if any(label is None for label in labels):
        msg = f"scope labels must not be None, got {labels!r}."
        raise TypeError(msg)
    return tuple(str(label) for label in labels)


@dataclass(frozen=True, slots=True)
class Memory:
    """One statement, note or chunk, with what is needed to decide whether it is still true.

    Attributes:
        text: What is remembered. It is data: nothing in it is ever obeyed.
        timestamp: When it became known (event time before ingest time), as an aware UTC datetime;
            None if unknown. Every form that `to_utc` reads is accepted.
        id: Identifier; derived from the content where none is given.
        scope: Tenant, user or agent it belongs to (see `to_scope`); scopes are never compared.
        relevance: The retriever's score, passed through and never used to decide.
        key: Name of the slot that it fills, if it is known ("home city of user 7").
        value: Value of the slot. A key without a value means that the text is the value.
        supersedes: Identifiers of the memories that it explicitly replaces.
        valid_from: From when it holds; before, it is kept but dominates nothing.
        valid_until: Until when it holds (a date alone: through that day); after, it is retired.
        authority: Rank of who said it; a memory never shadows one of higher authority.
        source: The document version it comes from; chunks of one source version never shadow
            each other.
        metadata: Anything else, passed through.

    Example:
        >>> memory = Memory("I live in Ulm.", "2025-03-14", id="a", scope="user-7")
        >>> memory.timestamp.year, memory.scope
        (2025, ('user-7',))
    """

    text: str
    timestamp: datetime | None = None
    _: KW_ONLY
    id: str = ""
    scope: Scope = ()
    relevance: float | None = None
    key: str | None = None
    value: str | None = None
    supersedes: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    authority: float = 0.0
    source: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __init__(
        self,
        text: str,
        timestamp: TimeLike | None = None,
        *,
        id: str | int | None = None,  # noqa: A002  (the contract's name)
        scope: ScopeLike = (),
        relevance: float | None = None,
        key: str | None = None,
        value: str | None = None,
        supersedes: Iterable[str | int] | str = (),
        valid_from: TimeLike | None = None,
        valid_until: TimeLike | None = None,
        authority: float = 0.0,
        source: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Check and normalise what is given.

        Raises:
            TypeError: A parameter has a type that cannot be read.
            ValueError: A time cannot be read, validity ends before it begins, a value stands
                without a key, or authority is not finite.
        """
        if not isinstance(text, str):
            msg = f"text must be a string, got {text!r} of type {type(text).__name__}."
            raise TypeError(msg)
        if metadata is not None and not isinstance(metadata, Mapping):
            msg = f"metadata must be a mapping, got {metadata!r}."
            raise TypeError(msg)
        if value is not None and key is None:
            msg = f"value={value!r} was given without key; name the slot that it fills."
            raise ValueError(msg)
        if not isinstance(authority, int | float) or not math.isfinite(authority):
            msg = f"authority must be a finite number, got {authority!r}."
            raise ValueError(msg)
        links = (supersedes,) if isinstance(supersedes, str) else tuple(supersedes)
        when = _read_time("timestamp", timestamp)
        begins = _read_time("valid_from", valid_from)
        ends = _read_time("valid_until", valid_until, end_of_day=True)
        if begins is not None and ends is not None and ends < begins:
            msg = f"valid_until={ends.isoformat()} lies before valid_from={begins.isoformat()}."
            raise ValueError(msg)
        own_scope = to_scope(scope)
        given = str(id) if id is not None and str(id) else _derived_id(text, when, own_scope)
        assign = object.__setattr__
        assign(self, "text", text)
        assign(self, "timestamp", when)
        assign(self, "id", given)
        assign(self, "scope", own_scope)
        assign(self, "relevance", None if relevance is None else float(relevance))
        assign(self, "key", None if key is None else str(key))
        assign(self, "value", None if value is None else str(value))
        assign(self, "supersedes", tuple(str(link) for link in links))
        assign(self, "valid_from", begins)
        assign(self, "valid_until", ends)
        assign(self, "authority", float(authority))
        assign(self, "source", None if source is None else str(source))
        assign(self, "metadata", dict(metadata or {}))

    def with_text(self, text: str) -> Memory:
        """Give a copy that says something else and is the same memory otherwise."""
        return replace(self, text=text)

    def with_metadata(self, **added: Any) -> Memory:
        """Give a copy with entries added to its metadata."""
        return replace(self, metadata={**self.metadata, **added})


def _read_time(name: str, value: TimeLike | None, *, end_of_day: bool = False) -> datetime | None:
    if value is None:
        return None
    try:
        return to_utc(value, end_of_day=end_of_day)
    except (TypeError, ValueError) as error:
        msg = f"{name}: {error}"
        raise type(error)(msg) from error


def _derived_id(text: str, when: datetime | None, scope: Scope) -> str:
    identity = "\x1f".join((text, when.isoformat() if when else "", *scope))
    digest = hashlib.blake2b(identity.encode(errors="surrogatepass"), digest_size=8)
    return f"m-{digest.hexdigest()}"
