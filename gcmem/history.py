"""Recognises questions about the past, whose answers must not be collected away.

Rules over English wording (`gcmem.past_wording`), the tense of the question, and its dates. Where
they cannot tell, they lean towards the past, since that only marks outdated statements instead of
removing them.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Final

from gcmem import past_wording as wording
from gcmem.past_dates import names_past_date
from gcmem.timestamps import TimeLike, to_utc

__all__ = ["asks_about_past"]

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")
_LONGEST: Final = 400  # characters of one sentence that are read


def asks_about_past(query: str, *, today: TimeLike | None = None) -> bool:
    """Whether a question asks about an earlier state instead of the present one.

    Args:
        query: The question, in English. Of a text with questions in it only those are read.
        today: The day from which years and dates count as past; None is now.

    Returns:
        True for "Where did I live before Kiel?" or "What was the price in 2023?"; False for
        "What do I need before the meeting?" or "What was the price again?".

    Raises:
        TypeError: ``today`` has a type that is no time.
        ValueError: ``today`` cannot be read as a time.

    Example:
        >>> asks_about_past("Where did Elena use to work?"), asks_about_past("Where is Elena?")
        (True, False)
    """
    day = (datetime.now(UTC) if today is None else to_utc(today)).date()
    text = " ".join(query.replace("\u2019", "'").split())
    sentences = _SENTENCE_END.split(text)
    questions = [sentence for sentence in sentences if sentence.endswith("?")] or sentences
    return any(
        _is_about_past(part, day)
        for question in questions
        for part in wording.NEXT_QUESTION.split(question[-_LONGEST:])
    )


def _is_about_past(part: str, today: date) -> bool:
    """Judge one question by its wording, its tense and its dates."""
    question = wording.FRAME.sub("", part).strip().removeprefix("that ")
    if leading := wording.LEADING_TIME.match(question):  # moved behind, so that the verb is first
        question = f"{question[leading.end() :].rstrip('?. ')} {leading[1]}?"
    tense = _tense(question)
    question = wording.LOOKALIKE.sub(" ", question)
    if tense != "past":
        question = wording.ATTRIBUTE_OF_FORMER.sub(" ", question)
    if wording.PURPOSE.search(question):
        question = question.replace("used to", " ")
    if wording.HOW_TO.search(question):
        return "used to" in question
    if wording.WHATEVER_TENSE.search(question):
        return True
    if wording.ASKS_AGAIN.search(question):
        return False
    if tense == "perfect":
        return wording.IN_PERFECT.search(question) is not None
    dated = names_past_date(question, today, past_tense=tense == "past")
    if tense == "past":
        return dated or wording.IN_PAST_TENSE.search(question) is not None
    return dated if tense == "unknown" else _has_past_clause(question, today)


def _tense(question: str) -> str:
    """Tell the tense of a question: that of its first auxiliary, or of a past clause in it."""
    if wording.SUBJECT_QUESTION.search(question):
        return "past"
    auxiliary = wording.AUXILIARY.search(question)
    if auxiliary is not None:
        return str(auxiliary.lastgroup)
    return "past" if wording.PAST_CLAUSE.search(question) else "unknown"


def _has_past_clause(question: str, today: date) -> bool:
    """Whether a question in the present is about a time in a clause of its own.

    "What's the address I had before Oslo?", "What is the flat like that we rented in 2019?"
    """
    clause = wording.PAST_CLAUSE.search(question)
    if clause is None:
        return False
    rest = question[clause.end() :]
    return wording.UNTIL_A_CHANGE.search(rest) is not None or names_past_date(
        rest, today, past_tense=True
    )
