"""Runs the main comparison and the sweeps, and gives their figures as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from benchmarks.drift import measures
from benchmarks.drift.methods import METHODS, SHOWING_TENTATIVE, tepa_rev_with_window
from benchmarks.drift.playing import Successes, play
from benchmarks.drift.settings import PHASES, TASKS, Controlled, Setting

WRONG_KEYS: Final = (0.0, 0.05, 0.1, 0.2)
WINDOWS: Final = (3, 4, 6, 8)
BUDGETS: Final = (0, 21, 42, 84, None)
CHANGING: Final = (2, 4)
SWEEPS: Final = {
    "wrong keys": "controlled",
    "evidence": "controlled",
    "window": "controlled",
    "changing keys": "controlled",
    "trials": "preference",
}
_BLOCK: Final = 5
_NOISY: Final = ("append-only", "last write wins", "reactive", "no revocation", "TEPA-Rev")
_SEVERAL: Final = ("no memory", "append-only", "reactive", "oracle reset", "TEPA-Rev")
_CLAIMS: Final = (
    ("no memory", "append-only"),
    ("no memory", "last write wins"),
    ("TEPA-Rev", "no memory"),
    ("TEPA-Rev", "append-only"),
    ("TEPA-Rev", "no revocation"),
    ("TEPA-Rev", "reactive"),
    ("TEPA-Rev", "oracle reset"),
    ("TEPA-Full", "no memory"),
    ("TEPA-Full", "append-only"),
)
_SPOKEN_CLAIMS: Final = (("gcmem", "TEPA-Rev"), ("gcmem", "TEPA-Full"), ("gcmem", "no memory"))

Progress = Callable[[str], None]


def compare(setting: Setting, *, seeds: int, seed: int, progress: Progress) -> dict[str, Any]:
    """Play every method on the same streams; give its figures and the tests of the claims."""
    streams = [setting.stream(seed + number) for number in range(seeds)]
    played: dict[str, Successes] = {}
    for name, method in METHODS.items():
        progress(f"{setting.name}: {name}")
        played[name] = play(setting, streams, method)
    return {
        "methods": {
            name: _figures(successes, played["no memory"], seed=seed)
            for name, successes in played.items()
        },
        "tests in the reversal": _tests(setting, played, seed=seed),
    }


def sweep(
    name: str, setting: Setting, *, seeds: int, seed: int, progress: Progress
) -> list[dict[str, Any]]:
    """Run one sweep; give a row for each of its conditions."""
    rows = []
    for condition, successes in _conditions(name, setting, range(seed, seed + seeds)):
        progress(f"{name}: {condition}")
        rates = measures.by_phase(successes)
        low, high = measures.interval(rates[:, PHASES.index("reversal")], seed=seed)
        rows.append(
            condition
            | {phase: _rounded(rates[:, number].mean()) for number, phase in enumerate(PHASES)}
            | {"overall": _rounded(rates.mean()), "reversal 95 %": [_rounded(low), _rounded(high)]}
        )
    return rows


def _conditions(
    name: str, setting: Setting, seeds: Iterable[int]
) -> Iterator[tuple[dict[str, Any], Successes]]:
    streams = [setting.stream(number) for number in seeds]
    if name == "wrong keys":
        for share in WRONG_KEYS:
            noisy = [setting.stream(stream.seed, wrong_keys=share) for stream in streams]
            for method in _NOISY:
                condition = {"method": method, "wrong keys": share}
                yield condition, play(setting, noisy, METHODS[method])
    elif name == "evidence":
        for corrections in ("everyone", "nobody"):
            for each in (*METHODS.values(), SHOWING_TENTATIVE):
                successes = play(setting, streams, each, corrections=corrections)
                yield {"method": each.name, "corrections reach": corrections}, successes
    elif name == "window":
        for window in WINDOWS:
            yield {"window": window}, play(setting, streams, tepa_rev_with_window(window))
    elif name == "changing keys":
        for changing in CHANGING:
            several = Controlled(changing)
            drawn = [several.stream(stream.seed) for stream in streams]
            for method in _SEVERAL:
                condition = {"method": method, "changing keys": changing}
                yield condition, play(several, drawn, METHODS[method])
    else:
        for budget in BUDGETS:
            successes = play(setting, streams, METHODS["TEPA-Full"], budget=budget)
            yield {"trial runs per seed": budget}, successes


def _figures(successes: Successes, without: Successes, *, seed: int) -> dict[str, Any]:
    rates, rates_without = measures.by_phase(successes), measures.by_phase(without)
    figures: dict[str, Any] = {}
    for number, phase in enumerate(PHASES):
        ours, theirs = rates[:, number], rates_without[:, number]
        figures[phase] = {
            "success": _rounded(ours.mean()),
            "95 %": [_rounded(bound) for bound in measures.interval(ours, seed=seed)],
            "MPI": _rounded(measures.pollution(ours.mean(), theirs.mean())),
            "MPI 95 %": [
                _rounded(bound) for bound in measures.pollution_interval(ours, theirs, seed=seed)
            ],
            "adaptation": _rounded(measures.adaptation(successes, phase).mean()),
        }
    figures["overall"] = _rounded(rates.mean())
    blocks = successes.reshape(len(successes), TASKS // _BLOCK, _BLOCK)
    figures[f"success in blocks of {_BLOCK}"] = [
        _rounded(value) for value in blocks.mean(axis=(0, 2))
    ]
    return figures


def _tests(setting: Setting, played: dict[str, Successes], *, seed: int) -> list[dict[str, Any]]:
    reversal = PHASES.index("reversal")
    rates = {name: measures.by_phase(played[name])[:, reversal] for name in played}
    claims = _CLAIMS + (_SPOKEN_CLAIMS if setting.spoken else ())
    raw = {
        f"{better} > {worse}": measures.permutation(rates[better], rates[worse], seed=seed)
        for better, worse in claims
    }
    adjusted = measures.holm(raw)
    return [
        {
            "claim": f"{better} > {worse}",
            "difference": _rounded((rates[better] - rates[worse]).mean()),
            "p": _rounded(raw[f"{better} > {worse}"], 5),
            "p, Holm": _rounded(adjusted[f"{better} > {worse}"], 5),
        }
        for better, worse in claims
    ]


def _rounded(value: float, digits: int = 4) -> float:
    return round(float(value), digits)
