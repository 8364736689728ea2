"""The pairs made from frames: their labels, their splits, and the frames themselves."""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path
from random import Random

import pytest

from gcmem.training.frames import (
    FRAMES_FOLDER,
    Frame,
    FrameError,
    fill,
    load_entities,
    load_frames,
    voice_of,
)
from gcmem.training.minimal_pairs import minimal_pairs
from gcmem.training.pairs import LabelledPair
from gcmem.training.surface import vary_surface

PER_FRAME = 40


@pytest.fixture(scope="module")
def pairs() -> list[LabelledPair]:
    return list(minimal_pairs(seed=7, per_frame=PER_FRAME))


def test_every_frame_gives_as_many_pairs_as_asked(pairs: list[LabelledPair]) -> None:
    counts = Counter(pair.attribute_id for pair in pairs)
    assert counts == dict.fromkeys((frame.id for frame in load_frames()), PER_FRAME)


def test_labels_are_balanced_over_all_and_within_each_frame(pairs: list[LabelledPair]) -> None:
    by_frame: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        by_frame[pair.attribute_id][pair.label] += 1
    total = Counter(pair.label for pair in pairs)
    assert all(0.25 < count / len(pairs) < 0.42 for count in total.values()), total
    for frame, counts in by_frame.items():
        assert len(counts) == 3, frame
        assert all(0.15 < count / PER_FRAME < 0.55 for count in counts.values()), (frame, counts)


def test_no_pair_of_texts_has_two_labels(pairs: list[LabelledPair]) -> None:
    labels: dict[tuple[str, str], set[str]] = defaultdict(set)
    for pair in pairs:
        labels[pair.older.casefold(), pair.newer.casefold()].add(pair.label)
    assert not [texts for texts, found in labels.items() if len(found) > 1]


def test_one_older_statement_is_met_by_newer_ones_of_several_labels(
    pairs: list[LabelledPair],
) -> None:
    labels: dict[tuple[str, str], set[str]] = defaultdict(set)
    for pair in pairs:
        labels[pair.attribute_id, pair.older].add(pair.label)
    shared = sum(len(found) > 1 for found in labels.values())
    assert shared > len(labels) / 2


def test_splits_hold_different_attributes_and_all_three_are_there(
    pairs: list[LabelledPair],
) -> None:
    attributes: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        attributes[pair.split].add(pair.attribute_id)
    assert set(attributes) == {"train", "dev", "test"}
    assert len(set.union(*attributes.values())) == sum(map(len, attributes.values()))
    assert len(attributes["train"]) > 0.75 * len(load_frames())


def test_the_same_seed_gives_the_same_pairs_and_another_seed_others() -> None:
    first, again, other = (list(minimal_pairs(seed=s, per_frame=12)) for s in (1, 1, 2))
    assert first == again
    assert first != other


def test_the_pairs_of_a_frame_do_not_depend_on_the_other_frames(
    pairs: list[LabelledPair],
) -> None:
    chosen = pairs[0].attribute_id, pairs[-1].attribute_id
    alone = list(minimal_pairs(seed=7, per_frame=PER_FRAME, attributes=chosen))
    assert alone == [pair for pair in pairs if pair.attribute_id in chosen]


def test_no_placeholder_is_left_in_a_text(pairs: list[LabelledPair]) -> None:
    for pair in pairs:
        assert not set("{}") & set(pair.older + pair.newer + pair.query), pair


def test_a_statement_with_an_equivalent_text_of_the_value_is_never_superseded() -> None:
    """Both statements of a pair are looked up in every wording with every text of every value."""
    labels = Counter[tuple[bool, str]]()
    for frame in load_frames():
        if frame.split != "test":
            continue
        meanings = _meanings(frame)
        for pair in minimal_pairs(seed=7, per_frame=120, attributes=[frame.id]):
            older = meanings.get(pair.older.casefold(), set())
            newer = meanings.get(pair.newer.casefold(), set())
            if older and newer:
                labels[bool(older & newer), pair.label] += 1
    assert labels[True, "supports"] > 100
    assert labels[True, "supersedes"] == labels[True, "neither"] == 0
    assert labels[False, "supersedes"] > 50
    assert labels[False, "supports"] == 0


def test_what_changes_the_surface_is_as_frequent_with_every_label(
    pairs: list[LabelledPair],
) -> None:
    shares: dict[str, dict[str, float]] = defaultdict(dict)
    for label in ("supersedes", "supports", "neither"):
        newer = [pair.newer for pair in pairs if pair.label == label]
        shares["lower"][label] = sum(text == text.lower() for text in newer) / len(newer)
        shares["dated"][label] = sum("2026" in text[:14] for text in newer) / len(newer)
    assert max(shares["dated"].values()) - min(shares["dated"].values()) < 0.03
    assert max(shares["lower"].values()) - min(shares["lower"].values()) < 0.2


def test_surface_changes_keep_every_word_of_the_statement() -> None:
    random, text = Random(3), "The tide mill grinds at 7:30."
    varied = [vary_surface(text, random, year=2026) for _ in range(300)]
    assert all("tide mill grinds at 7:30" in change.lower() for change in varied)
    assert len(set(varied)) > 50


def test_pairs_about_another_entity_name_two_entities_or_the_speaker(
    pairs: list[LabelledPair],
) -> None:
    names = load_entities()
    kinds = {frame.id: frame.entity_kind for frame in load_frames()}
    others = [pair for pair in pairs if pair.kind.startswith("other_entity")]
    assert len(others) > 100
    for pair in others:
        older, newer = (_named(text, names[kinds[pair.attribute_id]]) for text in _texts(pair))
        assert older != newer, pair


def test_the_frames_are_many_and_different() -> None:
    frames = load_frames()
    assert len(frames) >= 220
    assert sum(frame.cardinality == "multi" for frame in frames) >= 40
    assert len({(frame.attribute, frame.entity_kind) for frame in frames}) == len(frames)
    names = load_entities()
    assert len(names["person"]) >= 60
    assert all(len(set(kind)) == len(kind) >= 25 for kind in names.values())


def test_every_frame_has_what_its_kinds_of_pair_need() -> None:
    for frame in load_frames():
        assert frame.entity_kind in load_entities(), frame.id
        assert len(frame.statements) >= 5, frame.id
        assert len(frame.values) >= 7, frame.id
        assert len(frame.similar_attribute) >= 2, frame.id
        assert len(frame.similar_values) >= 6, frame.id
        for wordings in (frame.history, frame.nonfactual, frame.qualified):
            assert len(wordings) >= 2, frame.id
        assert sum(voice_of(wording) == "named" for wording in frame.statements) >= 3, frame.id
        assert any("{old}" not in wording for wording in frame.updates), frame.id
        if frame.cardinality == "multi":
            assert len(frame.ended) >= 2, frame.id
            assert not any("{old}" in wording for wording in frame.updates), frame.id
        else:
            assert any("{old}" in wording for wording in frame.updates), frame.id


def test_wordings_tell_whose_statement_they_are() -> None:
    assert voice_of("{e} lives in {v}.") == "named"
    assert voice_of("My flat is in {v}.") == "first"
    assert voice_of("lives in {v}") == "bare"
    assert fill("{k}.port={v}", entity="the tide gauge", value="80") == "tide_gauge.port=80"
    assert fill("{e} is {v}.", entity="the gauge", value="on") == "The gauge is on."


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("statements", ["{e} is here."], "needs {v}"),
        ("statements", ["{e} was {old}, is {v}."], "may use"),
        ("cardinality", "several", "single or multi"),
        ("split", "validation", "allowed are"),
        ("values", ["a", ["b", "A"]], "occurs twice"),
        ("similar_attribute", ["{e} has {v}."], "needs {w}"),
    ],
)
def test_a_wrong_row_is_refused_with_its_place(
    tmp_path: Path, field: str, value: object, message: str
) -> None:
    row = json.loads((FRAMES_FOLDER / "frames-01.jsonl").read_text().splitlines()[0])
    (tmp_path / "frames-x.jsonl").write_text(json.dumps({**row, field: value}) + "\n")
    with pytest.raises(FrameError, match=r"frames-x.jsonl, line 1") as caught:
        load_frames(tmp_path)
    assert message in str(caught.value)


def test_an_id_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    for name in ("one.jsonl", "two.jsonl"):
        shutil.copy(FRAMES_FOLDER / "frames-01.jsonl", tmp_path / name)
    with pytest.raises(FrameError, match="occurs twice"):
        load_frames(tmp_path)


def test_wrong_arguments_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="per_frame must be at least 1, got 0"):
        minimal_pairs(seed=1, per_frame=0)
    with pytest.raises(ValueError, match="'no-such-frame'"):
        minimal_pairs(seed=1, per_frame=1, attributes=["no-such-frame"])


def _meanings(frame: Frame) -> dict[str, set[tuple[str, int]]]:
    """Every statement of the frame with the entities and the value that it may be about."""
    meanings: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for number, forms in enumerate(frame.values):
        for wording, form in product(frame.statements, forms):
            for entity in ("", *load_entities()[frame.entity_kind]):
                if voice_of(wording) in ("bare", "named" if entity else "first"):
                    text = fill(wording, entity=entity, value=form)
                    meanings[text.casefold()].add((entity, number))
    return meanings


def _texts(pair: LabelledPair) -> tuple[str, str]:
    return pair.older, pair.newer


def _named(text: str, names: tuple[str, ...]) -> str:
    """The longest of the names in the text, or "" for none."""
    found = (name for name in names if _letters(name) in _letters(text))
    return max(found, key=len, default="")


def _letters(text: str) -> str:
    return "".join(char for char in text.lower().removeprefix("the ") if char.isalnum())
