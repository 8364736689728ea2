"""The command line of the drift experiments."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import options, results
from benchmarks.drift import measures, report
from benchmarks.drift.experiment import SWEEPS, compare, sweep
from benchmarks.drift.methods import HALF_LIFE, METHODS, SLIDING
from benchmarks.drift.playing import describe
from benchmarks.drift.settings import (
    EXCEPTIONS,
    PHASES,
    SETTINGS,
    TASKS_PER_PHASE,
    Setting,
    make_setting,
)
from gcmem import LifecyclePolicy


def main(arguments: list[str]) -> None:
    chosen, started = _parser().read(arguments)
    console = Console()
    if not console.is_terminal:
        console = Console(width=130)
    with tempfile.TemporaryDirectory() as folder, console.status("drift") as status:
        settings = {name: make_setting(name, Path(folder)) for name in chosen.settings}
        figures = run(
            settings,
            sweeps=chosen.sweeps,
            seeds=chosen.seeds,
            sweep_seeds=min(chosen.sweep_seeds, chosen.seeds),
            seed=chosen.seed,
            progress=status.update,
        )
    for name, found in figures["settings"].items():
        report.show_setting(console, name, found)
    for name, rows in figures["sweeps"].items():
        report.show_sweep(console, name, rows)
    config = {
        "seeds": chosen.seeds,
        "seeds of a sweep": min(chosen.sweep_seeds, chosen.seeds),
        "phases": list(PHASES),
        "tasks per phase": TASKS_PER_PHASE,
        "exceptions in the light phase": EXCEPTIONS,
        "settings": {name: describe(setting) for name, setting in settings.items()},
        "sliding window": SLIDING,
        "half-life in tasks": HALF_LIFE,
        "resamples": measures.RESAMPLES,
        "policy": LifecyclePolicy().describe(),
        "methods": list(METHODS),
    }
    path = results.write("drift", config=config, results=figures, seed=chosen.seed, run=started)
    written = [path]
    if report.draw(path.with_suffix(".png"), figures["settings"]):
        written.append(path.with_suffix(".png"))
    else:
        print('no figure: matplotlib is missing (pip install "gcmem[bench]")')
    print("figures:", ", ".join(results.shown(file) for file in written))


def run(
    settings: dict[str, Setting],
    *,
    sweeps: list[str],
    seeds: int,
    sweep_seeds: int,
    seed: int,
    progress: Callable[[str], None],
) -> dict[str, Any]:
    """Run the comparison of each setting, and the sweeps that belong to one of them."""
    compared = {
        name: compare(setting, seeds=seeds, seed=seed, progress=progress)
        for name, setting in settings.items()
    }
    swept = {
        name: sweep(name, settings[SWEEPS[name]], seeds=sweep_seeds, seed=seed, progress=progress)
        for name in sweeps
        if SWEEPS[name] in settings
    }
    return {"settings": compared, "sweeps": swept}


def _parser() -> options.Parser:
    parser = options.Parser(
        "drift",
        "TEPA's drift experiments; what is assumed stands in benchmarks/drift.",
        trials=("--seeds", "--settings", "--sweeps", "--sweep-seeds"),
    )
    parser.add_argument("--seeds", type=options.count(), default=50)
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--sweeps", nargs="*", choices=list(SWEEPS), default=list(SWEEPS))
    parser.add_argument("--sweep-seeds", type=options.count(), default=25, help="at most --seeds")
    parser.add_argument("--seed", type=int, default=7, help="the first seed")
    return parser
