from __future__ import annotations

from random import Random

import numpy as np
import pytest

from gcmem.training.corpus_files import read_families, read_groups
from gcmem.training.gating import (
    conflicts_by_source,
    cosines,
    random_texts,
    threshold_that_holds_back,
)


def test_the_threshold_holds_back_all_but_the_wanted_share() -> None:
    cosine = np.linspace(0, 1, 1001, dtype=np.float32)
    threshold = threshold_that_holds_back(cosine, 0.18)
    assert threshold == pytest.approx(0.82)
    assert (cosine >= threshold).mean() <= 0.181


def test_cosines_are_those_of_the_two_texts_of_each_pair() -> None:
    vectors = {
        name: np.array(vector, dtype=np.float32)
        for name, vector in {"a": (1, 0), "b": (0.6, 0.8), "c": (0, 1)}.items()
    }
    np.testing.assert_allclose(
        cosines(vectors, [("a", "b"), ("a", "c"), ("c", "b")]), [0.6, 0.0, 0.8], atol=1e-6
    )


def test_conflicts_and_random_pairs_come_from_the_corpus() -> None:
    families, groups = read_families()[:5], read_groups()[:5]
    found = conflicts_by_source(families, groups, Random(0))
    assert len(found["behaviour"]) > 50
    assert len(found["explicit"]) >= 5
    owner = {text: family.id for family in families for text in family.statements()}
    for first, second in random_texts(families, [], Random(0), count=200):
        assert owner[first] != owner[second]
