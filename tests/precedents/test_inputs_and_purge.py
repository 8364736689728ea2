"""What may be told to a ledger, and how a scope is forgotten for good."""

from __future__ import annotations

import hashlib
from datetime import date

import pytest

from gcmem.precedents import Cause, Observation, Outcome, PrecedentLedger, State


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", "\u00a0"])
def test_a_blank_key_or_value_is_an_error_that_names_it(ledger, blank):
    with pytest.raises(ValueError, match="key must not be blank"):
        ledger.observe(blank, "x")
    with pytest.raises(ValueError, match="value must not be blank"):
        ledger.observe("x", blank)
    assert ledger.active() == []


@pytest.mark.parametrize("other", [None, 7, b"x", ["x"], 1.5])
def test_a_key_or_value_of_another_type_is_an_error_that_names_it(ledger, other):
    with pytest.raises(TypeError, match="key must be a string"):
        ledger.observe(other, "x")
    with pytest.raises(TypeError, match="value must be a string"):
        ledger.observe("x", other)


@pytest.mark.parametrize("as_of", [None, "2026-01-01"])
@pytest.mark.parametrize(
    ("keys", "error"),
    [
        (7, TypeError),
        ([7], TypeError),
        ([["a"]], TypeError),
        (" ", ValueError),
        ("a\x00", ValueError),
    ],
)
def test_keys_that_are_no_texts_are_an_error_that_names_them(ledger, keys, error, as_of):
    with pytest.raises(error, match="keys must"):
        ledger.active(keys=keys, as_of=as_of)


@pytest.mark.parametrize(("text", "problem"), [("a\x00b", "NUL"), ("a\ud800", "surrogate")])
def test_text_that_a_database_cannot_hold_is_an_error(ledger, text, problem):
    with pytest.raises(ValueError, match=problem):
        ledger.observe("k", text)


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"evidence": "rumour"}, ValueError),
        ({"cardinality": "many"}, ValueError),
        ({"authority": float("nan")}, ValueError),
        ({"authority": "high"}, TypeError),
        ({"at": "yesterday"}, ValueError),
        ({"at": object()}, TypeError),
        ({"source": " "}, ValueError),
        ({"scope": 7}, TypeError),
        ({"scop": "x"}, TypeError),
    ],
)
def test_a_parameter_that_is_not_allowed_is_an_error(ledger, parameters, error):
    with pytest.raises(error):
        ledger.observe("k", "v", **parameters)
    assert ledger.active() == []


def test_an_outcome_that_is_no_bool_is_an_error(ledger):
    with pytest.raises(TypeError, match="success must be True or False"):
        ledger.outcome("k", "yes")


@pytest.mark.parametrize(
    "value", ["Straße 7", "日本語", "👩‍👩‍👧", "x" * 50_000, "line\nline", "'; DROP"]
)
def test_any_text_comes_back_as_it_was_written(ledger, value):
    ledger.observe(value, value)
    (active,) = ledger.active()
    assert (active.key, active.value) == (value, value)
    assert ledger.active(keys=value) == [active]


def test_two_long_texts_that_begin_alike_are_two_values(ledger):
    ledger.define_key("note", cardinality="multi")
    ledger.observe("note", "x" * 1000 + "a")
    ledger.observe("note", "x" * 1000 + "b")
    assert len(ledger.active()) == 2


def test_unicode_composition_and_case_do_not_make_two_keys(ledger):
    ledger.observe("Café", "a")
    ledger.observe("CAFE\u0301", "b")
    assert [(item.key, item.value) for item in ledger.active()] == [("Café", "b")]


def test_every_form_of_a_scope_is_the_same_scope(ledger):
    ledger.observe("k", "v", scope={"user": 7, "tenant": "acme"})
    expected = ("tenant=acme", "user=7")
    assert ledger.active({"tenant": "acme", "user": "7", "agent": None})[0].scope == expected
    assert ledger.active(list(expected))[0].scope == expected
    ledger.observe("k", "v", scope="solo")
    assert ledger.active(("solo",))[0].scope == ("solo",)


def test_scopes_that_look_alike_when_joined_are_different(ledger):
    ledger.observe("k", "one", scope=("a", "b"))
    ledger.observe("k", "two", scope=("a,b",))
    ledger.observe("k", "three", scope=('a","b',))
    assert [item.value for item in ledger.active(("a", "b"))] == ["one"]
    assert [item.value for item in ledger.active("a,b")] == ["two"]


def test_a_batch_is_stored_whole_or_not_at_all(ledger):
    with pytest.raises(ValueError, match="value must not be blank"):
        ledger.observe_many([("a", "1"), ("b", " ")])
    assert ledger.active() == []
    ledger.define_key("hobby", cardinality="multi")
    with pytest.raises(TypeError, match="observations must hold"):
        ledger.observe_many([("a", "1"), "b"])
    assert ledger.active() == []


def test_a_batch_takes_pairs_and_observations(ledger):
    changes = ledger.observe_many(
        [("city", "Kiel"), Observation("city", "Ulm", scope="ben", at=date(2026, 1, 1))],
        scope="ann",
        at="2026-02-01",
    )
    assert [(item.scope, item.value) for item in changes] == [(("ann",), "Kiel"), (("ben",), "Ulm")]
    assert ledger.active("ann")[0].created_at.month == 2


def test_an_empty_batch_changes_nothing(ledger):
    assert ledger.observe_many([]) == ledger.outcome_many([]) == []


def test_a_batch_of_outcomes_takes_pairs_and_outcomes(ledger):
    ledger.observe_many([("wifi", "amber"), ("door", "7321"), ("tool", "pandas")], scope="ann")
    failed = [("wifi", False), ("door", True)] * 3
    more = [Outcome("tool", False, value="polars", scope="ann", source="tool:1")]
    fall, new = ledger.outcome_many([*failed, *more], scope="ann")
    assert (fall.value, fall.cause) == ("amber", Cause.RECENT_OUTCOMES)
    assert (new.value, new.after) == ("polars", State.HYPOTHESIS)
    found = {item.value: (item.support, item.conflict) for item in ledger.active("ann")}
    assert found == {"7321": (4, 0), "pandas": (1, 0)}
    assert [item.conflict for item in ledger.hypotheses("ann")] == [1]


def test_a_batch_of_outcomes_is_stored_whole_or_not_at_all(ledger):
    ledger.observe("wifi", "amber")
    ledger.observe("hobby", "chess", cardinality="multi")
    before = ledger.active()
    for wrong, error in (
        (("wifi", "yes"), TypeError),
        ("wifi", TypeError),
        ((" ", True), ValueError),
        (("hobby", True), ValueError),
    ):
        with pytest.raises(error):
            ledger.outcome_many([("wifi", False), wrong])
    assert ledger.active() == before


def test_a_large_batch_over_many_keys_is_one_transaction(ledger):
    ledger.observe_many((f"key {number % 1500}", f"value {number}") for number in range(3000))
    assert len(ledger.active()) == 1500
    assert len(ledger.archive()) == 1500
    assert ledger.active(keys="KEY 7")[0].value == "value 1507"


# purge


def fill(ledger: PrecedentLedger) -> None:
    for scope in ("ann", "ben", ("ann", "work")):
        ledger.define_key("secret hobby", cardinality="multi", scope=scope)
        ledger.observe("secret hobby", "extreme ironing", scope=scope, source="user:diary")
        ledger.observe("city", "Ulm", scope=scope)
        ledger.observe("city", "Kiel", scope=scope)


def test_a_purge_removes_everything_of_exactly_that_scope(ledger):
    fill(ledger)
    ledger.purge("ann")
    assert ledger.active("ann") == ledger.archive("ann") == ledger.hypotheses("ann") == []
    assert ledger.history("city", "ann") == []
    assert ledger.active("ann", as_of="2999-01-01") == []
    for other in ("ben", ("ann", "work")):
        assert len(ledger.active(other)) == 2
        assert len(ledger.archive(other)) == 1


def test_a_purge_is_audited_without_content(ledger):
    fill(ledger)
    done = ledger.purge("ann")
    assert ledger.purges() == [done]
    assert (done.precedents, done.observations, done.transitions) == (3, 3, 4)
    assert done.scope_digest == hashlib.sha256(b'["ann"]').hexdigest()


def test_a_purge_of_an_unknown_scope_is_audited_too(ledger):
    assert ledger.purge("nobody").precedents == 0
    assert len(ledger.purges()) == 1


def test_ids_are_not_used_again_after_a_purge(ledger):
    ledger.observe("k", "v", scope="ann")
    before = ledger.active("ann")[0].id
    ledger.purge("ann")
    ledger.observe("k", "v", scope="ann")
    (after,) = ledger.active("ann")
    assert after.id != before
    assert after.support == 1


def test_after_a_purge_no_byte_of_the_content_is_left_in_the_files(tmp_path):
    with PrecedentLedger(f"sqlite:///{tmp_path / 'memory.db'}") as ledger:
        fill(ledger)
        ledger.observe("k", "stays", scope="ben")
        for scope in ("ann", "ben", ("ann", "work")):
            ledger.purge(scope)
        for path in tmp_path.iterdir():
            content = path.read_bytes()
            for word in (b"ironing", b"secret", b"Kiel", b"diary", b"ann", b"stays"):
                assert word not in content, (path.name, word)


def test_a_purged_scope_can_be_used_again(ledger):
    fill(ledger)
    ledger.purge("ann")
    ledger.observe("secret hobby", "chess", scope="ann")
    ledger.observe("secret hobby", "golf", scope="ann")
    assert [item.value for item in ledger.active("ann")] == ["golf"]
