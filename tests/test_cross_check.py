"""Doubtful verdicts are decided by the sure ones beside them, and nothing else is."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import permutations

import pytest

from gcmem import Collector, Memory, load_detector
from gcmem.detectors import CascadeDetector, calibrated
from gcmem.detectors.base import Calibration
from tests.support import ScriptedDetector

SURE, DOUBT, CLEAR_NO = 0.9, 0.3, 0.1
FIRST = Memory("Bram keeps his notes in Marginal.", 1, id="first")
AGAIN = Memory("Marginal it is for notes, says Bram.", 2, id="again")
LATER = Memory("Bram has gone over to Cuadro.", 9, id="later")


def detector(
    scores: dict[tuple[str, str], float],
    same: dict[tuple[str, str], float],
    apart: dict[tuple[str, str], float] = {},  # noqa: B006
    *,
    rest: Callable[[str, str], float] = lambda older, newer: 0.0,
) -> ScriptedDetector:
    """Kappa by ids (older, newer), and what says the same by ids (older, newer)."""
    made = ScriptedDetector(
        lambda older, newer: scores.get(named(older, newer), rest(older, newer))
    )
    supports = ScriptedDetector(
        lambda older, newer: same.get(named(older, newer), 0.0), name="same", threshold=0.7
    )
    neither = ScriptedDetector(
        lambda older, newer: apart.get(named(older, newer), 0.0), name="apart"
    )
    made.relation = {"supports": supports, "neither": neither}.__getitem__  # type: ignore[attr-defined]
    return made


def named(older: str, newer: str) -> tuple[str, str]:
    ids = {memory.text: memory.id for memory in (FIRST, AGAIN, LATER)}
    return ids.get(older, older), ids.get(newer, newer)


SAME = {("first", "again"): 0.8}
FIRST_IS_SURE = {("first", "later"): SURE, ("again", "later"): DOUBT}


def kept(collector: Collector, *memories: Memory) -> list[str]:
    return [memory.id for memory in collector.collect("", memories).kept]


def test_a_doubtful_statement_goes_with_what_it_restates() -> None:
    collection = Collector(detector(FIRST_IS_SURE, SAME)).collect("", [FIRST, AGAIN, LATER])
    assert [memory.id for memory in collection.kept] == ["later"]
    shadow = collection.shadowed[1]
    assert (shadow.memory, shadow.by, shadow.via) == (AGAIN, LATER, FIRST)
    assert shadow.score == pytest.approx(SURE)
    assert "as it says the same as memory 'first'" in collection.explain("again")
    assert collection.report()["removed"][1]["via"] == "first"
    assert "via" not in collection.report()["removed"][0]


def test_what_came_first_goes_with_what_restates_it() -> None:
    scores = {("first", "later"): DOUBT, ("again", "later"): SURE}
    assert kept(Collector(detector(scores, SAME)), FIRST, AGAIN, LATER) == ["later"]


def test_a_clear_no_is_not_overruled() -> None:
    scores = FIRST_IS_SURE | {("again", "later"): CLEAR_NO}
    assert kept(Collector(detector(scores, SAME)), FIRST, AGAIN, LATER) == ["again", "later"]


def test_what_does_not_say_the_same_stays() -> None:
    judge = detector(FIRST_IS_SURE, {("first", "again"): 0.6})
    assert kept(Collector(judge), FIRST, AGAIN, LATER) == ["again", "later"]


def test_saying_the_same_alone_removes_nothing() -> None:
    judge = detector({("first", "later"): DOUBT, ("again", "later"): DOUBT}, SAME)
    assert kept(Collector(judge), FIRST, AGAIN, LATER) == ["first", "again", "later"]
    assert judge.relation("supports").asked == []  # type: ignore[attr-defined]


def test_what_is_newer_than_the_change_is_not_reached() -> None:
    back = Memory(AGAIN.text, 12, id="again")
    assert kept(Collector(detector(FIRST_IS_SURE, SAME)), FIRST, LATER, back) == ["later", "again"]


def test_another_tenant_is_not_reached() -> None:
    elsewhere = Memory(AGAIN.text, 2, id="again", scope="other")
    there = Memory(LATER.text, 9, id="there", scope="other")
    judge = detector(FIRST_IS_SURE, SAME)
    assert kept(Collector(judge), FIRST, LATER, elsewhere, there) == ["later", "again", "there"]


def test_what_falls_with_another_takes_nothing_further_along() -> None:
    third = Memory("Notes: Marginal.", 3, id="Notes: Marginal.")
    judge = detector(
        FIRST_IS_SURE | {("Notes: Marginal.", "later"): DOUBT},
        SAME | {("again", "Notes: Marginal."): 0.9},
    )
    assert kept(Collector(judge), FIRST, AGAIN, third, LATER) == ["Notes: Marginal.", "later"]


def test_the_order_of_the_input_does_not_matter() -> None:
    results = {
        frozenset(kept(Collector(detector(FIRST_IS_SURE, SAME)), *order))
        for order in permutations([FIRST, AGAIN, LATER])
    }
    assert results == {frozenset({"later"})}


async def test_it_is_the_same_asynchronously() -> None:
    judge = CascadeDetector(detector(FIRST_IS_SURE, SAME), ScriptedDetector(lambda *_: 0.0))
    narrow = CascadeDetector(judge.first, judge.second, band=(0.45, 0.55))
    collection = await Collector(narrow).acollect("", [FIRST, AGAIN, LATER])
    assert [memory.id for memory in collection.kept] == ["later"]


def test_of_a_compound_statement_only_the_contradicted_part_goes() -> None:
    compound = Memory("Bram notes in Marginal and lives in Leeds.", 2, id="compound")
    same = {("first", compound.text): 0.9}

    def by_clause(older: str, newer: str) -> float:
        return {compound.text: DOUBT, "Bram notes in Marginal": SURE}.get(older, 0.0)

    whole = detector(
        {("first", "later"): SURE}, same, rest=lambda *pair: by_clause(*pair) * newest(pair)
    )
    collection = Collector(whole).collect("", [FIRST, compound, LATER])
    assert [memory.id for memory in collection.kept] == ["compound", "later"]
    unsure = detector({("first", "later"): SURE, (compound.text, "later"): DOUBT}, same)
    assert kept(Collector(unsure), FIRST, compound, LATER) == ["compound", "later"]


def newest(pair: tuple[str, str]) -> bool:
    return pair[1] == LATER.text


def test_the_budget_holds_for_what_says_the_same_too() -> None:
    judge = detector(FIRST_IS_SURE, SAME)
    collection = Collector(judge, max_pairs=2).collect("", [FIRST, AGAIN, LATER])
    assert [memory.id for memory in collection.kept] == ["again", "later"]
    assert judge.relation("supports").asked == []  # type: ignore[attr-defined]
    assert collection.stats.pairs_cross_checked == 0


def test_what_was_read_is_counted_apart_and_cached() -> None:
    judge = detector(FIRST_IS_SURE, SAME)
    collector = Collector(judge)
    first, second = (collector.collect("", [FIRST, AGAIN, LATER]) for _ in range(2))
    assert (first.stats.pairs_judged, first.stats.pairs_cross_checked) == (2, 1)
    assert (second.stats.cache_hits, second.stats.pairs_cross_checked) == (2, 1)
    assert len(judge.relation("supports").asked) == 1  # type: ignore[attr-defined]


def test_an_error_while_reading_what_says_the_same_follows_on_error() -> None:
    def broken(older: str, newer: str) -> float:
        raise ConnectionError

    judge = detector(FIRST_IS_SURE, SAME)
    judge.relation = lambda name: ScriptedDetector(broken)  # type: ignore[attr-defined]
    with pytest.raises(ConnectionError):
        kept(Collector(judge), FIRST, AGAIN, LATER)
    assert kept(Collector(judge, on_error="keep"), FIRST, AGAIN, LATER) == ["again", "later"]


def test_asking_for_it_with_a_detector_that_cannot_tell_is_an_error() -> None:
    with pytest.raises(ValueError, match="cross_check is True, but detector 'scripted' cannot"):
        Collector(ScriptedDetector(lambda *_: 0.0), cross_check=True)
    with pytest.raises(TypeError, match="cross_check must be True, False or None, got 1"):
        Collector(ScriptedDetector(lambda *_: 0.0), cross_check=1)  # type: ignore[arg-type]


def test_wrappers_offer_what_the_wrapped_detector_can_tell() -> None:
    bundled = load_detector("bundled")
    measured = Calibration(0.5, 0.95, 0.8, 100)
    plain = ScriptedDetector(lambda *_: 0.0)
    for judge in (
        calibrated(bundled, measured),
        CascadeDetector(bundled, plain),
        CascadeDetector(plain, bundled),
    ):
        assert judge.relation("supports").name == f"{bundled.name}/supports"  # type: ignore[attr-defined]
    assert CascadeDetector(plain, plain).relation is None


def test_the_bundled_model_tells_what_says_the_same() -> None:
    same = load_detector("bundled").relation("supports")  # type: ignore[attr-defined]
    scores = same.score(
        [
            ("Bram uses Marginal for his notes.", "Bram takes his notes in Marginal."),
            ("Bram uses Marginal for his notes.", "Bram uses Cuadro for his notes."),
            ("Bram uses Marginal for his notes.", "The ferry leaves at nine."),
        ]
    )
    assert (scores >= same.threshold).tolist() == [True, False, False]


def test_a_collector_with_the_bundled_model_still_travels_to_another_process() -> None:
    collector = Collector()
    collector.collect("", [FIRST, AGAIN, LATER])
    again = pickle.loads(pickle.dumps(collector.detector))
    assert again.relation("neither").name == collector.detector.relation("neither").name  # type: ignore[attr-defined]


ONE_SURE = {("first", "later"): SURE, ("again", "later"): 0.6}
APART = {("first", "again"): 0.9}


class TestOneChangeChangesOneThing:
    """The newer statement surely supersedes "first"; of "again" kappa is in doubt."""

    def test_a_doubtful_hit_on_something_else_is_a_false_alarm(self) -> None:
        judge = detector(ONE_SURE, {}, APART)
        assert kept(Collector(judge), FIRST, AGAIN, LATER) == ["again", "later"]

    def test_a_sure_hit_stands(self) -> None:
        judge = detector(ONE_SURE | {("again", "later"): 0.76}, {}, APART)
        assert kept(Collector(judge), FIRST, AGAIN, LATER) == ["later"]

    def test_a_doubtful_hit_on_what_may_be_the_same_thing_stands(self) -> None:
        judge = detector(ONE_SURE, {}, {("first", "again"): 0.4})
        assert kept(Collector(judge), FIRST, AGAIN, LATER) == ["later"]

    def test_a_doubtful_hit_alone_stands(self) -> None:
        judge = detector(ONE_SURE | {("first", "later"): 0.7}, {}, APART)
        assert kept(Collector(judge), FIRST, AGAIN, LATER) == ["later"]

    def test_a_statement_of_several_clauses_may_change_several_things(self) -> None:
        both = Memory("Bram has gone over to Cuadro and lives in Leeds.", 9, id="both")
        scores = {(older, both.text): score for (older, _), score in ONE_SURE.items()}
        judge = detector(scores, {}, APART)
        assert kept(Collector(judge), FIRST, AGAIN, both) == ["both"]

    def test_another_newer_statement_may_still_supersede_it(self) -> None:
        middle = Memory("Bram gave up notes.", 5, id="middle")
        scores = ONE_SURE | {("again", middle.text): SURE}
        collection = Collector(detector(scores, {}, APART)).collect(
            "", [FIRST, AGAIN, middle, LATER]
        )
        assert {s.memory.id: s.by and s.by.id for s in collection.shadowed} == {
            "first": "later",
            "again": "middle",
        }

    def test_without_the_check_every_hit_removes(self) -> None:
        judge = detector(ONE_SURE, {}, APART)
        assert kept(Collector(judge, cross_check=False), FIRST, AGAIN, LATER) == ["later"]

    def test_it_is_the_same_where_whole_memories_are_dropped_for_one_sentence(self) -> None:
        two = Memory(f"{AGAIN.text} Tea is served at four.", 2, id="two")
        scores = ONE_SURE | {("Tea is served at four.", "later"): SURE}
        apart = APART | {("first", "Tea is served at four."): 0.9}
        dropping = Collector(detector(scores, {}, apart), on_conflict="drop")
        assert kept(dropping, FIRST, two, LATER) == ["later"]
        judge = detector(ONE_SURE, {}, apart)
        assert kept(Collector(judge, on_conflict="drop"), FIRST, two, LATER) == ["two", "later"]
