"""Reads keys, values, scopes and times into the forms that the storage compares."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from gcmem.memory import Scope, ScopeLike, to_scope
from gcmem.timestamps import TimeLike, to_utc

__all__ = [
    "checked_text",
    "decode_scope",
    "encode_scope",
    "forget_texts",
    "from_microseconds",
    "match_key",
    "match_of_key",
    "microseconds_now",
    "scope_digest",
    "to_microseconds",
]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_MATCH: Final = 240  # characters; index rows of PostgreSQL end at about 2,700 bytes


def checked_text(name: str, text: object) -> str:
    """Give the text as it is, if it can be stored and says anything.

    Raises:
        TypeError: It is not a string.
        ValueError: It is blank, or holds a NUL or a lone surrogate, which databases refuse.
    """
    if not isinstance(text, str):
        msg = f"{name} must be a string, got {text!r} of type {type(text).__name__}."
        raise TypeError(msg)
    if not text.strip():
        msg = f"{name} must not be blank, got {text!r}."
        raise ValueError(msg)
    if "\x00" in text:
        msg = f"{name} must not hold a NUL character, got {text!r}."
        raise ValueError(msg)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        msg = f"{name} holds a lone surrogate and is no valid Unicode text: {text!r}."
        raise ValueError(msg) from error
    return text


@lru_cache(maxsize=65_536)
def match_key(text: str) -> str:
    """Give the form under which two writings of a key or value are the same.

    Unicode NFC, case folded, runs of white space as one blank; a text too long for an index is
    cut and completed by its SHA-256.
    """
    folded = " ".join(text.split()).casefold()
    if not folded.isascii():
        folded = unicodedata.normalize("NFC", folded)
    if len(folded) <= _LONGEST_MATCH:
        return folded
    return f"{folded[:64]}#sha256:{hashlib.sha256(folded.encode()).hexdigest()}"


@lru_cache(maxsize=65_536)
def match_of_key(text: str) -> str:
    """Give the match form of a key that is asked for.

    Raises:
        ValueError: It is blank, or cannot be stored.
    """
    return match_key(checked_text("keys", text))


@lru_cache(maxsize=65_536)
def _encoded(scope: Scope) -> str:
    return json.dumps(scope, separators=(",", ":"))


def encode_scope(scope: ScopeLike) -> str:
    """Give the canonical text of a scope, in any form that `to_scope` reads."""
    if type(scope) is tuple:
        for label in scope:
            if type(label) is not str:
                break
        else:
            return _encoded(scope)
    return _encoded(to_scope(scope))


@lru_cache(maxsize=65_536)
def decode_scope(text: str) -> Scope:
    """Read back what `encode_scope` wrote."""
    return tuple(json.loads(text))


def scope_digest(scope: ScopeLike) -> str:
    """Give the SHA-256 of a scope, by which a purge is audited without naming anybody."""
    return hashlib.sha256(encode_scope(scope).encode()).hexdigest()


def to_microseconds(name: str, value: TimeLike) -> int:
    """Give a time as whole microseconds since the epoch.

    Raises:
        TypeError: The time has a type that `to_utc` cannot read.
        ValueError: The time cannot be read.
    """
    try:
        return (to_utc(value) - _EPOCH) // timedelta(microseconds=1)
    except (TypeError, ValueError) as error:
        msg = f"{name}: {error}"
        raise type(error)(msg) from error


def forget_texts() -> None:
    """Drop every text that this module remembers for speed, as a purge demands."""
    match_key.cache_clear()
    match_of_key.cache_clear()
    _encoded.cache_clear()
    decode_scope.cache_clear()


def from_microseconds(value: int) -> datetime:
    """Read back what `to_microseconds` gave."""
    return _EPOCH + timedelta(microseconds=value)


def microseconds_now() -> int:
    """Give the present as whole microseconds since the epoch."""
    return (datetime.now(UTC) - _EPOCH) // timedelta(microseconds=1)
