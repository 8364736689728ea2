"""Slots at write time: what is asked, what is stored, and that reading then needs no model."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from gcmem import Collector, Memory
from gcmem.detectors import SlotAnnotator
from gcmem.detectors.asking import InventedNumberWarning
from gcmem.mapping import MetadataMapping
from tests.detectors.models import Script, data_of

FORM = re.compile(r"(?P<entity>\w+)'s (?P<attribute>\w+) is (?P<value>[^.]+)\.")


class Indexer:
    """Answers as a well-behaved model would, for texts of the form "Ann's city is Ulm."."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return json.dumps({"slots": [self.entry(e) for e in data_of(prompt) if "statement" in e]})

    def entry(self, given: dict[str, Any]) -> dict[str, Any]:
        found = FORM.fullmatch(given["text"])
        if found is None:
            return {"statement": given["statement"], "slot": None}
        cardinality = "multi" if found["attribute"] == "hobby" else "single"
        return {"statement": given["statement"], **found.groupdict(), "cardinality": cardinality}


def known(prompt: str) -> list[dict[str, Any]]:
    (entry,) = [entry for entry in data_of(prompt) if "known_slots" in entry]
    slots: list[dict[str, Any]] = entry["known_slots"]
    return slots


def answer(**entry: Any) -> str:
    return json.dumps({"slots": [{"statement": 1, **entry}]})


def test_a_single_valued_slot_becomes_key_and_value() -> None:
    (memory,) = SlotAnnotator(Indexer()).annotate([Memory("Ann's City is  ULM.", 1, id="a")])
    assert (memory.key, memory.value) == ("ann/city", "ulm")
    assert memory.metadata == {"key": "ann/city", "value": "ulm", "slot_source": "model"}
    assert (memory.text, memory.id) == ("Ann's City is  ULM.", "a")


def test_what_is_stored_in_metadata_is_read_back_by_the_adapters() -> None:
    (memory,) = SlotAnnotator(Indexer()).annotate([Memory("Ann's city is Ulm.", 1)])
    read = MetadataMapping().memory(memory.text, memory.metadata)
    assert (read.key, read.value) == (memory.key, memory.value)


def test_reading_compares_slots_with_no_model() -> None:
    memories = SlotAnnotator(Indexer()).annotate(
        [
            Memory("Ann's city is Ulm.", 1, id="old"),
            Memory("Ann's city is Kiel.", 2, id="new"),
            Memory("Bob's city is Ulm.", 1, id="other"),
            Memory("Ann's city is KIEL.", 3, id="again"),
        ]
    )
    collection = Collector("explicit").collect("Where does Ann live?", memories)
    assert [memory.id for memory in collection.kept] == ["new", "other", "again"]
    assert collection.stats.pairs_judged == 0


def test_values_that_add_up_are_never_in_conflict() -> None:
    memories = SlotAnnotator(Indexer()).annotate(
        [Memory("Ann's hobby is chess.", 1), Memory("Ann's hobby is tennis.", 2)]
    )
    assert [memory.key for memory in memories] == [None, None]
    assert memories[0].metadata == {"slot": "ann/hobby", "value": "chess"}
    assert MetadataMapping().memory("x", memories[0].metadata).key is None
    assert len(Collector("explicit").collect("", memories).kept) == 2


def test_a_memory_that_fits_no_slot_is_given_back_as_it_is() -> None:
    memory = Memory("We went to Lisbon and it rained.", 1)
    assert SlotAnnotator(Indexer()).annotate([memory])[0] is memory


def test_a_memory_with_a_key_is_not_asked_about() -> None:
    model = Indexer()
    memory = Memory("Ann's city is Ulm.", 1, key="mine", value="x")
    assert SlotAnnotator(model).annotate([memory])[0] is memory
    assert model.prompts == []


def test_each_memory_is_asked_about_once_in_batches() -> None:
    model = Indexer()
    memories = [Memory(f"Ann's room{i} is red.", i) for i in range(25)]
    annotated = SlotAnnotator(model, memories_per_call=10).annotate(memories)
    assert [memory.key for memory in annotated] == [f"ann/room{i}" for i in range(25)]
    assert len(model.prompts) == 3


def test_known_names_and_values_are_shown_to_later_calls() -> None:
    model = Indexer()
    annotator = SlotAnnotator(model, memories_per_call=1)
    annotator.annotate([Memory("Ann's city is Ulm.", 1), Memory("Ann's city is Kiel.", 2)])
    annotator.annotate([Memory("Ann's pet is a cat.", 3)])
    assert known(model.prompts[0]) == []
    assert known(model.prompts[1]) == [{"entity": "ann", "attribute": "city", "values": ["ulm"]}]
    assert known(model.prompts[2])[0]["values"] == ["ulm", "kiel"]


def test_the_vocabulary_grows_only_where_nothing_fits() -> None:
    annotator = SlotAnnotator(Indexer())
    annotator.annotate([Memory("Ann's city is Ulm.", 1), Memory("ANN's City is Kiel.", 2)])
    assert annotator.vocabulary == {(): {"ann/city": ("ulm", "kiel")}}


def test_only_the_newest_values_of_a_name_are_kept() -> None:
    annotator = SlotAnnotator(Indexer(), memories_per_call=1)
    annotator.annotate([Memory(f"Ann's city is c{i}.", i) for i in (1, 2, 3, 4, 5, 6, 2)])
    assert annotator.vocabulary[()]["ann/city"] == ("c3", "c4", "c5", "c6", "c2")


def test_a_stored_vocabulary_is_used_again() -> None:
    first = SlotAnnotator(Indexer())
    first.annotate([Memory("Ann's city is Ulm.", 1, scope="u1")])
    model = Indexer()
    second = SlotAnnotator(model, vocabulary=first.vocabulary)
    second.annotate([Memory("Ann's pet is a cat.", 2, scope="u1")])
    assert known(model.prompts[0])[0]["attribute"] == "city"


def test_of_many_names_the_nearest_are_shown() -> None:
    model = Indexer()
    names = {f"ann/thing{i}": ("x",) for i in range(50)} | {"bob/tractor": ("red",)}
    names |= {f"ann/other{i}": ("x",) for i in range(50)}
    annotator = SlotAnnotator(model, vocabulary={(): names}, names_per_call=3)
    annotator.annotate([Memory("The tractor was painted blue.", 1)])
    shown = known(model.prompts[0])
    assert len(shown) == 3
    assert shown[0]["entity"] == "bob"


def test_scopes_share_neither_a_call_nor_a_vocabulary() -> None:
    model = Indexer()
    annotator = SlotAnnotator(model)
    annotator.annotate(
        [Memory("Ann's city is Ulm.", 1, scope="u1"), Memory("Bob's city is Kiel.", 1, scope="u2")]
    )
    annotator.annotate([Memory("Bob's pet is a cat.", 2, scope="u2")])
    assert len(model.prompts) == 3
    assert not any("Ann" in prompt and "Bob" in prompt for prompt in model.prompts)
    assert "ulm" not in model.prompts[2]
    assert set(annotator.vocabulary) == {("u1",), ("u2",)}


def test_a_slash_in_an_entity_does_not_move_the_border_to_the_attribute() -> None:
    model = Script(answer(entity="a/b", attribute="c", value="1", cardinality="single"))
    assert SlotAnnotator(model).annotate([Memory("x", 1)])[0].key == "a b/c"


@pytest.mark.parametrize(
    "bad",
    [
        {"entity": "ann", "attribute": "city", "value": "ulm"},
        {"entity": "ann", "attribute": "city", "value": "ulm", "cardinality": "some"},
        {"entity": "", "attribute": "city", "value": "ulm", "cardinality": "single"},
        {"entity": "ann", "attribute": ["city"], "value": "ulm", "cardinality": "single"},
        {"entity": "ann", "attribute": "city", "value": True, "cardinality": "single"},
    ],
)
def test_an_unusable_entry_is_asked_once_more_and_then_left(bad: dict[str, Any]) -> None:
    good = {"entity": "ann", "attribute": "city", "value": 7, "cardinality": "single"}
    repaired = SlotAnnotator(Script(answer(**bad), answer(**good)))
    assert repaired.annotate([Memory("x", 1)])[0].value == "7"
    assert repaired.usage.repairs == 1
    left = SlotAnnotator(Script(answer(**bad), "no idea"))
    assert left.annotate([Memory("x", 1)])[0].key is None
    assert left.usage.unanswered == 1


def test_two_answers_about_one_memory_are_none() -> None:
    entries = [
        {"statement": 1, "entity": "e", "attribute": "a", "value": v, "cardinality": "single"}
        for v in ("x", "y")
    ]
    model = Script(json.dumps({"slots": entries}), json.dumps({"slots": entries}))
    assert SlotAnnotator(model).annotate([Memory("x", 1)])[0].key is None


def test_an_invented_number_is_ignored_with_a_warning() -> None:
    entry = {"entity": "e", "attribute": "a", "value": "v", "cardinality": "single"}
    model = Script(json.dumps({"slots": [{"statement": 9, **entry}, {"statement": 1, **entry}]}))
    with pytest.warns(InventedNumberWarning, match="9"):
        annotated = SlotAnnotator(model).annotate([Memory("x", 1)])
    assert annotated[0].key == "e/a"


def test_past_the_budget_memories_get_no_slot() -> None:
    annotator = SlotAnnotator(Indexer(), max_calls=1, memories_per_call=1)
    keys = [m.key for m in annotator.annotate([Memory(f"Ann's r{i} is red.", i) for i in (1, 2)])]
    assert keys == ["ann/r1", None]


async def test_the_asynchronous_path_gives_the_same_slots() -> None:
    memories = [Memory("Ann's city is Ulm.", 1), Memory("It rained.", 2), Memory("A's b is c.", 3)]
    blocking = SlotAnnotator(Indexer()).annotate(memories)
    assert await SlotAnnotator(Indexer()).aannotate(memories) == blocking


def test_no_memories_need_no_call() -> None:
    assert SlotAnnotator(Script()).annotate([]) == []


@pytest.mark.parametrize("option", ["memories_per_call", "names_per_call", "concurrency"])
def test_an_option_out_of_range_is_named(option: str) -> None:
    with pytest.raises(ValueError, match=option):
        SlotAnnotator(Script(), **{option: 0})
