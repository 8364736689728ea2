"""What stands, arranged for searching, is what `Known` says it is."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gcmem.encoder import SentenceEncoder
from gcmem.precedents.evidence import Claim, Known
from gcmem.precedents.standing import StandingStatements, wording

KEYS = st.sampled_from(["home", "Home ", "diet", "team"])
VALUES = st.sampled_from(["Ulm", "ulm", "Kiel", "no fish", "blue", "red"])
CLAIMS = st.lists(
    st.builds(
        lambda key, value, retracts, evidence: Claim(
            key, value if value or retracts else "Ulm", retracts=retracts, evidence=evidence
        ),
        KEYS,
        st.none() | VALUES,
        st.booleans(),
        st.sampled_from(["testimony", "testimony", "guess"]),
    ),
    max_size=8,
)


class Letters(SentenceEncoder):
    """Vectors that count letters: cheap, and the same for the same text."""

    def encode(self, texts):  # type: ignore[no-untyped-def]
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for letter in text.casefold():
                vectors[row, ord(letter) % self.dimension] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


ENCODER = Letters()


def _all(standing: StandingStatements, text: str) -> list[tuple[str, str]]:
    return [pair for pair, _ in standing.most_similar(text, at_most=100, that=lambda _: True)]


def _by_likeness(pairs: Iterable[tuple[str, str]], text: str) -> list[tuple[str, str]]:
    pairs = list(pairs)
    if not pairs:
        return []
    likeness = ENCODER.similarity([text], [value for _, value in pairs])[0]
    return [pairs[row] for row in np.argsort(-likeness, kind="stable")]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(KEYS, VALUES), max_size=4), CLAIMS)
def test_after_any_claims_the_same_stands_and_the_same_is_archived(
    pairs: list[tuple[str, str]], claims: list[Claim]
) -> None:
    known = Known(standing=tuple(dict.fromkeys(pairs)))
    standing = StandingStatements(known, ENCODER)
    for claim in claims:
        standing.most_similar("blue", at_most=2, that=lambda _: True)
        standing.believe(claim)
        known = known.after(claim)
    assert _all(standing, "blue") == _by_likeness(known.standing, "blue")
    assert len(standing) == len(known.standing)
    for _, value in known.archived:
        latest = [p for p in known.archived if wording(p[1]) == wording(value)][-1]
        assert standing.archived_as(value) == latest


def test_what_was_removed_makes_room_and_is_never_found() -> None:
    standing = StandingStatements(Known(), ENCODER)
    for number in range(300):
        standing.believe(Claim("counter", f"It stands at {number}."))
        (found,) = standing.most_similar("It stands at 7.", at_most=3, that=lambda _: True)
        assert found[0] == ("counter", f"It stands at {number}.")
    assert len(standing) == 1


def test_the_condition_is_asked_of_the_most_similar_first_and_no_further_than_needed() -> None:
    values = [f"aaa{'b' * number}" for number in range(60)]
    standing = StandingStatements(Known(tuple((value, value) for value in values)), ENCODER)
    asked: list[str] = []

    def even(value: str) -> bool:
        asked.append(value)
        return value.count("b") % 2 == 0

    found = standing.most_similar("aaa", at_most=3, that=even)
    assert [pair[1] for pair, _ in found] == ["aaa", "aaabb", "aaabbbb"]
    assert asked == values[:5]


def test_conditions_that_few_pass_are_searched_to_the_end() -> None:
    values = [f"a{'b' * number}" for number in range(60)]
    standing = StandingStatements(Known(tuple((value, value) for value in values)), ENCODER)
    (found,) = standing.most_similar("a", at_most=1, that=lambda value: len(value) == 60)
    assert found[0][1] == values[-1]
    assert found[1] == pytest.approx(1 / 3481**0.5, rel=0.05)


def test_like_texts_come_newest_first() -> None:
    standing = StandingStatements(Known((("one", "same"), ("two", "same"))), ENCODER)
    standing.believe(Claim("three", "same"))
    assert [key for key, _ in _all(standing, "same")] == ["three", "one", "two"]


def test_nothing_known_is_nothing_found() -> None:
    standing = StandingStatements(Known(), ENCODER)
    assert standing.most_similar("anything", at_most=3, that=lambda _: True) == []
    assert standing.archived_as("anything") is None
