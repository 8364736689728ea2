"""Reading memories out of metadata."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from gcmem import Memory
from gcmem.mapping import MetadataMapping

DAY = datetime(2026, 1, 2, tzinfo=UTC)


def read(metadata: dict[str, Any], **options: Any) -> Memory:
    return MetadataMapping(**options).memory("text", metadata, id="x")


@pytest.mark.parametrize(
    "value", [DAY, date(2026, 1, 2), "2026-01-02", DAY.timestamp(), "2026-01-02T00:00:00Z"]
)
def test_the_time_is_read_in_any_form(value: object) -> None:
    assert read({"created_at": value}).timestamp == DAY


@pytest.mark.parametrize("metadata", [{}, {"created_at": None}, {"created_at": ""}])
def test_a_record_without_a_time_is_undated(metadata: dict[str, Any]) -> None:
    assert read(metadata).timestamp is None


def test_keys_are_tried_in_order_and_only_present_ones_count() -> None:
    keys = ["said_at", "stored_at"]
    assert (
        read({"stored_at": "2026-01-05", "said_at": "2026-01-02"}, timestamp_key=keys).timestamp
        == DAY
    )
    assert read({"stored_at": "2026-01-02", "said_at": None}, timestamp_key=keys).timestamp == DAY
    assert read({"created_at": "2026-01-02"}, timestamp_key=keys).timestamp is None


def test_zero_is_a_time() -> None:
    assert read({"created_at": 0}).timestamp == datetime(1970, 1, 1, tzinfo=UTC)


def test_numbers_count_the_unit_everywhere() -> None:
    milliseconds = DAY.timestamp() * 1000
    memory = read(
        {"created_at": milliseconds, "valid_from": milliseconds, "valid_until": milliseconds},
        timestamp_unit="ms",
    )
    assert memory.timestamp == memory.valid_from == memory.valid_until == DAY


def test_an_unreadable_time_names_record_key_and_value() -> None:
    with pytest.raises(ValueError, match=r"record 'x': metadata\['created_at'\]: .*'soon'"):
        read({"created_at": "soon"})
    with pytest.raises(ValueError, match=r"record 'x': .*valid_until.*'soon'"):
        read({"valid_until": "soon"})
    with pytest.raises(ValueError, match=r"record 'x'.*too large for seconds"):
        read({"created_at": DAY.timestamp() * 1000})


def test_validity_ends_with_its_day() -> None:
    memory = read({"valid_from": "2026-01-01", "valid_until": "2026-01-01"})
    assert memory.valid_until == DAY
    assert read({"valid_from": "", "valid_until": None}).valid_until is None


def test_scope_keys_keep_records_apart_whatever_their_order() -> None:
    metadata = {"user": 7, "tenant": "acme"}
    first = read(metadata, scope_keys=["user", "tenant"])
    assert first.scope == read(metadata, scope_keys=["tenant", "user"]).scope
    assert first.scope == ("tenant=acme", "user=7")


def test_records_that_lack_a_scope_key_are_among_themselves() -> None:
    keys = ["user", "tenant"]
    lacking = read({"tenant": "acme"}, scope_keys=keys)
    assert lacking.scope != read({"tenant": "acme", "user": 7}, scope_keys=keys).scope
    assert read({}, scope_keys=keys).scope == ()


@pytest.mark.parametrize(
    ("given", "links"),
    [
        (None, ()),
        ("", ()),
        ("a", ("a",)),
        ("a, b", ("a", "b")),
        (["a", 2], ("a", "2")),
        (5, ("5",)),
        (("a",), ("a",)),
    ],
)
def test_links_are_read_in_any_form(given: object, links: tuple[str, ...]) -> None:
    assert read({"supersedes": given}).supersedes == links


def test_a_slot_is_read_from_key_and_value_where_both_are_there() -> None:
    memory = read({"key": "home", "value": "Ulm"})
    assert (memory.key, memory.value) == ("home", "Ulm")
    assert read({"key": "home"}).key is None
    assert read({"value": "Ulm"}).key is None


def test_a_named_slot_stands_for_itself_and_the_text_is_its_value() -> None:
    memory = read({"meter": "m1", "reading": 5}, slot_key="meter")
    assert (memory.key, memory.value) == ("meter=m1", None)
    memory = read({"meter": "m1", "reading": 5}, slot_key="meter", value_key="reading")
    assert (memory.key, memory.value) == ("meter=m1", "5")
    assert read({"key": "home", "value": "Ulm"}, slot_key="meter").key is None


def test_a_source_protects_only_with_its_version() -> None:
    assert read({"source": "a.md"}).source is None
    assert read({"source": "a.md", "version": 3}).source == "a.md@3"
    assert read({"doc": "a", "rev": 1}, source_key="doc", version_key="rev").source == "a@1"


def test_authority_is_zero_unless_given() -> None:
    assert read({}).authority == read({"authority": None}).authority == 0.0
    assert read({"rank": 2}, authority_key="rank").authority == 2.0
    with pytest.raises(ValueError, match="record 'x': authority must be a finite number"):
        read({"authority": "high"})


def test_metadata_passes_through_and_stays_as_it_is() -> None:
    metadata = {"created_at": 1, "page": 3}
    memory = read(metadata)
    assert memory.metadata == {"created_at": 1, "page": 3}
    assert metadata == {"created_at": 1, "page": 3}


@pytest.mark.parametrize(("relevance", "kept"), [(0.0, 0.0), (float("nan"), None), (None, None)])
def test_a_score_passes_through_if_it_is_a_number(
    relevance: float | None, kept: float | None
) -> None:
    memory = MetadataMapping().memory("t", {}, relevance=relevance)
    assert memory.relevance == kept


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"timestamp_key": ""}, ValueError, "timestamp_key must name at least one key"),
        ({"timestamp_key": []}, ValueError, "timestamp_key must name at least one key"),
        ({"timestamp_unit": "min"}, ValueError, 'must be "s", "ms", "us" or "ns", got \'min\''),
        ({"scope_keys": "user"}, TypeError, "scope_keys must be a sequence of keys"),
        ({"value_key": "v"}, ValueError, "value_key='v' was given without slot_key"),
        ({"timestmap_key": "t"}, TypeError, "timestmap_key"),
    ],
)
def test_bad_options_say_what_is_allowed(
    options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        MetadataMapping(**options)
