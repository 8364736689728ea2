"""Recognises questions about the past, whose answers must not be collected away.

Rules over English wording, with the tense of the question and its dates. Where they cannot tell,
they lean towards the past, since that only marks outdated statements instead of removing them.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Final

from gcmem.past_dates import names_past_date
from gcmem.timestamps import TimeLike, to_utc

__all__ = ["asks_about_past"]

_IRREGULAR: Final = (
    "was|were|did|had|held|ran|lived|went|came|got|took|left|gave|kept|said|told|thought|knew|"
    "drank|drove|ate|sold|bought|built|chose|wrote|paid|spent|met|became|began|slept|taught|wore|"
    "led|made|put|set|sat|stood|grew|spoke|lost|won|quit|fell|felt|saw|sent|read|rode|flew"
)
_PAST_VERB: Final = rf"(?:{_IRREGULAR}|(?!need|feed|speed|indeed)\w{{2,}}ed)"
_PRESENT: Final = (
    r"am|is|are|isn't|aren't|do|does|don't|doesn't|will|won't|shall|should|must|can|can't|cannot|"
    r"may|might|would|could|need|needs"
)
_AUXILIARY: Final = re.compile(
    rf"(?P<past>\b(?:was|were|did|had|wasn't|weren't|didn't|hadn't)\b)"
    rf"|(?P<perfect>\b(?:has|have|hasn't|haven't)\b(?! to\b)|'ve\b)"
    rf"|(?P<present>\b(?:{_PRESENT}|(?:has|have) to)\b|(?<=\w)'s\b(?! (?:been|changed))"
    rf"|'ll\b|'re\b|'m\b)",
    re.IGNORECASE,
)
# A clause of its own with a past verb: "where I worked", "when Ana started".
_PAST_CLAUSE: Final = re.compile(
    rf"\b(?:(?i:i|we|you|he|she|it|they|who)|[A-Z][\w-]+) (?:\w+ly )?(?i:{_PAST_VERB})\b"
)
_SUBJECT_QUESTION: Final = re.compile(
    rf"^(?:and |so )?(?:who|what|which(?: (?!(?:{_PRESENT})\b)\S+){{1,3}}?) (?:\w+ly )?"
    rf"{_PAST_VERB}\b",
    re.IGNORECASE,
)
# A polite frame says nothing about the tense of the question in it.
_FRAME: Final = re.compile(
    r"^(?:please |hey |so |and )*(?:(?:can|could|would|will) (?:you|we) (?:please )?|i'd like to |"
    r"i (?:want|need) to )?(?:tell me|do you (?:know|remember)|remember|find out|look up|know|"
    r"i (?:wonder|forgot)|remind me|any idea|say)\b(?: again)?"
    r"(?=\s(?:who|what|when|where|which|how|why|if|whether|about|the|all)\b)",
    re.IGNORECASE,
)

# Wording that only looks like the past; it is taken out before the rules read the question.
_LOOKALIKES: Final = re.compile(
    r"""
    \b(?:am|is|are|was|were|be|been|being|get|gets|got|getting|become|n't)
        \s(?:\w+\s)?(?:not\s)?used\sto\b                       # is used to deploy
  | \bused\sto\s(?!(?:br|s|r|sw|cl|fl|spr|str|st)ing\b)(?:\w+ing|it|this|that|the)\b
  | \b(?:previous|former|prior|old|past|original|ex-?)\s?[\w-]+(?:\s[\w-]+)?'s\b   # former boss's
  | \b(?:of|for|at|from|with|by|to)\s(?:my|the|our|his|her|their|your)\s
        (?:previous|former|prior|old|original|ex)[\s-]\w+      # address of my former employer
  | \b(?:previous|prior)\s(?:page|step|screen|slide|chapter|section|tab|message|line|row|item)s?\b
  | \b(?:browser|browsing|order|search|chat|commit|medical|credit|call|git|art|natural)\shistory\b
  | \bhistory\s(?:teacher|class|lesson|book|museum|exam|page|tab|professor|course|degree)s?\b
  | \bas\s(?:before|usual)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# "used to" after a noun that "is" governs: "Where is the key used to sign releases?"
_PURPOSE: Final = re.compile(
    r"\b(?:[Ii]s|[Aa]re)\b(?:(?!\b(?:I|we|you|he|she|they|it|who|that)\b)[^,.;?])*"
    r"\s(?!I\b|we\b|you\b|he\b|she\b|they\b|it\b|who\b|that\b)[a-z]\w*\sused to\b"
)
_ASKS_AGAIN: Final = re.compile(
    r"\bagain\s*[?.!]*$|\b(?:did|have) (?:you|i) (?:say|tell|mention|ask|said|told)\b",
    re.IGNORECASE,
)
_NEXT_QUESTION: Final = re.compile(
    r"[?.!;]\s+|,?\s(?:and|or)\s(?=(?:who|what|where|when|which|how|why|did|was|were|is|are)\b)",
    re.IGNORECASE,
)
_HOW_TO: Final = re.compile(r"^(?:so |and )?how (?:do|can|should|could|would|to)\b", re.IGNORECASE)

# Wording that asks about the past whatever the tense.
_ALWAYS: Final = re.compile(
    r"""
    \bused\sto\b | \bdid(?:n't)?\s(?:\S+\s){1,5}?use\sto\b
  | \bhow\s(?:has|have|had|did)\b.*\b(?:chang|evolv|develop|grown?|shift|progress|var(?:y|ied))\w*
  | \bhow\b.*\b(?:changed|evolved)\b
  | \bwhat(?:\shas|\shave|'s)?\s(?:\w+\s)?changed\b
  | \bhistory\sof\s(?:my|our|the|his|her|their|your|all|(?-i:[A-Z])\w+'s)\b
  | \b(?:evolution|timeline|chronology|progression)\sof\b
  | \bover\s(?:the\s(?:years|months|weeks|course)|time)\b
  | \bback\s(?:then|when|in)\b | \bin\s(?:those|the\s(?:early|old))\sdays\b
  | \bin\s(?:my|his|her|our|their|\w+'s)\s(?:\w+\s)?(?:days|youth|childhood|teens|twenties|thirties|
        forties|fifties)\b
  | \b(?:formerly|previously|erstwhile)\b
  | \b(?:outdated|obsolete|superseded|out\sof\sdate)\b
  | ^(?:which|what|who|list)\b.*\b(?:was|were|been|got)\s(?:\w+ly\s)?
        (?:dropped|cancell?ed|abandoned|retired|replaced|removed|discontinued|revoked|withdrawn)\b
  | \b(?:which|what|who|list|name)\b.*\b(?:no\slonger|not\b.*\bany\s?more)\b
  | \bcompar\w+\b.*\b(?:last|previous|earlier|old|past|before|former|then)\b
  | \bdiffer\w*\b.*\b(?:last|previously|earlier|before|past|used\sto)\b
  | \b(?:all|else|every|each|which|what|where|how\smany)\b.*(?:\b(?:have|has)|'ve)\s
        (?:\w+\s){0,3}(?:had|owned|lived|worked|used|tried|held|served|been\s(?:on|in|at|called|all))\b
        (?!\sto\b)(?!.*\bsince\b)
  | \b(?:my|our|his|her|their|your|\w+'s)\s(?:previous|former|prior|earlier|past|ex-)[\s-]?\w+
        (?!.*\b(?:now|today|currently)\b)
  | \bthe\s(?:previous|former|prior)\sones?\b
  | \bhow\s(?:long|many\s(?:years|months|weeks|days))\s(?:did|was|were|had)\b
  | \bthere\s(?:ever\s)?a\s(?:time|point|period|moment)\swhen\b
  | \b(?:when|why|how)\sdid\b.*\b(?:stop|quit|give\sup|switch|migrate|move\saway|abandon|replace|
        leave|drop|get\srid|change|cease)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Wording that asks about the past in a question in the past tense.
_IN_PAST_TENSE: Final = re.compile(
    r"""
    \b(?:before|prior\sto|until|till|up\sto|during|throughout|while|earlier|ever|once|always)\b
  | \b(?:originally|initially|at\sfirst|first\sof\sall|to\sbegin\swith|beforehand|then|yet)\b
  | \bin\sthe\s(?:past|beginning|first\splace|meantime)\b
  | \bat\s(?:the|that|this|one|some)\s(?:time|point|stage|start|outset|beginning)\b
  | \b(?:the|my|our|his|her|their|your)\s(?:very\s)?
        (?:old|previous|former|prior|earlier|original|initial|first|past)\s\w+
  | \b(?:when|while|as\slong\sas|whilst)\s(?:i|we|he|she|it|they|you|my|our|the|(?-i:[A-Z])\w+)\b
  | \bno\slonger\b | \bany\s?more\b | \bstill\b | \balready\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BOUND: Final = re.compile(r"\b(?:before|prior to|until|till|at the time)\b", re.IGNORECASE)
# Wording that asks about the past in the present perfect: "Have I ever ...?"
_IN_PERFECT: Final = re.compile(
    r"\b(?:ever|before|so far|in the past|previously|at any time|until now|up to now|until then)\b",
    re.IGNORECASE,
)


def asks_about_past(query: str, *, today: TimeLike | None = None) -> bool:
    """Whether a question asks about an earlier state instead of the present one.

    Args:
        query: The question, in English.
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
    now = datetime.now(UTC) if today is None else to_utc(today)
    question = " ".join(query.replace("\u2019", "'").split())
    if _ASKS_AGAIN.search(question):
        return False
    return any(_is_about_past(part, now.date()) for part in _NEXT_QUESTION.split(question))


def _is_about_past(question: str, today: date) -> bool:
    """Judge one question by its wording, its tense and its dates."""
    question = _FRAME.sub("", question).strip()
    question = _LOOKALIKES.sub(" ", question)
    if _PURPOSE.search(question):
        question = question.replace("used to", " ")
    if _HOW_TO.search(question):
        return "used to" in question
    if _ALWAYS.search(question):
        return True
    tense = _tense(question)
    if tense == "perfect":
        return _IN_PERFECT.search(question) is not None
    in_past = tense == "past"
    dated = names_past_date(question, today, past_tense=in_past)
    if in_past:
        return dated or _IN_PAST_TENSE.search(question) is not None
    if tense == "unknown":
        return dated
    # "What's the address I had before Oslo?": the past stands in a clause of its own.
    clause = _PAST_CLAUSE.search(question)
    rest = question[clause.end() :] if clause else ""
    return bool(_BOUND.search(rest)) or (
        bool(rest) and names_past_date(rest, today, past_tense=True)
    )


def _tense(question: str) -> str:
    """Tell the tense of a question: that of its first auxiliary, or of a past clause in it."""
    if _SUBJECT_QUESTION.search(question):
        return "past"
    auxiliary = _AUXILIARY.search(question)
    kind = "unknown" if auxiliary is None else str(auxiliary.lastgroup)
    if kind == "past":
        return "past"
    return "past" if kind == "unknown" and _PAST_CLAUSE.search(question) else kind
