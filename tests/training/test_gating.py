from __future__ import annotations

from random import Random

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra 'train' is not installed")

from gcmem.training.corpus_files import read_families, read_groups
from gcmem.training.gating import (
    conflicting_texts,
    cosines,
    fit_projection,
    random_texts,
    threshold_that_passes,
)


def test_the_projection_brings_pairs_close_that_noise_holds_apart() -> None:
    random = np.random.default_rng(0)
    slots = random.normal(size=(60, 384))
    vectors, pairs = {}, []
    for number, slot in enumerate(slots):
        for side in "ab":
            noise = np.zeros(384)
            noise[:150] = random.normal(size=150) * 4
            vector = np.where(np.arange(384) < 150, 0, slot) + noise
            vectors[f"{side}{number}"] = (vector / np.linalg.norm(vector)).astype(np.float32)
        pairs.append((f"a{number}", f"b{number}"))
    others = [(f"a{number}", f"b{(number + 1) % 60}") for number in range(60)]
    projection = fit_projection(vectors, pairs[:50], width=32, steps=300, batch_size=40)
    before = cosines(vectors, pairs, None).mean() - cosines(vectors, others, None).mean()
    after = cosines(vectors, pairs, projection).mean() - cosines(vectors, others, projection).mean()
    assert projection.shape == (384, 32)
    assert after > before + 0.2


def test_the_threshold_lets_the_wanted_share_pass() -> None:
    cosine = np.linspace(0, 1, 1001, dtype=np.float32)
    threshold = threshold_that_passes(cosine, 0.99)
    assert (cosine >= threshold).mean() == pytest.approx(0.99, abs=0.002)


def test_conflicts_and_random_pairs_come_from_the_corpus() -> None:
    families, groups = read_families()[:5], read_groups()[:5]
    assert len(conflicting_texts(families, groups, Random(0))) > 50
    owner = {text: family.id for family in families for text in family.statements()}
    for first, second in random_texts(families, [], Random(0), count=200):
        assert owner[first] != owner[second]
