"""Finds the plain assertions in a message: what may count as evidence, by its form alone.

English wording, by rules. Where they cannot tell, they lean towards leaving a sentence out: what
is not remembered can be said again, and what is remembered wrongly is put before the model. Known
costs: a habit with a condition ("if it rains I take the bus") and another's advice ("my doctor
told me to avoid salt") are left out. In other languages only question marks and quotation marks
are seen.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from gcmem.sentences import split_statements

__all__ = ["Assertion", "plain_assertions", "somebody_else", "why_no_evidence", "why_not_stated"]

_MARK: Final = "\u241f"  # stands for a quotation that was taken out; no text has it

_BLOCK: Final = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED_LINE: Final = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_TRANSCRIPT: Final = re.compile(
    r"^[ \t]*(?!(?:note|update|correction|edit|fyi|ps|p\.s\.|reminder|btw|info)\b)"
    r"(?:\[[^\]\n]*\][ \t]*)?[\w.@-]+(?:[ \t][\w.@-]+)?:[ \t]+"
    r"[\"“]?(?:I|I['’]\w+|[Mm]y|[Ww]e)\b.*$",
    re.MULTILINE | re.IGNORECASE,
)
_QUOTATION: Final = re.compile(
    r"“[^”]*”|„[^“”]*[“”]|«[^»]*»|‹[^›]*›|\"[^\"]*\"|‘[^’]*’(?!\w)|(?<!\w)'[^'\n]*'(?!\w)|`[^`\n]+`"
)
_FIRST_PERSON: Final = re.compile(r"\b(?:I|[Mm]y|[Ww]e|[Oo]ur|[Mm]e|[Mm]ine)\b")
_WORD: Final = re.compile(r"\w+")

_LEAD: Final = re.compile(
    r"^(?:(?:well|ok(?:ay)?|so|oh|actually|anyway|btw|by the way|no|nope|yes|yeah|hi|hey|hello|"
    r"thanks|thank you|also|and|but|fyi|for the record|just so you know|to be clear|correction|"
    r"update|edit|note|ps|p\.s\.|sorry|hm+|right|sure|(?:please )?(?:remember|note)(?: that)?)"
    r"(?:\s*[,:.!;–—-]+\s*|\s+(?=(?:i|i['’]\w+|my|we|our|that|please)\b)))+",
    re.IGNORECASE,
)
_AUXILIARY: Final = (
    r"(?:is|are|am|was|were|do|does|did|can|could|should|would|will|shall|have|has|had|may|might)"
)
_QUESTION: Final = re.compile(
    rf"""^(?:
        {_AUXILIARY}(?:n['’]?t)?\s+(?:i|you|we|he|she|they|it|my|your|our|his|her|their|the|this|
            that|there|these|those|any|some)\b
      | (?:what|where|when|who|whom|whose|which|why|how)
            (?:\s+(?!(?:i|we|you|he|she|they|it|my|our|the)\b)\w+)?\s+{_AUXILIARY}\b
      | (?:what|where|when|who|how)['’]s\b | (?:what|how)\s+(?:if|about)\b | how\s+come\b
      | (?:i\s+wonder|i\s+was\s+wondering|i['’]m\s+wondering|i['’]m\s+not\s+sure|not\s+sure
         | i\s+am\s+not\s+sure|i\s+don['’]?t\s+(?:know|remember)|i\s+forg[eo]t
         | i\s+(?:want|would\s+like)\s+to\s+know|i['’]d\s+like\s+to\s+know|do\s+you)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKED_AFTER: Final = re.compile(
    r"^(?P<claim>[^,;–—]{6,}?)\s*[,;–—-]\s+(?:so\s+|and\s+|but\s+)?(?=(?:what|where|when|who|which|"
    rf"why|how|{_AUXILIARY})\b)",
    re.IGNORECASE,
)
_HYPOTHETICAL: Final = re.compile(
    r"""\b(?:if|unless|suppos(?:e|ing)|assum(?:e|ing)|imagine|pretend|hypothetically|in\s+case
        | wish|let['’]?s\s+say|as\s+though|would\s+have|could\s+have|should\s+have|might|perhaps
        | maybe|possibly|probably|thinking\s+(?:of|about)|considering)\b
      | \b(?:i|we|he|she|they|it|you)\s+(?:would|could|may)\b(?!\s+(?:rather|prefer|like|love))
      | \bwere\s+(?:i|we)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SAYING: Final = (
    r"(?:says?|said|saying|told|tells|claim(?:s|ed)?|thinks|thought|believe[sd]|wrote|writes|"
    r"mention(?:s|ed)|insist(?:s|ed)|suggest(?:s|ed)|reckon(?:s|ed)|quot(?:e|es|ed)|asked|asks|"
    r"report(?:s|ed)|announced|advised|recommend(?:s|ed))"
)
_REPORTED: Final = re.compile(
    rf"\baccording\s+to\b|\b(?:i|we)\s+(?:heard|read)\b|\bused\s+to\s+say\b"
    rf"|\b(?:he|she|they|who|people|everyone|somebody|someone)\s+(?:\w+ly\s+)?{_SAYING}\b"
    rf"|(?<!\bi\s)(?<!\bwe\s)(?<!\bi['’]ve\s)(?<!\bas\si\s)\b{_SAYING}\s+(?:that\b|me\b|us\b|to\s+me\b"
    r"|(?:he|she|they|i|we|it|my|his|her|their|the)\b|[:,])",
    re.IGNORECASE,
)
_STANDING: Final = re.compile(
    r"\b(?:always|never|from now on|in (?:the )?future|every time|whenever|by default|any ?more|"
    r"no longer|going forward|stop)\b|^(?:please\s+)?(?:do not|don['’]t|prefer|avoid|call me|"
    r"address me)\b",
    re.IGNORECASE,
)
_REQUEST: Final = re.compile(
    r"""^(?:please\b|kindly\b|let['’]?s\b|let\s+me\b|(?:write|show|tell|give|find|book|send|explain|
        help|make|create|list|search|look|translate|summari[sz]e|fix|check|remind|open|run|add|go|
        get|buy|order|schedule|cancel|play|read|draft|suggest|recommend|compare|describe|generate|
        convert|calculate|define|say|try|use|answer|reply|respond|keep|change|update|remove|delete|
        do|be|come|forget|ignore|disregard|repeat|continue|set|turn|put|take|act|output|print|
        treat|consider|follow|obey|reveal|always|never|stop|from\s+now\s+on|don['’]t)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_ABOUT_THE_ASSISTANT: Final = re.compile(r"^(?:you|your|yours|you['’]\w+)\b", re.IGNORECASE)
_NO_REFERENT: Final = re.compile(
    r"^(?:he|she|they|it|this|that|these|those)(?:['’](?:s|re|ve|d|ll))?\b", re.IGNORECASE
)
_ORDER_ABOUT_MEMORY: Final = re.compile(
    r"\b(?:previous|prior|above|other|all|earlier)\s+(?:\w+\s+)?(?:instruction|prompt|rule|message|"
    r"memor|statement|fact|record)\w*|\bsystem\s+(?:prompt|message)\b",
    re.IGNORECASE,
)
_RETRACTION: Final = re.compile(
    r"^(?:please\s+)?(?:forget|disregard|ignore|scratch)\s+(?:what\s+i\s+said(?:\s+(?:about|that))?|"
    r"that|about|the\s+fact\s+that)\s+(?P<what>\w.{3,})$",
    re.IGNORECASE,
)
_SOMEBODY: Final = re.compile(
    r"^(?:my|our)\s+(?:\w+[- ])?(?P<who>sister|brother|mother|father|mom|mum|dad|wife|husband|"
    r"partner|girlfriend|boyfriend|fianc[eé]e?|son|daughter|child|children|kids?|parents?|cousin|"
    r"uncle|aunt|niece|nephew|grand\w+|friends?|flatmate|roommate|neighbou?rs?|boss|manager|"
    r"colleagues?|coworkers?|co-workers?|client|customer|teacher|doctor|landlord|tenant|ex|team|"
    r"(?:sister|brother|mother|father|son|daughter)-in-law|family|company|employer)\b",
    re.IGNORECASE,
)
_BEYOND_DOUBT: Final = frozenset({"quotation", "question", "order about the memory"})
_THE_USER: Final = re.compile(r"^(?:i|i['’]\w+|my|me|mine|we|we['’]\w+|our)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Assertion:
    """A sentence that says something, stripped of "Well," and the like.

    Attributes:
        text: The sentence.
        subject: "user", a person ("sister"), or "" where the form does not tell.
        retracts: It asks to forget what follows.
    """

    text: str
    subject: str
    retracts: bool = False


def plain_assertions(text: str) -> list[Assertion]:
    """Give the sentences of a message that assert something, in order.

    Example:
        >>> [item.text for item in plain_assertions("Hi! I moved to Kiel. Do you know it?")]
        ['I moved to Kiel.']
        >>> plain_assertions('My gran used to say "I live in Ulm".')
        []
    """
    found = []
    for sentence in _sentences(text):
        said = _without_lead(sentence)
        retraction = _RETRACTION.match(said)
        if retraction and not _ORDER_ABOUT_MEMORY.search(said):
            what = retraction["what"]
            found.append(Assertion(what[0].upper() + what[1:], _subject(what), retracts=True))
            continue
        asked = _ASKED_AFTER.match(said) if _asks(said) and not _QUESTION.match(said) else None
        said = asked["claim"].strip() + "." if asked else said
        if why_no_evidence(said) is None:
            found.append(Assertion(said, _subject(said)))
    return found


def why_no_evidence(sentence: str) -> str | None:
    """Say why a sentence is no evidence about anything; None if it is.

    Example:
        >>> why_no_evidence("Do I still live in Ulm?")
        'question'
    """
    said = _without_lead(_QUOTATION.sub(_hidden, sentence))
    tests = (
        ("quotation", _MARK in said),
        ("question", _asks(said)),
        ("too short", len(_WORD.findall(said)) < 3),
        ("order about the memory", _ORDER_ABOUT_MEMORY.search(said)),
        ("request", _REQUEST.match(said) and not _STANDING.search(said)),
        ("hypothetical", _HYPOTHETICAL.search(said)),
        ("reported", _REPORTED.search(said)),
        ("about the assistant", _ABOUT_THE_ASSISTANT.match(said)),
        ("nobody is named", _NO_REFERENT.match(said)),
    )
    return next((reason for reason, applies in tests if applies), None)


def why_not_stated(text: str, words: str) -> str | None:
    """Say why the writer of a message does not state these words of it; None if he may.

    For words that somebody found in the message and takes for evidence. Only what the form leaves
    no doubt about counts against them: a quotation, a question, an order about the memory.

    Example:
        >>> why_not_stated('My gran said "I live in Ulm".', "I live in Ulm")
        'quotation'
        >>> why_not_stated("I moved to Kiel. Do I still live in Ulm?", "I moved to Kiel")
    """
    own = _without_other_voices(text)
    if folded(words) not in folded(own):
        return "quotation"
    sentences = _around(own, words)
    reasons = [why_no_evidence(sentence) for sentence in sentences]
    sure = [reason for reason in reasons if reason in _BEYOND_DOUBT]
    return sure[0] if sentences and len(sure) == len(sentences) else None


def somebody_else(text: str, words: str) -> str | None:
    """The person whom the sentence around these words is about ("sister"), if not the writer too.

    Example:
        >>> somebody_else("I am fine. My sister lives in Bonn.", "lives in Bonn")
        'sister'
        >>> somebody_else("My sister and I live in Bonn.", "live in Bonn")
    """
    for sentence in _around(text, words):
        said = _without_lead(sentence)
        about = _SOMEBODY.match(said)
        if about and not _FIRST_PERSON.search(said[about.end() :]):
            return about["who"].casefold()
    return None


def folded(text: str) -> str:
    """A text as it is compared: one case, one kind of apostrophe and space, no marks around it."""
    plain = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    return " ".join(plain.split()).strip(" .,;!?\"'")


def _around(text: str, words: str) -> list[str]:
    """The sentences that hold the words, or that the words hold."""
    wanted = folded(words)
    sentences = [span.text for span in split_statements(text)]
    return [s for s in sentences if wanted in folded(s) or (folded(s) and folded(s) in wanted)]


def _sentences(text: str) -> list[str]:
    """Cut a message into sentences, without what it quotes; a sentence with a quotation is gone."""
    own = _QUOTATION.sub(_hidden, _without_other_voices(text))
    if not own.strip():
        return []
    return [span.text for span in split_statements(own) if _MARK not in span.text]


def _without_other_voices(text: str) -> str:
    """Take out what stands in a message as a whole and is not its writer's: code, mail, scripts."""
    for pattern in (_BLOCK, _QUOTED_LINE, _TRANSCRIPT):
        text = pattern.sub("", text)
    return text


def _hidden(quotation: re.Match[str]) -> str:
    """Take a quoted claim out; a quoted name or title stays."""
    said = quotation[0]
    text = quotation.string
    inside, whole = len(_WORD.findall(said)), len(_WORD.findall(text))
    claims = inside >= 2 and _FIRST_PERSON.search(said) is not None
    return f" {_MARK} " if claims or (inside >= 3 and 2 * inside > whole) else said


def _without_lead(sentence: str) -> str:
    rest = _LEAD.sub("", sentence.strip()) or sentence.strip()
    return rest[:1].upper() + rest[1:]


def _asks(said: str) -> bool:
    return said.rstrip(" )]}\"'”’!*_").endswith(("?", "？", "؟", ";?")) or bool(
        _QUESTION.match(said)
    )


def _subject(said: str) -> str:
    somebody = _SOMEBODY.match(said)
    if somebody:
        return somebody["who"].casefold()
    return "user" if _THE_USER.match(said) else ""
