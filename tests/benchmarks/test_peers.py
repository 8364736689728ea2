"""Peers: the protocol of the adapters, the judging, and what happens where a peer is missing."""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from benchmarks.peers import command, measuring
from benchmarks.peers.adapters import serving
from benchmarks.peers.environments import ADAPTERS, python_of, requirements
from benchmarks.peers.inputs import as_request, make_item
from benchmarks.peers.packages import PACKAGES, start
from benchmarks.peers.tools import Answer, Item, LocalTool, NotRun, Words
from benchmarks.report.tables import TABLES
from gcmem import Memory
from tests.support import ScriptedDetector, slot_rule

OLD = Memory("The ferry leaves from pier four.", "2025-01-01", id="old")
NEW = Memory("The ferry leaves from pier nine.", "2026-01-01T02:00:00+02:00", id="new")
UNDATED = Memory("The ferry is white.", id="undated")
CHANGED = {"must_keep": ["new"], "must_drop": ["old"]}
UNCHANGED = {"must_keep": ["new", "old"], "must_drop": []}


def item(case: dict = CHANGED) -> Item:
    return make_item(case, [NEW, UNDATED, OLD])


def tool(name: str, function: Callable) -> LocalTool:
    return LocalTool(name, Words("", ""), lambda given, _: function(given))


def fails(given: Item) -> set[str]:
    raise KeyError("date")


def served(monkeypatch: pytest.MonkeyPatch, read: Callable, *requests: dict) -> list[dict]:
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # serving turns it away
    monkeypatch.setattr(serving.metadata, "version", lambda package: "1.2")
    replies = io.StringIO()
    lines = io.StringIO("".join(json.dumps(request) + "\n" for request in requests))
    serving.serve(read, "some-peer", requests=lines, replies=replies)
    return [json.loads(line) for line in replies.getvalue().splitlines()]


def test_a_tool_gets_its_memories_oldest_first_with_times_in_one_form_of_utc() -> None:
    request = as_request(item())

    assert [memory["id"] for memory in request["memories"]] == ["undated", "old", "new"]
    assert [memory["time"] for memory in request["memories"]] == [
        None,
        "2025-01-01T00:00:00.000000+00:00",
        "2026-01-01T00:00:00.000000+00:00",
    ]
    assert request["now"] == "2026-01-01T00:00:00.000000+00:00"


def test_what_the_assistant_said_is_marked_as_such() -> None:
    said = Memory("Elena was born in Faro.", "2026-01-01", id="a", metadata={"source": "assistant"})
    request = as_request(make_item({"must_keep": [], "must_drop": []}, [said, OLD]))

    assert {m["id"]: m["speaker"] for m in request["memories"]} == {"a": "assistant", "old": "user"}


def test_an_adapter_says_that_it_is_ready_and_answers_each_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read(request: dict, counts: Counter[str]) -> dict[str, list[str]]:
        counts["pairs"] += 3
        return {"verdicts": serving.all_but(request, {"old"})}

    ready, first, second = served(monkeypatch, read, as_request(item()), as_request(item()))

    assert ready == {"ready": {"some-peer": "1.2"}}
    assert first["kept"] == second["kept"] == {"verdicts": ["undated", "new"]}
    assert first["counts"] == {"pairs": 3}


def test_what_a_package_prints_does_not_get_between_the_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read(request: dict, counts: Counter[str]) -> dict[str, list[str]]:
        print("Loading ...")  # noqa: T201
        return {"": []}

    assert len(served(monkeypatch, read, {"memories": []})) == 2


def test_an_error_of_a_package_is_its_answer_and_the_next_request_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read(request: dict, counts: Counter[str]) -> dict[str, list[str]]:
        if request["query"] == "bad":
            raise ValueError("cannot read that")
        return {"": []}

    _, first, second = served(monkeypatch, read, {"query": "bad"}, {"query": "good"})

    assert first == {"error": "ValueError: cannot read that"}
    assert second["kept"] == {"": []}


def test_stale_statements_that_are_shown_and_needed_ones_that_are_not_are_counted() -> None:
    tools = [
        tool("right", lambda given: {"new", "undated"}),
        tool("keeps", lambda given: {"new", "old", "undated"}),
        tool("loses", lambda given: {"undated"}),
    ]
    figures = measuring.measure(tools, {"a": item()})
    found = {name: counted["readings"][""] for name, counted in figures.items()}

    assert [found[name]["passed"] for name in ("right", "keeps", "loses")] == [1, 0, 0]
    assert [found[name]["stale shown"] for name in ("right", "keeps", "loses")] == [0, 1, 0]
    assert [found[name]["needed removed"] for name in ("right", "keeps", "loses")] == [0, 0, 1]


def test_a_tool_that_fails_has_not_passed_even_where_keeping_everything_would() -> None:
    figures = measuring.measure([tool("fails", fails)], {"a": item(UNCHANGED), "b": item()})
    counted = figures["fails"]["readings"][""]

    assert counted["passed"] == 0
    assert counted["not passed"] == ["a", "b"]
    assert (counted["stale shown"], counted["stale"]) == (1, 1)
    assert (counted["needed removed"], counted["needed"]) == (0, 3)
    assert figures["fails"]["errors"] == {"a": "KeyError: 'date'", "b": "KeyError: 'date'"}


def test_times_are_given_as_multiples_of_those_of_gcmem() -> None:
    figures = {"gcmem": {"seconds": 2.0}, "peer": {"seconds": 5.0}}

    assert measuring.with_ratios(figures, "gcmem")["peer"]["times gcmem"] == 2.5


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_every_peer_has_an_adapter_and_pinned_requirements(package) -> None:
    assert (ADAPTERS / package.adapter).is_file()
    assert "==" in requirements(package.name).read_text(encoding="utf-8")


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_peer_without_an_environment_is_not_run(package, tmp_path: Path) -> None:
    with pytest.raises(NotRun, match="--prepare"):
        start(package, tmp_path, llm=("http://127.0.0.1:9/v1", "none"))


def test_a_peer_that_needs_a_model_is_not_run_without_one(tmp_path: Path) -> None:
    package = next(package for package in PACKAGES if package.needs_llm)

    with pytest.raises(NotRun, match="LLM"):
        start(package, tmp_path)


def test_a_run_without_environments_lists_every_peer_as_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missing = SimpleNamespace(recency_tools=_missing)
    monkeypatch.setitem(sys.modules, "benchmarks.peers.recency", missing)
    monkeypatch.setattr(command, "load_detector", lambda name: ScriptedDetector(slot_rule))
    with ExitStack() as stack:
        room = command.Room(stack)
        command.fill(room, None, None)

    assert [found.name for found in room.tools] == ["gcmem", "keep everything"]
    assert {package.name for package in PACKAGES} < set(room.not_run)
    assert room.not_run["LlamaIndex and LangChain"] == "no pandas"


def _missing() -> list[LocalTool]:
    raise NotRun("no pandas")


def test_the_report_has_a_row_for_each_reading_of_what_a_run_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A reading may be missing from the streams, where nothing is asked."""
    asked = make_item(CHANGED, [OLD, NEW], query="Where does the ferry leave from?")
    monkeypatch.setattr(command, "field_items", lambda **_: {"a": asked})
    monkeypatch.setattr(command, "stream_items", lambda **_: {"stream 0": item()})
    with ExitStack() as stack:
        room = command.Room(stack)
        room.add(tool("gcmem", lambda given: {"new", "undated"}))
        room.add(_TwoReadings())
        room.not_run["absent"] = "no environment"
        outcome = command.run(room, cases=0, streams=1, seed=0)
    config = {"cases": "all", "streams": 1, "LLM": None, "detector": "none"}
    text = TABLES["peers"]({"config": config, "results": outcome})

    rows = [line for line in text.splitlines() if line.startswith("| two")]
    assert len(rows) == 2
    assert "absent" in text


class _TwoReadings:
    name = "two"
    words = Words("time", "scope")
    takes_streams = True
    versions: ClassVar = {"two": "1.0"}

    def read(self, given: Item) -> Answer:
        kept = {"verdicts": {"new"}}
        return Answer(kept | {"prompted": {"new", "old"}} if given.query else kept, 0.1)

    def close(self) -> None:
        pass


def test_an_environment_lies_below_the_given_folder(tmp_path: Path) -> None:
    assert python_of(tmp_path, "memlint").is_relative_to(tmp_path / "memlint")
