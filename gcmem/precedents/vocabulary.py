"""The keys that a model may use, and the one form in which keys and values are written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from gcmem.precedents.evidence import Known
from gcmem.precedents.evidence_conflict import STATEMENT_KEY

__all__ = ["Vocabulary", "normal_key", "normal_value"]

_LONGEST_KEY: Final = 80
_MOST_SHOWN: Final = 200
_SEPARATORS: Final = re.compile(r"[_/\\.,;\-]+|(?<=[a-z])(?=[A-Z])")
_OWNER: Final = re.compile(
    r"^(?:the\s+)?(?:user|customer|client)(?:['’]s)?\s+|^(?:my|the|their)\s+"
)
_SMALL_WORDS: Final = "a an the of for in on at to user users user's 's current"
_SMALL: Final = frozenset(_SMALL_WORDS.split())


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Keys with their meanings and the values that stand.

    Attributes:
        meanings: What each key means, or "".
        values: The values that stand, and those that once stood, by key.
        grow: Whether a key may be opened.
    """

    meanings: Mapping[str, str]
    values: Mapping[str, tuple[str, ...]]
    grow: bool = True

    @classmethod
    def of(cls, keys: Mapping[str, str] | Iterable[str], *, grow: bool) -> Self:
        """Read keys, or keys with meanings.

        Raises:
            ValueError: A key is blank, or nothing may ever be found.
        """
        given = dict(keys) if isinstance(keys, Mapping) else dict.fromkeys(keys, "")
        meanings = {normal_key(key): meaning for key, meaning in given.items()}
        if "" in meanings:
            msg = f"vocabulary must not hold a blank key, got {list(given)!r}."
            raise ValueError(msg)
        if not meanings and not grow:
            msg = "vocabulary must hold a key where grow=False."
            raise ValueError(msg)
        return cls(meanings, {}, grow)

    def with_known(self, known: Known) -> Self:
        """Give the vocabulary with what a ledger knows."""
        values: dict[str, tuple[str, ...]] = {}
        for key, value in (*known.standing, *known.archived):
            if not key.startswith(STATEMENT_KEY):
                values[key] = (*values.get(key, ()), value)
        meanings = {**self.meanings, **{key: self.meanings.get(key, "") for key in values}}
        return replace(self, meanings=meanings, values=values)

    def key(self, given: str) -> str | None:
        """Give the key that is meant: a known one, or a new one if the vocabulary may grow."""
        normal = normal_key(given)
        if not normal or len(normal) > _LONGEST_KEY:
            return None
        same = [key for key in self.meanings if normal_key(key) == normal]
        alike = [key for key in self.meanings if _words(key) == _words(normal)]
        return next(iter(same + alike), normal if self.grow else None)

    def value(self, key: str, given: str) -> str:
        """Give the value as it was first written, if it is known."""
        normal = normal_value(given)
        known = self.values.get(key, ())
        return next(
            (value for value in known if normal_value(value).casefold() == normal.casefold()),
            normal,
        )

    def shown(self) -> list[dict[str, str]]:
        """Give what a model is shown of it, keys in use first."""
        keys = [*self.values, *(key for key in self.meanings if key not in self.values)]
        return [
            {
                "key": key,
                **({"meaning": self.meanings[key]} if self.meanings.get(key) else {}),
                **({"value": self.values[key][0]} if key in self.values else {}),
            }
            for key in keys[:_MOST_SHOWN]
        ]


def normal_key(text: str) -> str:
    """Write a key in lower case, words apart, without "user's".

    Example:
        >>> normal_key("User's Home_City"), normal_key("homeCity")
        ('home city', 'home city')
    """
    spaced = _SEPARATORS.sub(" ", unicodedata.normalize("NFC", text))
    return _OWNER.sub("", " ".join(spaced.casefold().split())).strip(" '\"`")


def normal_value(text: str) -> str:
    """Write a value without quotation marks around it, a full stop behind it, and double blanks."""
    return (
        " ".join(unicodedata.normalize("NFC", text).split()).strip("\"'`“”‘’").rstrip(".").strip()
    )


def _words(key: str) -> frozenset[str]:
    words = normal_key(key).replace(":", " ").split()
    return frozenset(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in words
        if word not in _SMALL
    )
