"""Checks what a caller tells the ledger and gives it the form that is recorded."""

from __future__ import annotations

import math
from typing import Final, get_args

from gcmem.memory import ScopeLike
from gcmem.precedents.entry import EventKind
from gcmem.precedents.labels import checked_text, encode_scope, to_microseconds
from gcmem.precedents.policy import LifecyclePolicy
from gcmem.precedents.precedent import Cardinality, Evidence, Observation, Outcome
from gcmem.precedents.recording import Draft
from gcmem.timestamps import TimeLike

__all__ = ["of_correction", "of_observation", "of_outcome", "to_cardinality", "to_time"]

_GUESS_AUTHORITY: Final = -1.0


def of_observation(
    policy: LifecyclePolicy, item: Observation, cardinality: Cardinality | str | None = None
) -> Draft:
    """Give an observation as evidence; what a guessing source says is a guess.

    Raises:
        TypeError: A field has another type.
        ValueError: A field is blank or not allowed.
    """
    if item.evidence is not None and item.evidence not in get_args(Evidence):
        msg = f"evidence must be one of {get_args(Evidence)}, got {item.evidence!r}."
        raise ValueError(msg)
    kind = EventKind(item.evidence or "testimony")
    if policy.guesses(_to_source(item.source)):
        kind = EventKind.GUESS
    rank = _to_authority(item.authority)
    if rank is None:
        rank = _GUESS_AUTHORITY if kind is EventKind.GUESS else 0.0
    return Draft(
        scope=encode_scope(item.scope),
        key=checked_text("key", item.key),
        kind=kind,
        value=checked_text("value", item.value),
        at=to_time(item.at),
        authority=rank,
        source=item.source,
        cardinality=None if cardinality is None else to_cardinality(cardinality),
    )


def of_outcome(policy: LifecyclePolicy, item: Outcome) -> Draft:
    """Give an outcome as evidence; a success that only a guessing source sees is a guess.

    Raises:
        TypeError: A field has another type.
        ValueError: A field is blank or not allowed.
    """
    if not isinstance(item.success, bool):
        msg = f"success must be True or False, got {item.success!r}."
        raise TypeError(msg)
    kind = EventKind.SUCCESS if item.success else EventKind.FAILURE
    rank = _to_authority(item.authority)
    if policy.guesses(_to_source(item.source)):
        kind = EventKind.GUESS if item.success else kind
        rank = _GUESS_AUTHORITY if rank is None else rank
    return Draft(
        scope=encode_scope(item.scope),
        key=checked_text("key", item.key),
        kind=kind,
        value=None if item.value is None else checked_text("value", item.value),
        at=to_time(item.at),
        authority=rank,
        source=item.source,
    )


def of_correction(
    key: str,
    value: str,
    reason: str,
    *,
    scope: ScopeLike,
    at: TimeLike | None,
    source: str | None,
    authority: float | None,
) -> Draft:
    """Give a correction by hand as evidence.

    Raises:
        TypeError: A parameter has another type.
        ValueError: A parameter is blank or not allowed.
    """
    return Draft(
        scope=encode_scope(scope),
        key=checked_text("key", key),
        kind=EventKind.CORRECT,
        value=checked_text("value", value),
        at=to_time(at),
        authority=_to_authority(authority),
        source=_to_source(source),
        detail=reason,
    )


def to_time(at: TimeLike | None) -> int | None:
    """Read the time of evidence; None stays None."""
    return None if at is None else to_microseconds("at", at)


def to_cardinality(cardinality: Cardinality | str) -> Cardinality:
    """Read a cardinality.

    Raises:
        ValueError: There is no such one.
    """
    try:
        return Cardinality(cardinality)
    except ValueError as error:
        allowed = [str(kind) for kind in Cardinality]
        msg = f"cardinality must be one of {allowed}, got {cardinality!r}."
        raise ValueError(msg) from error


def _to_source(source: str | None) -> str | None:
    return None if source is None else checked_text("source", source)


def _to_authority(authority: float | None) -> float | None:
    if authority is None:
        return None
    if isinstance(authority, bool) or not isinstance(authority, int | float):
        msg = f"authority must be a number, got {authority!r}."
        raise TypeError(msg)
    if not math.isfinite(authority):
        msg = f"authority must be finite, got {authority!r}."
        raise ValueError(msg)
    return float(authority)
