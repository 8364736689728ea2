"""Splits a chunk into the statements that are judged one by one, with their offsets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from sentencex import get_sentence_boundaries

__all__ = ["Span", "clauses", "split_statements"]

_CODE_FENCE: Final = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
_LINE_LEAD: Final = re.compile(
    r"""[ \t]*(?:
        (?:[-*+•–]|\d{1,3}[.)]|\[[ xX]\])[ \t]+ |             # list item
        (?:\#{1,6}|>)[ \t]+ |                                  # heading, quotation
        <[^<>]{1,60}>[ \t]* |                                  # <message role='user'>
        (?:(?i:user|human|assistant|ai|system|agent|bot)[ \t]*:[ \t]+) |      # chat turn
        \[(?=[^\]\n]*\d[:/-]\d)[^\]\n]{4,40}\](?!\()[ \t]*      # [2026-03-01 10:00]
    )+""",
    re.VERBOSE,
)
_NO_SPACES: Final = (
    (re.compile(r"[\u3040-\u30ff]"), "ja"),
    (re.compile(r"[\u3400-\u9fff]"), "zh"),
    (re.compile(r"[\u0e00-\u0e7f]"), "th"),
    (re.compile(r"[\u0900-\u097f]"), "hi"),
    (re.compile(r"[\u0600-\u06ff]"), "ar"),
)
_WORD: Final = re.compile(r"\w")
_CLAUSE_BREAK: Final = re.compile(r"(?:;|,)?\s+(?:and|but|while|whereas)\s+|;\s+|,\s+(?=which\s)")
_BARE_AND: Final = re.compile(r"\s+and\s+")
# What a noun with its article, possessive or name begins with, and what only a predicate has.
_NOUN_START: Final = re.compile(
    r"(?:(?:the|an?|my|our|your|his|her|their|its|this|that|these|those|some|both|all)\b|[A-Z\d])"
)
_PREDICATE: Final = re.compile(
    r"\b(?:am|is|are|was|were|be|been|has|have|had|does|do|did|will|would|can|could|may|might|must|"
    r"should|shall|not|\w{2,}ed)\b|\w'(?:s|m|re|ve|ll|d)\b|n't\b"
    r"|\b(?:[Ii]|[Ww]e|[Yy]ou|[Tt]hey|[Hh]e|[Ss]he|[Ii]t)\s\w"
)
_SINGULAR: Final = re.compile(r"\b(?:is|was|has|does)\b|\w's\b")
_LONGEST_NOUN: Final = 3  # words


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text.

    Attributes:
        start: Offset of its first character.
        body: Offset of what is judged, after list marks and chat labels ("User: ").
        end: Offset after its last character, trailing white space included.
        text: What is judged: the part without list marks, chat labels and white space.
    """

    start: int
    body: int
    end: int
    text: str


@lru_cache(maxsize=16_384)
def split_statements(text: str) -> tuple[Span, ...]:
    """Split a chunk into statements: sentences, list items, chat turns; a code block is one.

    Args:
        text: The chunk, in any language that sentencex knows, languages without spaces included.

    Returns:
        Spans in order, which together cover the text without overlap. A statement is judged
        without its list mark or label, also where it is the only one, so that its verdict does
        not hang on what stands beside it. A text that holds one statement and no label, or no
        word at all, gives one span, judged as it stands.
    """
    spans: list[Span] = []
    for start, end, is_code in _blocks(text):
        if is_code:
            spans.append(Span(start, start, end, text[start:end].strip()))
        else:
            for line_start, line_end in _lines(text, start, end):
                spans.extend(_sentences(text, line_start, line_end))
    return _cover(text, [span for span in spans if _WORD.search(span.text)])


def clauses(sentence: str) -> tuple[Span, ...]:
    """Split a compound sentence at its coordinations ("lives in Leeds and uses the Finch editor").

    Returns:
        The clauses in order; one span where the sentence is not compound. Offsets are those in
        the sentence, and each clause after the first includes the conjunction in front of it.
    """
    bounds: list[tuple[int, int, int]] = []
    begin = text_begin = 0
    breaks = list(_CLAUSE_BREAK.finditer(sentence))
    ends = [*(match.start() for match in breaks[1:]), len(sentence)]
    for match, end in zip(breaks, ends, strict=False):  # no break, one end
        before, after = sentence[text_begin : match.start()], sentence[match.end() : end]
        if _BARE_AND.fullmatch(match[0]) and _joins_nouns(before.strip(), after.strip(" .,;!?")):
            continue
        bounds.append((begin, match.start(), text_begin))
        begin, text_begin = match.start(), match.end()
    bounds.append((begin, len(sentence), text_begin))
    spans = tuple(Span(b, t, e, sentence[t:e].strip(" .,;!")) for b, e, t in bounds)
    if len(spans) < 2 or any(len(span.text.split()) < 2 for span in spans):
        return (Span(0, 0, len(sentence), sentence.strip()),)
    return spans


def _joins_nouns(before: str, after: str) -> bool:
    """Whether an "and" joins two nouns ("with Tom and the dog") instead of two predicates."""
    if not _NOUN_START.match(after):
        return False
    if len(after.split()) <= _LONGEST_NOUN and not _PREDICATE.search(after):
        return True
    words = before.split()
    return (
        len(words) <= _LONGEST_NOUN
        and _NOUN_START.match(before) is not None
        and all(word[0].isupper() or _NOUN_START.match(word) for word in (words[0], words[-1]))
        and not _PREDICATE.search(before)
        and not _SINGULAR.search(after)
    )


def _blocks(text: str) -> list[tuple[int, int, bool]]:
    """Cut a text at its fenced code blocks."""
    blocks: list[tuple[int, int, bool]] = []
    begin = 0
    fences = list(_CODE_FENCE.finditer(text))
    for opening, closing in zip(fences[::2], fences[1::2], strict=False):
        line_end = text.find("\n", closing.end())
        stop = len(text) if line_end < 0 else line_end + 1
        if opening.start() > begin:
            blocks.append((begin, opening.start(), False))
        blocks.append((opening.start(), stop, True))
        begin = stop
    if begin < len(text):
        blocks.append((begin, len(text), False))
    return blocks


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Give the logical lines; a line that continues a wrapped sentence joins the one before."""
    lines: list[tuple[int, int]] = []
    position = start
    for raw in text[start:end].splitlines(keepends=True):
        stop = position + len(raw)
        wrapped = (
            lines
            and raw.strip()
            and raw.lstrip()[0].islower()
            and not _LINE_LEAD.match(raw)
            and "=" not in raw
            and text[lines[-1][0] : lines[-1][1]].strip()[-1:] not in {"", ".", "!", "?", ":", ";"}
            and lines[-1][1] - lines[-1][0] > 60
        )
        if wrapped:
            lines[-1] = (lines[-1][0], stop)
        else:
            lines.append((position, stop))
        position = stop
    return lines


def _sentences(text: str, start: int, end: int) -> list[Span]:
    lead = _LINE_LEAD.match(text, start, end)
    body = lead.end() if lead and lead.end() < end else start
    content = text[body:end]
    if not content.strip():
        return []
    spans: list[Span] = []
    for boundary in get_sentence_boundaries(_language(content), content):
        first, last = body + boundary["start_index"], body + boundary["end_index"]
        begin = start if not spans else first
        judged = " ".join(text[first:last].split())
        spans.append(Span(begin, first, last, judged))
    return spans


def _language(text: str) -> str:
    return next((code for pattern, code in _NO_SPACES if pattern.search(text)), "en")


def _cover(text: str, spans: list[Span]) -> tuple[Span, ...]:
    """Stretch the spans to cover the whole text: what lies between joins the one before."""
    if not spans:
        return (Span(0, 0, len(text), text),)
    if len(spans) == 1:
        only = spans[0]
        is_labelled = bool(text[: only.body].strip())
        return (Span(0, only.body, len(text), only.text if is_labelled else text),)
    starts = [0, *(span.start for span in spans[1:])]
    ends = [*starts[1:], len(text)]
    return tuple(
        Span(start, span.body, end, span.text)
        for start, end, span in zip(starts, ends, spans, strict=True)
    )
