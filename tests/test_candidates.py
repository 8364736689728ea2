"""The candidate set: fused rankings, united with short-term memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gcmem import Memory
from gcmem.candidates import fuse, unite


def ids(memories: list[Memory]) -> list[str]:
    return [memory.id for memory in memories]


def ranking(names: str) -> list[Memory]:
    return [Memory(name, 1, id=name) for name in names]


rankings = st.lists(st.lists(st.sampled_from("abcdef"), unique=True).map("".join), max_size=4)


def test_one_ranking_is_given_back_as_it_is() -> None:
    given_ranking = [*ranking("ba"), Memory("b", 1, id="b", relevance=0.25)]
    assert fuse([given_ranking]) == given_ranking
    assert all(a is b for a, b in zip(fuse([given_ranking]), given_ranking, strict=True))


def test_no_ranking_gives_nothing() -> None:
    assert fuse([]) == fuse([[]]) == fuse([[], []]) == []


def test_what_several_queries_find_comes_first_with_the_fused_score() -> None:
    found = fuse([ranking("abc"), ranking("cd")])
    assert ids(found) == ["c", "a", "b", "d"]
    assert found[0].relevance == pytest.approx(1 / 61 + 1 / 63)
    assert found[3].relevance == pytest.approx(1 / 62)


@given(rankings)
def test_fusing_holds_each_record_once_best_first(names: list[str]) -> None:
    found = fuse([ranking(name) for name in ["", *names]])
    assert sorted(ids(found)) == sorted(set("".join(names)))
    scores = [memory.relevance or 0 for memory in found]
    assert scores == sorted(scores, reverse=True)


@given(rankings, st.randoms())
def test_the_score_does_not_depend_on_the_order_of_the_queries(
    names: list[str], random: object
) -> None:
    lists = [ranking(name) for name in ["", *names]]
    scores = {memory.id: memory.relevance for memory in fuse(lists)}
    random.shuffle(lists)  # type: ignore[attr-defined]
    again = {memory.id: memory.relevance for memory in fuse(lists)}
    assert again == pytest.approx(scores)


def test_a_record_twice_in_one_ranking_counts_once() -> None:
    assert fuse([ranking("aab"), ranking("b")])[0].id == "b"


def test_fusing_changes_no_input() -> None:
    first = ranking("ab")
    fuse([first, ranking("b")])
    assert [memory.relevance for memory in first] == [None, None]


def test_recent_chunks_follow_the_ranking_oldest_first() -> None:
    recent = [Memory("x", 1, id="x"), Memory("y", 2, id="y")]
    assert ids(unite(ranking("ba"), recent)) == ["b", "a", "x", "y"]


def test_a_recent_chunk_that_was_retrieved_is_not_repeated() -> None:
    assert ids(unite(ranking("ba"), [Memory("other text", 9, id="a")])) == ["b", "a"]


@pytest.mark.parametrize(
    ("held", "recent", "kept"),
    [
        (5, 5, False),
        (5, 4, False),
        (5, 6, True),
        (None, 5, True),
        (5, None, False),
        (None, None, False),
    ],
    ids=[
        "same time",
        "older",
        "newer: the time would be lost",
        "the stored one is undated: the time would be lost",
        "undated",
        "both undated",
    ],
)
def test_the_same_text_is_not_repeated_unless_a_time_would_be_lost(
    held: int | None, recent: int | None, kept: bool
) -> None:
    united = unite([Memory("tea", held, id="a")], [Memory("tea", recent, id="b")])
    assert ids(united) == (["a", "b"] if kept else ["a"])


def test_the_same_text_of_another_scope_is_another_statement() -> None:
    united = unite([Memory("tea", 5, id="a", scope="u1")], [Memory("tea", 5, id="b", scope="u2")])
    assert ids(united) == ["a", "b"]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=6),
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=6),
)
def test_uniting_keeps_the_ranking_and_is_idempotent(
    first: list[tuple[str, int]], second: list[tuple[str, int]]
) -> None:
    retrieved = [Memory(text, time, id=f"r{i}") for i, (text, time) in enumerate(first)]
    recent = [Memory(text, time, id=f"s{i}") for i, (text, time) in enumerate(second)]
    united = unite(retrieved, recent)
    assert united[: len(retrieved)] == retrieved
    assert unite(united, recent) == united
    said = {(memory.text, memory.timestamp) for memory in united}
    newest = max(recent, key=lambda memory: memory.timestamp, default=None)
    assert newest is None or any(
        text == newest.text and time >= newest.timestamp for text, time in said
    )
