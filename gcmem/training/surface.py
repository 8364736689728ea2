"""Changes of the outside of a statement that leave what it says: case, stops, dates, fillers.

What is drawn never depends on the label of the pair, so that no such trait can stand for a label.
"""

from __future__ import annotations

from random import Random

_OPENINGS = (
    "Note: ", "note - ", "FYI ", "fyi: ", "btw, ", "By the way: ", "Just so you know: ", "ok so ",
    "Hi, ", "Memo: ", "* ", "- ", "> ", "User: ", "log: ", "For the record: ", "Reminder: ",
    "Hey! ", "Update: ", "As I said, ", "Well, ", "tool result: ", "Recorded: ",
)  # fmt: skip
_ENDINGS = (" thanks!", " :)", " (noted)", " - ok?", " Just for your files.", " fyi", " #memo")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LEADING_WORDS = frozenset(
    {"The", "On", "In", "At", "For", "We", "Our", "My", "After", "Since", "Before", "A", "An"}
)


def vary_surface(text: str, random: Random, *, year: int) -> str:
    """Change case, the full stop, and add an opening, an ending or a date of the given year."""
    if random.random() < 0.15:
        text = text.removesuffix(".")
    if random.random() < 0.08:
        text += random.choice(_ENDINGS)
    if random.random() < 0.15:
        text = random.choice(_OPENINGS) + _lower_first_word(text)
    if random.random() < 0.12:
        text = text.lower()
    if random.random() < 0.1:
        text = _date(random, year) + text
    return text


def _lower_first_word(text: str) -> str:
    first, _, rest = text.partition(" ")
    return f"{first.lower()} {rest}" if first in _LEADING_WORDS and rest else text


def _date(random: Random, year: int) -> str:
    month, day = random.randint(1, 12), random.randint(1, 28)
    if random.random() < 0.5:
        return f"[{year}-{month:02d}-{day:02d}] "
    return random.choice(
        (f"{year}-{month:02d}-{day:02d}: ", f"({day} {_MONTHS[month - 1]} {year}) ")
    )
