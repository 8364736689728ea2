"""Latency: what is in a set, what is measured in full, and what is said to be extrapolated."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import numpy as np
import pytest

pytest.importorskip("langchain_chroma")
from langchain_core.messages import AIMessage

from benchmarks import language_model, latency, results
from benchmarks.costs import judge, stores
from benchmarks.costs.row import Bounds, NotingDetector, measure
from benchmarks.costs.sets import candidate_set, count_pairs, every_pair
from gcmem import Memory
from tests.support import ScriptedDetector, slot_rule

WHOLE = Bounds(whole=10_000, sample=10_000, seconds=600)


def slots(*values: str) -> list[Memory]:
    return [Memory(f"pier={v}.", 86_400.0 * n, id=str(n)) for n, v in enumerate(values)]


def measured(*sets: list[Memory], bounds: Bounds = WHOLE) -> tuple[dict, ScriptedDetector]:
    detector = ScriptedDetector(slot_rule)
    return measure(sets, detector, bounds=bounds, seed=1), detector


@pytest.mark.parametrize("words", [12, 150])
def test_a_set_has_k_chunks_of_that_length_with_the_new_statement_last(words):
    memories = candidate_set(20, words, Random(3))
    assert len(memories) == 20
    assert all(words <= len(memory.text.split()) < words + 40 for memory in memories)
    assert [m.timestamp for m in memories] == sorted(m.timestamp for m in memories)


def test_every_pair_is_older_then_newer_and_no_pair_comes_twice():
    pier, soup, bell = "The pier is closed.", "The soup is ready.", "The bell rings at noon."
    memories = [Memory(t, 60.0 * n) for n, t in enumerate((f"{pier} {soup}", pier, bell))]
    assert every_pair(memories) == [(soup, pier), (pier, bell), (soup, bell)]
    assert count_pairs(memories) == 2 * 1 + 3 * 1  # with equal texts and repeated pairs


def test_a_row_that_fits_is_measured_in_full_on_every_set():
    row, _ = measured(slots("a", "b", "c"), slots("d", "e", "f"))
    assert row["extrapolated"] == []
    assert row["sets"] == 2
    assert row["pairs possible"] == 3
    assert 0 < row["pairs judged"] <= 3
    assert row["share judged"] == pytest.approx(row["pairs judged"] / 3, abs=1e-3)


def test_a_row_that_has_taken_its_time_begins_no_further_set_and_says_how_many_it_measured():
    row, _ = measured(slots("a", "b", "c"), slots("d", "e", "f"), bounds=replace(WHOLE, seconds=0))
    assert row["sets"] == 1


def test_all_pairs_of_more_than_the_sample_is_scaled_up_from_it_and_says_so():
    row, detector = measured(slots(*"abcdefgh"), bounds=replace(WHOLE, sample=5))
    assert row["extrapolated"] == ["all pairs"]
    assert row["pairs possible"] == 28
    assert len(detector.batches[-1]) == 5


def test_gcmem_beyond_the_bound_is_an_upper_bound_from_one_set_and_says_so():
    sets = [slots(*"abcdefgh"), slots(*"ijklmnop")]
    in_full, _ = measured(*sets)
    row, detector = measured(*sets, bounds=replace(WHOLE, whole=10, sample=5))
    assert row["extrapolated"] == ["all pairs", "cold"]
    assert row["sets"] == 1
    assert in_full["pairs judged"] < row["pairs judged"] == 28
    assert max(len(batch) for batch in detector.batches) == 5


def test_the_stand_in_finds_nothing_notes_what_it_is_asked_and_judges_the_same_languages():
    model = ScriptedDetector(lambda older, newer: True)
    model.can_judge = lambda text: text == "english"
    noting = NotingDetector(model)
    assert not noting.score([("a", "b")]).any()
    assert noting.take() == [("a", "b")]
    assert noting.take() == []
    assert noting.can_judge("english")
    assert not noting.can_judge("deutsch")


def test_records_of_a_store_differ_and_those_that_are_not_encoded_lie_around_one_that_is():
    made_of = stores.corpus(1, encoded=20)
    records = list(stores.texts(made_of, 200))
    assert len(set(records)) == 200
    assert records[20].startswith(records[0].split(".")[0])
    centres = np.eye(20, 384, dtype=np.float32)
    vectors = stores._vectors(range(200), centres, np.random.default_rng(1))
    assert np.allclose(vectors[:20], centres)
    cosines = (vectors * centres[np.arange(200) % 20]).sum(axis=1)[20:]
    assert 0.6 < cosines.min() < cosines.max() < 0.8
    with pytest.raises(ValueError, match="at most"):
        next(stores.texts(made_of, 10**9))


def test_stores_of_two_sizes_give_ratios_and_what_was_encoded_and_no_seconds():
    found = stores.measure(
        [60, 120], ScriptedDetector(lambda *_: False), questions=2, seconds=60, seed=1, encoded=40
    )
    assert [row["records"] for row in found["rows"]] == [60, 120]
    assert {row["encoded"] for row in found["rows"]} == {40}
    assert set(found["last over first"]) == {"base", "cold", "warm"}
    assert all(row["pairs judged per question"] > 0 for row in found["rows"])
    assert not any("second" in name for row in found["rows"] for name in row)


def test_a_store_that_takes_too_long_to_fill_stays_smaller_and_says_how_large_it_is(monkeypatch):
    monkeypatch.setattr(stores, "_BATCH", 30)
    detector = ScriptedDetector(lambda *_: False)
    clock = iter([0.0, 0.0, 1.0, 5.0])
    monkeypatch.setattr(stores.time, "monotonic", lambda: next(clock, 9.0))
    found = stores.measure([120], detector, questions=1, seconds=2, seed=1, encoded=40)
    assert (found["rows"][0]["records"], found["rows"][0]["records wanted"]) == (60, 120)


class Judge:
    """A chat model that finds no conflict in any pair."""

    def invoke(self, messages: list[tuple[str, str]]) -> AIMessage:
        pairs = range(1, 500)
        asked = [n for n in pairs if f'"pair": {n},' in messages[1][1]]
        verdicts = [{"pair": n, "verdict": "no", "probability": 0.1} for n in asked]
        usage = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
        return AIMessage(json.dumps({"verdicts": verdicts}), usage_metadata=usage)


def test_an_llm_judge_is_counted_on_the_candidate_sets_of_the_rows():
    detector = ScriptedDetector(lambda *_: False)
    (row,) = judge.measure(Judge(), [5], detector, words=12, most_calls=9, seed=7)
    distinct = len(every_pair(candidate_set(5, 12, Random("7 5 12 0"))))
    assert row["pairs judged"] == distinct
    assert row["input tokens"] == 100 * row["model calls"]
    assert row["output tokens"] == 10 * row["model calls"]
    assert row["pairs without an answer"] == row["calls without token counts"] == 0


def test_an_llm_judge_stops_at_its_calls_and_says_what_it_left():
    detector = ScriptedDetector(lambda *_: False)
    (row,) = judge.measure(Judge(), [10], detector, words=12, most_calls=1, seed=7)
    assert row["model calls"] == 1
    assert row["pairs without an answer"] > 0


@pytest.mark.integration
def test_the_command_measures_each_row_in_a_process_and_writes_every_part(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(language_model, "connect", lambda url, model: Judge())
    small = ["--sizes", "5", "--words", "12", "--repeats", "1", "--stores", "50", "60"]
    endpoint = ["--llm-url", "http://127.0.0.1:1/v1", "--llm-model", "m"]
    latency.main([*small, "--sample", "20", "--questions", "1", *endpoint])
    written = json.loads((tmp_path / "latency.json").read_text(encoding="utf-8"))
    (row,) = written["results"]["rows"]
    assert row["extrapolated"] == ["all pairs"]
    assert row["peak MiB over bare import"] > 20  # two models were loaded
    assert 10 < row["bare import MiB"] < row["peak MiB"]
    assert len(written["results"]["stores"]["rows"]) == 2
    assert written["results"]["LLM judge"][0]["model calls"] > 0
    assert "llm_url" not in written["config"]
    assert "~" in capsys.readouterr().out


def test_options_out_of_range_are_refused(capsys):
    with pytest.raises(SystemExit):
        latency.main(["--sample", "0"])
    assert "--sample: must be a whole number of at least 1, got 0" in capsys.readouterr().err
