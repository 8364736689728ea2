"""Plays the streams of many seeds through one memory."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from benchmarks.drift.methods import HALF_LIFE, Line, Method, choose
from benchmarks.drift.settings import TASKS, TASKS_PER_PHASE, Setting, Stream, Task
from gcmem import PrecedentLedger
from gcmem.precedents import Observation, Precedent, Trial, TrialKind, Trials
from gcmem.precedents.recall import tentative

Corrections: TypeAlias = Literal["lifecycle", "everyone", "nobody"]
Successes: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.bool_]]"

_START: Final = datetime(2026, 1, 1, tzinfo=UTC)


def play(
    setting: Setting,
    streams: Sequence[Stream],
    method: Method,
    *,
    corrections: Corrections = "lifecycle",
    budget: int | None = None,
) -> Successes:
    """Give whether each task of each stream succeeded.

    The seeds share a ledger, each in a scope of its own, and go in step, so that the evidence of
    one step is one transaction. A budget of trials belongs to a seed, so with one they go alone.
    """
    if budget is not None and len(streams) > 1:
        alone = [
            play(setting, [stream], method, corrections=corrections, budget=budget)
            for stream in streams
        ]
        return np.concatenate(alone)
    with _Run(setting, streams, method, corrections, budget) as run:
        return np.stack([run.step(number) for number in range(TASKS)], axis=1)


class _Run:
    """One memory and its agents, one per seed."""

    def __init__(
        self,
        setting: Setting,
        streams: Sequence[Stream],
        method: Method,
        corrections: Corrections,
        budget: int | None,
    ) -> None:
        self._setting = setting
        self._streams = {f"seed {stream.seed}": stream for stream in streams}
        self._method = method
        self._corrected = corrections == "everyone" or (
            corrections == "lifecycle" and method.falsifiable
        )
        self._number = 0
        self._stored: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        self._ledger: PrecedentLedger | None = None
        if method.policy is not None:
            policy = method.policy(Trials(self._try, budget=budget))
            self._ledger = PrecedentLedger("sqlite://", policy)

    def __enter__(self) -> _Run:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._ledger is not None:
            self._ledger.close()

    def step(self, number: int) -> list[bool]:
        """Let every agent do its task of this number, and tell its memory what came of it."""
        self._number = number
        if self._ledger is None:
            return [
                self._setting.execute(task, choose(task, ()))
                for task in (stream.tasks[number] for stream in self._streams.values())
            ]
        if self._method.resets and number % TASKS_PER_PHASE == 0:
            for scope in self._streams:
                self._ledger.reset(scope)
        successes = []
        told: list[Observation] = []
        for scope, stream in self._streams.items():
            task = stream.tasks[number]
            action = choose(task, self._lines(scope, task.filed))
            success = self._setting.execute(task, action)
            successes.append(success)
            told += self._evidence(self._ledger, scope, task, action, success=success)
        self._ledger.observe_many(told)
        return successes

    def _lines(self, scope: str, key: str) -> list[Line]:
        assert self._ledger is not None
        standing = self._ledger.active(scope, keys=key)
        if self._method.tentative and not standing:
            hypotheses = self._ledger.hypotheses(scope)
            standing = tentative([], [item for item in hypotheses if item.key == key])
        return [(item.value, self._votes(scope, item), item.support) for item in standing]

    def _votes(self, scope: str, item: Precedent) -> float:
        if self._method.lines == "precedent":
            return 1.0
        if self._method.lines == "decaying log":
            times = self._stored[scope, item.key, item.value]
            return math.fsum(0.5 ** ((self._number - time) / HALF_LIFE) for time in times)
        return float(min(item.support, self._method.keep or item.support))

    def _evidence(
        self, ledger: PrecedentLedger, scope: str, task: Task, action: str, *, success: bool
    ) -> list[Observation]:
        now = _START + timedelta(minutes=self._number)
        lifecycle_corrected = self._corrected and self._method.falsifiable
        if not success and not lifecycle_corrected:
            ledger.outcome(task.filed, False, value=action, scope=scope, at=now)
        if not success and not self._corrected:
            return []
        heard = self._setting.spoken and (task.said is not None or not success)
        value = action if success else task.right
        self._stored[scope, task.filed, value].append(self._number)
        return [
            Observation(
                task.filed,
                value,
                scope=scope,
                at=now,
                source="user" if heard else "executor",
                evidence="testimony" if heard else "inferred",
            )
        ]

    # trials (TEPA-Full)

    def _try(self, trial: Trial) -> bool:
        candidate = trial.candidate
        scope = candidate.scope[0]
        stream = self._streams[scope]
        random = Random(f"{stream.seed} {self._number} {candidate.id} {trial.kind}")
        if trial.kind is TrialKind.CONTAMINATION:
            other = random.choice([key for key in self._setting.keys if key != candidate.key])
            assert self._ledger is not None
            shown = self._ledger.active(scope, keys=other)
            return all(item.id != candidate.id for item in shown)
        task = self._setting.task(stream.regimes, self._number, candidate.key, random)
        if not self._setting.execute(task, candidate.value):
            return False
        if trial.kind is TrialKind.SUPPORT:
            return True
        alternative = task.guess if trial.incumbent is None else trial.incumbent.value
        return not self._setting.execute(task, alternative)


def describe(setting: Setting) -> dict[str, Any]:
    """Give the parameters of a setting as plain data."""
    return {
        "changing": {key: len(setting.options(key)) for key in setting.changing},
        "controls": {key: len(setting.options(key)) for key in setting.controls},
        "control share": round(setting.control_share, 4),
    }
