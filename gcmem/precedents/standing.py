"""What stands while messages are read: found by meaning, by wording and by key, not by a walk."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from gcmem.encoder import SentenceEncoder
from gcmem.precedents.evidence import Claim, Known
from gcmem.precedents.labels import match_key

__all__ = ["StandingStatements", "wording"]

Pair: TypeAlias = tuple[str, str]
"""A key and a value."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


@lru_cache(maxsize=8_192)
def wording(text: str) -> str:
    """The words of a statement, without case and punctuation: equal for the same statement."""
    return " ".join(_WORD.findall(text.replace("’", "'").casefold()))


class StandingStatements:
    """`Known`, arranged so that one claim more or a search costs the same however much stands.

    Vectors are kept in one matrix, and keys and wordings in dictionaries; `believe` does what
    `Known.after` does.

    Args:
        known: What stands and what is archived.
        encoder: Gives the vectors; it is asked at the first search.
    """

    def __init__(self, known: Known, encoder: SentenceEncoder) -> None:
        self._encoder = encoder
        self._rows: dict[int, Pair] = {}
        self._of_key: dict[str, dict[int, str]] = {}
        self._newest = 0
        self._vectors = np.zeros((0, encoder.dimension), dtype=np.float32)
        self._numbers = np.zeros(0, dtype=np.int64)
        self._filled = 0
        self._waiting: list[int] = []
        self._archived: dict[str, Pair] = {}
        for pair in known.archived:
            self._archive(pair)
        for pair in reversed(known.standing):
            self._add(pair)

    def __len__(self) -> int:
        return len(self._rows)

    def believe(self, claim: Claim) -> None:
        """Take in a claim: what it replaces or takes back is archived."""
        if claim.evidence == "guess":
            return
        value = None if claim.value is None else match_key(claim.value)
        of_key = self._of_key.get(match_key(claim.key), {})
        gone = [
            number
            for number, standing in of_key.items()
            if value is None or (standing == value) == claim.retracts
        ]
        for number in reversed(gone):  # the newest first, as `Known` has them
            self._archive(self._rows[number])
            self._drop(number)
        if claim.value is not None and not claim.retracts:
            for number in [number for number, standing in of_key.items() if standing == value]:
                self._drop(number)
            self._add((claim.key, claim.value))

    def archived_as(self, text: str) -> Pair | None:
        """The key under which a statement of these words was archived last, and its text there."""
        return self._archived.get(wording(text))

    def most_similar(
        self, text: str, *, at_most: int, that: Callable[[str], bool]
    ) -> list[tuple[Pair, float]]:
        """What stands and passes a condition on its value, most similar first, with the cosine.

        Args:
            text: What it is compared with.
            at_most: How many at most.
            that: The condition; it is asked of as few as possible.
        """
        if not self._rows:
            return []
        self._encode()
        likeness = self._vectors[: self._filled] @ self._encoder.encode([text])[0]
        found: list[tuple[Pair, float]] = []
        for row in self._ranked(likeness, at_most):
            pair = self._rows.get(int(self._numbers[row]))
            if pair is not None and that(pair[1]):
                found.append((pair, float(likeness[row])))
                if len(found) == at_most:
                    break
        return found

    def _ranked(self, likeness: npt.NDArray[np.float32], at_most: int) -> Iterator[int]:
        """Rows by likeness, then the newest first; the first few are found without sorting all."""
        first = min(len(likeness), 4 * at_most)
        near = np.argpartition(-likeness, first - 1)[:first]
        least = likeness[near].min()
        near = np.flatnonzero(likeness >= least)
        yield from near[np.lexsort((-self._numbers[near], -likeness[near]))]
        far = np.flatnonzero(likeness < least)
        yield from far[np.lexsort((-self._numbers[far], -likeness[far]))]

    def _add(self, pair: Pair) -> None:
        self._newest += 1
        self._rows[self._newest] = pair
        self._of_key.setdefault(match_key(pair[0]), {})[self._newest] = match_key(pair[1])
        self._waiting.append(self._newest)

    def _drop(self, number: int) -> None:
        key, _ = self._rows.pop(number)
        of_key = self._of_key[match_key(key)]
        del of_key[number]
        if not of_key:
            del self._of_key[match_key(key)]

    def _archive(self, pair: Pair) -> None:
        self._archived[wording(pair[1])] = pair

    def _encode(self) -> None:
        """Append the vectors of what was added; rows of what is gone are dropped now and then."""
        new = [number for number in self._waiting if number in self._rows]
        self._waiting = []
        if not new:
            return
        if self._filled + len(new) > len(self._vectors):
            alive = [row for row in range(self._filled) if int(self._numbers[row]) in self._rows]
            room = 2 * (len(alive) + len(new))
            vectors = np.zeros((room, self._encoder.dimension), dtype=np.float32)
            numbers = np.zeros(room, dtype=np.int64)
            vectors[: len(alive)] = self._vectors[alive]
            numbers[: len(alive)] = self._numbers[alive]
            self._vectors, self._numbers, self._filled = vectors, numbers, len(alive)
        end = self._filled + len(new)
        self._vectors[self._filled : end] = self._encoder.encode(
            [self._rows[number][1] for number in new]
        )
        self._numbers[self._filled : end] = new
        self._filled = end
