"""Hard examples first: thins out what a model already reads without error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import numpy as np

from gcmem.training.fitting import Example

Reader = Callable[[Sequence[tuple[str, str]]], np.ndarray]
"""From pairs of texts to the logits of the supersession head, (n, 3)."""


def losses(logits: np.ndarray, examples: Sequence[Example]) -> np.ndarray:
    """The training loss of each example, unweighted, (n,) float32.

    Args:
        logits: (n, 3), in the order of LABELS.
        examples: The examples that were read.
    """
    shifted = logits - logits.max(axis=1, keepdims=True)
    likelihood = np.exp(shifted)
    likelihood /= likelihood.sum(axis=1, keepdims=True)
    right = likelihood[np.arange(len(examples)), [example.label for example in examples]]
    either = likelihood[:, 1:].sum(axis=1)
    no_conflict = np.array([example.no_conflict for example in examples], dtype=bool)
    return np.asarray(-np.log(np.maximum(np.where(no_conflict, either, right), 1e-12)))


def hard_first(
    examples: Sequence[Example],
    read: Reader,
    random: Random,
    *,
    easy_kept: float = 0.15,
    hard_from: float = 0.35,
    heaviest: float = 2.0,
) -> list[Example]:
    """The examples with those thinned out that a model already reads without error.

    An example stays with a probability that rises with its loss, and weighs more the less likely
    it was to stay, though not as much as would make up for what was left out. Half of a round is
    read with a loss near zero and would move nothing.

    Args:
        examples: The examples; those of the NLI head stay as they are.
        read: The model.
        random: Decides which stay.
        easy_kept: Probability with which an example without loss stays.
        hard_from: Loss from which on every example stays.
        heaviest: Largest factor for the weight.

    Raises:
        ValueError: ``easy_kept`` is not in (0, 1], or ``hard_from`` not positive.
    """
    if not 0.0 < easy_kept <= 1.0:
        msg = f"easy_kept must be in (0, 1], got {easy_kept!r}."
        raise ValueError(msg)
    if hard_from <= 0.0:
        msg = f"hard_from must be positive, got {hard_from!r}."
        raise ValueError(msg)
    own = [example for example in examples if example.task == "supersession"]
    result = [example for example in examples if example.task != "supersession"]
    if not own:
        return result
    found = losses(read([(example.first, example.second) for example in own]), own)
    for example, loss in zip(own, found, strict=True):
        stays = min(1.0, max(easy_kept, float(loss) / hard_from))
        if random.random() < stays:
            factor = min(heaviest, 1.0 / stays)
            result.append(replace(example, weight=example.weight * factor))
    return result
