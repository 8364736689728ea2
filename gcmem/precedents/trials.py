"""Trial by execution before promotion (TEPA-Full)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from gcmem.precedents.errors import TrialError
from gcmem.precedents.precedent import Precedent

__all__ = ["Trial", "TrialKind", "TrialReport", "TrialRun", "Trials"]


class TrialKind(StrEnum):
    """What a run of a trial asks (TEPA-Full)."""

    SUPPORT = "support"
    """Does acting on the candidate succeed where it should apply?"""
    COUNTERFACTUAL = "counterfactual"
    """Does the candidate do better than what would be done without it?"""
    CONTAMINATION = "contamination"
    """Does the candidate leave tasks alone that it has nothing to do with?"""


@dataclass(frozen=True, slots=True)
class Trial:
    """One run that the user's callable is asked to execute.

    Attributes:
        kind: What is asked.
        candidate: The Hypothesis (or Revoked precedent) that wants to become Active.
        incumbent: The Active precedent of the same key, if one stands.
    """

    kind: TrialKind
    candidate: Precedent
    incumbent: Precedent | None


TrialRun: TypeAlias = Callable[[Trial], bool]

_PAPER_RUNS: Final = (TrialKind.SUPPORT, TrialKind.COUNTERFACTUAL, TrialKind.CONTAMINATION)


@dataclass(frozen=True, slots=True)
class TrialReport:
    """What the runs of one trial gave.

    Attributes:
        outcomes: Each run with whether it was positive.
        passed: Whether the candidate may be promoted.
    """

    outcomes: tuple[tuple[TrialKind, bool], ...]
    passed: bool


class Trials:
    """Runs the trials of candidates through the user's callable, within a budget.

    Runs happen outside every transaction, so a slow one never blocks another writer, and their
    result is evidence like any other: it is stored, and never run again when a key is re-decided.
    A candidate that fails is tried again after `theta_propose` more supports.

    Args:
        run: Executes one `Trial` and says whether it went well.
        runs: What is run for each candidate; the paper's three by default.
        threshold: Share of positive runs that is needed (paper: 0.6).
        budget: Most runs altogether; once it cannot pay for a whole trial, candidates stay
            Hypotheses. None sets no bound.

    Example:
        >>> trials = Trials(lambda trial: trial.kind != "contamination", budget=30)
        >>> trials.left
        30
    """

    def __init__(
        self,
        run: TrialRun,
        *,
        runs: tuple[TrialKind, ...] = _PAPER_RUNS,
        threshold: float = 0.6,
        budget: int | None = None,
    ) -> None:
        if not callable(run):
            msg = f"run must be a callable that takes a Trial, got {run!r}."
            raise TypeError(msg)
        kinds = tuple(TrialKind(kind) for kind in runs)
        if TrialKind.SUPPORT not in kinds:
            msg = f"runs must hold at least one support run, got {runs!r}."
            raise ValueError(msg)
        if not 0.0 < threshold <= 1.0:
            msg = f"threshold must lie in (0, 1], got {threshold!r}."
            raise ValueError(msg)
        if budget is not None and budget < 0:
            msg = f"budget must be None or a number of runs >= 0, got {budget!r}."
            raise ValueError(msg)
        self._run = run
        self._runs = kinds
        self._threshold = threshold
        self._left = budget
        self._lock = threading.Lock()
        self._running: set[str] = set()

    @property
    def left(self) -> int | None:
        """Runs that the budget still pays for; None without a budget."""
        return self._left

    def conduct(self, candidate: Precedent, incumbent: Precedent | None) -> TrialReport | None:
        """Run one whole trial of a candidate.

        Returns:
            The report, or None if the budget does not pay for a whole trial or another thread is
            trying the same candidate.

        Raises:
            TrialError: The callable raised or did not answer with a bool.
        """
        if not self._begin(candidate.id):
            return None
        try:
            outcomes = tuple(
                (kind, self._execute(Trial(kind, candidate, incumbent))) for kind in self._runs
            )
        finally:
            with self._lock:
                self._running.discard(candidate.id)
        share = sum(positive for _, positive in outcomes) / len(outcomes)
        supported = any(positive for kind, positive in outcomes if kind is TrialKind.SUPPORT)
        return TrialReport(outcomes, share >= self._threshold and supported)

    def _begin(self, candidate_id: str) -> bool:
        with self._lock:
            if candidate_id in self._running:
                return False
            if self._left is not None:
                if self._left < len(self._runs):
                    return False
                self._left -= len(self._runs)
            self._running.add(candidate_id)
            return True

    def _execute(self, trial: Trial) -> bool:
        subject = f"the {trial.kind} trial of precedent {trial.candidate.id}"
        try:
            positive = self._run(trial)
        except Exception as error:
            msg = f"{subject} raised {error!r}; its evidence is stored, so do not observe it again."
            raise TrialError(msg) from error
        if not isinstance(positive, bool):
            msg = f"{subject} must answer True or False, got {positive!r}."
            raise TrialError(msg)
        return positive
