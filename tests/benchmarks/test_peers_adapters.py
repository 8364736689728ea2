"""Peers: how the verdicts of a tool that only detects are applied, without the tool."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import pytest

from benchmarks.peers.environments import ADAPTERS


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModuleType]:
    """Imports an adapter where its package is not installed, with empty stand-ins."""

    def load(name: str, *packages: str) -> ModuleType:
        monkeypatch.syspath_prepend(str(ADAPTERS))
        for package in packages:
            module = ModuleType(package)
            module.__getattr__ = lambda attribute: object
            monkeypatch.setitem(sys.modules, package, module)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return importlib.import_module(name)

    return load


def test_contradiction_judge_loses_what_it_suggests_to_drop_and_nothing_for_review(adapter) -> None:
    module = adapter("contradiction_judge_adapter", "contradiction_judge")
    recency = {"strategy": "recency", "recommendation": "keep new, drop or correct old"}
    manual = {"strategy": "manual", "recommendation": "review old vs undated manually"}

    found = {"contradictions": [{"arbitration": recency}, {"arbitration": manual}]}
    assert module.suggested(found) == {"old"}


def test_memlint_loses_the_older_side_of_a_pair_that_it_flags_on_both_sides(adapter) -> None:
    module = adapter("memlint_adapter", "memlint")
    facts = [SimpleNamespace(id=name, created_at=at) for name, at in (("a", 1), ("b", 2), ("c", 2))]
    verdicts = [
        SimpleNamespace(fact_id=one, contradicted_by=other)
        for one, other in (("a", "b"), ("b", "a"), ("c", "b"))
    ]

    assert module.older_sides(facts, verdicts) == {"a"}


def test_nuggetindex_loses_all_but_the_newest_of_what_it_calls_contested(adapter) -> None:
    module = adapter(
        "nuggetindex_adapter",
        "nuggetindex",
        "nuggetindex.extractors.base",
        "nuggetindex.extractors.clients.base",
        "nuggetindex.extractors.llm",
        "nuggetindex.governance",
        "nuggetindex.pipeline.constructor",
    )

    assert module.outdone({"one": ["a", "b", "c"], "two": ["d"]}) == {"a", "b"}


def test_of_equal_chunks_delta_prune_is_taken_to_have_kept_the_later_one(adapter) -> None:
    module = adapter("delta_prune_adapter", "delta_prune", "delta_prune.llm")
    memories = [
        {"id": "a", "text": "same"},
        {"id": "b", "text": "other"},
        {"id": "c", "text": "same"},
    ]

    assert module.ids_of(["other", "same"], memories) == ["b", "c"]
