"""What is said, and what is true after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gcmem.precedents import Precedent

__all__ = ["TURNS", "Judged", "Turn", "as_text", "judge"]

Words = tuple[str, ...]

_HOME_ULM: Final = ("ulm",)
_HOME_KIEL: Final = ("kiel",)
_TEA: Final = ("tea",)
_COFFEE: Final = ("coffee",)
_SISTER: Final = ("sister", "bonn")
_WATCHED: Final = frozenset({"ulm", "kiel", "tea", "coffee", "bonn", "rome"})


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that the user says.

    Attributes:
        said: The words.
        what: What it is a case of.
        true: What is true after it: each statement by words that name it.
        answer: Words of which a good answer holds all; empty where nothing was asked.
    """

    said: str
    what: str
    true: tuple[Words, ...]
    answer: Words = ()


TURNS: Final = (
    Turn("I live in Ulm.", "stated", (_HOME_ULM,)),
    Turn("My favourite drink is tea.", "stated", (_HOME_ULM, _TEA)),
    Turn("I live in Kiel now.", "changed", (_HOME_KIEL, _TEA)),
    Turn("My favourite drink is coffee now.", "changed", (_HOME_KIEL, _COFFEE)),
    Turn('My gran always said "I live in Ulm and nowhere else".', "quoted", (_HOME_KIEL, _COFFEE)),
    Turn("Do I still live in Ulm?", "asked about", (_HOME_KIEL, _COFFEE), ("kiel",)),
    Turn("What if I moved to Rome?", "supposed", (_HOME_KIEL, _COFFEE)),
    Turn("My sister lives in Bonn.", "somebody else's", (_HOME_KIEL, _COFFEE, _SISTER)),
    Turn("My favourite drink is tea.", "flipped back", (_HOME_KIEL, _TEA, _SISTER)),
    Turn(
        "Which city do I live in, and what is my favourite drink?",
        "asked about",
        (_HOME_KIEL, _TEA, _SISTER),
        ("kiel", "tea"),
    ),
)


@dataclass(frozen=True, slots=True)
class Judged:
    """What a prompt held.

    Attributes:
        shown: True statements that it held.
        missing: True statements that it lacked.
        untrue: Items about the same things that are not true, or not of the user.
    """

    shown: tuple[str, ...]
    missing: tuple[str, ...]
    untrue: tuple[str, ...]


def judge(items: Sequence[str], true: Sequence[Words]) -> Judged:
    """Compare the items of a prompt with what is true."""
    words = {item: _words(item) for item in items}
    shown = [statement for statement in true if any(set(statement) <= w for w in words.values())]
    right = {item for item, held in words.items() for one in true if set(one) <= held}
    watched = {item for item, held in words.items() if held & _WATCHED}
    return Judged(
        shown=tuple(" ".join(statement) for statement in shown),
        missing=tuple(" ".join(statement) for statement in true if statement not in shown),
        untrue=tuple(item for item in items if item in watched - right),
    )


def as_text(precedent: Precedent) -> str:
    """Write a precedent as the items of a prompt are compared."""
    return f"{precedent.key}: {precedent.value}"


def _words(text: str) -> set[str]:
    return set("".join(c if c.isalnum() else " " for c in text.casefold()).split())
