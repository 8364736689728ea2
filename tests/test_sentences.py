"""Statements, their offsets, and clauses."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gcmem.sentences import clauses, split_statements

PIECES = [
    "I live in Ulm.",
    "Dr. Weber moved to the U.S. in May.",
    "- milk\n",
    "* [x] done\n",
    "1. first item\n",
    "## Heading\n",
    "User: I moved to Kiel.\n",
    "assistant: Noted!\n",
    "<message role='user'>Hello there</message>\n",
    "[2026-03-01 10:00] Gate code 4411.\n",
    "```python\nx = 1\ny = 2\n```\n",
    "\u79c1\u306f\u6771\u4eac\u306b\u4f4f\u3093\u3067\u3044\u307e\u3059\u3002\u4eca\u306f\u5927\u962a\u3067\u3059\u3002",
    "\u6211\u4f4f\u5728\u5317\u4eac\u3002\u73b0\u5728\u4f4f\u5728\u4e0a\u6d77\u3002",
    "\U0001f389 Party on Friday! \U0001f468\u200d\U0001f469\u200d\U0001f467 come.",
    "e\u0301te\u0301 is summer.",
    "\n\n",
    "   ",
    "\t",
    "...",
    "|a|b|\n|-|-|\n",
    "\r\n",
    "\u2028",
    "\x00",
]
any_text = st.one_of(
    st.text(max_size=80), st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
)


def texts(text: str) -> list[str]:
    return [span.text for span in split_statements(text)]


@given(any_text)
@example("")
@example("\U0001f389\U0001f389 a. b.")
def test_spans_cover_the_text_in_order_without_overlap(text: str) -> None:
    spans = split_statements(text)
    assert "".join(text[span.start : span.end] for span in spans) == text
    assert all(span.start <= span.body <= span.end for span in spans)
    assert all(left.end == right.start for left, right in pairwise(spans))


@given(any_text)
def test_what_is_judged_stands_at_its_offset(text: str) -> None:
    spans = split_statements(text)
    for span in spans:
        stands = text[span.body : span.end]
        assert "".join(stands.split()).startswith("".join(span.text.split()))


@given(any_text)
def test_every_word_is_in_some_judged_statement_or_label(text: str) -> None:
    spans = split_statements(text)
    for span in spans[1:]:
        assert any(character.isalnum() or character == "_" for character in span.text)
    if len(spans) > 1:
        assert all(span.text for span in spans)


@pytest.mark.parametrize(
    ("text", "judged"),
    [
        ("I live in Ulm. I work in Kiel.", ["I live in Ulm.", "I work in Kiel."]),
        ("Dr. Weber lives here. OK.", ["Dr. Weber lives here.", "OK."]),
        ("The fee is 4.50 EUR. Pay it.", ["The fee is 4.50 EUR.", "Pay it."]),
        ("User: I moved.\nAssistant: Noted.", ["I moved.", "Noted."]),
        ("- tea\n- coffee\n", ["tea", "coffee"]),
        ("1. Open it.\n2) Close it.", ["Open it.", "Close it."]),
        ("[2026-03-01 10:00] Code 4411.\n[10:01:00] Ok now.", ["Code 4411.", "Ok now."]),
        ("[The docs](http://x.org/a) moved.\nOh.", ["[The docs](http://x.org/a) moved.", "Oh."]),
        ("<message role='user'>I moved.\n<p>Hi.", ["I moved.", "Hi."]),
        (
            "\u6211\u4f4f\u5728\u5317\u4eac\u3002\u73b0\u5728\u4f4f\u5728\u4e0a\u6d77\u3002",
            ["\u6211\u4f4f\u5728\u5317\u4eac\u3002", "\u73b0\u5728\u4f4f\u5728\u4e0a\u6d77\u3002"],
        ),
        ("\U0001f389 Party! \U0001f600 Cake.", ["\U0001f389 Party!", "\U0001f600 Cake."]),
        ("port=80\nhost=a.example", ["port=80", "host=a.example"]),
        ("...", ["..."]),
        ("", [""]),
    ],
)
def test_statements_are_sentences_items_and_turns(text: str, judged: list[str]) -> None:
    assert texts(text) == judged


def test_a_code_block_is_one_statement() -> None:
    text = "Before.\n```\nx = 1\ny = 2. Not a sentence.\n```\nAfter."
    assert texts(text) == ["Before.", "```\nx = 1\ny = 2. Not a sentence.\n```", "After."]


def test_an_open_code_fence_is_prose() -> None:
    assert texts("Run this.\n```\nx") == ["Run this.", "x"]


def test_a_wrapped_sentence_is_one_statement() -> None:
    text = "The quarterly report of the northern branch is written by Ines and\nreviewed by Tom."
    assert texts(text + " It is late.") == [text.replace("\n", " "), "It is late."]


@pytest.mark.parametrize("text", ["I  moved.", "Ann: I moved.", "  I live in Ulm.\n", "", "..."])
def test_a_text_of_one_statement_without_a_label_is_judged_as_it_stands(text: str) -> None:
    assert texts(text) == [text]


@pytest.mark.parametrize(
    "label", ["User: ", "assistant: ", "- ", "2. ", "> ", "[2026-03-01 10:00] user: ", "<message> "]
)
def test_a_statement_is_judged_alike_alone_and_beside_others(label: str) -> None:
    alone, beside = f"{label}I moved to Kiel.", f"{label}I moved to Kiel. I like it."
    assert texts(alone) == ["I moved to Kiel."]
    assert texts(beside)[0] == texts(alone)[0]
    assert split_statements(alone)[0].body == len(label)


@pytest.mark.parametrize("mark", ["[Paris office] ", "[draft v2] ", "[handbook] "])
def test_brackets_that_hold_no_time_are_part_of_what_is_said(mark: str) -> None:
    assert texts(f"{mark}The fee is 5 EUR.") == [f"{mark}The fee is 5 EUR."]
    assert texts(f"{mark}The fee is 5 EUR. Pay it.")[0] == f"{mark}The fee is 5 EUR."


def test_what_has_no_word_belongs_to_the_statement_before() -> None:
    spans = split_statements("Tea is out.\n\n---\n\nCoffee is in.")
    assert [span.text for span in spans] == ["Tea is out.", "Coffee is in."]
    assert spans[0].end == spans[1].start == len("Tea is out.\n\n---\n\n")


@given(any_text)
@example("a; b and c, which d")
def test_clauses_cover_the_sentence(sentence: str) -> None:
    spans = clauses(sentence)
    assert "".join(sentence[span.start : span.end] for span in spans) == sentence
    assert all(span.start <= span.body <= span.end for span in spans)


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("She lives in Leeds and uses the Finch editor.", 2),
        ("I drink tea, but Tom drinks coffee.", 2),
        ("The office is on floor 2; the lab is on floor 3.", 2),
        ("I drink wine and smoke cigars.", 2),
        ("The shop sells bikes, which Ines repairs.", 2),
        ("Kids sleep upstairs and the office is on floor 2.", 2),
        ("The kids sleep upstairs and the office is on floor 2.", 2),
        ("My sister Elena and her husband live in Ulm.", 1),
        ("Anna lives in Ulm with Tom and the dog.", 1),
        ("Anna Berg and Tom Lind share the flat.", 1),
        ("Bread and butter.", 1),
        ("I live in Ulm.", 1),
    ],
)
def test_clauses_are_split_where_two_things_are_said(sentence: str, parts: int) -> None:
    assert len(clauses(sentence)) == parts
