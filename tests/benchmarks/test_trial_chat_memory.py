"""The trial of the chat memories, with a model whose answers are known."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph")
pytest.importorskip("llama_index.core")
from langchain_core.language_models.chat_models import SimpleChatModel
from langchain_core.messages import BaseMessage
from rich.console import Console

from benchmarks import results, trial_chat_memory
from benchmarks.report.tables import TABLES
from benchmarks.trial_chat_memory import command
from benchmarks.trial_chat_memory.script import TURNS, judge
from benchmarks.trial_chat_memory.surfaces import SURFACES
from tests.support import ScriptedDetector

FOUND = {
    "I live in Ulm.": ("home city", "Ulm"),
    "My favourite drink is tea.": ("favourite drink", "tea"),
    "I live in Kiel now.": ("home city", "Kiel"),
    "My favourite drink is coffee now.": ("favourite drink", "coffee"),
    "My sister lives in Bonn.": ("sister: home city", "Bonn"),
}
"""What a model that reads well finds."""


class ScriptedChat(SimpleChatModel):
    """Finds the evidence of the script, and answers from the facts in its prompt."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        prompt = "\n".join(str(message.text) for message in messages)
        if "Give the evidence" not in prompt:
            return f"You told me: {prompt.rpartition('<data>')[2]}"
        items = json.loads(prompt.rpartition("<data>")[2].partition("</data>")[0])
        entries = []
        for item in items[1:]:
            key, value = FOUND.get(item["text"], ("", ""))
            entry = {"quote": item["text"], "whose": "user", "key": key, "value": value}
            entries.append({"message": item["message"], "evidence": [entry] if key else []})
        return json.dumps({"messages": entries})


def about_the_same(older: str, newer: str) -> bool:
    topics = (" live in", "drink is")
    return any(topic in older and topic in newer for topic in topics) and older != newer


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    return tmp_path / "trial_chat_memory.json"


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory")
@pytest.mark.parametrize("surface", SURFACES)
def test_a_model_that_reads_well_is_shown_exactly_what_is_true(surface: str, written: Path) -> None:
    out = io.StringIO()
    found = command.run(
        ScriptedChat(),
        "scripted",
        surfaces=[surface],
        detector=ScriptedDetector(about_the_same),
        console=Console(file=out, width=200),
    )
    summary = found[surface]["summary"]
    assert summary["prompts with exactly what is true"] == summary["turns"] == len(TURNS)
    assert summary["true statements shown"] == summary["true statements due"] > 15
    assert summary["statements not true, shown"] == 0
    assert summary["answers right"] == summary["questions"] == 2
    turns = found[surface]["turns"]
    assert len(turns[4]["evidence"]) == 0, "a quotation is no evidence"
    assert len(turns[2]["evidence"]) == 1
    content = json.loads(written.read_text())
    assert content["results"] == json.loads(json.dumps(found))
    assert f"| {surface} | {len(TURNS)}/{len(TURNS)} | " in TABLES["trial_chat_memory"](content)
    assert TURNS[2].said in out.getvalue()


def test_a_model_that_reads_nothing_is_reported_as_such(written: Path) -> None:
    class Silent(ScriptedChat):
        def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
            return "I cannot say." if len(messages) > 2 else '{"messages": []}'

    found = command.run(
        Silent(),
        "silent",
        surfaces=["LangChain agent, ModelExtractor"],
        console=Console(file=io.StringIO()),
    )
    summary = found["LangChain agent, ModelExtractor"]["summary"]
    assert summary["true statements shown"] == summary["answers right"] == 0
    assert summary["prompts with exactly what is true"] == 0
    assert written.exists()


def test_items_are_judged_by_what_they_are_about() -> None:
    judged = judge(
        ["home city: Ulm", "home city: Bonn", "pet: dog", "favourite drink: tea"],
        [("kiel",), ("tea",), ("sister", "bonn")],
    )
    assert judged.shown == ("tea",)
    assert judged.missing == ("kiel", "sister bonn")
    assert judged.untrue == ("home city: Ulm", "home city: Bonn")


def test_without_a_model_it_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        trial_chat_memory.main([])
    assert "--llm-url" in capsys.readouterr().err
