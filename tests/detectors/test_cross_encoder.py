"""The NLI cross-encoder, on tiny models made here: labels, softmax, direction, clear refusals."""

from __future__ import annotations

import functools
import pickle
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gcmem import Collector, Memory
from gcmem.detectors import CrossEncoderDetector
from gcmem.detectors.cross_encoder import contradiction_at

torch = pytest.importorskip("torch")
pytest.importorskip("sentence_transformers")
transformers = pytest.importorskip("transformers")

LABELS = ("contradiction", "entailment", "neutral")
WORDS = "the shop is open closed on sunday lamp green red a b".split()
PAIRS = [
    ("the shop is open on sunday", "the shop is closed on sunday"),
    ("the lamp is green", "the lamp is red"),
    ("the lamp", "the shop is open"),
]
Maker = Callable[..., Path]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Maker:
    """Saves a tiny BERT classifier with fixed random weights, its outputs in a given order."""
    torch.set_num_threads(1)  # more only cost time on models of this size

    @functools.cache
    def made(
        labels: tuple[str, ...] = LABELS,
        order: tuple[int, ...] = (0, 1, 2),
        logits: tuple[float, ...] | None = None,
    ) -> Path:
        folder = tmp_path_factory.mktemp("model")
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        vocabulary = {word: number for number, word in enumerate([*special, *WORDS])}
        transformers.BertTokenizerFast(vocab=vocabulary).save_pretrained(folder)
        config = transformers.BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=32,
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: number for number, label in enumerate(labels)},
            initializer_range=1.0,
        )
        torch.manual_seed(7)
        model = transformers.BertForSequenceClassification(config).eval()
        with torch.no_grad():
            if logits is not None:
                model.classifier.weight.zero_()
                model.classifier.bias.copy_(torch.tensor(logits))
            elif len(labels) == 3:
                model.classifier.weight.copy_(model.classifier.weight[list(order)].clone())
        model.save_pretrained(folder)
        return folder

    return made


def detector_of(folder: Path, **options: Any) -> CrossEncoderDetector:
    return CrossEncoderDetector(folder, **{"device": "cpu", **options})


def test_the_score_is_the_softmax_of_the_contradiction_logit(make: Maker) -> None:
    scores = detector_of(make(logits=(2.0, 1.0, 0.0))).score(PAIRS)
    assert scores.dtype == np.float32
    expected = np.exp(2.0) / np.exp([2.0, 1.0, 0.0]).sum()
    assert scores.tolist() == pytest.approx([expected] * 3)


def test_field_case_a17_logits_are_turned_into_probabilities(make: Maker) -> None:
    scores = detector_of(make(logits=(9.0, -4.0, -5.0)), direction="both").score(PAIRS[:1])
    assert 0.99 < scores[0] <= 1.0


def test_field_case_a18_a_likely_entailment_does_not_hide_a_contradiction(make: Maker) -> None:
    folder = make(logits=(1.0, 0.9, -3.0))
    memories = [Memory(text, when, id=str(when)) for when, text in enumerate(PAIRS[0], 1)]
    collector = Collector(detector_of(folder, threshold=0.5))
    assert [memory.id for memory in collector.collect("", memories).kept] == ["2"]


@pytest.mark.parametrize("order", [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_the_order_of_the_outputs_does_not_matter(make: Maker, order: tuple[int, ...]) -> None:
    plain = detector_of(make()).score(PAIRS)
    permuted = make(tuple(LABELS[position] for position in order), order)
    assert detector_of(permuted).score(PAIRS).tolist() == pytest.approx(plain.tolist())
    assert len(set(np.round(plain, 4).tolist())) > 1  # the weights do react to the text


@pytest.mark.parametrize(
    "labels",
    [
        ("CONTRADICTION", "ENTAILMENT", "NEUTRAL"),
        ("Contradictory", "Entailment", "Neutral"),
        ("contradiction", "not_contradiction"),
    ],
)
def test_names_of_the_contradiction_label_are_known_in_any_case(labels: tuple[str, ...]) -> None:
    assert contradiction_at(labels, outputs=len(labels), model="m") == 0
    assert contradiction_at(labels[::-1], outputs=len(labels), model="m") == len(labels) - 1
    as_config = {str(number): label for number, label in enumerate(labels)}
    assert contradiction_at(as_config, outputs=len(labels), model="m") == 0


def test_placeholders_for_labels_are_an_error_that_says_what_to_pass(make: Maker) -> None:
    folder = make(("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(ValueError, match=r"pass labels=\("):
        detector_of(folder).score(PAIRS)
    named = detector_of(folder, labels=LABELS)
    assert named.score(PAIRS).tolist() == pytest.approx(detector_of(make()).score(PAIRS).tolist())


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (("entailment", "neutral"), "must name each of the 3 outputs"),
        (("yes", "no", "perhaps"), "exactly one label"),
        (("contradiction", "contradictory", "neutral"), "exactly one label"),
    ],
)
def test_labels_that_do_not_fit_the_model_are_an_error(
    make: Maker, labels: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        detector_of(make(), labels=labels).score(PAIRS)


def test_a_model_with_one_output_is_refused(make: Maker) -> None:
    with pytest.raises(ValueError, match="one output, so it is a reranker"):
        detector_of(make(("score",), logits=(0.0,))).score(PAIRS)


def test_direction_says_which_statement_is_the_premise(make: Maker) -> None:
    folder = make()
    swapped = [(newer, older) for older, newer in PAIRS]
    forward, backward, both = (
        detector_of(folder, direction=direction).score(PAIRS)
        for direction in ("forward", "backward", "both")
    )
    assert backward.tolist() == pytest.approx(detector_of(folder).score(swapped).tolist())
    assert not np.allclose(forward, backward)
    assert both.tolist() == pytest.approx(np.maximum(forward, backward).tolist())


def test_a_score_does_not_depend_on_its_batch(make: Maker) -> None:
    folder = make()
    together = detector_of(folder).score(PAIRS)
    alone = [float(detector_of(folder, batch_size=1).score([pair])[0]) for pair in PAIRS]
    assert together.tolist() == pytest.approx(alone, abs=1e-5)


def test_no_pairs_load_no_model(tmp_path: Path) -> None:
    assert CrossEncoderDetector("owner/none").score([]).shape == (0,)


def test_threads_share_one_model(make: Maker) -> None:
    detector = detector_of(make())
    expected, found = detector_of(make()).score(PAIRS), []
    threads = [
        threading.Thread(target=lambda: found.append(detector.score(PAIRS))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(np.allclose(scores, expected) for scores in found)


def test_it_can_be_pickled_before_and_after_loading(make: Maker) -> None:
    detector = detector_of(make(), direction="both")
    fresh = pickle.loads(pickle.dumps(detector))
    scores = detector.score(PAIRS)
    used = pickle.loads(pickle.dumps(detector))
    assert fresh.name == used.name == detector.name
    assert fresh.score(PAIRS).tolist() == used.score(PAIRS).tolist() == scores.tolist()


def test_the_name_changes_with_everything_that_changes_scores(make: Maker) -> None:
    folder, other = make(), make(logits=(1.0, 0.0, 0.0))
    names = {
        detector_of(folder).name,
        detector_of(folder, direction="both").name,
        detector_of(folder, max_tokens=16).name,
        detector_of(folder, labels=LABELS[::-1]).name,
        detector_of(other).name,
        CrossEncoderDetector("owner/model").name,
        CrossEncoderDetector("owner/model", revision="v2").name,
    }
    assert len(names) == 7
    assert detector_of(folder, threshold=0.9).name in names


def test_long_texts_can_be_cut(make: Maker) -> None:
    long = [("the lamp is green " * 30, "the lamp is red")]
    assert 0 <= detector_of(make(), max_tokens=16).score(long)[0] <= 1


def test_without_the_extra_the_error_names_it(make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ImportError, match=r"gcmem\[nli\]"):
        detector_of(make()).score(PAIRS)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"direction": "sideways"}, ValueError),
        ({"threshold": 0.0}, ValueError),
        ({"batch_size": 0}, ValueError),
        ({"max_tokens": 0}, ValueError),
        ({"labels": "contradiction"}, TypeError),
    ],
)
def test_an_option_out_of_range_is_named(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(options))):
        CrossEncoderDetector("owner/model", **options)


def test_a_missing_folder_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        CrossEncoderDetector(tmp_path / "nowhere")
