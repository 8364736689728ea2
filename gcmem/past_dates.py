"""Finds dates in a question that lie before today. Pure; English."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

__all__ = ["names_past_date"]

_MONTHS: Final = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH: Final = "(?:" + "|".join(_MONTHS) + "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\\b\\.?"
_DAY: Final = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_UNIT: Final = "(?:second|minute|hour|day|week|fortnight|month|quarter|year|decade)s?"

# Years and dates; "the 2024 contract" names a thing, "in 2024" a time.
_ISO: Final = re.compile(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")
_YEAR: Final = re.compile(
    rf"(?:\b(?:in|during|of|since|until|till|before|by|from|between|around|for|after|through|to|and"
    rf"|as of|back in|early|mid|late|spring|summer|autumn|fall|winter|end of|start of)[\s-]"
    rf"|\b{_MONTH},?\s(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s)?)((?:19|20)\d{{2}})\b(?!\s[a-z]+ed?\b)",
    re.IGNORECASE,
)
_DATED_THING: Final = re.compile(  # "in the 2017 election"
    r"\b(?:in|at|during|for|of)\sthe\s(?:\w+\s)?((?:19|20)\d{2})\s\w+", re.IGNORECASE
)
_MONTH_ALONE: Final = re.compile(
    rf"\b(?:in|during|until|till|since|before|on|by|of|back in|early|late|mid)[\s-]"
    rf"(?:(?:early|late|mid)[\s-])?(?:the\s)?(?:\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?)?{_MONTH}",
    re.IGNORECASE,
)
_RELATIVE: Final = re.compile(
    rf"""
    \byesterday\b | \bago\b | \bthe\sother\sday\b | \blately\b
  | \b(?:last|past|previous)\s(?:\w+\s)?(?:night|weekend|{_UNIT}|{_DAY}|{_MONTH}|
        spring|summer|autumn|fall|winter|term|semester|season|sprint|christmas|easter)\b
  | \b(?:earlier|before)\s(?:this|that|in\sthe)\s(?:{_UNIT}|morning|evening)
  | \bthe\s(?:{_UNIT}|night|{_DAY})\sbefore\b
  | \bthis\smorning\b
  | \bin\sthe\s(?:(?:19|20)?\d0s|(?:twen|thir|for|fif|six|seven|eigh|nine)ties)\b
  | \bas\sa\s(?:child|kid|student|teenager|boy|girl)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_START_OF_PERIOD: Final = re.compile(
    rf"\bat\sthe\s(?:beginning|start)\sof\s(?:the|this|last)\s(?:{_UNIT})", re.IGNORECASE
)


def names_past_date(question: str, today: date, *, past_tense: bool) -> bool:
    """Whether a question names a time before today.

    Args:
        question: The question.
        today: Years and dates from this day on are not past.
        past_tense: Whether the question is in the past tense; then a month without a year, or the
            running year, is past as well.

    Returns:
        True for "in 2019", "on 3 May 2026", "2025-06-01", "last week", "two years ago".
    """
    if _RELATIVE.search(question) or (past_tense and _START_OF_PERIOD.search(question)):
        return True
    for match in _ISO.finditer(question):
        year, month = int(match[1]), int(match[2])
        if (year, month, int(match[3] or 1)) < (today.year, today.month, today.day):
            return True
    patterns = (_YEAR, _DATED_THING) if past_tense else (_YEAR,)
    for match in (found for pattern in patterns for found in pattern.finditer(question)):
        year = int(match[1])
        if year < today.year or (year == today.year and past_tense):
            return True
    return past_tense and _MONTH_ALONE.search(question) is not None
