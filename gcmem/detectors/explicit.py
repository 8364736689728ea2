"""Conflicts that metadata already decides: links, and slots with values. No model, no text."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from gcmem.detectors.base import Calibration, ScoreArray, TextPair
from gcmem.memory import Memory

__all__ = ["ExplicitDetector", "ExplicitVerdict", "normalise"]


@dataclass(frozen=True, slots=True)
class ExplicitVerdict:
    """What metadata says about a pair.

    Attributes:
        conflict: Whether the newer memory makes the older one no longer true.
        reason: The rule, for `Shadow.reason`.
    """

    conflict: bool
    reason: str


SLOT_SOURCE: Final = "slot_source"
NAMED_BY_MODEL: Final = "model"
"""What the metadata of a memory says under SLOT_SOURCE where a model named its slot."""


@dataclass(frozen=True)
class ExplicitDetector:
    """Decides a pair by links and slots alone.

    A memory that names another in ``supersedes`` replaces it. Two memories with the same ``key``
    and another ``value`` are in conflict; with the same value they are not, whatever their words
    say. A key without a value means that the text is the value. Everything else has no verdict.

    Two different keys are two slots, except where a model named one of them (`SlotAnnotator`): it
    may have named one slot twice, so the pair has no verdict.

    Args:
        multi_valued: Keys whose values add up ("speaks", "likes") and never replace each other.

    Raises:
        TypeError: `multi_valued` is a single text, or holds something that is no text.

    Example:
        >>> from gcmem import Memory
        >>> older = Memory("0412", "2026-01-31", key="meter M1")
        >>> newer = Memory("0460", "2026-02-28", key="meter M1")
        >>> ExplicitDetector().verdict(older, newer)
        ExplicitVerdict(conflict=True, reason='slot meter M1')
    """

    multi_valued: Collection[str] = field(default=())
    name: str = field(default="explicit", init=False)
    threshold: float = field(default=0.5, init=False)
    calibration: Calibration | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Refuse a single text, which would be read letter by letter."""
        keys = self.multi_valued
        if isinstance(keys, str) or not all(isinstance(key, str) for key in keys):
            msg = f"multi_valued must be a collection of keys such as ['speaks'], got {keys!r}."
            raise TypeError(msg)

    def verdict(self, older: Memory, newer: Memory) -> ExplicitVerdict | None:
        """Decide whether ``newer`` makes ``older`` no longer true; None where nothing says."""
        if older.id in newer.supersedes:
            return ExplicitVerdict(conflict=True, reason="supersedes link")
        if older.key is None or newer.key is None:
            return None
        if normalise(older.key) != normalise(newer.key):
            if named_by_model(older) or named_by_model(newer):
                return None
            return ExplicitVerdict(conflict=False, reason="different slots")
        reason = f"slot {older.key}"
        if any(normalise(older.key) == normalise(key) for key in self.multi_valued):
            return ExplicitVerdict(conflict=False, reason=reason)
        return ExplicitVerdict(conflict=_value(older) != _value(newer), reason=reason)

    def score(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        """Give no verdict (NaN) for every pair: text alone holds no explicit conflict."""
        del query
        return np.full(len(pairs), np.nan, dtype=np.float32)


def normalise(text: str) -> str:
    """Fold case, width and white space, so that equal names compare equal."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def named_by_model(memory: Memory) -> bool:
    """Whether a model named the slot of a memory."""
    return memory.metadata.get(SLOT_SOURCE) == NAMED_BY_MODEL


def _value(memory: Memory) -> str:
    return normalise(memory.text if memory.value is None else memory.value)
