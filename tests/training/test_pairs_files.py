from __future__ import annotations

import pytest

from gcmem.rows import RowError
from gcmem.training.pairs import LabelledPair, read_pairs, write_pairs


def test_pairs_survive_writing_and_reading(tmp_path) -> None:
    pairs = [
        LabelledPair("Port is 80.", "Port is 81.", "supersedes", "config", "a", split="dev"),
        LabelledPair("“Früher”", "x\ny", "neither", "odd", "b", query="q", weight=0.5),
    ]
    write_pairs(pairs, tmp_path / "pairs.jsonl")
    assert read_pairs(tmp_path / "pairs.jsonl") == pairs


def test_csv_with_the_three_needed_columns_is_read(tmp_path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text('older,newer,label\n"Lives in Ulm, Germany",Lives in Kiel,supersedes\n')
    (pair,) = read_pairs(path)
    assert (pair.older, pair.newer, pair.label) == (
        "Lives in Ulm, Germany",
        "Lives in Kiel",
        "supersedes",
    )
    assert pair.split == "train"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"older": "a", "newer": "b", "label": "contradicts"}',
            "line 2: label must be .*'contradicts'",
        ),
        ('{"older": "a", "label": "neither"}', "line 2: newer must be a text that is not empty"),
        ('{"older": " ", "newer": "b", "label": "neither"}', "line 2: older must be"),
        ('{"older": "a", "newer": "b"', "line 2: this is not JSON"),
        ('["a", "b"]', "line 2: this is not a JSON object"),
        ('{"older": "a", "newer": "b", "label": "neither", "wieght": 2}', "unknown column"),
        ('{"older": "a", "newer": "b", "label": "neither", "weight": "x"}', "weight must be .*'x'"),
        ('{"older": "a", "newer": "b", "label": "neither", "weight": -1}', "weight must be"),
        ('{"older": "a", "newer": "b", "label": "neither", "weight": 0}', "weight must be .* 0"),
        (
            '{"older": "a", "newer": "b", "label": "neither", "split": "valid"}',
            "split must be .*'valid'",
        ),
    ],
)
def test_a_bad_row_is_an_error_that_names_its_line(tmp_path, line: str, message: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"older": "a", "newer": "b", "label": "neither"}\n' + line + "\n")
    with pytest.raises(RowError, match=message):
        read_pairs(path)


def test_a_csv_without_a_needed_column_or_with_too_many_fields_is_an_error(tmp_path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("older,newer\na,b\n")
    with pytest.raises(RowError, match="line 2: label must be one of"):
        read_pairs(path)
    path.write_text("older,newer,label\na,b,neither,c\n")
    with pytest.raises(RowError, match="line 2: there are more fields"):
        read_pairs(path)


def test_an_empty_file_and_an_unknown_type_are_errors(tmp_path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    (tmp_path / "pairs.xlsx").write_text("no text of rows")
    with pytest.raises(RowError, match="holds no rows"):
        read_pairs(tmp_path / "empty.jsonl")
    with pytest.raises(RowError, match=r"must end in \.jsonl, \.ndjson or \.csv"):
        read_pairs(tmp_path / "pairs.xlsx")
