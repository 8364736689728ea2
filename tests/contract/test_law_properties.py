"""Properties of the laws, over generated memories and generated conflict relations."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gcmem import Collector, Memory
from tests.support import ScriptedDetector

pytestmark = pytest.mark.filterwarnings("ignore::gcmem.UndatedWarning")

TEXTS = ["p", "q", "r", "s", "t", "u"]


@st.composite
def memory_sets(draw: st.DrawFn) -> list[Memory]:
    size = draw(st.integers(1, 9))
    return [
        Memory(
            draw(st.sampled_from(TEXTS)),
            draw(st.one_of(st.none(), st.integers(0, 4))),
            id=f"m{number}",
            scope=draw(st.sampled_from(["", "x", "y"])) or (),
            source=draw(st.one_of(st.none(), st.sampled_from(["d1", "d2"]))),
            authority=draw(st.sampled_from([0.0, 0.0, 1.0])),
        )
        for number in range(size)
    ]


relations = st.frozensets(
    st.tuples(st.sampled_from(TEXTS), st.sampled_from(TEXTS)).filter(lambda p: p[0] != p[1])
)


def collect(relation: Any, memories: list[Memory], **options: Any) -> Any:
    detector = ScriptedDetector(lambda older, newer: (older, newer) in relation)
    return Collector(detector, **options).collect("q", memories)


def may_shadow(older: Memory, newer: Memory) -> bool:
    """Law 1 with laws 5 and 6, written down directly."""
    return (
        older.timestamp is not None
        and newer.timestamp is not None
        and newer.timestamp > older.timestamp
        and older.scope == newer.scope
        and (older.source is None or older.source != newer.source)
        and newer.authority >= older.authority
    )


@given(memory_sets(), relations)
def test_the_kept_set_is_what_judging_every_pair_gives(memories: Any, relation: Any) -> None:
    expected = [
        m.id
        for m in memories
        if not any(may_shadow(m, n) and (m.text, n.text) in relation for n in memories)
    ]
    assert [m.id for m in collect(relation, memories).kept] == expected


@given(memory_sets(), relations, st.randoms())
def test_the_order_of_the_input_does_not_matter(memories: Any, relation: Any, random: Any) -> None:
    shuffled = list(memories)
    random.shuffle(shuffled)
    kept = collect(relation, memories)
    again = collect(relation, shuffled)
    assert {m.id for m in kept.kept} == {m.id for m in again.kept}
    assert [m.id for m in again.kept] == [m.id for m in shuffled if m in again.kept]
    key = lambda pair: frozenset(m.id for m in pair.memories)  # noqa: E731
    assert set(map(key, kept.unresolved)) == set(map(key, again.unresolved))


@given(memory_sets(), relations)
def test_collecting_what_was_kept_changes_nothing(memories: Any, relation: Any) -> None:
    kept = collect(relation, memories).kept
    assert collect(relation, kept).kept == kept


@given(memory_sets(), relations, st.sampled_from(["excise", "drop", "annotate", "report"]))
def test_something_is_always_kept(memories: Any, relation: Any, policy: Any) -> None:
    assert collect(relation, memories, on_conflict=policy).kept


@given(memory_sets(), relations)
def test_scopes_could_be_collected_one_by_one(memories: Any, relation: Any) -> None:
    together = {m.id for m in collect(relation, memories).kept}
    apart: set[str] = set()
    for scope in {m.scope for m in memories}:
        apart |= {m.id for m in collect(relation, [m for m in memories if m.scope == scope]).kept}
    assert together == apart


@settings(max_examples=30)
@given(memory_sets(), relations, st.booleans())
def test_async_and_cache_change_nothing(memories: Any, relation: Any, cached: bool) -> None:
    detector = ScriptedDetector(lambda older, newer: (older, newer) in relation)
    collector = Collector(detector, cache=None if cached else False)
    first = collector.collect("q", memories).kept
    assert asyncio.run(collector.acollect("q", memories)).kept == first
    assert collector.collect("q", memories).kept == first


@given(memory_sets(), relations, st.integers(0, 10))
def test_a_budget_only_ever_keeps_more(memories: Any, relation: Any, budget: int) -> None:
    full = collect(relation, memories)
    short = collect(relation, memories, max_pairs=budget)
    assert {m.id for m in full.kept} <= {m.id for m in short.kept}
    assert short.stats.pairs_judged <= budget
