"""Whether a text is English: by its script, and by the small words of other languages.

The words lie in ``small_words.json``: ``foreign`` has frequent short words of other languages,
``also_english`` those of them that are English words too, ``shared`` words that tell nothing,
``weak`` words that stand in English names and titles, and ``borrowed`` English words with accents.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

__all__ = ["looks_english"]

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_CODE = re.compile(r"`[^`]*`|\bhttps?://\S+|\S*[_/\\=@]\S*")
_GREATEST_SHARE_OF_OTHER_SCRIPTS = 0.4


@dataclass(frozen=True, slots=True)
class _SmallWords:
    foreign: frozenset[str]
    weak: frozenset[str]
    shared: frozenset[str]
    borrowed: frozenset[str]


def looks_english(text: str, is_known_word: Callable[[str], bool]) -> bool:
    """Whether the text can be read as English.

    Names do not count, and a text without words of any language (a line of configuration, a number)
    passes.

    Args:
        text: The text.
        is_known_word: Whether a lower-case word is in the vocabulary of the (English) model.
    """
    if _is_in_another_script(text):
        return False
    known = _small_words()
    foreign = english = weak = 0
    for match in _WORD.finditer(_CODE.sub(" ", text)):
        word = match.group().replace("’", "'")
        lower = word.lower()
        if len(lower) == 1:
            continue
        if lower in known.foreign and (len(lower) > 3 or not lower.isascii()):
            foreign += 1
        elif lower in known.foreign or lower in known.weak:
            weak += 1
        elif word[0].isupper():
            continue
        elif not lower.isascii():
            foreign += lower not in known.borrowed
        elif lower not in known.shared and is_known_word(lower.split("'")[0]):
            english += 1
    outweighed = foreign > 0 and foreign + weak > english
    return not outweighed and not (weak >= 2 and english == 0)


def _is_in_another_script(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    others = sum(1 for letter in letters if not letter.isascii() and not _is_latin(letter))
    return others > _GREATEST_SHARE_OF_OTHER_SCRIPTS * len(letters)


@lru_cache(maxsize=65_536)
def _is_latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith(("LATIN", "FULLWIDTH LATIN", "MICRO"))


@cache
def _small_words() -> _SmallWords:
    path = Path(__file__).with_name("small_words.json")
    lists = json.loads(path.read_text(encoding="utf-8"))
    foreign = {word for words in lists["foreign"].values() for word in words.split()}
    return _SmallWords(
        foreign=frozenset(foreign) - frozenset(lists["also_english"].split()),
        weak=frozenset(lists["weak"].split()),
        shared=frozenset(lists["shared"].split()),
        borrowed=frozenset(lists["borrowed"].split()),
    )
