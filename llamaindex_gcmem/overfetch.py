"""Asks a retriever for more records than it shows, without touching the user's own object."""

from __future__ import annotations

import copy
import logging
from typing import Any, Final, TypeVar

from llama_index.core.base.base_retriever import BaseRetriever

__all__ = ["known_k", "widened"]

# How LlamaIndex's retrievers name the number of records that they give. Some have no property.
_SHOWN: Final = ("similarity_top_k", "_similarity_top_k", "_hybrid_top_k")
_SIZES: Final = (*_SHOWN, "_sparse_top_k")
_LOG: Final = logging.getLogger("gcmem")

AnyRetriever = TypeVar("AnyRetriever")


def known_k(retriever: object) -> int | None:
    """How many records a retriever gives, if it says so."""
    return max((size for name in _SHOWN if (size := _size(retriever, name))), default=None)


def widened(retriever: AnyRetriever, limit: int | None, *, exactly: bool = False) -> AnyRetriever:
    """Give a copy of a retriever that fetches ``limit`` records.

    Retrievers inside it (of a fusion, for example) are copied and widened with it. Whatever cannot
    be copied, or has no size to set, is used as it is.

    Args:
        retriever: The user's retriever; it is not changed.
        limit: How many records to fetch; None for what it gives.
        exactly: Whether to fetch fewer, too, where it would give more than ``limit``.
    """
    if limit is None:
        return retriever
    try:
        twin = copy.copy(retriever)
    except (TypeError, AttributeError, NotImplementedError, copy.Error) as error:
        _LOG.info(
            "%s cannot be copied (%s), so no further records can be fetched; it gives what it "
            "gives.",
            type(retriever).__name__,
            error,
        )
        return retriever
    for name in _SIZES:
        size = _size(twin, name)
        if size is not None and (exactly or size < limit):
            _set(twin, name, limit)
    for name, value in list(getattr(twin, "__dict__", {}).items()):
        inner = _inner_widened(value, limit, exactly=exactly)
        if inner is not value:
            _set(twin, name, inner)
    return twin


def _inner_widened(value: Any, limit: int, *, exactly: bool) -> Any:
    if isinstance(value, BaseRetriever):
        return widened(value, limit, exactly=exactly)
    if isinstance(value, list) and any(isinstance(item, BaseRetriever) for item in value):
        return [_inner_widened(item, limit, exactly=exactly) for item in value]
    if isinstance(value, dict) and any(isinstance(item, BaseRetriever) for item in value.values()):
        return {key: _inner_widened(item, limit, exactly=exactly) for key, item in value.items()}
    return value


def _size(retriever: object, name: str) -> int | None:
    size = getattr(retriever, name, None)
    return size if isinstance(size, int) and not isinstance(size, bool) else None


def _set(retriever: object, name: str, value: Any) -> None:
    try:
        setattr(retriever, name, value)
    except AttributeError:
        _LOG.info("%s.%s cannot be set; it stays as it is.", type(retriever).__name__, name)
