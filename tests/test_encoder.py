from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gcmem.encoder import SentenceEncoder

TEXTS = ["I live in Kiel.", "My home is in Kiel.", "The cache holds 512 entries."]


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder()


def test_vectors_have_unit_length(encoder: SentenceEncoder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)


def test_like_meaning_comes_closer_than_another_topic(encoder: SentenceEncoder) -> None:
    similarity = encoder.similarity(TEXTS[:1], TEXTS[1:])
    assert similarity.shape == (1, 2)
    assert similarity[0, 0] > 0.7 > 0.3 > similarity[0, 1]


def test_no_texts_give_no_vectors(encoder: SentenceEncoder) -> None:
    assert encoder.encode([]).shape == (0, 384)


def test_repeated_texts_and_the_cache_give_the_same_vectors(encoder: SentenceEncoder) -> None:
    fresh = SentenceEncoder(cache_size=0)
    first = encoder.encode([TEXTS[0], TEXTS[0]])
    np.testing.assert_array_equal(first[0], first[1])
    np.testing.assert_allclose(first[0], fresh.encode([TEXTS[0]])[0], atol=0.05)


def test_the_cache_forgets_the_oldest_and_cannot_be_changed_from_outside() -> None:
    encoder = SentenceEncoder(cache_size=2)
    vectors = encoder.encode(TEXTS)
    assert len(encoder._vectors) == 2
    kept = vectors[2].copy()
    vectors[:] = 0.0
    np.testing.assert_array_equal(encoder.encode([TEXTS[2]])[0], kept)


def test_it_can_be_pickled_without_its_session() -> None:
    encoder = SentenceEncoder(threads=1, cache_size=5)
    encoder.encode(TEXTS)
    data = pickle.dumps(encoder)
    assert len(data) < 2000
    copy = pickle.loads(data)
    assert copy.cache_size == 5
    np.testing.assert_allclose(copy.encode(TEXTS), encoder.encode(TEXTS), atol=1e-5)


def test_threads_may_share_it(encoder: SentenceEncoder) -> None:
    expected = encoder.encode(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(lambda _: encoder.encode(TEXTS), range(8)):
            np.testing.assert_array_equal(vectors, expected)


def test_a_single_text_is_an_error(encoder: SentenceEncoder) -> None:
    with pytest.raises(TypeError, match="single text"):
        encoder.encode("I live in Kiel.")


def test_a_folder_without_a_model_is_an_error(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match=r"encoder\.onnx"):
        SentenceEncoder(tmp_path)
