from __future__ import annotations

import pytest

from gcmem.cli_input import read_memories, read_pair_rows
from gcmem.rows import RowError


@pytest.mark.parametrize(
    ("column", "given"), [("authority", "high"), ("relevance", "much"), ("metadata", "topic")]
)
def test_a_bad_cell_of_a_memory_is_named_by_file_line_and_column(
    tmp_path, column: str, given: str
) -> None:
    path = tmp_path / "memories.csv"
    path.write_text(f"text,timestamp,{column}\nAda lives in Ulm.,2024-01-01,{given}\n")
    with pytest.raises(RowError, match=rf"memories\.csv, line 2: {column} must be .*'{given}'"):
        read_memories(path)


def test_a_bad_weight_of_a_pair_is_named_by_file_line_and_column(tmp_path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("older,newer,label,weight\na,b,neither,heavy\n")
    with pytest.raises(RowError, match=r"pairs\.csv, line 2: weight must be a number.*'heavy'"):
        read_pair_rows(path)
