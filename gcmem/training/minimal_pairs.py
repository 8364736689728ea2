"""Minimal pairs from frames: the same slot with the same or with another value.

A detector easily learns "same attribute" and then fires on statements that repeat the value in
other words. Here every older statement is met by newer ones of all labels, in the same wordings, so
that only entity, attribute, value, context and direction together decide.

The corpus (``corpus/frames``): one row of ``frames-*.jsonl`` is one attribute of one kind of entity
with hand-written wordings, values (with equivalent forms, and near misses) and a similar attribute;
``gcmem.training.frames`` describes the fields. Rows carry their split, so that no attribute is in
two of them. To add an attribute, append a row; nothing else needs to change. Kinds made:

============  ====================================================================================
supersedes    plain_value, update, update_from_to, retracted, started, same_context,
              similar_value
supports      paraphrase, other_form, same_value_again
neither       other_entity, other_entity_same_value, other_entity_update, other_entity_ended,
              other_attribute, other_attribute_same_value, other_attribute_update, history,
              nonfactual, other_context, two_contexts, ended_other_value, multi_valued,
              after_history, after_nonfactual, after_ended (the last three also with _update)
============  ====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from random import Random

from gcmem.training.frames import Frame, load_frames
from gcmem.training.pairs import Label, LabelledPair
from gcmem.training.scenes import Scene
from gcmem.training.surface import vary_surface

_SHARES: Mapping[str, Mapping[Label, float]] = {
    "single": {"supersedes": 0.37, "supports": 0.27, "neither": 0.36},
    "multi": {"supersedes": 0.25, "supports": 0.30, "neither": 0.45},
}
_FAVOURED_KINDS: Mapping[str, int] = {
    "multi_valued": 4,
    "other_form": 2,
    "plain_value": 2,
    "ended_other_value": 2,
    "other_entity_ended": 2,
}


def minimal_pairs(
    *, seed: int, per_frame: int, attributes: Collection[str] | None = None
) -> Iterator[LabelledPair]:
    """Make ``per_frame`` labelled pairs from every frame, the same ones for the same seed.

    Args:
        seed: Decides every draw; the pairs of one frame do not depend on the other frames.
        per_frame: How many pairs each frame gives.
        attributes: Ids of the frames to use; None for all.

    Raises:
        ValueError: ``per_frame`` is below 1 or more than a frame can give without repeating
            itself, or ``attributes`` has an unknown id.

    Example:
        >>> pairs = list(minimal_pairs(seed=1, per_frame=12, attributes=["f-001"]))
        >>> len(pairs), {pair.label for pair in pairs} == {"supersedes", "supports", "neither"}
        (12, True)
    """
    if per_frame < 1:
        message = f"per_frame must be at least 1, got {per_frame}"
        raise ValueError(message)
    frames = load_frames()
    unknown = set(attributes or ()) - {frame.id for frame in frames}
    if unknown:
        message = f"attributes has unknown ids {sorted(unknown)}; see load_frames()"
        raise ValueError(message)
    return (
        pair
        for frame in frames
        if attributes is None or frame.id in attributes
        for pair in _frame_pairs(frame, Random(f"{seed}:{frame.id}"), per_frame)
    )


def _frame_pairs(frame: Frame, random: Random, wanted: int) -> Iterator[LabelledPair]:
    shares = _SHARES[frame.cardinality]
    counts = dict.fromkeys(shares, 0)
    seen: set[tuple[str, str]] = set()
    idle = 0
    while sum(counts.values()) < wanted:
        scene = Scene(frame, random)
        older = scene.older()
        if older is None:
            continue
        older_text = vary_surface(older, random, year=2025)
        options = _options(scene)
        found = 0
        for _ in range(random.randint(3, 5) if len(options) > 1 else 1):
            total = sum(counts.values())
            if total == wanted:
                return
            label = max(options, key=lambda name: shares[name] * (total + 1) - counts[name])
            kinds = list(options[label])
            weights = [_FAVOURED_KINDS.get(kind, 1) for kind in kinds]
            kind = random.choices(kinds, weights=weights)[0]
            newer = options[label][kind]()
            if newer is None or newer == older or (older, newer) in seen:
                continue
            seen.add((older, newer))
            counts[label] += 1
            found += 1
            yield LabelledPair(
                older=older_text,
                newer=vary_surface(newer, random, year=2026),
                label=label,
                kind=kind,
                attribute_id=frame.id,
                query=scene.query(),
                split=frame.split,
                weight=scene.weight(),
            )
        idle = 0 if found else idle + 1
        if idle > 500:
            message = (
                f"per_frame={wanted} is too many for {frame.id}: it gave {sum(counts.values())}"
            )
            raise ValueError(message)


Makers = dict[Label, dict[str, Callable[[], str | None]]]


def _options(scene: Scene) -> Makers:
    """The kinds of newer statement that the drawn older one allows, by label."""
    if scene.role in ("statement", "update"):
        makers = _after_fact(scene)
    elif scene.role == "similar":
        makers = _after_similar(scene)
    elif scene.role == "ended":
        makers = _after_ended(scene)
    elif scene.role == "qualified":
        makers = _after_qualified(scene)
    else:
        makers = _after_nothing(scene)
    return {label: kinds for label, kinds in makers.items() if kinds}


def _after_fact(scene: Scene) -> Makers:
    frame, value, random = scene.frame, scene.value, scene.random

    def successor() -> int:
        back = scene.names_previous and random.random() < 0.4
        return scene.previous if back else scene.other_value()

    def bystander() -> int:
        return scene.other_value(scene.previous) if scene.names_previous else scene.other_value()

    before = scene.previous if scene.names_previous else scene.other_value()
    supports: dict[str, Callable[[], str | None]] = {
        "paraphrase": lambda: scene.say(frame.statements, value, other_wording=True),
        "other_form": lambda: scene.say(frame.statements, value, other_form=True),
        "same_value_again": lambda: scene.say(
            frame.updates, value, old=random.choice((None, before))
        ),
    }
    neither = _bystanders(scene) | {
        "history": lambda: scene.say(frame.history, bystander()),
        "nonfactual": lambda: scene.say(frame.nonfactual, bystander()),
        "other_context": lambda: scene.say(frame.qualified, bystander()),
        "ended_other_value": lambda: scene.say(frame.ended, bystander()),
    }
    supersedes: dict[str, Callable[[], str | None]] = {
        "retracted": lambda: scene.say(frame.ended, value)
    }
    if frame.cardinality == "multi":
        neither["multi_valued"] = lambda: scene.say(
            random.choice((frame.statements, frame.updates)), bystander()
        )
        return {"supersedes": supersedes, "supports": supports, "neither": neither}
    supersedes |= {
        "plain_value": lambda: scene.say(
            frame.statements, successor(), other_wording=random.choice((True, True, False))
        ),
        "update": lambda: scene.say(frame.updates, successor()),
        "update_from_to": lambda: scene.say(frame.updates, successor(), old=value),
    }
    return {"supersedes": supersedes, "supports": supports, "neither": neither}


def _bystanders(scene: Scene) -> dict[str, Callable[[], str | None]]:
    frame, value, random = scene.frame, scene.value, scene.random
    shared = [form for form in frame.values[value] if form in frame.similar_values]

    def update_of_other() -> str | None:
        new, old = random.choice(((value, scene.other_value()), (scene.other_value(), value)))
        return scene.say_of_other(frame.updates, new, old)

    return {
        "other_entity": lambda: scene.say_of_other(frame.statements, scene.other_value(), value),
        "other_entity_same_value": lambda: scene.say_of_other(frame.statements, value, value),
        "other_entity_update": update_of_other,
        "other_entity_ended": lambda: scene.say_of_other(frame.ended, value, value),
        "other_attribute": lambda: scene.say_similar(random.choice(frame.similar_values)),
        "other_attribute_same_value": lambda: scene.say_similar(
            random.choice(shared) if shared else None
        ),
    }


def _after_similar(scene: Scene) -> Makers:
    frame, random = scene.frame, scene.random
    rest = [value for value in frame.similar_values if value != scene.similar]
    same = [i for i, forms in enumerate(frame.values) if scene.similar in forms]
    neither: dict[str, Callable[[], str | None]] = {
        "other_attribute": lambda: scene.say(frame.statements, scene.value),
        "other_attribute_same_value": lambda: (
            scene.say(frame.statements, random.choice(same)) if same else None
        ),
        "other_attribute_update": lambda: scene.say(frame.updates, scene.value),
    }
    if frame.cardinality == "multi":
        return {"neither": neither}
    return {
        "supersedes": {"similar_value": lambda: scene.say_similar(random.choice(rest))},
        "supports": {"paraphrase": lambda: scene.say_similar(scene.similar, other_wording=True)},
        "neither": neither,
    }


def _after_ended(scene: Scene) -> Makers:
    frame, value = scene.frame, scene.value
    return {
        "supersedes": {"started": lambda: scene.say(frame.statements, value)},
        "supports": {"paraphrase": lambda: scene.say(frame.ended, value, other_wording=True)},
        "neither": {
            "after_ended": lambda: scene.say(frame.statements, scene.other_value()),
            "after_ended_update": lambda: scene.say(frame.updates, scene.other_value()),
            "other_entity_same_value": lambda: scene.say_of_other(frame.statements, value, value),
        },
    }


def _after_qualified(scene: Scene) -> Makers:
    frame, value = scene.frame, scene.value
    neither: dict[str, Callable[[], str | None]] = {
        "other_context": lambda: scene.say(frame.statements, scene.other_value()),
        "two_contexts": lambda: scene.say(frame.qualified, scene.other_value(), other_wording=True),
        "other_entity": lambda: scene.say_of_other(frame.qualified, scene.other_value(), value),
    }
    makers: Makers = {
        "supports": {
            "other_form": lambda: scene.say(
                frame.qualified, value, other_wording=False, other_form=True
            )
        },
        "neither": neither,
    }
    if frame.cardinality == "single":
        makers["supersedes"] = {
            "same_context": lambda: scene.say(
                frame.qualified, scene.other_value(), other_wording=False
            )
        }
    return makers


def _after_nothing(scene: Scene) -> Makers:
    """Statements about the past and statements that claim nothing cannot be superseded."""
    frame, name = scene.frame, f"after_{scene.role}"
    return {
        "neither": {
            name: lambda: scene.say(frame.statements, scene.other_value()),
            f"{name}_update": lambda: scene.say(frame.updates, scene.other_value()),
        }
    }
