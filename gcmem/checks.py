"""Checks of option values that several classes share."""

from __future__ import annotations

__all__ = ["whole_number"]


def whole_number(name: str, value: object, *, least: int) -> int:
    """Check that an option is a whole number of at least some size, and give it back.

    Raises:
        TypeError: It is no whole number; True and 2.0 are none either.
        ValueError: It is too small.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        msg = f"{name} must be a whole number of at least {least}, got {value!r}."
        raise TypeError(msg)
    if value < least:
        msg = f"{name} must be at least {least}, got {value!r}."
        raise ValueError(msg)
    return value
