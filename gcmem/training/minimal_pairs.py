"""Minimal pairs from frames: the same slot with the same or with another value.

A detector easily learns "same attribute" and then fires on statements that repeat the value in
other words. Here every older statement is met by newer ones of all labels, in the same wordings, so
that only entity, attribute, value, context and direction together decide.

The corpus (``corpus/frames``): one row of ``frames-*.jsonl`` is one attribute of one kind of entity
with hand-written wordings, values (with equivalent forms, and near misses) and a similar attribute;
``gcmem.training.frames`` describes the fields. Rows carry their split, so that no attribute is in
two of them. To add an attribute, append a row; nothing else needs to change. Kinds made:

============  ====================================================================================
supersedes    plain_value, update, update_from_to, retracted, started, same_context, similar_value
supports      paraphrase, other_form, same_value_again
neither       other_entity, other_entity_same_value, other_entity_update, other_entity_ended,
              other_attribute, other_attribute_same_value, history, nonfactual, other_context,
              ended_other_value, multi_valued, after_history, after_nonfactual, after_ended
============  ====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from random import Random

from gcmem.training.frames import Frame, Voice, fill, load_entities, load_frames, voice_of
from gcmem.training.pairs import Label, LabelledPair
from gcmem.training.surface import vary_surface

_SHARES: Mapping[str, Mapping[Label, float]] = {
    "single": {"supersedes": 0.37, "supports": 0.27, "neither": 0.36},
    "multi": {"supersedes": 0.25, "supports": 0.30, "neither": 0.45},
}
_ROLES: Mapping[str, float] = {
    "statement": 0.62, "update": 0.2, "qualified": 0.05, "history": 0.03, "nonfactual": 0.03,
    "ended": 0.03, "similar": 0.04,
}  # fmt: skip
_CONTEXT_FREE_WEIGHT = 0.5


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
        raise ValueError(f"per_frame must be at least 1, got {per_frame}")
    frames = load_frames()
    unknown = set(attributes or ()) - {frame.id for frame in frames}
    if unknown:
        raise ValueError(f"attributes has unknown ids {sorted(unknown)}; see load_frames()")
    for frame in frames:
        if attributes is None or frame.id in attributes:
            yield from _frame_pairs(frame, Random(f"{seed}:{frame.id}"), per_frame)


def _frame_pairs(frame: Frame, random: Random, wanted: int) -> Iterator[LabelledPair]:
    shares = _SHARES[frame.cardinality]
    counts = dict.fromkeys(shares, 0)
    seen: set[tuple[str, str]] = set()
    idle = 0
    while sum(counts.values()) < wanted:
        scene = _Scene(frame, random)
        older = scene.older()
        if older is None:
            continue
        older_text = vary_surface(older, random, year=2025)
        options = _options(scene)
        found = 0
        for _ in range(random.randint(3, 5)):
            total = sum(counts.values())
            if total == wanted:
                return
            label = max(options, key=lambda name: shares[name] * (total + 1) - counts[name])
            kind = random.choice(sorted(options[label]))
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
            raise ValueError(
                f"per_frame={wanted} is too many for {frame.id}: it gave {sum(counts.values())}"
            )


class _Scene:
    """One drawn older statement and the makers of newer ones that fit to it."""

    def __init__(self, frame: Frame, random: Random) -> None:
        self.frame, self.random = frame, random
        voices = [voice_of(wording) for wording in frame.statements]
        self.voice: Voice = "first" if "first" in voices and random.random() < 0.3 else "named"
        names = load_entities()[frame.entity_kind]
        self.entity = random.choice(names)
        self.other_entity = _another(names, self.entity, random)
        self.value = random.randrange(len(frame.values))
        self.previous = self.other_value()
        self.names_previous = False
        self.role = random.choices(list(_ROLES), weights=list(_ROLES.values()))[0]
        self.wording = ""
        self.newer_wording = ""
        self.form = random.choice(frame.values[self.value])
        self.similar = random.choice(frame.similar_values)

    def older(self) -> str | None:
        """The older statement, or None if the frame has no wording of the drawn role."""
        field = {"statement": "statements", "update": "updates", "similar": "similar_attribute"}
        pool = self.pool(getattr(self.frame, field.get(self.role, self.role)))
        if not pool:
            return None
        self.wording = self.pick(pool)
        self.names_previous = "{old}" in self.wording
        value = self.similar if self.role == "similar" else self.form
        return fill(
            self.wording, entity=self.entity, value=value, old=self.any_form(self.previous)
        )

    def say(
        self,
        wordings: Sequence[str],
        value: int,
        *,
        old: int | None = None,
        other_wording: bool | None = None,
        other_form: bool = False,
    ) -> str | None:
        """A newer statement about the same entity with one of the wordings.

        Args:
            wordings: What to choose from.
            value: Index of the value to state.
            old: Index of the value before; wordings that name it are used if and only if given.
            other_wording: True for another wording than the older one's, False for the same.
            other_form: Whether to state the value with another text than the older statement.
        """
        pool = [w for w in self.pool(wordings) if ("{old}" in w) == (old is not None)]
        if other_wording is not None:
            pool = [w for w in pool if (w != self.wording) == other_wording]
        forms = self.frame.values[value]
        if other_form:
            forms = tuple(form for form in forms if form != self.form)
        if not pool or not forms:
            return None
        self.newer_wording = self.pick(pool)
        before = "" if old is None else self.any_form(old)
        return fill(
            self.newer_wording, entity=self.entity, value=self.random.choice(forms), old=before
        )

    def say_of_other(self, wordings: Sequence[str], value: int, old: int) -> str | None:
        """A newer statement about another entity, or None if the older one names nobody."""
        if voice_of(self.wording) == "bare":
            return None
        pool = [w for w in wordings if voice_of(w) == "named"]
        if self.voice == "named" and self.random.random() < 0.2:
            pool = [w for w in wordings if voice_of(w) == "first"] or pool
        if not pool:
            return None
        self.newer_wording = self.random.choice(pool)
        texts = self.any_form(value), self.any_form(old)
        return fill(self.newer_wording, entity=self.other_entity, value=texts[0], old=texts[1])

    def say_similar(self, value: str | None, *, other_wording: bool | None = None) -> str | None:
        """A newer statement about the similar attribute of the same entity."""
        pool = self.pool(self.frame.similar_attribute)
        if other_wording is not None:
            pool = [w for w in pool if (w != self.wording) == other_wording]
        if value is None or not pool:
            return None
        self.newer_wording = self.pick(pool)
        return fill(self.newer_wording, entity=self.entity, value=value)

    def pool(self, wordings: Sequence[str]) -> list[str]:
        """The wordings that the speaker of this scene can use."""
        return [w for w in wordings if voice_of(w) in (self.voice, "bare")]

    def pick(self, pool: Sequence[str]) -> str:
        """One of the wordings; those that leave the entity to the context come less often."""
        weights = [0.4 if voice_of(w) == "bare" else 1.0 for w in pool]
        return self.random.choices(pool, weights=weights)[0]

    def any_form(self, value: int) -> str:
        """One of the texts that mean the value."""
        return self.random.choice(self.frame.values[value])

    def other_value(self, *taken: int) -> int:
        """Index of another value, in half of the cases one that looks like the present one."""
        first_forms = tuple(forms[0] for forms in self.frame.values)
        free = tuple(f for i, f in enumerate(first_forms) if i not in (self.value, *taken))
        return first_forms.index(_another(free, first_forms[self.value], self.random))

    def query(self) -> str:
        """A question that the older statement may answer."""
        owner = "the user" if self.voice == "first" else self.entity
        start = "What are" if self.frame.cardinality == "multi" else "What is"
        return f"{start} the {self.frame.attribute} of {owner}?"

    def weight(self) -> float:
        """Less than 1 where only the context tells that both speak of the same entity."""
        voices = {voice_of(self.wording), voice_of(self.newer_wording)}
        return _CONTEXT_FREE_WEIGHT if voices == {"named", "bare"} else 1.0


Makers = dict[Label, dict[str, Callable[[], str | None]]]


def _options(scene: _Scene) -> Makers:
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


def _after_fact(scene: _Scene) -> Makers:
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
            frame.statements, successor(), other_wording=random.choice((True, False, None))
        ),
        "plain_value_other_wording": lambda: scene.say(
            frame.statements, successor(), other_wording=True
        ),
        "update": lambda: scene.say(frame.updates, successor()),
        "update_from_to": lambda: scene.say(frame.updates, successor(), old=value),
    }
    return {"supersedes": supersedes, "supports": supports, "neither": neither}


def _bystanders(scene: _Scene) -> dict[str, Callable[[], str | None]]:
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


def _after_similar(scene: _Scene) -> Makers:
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


def _after_ended(scene: _Scene) -> Makers:
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


def _after_qualified(scene: _Scene) -> Makers:
    frame, value = scene.frame, scene.value
    neither: dict[str, Callable[[], str | None]] = {
        "other_context": lambda: scene.say(frame.statements, scene.other_value()),
        "two_contexts": lambda: scene.say(
            frame.qualified, scene.other_value(), other_wording=True
        ),
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


def _after_nothing(scene: _Scene) -> Makers:
    """Statements about the past and statements that claim nothing cannot be superseded."""
    frame, name = scene.frame, f"after_{scene.role}"
    return {
        "neither": {
            name: lambda: scene.say(frame.statements, scene.other_value()),
            f"{name}_update": lambda: scene.say(frame.updates, scene.other_value()),
        }
    }


@cache
def _alike(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    others = [other for other in names if other != name]
    others.sort(key=lambda other: -SequenceMatcher(None, name, other).ratio())
    return tuple(others)


def _another(names: tuple[str, ...], name: str, random: Random) -> str:
    others = _alike(names, name)
    return random.choice(others[:3] if random.random() < 0.5 else others)
