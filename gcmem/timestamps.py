"""Reads every accepted form of time into an aware UTC datetime."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta
from numbers import Real
from typing import Final, Literal, TypeAlias

__all__ = ["TimeLike", "TimestampUnit", "as_of_utc", "to_epoch", "to_utc"]

TimeLike: TypeAlias = datetime | date | int | float | str
"""Time as stores hold it: datetime, date, ISO 8601 text, or a number since the epoch."""

TimestampUnit: TypeAlias = Literal["s", "ms", "us", "ns"]

_PER_SECOND: Final[dict[str, int]] = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_LARGEST_SECONDS: Final = 1e11  # the year 5138; the same number of milliseconds is March 1973
_ALLOWED: Final = "a datetime, a date, an ISO 8601 text, or a number of seconds since the epoch"


def to_utc(value: TimeLike, *, unit: TimestampUnit = "s", end_of_day: bool = False) -> datetime:
    """Read a time in any accepted form as an aware UTC datetime.

    Naive datetimes and texts without an offset are UTC. A date without a time of day is its
    midnight (UTC), or with ``end_of_day`` the midnight that ends it.

    Args:
        value: datetime, date, ISO 8601 text ("2026-03-01", "2026-03-01 09:00:00",
            "2026-03-01T09:00:00.250+02:00", "...Z"), or a number since 1970-01-01 (also as text).
        unit: What a number counts. Milliseconds are never guessed: a number too large for
            seconds is an error that says so.
        end_of_day: Read a date without a time as the end of that day.

    Returns:
        The instant, with ``tzinfo`` UTC.

    Raises:
        TypeError: The value is of another type (booleans included).
        ValueError: The text is no date, or the number is not finite or out of range.

    Example:
        >>> to_utc("2025-07-24T19:30:00-07:00").isoformat()
        '2025-07-25T02:30:00+00:00'
    """
    if unit not in _PER_SECOND:
        msg = f"unit must be one of {sorted(_PER_SECOND)}, got {unit!r}."
        raise ValueError(msg)
    if isinstance(value, datetime):
        return _aware(value)
    if isinstance(value, date):
        return _from_date(value, end_of_day=end_of_day)
    if isinstance(value, str):
        return _from_text(value, unit, end_of_day=end_of_day)
    if isinstance(value, Real) and not isinstance(value, bool):
        return _from_number(float(value), unit) if unit == "s" else _from_number(value, unit)
    if hasattr(value, "item") and not isinstance(value, bool):  # numpy scalars
        return to_utc(value.item(), unit=unit, end_of_day=end_of_day)
    msg = f"timestamp must be {_ALLOWED}, got {value!r} of type {type(value).__name__}."
    raise TypeError(msg)


def as_of_utc(as_of: TimeLike) -> datetime:
    """Read the option `as_of`, as `to_utc` reads a time; its errors name the option.

    Raises:
        TypeError: It is of another type.
        ValueError: It is no time.
    """
    try:
        return to_utc(as_of)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("timestamp", "as_of", 1)) from error


def to_epoch(value: TimeLike, *, unit: TimestampUnit = "s") -> float:
    """Give a time as float seconds since the epoch (UTC), the form that stores can range-filter."""
    return to_utc(value, unit=unit).timestamp()


def _aware(value: datetime) -> datetime:
    if value.tzinfo is None or value.utcoffset() is None:
        return value.replace(tzinfo=UTC)
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        msg = f"timestamp {value!r} is outside the years 1 to 9999 in UTC."
        raise ValueError(msg) from error


def _from_date(value: date, *, end_of_day: bool) -> datetime:
    midnight = datetime.combine(value, time(), tzinfo=UTC)
    if not end_of_day or value == date.max:
        return midnight
    return midnight + timedelta(days=1)


def _from_text(text: str, unit: TimestampUnit, *, end_of_day: bool) -> datetime:
    stripped = text.strip()
    if len(stripped) <= len("2026-W01-1"):
        try:
            return _from_date(date.fromisoformat(stripped), end_of_day=end_of_day)
        except ValueError:
            pass  # not a date alone: a number or no time at all, told apart below
    try:
        moment = datetime.fromisoformat(stripped)
    except ValueError:
        pass  # perhaps a number as text, as some stores hold it
    else:
        return _aware(moment)
    try:
        number = float(stripped)
    except ValueError:
        msg = f"timestamp must be {_ALLOWED}, got the text {text!r}."
        raise ValueError(msg) from None
    if not math.isfinite(number):
        msg = f"timestamp must be a finite number, got the text {text!r}."
        raise ValueError(msg)
    return _from_number(number, unit)


def _from_number(value: Real | float, unit: TimestampUnit) -> datetime:
    number = float(value)
    if not math.isfinite(number):
        msg = f"timestamp must be a finite number, got {value!r}."
        raise ValueError(msg)
    seconds = number / _PER_SECOND[unit]
    if abs(seconds) >= _LARGEST_SECONDS:
        msg = (
            f"timestamp {value!r} is too large for seconds since the epoch"
            f' (unit={unit!r}); if it counts milliseconds, say unit="ms" (or "us", "ns").'
        )
        raise ValueError(msg)
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError as error:
        msg = f"timestamp {value!r} is outside the years 1 to 9999."
        raise ValueError(msg) from error
