"""Candidate sets: one attribute that changed, said often before and once after, among distractors.

The attribute and the distractors are held-out ones of the training corpus. Longer chunks are made
by adding statements of further attributes, of all splits, for nothing here is about being right; no
such statement returns in a set before all have been used. The wordings of the attribute's old state
do return, as the corpus has no more than 4 to 8.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random

from gcmem import Memory
from gcmem.detectors.base import TextPair
from gcmem.sentences import split_statements
from gcmem.training.corpus_files import Family, read_families

_DAY = 86_400


def candidate_set(k: int, words: int, random: Random) -> list[Memory]:
    """Give k chunks, oldest first: old : new = k/2 : 1 of one attribute among distractors."""
    held_out = [family for family in families() if family.split != "train"]
    changed = random.choice([family for family in held_out if not family.multi])
    others = [text for f in held_out if f is not changed for text in f.compatible]
    further = [text for f in families() if f is not changed for text in f.compatible]
    random.shuffle(further)
    more = itertools.cycle(further)
    old_state, new_state = sorted(changed.states)[:2]
    old = [text for texts in changed.states[old_state] for text in texts]
    lines = [old[n % len(old)] for n in range(k // 2)]
    lines += random.sample(others, k - len(lines) - 1)
    random.shuffle(lines)
    lines.append(random.choice(changed.states[new_state][0]))
    return [
        Memory(_lengthened(line, words, more), _DAY * n, id=str(n)) for n, line in enumerate(lines)
    ]


def every_pair(memories: Sequence[Memory]) -> list[TextPair]:
    """Give every pair of different statements in which one memory is newer, each pair once.

    Once, because asking a model the same thing twice is no part of judging every pair.
    """
    statements = _statements(memories)
    pairs = (
        (older, newer)
        for j in range(len(memories))
        for i in range(j)
        for older in statements[i]
        for newer in statements[j]
        if older != newer
    )
    return list(dict.fromkeys(pairs))


def count_pairs(memories: Sequence[Memory]) -> int:
    """Count the pairs of statements in which one memory is newer, without making them."""
    earlier = total = 0
    for statements in _statements(memories):
        total += earlier * len(statements)
        earlier += len(statements)
    return total


def _statements(memories: Sequence[Memory]) -> list[list[str]]:
    return [[span.text for span in split_statements(memory.text)] for memory in memories]


@cache
def families() -> tuple[Family, ...]:
    """Give all families of the corpus, read once."""
    return tuple(read_families())


def ended(text: str) -> str:
    """Give a text that ends as a sentence does."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _lengthened(line: str, words: int, more: Iterator[str]) -> str:
    text = ended(line)
    while len(text.split()) < words:
        text += f" {ended(next(more))}"
    return text
