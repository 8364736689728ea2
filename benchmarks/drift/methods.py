"""The eleven memories, and how an agent reads what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from benchmarks.drift.settings import Task
from gcmem import LifecyclePolicy
from gcmem.precedents import Trials

SLIDING: Final = 5
HALF_LIFE: Final = 10

Line: TypeAlias = tuple[str, float, int]
"""A value, its votes and its support."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """One memory.

    Attributes:
        name: As in the tables.
        policy: Makes the ledger's policy, given how to run a trial; None for no memory.
        lines: How what is Active stands in the prompt.
        falsifiable: Whether it takes corrections as evidence (the lifecycle policies).
        resets: Whether it is told of each change of phase.
        keep: Most lines that a log shows of one value.
        tentative: Whether a Hypothesis that worked the last time is shown where nothing is Active
            (`PrecedentMemory(show_tentative=True)`).
    """

    name: str
    policy: Callable[[Trials], LifecyclePolicy] | None
    lines: Literal["precedent", "log", "decaying log"] = "precedent"
    falsifiable: bool = False
    resets: bool = False
    keep: int | None = None
    tentative: bool = False


def _make_methods() -> dict[str, Method]:
    policy = LifecyclePolicy
    methods = [
        Method(name="no memory", policy=None),
        Method(name="append-only", policy=lambda _: policy.append_only(), lines="log"),
        Method(name="last write wins", policy=lambda _: policy.last_write_wins()),
        Method(name="temporal decay", policy=lambda _: policy.append_only(), lines="decaying log"),
        Method(
            name="sliding window",
            policy=lambda _: policy.sliding_window(SLIDING),
            lines="log",
            keep=SLIDING,
        ),
        Method(name="reactive", policy=lambda _: policy.reactive()),
        Method(name="oracle reset", policy=lambda _: policy.oracle_reset(), resets=True),
        Method(name="no revocation", policy=lambda _: policy.no_revocation(), falsifiable=True),
        Method(name="TEPA-Rev", policy=lambda _: policy.tepa_rev(), falsifiable=True),
        Method(name="TEPA-Full", policy=policy.tepa_full, falsifiable=True),
        Method(name="gcmem", policy=lambda _: policy(), falsifiable=True),
    ]
    return {method.name: method for method in methods}


METHODS: Final = _make_methods()


SHOWING_TENTATIVE: Final = Method(
    name="gcmem, tentative shown",
    policy=lambda _: LifecyclePolicy(),
    falsifiable=True,
    tentative=True,
)
"""What an agent may choose that learns from outcomes alone."""


def tepa_rev_with_window(window: int) -> Method:
    """Give TEPA-Rev with another size of the recent window, which the paper leaves open."""
    return Method(
        name=f"TEPA-Rev, window {window}",
        policy=lambda _: LifecyclePolicy.tepa_rev(window=window),
        falsifiable=True,
    )


def choose(task: Task, lines: Iterable[Line]) -> str:
    """Decide what the agent does: what most of its prompt says, or its own guess."""
    votes: dict[str, float] = {}
    supports: dict[str, int] = {}
    if task.said is not None:
        votes[task.said] = 1.0
    for value, weight, support in lines:
        votes[value] = votes.get(value, 0.0) + weight
        supports[value] = support
    if not votes:
        return task.guess
    # max keeps the first of equals, and lines come newest first
    return max(votes, key=lambda value: (votes[value], value == task.said, supports.get(value, 0)))
