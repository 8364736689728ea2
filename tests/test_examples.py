"""What a newcomer runs first: the demo's answers, and the code of the README."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import chromadb
import pytest

from gcmem import Collector

ROOT = Path(__file__).parents[1]


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    demo = load("quickstart")
    records, collector = demo.memory_stream(), Collector()
    client = chromadb.PersistentClient(path=str(tmp_path_factory.mktemp("chroma")))
    asks = {
        "langchain": demo.langchain_answers(client, records, collector),
        "llamaindex": demo.llamaindex_answers(client, records, collector),
    }
    shown = {
        (framework, change.new): ask(change.question)
        for framework, ask in asks.items()
        for change in demo.CHANGES
    }
    return {"shown": shown, "stale": {r.text for r in records if r.is_stale}, "demo": demo}


@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
def test_plain_retrieval_falls_into_the_majority_trap(answers: Any, framework: str) -> None:
    many = answers["demo"].CHANGES[-1]
    plain, _, _ = answers["shown"][framework, many.new]
    assert all(text in answers["stale"] for text in plain)


@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
def test_with_gcmem_the_current_state_is_shown_and_no_stale_one(
    answers: Any, framework: str
) -> None:
    for change in answers["demo"].CHANGES:
        _, _, cleaned = answers["shown"][framework, change.new]
        assert change.new in cleaned, change.question
        assert not set(cleaned) & set(change.old), change.question


def test_the_readmes_core_examples_run() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    own = [block for block in blocks if "assert " in block]
    assert len(own) >= 2
    for block in own:
        exec(block, {})


def test_the_readme_begins_with_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"```bash\n(.*?)```", readme, re.DOTALL)
    assert [command.strip() for command in commands[:2]] == [
        'pip install ".[demo]" && python examples/quickstart.py',
        'pip install -e ".[dev]" && pytest',
    ]
