"""FactConsolidation: what is read from the data, the reader, and the figures on a tiny file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

pytest.importorskip("langchain_chroma")

from benchmarks import factconsolidation, results
from benchmarks.fact_reading import (
    ExtractiveReader,
    Fact,
    Question,
    Shown,
    Truth,
    matches,
    read_tasks,
)
from benchmarks.fact_searches import METHODS, Room
from benchmarks.factconsolidation import run
from gcmem.encoder import SentenceEncoder
from tests.support import ScriptedDetector

TEXTS = [
    "Nadia's bakery sells rye bread.",
    "The ferry Aurora leaves from pier four.",
    "Olaf repairs the old clock tower.",
    "The keeper of the lighthouse Skagen is Birgit Holm.",
    "The favourite instrument of Birgit Holm is the cello.",
    "The ferry Aurora leaves from pier nine.",
    "The orchard grows pears and plums.",
    "The keeper of the lighthouse Skagen is Tomas Vik.",
    "The favourite instrument of Tomas Vik is the oboe.",
]
FACTS = tuple(Fact(serial, text) for serial, text in enumerate(TEXTS))
FERRY = ("From which pier does the ferry Aurora leave?", "pier nine")
KEEPER = ("Who is the keeper of the lighthouse Skagen?", "Tomas Vik")
CHAIN = ("What is the favourite instrument of the keeper of the lighthouse Skagen?", "oboe")


def same_beginning(older: str, newer: str) -> bool:
    """A perfect detector for the facts above: one statement with another value."""
    old, new = older.split(), newer.split()
    return older != newer and old[:3] == new[:3] and old[:6] == new[:6]


def row(kind: str, *questions: tuple[str, str]) -> dict:
    return {
        "context": "A list:\n" + "\n".join(f"{n}. {text}" for n, text in enumerate(TEXTS)) + "\n",
        "questions": [question for question, _ in questions],
        "answers": [[gold] for _, gold in questions],
        "metadata": {"qa_pair_ids": [f"x_{kind}_6k_no{n}" for n in range(len(questions))]},
    }


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a tiny file in the benchmark's form; figures go beside it."""
    (tmp_path / "data").mkdir()
    rows = [row("mh", CHAIN), row("sh", FERRY, KEEPER)]
    with gzip.open(tmp_path / "data" / "factconsolidation.json.gz", "wt") as file:
        json.dump(rows, file)
    monkeypatch.setattr(results, "SHARED", tmp_path)
    monkeypatch.setattr(results, "FOLDER", tmp_path / "benchmarks" / "results")
    (tmp_path / "benchmarks").mkdir()
    return tmp_path


def reader() -> ExtractiveReader:
    return ExtractiveReader(SentenceEncoder(), Truth(FACTS))


def everything(*without: int):
    shown = [fact for fact in FACTS if fact.serial not in without]
    return lambda query: Shown(FACTS, shown, shown)


def test_rows_are_read_as_numbered_facts_and_questions(shared: Path) -> None:
    multi, single = read_tasks(shared / "data" / "factconsolidation.json.gz")
    assert (multi.length, multi.hops, single.hops) == ("6k", "multi", "single")
    assert single.facts == FACTS
    assert single.questions[1] == Question(KEEPER[0], (KEEPER[1],))


def test_the_gold_fact_and_what_it_replaces_are_found_in_the_data() -> None:
    gold = Truth(FACTS).gold(Question(FERRY[0], (FERRY[1],)))
    assert gold is not None
    assert gold.text == TEXTS[5]
    assert gold.older == {TEXTS[1]}
    assert not gold.newer


def test_a_gold_answer_that_is_the_older_value_has_a_newer_conflict() -> None:
    gold = Truth(FACTS).gold(Question(KEEPER[0], ("Birgit Holm",)))
    assert gold is not None
    assert gold.text == TEXTS[3]
    assert gold.newer == {TEXTS[7]}


def test_an_answer_that_no_fact_has_gives_no_gold_fact() -> None:
    assert Truth(FACTS).gold(Question("Who sings?", ("Ida",))) is None


def test_exact_match_ignores_case_punctuation_and_articles() -> None:
    assert matches("It is the Pier, NINE!", ["pier nine"])
    assert not matches("pier", ["pier nine"])


def test_the_reader_answers_with_the_words_that_the_question_lacks() -> None:
    reading = reader().read(KEEPER[0], everything(3), most_hops=1)
    assert reading.fact == FACTS[7]
    assert reading.answer == "tomas vik"


def test_an_answer_may_repeat_a_word_of_the_question() -> None:
    reading = reader().read(FERRY[0], everything(1), most_hops=1)
    assert matches(reading.answer, [FERRY[1]])
    assert "aurora" not in reading.answer


def test_the_reader_follows_a_chain_and_searches_for_what_it_has_read() -> None:
    queries = []

    def search(query: str) -> Shown:
        queries.append(query)
        return everything(1, 3, 4)(query)

    reading = reader().read(CHAIN[0], search, most_hops=2)
    assert "oboe" in reading.answer
    assert queries[0] == CHAIN[0]
    assert "tomas vik" in queries[1]


def test_the_reader_stops_where_nothing_shown_continues_the_chain() -> None:
    first = [FACTS[7]]
    pages = iter([Shown(first, first, first), Shown(FACTS[:3], FACTS[:3], FACTS[:3])])
    reading = reader().read(CHAIN[0], lambda query: next(pages), most_hops=4)
    assert reading.fact == FACTS[7]
    assert len(reading.searches) == 2


def measured(shared: Path, detector: ScriptedDetector, **options) -> dict[str, dict]:
    tasks = read_tasks(shared / "data" / "factconsolidation.json.gz")
    rows = run(tasks, room=Room(k=6, fetch_k=9), detector=detector, **options)
    return {f"{row['hops']} {row['method']}": row for row in rows}


def test_a_perfect_detector_leaves_nothing_outdated_and_keeps_every_gold_fact(shared: Path) -> None:
    rows = measured(shared, ScriptedDetector(same_beginning))
    assert rows["single plain"]["stale exposure"] == {"share": 1.0, "of": 2}
    for hops in ("single", "multi"):
        for method in METHODS[2:]:
            figures = rows[f"{hops} {method}"]
            assert figures["stale exposure"]["share"] == 0
            assert figures["current removed"]["share"] == 0
            assert figures["gold in context"]["share"] == 1
    assert rows["single gcmem"]["exact match"] == {"share": 1.0, "of": 2}
    assert rows["multi gcmem"]["gold removed"] == {"share": None, "of": 0}


def test_a_detector_that_sees_conflicts_everywhere_is_seen_to_delete_too_much(shared: Path) -> None:
    rows = measured(shared, ScriptedDetector(lambda older, newer: True), hops=["single"])
    assert rows["single gcmem"]["gold removed"] == {"share": 1.0, "of": 2}
    assert rows["single gcmem"]["current removed"]["share"] == 1
    assert rows["single gcmem"]["gold in context"]["share"] == 0
    assert "multi gcmem" not in rows


def test_an_answerer_sees_what_is_shown_and_is_scored_apart(shared: Path) -> None:
    seen = []

    def answerer(question: str, shown) -> str:
        seen.append([fact.text for fact in shown])
        return "Pier nine."

    rows = measured(shared, ScriptedDetector(same_beginning), hops=["single"], answerer=answerer)
    assert rows["single gcmem"]["LLM exact match"] == {"share": 0.5, "of": 2}
    assert all(len(texts) <= 6 for texts in seen)


def test_the_command_writes_its_figures_and_says_where(shared: Path, capsys) -> None:
    factconsolidation.main(["--lengths", "6k", "--hops", "single", "--questions", "1"])
    written = json.loads((results.FOLDER / "factconsolidation.json").read_text())
    assert [row["method"] for row in written["results"]] == list(METHODS)
    assert {row["questions"] for row in written["results"]} == {1}
    assert written["config"]["lengths"] == ["6k"]
    assert "benchmarks/results/factconsolidation.json" in capsys.readouterr().out


def test_a_run_can_be_added_to_an_earlier_one_with_the_same_settings(shared: Path) -> None:
    once = ["--lengths", "6k", "--questions", "1", "--ledger-lengths"]
    factconsolidation.main([*once, "--hops", "multi"])
    factconsolidation.main([*once, "--hops", "single", "--add"])
    written = json.loads((results.FOLDER / "factconsolidation.json").read_text())
    assert [row["hops"] for row in written["results"]] == ["single"] * 4 + ["multi"] * 4
    own = "python -m benchmarks factconsolidation --lengths 6k --questions 1 --ledger-lengths"
    assert written["command"] == f"{own} --hops multi && {own} --hops single --add"


def test_a_run_added_to_one_whose_command_is_not_known_has_none_either(shared: Path) -> None:
    once = ["--lengths", "6k", "--questions", "1", "--ledger-lengths", "--hops"]
    output = shared / "trial.json"
    factconsolidation.main([*once, "multi", "--output", str(output)])
    content = json.loads(output.read_text())
    del content["command"]
    output.write_text(json.dumps(content))
    factconsolidation.main([*once, "single", "--add", "--output", str(output)])
    assert json.loads(output.read_text())["command"] is None
    assert not (results.FOLDER / "factconsolidation.json").exists()


def test_figures_of_other_settings_are_not_mixed(shared: Path) -> None:
    once = ["--lengths", "6k", "--hops", "single", "--ledger-lengths"]
    factconsolidation.main([*once, "--questions", "1"])
    with pytest.raises(SystemExit, match="questions = 1, this one 2"):
        factconsolidation.main([*once, "--questions", "2", "--add"])


def test_a_missing_file_is_said_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "SHARED", tmp_path)
    with pytest.raises(SystemExit, match=r"factconsolidation\.json\.gz"):
        factconsolidation.main([])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--llm-url", "http://localhost:1"], "go together"),
        (["--k", "50"], "--fetch-k must be at least --k=50, got 40"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments, message, capsys) -> None:
    with pytest.raises(SystemExit):
        factconsolidation.main(arguments)
    assert message in capsys.readouterr().err
