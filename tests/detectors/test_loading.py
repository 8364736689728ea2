"""`load_detector`, detectors on disk, and what `import gcmem` may load."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import gcmem
from gcmem import Calibration, load_detector
from gcmem.detectors import (
    BundledDetector,
    CrossEncoderDetector,
    ExplicitDetector,
    calibrated,
    save_detector,
)
from gcmem.detectors.calibration import CalibratedDetector
from gcmem.detectors.saved import DESCRIPTION, SavedDetectorError, StaleCalibrationWarning
from gcmem.onnx_model import WEIGHTS
from tests.support import ScriptedDetector, slot_rule

MEASURED = Calibration(threshold=0.8, precision=0.97, recall=0.9, n=200)

needs_weights = pytest.mark.skipif(
    not (WEIGHTS / "conflict.onnx").is_file(), reason="the bundled weights are not here"
)


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "models" / "nli"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


class TestByName:
    def test_explicit_is_the_rules_for_metadata(self) -> None:
        assert isinstance(load_detector("explicit"), ExplicitDetector)
        assert load_detector("explicit", multi_valued=("likes",)).multi_valued == ("likes",)

    @needs_weights
    def test_bundled_is_the_default(self) -> None:
        assert isinstance(load_detector(), BundledDetector)
        assert load_detector("bundled", threshold=0.7).threshold == 0.7

    @pytest.mark.parametrize("name", ["owner/some-nli-model", "some-nli-model"])
    def test_any_other_name_is_a_cross_encoder_that_is_not_loaded_yet(self, name: str) -> None:
        detector = load_detector(name, direction="both")
        assert isinstance(detector, CrossEncoderDetector)
        assert detector.model_name_or_path == name
        assert detector.direction == "both"

    @pytest.mark.parametrize("name", ["./nothing", "~/nothing", "/nothing", "a/b/c", "..\\x"])
    def test_a_path_where_nothing_is_gives_an_error_and_not_a_download(self, name: str) -> None:
        with pytest.raises(FileNotFoundError, match="there is no folder"):
            load_detector(name)

    def test_a_path_object_is_never_taken_for_a_model_name(self) -> None:
        with pytest.raises(FileNotFoundError):
            load_detector(Path("bert-nothing"))

    @pytest.mark.parametrize("name", ["", "  "])
    def test_an_empty_name_is_an_error(self, name: str) -> None:
        with pytest.raises(ValueError, match="name must be"):
            load_detector(name)

    def test_a_folder_without_a_model_is_an_error_that_says_what_is_looked_for(
        self, tmp_path: Path
    ) -> None:
        with pytest.raises(ValueError, match=r"holds no detector: no detector\.json"):
            load_detector(tmp_path)

    def test_a_misspelt_option_is_an_error(self) -> None:
        with pytest.raises(TypeError, match="treshold"):
            load_detector("owner/model", treshold=0.5)

    def test_a_folder_with_a_model_is_a_cross_encoder(self, model_folder: Path) -> None:
        assert isinstance(load_detector(model_folder), CrossEncoderDetector)
        assert isinstance(load_detector(str(model_folder)), CrossEncoderDetector)

    @needs_weights
    def test_a_folder_with_a_trained_model_is_a_bundled_detector(self) -> None:
        assert isinstance(load_detector(WEIGHTS), BundledDetector)


class TestSaved:
    def test_a_calibrated_cross_encoder_comes_back(self, tmp_path: Path) -> None:
        detector = CrossEncoderDetector("owner/model", direction="both", labels=("a", "b"))
        save_detector(calibrated(detector, MEASURED), tmp_path / "saved")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            loaded = load_detector(tmp_path / "saved")
        assert isinstance(loaded, CalibratedDetector)
        assert isinstance(loaded.detector, CrossEncoderDetector)
        assert (loaded.name, loaded.threshold) == (detector.name, 0.8)
        assert loaded.calibration == MEASURED
        assert loaded.detector.labels == ("a", "b")

    @needs_weights
    def test_the_calibrated_bundled_detector_comes_back(self, tmp_path: Path) -> None:
        save_detector(calibrated(BundledDetector(), MEASURED), tmp_path)
        loaded = load_detector(tmp_path)
        assert (loaded.threshold, loaded.calibration) == (0.8, MEASURED)
        assert loaded.score([]).shape == (0,)

    def test_one_that_was_never_measured_comes_back_as_it_was(self, tmp_path: Path) -> None:
        save_detector(CrossEncoderDetector("owner/model", threshold=0.9), tmp_path)
        loaded = load_detector(tmp_path)
        assert isinstance(loaded, CrossEncoderDetector)
        assert loaded.threshold == 0.9

    def test_a_calibration_may_lie_beside_the_model(self, model_folder: Path) -> None:
        save_detector(calibrated(CrossEncoderDetector(model_folder), MEASURED), model_folder)
        assert load_detector(model_folder).calibration == MEASURED

    def test_saved_folders_can_be_moved_together_with_the_model(
        self, model_folder: Path, tmp_path: Path
    ) -> None:
        save_detector(calibrated(CrossEncoderDetector(model_folder), MEASURED), model_folder)
        moved = tmp_path / "elsewhere"
        model_folder.rename(moved)
        with pytest.warns(
            StaleCalibrationWarning, match="measured with"
        ):  # its path is a part of its name
            loaded = load_detector(moved)
        assert loaded.calibration == MEASURED

    def test_a_model_that_changed_since_is_warned_about(self, model_folder: Path) -> None:
        save_detector(calibrated(CrossEncoderDetector(model_folder), MEASURED), model_folder)
        (model_folder / "model.safetensors").write_bytes(b"other weights")
        with pytest.warns(StaleCalibrationWarning, match="Calibrate it again"):
            load_detector(model_folder)

    def test_a_threshold_of_ones_own_wins_and_ends_the_calibration(self, tmp_path: Path) -> None:
        save_detector(calibrated(CrossEncoderDetector("owner/model"), MEASURED), tmp_path)
        loaded = load_detector(tmp_path, threshold=0.6)
        assert (loaded.threshold, loaded.calibration) == (0.6, None)

    def test_a_model_that_is_gone_is_an_error_that_names_it(
        self, model_folder: Path, tmp_path: Path
    ) -> None:
        save_detector(CrossEncoderDetector(model_folder), tmp_path / "saved")
        (model_folder / "config.json").unlink()
        (model_folder / "model.safetensors").unlink()
        model_folder.rmdir()
        with pytest.raises(FileNotFoundError, match="nli"):
            load_detector(tmp_path / "saved")

    def test_a_detector_that_a_file_cannot_describe_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(TypeError, match="only bundled and cross-encoder"):
            save_detector(ScriptedDetector(slot_rule), tmp_path / "saved")
        assert not (tmp_path / "saved").exists()

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ("not json", "is not JSON"),
            ("[]", "format 1"),
            ({"format": 2}, "format 1, got 2"),
            ({"kind": "magic"}, "kind must be one of"),
            ({"calibration": {"recall": 1}}, "cannot be read"),
            ({"threshold": "high"}, "threshold"),
            ({"options": {"directoin": "both"}}, "directoin"),
        ],
    )
    def test_a_description_that_cannot_be_read_is_an_error_that_names_the_file(
        self, tmp_path: Path, change: str | dict[str, object], message: str
    ) -> None:
        path = save_detector(calibrated(CrossEncoderDetector("owner/model"), MEASURED), tmp_path)
        if isinstance(change, str):
            path.write_text(change)
        else:
            path.write_text(json.dumps(json.loads(path.read_text()) | change))
        with pytest.raises(SavedDetectorError, match=message) as caught:
            load_detector(tmp_path)
        assert DESCRIPTION in str(caught.value)


class TestImports:
    def test_everything_in_all_is_there(self) -> None:
        for module in (gcmem, gcmem.detectors):
            for name in module.__all__:
                assert getattr(module, name) is not None

    def test_an_unknown_name_is_an_attribute_error(self) -> None:
        for module in (gcmem, gcmem.detectors):
            with pytest.raises(AttributeError, match="nothing_of_this_name"):
                module.nothing_of_this_name  # noqa: B018

    def test_import_gcmem_loads_no_model_runtime_and_no_framework(self) -> None:
        code = (
            "import sys; import gcmem; from gcmem import calibrate, ShortTermMemory, Collector; "
            "Collector('explicit'); import gcmem.detectors.llm, gcmem.detectors.slots; "
            "import gcmem.detectors.sqlite_cache, gcmem.detectors.cross_encoder; "
            "heavy = 'torch onnxruntime tokenizers sqlalchemy transformers sentence_transformers "
            "langchain_core llama_index typer rich'.split(); "
            "print([name for name in heavy if name in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert done.stdout.strip() == "[]", done.stderr

    def test_the_ledger_comes_from_gcmem_when_it_is_asked_for(self) -> None:
        from gcmem import LifecyclePolicy, PrecedentLedger

        assert PrecedentLedger.__name__ == "PrecedentLedger"
        assert LifecyclePolicy().theta_promote == 0.6
