"""The report: a table for every experiment, made anew between markers, and what a file lacks."""

from __future__ import annotations

import copy
import io
import itertools
import json
import re
from pathlib import Path

import pytest

from benchmarks import ledger, pictures, results
from benchmarks.report import command, weak
from benchmarks.report.figures import FIGURES
from benchmarks.report.figures.exposure import places
from benchmarks.report.markdown import slug, table
from benchmarks.report.overview import CLAIMS, overview
from benchmarks.report.reading import MissingFieldError, made_from, other_weights, read
from benchmarks.report.tables import TABLES
from benchmarks.trial_chat_memory.surfaces import SURFACES
from gcmem._version import __version__
from tests.benchmarks.report_contents import contents

BOTH = pytest.mark.parametrize("path", command.FILES, ids=["README.md", "benchmarks/README.md"])
NEEDED = {
    "field": ("results", "keep everything", "total"),
    "peers": ("results", "field", "gcmem", "readings", "", "stale shown"),
    "peers_llm": ("config", "LLM"),
    "streams": ("config", "threshold"),
    "detectors": ("results", "figures", "medium, behaviour", "degraded"),
    "temporal_mutation": ("results", "methods", "medium, behaviour", "STM on", "GC-Mem, oracle"),
    "bag_of_facts": ("results", "sets", "medium, behaviour", "leakage"),
    "theory": ("results", "theorem 2"),
    "factconsolidation": ("config", "fetch_k"),
    "head_lookup": ("results", "none, deep, with"),
    "history": ("results", "keywords, test", "recall"),
    "drift": ("results", "sweeps", "evidence"),
    "ledger": ("results", "paper", "query_us"),
    "latency": ("config", "detector"),
    "trial_chat_memory": ("config", "model"),
    "detector_speed": ("results", "ratios"),
}


def renewed(path: Path, given: dict, folder: Path) -> str:
    problems: list[str] = []
    text = command.renewed(path, given, folder, problems=problems)
    assert not problems
    return text


def without(content: dict, *place: str) -> dict:
    """Leave out the field at a place."""
    changed = copy.deepcopy(content)
    holder = changed
    for name in place[:-1]:
        holder = holder[name]
    del holder[place[-1]]
    return changed


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "pages" / "README.md"
    path.parent.mkdir()
    path.write_text(
        "before\n<!-- results:field -->\nof last week\n<!-- end -->\nbetween\n"
        "<!-- results:streams -->\n<!-- end -->\nafter\n"
    )
    return path


def test_every_experiment_has_a_table_a_claim_and_a_section_on_the_page_of_the_experiments():
    text = command.DETAILS.read_text(encoding="utf-8")
    headings = {slug(line.lstrip("# ")) for line in text.splitlines() if line.startswith("## ")}
    assert set(TABLES) == set(CLAIMS) == set(NEEDED)
    for name, claim in CLAIMS.items():
        assert f"<!-- results:{name} -->\n" in text
        assert slug(claim.heading) in headings
        assert f"python -m benchmarks {claim.command.partition(' ')[0]}" in text


def test_the_readme_gives_the_overview_and_what_did_not_come_out():
    text = command.FILES[0].read_text(encoding="utf-8")
    assert "<!-- results:overview -->\n" in text
    assert "<!-- results:weak -->\n" in text


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_short_and_every_row_has_a_cell_for_every_column(name):
    text = TABLES[name](contents()[name])
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert tables
    for lines in (found.splitlines() for found in tables):
        assert len({line.count("|") for line in lines}) == 1
        assert 3 <= len(lines) <= 14


@pytest.mark.parametrize("name", TABLES)
def test_a_field_that_a_file_lacks_is_an_error_that_names_both(name):
    given = {name: without(contents()[name], *NEEDED[name])}
    with pytest.raises(KeyError):
        TABLES[name](given[name])
    with pytest.raises(MissingFieldError, match=rf"results/{name}\.json lacks '"):
        made_from(name, given, TABLES[name])


def test_a_block_is_made_anew_and_nothing_else_is_touched(page, tmp_path):
    text = renewed(page, contents(), tmp_path)
    assert text.startswith("before\n<!-- results:field -->\nDetector bundled-test")
    assert "of last week" not in text
    assert "<!-- end -->\nbetween\n<!-- results:streams -->\n" in text
    assert text.endswith("<!-- end -->\nafter\n")


def test_what_has_no_file_of_results_stays_empty(page, tmp_path):
    text = renewed(page, {}, tmp_path)
    assert "<!-- results:field -->\n<!-- end -->\n" in text
    assert "<!-- results:streams -->\n<!-- end -->\n" in text


def test_a_block_whose_file_lacks_a_field_stays_as_it_is_and_the_others_are_made(page, tmp_path):
    given = contents()
    given["field"] = without(given["field"], "config", "threshold")
    problems: list[str] = []
    text = command.renewed(page, given, tmp_path, problems=problems)
    assert "<!-- results:field -->\nof last week\n<!-- end -->\n" in text
    assert "true removed" in text
    assert problems == [
        "results/field.json lacks 'threshold', which the report reads; run the experiment again."
    ]


def test_a_figure_is_linked_from_where_the_page_is_and_only_if_it_is_there(page, tmp_path):
    assert "![" not in renewed(page, contents(), tmp_path)
    (tmp_path / "field.png").touch()
    text = renewed(page, contents(), tmp_path)
    assert "![Cases that users reported](../field.png)\n<!-- end -->" in text
    assert text.count("![") == 1


def test_a_block_of_no_experiment_is_an_error_that_says_which_there_are(page, tmp_path):
    page.write_text("<!-- results:fields -->\n<!-- end -->\n")
    with pytest.raises(ValueError, match="results:fields is none of overview, weak, field"):
        renewed(page, contents(), tmp_path)


@BOTH
def test_a_page_renewed_twice_is_the_same(path, tmp_path):
    copied = tmp_path / "README.md"
    copied.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    once = renewed(copied, contents(), tmp_path)
    copied.write_text(once, encoding="utf-8")
    assert renewed(copied, contents(), tmp_path) == once


@BOTH
def test_the_pages_show_what_the_files_of_results_hold(path):
    """Fails after an experiment until `python -m benchmarks report` has run."""
    shown = command.renewed(path, read(results.FOLDER, TABLES), results.FOLDER, problems=[])
    assert path.read_text(encoding="utf-8") == shown


def test_the_command_renews_both_pages_and_then_says_what_lacks(tmp_path, monkeypatch, capsys):
    given = contents()
    given["history"] = without(given["history"], "results", "keywords, dev", "past")
    for name in ("field", "history"):
        (tmp_path / f"{name}.json").write_text(json.dumps(given[name]))
    pages = [tmp_path / "README.md", tmp_path / "inner.md"]
    for page in pages:
        page.write_text(
            "<!-- results:field -->\n<!-- end -->\n<!-- results:history -->\n<!-- end -->"
        )
    monkeypatch.setattr(command, "FILES", pages)
    monkeypatch.setattr(command, "_ROOT", tmp_path)
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    with pytest.raises(SystemExit, match=r"results/history\.json lacks 'past'"):
        command.main([])
    assert all("| gcmem (bundled) |" in page.read_text() for page in pages)
    assert "made with weights that do not ship: field (bundled-test)" in capsys.readouterr().out


def test_the_overview_leaves_out_what_has_no_file_and_links_to_the_sections():
    text = overview({"streams": contents()["streams"]}, details="there.md")
    assert text.count("\n") == 3
    assert "(there.md#long-streams-full-of-lookalikes)" in text
    assert "**33.0 %**" in text
    every = overview(contents(), details="there.md")
    assert every.count("\n") == 2 + len(CLAIMS)


def test_the_command_that_made_a_file_stands_beside_its_table_and_in_the_overview(page, tmp_path):
    given = contents()
    given["field"]["command"] = "python -m benchmarks field --detector 'a|b'"
    text = renewed(page, given, tmp_path)
    table_, _, rest = text.partition("\nMade by `python -m benchmarks field --detector 'a|b'`.\n")
    assert rest.startswith("<!-- end -->")
    assert "of last week" not in table_
    assert r"| `field --detector 'a\|b'` |" in overview(given, details="there.md")


def test_a_file_that_does_not_tell_its_command_gets_the_one_that_is_known(page, tmp_path):
    given = contents()
    given["streams"]["command"] = None
    assert "Made by" not in renewed(page, given, tmp_path)
    text = overview(given, details="there.md")
    assert "| `streams --thresholds .25 .3 .35 .5 .6 .7` |" in text
    assert "| `factconsolidation --questions 40` |" in text
    assert "| `peers --environments DIR` |" in text


def test_what_stands_in_the_readme_says_in_words_what_a_context_held():
    given = {name: contents()[name] for name in ("temporal_mutation", "detectors")}
    text = overview(given, details="") + weak.weak(given)
    assert text.count("with short-term memory") == 2
    assert "STM" not in text


def test_the_overview_marks_ratios_that_were_extrapolated_and_no_others():
    given = {"latency": contents()["latency"]}
    assert "**~50.0x** faster than judging every pair, ~4500x" in overview(given, details="")
    for row in given["latency"]["results"]["rows"]:
        row["extrapolated"] = []
    assert "~" not in overview(given, details="")


def test_a_file_of_the_ledger_with_its_rows_at_the_top_is_read_like_one_with_results(tmp_path):
    content = contents()["ledger"]
    (tmp_path / "ledger.json").write_text(
        json.dumps({"config": content["config"], **content["results"]})
    )
    assert read(tmp_path, {"ledger": None}) == {"ledger": content}


def test_the_threshold_that_ships_is_in_bold_and_no_other():
    text = TABLES["streams"](contents()["streams"])
    assert re.findall(r"^\| \*\*(.*?)\*\*", text, re.MULTILINE) == ["0.54"]


def test_what_is_weak_leaves_the_list_once_it_is_as_aimed_at():
    given = {"streams": contents()["streams"]}
    assert "33.0 % of what is stale is still shown" in weak.weak(given)
    for row in given["streams"]["results"]:
        row |= {"stale exposure": 0.15, "over-deletion": 0.02}
    assert weak.weak(given) == ""


def test_a_detector_that_is_slower_than_its_aim_is_weak_and_one_at_its_aim_is_not():
    given = {"detector_speed": contents()["detector_speed"]}
    assert "0.70 of the pairs per second of onnxruntime alone; the aim is 0.8." in weak.weak(given)
    given["detector_speed"]["results"]["ratio"] = 0.8
    assert weak.weak(given) == ""


def test_the_speed_of_the_detector_is_shown_with_the_spread_of_its_ratios():
    given = {"detector_speed": contents()["detector_speed"]}
    line = "| median | 150 | 200 | 0.70 | 0.60, 0.90 | 0.80 |\n"
    assert line in TABLES["detector_speed"](given["detector_speed"])
    assert "**0.70** of the pairs per second" in overview(given, details="")


def test_a_chat_memory_is_weak_until_every_prompt_is_exact_and_every_answer_right():
    given = {"trial_chat_memory": contents()["trial_chat_memory"]}
    assert "18 of 20 prompts held exactly what was true, 2 of 4 questions" in weak.weak(given)
    summaries = [found["summary"] for found in given["trial_chat_memory"]["results"].values()]
    for summary in summaries:
        summary["prompts with exactly what is true"] = 10
    assert "20 of 20 prompts held exactly what was true, 2 of 4 questions" in weak.weak(given)
    for summary in summaries:
        summary["answers right"] = 2
    assert weak.weak(given) == ""


def test_chat_memories_that_were_not_played_are_named():
    content = contents()["trial_chat_memory"]
    text = TABLES["trial_chat_memory"](content)
    assert "| LlamaIndex block, ConflictExtractor | 9/10 | 21/22 | 0 | 1/2 | 74 |\n" in text
    missing = (name for name in SURFACES if name not in content["results"])
    assert text.endswith(f"\nNot played: {'; '.join(missing)}.\n")
    summary = content["results"]["LlamaIndex block, ConflictExtractor"]
    content["results"] = dict.fromkeys(SURFACES, summary)
    assert "Not played" not in TABLES["trial_chat_memory"](content)
    headline = overview({"trial_chat_memory": content}, details="")
    assert "**36 of 40** prompts held exactly what was true (4 memories); small-model" in headline
    assert "| `trial-chat-memory --llm-url URL --llm-model NAME` |" in headline


def test_claims_that_are_not_significant_and_what_is_far_from_the_paper_are_listed():
    text = weak.weak({"drift": contents()["drift"]})
    assert "TEPA-Rev > reactive (preference)" in text
    assert "TEPA-Rev 0.500 for 0.950 (controlled)" in text
    given = contents()["drift"]
    given["results"]["settings"]["controlled"]["methods"]["no memory"]["reversal"]["success"] = 0.32
    assert "(controlled), no memory" not in weak.weak({"drift": given})


def test_files_made_with_other_weights_are_named():
    given = contents()
    given["field"]["config"]["detector"] = "bundled-other"
    assert other_weights({"field": given["field"]}, "bundled-test") == ["field (bundled-other)"]
    assert other_weights(contents(), "bundled-test") == []


def test_detectors_that_asked_a_language_model_are_named_with_their_calls():
    for name in ("temporal_mutation", "detectors"):
        content = contents()[name]
        assert " calls" not in TABLES[name](content)
        content["config"]["llm_model"] = "small-model"
        content["results"]["LLM as judge"] = {"llm": {"calls": 1_200}, "cascade": {"calls": 30}}
        text = TABLES[name](content)
        assert (
            "bundled-test; llm: small-model, 1,200 calls; cascade: small-model, 30 calls." in text
        )


def test_what_a_language_model_read_is_shown_where_there_was_one():
    content = contents()["bag_of_facts"]
    read_row = {
        "instances": 12,
        "errors": 1,
        "CR-Acc": 0.6,
        "delta": 0.5,
        "delta, 95 %": [0.2, 0.8],
    }
    rows = content["results"]["methods"]["medium, behaviour"]["STM on"]
    for name in ("standard", "GC-Mem, bundled"):
        row = rows[name]["all"] | {"LLM, forced": read_row, "LLM, allow-unclear": read_row}
        rows[name] = {"all": row}
    content["config"] |= {"llm_model": "small-model", "llm_dates": False}
    text = TABLES["bag_of_facts"](content)
    line = (
        "| medium, behaviour, STM on: GC-Mem, bundled | 12 | 60 % | +50.0 (20 to 80) | 60 % | 2 |"
    )
    assert line in text
    assert "small-model, days not shown" in text
    assert "gains +50.0 (20 to 80)" in weak.weak({"bag_of_facts": content})


def test_the_ledgers_own_file_has_the_form_that_its_table_reads(tmp_path):
    output = tmp_path / "ledger.json"
    small = "--queries 3 --scans 2 --single 1 --batches 1".split()
    ledger.main(["--records", "20", *small, "--output", str(output)])
    written = json.loads(output.read_text())
    assert (written["experiment"], written["seed"]) == ("ledger", 7)
    assert written["written"]
    assert written["versions"]["gcmem"] == __version__
    text = TABLES["ledger"](written)
    assert "| ledger, sqlite file | 20 |" in text
    assert "| paper: TEPA, in memory | 1,000,000 | 0.30 | 0.51 | - |" in text


def test_a_cell_cannot_end_its_row():
    assert table(["a", "b"], [["x|y", "1\n2"]]).splitlines()[-1] == r"| x\|y | 1 2 |"


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_the_same_each_time_and_small(name, tmp_path):
    pytest.importorskip("matplotlib")
    drawn = []
    for number in range(2):
        path = tmp_path / f"{number}.png"
        pictures.save(FIGURES[name](contents()[name]), path)
        drawn.append(path.read_bytes())
    assert drawn[0] == drawn[1]
    assert 1_000 < len(drawn[0]) < 80_000


def test_a_figure_holds_no_date_and_no_version(tmp_path):
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("matplotlib")
    path = tmp_path / "field.png"
    pictures.save(FIGURES["field"](contents()["field"]), path)
    assert image.open(io.BytesIO(path.read_bytes())).info == {}


def test_names_of_points_keep_their_distance_and_stay_beside_the_panel():
    labels = {(0.1 * n, 0.02 * n): f"tool {n}\nand its reading" for n in range(8)}
    found = places(labels, height=4.2)
    heights = sorted(found.values())
    assert all(upper - lower > 0.05 for lower, upper in itertools.pairwise(heights))
    assert 0 <= heights[0] <= heights[-1] <= 1
