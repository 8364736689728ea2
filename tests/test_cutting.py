"""Who is shown where there is room for k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gcmem import Collector, Memory
from gcmem.cutting import order_of_room
from gcmem.retrieval import Collect, Fetch, RetrievalPlan
from tests.support import ScriptedDetector, slot_rule


def memory(id: str, text: str, day: int) -> Memory:
    return Memory(text, 86_400 * day, id=id)


def shown(ranking: Sequence[Memory], k: int | None, **options: Any) -> list[str]:
    collector = Collector(ScriptedDetector(slot_rule), gate=False, **options)
    steps = RetrievalPlan(k=k).run("q")
    answer: Any = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as stop:
            return [found.id for found in stop.value.memories]
        if isinstance(step, Fetch):
            answer = [list(ranking)]
        elif isinstance(step, Collect):
            answer = collector.collect(step.query, step.memories)


OLD, NEW = memory("old", "floor=2", 1), memory("new", "floor=4", 9)
OTHERS = [memory(f"o{n}", f"other{n}=x", 5) for n in range(4)]


def test_a_correction_is_shown_for_the_answer_that_it_replaces() -> None:
    assert shown([OLD, *OTHERS, NEW], 2) == ["o0", "new"]


def test_at_the_end_of_a_chain_stands_the_newest() -> None:
    middle = memory("middle", "floor=3", 5)
    assert shown([OLD, *OTHERS, middle, NEW], 1) == ["new"]
    rule = ScriptedDetector(lambda old, new: (old[-1], new[-1]) in {("2", "3"), ("3", "4")})
    ranking = [OLD, *OTHERS, middle, NEW]
    collection = Collector(rule, gate=False).collect("q", ranking)
    assert order_of_room(collection, ranking)[0] == 6


def test_what_replaces_a_part_is_shown_behind_the_rest() -> None:
    both = memory("both", "wall=red\nfloor=2", 1)
    assert shown([both, *OTHERS, NEW], 2) == ["both", "new"]


@pytest.mark.parametrize("policy", ["annotate", "report"])
def test_what_stays_keeps_its_room(policy: str) -> None:
    assert shown([OLD, *OTHERS, NEW], 2, on_conflict=policy) == ["old", "o0"]


def test_an_expired_memory_has_no_heir() -> None:
    ended = Memory("floor=2", 1, id="ended", valid_until="2020-01-01")
    assert shown([ended, *OTHERS], 2) == ["o0", "o1"]


texts = st.tuples(st.sampled_from("abc"), st.sampled_from("123")).map("=".join)


@given(st.lists(st.tuples(texts, st.integers(0, 5)), max_size=8), st.integers(1, 8))
def test_there_are_k_or_all_and_no_slot_is_lost_before_its_rank(
    rows: list[tuple[str, int]], k: int
) -> None:
    ranking = [memory(f"m{n}", text, day) for n, (text, day) in enumerate(rows)]
    every, few = shown(ranking, None), shown(ranking, k)
    assert few == [found for found in every if found in few]
    assert len(few) == min(k, len(every))
    if ranking:
        first_slot = ranking[0].text[0]
        assert first_slot in {ranking[int(found[1:])].text[0] for found in few}
