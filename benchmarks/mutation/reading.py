"""Readers, and what is measured of one method on one frozen R_k.

No language model reads here (`benchmarks.mutation.language_reader` does that). These readers know
the state that each shown chunk speaks for, and differ in what they do with several:

- "majority": the state with most chunks wins, wherever they stand. This is the paper's own model
  of the trap (attention mass), not a measurement of any model; order cannot help it, so re-ranking
  equals standard by construction.
- "first": the state of the first chunk that speaks for one. The other extreme, a reader who trusts
  the order fully; re-ranking by time is at its best here.

Forced choice: a tie, or nothing said, counts as the chance of guessing right. Allow-unclear: it
counts as unclear, which is not a right answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.mutation.candidates import Candidates
from benchmarks.mutation.instances import Chunk, Instance
from benchmarks.mutation.methods import Shown


def majority(instance: Instance, chunks: Sequence[Chunk]) -> dict[str, float]:
    """Chance of the right answer in forced choice, in allow-unclear, and of "unclear"."""
    votes = Counter(chunk.state for chunk in chunks if chunk.state is not None)
    most = max(votes.values(), default=0)
    tied = {state for state, count in votes.items() if count == most} or instance.states
    right = instance.current in tied
    unclear = len(tied) > 1
    return {
        "forced": right / len(tied),
        "allow-unclear": float(right and not unclear),
        "unclear": float(unclear),
    }


def first(instance: Instance, chunks: Sequence[Chunk]) -> float:
    """Chance of the right answer in forced choice, when the order is trusted."""
    states = [chunk.state for chunk in chunks if chunk.state is not None]
    return float(states[0] == instance.current) if states else 1 / len(instance.states)


def measure(candidates: Candidates, shown: Shown) -> dict[str, float]:
    """Everything of one method on one instance; recalls are shares of the whole instance."""
    instance = candidates.instance
    kept = {chunk.id for chunk in shown.chunks}
    removed = [chunk for chunk in candidates.chunks if chunk.id not in kept]
    roles = Counter(chunk.role for chunk in removed)
    answer = majority(instance, shown.chunks)
    return {
        "CR-Acc": answer["forced"],
        "CR-Acc, allow-unclear": answer["allow-unclear"],
        "unclear": answer["unclear"],
        "CR-Acc, first": first(instance, shown.chunks),
        **{f"recall {role}": recall(candidates, role) for role in ("old", "new", "distractor")},
        "candidates": float(len(candidates.chunks)),
        "removed": float(len(removed)),
        "stale removed": float(roles["old"] + roles["earlier"]),
        "new removed": float(roles["new"]),
        "distractors removed": float(roles["distractor"]),
        "stale shown": float(sum(chunk.role == "old" for chunk in shown.chunks)),
        "errors": float(shown.error),
        "pairs judged": float(shown.judged),
        "pairs refused": float(shown.refused),
        "seconds": candidates.seconds + shown.seconds,
    }


def recall(candidates: Candidates, role: str) -> float:
    """Share of an instance's chunks of one role that R_k holds."""
    wanted = {chunk.id for chunk in candidates.instance.chunks if chunk.role == role}
    return len(wanted & {chunk.id for chunk in candidates.chunks}) / max(len(wanted), 1)


def interval(values: Sequence[float], *, resamples: int = 2000, seed: int = 0) -> list[float]:
    """Bootstrap 95 % interval of the mean, over instances (percentiles)."""
    array = np.asarray(values, dtype=float)
    drawn = np.random.default_rng(seed).integers(0, len(array), (resamples, len(array)))
    return [
        round(float(bound), 4) for bound in np.percentile(array[drawn].mean(axis=1), [2.5, 97.5])
    ]


def summary(
    rows: Sequence[Mapping[str, float]], baseline: Sequence[Mapping[str, float]]
) -> dict[str, Any]:
    """Means, with intervals of the accuracies and of the difference to standard (paired)."""
    found: dict[str, Any] = {
        name: round(float(np.mean([row[name] for row in rows])), 4) for name in rows[0]
    }
    found["instances"] = len(rows)
    for name in ("CR-Acc", "CR-Acc, allow-unclear", "CR-Acc, first"):
        found[f"{name}, 95 %"] = interval([row[name] for row in rows])
    gains = [row["CR-Acc"] - base["CR-Acc"] for row, base in zip(rows, baseline, strict=True)]
    found["delta"] = round(float(np.mean(gains)), 4)
    found["delta, 95 %"] = interval(gains)
    return found
