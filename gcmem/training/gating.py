"""Chooses the gate's threshold and measures what passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random

import numpy as np
import numpy.typing as npt

from gcmem.training.corpus_files import Family, Group
from gcmem.training.families import family_pairs
from gcmem.training.groups import group_pairs
from gcmem.training.pairs import LabelledPair

FloatArray = npt.NDArray[np.float32]
TextPair = tuple[str, str]


def conflicts_by_source(
    families: Sequence[Family], groups: Sequence[Group], random: Random
) -> dict[str, list[TextPair]]:
    """Pairs of which the newer text supersedes the older one: ``explicit`` and ``behaviour``.

    Explicit ones are from the groups. Behaviour ones are from the families, where at least one of
    the statements may show its state without naming it.
    """
    written = [pair for group in groups for pair in group_pairs(group)]
    shown = [pair for family in families for pair in family_pairs(family, random)]
    return {"explicit": _superseding(written), "behaviour": _superseding(shown)}


def random_texts(
    families: Sequence[Family], groups: Sequence[Group], random: Random, *, count: int
) -> list[TextPair]:
    """Pairs of statements about different attributes, as they meet in one collection."""
    pools = [family.statements() for family in families]
    pools += [[group.older, *(text for text, _, _ in group.newer)] for group in groups]
    result = []
    for _ in range(count):
        first, second = random.sample(pools, 2)
        result.append((random.choice(first), random.choice(second)))
    return result


def cosines(vectors: Mapping[str, FloatArray], pairs: Sequence[TextPair]) -> FloatArray:
    """Cosine similarity of each pair, (n,), from the unit vector of every text."""
    older, newer = (np.stack([vectors[pair[side]] for pair in pairs]) for side in (0, 1))
    return np.asarray((older * newer).sum(axis=1), dtype=np.float32)


def threshold_that_holds_back(cosine_of_random: FloatArray, share: float) -> float:
    """The smallest threshold that at most `share` of the random pairs pass, to two places."""
    return round(float(np.ceil(np.quantile(cosine_of_random, 1.0 - share) * 100)) / 100, 2)


def _superseding(pairs: Iterable[LabelledPair]) -> list[TextPair]:
    return [(pair.older, pair.newer) for pair in pairs if pair.label == "supersedes"]
