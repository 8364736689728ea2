"""The cascade: who judges what, one threshold for both, and how it passes on what stages offer."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gcmem import Collector, Memory
from gcmem.detectors import AsyncDetector, CascadeDetector, Detector
from gcmem.detectors.base import ScoreArray, TextPair
from tests.support import ScriptedDetector

unit = st.floats(0, 1, width=32)


class Fixed(ScriptedDetector):
    """Gives prepared scores by the older text."""

    def __init__(self, scores: dict[str, float], *, name: str, threshold: float = 0.5) -> None:
        super().__init__(lambda older, newer: scores[older], name=name, threshold=threshold)


class Awaited(Fixed):
    async def ascore(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        self.awaited = True
        return self.score(pairs, query)


FIRST = {"sure no": 0.05, "unsure a": 0.4, "unsure b": 0.7, "sure yes": 0.97}
SECOND = {"unsure a": 0.9, "unsure b": 0.1}
PAIRS = [(text, "newer") for text in FIRST]


def cascade(**options: object) -> tuple[CascadeDetector, Fixed, Fixed]:
    first, second = Fixed(FIRST, name="fast"), Fixed(SECOND, name="slow", threshold=0.8)
    return CascadeDetector(first, second, band=(0.3, 0.9)), first, second


def test_it_is_a_detector_with_an_asynchronous_path() -> None:
    judge, *_ = cascade()
    assert isinstance(judge, Detector)
    assert isinstance(judge, AsyncDetector)


def test_the_second_judges_the_unsure_pairs_and_only_those() -> None:
    judge, first, second = cascade()
    conflicts = judge.score(PAIRS) >= judge.threshold
    assert conflicts.tolist() == [False, True, False, True]
    assert [older for older, _ in first.asked] == list(FIRST)
    assert [older for older, _ in second.asked] == ["unsure a", "unsure b"]
    assert judge.judged == (4, 2)


def test_the_second_is_not_called_where_the_first_is_sure_of_everything() -> None:
    judge, _, second = cascade()
    judge.score([PAIRS[0], PAIRS[3]])
    assert second.batches == []


def test_scores_outside_the_band_are_those_of_the_first() -> None:
    judge, *_ = cascade()
    assert judge.score([PAIRS[0], PAIRS[3]]).tolist() == np.float32([0.05, 0.97]).tolist()


def test_a_pair_without_a_verdict_of_the_first_goes_to_the_second() -> None:
    first = Fixed({"fremd": float("nan")}, name="english")
    second = Fixed({"fremd": 0.9}, name="any language")
    judge = CascadeDetector(first, second, band=(0.3, 0.9))
    score = float(judge.score([("fremd", "neu")])[0])
    assert score >= judge.threshold
    assert judge.decided_by(("fremd", "neu"), score) == "any language"


def test_no_verdict_of_the_second_is_no_verdict() -> None:
    first = Fixed({"a": 0.6}, name="fast")
    judge = CascadeDetector(first, Fixed({"a": float("nan")}, name="slow"), band=(0.3, 0.9))
    assert np.isnan(judge.score([("a", "b")])).all()


@settings(deadline=None)
@given(
    one=unit,
    two=unit,
    own=st.floats(0.001, 1),
    limits=st.lists(st.floats(0, 1), min_size=2, max_size=2, unique=True).map(sorted),
    share=st.floats(0.001, 1),
)
@example(one=0.5, two=0.5, own=0.5, limits=[0.5, 0.9], share=0.001)
@example(one=0.9, two=1.0, own=1.0, limits=[0.1, 0.9], share=1.0)
@example(one=0.5, two=0.1, own=0.1, limits=[0.1, 1.0], share=1.0)
def test_one_threshold_gives_the_decision_and_the_name_of_the_stage_that_judged(
    one: float, two: float, own: float, limits: list[float], share: float
) -> None:
    low, high = limits
    threshold = min(low + share * (high - low), high)
    assume(low < threshold)
    first = Fixed({"a": one}, name="fast", threshold=threshold)
    second = Fixed({"a": two}, name="slow", threshold=own)
    judge = CascadeDetector(first, second, band=(low, high))
    score = float(judge.score([("a", "b")])[0])
    used = second if second.asked else first
    expected = two >= own if second.asked else one >= threshold
    assert 0 <= score <= 1
    assert (score >= judge.threshold) == expected
    assert judge.decided_by(("a", "b"), score) == used.name
    assert bool(second.asked) or not low <= one <= high


@settings(deadline=None)
@given(st.lists(unit, min_size=2, max_size=8), st.floats(0.01, 1))
def test_the_second_detectors_order_of_pairs_is_kept(scores: list[float], own: float) -> None:
    texts = {str(number): score for number, score in enumerate(scores)}
    first = Fixed(dict.fromkeys(texts, 0.5), name="fast")
    second = Fixed(texts, name="slow", threshold=own)
    placed = CascadeDetector(first, second, band=(0.2, 0.9)).score([(t, "b") for t in texts])
    order = np.argsort(scores, kind="stable")
    assert (np.diff(placed[order]) >= 0).all()


async def test_a_stage_with_an_asynchronous_path_is_awaited_and_the_other_is_not() -> None:
    first, second = Fixed(FIRST, name="fast"), Awaited(SECOND, name="slow", threshold=0.8)
    judge = CascadeDetector(first, second, band=(0.3, 0.9))
    plain, *_ = cascade()
    assert (await judge.ascore(PAIRS)).tolist() == plain.score(PAIRS).tolist()
    assert second.awaited


def test_the_gate_the_languages_and_the_question_are_passed_on() -> None:
    judge, first, second = cascade()
    assert judge.gate is None
    assert judge.can_judge("anything")
    assert judge.uses_query
    first.gate = gate = object()  # type: ignore[attr-defined]
    first.uses_query = second.uses_query = False  # type: ignore[attr-defined]
    first.can_judge = lambda text: text == "english"  # type: ignore[attr-defined]
    second.can_judge = lambda text: text == "deutsch"  # type: ignore[attr-defined]
    judge = CascadeDetector(first, second, band=(0.3, 0.9))
    assert judge.gate is gate
    assert not judge.uses_query
    assert [judge.can_judge(text) for text in ("english", "deutsch", "polski")] == [
        True,
        True,
        False,
    ]


def test_a_cascade_in_a_cascade_names_the_stage_that_judged() -> None:
    inner, *_ = cascade()
    best = Fixed({"unsure a": 0.2}, name="best")
    judge = CascadeDetector(inner, best, band=(0.45, 0.75))
    scores = judge.score(PAIRS)
    names = [judge.decided_by(pair, float(s)) for pair, s in zip(PAIRS, scores, strict=True)]
    assert names == ["fast", "best", "slow", "fast"]


@pytest.mark.parametrize("band", [(0.5, 0.9), (0.6, 0.9), (0.1, 0.4), (-0.1, 0.9), (0.1, 1.1)])
def test_a_band_that_cannot_hold_the_threshold_is_refused(band: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="band must be"):
        CascadeDetector(Fixed({}, name="a"), Fixed({}, name="b"), band=band)


def test_something_that_is_no_detector_is_named() -> None:
    with pytest.raises(TypeError, match="second must be a detector"):
        CascadeDetector(Fixed({}, name="a"), "bundled")  # type: ignore[arg-type]


def test_the_name_changes_with_everything_that_changes_scores() -> None:
    def name(first: float = 0.5, second: float = 0.5, low: float = 0.1, high: float = 0.9) -> str:
        one, two = Fixed({}, name="a", threshold=first), Fixed({}, name="b", threshold=second)
        return CascadeDetector(one, two, band=(low, high)).name

    names = {name(), name(first=0.6), name(second=0.6), name(low=0.2), name(high=0.95)}
    assert len(names) == 5


def test_the_collector_says_which_stage_decided_what() -> None:
    texts = {"slot a one": 0.05, "slot a two": 0.7, "slot a three": 0.97}
    first = Fixed(texts, name="fast")
    second = Fixed({"slot a two": 0.9}, name="slow")
    judge = CascadeDetector(first, second, band=(0.3, 0.9))
    memories = [Memory(text, i, id=text) for i, text in enumerate(texts)]
    memories += [Memory("newest", 9), Memory("7", 1, id="k", key="k"), Memory("8", 2, key="k")]
    texts |= {"newest": 0.0, "7": 0.0, "8": 0.0}
    collector = Collector(judge, granularity="chunk")
    for hits in (0, 1):  # the second time from the cache
        collection = collector.collect("", memories)
        reasons = {shadow.memory.id: shadow.reason for shadow in collection.shadowed}
        assert reasons == {"slot a two": "slow", "slot a three": "fast", "k": "slot k"}
        stages = collection.stats.stages
        assert set(stages) == {"fast", "slow", "explicit"}
        assert stages["explicit"] == 1
        judged = collection.stats.pairs_judged + collection.stats.cache_hits
        assert stages["fast"] + stages["slow"] == judged
        assert bool(collection.stats.cache_hits) is bool(hits)
        assert collection.report()["stages"] == stages


def test_excisions_name_the_stage_too() -> None:
    first = ScriptedDetector(lambda older, newer: 0.6 * ("green" in older), name="fast")
    second = ScriptedDetector(lambda older, newer: 0.9, name="slow")
    memories = [
        Memory("The lamp is green. The desk stays.", 1, id="old"),
        Memory("The lamp is red.", 2, id="new"),
    ]
    collection = Collector(CascadeDetector(first, second, band=(0.3, 0.9))).collect("", memories)
    assert [part.reason for part in collection.excisions] == ["slow"]


def test_pickling_keeps_stages_and_counts() -> None:
    judge, *_ = cascade()
    judge = CascadeDetector(_Picklable(), _Picklable(), band=(0.2, 0.8))
    judge.score([("a", "b")])
    copy = pickle.loads(pickle.dumps(judge))
    assert copy.judged == (1, 1)
    assert copy.score([("a", "b")]).tolist() == judge.score([("a", "b")]).tolist()


class _Picklable:
    name, threshold, calibration = "constant", 0.5, None

    def score(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        return np.full(len(pairs), 0.6, dtype=np.float32)
