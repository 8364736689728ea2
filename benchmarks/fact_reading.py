"""FactConsolidation's facts, what is true among them, and a reader without a language model.

Nothing here knows a sentence template: texts are sequences of tokens, normalised as the benchmark's
authors score (lower case, no punctuation, no articles), and a token weighs ln(N / facts with it).

What is true is read from the data. The *gold fact* of a single-hop question holds the gold answer
as consecutive tokens, and its other tokens weigh most among those that the question has too (then:
the fewest others, then the newest). A fact *conflicts* with it if it begins and ends with the same
tokens as the gold fact does before and after the answer, and has something else between them: the
longest common prefix and suffix that the answer leaves. Multi-hop questions name only the end of a
chain, so nothing of this can be decided for them; for them the gold facts of the single-hop
questions over the same context say which facts are known to be outdated or current.

The reader reads the shown fact that the bundled encoder finds most similar to the question, and
answers with it from the first to the last token that the question does not have (so that an answer
may repeat a word of the question: "pier nine"). For multi-hop questions it goes on hop by hop: the
next search is the new tokens with what no fact read so far has of the question; the next fact must
have at least half of the weight of the new tokens of the last, and is the one with which the facts
read, joined, are most similar to the question. It answers from where that similarity was highest,
so nothing tells it the number of hops.
"""

from __future__ import annotations

import gzip
import json
import math
import re
import string
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from gcmem.encoder import SentenceEncoder

_ARTICLES = frozenset({"a", "an", "the"})
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_NUMBERED = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)
_BRIDGE = 0.5


def normalised(text: str) -> tuple[str, ...]:
    """The tokens that the benchmark compares."""
    words = text.lower().translate(_NO_PUNCTUATION).split()
    return tuple(word for word in words if word not in _ARTICLES)


def matches(answer: str, golds: Sequence[str]) -> bool:
    """Substring exact match, as the benchmark's authors score."""
    given = " ".join(normalised(answer))
    return any(" ".join(normalised(gold)) in given for gold in golds)


@dataclass(frozen=True)
class Fact:
    """One numbered fact; the number is its time."""

    serial: int
    text: str

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return normalised(self.text)


@dataclass(frozen=True)
class Question:
    text: str
    golds: tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """The questions of one length and one kind of hops, and the facts that they are about."""

    length: str
    hops: str
    facts: tuple[Fact, ...]
    questions: tuple[Question, ...]


def read_tasks(path: Path) -> list[Task]:
    """Read the benchmark's rows; length and hops stand in the names of the questions."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows: list[dict[str, Any]] = json.load(file)
    tasks = []
    for row in rows:
        _, hops, length, _ = row["metadata"]["qa_pair_ids"][0].split("_")
        facts = [Fact(int(serial), text) for serial, text in _NUMBERED.findall(row["context"])]
        pairs = zip(row["questions"], row["answers"], strict=True)
        questions = tuple(Question(text, tuple(golds)) for text, golds in pairs)
        kind = {"sh": "single", "mh": "multi"}[hops]
        tasks.append(Task(length, kind, tuple(facts), questions))
    return tasks


@dataclass(frozen=True)
class Gold:
    """The gold fact of a question, and the texts that conflict with it."""

    text: str
    older: frozenset[str]
    newer: frozenset[str]


class Truth:
    """What the facts of one context say about what is current."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self.facts = facts
        self._having: dict[str, list[Fact]] = defaultdict(list)
        for fact in facts:
            for token in set(fact.tokens):
                self._having[token].append(fact)

    def weight(self, tokens: set[str]) -> float:
        """How much tokens say; one that no fact has says nothing."""
        counts = [len(self._having[token]) for token in tokens if token in self._having]
        return sum(math.log(len(self.facts) / count) for count in counts)

    def _having_all(self, tokens: Sequence[str]) -> Sequence[Fact]:
        """The facts that have the rarest of the tokens, among which are those that have all."""
        if not tokens:
            return ()
        return min((self._having.get(token, []) for token in tokens), key=len)

    def gold(self, question: Question) -> Gold | None:
        """Find the gold fact of a single-hop question; None where no fact has the answer."""
        asked = set(normalised(question.text))
        found: list[tuple[float, int, int, Fact, tuple[int, int]]] = []
        answers = [fact for gold in question.golds for fact in self._having_all(normalised(gold))]
        for fact in dict.fromkeys(answers):
            for span in _spans(fact.tokens, question.golds):
                rest = {*fact.tokens[: span[0]], *fact.tokens[span[1] :]}
                shared = round(self.weight(rest & asked), 9)
                found.append((shared, -len(rest - asked), fact.serial, fact, span))
        if not found:
            return None
        *_, fact, (start, end) = max(found, key=lambda entry: entry[:3])
        prefix, suffix = fact.tokens[:start], fact.tokens[end:]
        near = self._having_all((*prefix, *suffix))
        others = [other for other in near if _differs(other.tokens, fact.tokens, start, end)]
        return Gold(
            fact.text,
            frozenset(other.text for other in others if other.serial < fact.serial),
            frozenset(other.text for other in others if other.serial > fact.serial),
        )


def _spans(tokens: tuple[str, ...], golds: Sequence[str]) -> list[tuple[int, int]]:
    spans = []
    for gold in map(normalised, golds):
        size = len(gold)
        starts = range(len(tokens) - size + 1) if size and gold[0] in tokens else ()
        spans += [(at, at + size) for at in starts if tokens[at : at + size] == gold]
    return spans


def _differs(other: tuple[str, ...], gold: tuple[str, ...], start: int, end: int) -> bool:
    prefix, suffix = gold[:start], gold[end:]
    stop = len(other) - len(suffix)
    ends_alike = other[:start] == prefix and other[stop:] == suffix
    return start < stop and ends_alike and other[start:stop] != gold[start:end]


def _stretch(fact: Fact, new: Sequence[str]) -> str:
    """The fact from its first to its last new token."""
    places = [place for place, token in enumerate(fact.tokens) if token in new]
    return " ".join(fact.tokens[places[0] : places[-1] + 1]) if places else ""


@dataclass(frozen=True)
class Shown:
    """What one search gave: what was fetched, what stayed, and what of it is shown."""

    candidates: Sequence[Fact]
    kept: Sequence[Fact]
    shown: Sequence[Fact]
    pairs: int = 0

    @property
    def removed(self) -> set[str]:
        """Texts that were fetched and did not stay, not even from another fact."""
        return {fact.text for fact in self.candidates} - {fact.text for fact in self.kept}


@dataclass
class Reading:
    """What was seen on the way to an answer."""

    answer: str = ""
    fact: Fact | None = None
    searches: list[Shown] = field(default_factory=list)

    @property
    def context(self) -> dict[int, Fact]:
        """Every fact that was shown, by its number."""
        return {fact.serial: fact for search in self.searches for fact in search.shown}


class ExtractiveReader:
    """Answers with words of one shown fact, as the module's docstring says."""

    def __init__(self, encoder: SentenceEncoder, truth: Truth) -> None:
        self._encoder = encoder
        self._weight = truth.weight

    def read(self, question: str, search: Callable[[str], Shown], *, most_hops: int) -> Reading:
        """Follow at most ``most_hops`` facts."""
        reading = Reading()
        chain: list[Fact] = []
        best = -1.0
        known = set(normalised(question))
        new: list[str] = []
        query = question
        for _ in range(most_hops):
            reading.searches.append(search(query))
            options = [
                fact
                for fact in reading.searches[-1].shown
                if fact not in chain and (not chain or self._continues(fact, set(new)))
            ]
            if not options:
                break
            fact, similarity = self._most_similar(question, chain, options)
            new = [token for token in fact.tokens if token not in known]
            known |= set(new)
            chain.append(fact)
            if similarity > best:
                best, reading.fact, reading.answer = similarity, fact, _stretch(fact, new)
            if not new:
                break
            covered = {token for read in chain for token in read.tokens}
            open_words = [token for token in normalised(question) if token not in covered]
            query = " ".join([*open_words, *new])
        return reading

    def _continues(self, fact: Fact, new: set[str]) -> bool:
        return self._weight(new & set(fact.tokens)) >= _BRIDGE * self._weight(new) > 0

    def _most_similar(
        self, question: str, chain: Sequence[Fact], options: Sequence[Fact]
    ) -> tuple[Fact, float]:
        before = [fact.text for fact in chain]
        texts = [" ".join([*before, fact.text]) for fact in options]
        scores = self._encoder.similarity([question], texts)[0]
        ranked = zip(scores.tolist(), options, strict=True)
        score, fact = max(ranked, key=lambda entry: (round(entry[0], 6), entry[1].serial))
        return fact, score
