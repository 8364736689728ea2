"""Success, pollution, adaptation, and what of it is more than chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from benchmarks.drift.playing import Successes
from benchmarks.drift.settings import PHASES, TASKS_PER_PHASE

RESAMPLES: Final = 10_000
_WINDOW: Final = 5
_RECOVERED: Final = 0.8

Rates: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"


def by_phase(successes: Successes) -> Rates:
    """Give the success rate of each seed in each phase."""
    rates: Rates = successes.reshape(len(successes), len(PHASES), TASKS_PER_PHASE).mean(axis=2)
    return rates


def pollution(rate: float, without: float) -> float:
    """Give the memory pollution index; positive means that the memory hurts."""
    return (without - rate) / without


def interval(rates: Rates, *, seed: int) -> tuple[float, float]:
    """Give the 95 % bootstrap interval of a mean over seeds."""
    means = _resampled(len(rates), seed, rates)[0]
    return _bounds(means)


def pollution_interval(rates: Rates, without: Rates, *, seed: int) -> tuple[float, float]:
    """Give the 95 % bootstrap interval of the pollution index; seeds stay paired."""
    means, means_without = _resampled(len(rates), seed, rates, without)
    return _bounds((means_without - means) / means_without)


def adaptation(successes: Successes, phase: str) -> Rates:
    """Give, for each seed, the tasks of a phase before the success rate has recovered."""
    start = PHASES.index(phase) * TASKS_PER_PHASE
    part = successes[:, start : start + TASKS_PER_PHASE].astype(float)
    rolling = np.lib.stride_tricks.sliding_window_view(part, _WINDOW, axis=1).mean(axis=2)
    recovered = rolling >= _RECOVERED - 1e-9
    first = recovered.argmax(axis=1)
    return np.where(recovered.any(axis=1), first, TASKS_PER_PHASE).astype(float)


def permutation(better: Rates, worse: Rates, *, seed: int) -> float:
    """Give the one-tailed p of a paired permutation test that the first is higher."""
    differences = better - worse
    random = np.random.default_rng(seed)
    signs = random.choice((-1.0, 1.0), size=(RESAMPLES, len(differences)))
    means = (signs * differences).mean(axis=1)
    return float((1 + np.sum(means >= differences.mean() - 1e-12)) / (RESAMPLES + 1))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust p values by Holm-Bonferroni, in the order given."""
    ordered = sorted(p_values, key=lambda name: p_values[name])
    adjusted: dict[str, float] = {}
    highest = 0.0
    for rank, name in enumerate(ordered):
        highest = max(highest, min(1.0, p_values[name] * (len(ordered) - rank)))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


def _resampled(count: int, seed: int, *series: Rates) -> list[Rates]:
    chosen = np.random.default_rng(seed).integers(0, count, size=(RESAMPLES, count))
    return [values[chosen].mean(axis=1) for values in series]


def _bounds(means: Rates) -> tuple[float, float]:
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)
