"""The part of a pass that needs no model: links and slots, applied to the memories of one scope."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gcmem.collection import Conflict, Shadow
from gcmem.detectors.explicit import ExplicitDetector, named_by_model, normalise
from gcmem.dominance import BoolMatrix, Dominance, explicit_links
from gcmem.memory import Memory
from gcmem.scope_outcome import ScopeOutcome, why_undecided

__all__ = ["apply_explicit"]


def apply_explicit(
    memories: Sequence[Memory],
    dominance: Dominance,
    explicit: ExplicitDetector,
    outcome: ScopeOutcome,
) -> BoolMatrix:
    """Apply links and slots.

    Args:
        memories: The memories of the scope.
        dominance: Who may shadow whom.
        explicit: The rules.
        outcome: Where verdicts are entered.

    Returns:
        Shape (n, n), [older, newer]: pairs that need no model any more, because metadata says that
        they are in conflict, or that they cannot be (one value, or two different slots).
    """
    one_slot, two_slots = _slots(memories)
    settled = two_slots
    links = explicit_links(memories)
    to_decide = (one_slot | links) & dominance.may_shadow
    for j in dominance.newest_first:
        for i in np.flatnonzero(to_decide[:, j]).tolist():
            verdict = explicit.verdict(memories[i], memories[j])
            if verdict is None:
                continue
            settled[i, j] = True
            if verdict.conflict and i not in outcome.shadows:
                outcome.shadows[i] = Shadow(memories[i], memories[j], 1.0, verdict.reason)
    undecided = (one_slot | links | links.T) & dominance.undecided
    for i, j in np.argwhere(undecided).tolist():
        if {i, j} & outcome.shadows.keys():
            continue
        first, second = memories[i], memories[j]
        verdict = explicit.verdict(first, second) or explicit.verdict(second, first)
        if verdict is not None:
            settled[i, j] = True
            if verdict.conflict:
                reason = why_undecided(first, second)
                outcome.conflicts.append(Conflict(first, second, 1.0, reason))
    return settled


def _slots(memories: Sequence[Memory]) -> tuple[BoolMatrix, BoolMatrix]:
    """Give the pairs that fill one slot, and those that surely fill two different ones."""
    codes: dict[str, int] = {}
    slot = np.array(
        [-1 if m.key is None else codes.setdefault(normalise(m.key), len(codes)) for m in memories],
        dtype=np.int64,
    )
    both = (slot >= 0)[:, None] & (slot >= 0)[None, :]
    equal = slot[:, None] == slot[None, :]
    sure = ~np.array([named_by_model(memory) for memory in memories], dtype=bool)
    return both & equal, both & ~equal & sure[:, None] & sure[None, :]
