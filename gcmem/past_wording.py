"""The English wording by which a question about the past is recognised, and what resembles it."""

from __future__ import annotations

import re
from typing import Final

__all__ = [
    "ASKS_AGAIN",
    "ATTRIBUTE_OF_FORMER",
    "AUXILIARY",
    "FRAME",
    "HOW_TO",
    "IN_PAST_TENSE",
    "IN_PERFECT",
    "LEADING_TIME",
    "LOOKALIKE",
    "NEXT_QUESTION",
    "PAST_CLAUSE",
    "PURPOSE",
    "SUBJECT_QUESTION",
    "UNTIL_A_CHANGE",
    "WHATEVER_TENSE",
]

_IRREGULAR: Final = (
    "was|were|did|had|held|ran|lived|went|came|got|took|left|gave|kept|said|told|thought|knew|"
    "drank|drove|ate|sold|bought|built|chose|wrote|paid|spent|met|became|began|slept|taught|wore|"
    "led|made|put|set|sat|stood|grew|spoke|lost|won|quit|fell|felt|saw|sent|read|rode|flew|swam|"
    "sang|shut|sought|swore|threw|understood|broke|brought|caught|cut|dealt|did|drew|forgot|hid"
)
_PAST_VERB: Final = rf"(?:{_IRREGULAR}|(?!need|feed|speed|indeed)\w{{2,}}ed)"
_PRESENT: Final = (
    r"am|is|are|isn't|aren't|do|does|don't|doesn't|will|won't|shall|should|must|can|can't|cannot|"
    r"may|might|would|could|need|needs|(?:has|have) to"
)
_ENDED: Final = (
    r"(?:drop|cancel|abandon|retire|replace|remove|discontinue|revoke|withdraw|retract|delete|sell|"
    r"quit|stop|outgrow|scrap|repeal|dropped|cancell?ed|abandoned|retired|replaced|removed|"
    r"discontinued|revoked|withdrawn|retracted|deleted|sold|stopped|outgrown|scrapped|repealed|"
    r"(?:give|gave|given)\sup|(?:get|got|gotten)\srid)"
)
_CHANGED: Final = r"(?:changed?|evolved?|shift(?:ed)?|develop(?:ed)?|grown?|progress(?:ed)?|varied)"
_FORMER: Final = r"(?:previous|former|prior|earlier|past|ex-)"
_WHOSE: Final = r"(?:my|our|his|her|their|your)"
_NAME: Final = r"(?-i:[A-Z])[\w-]+"
_WORDY: Final = re.IGNORECASE | re.VERBOSE

AUXILIARY: Final = re.compile(
    rf"(?P<past>\b(?:was|were|did|had|wasn't|weren't|didn't|hadn't)\b)"
    rf"|(?P<present>\b(?:{_PRESENT})\b|(?<=\w)'s\b(?! (?:been|changed))|'ll\b|'re\b|'m\b)"
    rf"|(?P<perfect>\b(?:has|have|hasn't|haven't)\b|'ve\b|'s\b)",
    re.IGNORECASE,
)
"""An auxiliary verb; the name of the group that matched is its tense."""

PAST_CLAUSE: Final = re.compile(
    rf"\b(?:(?:i|we|you|he|she|it|they|who)|{_NAME})\s(?:\w+ly\s)?{_PAST_VERB}\b", re.IGNORECASE
)
"""A subject and its past verb: "(the flat that) we rented"."""

SUBJECT_QUESTION: Final = re.compile(
    rf"^(?:and |so |but )?(?:who|what|which(?: (?!(?:{_PRESENT})\b)\S+){{1,3}}?) (?:\w+ly )?"
    rf"{_PAST_VERB}\b",
    re.IGNORECASE,
)
"""A question whose subject is asked for: "Who ran the project?"."""

FRAME: Final = re.compile(
    r"""^(?:please\s|hey\s|so\s|and\s|but\s)*
    (?:(?:can|could|would|will)\s(?:you|we)\s(?:please\s)?|i'd\slike\sto\s|i\s(?:want|need)\sto\s)?
    (?:tell\sme|do\syou\s(?:know|remember)|remember|find\sout|look\sup|know|remind\sme|any\sidea|
       i\s(?:wonder|forgot)|is\sit\strue|say)\b(?:\sagain)?
    (?=\s(?:who|what|when|where|which|how|why|if|whether|that|about|the|all)\b)""",
    _WORDY,
)
"""A polite frame, which says nothing about the tense of the question in it."""

LEADING_TIME: Final = re.compile(
    r"^((?:in|on|at|before|after|during|as|until|by|while|when|back)\b[^,?]{1,80}),\s(?=\w)",
    re.IGNORECASE,
)
"""A time in front of the question: "In 2020, what car did we own?"."""

NEXT_QUESTION: Final = re.compile(
    r"[;:]\s+|,?\s(?:and|or|but)\s(?=(?:who|what|where|when|which|how|why|did|was|were|is|are)\b)",
    re.IGNORECASE,
)
"""Where one question ends and another begins in one sentence."""

HOW_TO: Final = re.compile(
    r"^(?:so |and |but )?how (?:do|can|should|could|would|to)\b", re.IGNORECASE
)
"""A question for instructions: "How do I restore the previous version?"."""

ASKS_AGAIN: Final = re.compile(
    r"\bagain\b\W*(?:please\W*)?$"
    r"|\b(?:did|have) (?:you|i) (?:say|tell|mention|ask|said|told|mentioned|asked)\b",
    re.IGNORECASE,
)
"""The past tense of somebody who forgot: "What was the new price again?"."""

LOOKALIKE: Final = re.compile(
    r"""
    \b(?:am|is|are|was|were|be|been|being|get|gets|got|getting|become|n't)
        \s(?:\w+\s)?(?:not\s)?used\sto\b                                # is used to deploy
  | \bused\sto\s(?!(?:br|s|r|sw|cl|fl|spr|str|st)ing\b)(?:\w+ing|it|this|that|the)\b
  | \b(?:previous|former|prior|old|past|original|ex-?)\s?[\w-]+(?:\s[\w-]+)?'s\b    # former boss's
  | \b(?:previous|prior)\s(?:page|step|screen|slide|chapter|section|tab|message|line|row|item)s?\b
  | \b(?:browser|browsing|order|search|chat|commit|medical|credit|call|git|art|natural|payment)
        \shistory\b
  | \bhistory\s(?:teacher|class|lesson|book|museum|exam|page|tab|professor|course|degree)s?\b
  | \bas\s(?:before|usual)\b
    """,
    _WORDY,
)
"""Wording that only looks like the past."""

ATTRIBUTE_OF_FORMER: Final = re.compile(
    r"\b(?:of|for|at|from|with|by|to)\s(?:my|the|our|his|her|their|your|a|an)\s"
    r"(?:previous|former|prior|old|original|ex)[\s-]\w+",
    re.IGNORECASE,
)
"""In the present tense a lookalike: "What is the address of my former employer?"."""

PURPOSE: Final = re.compile(
    r"\b(?:[Ii]s|[Aa]re)\b(?:(?!\b(?:I|we|you|he|she|they|it|who|that)\b)[^,.;?])*"
    r"\s(?!I\b|we\b|you\b|he\b|she\b|they\b|it\b|who\b|that\b)[a-z]\w*\sused to\b"
)
""" "used to" after a noun that "is" governs: "Where is the key used to sign releases?"."""

WHATEVER_TENSE: Final = re.compile(
    rf"""
    \bused\sto\b | \bdid(?:n't)?\s(?:\S+\s){{1,5}}?use\sto\b | \bonce\s{_PAST_VERB}\b
  | \bhow\b.*\b(?:has|have|had|did)\b.*\b{_CHANGED}\b | \bhow\b.*\b(?:changed|evolved)\b
  | \bwhat(?:\shas|\shave|'s)?\s(?:\w+\s)?changed\b | \bdifferent\b.*\bsince\b
  | \bhistory\sof\s(?:{_WHOSE}|the|all|{_NAME}'s)\b
  | \b(?:evolution|timeline|chronology|progression)\sof\b
  | \bover\s(?:the\s(?:years|months|weeks|course)|time)\b
  | \bback\s(?:then|when|in|at)\b
  | \bin\s(?:those|the\s(?:early|old|olden))\s(?:days|weeks|months|years|times)\b
  | \bin\s(?:{_WHOSE}|\w+'s)\s(?:\w+\s)?(?:days|youth|childhood|teens|twenties|thirties|forties)\b
  | \b(?:formerly|previously|erstwhile|outdated|obsolete|superseded|out\sof\sdate)\b
  | ^(?:which|what|who|list)\b.*\b(?:was|were|been|got|did|have|has|had|i|we)\b.*\b{_ENDED}\b
  | \b(?:which|what|who|list|name)\b.*\b(?:no\slonger|not\b.*\bany\s?more)\b
  | \bcompar\w+\b.*\b(?:last|previous|earlier|old|past|before|former|then)\b
  | \bdiffer\w*\b.*\b(?:last|previously|earlier|before|past)\b
  | \b(?:all|else|every|each|which|what|where|how\smany)\b.*(?:\b(?:have|has)|'ve)\s(?:\w+\s){{0,3}}
        (?:had|owned|lived|worked|used|tried|held|served|been\s(?:on|in|at|called|all))\b
        (?!\sto\b)(?!.*\bsince\b)
  | \b(?:which|what|all|how\smany)\s(?:\w+\s)?\w{{2,}}[^s\W]s\s(?:have|has)\s(?:\w+\s){{1,3}}
        (?:had|owned|lived|worked|used|tried|held)\b(?!\sto\b)
  | \b(?:{_WHOSE}|\w+'s)\s{_FORMER}[\s-]?\w+(?!.*\b(?:now|today|currently)\b)
  | \bthe\s{_FORMER}\sones?\b | \bthere\s(?:ever\s)?a\s(?:time|point|period|moment)\swhen\b
  | \bhow\s(?:long|many\s(?:years|months|weeks|days))\s(?:did|was|were|had)\b
  | \b(?:when|why|how)\sdid\b.*\b(?:switch|migrate|move\saway|leave|change|cease|{_ENDED})\b
    """,
    _WORDY,
)
"""Wording that asks about the past whatever the tense."""

IN_PAST_TENSE: Final = re.compile(
    rf"""
    \b(?:before|prior\sto|until|till|up\sto|during|throughout|while|earlier|ever|once|always)\b
  | \b(?:originally|initially|at\sfirst|first\sof\sall|to\sbegin\swith|beforehand|then|yet)\b
  | \b(?:start|started|begin|began)\s(?:out|off|with)\b | \bfirst\W*$
  | \bin\sthe\s(?:past|beginning|first\splace|meantime)\b
  | \bat\s(?:the|that|this|one|some)\s(?:time|point|stage|start|outset|beginning)\b
  | \bat\s(?:university|school|college)\b | \bback\sin\b
  | \b(?:the|{_WHOSE}|\w+'s)\s(?:very\s)?(?:old|original|initial|first|{_FORMER})\s?\w+
  | \b(?:when|while|as\slong\sas|whilst)\s(?:i|we|he|she|it|they|you|my|our|the|{_NAME})\b
  | \bno\slonger\b | \bany\s?more\b | \bstill\b | \balready\b
    """,
    _WORDY,
)
"""Wording that asks about the past in a question in the past tense."""

IN_PERFECT: Final = re.compile(
    r"\b(?:ever(?! (?:heard|seen|thought|considered))|always|before|so far|in the past|at any time|"
    r"until (?:now|then)|up to now|(?:other|different|more) \w+s)\b",
    re.IGNORECASE,
)
"""Wording that asks about the past in the present perfect: "Have I ever ...?"."""

UNTIL_A_CHANGE: Final = re.compile(
    r"\b(?:before|prior to|until|till|at the time|at (?:university|school|college))\b",
    re.IGNORECASE,
)
"""What follows a past clause in a present question: "the address (that) I had before Oslo"."""
