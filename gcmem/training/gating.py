"""Learns the gate's projection: sentence vectors about the same slot come close."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from gcmem.training.corpus_files import Family, Group
from gcmem.training.families import family_pairs
from gcmem.training.groups import group_pairs

FloatArray = npt.NDArray[np.float32]
TextPair = tuple[str, str]


def conflicting_texts(
    families: Sequence[Family], groups: Sequence[Group], random: Random, *, share: float = 1.0
) -> list[TextPair]:
    """Pairs of texts of which the newer one supersedes the older one."""
    pairs = [pair for family in families for pair in family_pairs(family, random, share=share)]
    pairs += [pair for group in groups for pair in group_pairs(group)]
    return [(pair.older, pair.newer) for pair in pairs if pair.label == "supersedes"]


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


def fit_projection(
    vectors: dict[str, FloatArray],
    pairs: Sequence[TextPair],
    *,
    width: int = 128,
    steps: int = 3000,
    batch_size: int = 512,
    temperature: float = 0.07,
    seed: int = 0,
) -> FloatArray:
    """A matrix (384, width) that brings the texts of a pair closer than those of different pairs.

    Args:
        vectors: Unit vector of every text.
        pairs: Texts that must come close.
        width: Width of the projection.
        steps: Steps of training.
        batch_size: Pairs in one step; each is a negative for the others.
        temperature: Of the contrastive loss.
        seed: Of the order of the pairs.
    """
    texts = sorted({text for pair in pairs for text in pair})
    place = {text: row for row, text in enumerate(texts)}
    table = torch.from_numpy(np.stack([vectors[text] for text in texts]))
    index = torch.tensor([[place[first], place[second]] for first, second in pairs])
    _, _, directions = torch.linalg.svd(table - table.mean(0), full_matrices=False)
    matrix = directions[:width].T.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([matrix], lr=1e-3)
    generator = torch.Generator().manual_seed(seed)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = 1e-3 * (1 - step / steps)
        rows = index[torch.randint(len(index), (batch_size,), generator=generator)]
        first, second = (functional.normalize(table[rows[:, i]] @ matrix, dim=-1) for i in (0, 1))
        cosine = first @ second.T
        own = cosine.diagonal()
        target = torch.arange(batch_size)
        contrast = functional.cross_entropy(cosine / temperature, target)
        contrast = contrast + functional.cross_entropy(cosine.T / temperature, target)
        far = functional.relu(0.45 - own).square().mean()
        loss = contrast + 20.0 * far
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        optimizer.step()
    return np.asarray(matrix.detach().numpy(), dtype=np.float32)


def cosines(
    vectors: dict[str, FloatArray], pairs: Sequence[TextPair], projection: FloatArray | None
) -> FloatArray:
    """Cosine similarity of each pair after the projection, (n,)."""
    sides = []
    for side in (0, 1):
        matrix = np.stack([vectors[pair[side]] for pair in pairs])
        matrix = matrix if projection is None else matrix @ projection
        sides.append(matrix / np.linalg.norm(matrix, axis=1, keepdims=True))
    return np.asarray((sides[0] * sides[1]).sum(axis=1), dtype=np.float32)


def threshold_that_passes(cosine_of_conflicts: FloatArray, share: float) -> float:
    """The greatest threshold that this share of the conflicts passes."""
    return float(np.quantile(cosine_of_conflicts, 1.0 - share, method="lower"))
