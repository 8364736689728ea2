"""When a precedent is proposed, promoted and revoked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from gcmem.precedents.trials import TrialRun, Trials

__all__ = ["LifecyclePolicy", "Strategy"]


class Strategy(StrEnum):
    """The family of rules that a policy belongs to."""

    LIFECYCLE = "lifecycle"
    """Hypothesis, Active, Revoked, decided by evidence (TEPA)."""
    LAST_WRITE_WINS = "last_write_wins"
    """Every success becomes Active at once and replaces the other values; failures change
    nothing."""
    APPEND_ONLY = "append_only"
    """Every success becomes Active at once, beside all others."""
    SLIDING_WINDOW = "sliding_window"
    """The values among the last n successes of a key are Active."""
    REACTIVE = "reactive"
    """As last_write_wins, and one failure revokes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LifecyclePolicy:
    """The rules by which a ledger decides what is Active.

    Evidence has three strengths, and the default tells them apart:

    - *Testimony*: the user said it ("I moved to Kiel"). Waiting for three repetitions would leave
      the prompt stale for two conversations, so it becomes Active at once, and the value it
      replaces is Revoked and archived with the cause. What the user said is only unsaid by the
      user, or by outcomes that show it to fail; inference alone does not revoke it, because
      people mind losing what they said more than anything else. A restatement answers earlier
      failures: `recent` starts again.
    - *Inferred* evidence and *outcomes* (a tool call that worked or failed): the paper's rule,
      `theta_propose` supports to propose, posterior mean to promote, posterior mean or recent
      success rate to revoke. A candidate waits until the Active value has fallen by its own
      evidence, and then takes over at once.
    - A *guess*: the assistant said it, not the user. It is counted and kept as a Hypothesis; no
      number of repetitions makes it Active, and it counts against nothing.

    `LifecyclePolicy.tepa_rev()` is the paper's rule alone: testimony is counted as inferred.

    The posterior mean is Beta-Bernoulli, ``(s + a) / (s + f + a + b)`` with ``prior=(a, b)``, over
    the evidence since the precedent was last revoked (for one that never was: over all of it), so
    that fresh evidence can promote again what years of old evidence buried (TEPA, Lifecycle). A
    candidate whose own failures would revoke an Active precedent starts anew as well. The `s`
    leaves out guesses; the `support` of a `Precedent` counts every observation.

    Whatever the policy: pinned values and those of immutable keys are never revoked by evidence,
    and evidence of lower authority revokes nothing of higher authority. Evidence counts in order
    of its time, not of its arrival (see `PrecedentLedger`).

    Attributes:
        theta_propose: Supports that a value needs before it can be promoted (paper: 3).
        theta_promote: Posterior mean from which it is promoted (paper: 0.6).
        theta_revoke: Posterior mean below which it is revoked (paper: 0.3).
        n_min: Observations before the posterior mean may revoke (paper: 5).
        n_recent: Recent outcomes before the recent rate may revoke (paper: 3).
        theta_recent: Recent success rate below which it is revoked (paper: 0.34).
        prior: Beta prior (a, b) (paper: 1, 1).
        window: Outcomes that count as recent. The paper leaves it open; 4 makes exactly
            `n_recent` failures in a row revoke whatever came before them, and a larger one adapts
            more slowly. 3 would make two failures enough.
        testimony: Whether explicit statements are stronger than inferred evidence.
        revocation: Whether evidence revokes at all.
        strategy: The family of rules.
        keep: Number of successes that the sliding window holds.
        trials: Trial by execution before promotion; None for promotion by posterior mean.
        guessing_sources: Sources whose statements are guesses. A source is named by what stands
            before its first colon: "assistant:message-7" is "assistant".

    Raises:
        ValueError: A threshold, count or prior lies outside its range.
        TypeError: A parameter has another type, or its name is unknown.

    Example:
        >>> LifecyclePolicy(theta_propose=2).posterior(3, 1)
        0.6666666666666666
    """

    theta_propose: int = 3
    theta_promote: float = 0.6
    theta_revoke: float = 0.3
    n_min: int = 5
    n_recent: int = 3
    theta_recent: float = 0.34
    prior: tuple[float, float] = (1, 1)
    window: int = 4
    testimony: bool = True
    revocation: bool = True
    strategy: Strategy = Strategy.LIFECYCLE
    keep: int | None = None
    trials: Trials | None = None
    guessing_sources: tuple[str, ...] = ("assistant", "ai")

    def __post_init__(self) -> None:
        """Check every parameter."""
        for name in ("theta_propose", "n_min", "n_recent", "window"):
            _check_count(name, getattr(self, name))
        for name in ("theta_promote", "theta_revoke", "theta_recent"):
            _check_share(name, getattr(self, name))
        for name in ("testimony", "revocation"):
            if not isinstance(getattr(self, name), bool):
                msg = f"{name} must be True or False, got {getattr(self, name)!r}."
                raise TypeError(msg)
        if self.window < self.n_recent:
            msg = f"window={self.window} must not be smaller than n_recent={self.n_recent}."
            raise ValueError(msg)
        if self.theta_revoke > self.theta_promote:
            msg = (
                f"theta_revoke={self.theta_revoke} must not exceed "
                f"theta_promote={self.theta_promote}; what is promoted would be revoked at once."
            )
            raise ValueError(msg)
        _check_prior(self.prior)
        object.__setattr__(self, "strategy", Strategy(self.strategy))
        if (self.strategy is Strategy.SLIDING_WINDOW) != (self.keep is not None):
            msg = f"keep={self.keep!r} goes with strategy='sliding_window' and only with it."
            raise ValueError(msg)
        if self.keep is not None:
            _check_count("keep", self.keep)
        if self.trials is not None and not isinstance(self.trials, Trials):
            msg = f"trials must be None or Trials, got {self.trials!r}."
            raise TypeError(msg)
        if isinstance(self.guessing_sources, str):
            msg = f"guessing_sources must be a tuple of names, got {self.guessing_sources!r}."
            raise TypeError(msg)

    @property
    def exclusive(self) -> bool:
        """Whether at most one value of a single-valued key is Active."""
        if self.strategy is Strategy.LIFECYCLE:
            return self.revocation
        return self.strategy in {Strategy.LAST_WRITE_WINS, Strategy.REACTIVE}

    def posterior(self, support: int, conflict: int) -> float:
        """Give the Beta-Bernoulli posterior mean of validity (TEPA, Lifecycle)."""
        a, b = self.prior
        return (support + a) / (support + conflict + a + b)

    def guesses(self, source: str | None) -> bool:
        """Say whether what this source states is a guess."""
        return source is not None and source.split(":", 1)[0].strip().lower() in (
            self.guessing_sources
        )

    @classmethod
    def tepa_rev(cls, **changes: Any) -> LifecyclePolicy:
        """TEPA-Rev, the paper's rule to the letter: all evidence counts alike."""
        return cls(**{"testimony": False, **changes})

    @classmethod
    def tepa_full(cls, trials: Trials | TrialRun, **changes: Any) -> LifecyclePolicy:
        """TEPA-Full: as TEPA-Rev, and a passed trial takes the place of `theta_promote`."""
        conductor = trials if isinstance(trials, Trials) else Trials(trials)
        return cls(**{"testimony": False, "trials": conductor, **changes})

    @classmethod
    def no_revocation(cls, **changes: Any) -> LifecyclePolicy:
        """Ablation: promotes as TEPA-Rev and never revokes, so several values stay Active."""
        return cls(**{"testimony": False, "revocation": False, **changes})

    @classmethod
    def last_write_wins(cls, **changes: Any) -> LifecyclePolicy:
        """Baseline: the newest success of a key is Active; failures store nothing."""
        return cls(**{"strategy": Strategy.LAST_WRITE_WINS, **changes})

    @classmethod
    def append_only(cls, **changes: Any) -> LifecyclePolicy:
        """Baseline: every success stays Active for ever."""
        return cls(**{"strategy": Strategy.APPEND_ONLY, **changes})

    @classmethod
    def sliding_window(cls, n: int, **changes: Any) -> LifecyclePolicy:
        """Baseline: the values among the last `n` successes of a key are Active."""
        return cls(**{"strategy": Strategy.SLIDING_WINDOW, "keep": n, **changes})

    @classmethod
    def reactive(cls, **changes: Any) -> LifecyclePolicy:
        """Baseline: the newest success is Active until its first failure."""
        return cls(**{"strategy": Strategy.REACTIVE, **changes})

    @classmethod
    def oracle_reset(cls, **changes: Any) -> LifecyclePolicy:
        """Diagnostic bound: last_write_wins, with `PrecedentLedger.reset` at every known change."""
        return cls.last_write_wins(**changes)

    def describe(self) -> dict[str, object]:
        """Give the parameters as plain data, for the log of an experiment."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**plain, "strategy": str(self.strategy), "trials": self.trials is not None}


def _check_count(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        msg = f"{name} must be a whole number, got {value!r}."
        raise TypeError(msg)
    if value < 1:
        msg = f"{name} must be at least 1, got {value!r}."
        raise ValueError(msg)


def _check_share(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        msg = f"{name} must be a number, got {value!r}."
        raise TypeError(msg)
    if not 0.0 <= value <= 1.0:
        msg = f"{name} must lie between 0 and 1, got {value!r}."
        raise ValueError(msg)


def _check_prior(prior: Sequence[float]) -> None:
    if len(prior) != 2 or not all(math.isfinite(weight) and weight > 0 for weight in prior):
        msg = f"prior must be two positive numbers (a, b), got {prior!r}."
        raise ValueError(msg)
