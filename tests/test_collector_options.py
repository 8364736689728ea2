"""What a collector makes of its options: rules given once, errors that name the option."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from gcmem import Collector, Memory, UndatedWarning, load_detector
from gcmem.detectors import ExplicitDetector
from tests.support import ScriptedDetector

LANGUAGES = [
    Memory("Speaks French.", "2026-01-01", id="french", key="speaks"),
    Memory("Speaks German.", "2026-02-01", id="german", key="speaks"),
]


@pytest.mark.parametrize(
    "collector",
    [
        lambda: Collector(ExplicitDetector(multi_valued=["speaks"])),
        lambda: Collector(load_detector("explicit", multi_valued=["speaks"])),
        lambda: Collector("explicit", explicit=ExplicitDetector(multi_valued=["speaks"])),
    ],
)
def test_values_that_add_up_are_kept_wherever_the_rule_was_given(collector: Any) -> None:
    kept = collector().collect("", LANGUAGES)
    assert [memory.id for memory in kept] == ["french", "german"]


def test_without_the_rule_the_newer_value_of_a_slot_replaces_the_older() -> None:
    assert [memory.id for memory in Collector("explicit").collect("", LANGUAGES)] == ["german"]


def _moved(**metadata: str) -> list[Memory]:
    return [
        Memory("Ann lives in Ulm.", "2026-01-01", id="old", key="ann/home city", metadata=metadata),
        Memory("Ann moved to Kiel.", "2026-02-01", id="new", key="ann/residence"),
    ]


def test_two_names_that_a_model_chose_may_be_one_slot_and_the_detector_judges() -> None:
    detector = ScriptedDetector(lambda _older, _newer: 1.0)
    found = Collector(detector, gate=False).collect("", _moved(slot_source="model"))
    assert [memory.id for memory in found] == ["new"]


def test_two_keys_that_the_user_gave_are_two_slots() -> None:
    detector = ScriptedDetector(lambda _older, _newer: 1.0)
    found = Collector(detector, gate=False).collect("", _moved())
    assert [memory.id for memory in found] == ["old", "new"]


def test_rules_given_twice_and_differently_are_an_error() -> None:
    rules = ExplicitDetector(multi_valued=["speaks"])
    with pytest.raises(ValueError, match=r"explicit and detector are both .* Give the rules once"):
        Collector(rules, explicit=ExplicitDetector(multi_valued=["likes"]))
    assert Collector(rules, explicit=rules).explicit == rules


@pytest.mark.parametrize("keys", ["speaks", [1]])
def test_multi_valued_is_no_single_text(keys: Any) -> None:
    with pytest.raises(TypeError, match=r"multi_valued must be a collection of keys .*, got "):
        ExplicitDetector(multi_valued=keys)


@pytest.mark.parametrize(
    ("option", "value", "error", "message"),
    [
        ("explicit", "rules", TypeError, "explicit must be an ExplicitDetector or None"),
        ("threshold", "0.5", TypeError, "threshold must be a number or None, got '0.5'"),
        ("threshold", 2, ValueError, "threshold must be above 0 and at most 1, got 2"),
        ("deadline", "1", TypeError, "deadline must be a number or None, got '1'"),
        ("deadline", -1, ValueError, "deadline must be at least 0 seconds"),
        ("max_pairs", "3", TypeError, "max_pairs must be a whole number"),
        ("max_pairs", 2.5, TypeError, "max_pairs must be a whole number"),
        ("max_pairs", -1, ValueError, "max_pairs must be at least 0, got -1"),
        ("cache", "", ValueError, "cache must be the path of a SQLite file, got an empty text"),
        ("detector", "", ValueError, "name must be .* got an empty text"),
        ("gate", True, TypeError, r"gate must be None .*, False .* got True"),
        ("tie_breaker", 5, TypeError, "tie_breaker must be a metadata key, .*, got 5"),
        ("tie_breaker", "", ValueError, "tie_breaker must be a metadata key, .* got an empty text"),
        ("cross_check", 1, TypeError, "cross_check must be True, False or None, got 1"),
    ],
)
def test_an_option_that_will_not_do_is_named(
    option: str, value: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Collector(**{"detector": "explicit", option: value})


def test_a_time_to_read_as_of_is_named_in_its_error() -> None:
    with pytest.raises(ValueError, match=r"as_of must be .*, got the text 'yesterday'"):
        Collector("explicit").collect("", LANGUAGES, as_of="yesterday")


@pytest.mark.parametrize("name", ["bundel", "Bundled", "explict"])
def test_a_misspelt_detector_is_not_looked_for_in_the_network(name: str) -> None:
    with pytest.raises(ValueError, match=rf"got '{name}'; did you mean"):
        load_detector(name)


class TestMemoriesWithoutATime:
    UNDATED = (
        Memory("city=A", metadata={"date": "2024-01-01", "page": 3}),
        Memory("city=B", metadata={"date": "2025-01-01"}),
    )

    def test_the_metadata_that_they_have_is_named_once(self) -> None:
        collector = Collector("explicit")
        with pytest.warns(
            UndatedWarning, match=r"None of the 2 .* \['date', 'page'\].*timestamp_key"
        ):
            collector.collect("", self.UNDATED)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            collector.collect("", self.UNDATED)

    @pytest.mark.parametrize(
        "memories",
        [
            UNDATED[:1],
            [*UNDATED, Memory("city=C", "2026-01-01")],
            [*UNDATED, Memory("city=C", supersedes=UNDATED[0].id)],
            [],
        ],
        ids=["one alone", "one has a time", "one has a link", "nothing"],
    )
    def test_what_time_or_links_can_decide_warns_of_nothing(self, memories: list[Memory]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Collector("explicit").collect("", memories)

    def test_a_second_key_that_orders_them_warns_of_nothing(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Collector("explicit", tie_breaker="date").collect("", self.UNDATED)
