"""The stages in which the bundled model was and is trained."""

from __future__ import annotations

from dataclasses import dataclass

from gcmem.training.families import EXPLICIT_FIRST
from gcmem.training.mixture import Shares

SHARPENING = Shares(
    families=0.09,
    cross_families=2,
    groups=1.0,
    derived=0.6,
    cross_groups=2,
    minimal=20,
    nli=2_500,
)


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of training: rounds, peak rate, what a round holds, a limit in minutes."""

    rounds: int
    learning_rate: float
    shares: Shares
    first_round: int = 0
    batch_size: int = 48
    minutes: float | None = None
    hard_first: bool = False
    """Whether each round is thinned out by what the model, as it is then, reads without error."""


DISCRIMINATION = Shares(
    families=0.07,
    cross_families=1,
    groups=0.9,
    derived=0.4,
    cross_groups=2,
    minimal=14,
    nli=1_500,
    same_entity=4_000,
)

SUPERSESSION = Stage(rounds=6, learning_rate=1e-4, shares=Shares())
SHARPENED = Stage(rounds=4, learning_rate=7e-5, shares=SHARPENING, first_round=100, batch_size=32)
DISCRIMINATING = Stage(
    rounds=3, learning_rate=6e-5, shares=DISCRIMINATION, first_round=300, batch_size=32
)

FURTHER = Stage(
    rounds=2,
    learning_rate=8e-5,
    shares=Shares(
        families=0.25,
        family_counts=EXPLICIT_FIRST,
        cross_families=2,
        groups=1.0,
        derived=0.8,
        cross_groups=2,
        minimal=10,
        nli=800,
        same_entity=3_000,
        updates=3_000,
    ),
    first_round=2_000,
    batch_size=32,
    hard_first=True,
)
FINISHING = Stage(
    rounds=1,
    learning_rate=4e-5,
    shares=Shares(
        families=0.06,
        family_counts=EXPLICIT_FIRST,
        cross_families=1,
        groups=0.4,
        derived=0.3,
        cross_groups=1,
        minimal=4,
        nli=500,
        same_entity=1_000,
        updates=1_000,
    ),
    first_round=3_000,
    batch_size=32,
)
"""Like `FURTHER`, but with the easy examples in it: what was thinned out must not be forgotten."""
KEPT_OF_THE_MODEL_BEFORE = 0.3
"""Share in the mean after `FINISHING`; on dev it gave one point of recall at equal precision."""
