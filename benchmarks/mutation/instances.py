"""Instances: an attribute that changed, said N times before and M times after, among distractors.

An instance is the memory of one chat about one held-out attribute of the training corpus (splits
dev and test, attributes with one value at a time; the bundled model trained on neither, its
threshold was chosen on dev). N statements of earlier states come first, then M of the current one;
distractors lie anywhere. The corpus has no more than 4 to 8 wordings of a state, so beyond that
wordings return, as chunks of their own with a later day; `Instance.wordings` counts how many
different ones there are. One chunk is one turn is one day.

kinds: "change" A -> B; where the attribute has a third state C also "chain" A -> B -> C (the N are
half A, half B) and "flip" A -> B -> A (the N are half A, half B: the early A speak for the current
state, so that only the B are stale).

wordings: "behaviour" takes statements from which the state must be inferred, as the paper does;
"said" takes the plain ones, and announcements of the change among the new ones.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final, Literal

from gcmem import Memory
from gcmem.training.corpus_files import Family, read_families
from gcmem.training.lint import words

Role = Literal["old", "earlier", "new", "distractor"]
Wording = Literal["behaviour", "said"]

RATIOS: Final = ((1, 1), (2, 1), (5, 1), (10, 1), (50, 1), (100, 1))
SIZES: Final = {"medium": 48, "large": 65, "paper": 2016}
DISTRACTORS: Final = 20
_START: Final = datetime(2025, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Chunk:
    """One turn: "old" speaks for a state that has ended, "earlier" for the first A of a flip."""

    id: str
    text: str
    day: int
    role: Role
    state: str | None

    @property
    def when(self) -> datetime:
        return _START + timedelta(days=self.day)

    def memory(self, relevance: float | None = None) -> Memory:
        return Memory(self.text, self.when, id=self.id, relevance=relevance)


@dataclass(frozen=True, slots=True)
class Instance:
    """One chat, oldest chunk first, and the question about what is true now."""

    id: str
    family: str
    kind: str
    ratio: tuple[int, int]
    query: str
    current: str
    labels: dict[str, str]
    chunks: tuple[Chunk, ...]

    @property
    def states(self) -> set[str]:
        return {chunk.state for chunk in self.chunks if chunk.state is not None}

    @property
    def wordings(self) -> int:
        return len({chunk.text for chunk in self.chunks if chunk.state is not None})


def held_out_families() -> list[Family]:
    """Attributes that the model did not learn, with one value at a time."""
    return [f for f in read_families() if f.split != "train" and not f.multi]


def make_instances(
    count: int,
    *,
    wording: Wording = "behaviour",
    ratios: Sequence[tuple[int, int]] = RATIOS,
    distractors: int = DISTRACTORS,
    seed: int | str = 0,
) -> list[Instance]:
    """Make instances; ratios, attributes and kinds take turns, so that each gets its share."""
    random = Random(f"mutation {seed}")
    families = held_out_families()
    random.shuffle(families)
    kinds = itertools.cycle(("chain", "flip", "change"))
    instances = []
    for number in range(count):
        family = families[number % len(families)]
        ratio = ratios[(number + number // len(families)) % len(ratios)]
        has_c = len(family.states) > 2 and ratio[0] > 1
        kind = next(kinds) if has_c else "change"
        others = [other for other in families if other.id != family.id]
        instances.append(
            _instance(f"i{number}", family, kind, ratio, wording, distractors, others, random)
        )
    return instances


def _instance(
    name: str,
    family: Family,
    kind: str,
    ratio: tuple[int, int],
    wording: Wording,
    distractors: int,
    others: Sequence[Family],
    random: Random,
) -> Instance:
    path = random.sample(sorted(family.states), 3 if kind == "chain" else 2)
    if kind == "flip":
        path.append(path[0])
    *before, current = path
    n, m = ratio
    lines: list[tuple[str, Role, str | None]] = []
    shares = [n] if len(before) == 1 else [n // 2, n - n // 2]
    for state, share in zip(before, shares, strict=True):
        said = _wordings(family, state, wording, random)
        role: Role = "earlier" if state == current else "old"
        lines += [(next(said), role, state) for _ in range(share)]
    said = _wordings(family, current, wording, random, after=before[-1])
    lines += [(next(said), "new", current) for _ in range(m)]
    for text in _distractors(family, distractors, others, random):
        lines.insert(random.randint(0, len(lines)), (text, "distractor", None))
    chunks = tuple(
        Chunk(f"{name}-{day}", text, day, role, state)
        for day, (text, role, state) in enumerate(lines)
    )
    labels = dict(family.labels)
    return Instance(name, family.id, kind, ratio, family.query, current, labels, chunks)


def _wordings(
    family: Family, state: str, wording: Wording, random: Random, after: str | None = None
) -> Iterator[str]:
    """Every wording once before any returns."""
    explicit, inferred = family.states[state]
    texts = list(inferred if wording == "behaviour" else explicit)
    if wording == "said" and after is not None:
        texts += family.transitions.get((after, state), ())
    random.shuffle(texts)
    return itertools.cycle(texts)


def _distractors(family: Family, count: int, others: Sequence[Family], random: Random) -> list[str]:
    """Of the same attribute's surroundings first (they are the hard ones), then of others."""
    own = _surroundings(family)
    near = random.sample(own, min(count, len(own)))
    chosen = random.sample(list(others), count - len(near))
    return near + [random.choice(other.compatible) for other in chosen]


def most_distractors() -> int:
    """How many distractors there are for every attribute."""
    families = held_out_families()
    return min(len(_surroundings(family)) for family in families) + len(families) - 1


def _surroundings(family: Family) -> list[str]:
    return [*family.compatible, *family.past, *family.other_entity, *family.nonfactual]


def leakage(instances: Sequence[Instance]) -> dict[str, float]:
    """Share of the state's statements that hold a word, or all words, of the state's label.

    Counted are words of more than three letters and every word with a digit.
    """
    some = every = total = 0
    for instance in instances:
        for chunk in instance.chunks:
            if chunk.state is None:
                continue
            label = _keywords(instance.labels[chunk.state])
            total += 1
            some += bool(label & _keywords(chunk.text))
            every += bool(label) and label <= _keywords(chunk.text)
    return {"a word": some / total, "the whole label": every / total, "statements": total}


def _keywords(text: str) -> set[str]:
    return words(text) | set(re.findall(r"\b[a-z]*\d[a-z0-9]*", text.lower()))
