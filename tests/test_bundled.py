from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gcmem.detectors import Detector, load_detector
from gcmem.detectors.bundled import BundledDetector
from gcmem.onnx_model import padded_batches

PAIRS = [
    ("Elena lives in Osaka.", "Elena lives in Bremen."),
    ("Elena lives in Osaka.", "Elena's home is in Osaka, near the river."),
    ("Read cap of the ledger: 3k ops/s.", "The cafeteria serves soup on Mondays."),
    (
        "The deploy target is staging-2.",
        "As of today the deploy target is staging-4, not staging-2.",
    ),
]


@pytest.fixture(scope="module")
def detector() -> BundledDetector:
    return BundledDetector()


def test_it_is_a_detector_and_is_found_by_name(detector: BundledDetector) -> None:
    assert isinstance(detector, Detector)
    assert load_detector("bundled").name == detector.name


def test_a_changed_value_scores_above_the_threshold_and_a_restated_one_below(
    detector: BundledDetector,
) -> None:
    scores = detector.score(PAIRS)
    assert scores.shape == (4,)
    assert scores.dtype == np.float32
    assert (scores >= detector.threshold).tolist() == [True, False, False, True]


def test_scores_do_not_depend_on_the_batch_or_the_order(detector: BundledDetector) -> None:
    together = detector.score(PAIRS)
    alone = np.concatenate([detector.score([pair]) for pair in PAIRS])
    backwards = detector.score(PAIRS[::-1])[::-1]
    # int8 activations are scaled per call, so equal up to that rounding
    np.testing.assert_allclose(together, alone, atol=0.1)
    np.testing.assert_allclose(together, backwards, atol=1e-6)


def test_no_pairs_give_no_scores(detector: BundledDetector) -> None:
    assert detector.score([]).shape == (0,)


def test_it_tells_what_was_measured(detector: BundledDetector) -> None:
    assert detector.calibration is not None
    assert detector.calibration.n > 500
    assert 0.5 < detector.calibration.recall <= 1.0
    assert detector.name.startswith("bundled-")


def test_text_in_another_language_gets_no_verdict_and_is_counted() -> None:
    detector = BundledDetector()
    scores = detector.score(
        [
            ("Ich wohne seit Jahren in Kiel.", "Ich wohne jetzt in Ulm."),
            ("I live in Kiel.", "私は東京に住んでいます。"),
            PAIRS[0],
        ]
    )
    assert np.isnan(scores).tolist() == [True, True, False]
    assert detector.unjudged_language == 2


@pytest.mark.parametrize(
    "text",
    [
        "Elena lives in Osaka.",
        "My name is Li Wensong.",
        "max_retries = 5",
        "Owner: María José Ñúñez",
        "Zoë Brontë prefers café au lait.",
        "We flew from São Paulo to Košice via Reykjavík.",
        "8443",
        "deploy target resolved to eu-west-3",
        "Der Spiegel is the magazine she reads.",
        "La Paz office: closed",
        "My wife's nickname for me is Señor No.",
        "Her name in Russian is Елена.",
        "user switched to oat milk",
        "",
    ],
)
def test_english_with_foreign_names_is_judged(detector: BundledDetector, text: str) -> None:
    assert detector.can_judge(text)


@pytest.mark.parametrize(
    "text",
    [
        "Elena wohnt in Bremen.",
        "Der Server läuft auf Port 8080.",
        "Juan vive en Madrid.",
        "Elle travaille maintenant chez Renault.",
        "Ho cambiato lavoro e ora abito a Torino.",
        "Ik woon in Utrecht.",
        "Mieszkam teraz w Krakowie.",
        "Артём переехал в Казань.",
        "Ο διακομιστής τρέχει στη θύρα 80.",
        "أعيش في القاهرة",
        "我住在上海。",
        "นัทอยู่ที่เชียงใหม่",
        "मैं दिल्ली में रहता हूँ",
        "Ali artık İzmir'de oturuyor.",
        "Jag bor i Malmö och jobbar hemifrån.",
        "Eu moro em Lisboa com a minha irmã.",
    ],
)
def test_other_languages_are_not_guessed_at(detector: BundledDetector, text: str) -> None:
    assert not detector.can_judge(text)


def test_it_can_be_pickled_and_scores_the_same(detector: BundledDetector) -> None:
    strict = BundledDetector(threshold=0.99, threads=1)
    copy = pickle.loads(pickle.dumps(strict))
    assert copy.threshold == 0.99
    assert copy.name == detector.name
    np.testing.assert_allclose(copy.score(PAIRS), strict.score(PAIRS), atol=1e-6)


def test_threads_may_share_it(detector: BundledDetector) -> None:
    expected = detector.score(PAIRS)
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(lambda _: detector.score(PAIRS), range(8)):
            np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_long_texts_are_cut_and_scored(detector: BundledDetector) -> None:
    long_text = "The depot keeps spare parts for the trams. " * 2000
    assert 0.0 <= detector.score([(long_text, PAIRS[0][1])])[0] <= 1.0


@pytest.mark.parametrize("options", [{"threshold": 1.5}, {"threads": 0}, {"batch_tokens": 0}])
def test_options_out_of_range_are_errors(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        BundledDetector(**options)


def test_a_folder_without_a_model_is_an_error(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match=r"conflict\.onnx"):
        BundledDetector(tmp_path)


def test_batches_hold_every_row_once_within_the_budget() -> None:
    rows = [([1] * length, [0] * length) for length in (3, 40, 9, 17, 8, 120, 33)]
    members = []
    for batch, ids, mask, types in padded_batches(rows, 100):
        assert ids.shape == mask.shape == types.shape
        assert ids.shape[1] % 8 == 0
        assert ids.size <= 100 or len(batch) == 1
        assert mask.sum(axis=1).tolist() == [len(rows[row][0]) for row in batch]
        members += batch
    assert sorted(members) == list(range(len(rows)))
