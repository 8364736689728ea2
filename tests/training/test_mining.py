"""Hard examples first."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from gcmem.training.fitting import Example
from gcmem.training.mining import hard_first, losses


def _examples(count: int) -> list[Example]:
    return [Example(str(number), "newer", 0) for number in range(count)]


def _sure_of_supersedes(pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    return np.tile(np.array([9.0, 0.0, 0.0], dtype=np.float32), (len(pairs), 1))


def _wrong(pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    return np.tile(np.array([0.0, 0.0, 9.0], dtype=np.float32), (len(pairs), 1))


def test_what_is_read_without_error_is_thinned_and_weighs_more() -> None:
    kept = hard_first(_examples(2_000), _sure_of_supersedes, Random(0), easy_kept=0.2)
    assert 300 < len(kept) < 500
    assert {example.weight for example in kept} == {2.0}


def test_what_is_read_wrongly_stays_as_it_is() -> None:
    examples = _examples(50)
    assert hard_first(examples, _wrong, Random(0)) == examples


def test_in_between_the_loss_decides_how_many_stay() -> None:
    def half_sure(pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        return np.log(np.tile(np.array([[0.84, 0.08, 0.08]]), (len(pairs), 1)))

    kept = hard_first(_examples(2_000), half_sure, Random(0), hard_from=0.35)
    assert 900 < len(kept) < 1_100
    assert kept[0].weight == pytest.approx(2.0, abs=0.02)


def test_examples_of_the_other_head_are_not_read() -> None:
    nli = Example("premise", "hypothesis", 2, "nli")

    def fails(pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        raise AssertionError(pairs)

    assert hard_first([nli], fails, Random(0)) == [nli]


def test_where_support_and_neither_are_equally_right_only_a_conflict_is_a_loss() -> None:
    logits = np.log(np.array([[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]], dtype=np.float32))
    strict, lenient = Example("a", "b", 1), Example("a", "b", 1, no_conflict=True)
    found = losses(logits, [strict, lenient])
    assert found == pytest.approx([-np.log(0.2), -np.log(0.9)], rel=1e-4)


@pytest.mark.parametrize(("name", "value"), [("easy_kept", 0.0), ("easy_kept", 1.2)])
def test_a_share_outside_its_range_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf"{name} must be in \(0, 1\], got {value}"):
        hard_first(_examples(1), _wrong, Random(0), **{name: value})


def test_a_loss_that_is_never_reached_is_refused() -> None:
    with pytest.raises(ValueError, match="hard_from must be positive, got 0"):
        hard_first(_examples(1), _wrong, Random(0), hard_from=0)
