"""One immutable record."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gcmem import Memory, to_scope


def test_what_is_given_is_normalised() -> None:
    memory = Memory(
        "a",
        "2026-01-01",
        id=7,
        scope={"user": 7, "tenant": "acme", "agent": None},
        relevance=1,
        key="k",
        supersedes="old",
        valid_from="2026-01-01",
        valid_until="2026-01-31",
        authority=2,
        source="doc@1",
    )
    assert memory.timestamp == datetime(2026, 1, 1, tzinfo=UTC)
    assert (memory.id, memory.scope) == ("7", ("tenant=acme", "user=7"))
    assert memory.supersedes == ("old",)
    assert memory.valid_until == datetime(2026, 2, 1, tzinfo=UTC)
    assert (memory.relevance, memory.authority) == (1.0, 2.0)


def test_only_a_text_is_needed() -> None:
    memory = Memory("a")
    assert (memory.timestamp, memory.scope, memory.metadata) == (None, (), {})
    assert memory.id.startswith("m-")


@given(st.text(max_size=20), st.integers(0, 10**9), st.lists(st.text(max_size=3), max_size=2))
def test_the_derived_id_is_that_of_text_time_and_scope(
    text: str, time: int, scope: list[str]
) -> None:
    memory = Memory(text, time, scope=scope)
    assert memory.id == Memory(text, time, scope=scope, relevance=1, metadata={"a": 1}).id
    assert memory.id != Memory(text + "x", time, scope=scope).id
    assert memory.id != Memory(text, time + 1, scope=scope).id
    assert memory.id != Memory(text, time, scope=[*scope, "x"]).id


def test_a_memory_cannot_be_changed_and_keeps_its_own_metadata() -> None:
    metadata = {"a": 1}
    memory = Memory("a", metadata=metadata)
    metadata["a"] = 2
    assert memory.metadata == {"a": 1}
    with pytest.raises(FrozenInstanceError):
        memory.text = "b"  # type: ignore[misc]


def test_copies_differ_only_in_what_was_asked() -> None:
    memory = Memory("a", 1, id="x", scope="s", key="k", value="v", metadata={"a": 1})
    other = memory.with_text("b")
    assert (other.text, other.with_text("a")) == ("b", memory)
    noted = memory.with_metadata(b=2)
    assert noted.metadata == {"a": 1, "b": 2}
    assert (memory.metadata, noted.id) == ({"a": 1}, "x")


def test_memories_are_hashable_picklable_and_equal_by_content() -> None:
    memory = Memory("a", 1, id="x", metadata={"list": [1]})
    assert len({memory, Memory("a", 1, id="x", metadata={"list": [1]})}) == 1
    assert pickle.loads(pickle.dumps(memory)) == copy.deepcopy(memory) == memory


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"text": 5}, TypeError, "text must be a string, got 5 of type int"),
        ({"metadata": 5}, TypeError, "metadata must be a mapping, got 5"),
        ({"value": "v"}, ValueError, "value='v' was given without key"),
        ({"authority": float("nan")}, ValueError, "authority must be a finite number, got nan"),
        ({"authority": "high"}, ValueError, "authority must be a finite number, got 'high'"),
        ({"timestamp": "soon"}, ValueError, "timestamp: .*'soon'"),
        ({"valid_from": "soon"}, ValueError, "valid_from: .*'soon'"),
        ({"valid_until": []}, TypeError, r"valid_until: .*\[\]"),
        ({"valid_from": 2, "valid_until": 1}, ValueError, "lies before valid_from"),
        ({"scope": 5}, TypeError, "scope must be"),
        ({"scope": ["a", None]}, TypeError, "labels must not be None"),
        ({"scope": {"a=b": 1}}, ValueError, 'scope keys must not hold "="'),
        ({"timestmap": 1}, TypeError, "timestmap"),
    ],
)
def test_bad_input_is_an_error_that_names_it(
    options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        Memory(**{"text": "a", **options})


def test_a_validity_of_one_day_is_allowed() -> None:
    memory = Memory("a", valid_from="2026-01-01", valid_until="2026-01-01")
    assert memory.valid_from is not None
    assert memory.valid_until is not None
    assert (memory.valid_until - memory.valid_from).days == 1


@pytest.mark.parametrize(
    ("given_scope", "scope"),
    [
        (None, ()),
        ((), ()),
        ("u", ("u",)),
        (["t", 7], ("t", "7")),
        ({"b": 1, "a": 2}, ("a=2", "b=1")),
        ({"a": None}, ()),
        ({}, ()),
    ],
)
def test_a_scope_in_any_form_is_a_tuple_of_texts(given_scope: Any, scope: tuple[str, ...]) -> None:
    assert to_scope(given_scope) == scope
    assert to_scope(to_scope(given_scope)) == scope


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), st.text(max_size=4), max_size=4))
def test_different_mappings_are_different_scopes_in_any_order(mapping: dict[str, str]) -> None:
    assert to_scope(mapping) == to_scope(dict(reversed(mapping.items())))
    changed = {**mapping, "a": mapping.get("a", "") + "x"}
    assert to_scope(changed) != to_scope(mapping)
