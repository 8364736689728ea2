"""Cuts contradicted statements out of a text, without leaving an empty or dangling rest. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gcmem.sentences import Span

__all__ = ["cut", "says_something"]

_WORD: Final = re.compile(r"\w+(?:['’]\w+)*")
# Words that state nothing by themselves: a rest of only these would dangle.
_FILLERS: Final = frozenset(
    (  # noqa: SIM905  (a list this long reads best as prose)
        "a actually ah alright also and anyway btw but bye cheers cool correction dear fyi good got"
        " great hello hey hi hmm however indeed info it just lol morning nice no nope note noted"
        " now of ok okay oh oops or perfect please ps really right so sorry sure thank thanks then"
        " there too understood update wait welcome well wow yeah yep yes you"
    ).split()
)


def says_something(text: str) -> bool:
    """Whether a text holds more than greetings, fillers and punctuation.

    What ends in a colon only leads to what follows, and so says nothing by itself.
    """
    if text.rstrip().endswith((":", "\uff1a")):
        return False
    return any(word.casefold() not in _FILLERS for word in _WORD.findall(text))


def cut(text: str, spans: Sequence[Span], removed: Sequence[tuple[int, int]]) -> str:
    """Give the text without the removed ranges.

    Args:
        text: The chunk.
        spans: Its statements, in order.
        removed: Ranges of offsets to leave out: whole spans, or parts of one.

    Returns:
        What is left. A chat label or list mark stays in front of what follows it on its line, and
        a clause that ended a sentence leaves the sentence its full stop.
    """
    gone = sorted(removed)
    pieces: list[str] = []
    position = 0
    whole = {(span.start, span.end): span for span in spans}
    starts = {span.start: span for span in spans}
    for start, end in gone:
        pieces.append(text[position:start])
        position = max(position, end)
        span = whole.get((start, end))
        if span is None:
            pieces.append(_closing(text, start, end))
        elif span.body > span.start and _continues(text, span, starts.get(end), gone):
            pieces.append(text[span.start : span.body])
    pieces.append(text[position:])
    return "".join(pieces).rstrip() if gone else text


def _closing(text: str, start: int, end: int) -> str:
    """The punctuation and white space that a cut clause leaves to its sentence."""
    tail = text[start:end]
    stripped = tail.rstrip()
    mark = stripped[-1] if stripped and stripped[-1] in ".!?" else ""
    return mark + tail[len(stripped) :]


def _continues(
    text: str, span: Span, following: Span | None, gone: Sequence[tuple[int, int]]
) -> bool:
    """Whether a kept statement follows on the same line."""
    return (
        following is not None
        and "\n" not in text[span.body : span.end]
        and (following.start, following.end) not in gone
    )
