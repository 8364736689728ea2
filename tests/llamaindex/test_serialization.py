"""A serialised or pickled postprocessor comes back with the same decisions, or says why not."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from typing import Any

import pytest

from gcmem import Collector
from gcmem.detectors.base import Calibration
from gcmem.detectors.bundled import BundledDetector
from gcmem.detectors.cache import MemoryVerdictCache
from gcmem.detectors.calibration import calibrated
from gcmem.detectors.cascade import CascadeDetector
from gcmem.detectors.cross_encoder import CrossEncoderDetector
from gcmem.detectors.explicit import ExplicitDetector
from gcmem.detectors.gate import Gate
from llamaindex_gcmem import GCMemPostprocessor
from llamaindex_gcmem.serialization import dump_collector, load_collector
from tests.llamaindex.support import ids, scored, slot_collector

OPTIONS: dict[str, Any] = {
    "threshold": 0.7,
    "on_conflict": "annotate",
    "granularity": "chunk",
    "undated": "oldest",
    "max_pairs": 12,
    "deadline": 3.5,
    "on_error": "keep",
    "tie_breaker": "seq",
    "explicit": ExplicitDetector(multi_valued=["speaks"]),
    "gate": False,
    "cache": False,
}
FIELDS: dict[str, Any] = {
    "k": 3,
    "timestamp_key": ("said_at", "created_at"),
    "timestamp_unit": "ms",
    "scope_keys": ("tenant", "user"),
    "source_key": "file",
    "version_key": "commit",
    "slot_key": "slot",
    "value_key": "value",
    "authority_key": "rank",
    "as_of": "2025-06-01",
    "history": "auto",
}


def slot_nodes() -> list[Any]:
    return [
        scored("Ann speaks Dutch", 1, metadata={"key": "speaks", "value": "Dutch"}),
        scored("Ann speaks Greek", 2, metadata={"key": "speaks", "value": "Greek"}),
        scored("in Ulm", 1, metadata={"key": "city", "value": "Ulm", "seq": 1}),
        scored("in Kiel", 1, metadata={"key": "city", "value": "Kiel", "seq": 2}),
    ]


def test_to_dict_and_from_dict_keep_every_field() -> None:
    gc = GCMemPostprocessor(collector=Collector("explicit", **OPTIONS), **FIELDS)
    data = gc.to_dict()
    again = GCMemPostprocessor.from_dict(json.loads(json.dumps(data)))
    assert again.to_dict() == data
    assert data["class_name"] == "GCMemPostprocessor"
    for name in FIELDS:
        assert getattr(again, name) == getattr(gc, name), name


def test_json_works_too() -> None:
    gc = GCMemPostprocessor(collector=Collector("explicit"), **FIELDS)
    assert GCMemPostprocessor.from_json(gc.to_json()).to_dict() == gc.to_dict()


def test_the_copy_decides_as_the_original_does() -> None:
    rules = ExplicitDetector(multi_valued=["speaks"])
    gc = GCMemPostprocessor(collector=Collector("explicit", explicit=rules, tie_breaker="seq"))
    expected = ["Ann speaks Dutch", "Ann speaks Greek", "in Kiel"]
    for again in (
        gc,
        GCMemPostprocessor.from_dict(gc.to_dict()),
        GCMemPostprocessor.model_validate(gc.model_dump()),
        pickle.loads(pickle.dumps(gc)),
        copy.deepcopy(gc),
        gc.model_copy(),
    ):
        assert ids(again.postprocess_nodes(slot_nodes())) == expected


def test_no_collector_comes_back_as_no_collector() -> None:
    assert GCMemPostprocessor.from_dict(GCMemPostprocessor().to_dict()).collector is None


def test_every_option_of_the_collector_is_written_and_read() -> None:
    taken = set(inspect.signature(Collector).parameters)
    written = dump_collector(Collector("explicit", **OPTIONS))
    assert set(written) == taken
    again = load_collector(written)
    for name in OPTIONS:
        if name not in {"gate", "cache"}:
            assert getattr(again, name) == OPTIONS[name], name
    assert again.gate is None
    assert again.cache is None


@pytest.mark.filterwarnings("ignore::gcmem.LowRecallWarning")
def test_the_bundled_detector_comes_back_with_its_gate_and_an_empty_cache() -> None:
    collector = Collector(BundledDetector(threshold=0.9, batch_tokens=512))
    again = through_json(collector)
    assert repr(again) == repr(collector)
    assert again.detector.__getstate__() == collector.detector.__getstate__()  # type: ignore[attr-defined]
    assert (again.gate is None) == (collector.gate is None)
    assert isinstance(again.cache, MemoryVerdictCache)
    assert through_json(Collector("bundled", gate=False)).gate is None


def test_detectors_of_detectors_come_back_too() -> None:
    encoder = CrossEncoderDetector("owner/nli", direction="both", labels=["contradiction", "other"])
    measured = calibrated(encoder, Calibration(0.6, 0.9, 0.8, 100))
    cascade = CascadeDetector(measured, ExplicitDetector(), band=(0.2, 0.8))
    for detector in (encoder, measured, cascade):
        again = through_json(Collector(detector)).detector
        assert type(again) is type(detector)
        assert (again.name, again.threshold) == (detector.name, detector.threshold)
        assert again.calibration == detector.calibration


def through_json(collector: Collector) -> Collector:
    return load_collector(json.loads(json.dumps(dump_collector(collector))))


@pytest.mark.parametrize(
    ("collector", "what"),
    [
        (slot_collector(), "detector"),
        (Collector("explicit", tie_breaker=lambda memory: memory.id), "tie_breaker"),
        (Collector("explicit", gate=Gate(0.5)), "gate"),
        (type("MyCollector", (Collector,), {})("explicit"), "collector"),
    ],
)
def test_an_object_of_the_users_own_is_refused_with_the_way_out(collector: Any, what: str) -> None:
    gc = GCMemPostprocessor(collector=collector, k=3)
    with pytest.raises(ValueError, match=rf"the {what} .* cannot be serialised.*exclude"):
        gc.to_dict()
    data = gc.to_dict(exclude={"collector"})
    again = GCMemPostprocessor.from_dict(data, collector=collector)
    assert (again.collector, again.k) == (collector, 3)


def test_a_callable_history_is_refused_with_the_way_out() -> None:
    gc = GCMemPostprocessor(history=lambda query: True)
    with pytest.raises(ValueError, match="callable and cannot be serialised"):
        gc.to_dict()
    assert GCMemPostprocessor.from_dict(gc.to_dict(exclude={"history"})).history is False


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"treshold": 0.5}, "unknown: \\['treshold'\\]"),
        ({"detector": {"kind": "oracle"}}, "must be one of .*'cascade'.*, got 'oracle'"),
        ({"on_conflict": "burn"}, "on_conflict"),
    ],
)
def test_damaged_data_is_an_error(change: dict[str, Any], message: str) -> None:
    data = GCMemPostprocessor(collector=Collector("explicit")).to_dict()
    data["collector"] = {**data["collector"], **change}
    with pytest.raises(ValueError, match=message):
        GCMemPostprocessor.from_dict(data)


def test_pickling_keeps_a_scripted_collector_with_its_verdicts() -> None:
    gc = GCMemPostprocessor(collector=slot_collector())
    nodes = [scored("city=A", 1), scored("city=B", 2)]
    gc.postprocess_nodes(nodes)
    again = pickle.loads(pickle.dumps(gc))
    assert ids(again.postprocess_nodes(nodes)) == ["city=B"]
    assert len(again.collector.detector.asked) == 1  # the verdict came from the cache


def test_pickling_what_cannot_be_pickled_is_an_error_not_another_collector() -> None:
    gc = GCMemPostprocessor(history=lambda query: True)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(gc)
