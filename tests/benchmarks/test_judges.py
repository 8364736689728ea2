"""A language model as the judge beside the other detectors: what it is asked, what it costs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

pytest.importorskip("langchain_chroma")
from langchain_core.messages import AIMessage

from benchmarks import bag_of_facts, detectors, language_model, results, temporal_mutation
from benchmarks.mutation import judges
from gcmem import Memory, load_detector
from gcmem.detectors import CascadeDetector, LLMDetector
from tests.support import ScriptedDetector

SMALL = "--instances 2 --distractors 3 --sizes medium --wordings behaviour --llm-instances 1"
ENDPOINT = ["--llm-url", "http://127.0.0.1:1/v1", "--llm-model", "m"]


class ScriptedJudge:
    """A chat model that gives every pair the same verdict, and reads nothing."""

    def __init__(self, verdict: str = "yes") -> None:
        self.verdict = verdict
        self.judged = 0

    def invoke(self, messages: list[Any], *_: Any, **__: Any) -> AIMessage:
        numbers = re.findall(r'"pair": (\d+)', str(messages[-1]))
        self.judged += len(numbers)
        entry = {"verdict": self.verdict, "probability": 0.9 if self.verdict == "yes" else 0.1}
        verdicts = [{"pair": int(number), **entry} for number in numbers]
        usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
        return AIMessage(json.dumps({"verdicts": verdicts}), usage_metadata=usage)


@pytest.mark.parametrize("module", [temporal_mutation, bag_of_facts, detectors])
def test_the_model_and_the_cascade_are_measured_beside_the_other_detectors(
    module, tmp_path, monkeypatch
):
    model = ScriptedJudge()
    monkeypatch.setattr(results, "FOLDER", tmp_path / "published")
    monkeypatch.setattr(language_model, "connect", lambda url, name: model)
    output = tmp_path / "trial.json"
    chosen = ["--detectors", "explicit", "llm", "cascade", "--output", str(output)]
    module.main([*SMALL.split(), *ENDPOINT, *chosen])
    written = json.loads(output.read_text())
    found = written["results"]
    if module is detectors:
        rows = found["figures"]["medium, behaviour"]["detectors"]
        assert rows["llm"]["pair recall"] == 1
        assert rows["llm"]["pairs without verdict"] == 0
        assert rows["explicit"]["removal recall"] == 0 < rows["llm"]["removal recall"]
    else:
        rows = next(iter(found["methods"]["medium, behaviour"].values()))
        assert rows["GC-Mem, llm"]["all"]["removed"] > 0
        assert "GC-Mem, cascade" in rows
    spent = found["LLM as judge"]
    assert spent["llm"]["calls"] > 0
    assert spent["llm"]["input tokens"] == 10 * spent["llm"]["calls"]
    first, second = spent["cascade"]["pairs: bundled, model"]
    assert first >= second
    assert written["config"]["judges"]["llm"].startswith("llm:m:")
    assert written["config"]["judges"]["cascade"].startswith("cascade(bundled-")
    assert "127.0.0.1" not in output.read_text()


def test_the_model_judges_only_pairs_that_the_bundled_gate_lets_through():
    model = ScriptedJudge()
    made = judges.collectors({"llm": judges.asking("llm", model, model="m")}, ungated=True)
    far = [
        Memory("The ferry leaves from pier four.", 60.0, id="a"),
        Memory("Oxygen has eight protons.", 120.0, id="b"),
    ]
    for name in ("llm", "llm, whole chunks"):
        assert len(made[name].collect("", far).kept) == 2
    assert model.judged == 0
    assert len(made["llm, no gate"].collect("", far).kept) == 1
    assert model.judged == 1


def test_the_cascade_asks_the_model_only_where_the_bundled_detector_is_unsure():
    model = ScriptedJudge("no")
    cascade = judges.asking("cascade", model, model="m")
    assert isinstance(cascade, CascadeDetector)
    assert cascade.first.name == load_detector("bundled").name
    low, high = cascade.band
    sure = ScriptedDetector(lambda older, newer: 0.99 if newer == "sure" else (low + high) / 2)
    sure.threshold = cascade.threshold
    cascade.first = sure
    scores = cascade.score([("a", "sure"), ("a", "unsure")])
    assert model.judged == 1
    assert scores[0] >= cascade.threshold > scores[1]


def test_what_the_model_and_the_cascade_cost_is_counted_apart():
    model = ScriptedJudge()
    made = judges.collectors(
        {name: judges.asking(name, model, model="m") for name in ("llm", "cascade")}
    )
    assert isinstance(made["llm"].detector, LLMDetector)
    made["llm"].detector.score([("The lamp is red.", "The lamp is green.")])
    spent = judges.costs(made)
    assert (spent["llm"]["calls"], spent["cascade"]["calls"]) == (1, 0)
    assert spent["cascade"]["pairs: bundled, model"] == [0, 0]
    assert judges.costs(judges.collectors({"explicit": load_detector("explicit")})) == {}


def test_a_model_that_fails_is_counted_as_pairs_without_a_verdict(capsys):
    class Down(ScriptedJudge):
        def invoke(self, messages: list[Any], *_: Any, **__: Any) -> AIMessage:
            raise ConnectionError("refused")

    judge = LLMDetector(Down(), name="m", retries=0)
    counted = detectors.judge_pairs(judge, {("a", "b"): True, ("b", "c"): False})
    assert counted["without verdict"] == counted["pairs"] == 2
    assert counted["said"] == 0
    assert "2 pairs without verdict: refused" in capsys.readouterr().out
