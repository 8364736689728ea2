"""What holds when a judge's budget ends, and that wrappers lose none of what it is shown."""

from __future__ import annotations

import asyncio
from functools import partial

import numpy as np
import pytest

from gcmem import Calibration, Collector, Memory, calibrate
from gcmem.checks import whole_number
from gcmem.detectors import CascadeDetector, LLMDetector, calibrated
from gcmem.detectors.asking import BudgetSpentWarning
from gcmem.detectors.base import ScoreArray

PAIR = [("Ann lives in Ulm.", "Ann lives in Kiel.")]
ANSWER = '{"verdicts": [{"pair": 1, "verdict": "yes", "probability": 0.97}]}'
MEASURED = Calibration(threshold=0.5, precision=1.0, recall=1.0, n=2)
MEMORIES = [
    Memory("Ann lives in Ulm.", "2025-01-01", id="old"),
    Memory("Ann lives in Kiel.", "2025-02-01", id="new"),
]


class Unsure:
    """Scores every pair at its threshold, so that a cascade asks its second detector."""

    name, threshold, calibration, uses_query = "unsure", 0.5, None, False

    def score(self, pairs: list[tuple[str, str]], query: str | None = None) -> ScoreArray:
        return np.full(len(pairs), 0.5, dtype=np.float32)


def failing(prompt: str) -> str:
    raise ConnectionError("503")


def recording(seen: list[str]) -> LLMDetector:
    def model(prompt: str) -> str:
        seen.append(prompt)
        return ANSWER

    return LLMDetector(model, name="recording", use_query=True)


@pytest.mark.parametrize(
    "wrap", [lambda judge: judge, lambda judge: CascadeDetector(Unsure(), judge)]
)
def test_a_calibrated_judge_is_shown_the_dates(wrap):
    seen: list[str] = []
    Collector(calibrated(wrap(recording(seen)), MEASURED), cache=False).collect("Where?", MEMORIES)
    assert len(seen) == 1
    assert "2025-02-01" in seen[0]


def test_calibration_shows_the_question_and_the_dates_of_a_row():
    seen: list[str] = []
    row = {"older": "a", "newer": "b", "older_at": "2025-01-01", "newer_at": "2025-02-01"}
    rows = [{**row, "label": True, "query": "Q1?"}, {**row, "label": False, "query": "Q2?"}]
    calibrate(recording(seen), rows, min_precision=0.5)
    assert ["Q1?" in seen[0], "Q2?" in seen[1], "2025-02-01" in seen[1]] == [True, True, True]


@pytest.mark.filterwarnings("ignore::gcmem.detectors.asking.BudgetSpentWarning")
@pytest.mark.parametrize(
    "budget", [{"backoff": 30.0, "deadline": 10.0}, {"backoff": 0.0, "max_calls": 1}]
)
def test_an_error_is_raised_where_the_budget_ends_the_retries(budget):
    with pytest.raises(ConnectionError):
        LLMDetector(failing, name="failing", retries=2, **budget).score(PAIR)
    with pytest.raises(ConnectionError):
        asyncio.run(LLMDetector(failing, name="failing", retries=2, **budget).ascore(PAIR))


def test_a_hanging_call_does_not_outlive_the_deadline_in_ascore():
    async def hanging(prompt: str) -> str:
        await asyncio.Event().wait()
        return ANSWER

    async def scored() -> ScoreArray:
        detector = LLMDetector(hanging, name="hanging", deadline=0.05)
        return await asyncio.wait_for(detector.ascore(PAIR), 30)

    assert np.isnan(asyncio.run(scored())).all()


@pytest.mark.filterwarnings("ignore::gcmem.detectors.asking.BudgetSpentWarning")
@pytest.mark.parametrize("budget", [{"max_calls": 0}, {"deadline": 0.0}])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda judge: judge,
        lambda judge: CascadeDetector(Unsure(), judge),
        lambda judge: calibrated(judge, MEASURED),
    ],
)
def test_a_spent_budget_counts_as_unjudged_and_not_as_refused(wrap, budget):
    judge = wrap(LLMDetector(failing, name="failing", **budget))
    stats = Collector(judge, cache=False).collect("Where?", MEMORIES).stats
    assert (stats.pairs_unjudged, stats.pairs_refused, stats.pairs_judged) == (1, 0, 0)


def test_a_spent_life_budget_is_said_once():
    detector = LLMDetector(failing, name="failing", max_calls=0)
    with pytest.warns(BudgetSpentWarning) as caught:
        scores = [detector.score(PAIR) for _ in range(2)]
    assert np.isnan(scores).all()
    assert len(caught) == 1


@pytest.mark.parametrize("model", [lambda prompt: ANSWER, partial(failing)])
def test_a_model_without_a_name_of_its_own_needs_one(model):
    with pytest.raises(ValueError, match="name must be given"):
        LLMDetector(model)
    assert "mine" in LLMDetector(model, name="mine").name


@pytest.mark.parametrize(
    "option",
    [{"retries": 1.5}, {"pairs_per_call": 2.5}, {"concurrency": 2.5}, {"max_calls": True}],
)
def test_a_count_that_is_no_whole_number_is_an_error(option):
    with pytest.raises(TypeError, match=next(iter(option))):
        LLMDetector(failing, **option)


def test_a_whole_number_that_is_too_small_is_an_error():
    assert whole_number("size", 1, least=1) == 1
    with pytest.raises(ValueError, match="size must be at least 1"):
        whole_number("size", 0, least=1)
