"""What one pass over a scope decided."""

from __future__ import annotations

from dataclasses import dataclass, field

from gcmem.collection import Conflict, Excision, Shadow
from gcmem.memory import Memory

__all__ = ["ScopeOutcome", "why_undecided"]


@dataclass(slots=True)
class ScopeOutcome:
    """What was decided in one scope, by position of the memory in that scope.

    Attributes:
        shadows: Memories that are no longer true as a whole.
        excisions: Parts that are no longer true, of memories that stay.
        conflicts: Pairs that time could not decide.
    """

    shadows: dict[int, Shadow] = field(default_factory=dict)
    excisions: dict[int, list[Excision]] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)


def why_undecided(first: Memory, second: Memory) -> str:
    """Say why neither of two memories may shadow the other."""
    if first.timestamp is None or second.timestamp is None:
        return "undated"
    return "same time" if first.timestamp == second.timestamp else "authority"
