"""Questions about the past, and what only looks like them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gcmem import Collector, Memory
from gcmem.history import asks_about_past
from gcmem.past_dates import names_past_date
from gcmem.timestamps import to_utc

TODAY = "2026-11-30"
QUESTIONS = Path(__file__).parents[1] / "benchmarks" / "data" / "history_questions.jsonl"


def labelled(split: str) -> list[dict[str, object]]:
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["split"] == split]


def share_recognised(rows: list[dict[str, object]]) -> float:
    found = [asks_about_past(str(row["query"]), today=str(row["today"])) for row in rows]
    return sum(found) / len(found)


def test_the_labelled_set_is_large_half_lookalikes_and_without_repeats() -> None:
    rows = labelled("dev") + labelled("test")
    past = [row for row in rows if row["asks_about_past"]]
    assert len(rows) >= 240
    assert 0.45 <= len(past) / len(rows) <= 0.55
    assert len({row["query"] for row in rows}) == len({row["id"] for row in rows}) == len(rows)


@pytest.mark.parametrize("split", ["dev", "test"])
def test_nine_of_ten_labelled_questions_are_told_apart(split: str) -> None:
    rows = labelled(split)
    assert share_recognised([row for row in rows if row["asks_about_past"]]) >= 0.9
    assert share_recognised([row for row in rows if not row["asks_about_past"]]) <= 0.1


@pytest.mark.parametrize(
    ("question", "past"),
    [
        ("What was the price in 2025?", True),
        ("What is the price in 2025?", False),
        ("What will the price be in 2027?", False),
        ("What was the price on 2026-11-29?", True),
        ("What was the price last week?", True),
        ("What is the price next week?", False),
        ("Where did I live two years ago?", True),
    ],
)
def test_years_and_dates_count_with_the_tense(question: str, past: bool) -> None:
    assert asks_about_past(question, today=TODAY) is past


def test_a_date_is_past_only_after_it() -> None:
    question = "Price in October 2026?"
    assert not asks_about_past(question, today="2025-11-30")
    assert asks_about_past(question, today="2027-02-01")
    assert names_past_date("from 2024-05-01", to_utc("2024-05-02").date(), past_tense=False)
    assert not names_past_date("from 2024-05-01", to_utc("2024-05-01").date(), past_tense=False)


def test_a_polite_frame_and_a_leading_time_change_nothing() -> None:
    assert asks_about_past("Can you tell me where I used to live?")
    assert asks_about_past("In 2019, who was the treasurer?", today=TODAY)
    assert not asks_about_past("Can you tell me where I live?")


def test_only_the_questions_of_a_text_are_read() -> None:
    assert not asks_about_past("I used to live in Ulm. What is my address?")
    assert asks_about_past("I live in Kiel. Where did I live before that?")


def test_a_curly_apostrophe_is_an_apostrophe() -> None:
    straight, curly = (f"What{mark}s the address I had before Oslo?" for mark in "'\u2019")
    assert asks_about_past(straight) is asks_about_past(curly) is True


@given(st.text(max_size=200))
def test_any_text_is_answered(text: str) -> None:
    assert asks_about_past(text, today=TODAY) in {True, False}


def test_a_very_long_text_is_answered() -> None:
    assert not asks_about_past("which all what who " * 5_000)


def test_a_question_about_the_past_removes_nothing_and_one_about_now_does() -> None:
    old = Memory("Lives in Ulm.", "2025-01-01", id="old", key="home", value="Ulm")
    new = Memory("Lives in Kiel.", "2026-01-01", id="new", key="home", value="Kiel")
    collector = Collector("explicit")
    past = collector.collect("Where did she use to live?", [old, new], history="auto")
    now = collector.collect("Where does she live?", [old, new], history="auto")
    assert [memory.id for memory in past.kept] == ["old", "new"]
    assert past.kept[0].metadata["superseded_by"] == "new"
    assert [memory.id for memory in now.kept] == ["new"]


def test_auto_counts_dates_from_the_time_of_reading() -> None:
    old = Memory("Rent 900.", "2020-01-01", id="old", key="rent", value="900")
    new = Memory("Rent 950.", "2021-01-01", id="new", key="rent", value="950")
    question = "Rent in 2023?"
    collector = Collector("explicit")
    then = collector.collect(question, [old, new], as_of="2022-01-01", history="auto")
    later = collector.collect(question, [old, new], as_of="2024-01-01", history="auto")
    assert [memory.id for memory in then.kept] == ["new"]
    assert [memory.id for memory in later.kept] == ["old", "new"]


def test_a_callable_replaces_the_recogniser() -> None:
    old = Memory("a", "2025-01-01", id="old", key="k", value="1")
    new = Memory("b", "2026-01-01", id="new", key="k", value="2")
    kept = Collector("explicit").collect("now?", [old, new], history=lambda query: "now" in query)
    assert len(kept.kept) == 2
