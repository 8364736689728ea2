"""Cutting statements out of a text, and what is left of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gcmem import Collector, Memory
from gcmem.excision import cut, says_something
from gcmem.sentences import split_statements
from tests.support import ScriptedDetector

STATEMENTS = [
    "I live in Ulm.",
    "My cat is grey!",
    "Is Tom here?",
    "\u6211\u4f4f\u5728\u5317\u4eac\u3002",
    "\U0001f389 Party on Friday.",
    "e\u0301te\u0301 is summer.",
    "x = 1",
    "She lives in Ulm and uses the Finch editor.",
    "Tom has a dog, but Ines is grey!",
]
LEADS = ["", "", "- ", "1. ", "User: ", "[2026-03-01 10:00] ", "## "]
ENDS = [" ", "\n", "\n\n", "  \n", "\r\n"]
pieces = st.tuples(st.sampled_from(LEADS), st.sampled_from(STATEMENTS), st.sampled_from(ENDS))
chunk = st.lists(pieces, min_size=1, max_size=7).map(
    lambda parts: "".join(lead + body + end for lead, body, end in parts)
)


def collected(
    text: str, stale: str | tuple[str, ...], newer: str = "news", **options: object
) -> list[Memory]:
    """Collect a chunk whose parts that hold one of the stale words are contradicted by another."""
    words = (stale,) if isinstance(stale, str) else stale
    judge = ScriptedDetector(lambda old, new: new == newer and any(word in old for word in words))
    memories = [Memory(text, 1, id="chunk"), Memory(newer, 2, id="newer")]
    return Collector(judge, gate=False, **options).collect("q", memories).kept  # type: ignore[arg-type]


@given(chunk, st.data())
def test_what_is_not_cut_stays_verbatim_and_in_order(text: str, data: st.DataObject) -> None:
    spans = split_statements(text)
    gone = data.draw(st.sets(st.sampled_from(spans)))
    rest = cut(text, spans, [(span.start, span.end) for span in gone])
    position = 0
    for span in spans:
        if span not in gone:
            body = text[span.body : span.end].rstrip()
            position = rest.index(body, position) + len(body)
    kept = "".join(text[s.start : s.end] for s in spans if s not in gone)
    labels = [text[s.start : s.body] for s in gone]
    assert len(rest) <= len(kept) + sum(map(len, labels))


@given(chunk)
def test_cutting_nothing_changes_nothing_and_cutting_all_leaves_nothing(text: str) -> None:
    spans = split_statements(text)
    assert cut(text, spans, []) == text
    assert cut(text, spans, [(span.start, span.end) for span in spans]) == ""


@given(chunk, st.data())
def test_the_order_of_the_ranges_does_not_matter(text: str, data: st.DataObject) -> None:
    spans = split_statements(text)
    ranges = [(span.start, span.end) for span in spans]
    gone = data.draw(st.lists(st.sampled_from(ranges), unique=True))
    assert cut(text, spans, gone) == cut(text, spans, gone[::-1])


@given(chunk, st.sampled_from([0, 1, 2]))
def test_a_collected_chunk_is_never_empty_or_without_a_statement(text: str, number: int) -> None:
    stale = STATEMENTS[number].split()[-1]
    for memory in collected(text, stale):
        assert says_something(memory.text)
        assert memory.text == text or stale not in memory.text or memory.id == "newer"


@given(chunk, st.sampled_from([0, 1, 2]))
def test_collecting_again_changes_nothing(text: str, number: int) -> None:
    stale = STATEMENTS[number].split()[-1]
    once = collected(text, stale)
    judge = ScriptedDetector(lambda old, new: new == "news" and stale in old)
    twice = Collector(judge, gate=False).collect("q", once).kept
    assert twice == once


@given(chunk, st.sampled_from([0, 1, 2]))
def test_offsets_of_excisions_are_those_of_the_original(text: str, number: int) -> None:
    stale = STATEMENTS[number].split()[-1]
    judge = ScriptedDetector(lambda old, new: new == "news" and stale in old)
    memories = [Memory(text, 1, id="chunk"), Memory("news", 2, id="newer")]
    found = Collector(judge, gate=False).collect("q", memories)
    for part in found.excisions:
        assert part.memory is memories[0]
        assert part.text == text[part.start : part.end]
        assert stale in part.text
    assert memories[0].text == text


@pytest.mark.parametrize(
    ("text", "stale", "rest"),
    [
        ("I live in Ulm. My cat is grey.", "Ulm", "My cat is grey."),
        ("My cat is grey. I live in Ulm.", "Ulm", "My cat is grey."),
        ("A is on. I live in Ulm.\n\nB is off.", "Ulm", "A is on. B is off."),
        ("- tea\n- Ulm\n- cake", "Ulm", "- tea\n- cake"),
        ("User: I live in Ulm. My cat is grey.", "Ulm", "User: My cat is grey."),
        ("User: I live in Ulm.\nAssistant: Kiel is far.", "Ulm", "Assistant: Kiel is far."),
        ("Code:\n```\nulm = 1\n```\nRun it.", "ulm", "Code:\nRun it."),
        (
            "\u6211\u4f4fUlm\u3002\u73b0\u5728\u5f88\u597d\u3002",
            "Ulm",
            "\u73b0\u5728\u5f88\u597d\u3002",
        ),
        ("\U0001f389 In Ulm! \U0001f600 Cake is here.", "Ulm", "\U0001f600 Cake is here."),
        ("She lives in Ulm and uses the Finch editor.", "Finch", "She lives in Ulm."),
        ("She lives in Ulm, but she uses Finch!\nOk then.", "Finch", "She lives in Ulm!\nOk then."),
    ],
)
def test_the_contradicted_part_goes_and_the_rest_reads_well(
    text: str, stale: str, rest: str
) -> None:
    kept = collected(text, stale)
    assert [memory.text for memory in kept] == [rest, "news"]


def test_a_contradicted_clause_before_a_kept_one_is_marked_not_cut() -> None:
    text = "She lives in Ulm and uses the Finch editor."
    kept = collected(text, "Ulm")
    assert kept[0].text == text
    assert kept[0].metadata["gcmem_contradicted"] == ["She lives in Ulm"]


@pytest.mark.parametrize(
    "text",
    [
        "Hi! I live in Ulm. Thanks!",
        "Oh, by the way: I live in Ulm.",
        "User: I live in Ulm.\nAssistant: Noted, thank you!",
        "Her address:\n- Ulm",
        "My sister Elena and her husband live in Ulm.",
        "Anna lives in Ulm with Tom and the dog.",
    ],
)
def test_a_chunk_with_nothing_else_to_say_goes_whole(text: str) -> None:
    assert [memory.id for memory in collected(text, ("Ulm", "lives"))] == ["newer"]


def test_a_lead_in_stays_in_front_of_what_is_kept() -> None:
    kept = collected("Her addresses:\n- Ulm\n- Kiel", "Ulm")
    assert kept[0].text == "Her addresses:\n- Kiel"


@pytest.mark.parametrize(
    "text", ["", "...", "Hi!", "OK, thanks.", "So, and now?", "Got it!", "###", "My address:"]
)
def test_greetings_and_fillers_say_nothing(text: str) -> None:
    assert not says_something(text)


@pytest.mark.parametrize(
    "text", ["Ulm", "I live in Ulm.", "\u6211\u4f4f\u5728", "No dogs.", "4411"]
)
def test_anything_else_says_something(text: str) -> None:
    assert says_something(text)
