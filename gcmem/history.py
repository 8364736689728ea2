"""Recognises questions about the past, whose answers must not be collected away."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["asks_about_past"]

_PAST: Final = re.compile(
    r"\b(used to|previous(ly)?|formerly|originally|in the past|history of|"
    r"how (has|have|did) .* chang\w*)\b",
    re.IGNORECASE,
)


def asks_about_past(query: str) -> bool:
    """Whether a question asks about an earlier state instead of the present one."""
    return _PAST.search(query) is not None
