"""Detectors (GC-Mem, section 6.3): precision, recall, and what accuracy recall buys.

Pairs: of each frozen R_k (STM on), up to 20 pairs of chunks in which the older speaks for another
state than the newer, and as many that do not conflict; precision is of this balanced sample.
Memories: of the stale chunks in R_k the share that is removed, and of what is removed the share
that was stale. "explicit" reads metadata, of which these chunks have none: it shows the floor.
Degraded: the oracle misses a chosen share of the pairs (mean of several draws), with STM and in the
bag of facts. One newer chunk is all that can outdate the old ones here (M = 1), so no second
verdict makes up for a missed one. With ``--llm-url`` and ``--llm-model`` a language model reads
what is left of the first instances (STM on), see `benchmarks.mutation.language_reader`; and then
``--detectors`` also takes "llm" and "cascade", see `benchmarks.mutation.judges`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import language_model
from benchmarks.mutation import experiment, judges, language_reader, report
from benchmarks.mutation.candidates import Candidates
from benchmarks.mutation.experiment import Condition, Row
from benchmarks.mutation.methods import Method, StateOracle, collecting, oracle, standard
from benchmarks.mutation.reading import interval
from gcmem import Collector
from gcmem.detectors.base import Detector

RECALLS: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
_PAIRS_EACH: Final = 20
_SALTS: Final = 5
Labelled = dict[tuple[str, str], bool]


def pairs_of(candidates: Candidates, *, limit: int = _PAIRS_EACH) -> Labelled:
    """A balanced sample of (older, newer) texts, True where the newer outdates the older."""
    chunks = sorted(candidates.chunks, key=lambda chunk: chunk.day)
    every: Labelled = {}
    for j, newer in enumerate(chunks):
        for older in chunks[:j]:
            states = (older.state, newer.state)
            if older.text != newer.text:
                every[older.text, newer.text] = None not in states and states[0] != states[1]
    random = Random(candidates.instance.id)
    conflicts = [pair for pair, conflict in every.items() if conflict]
    others = [pair for pair, conflict in every.items() if not conflict]
    count = min(limit, len(conflicts), len(others))
    return {
        **dict.fromkeys(random.sample(conflicts, count), True),
        **dict.fromkeys(random.sample(others, count), False),
    }


def judge_pairs(detector: Detector, labelled: Labelled) -> dict[str, int]:
    """Count what a detector says about labelled pairs; no verdict is no conflict.

    Pairs on which it fails have no verdict, as in a collection that keeps on errors.
    """
    pairs = list(labelled)
    try:
        given = detector.score(pairs) if pairs else np.array([])
    except Exception as error:  # noqa: BLE001  (counted and printed; a long run goes on)
        print(f"{detector.name}: {len(pairs)} pairs without verdict: {error}")
        given = np.full(len(pairs), np.nan)
    scores = np.nan_to_num(given)
    said = scores >= detector.threshold
    truth = np.array(list(labelled.values()), dtype=bool)
    return {
        "found": int((said & truth).sum()),
        "conflicts": int(truth.sum()),
        "said": int(said.sum()),
        "pairs": len(pairs),
        "without verdict": int(np.isnan(given).sum()),
    }


def pair_figures(counts: Sequence[Mapping[str, int]]) -> dict[str, float | None]:
    total = {name: sum(count[name] for count in counts) for name in counts[0]}
    return {
        "pair precision": round(total["found"] / total["said"], 4) if total["said"] else None,
        "pair recall": round(total["found"] / max(total["conflicts"], 1), 4),
        "pairs": total["pairs"],
        "pairs without verdict": total["without verdict"],
    }


def memory_figures(frozen: Sequence[Candidates], rows: Sequence[Row]) -> dict[str, Any]:
    """Precision and recall of what was removed, and the accuracy."""
    stale = sum(sum(c.role in {"old", "earlier"} for c in f.chunks) for f in frozen)
    removed = sum(row["removed"] for row in rows)
    right = sum(row["stale removed"] for row in rows)
    return {
        "removal precision": round(right / removed, 4) if removed else None,
        "removal recall": round(right / max(stale, 1), 4),
        "CR-Acc": round(float(np.mean([row["CR-Acc"] for row in rows])), 4),
        "CR-Acc, 95 %": interval([row["CR-Acc"] for row in rows]),
    }


def degraded(frozen: Sequence[Candidates], *, title: str) -> list[dict[str, float]]:
    """CR-Acc as the oracle's recall falls."""
    methods = {(r, s): oracle(r, salt=s) for r in RECALLS for s in range(_SALTS)}
    names = {f"{recall} {salt}": key for key in methods for recall, salt in [key]}
    rows = experiment.run(frozen, {n: methods[key] for n, key in names.items()}, title=title)
    curve = []
    for recall in RECALLS:
        found = [row for name, key in names.items() if key[0] == recall for row in rows[name]]
        accuracy, removed = (
            float(np.mean([row[name] for row in found])) for name in ("CR-Acc", "removed")
        )
        curve.append({"recall": recall, "CR-Acc": round(accuracy, 4), "removed": round(removed, 3)})
    return curve


def main(arguments: list[str]) -> None:
    trials = ("--detectors", "--k", "--recent", "--ungated")
    parser = experiment.parser("detectors", __doc__, trials=trials)
    experiment.add_retrieval_options(parser)
    judges.add_options(parser)
    parser.set_defaults(wordings=["behaviour", "said"])
    parser.add_argument("--ungated", action="store_true", help="also without the gate (slow)")
    language_reader.add_options(parser, methods=("standard", "bundled", "oracle"))
    chosen, started = experiment.read(parser, arguments)
    conditions = [Condition("STM on", chosen.k, chosen.recent), Condition("bag of facts", None)]
    chat = language_model.chosen_model(parser, chosen)
    collectors = judges.chosen_judges(parser, chosen, chat, ungated=chosen.ungated)
    methods = methods_for(collectors)
    reader = language_reader.chosen_reader(parser, chosen, methods, chat)
    made = experiment.sets(chosen)
    holdings = report.show_sets(made)
    found: dict[str, Any] = {}
    for title, instances in made.items():
        frozen = experiment.freeze(instances, conditions, title=title)
        candidates = frozen["STM on"]
        found[title] = {
            "detectors": compare(candidates, collectors, title=title),
            "degraded": {
                name: degraded(every, title=f"{title}, {name}, degraded")
                for name, every in frozen.items()
            },
        }
        if reader is not None:
            for name, figures in reader.figures(candidates, methods, title=title).items():
                found[title]["detectors"][name] |= figures
        show(title, found[title])
    path = experiment.write(
        "detectors",
        chosen,
        judges=collectors,
        figures={"sets": holdings, "figures": found},
        reader=reader,
        run=started,
    )
    draw(found, path)


def methods_for(collectors: Mapping[str, Collector]) -> dict[str, Method]:
    """Nothing removed, every detector, and the oracle."""
    return {
        "standard": standard,
        **{name: collecting(judge) for name, judge in collectors.items()},
        "oracle": oracle(),
    }


def compare(
    frozen: Sequence[Candidates], collectors: Mapping[str, Collector], *, title: str
) -> dict[str, Any]:
    """Pairs, memories and accuracy for every detector, the oracle included."""
    rows = experiment.run(frozen, methods_for(collectors), title=title)
    samples = [pairs_of(candidates) for candidates in frozen]
    outcome: dict[str, Any] = {}
    for name, found in rows.items():
        outcome[name] = memory_figures(frozen, found)
        if name in collectors and "," not in name:  # variants of one detector score pairs alike
            detector = collectors[name].detector
            counts = [judge_pairs(detector, sample) for sample in samples]
        elif name == "oracle":
            counts = [
                judge_pairs(StateOracle(candidates.instance), sample)
                for candidates, sample in zip(frozen, samples, strict=True)
            ]
        else:
            continue
        outcome[name].update(pair_figures(counts))
    return outcome


def show(title: str, found: Mapping[str, Any]) -> None:
    table = Table(title=f"{title}: detectors")
    columns = ("pair precision", "pair recall", "removal precision", "removal recall", "CR-Acc")
    for column in ("detector", *columns):
        table.add_column(column, justify="left" if column == "detector" else "right")
    for name, row in found["detectors"].items():
        shares = (row.get(column) for column in columns)
        table.add_row(name, *("-" if share is None else f"{share:.1%}" for share in shares))
    console = Console()
    console.print(table)
    report.show_language_reader(title, found["detectors"])
    table = Table(title=f"{title}: CR-Acc as the oracle's recall is degraded")
    table.add_column("recall")
    for recall in RECALLS:
        table.add_column(f"{recall:.0%}", justify="right")
    for name, curve in found["degraded"].items():
        table.add_row(name, *(f"{point['CR-Acc']:.0%}" for point in curve))
    console.print(table)


def draw(found: Mapping[str, Any], numbers: Path) -> None:
    """CR-Acc over recall, with the detectors where they lie."""
    drawn = report.axes(len(found))
    if drawn is None:
        return
    figure, grid = drawn
    for panel, (title, figures) in zip(grid[0], found.items(), strict=True):
        for name, curve in figures["degraded"].items():
            panel.plot(
                [point["recall"] for point in curve],
                [point["CR-Acc"] for point in curve],
                marker=".",
                label=f"oracle, degraded ({name})",
            )
        for name, row in figures["detectors"].items():
            if row.get("pair recall") is not None and name != "oracle":
                panel.plot(row["pair recall"], row["CR-Acc"], "*", markersize=12, label=name)
        panel.axvline(0.5, color="0.6", linestyle=":")
        panel.set(title=title, xlabel="recall of conflicting pairs", ylabel="CR-Acc (majority)")
        panel.set_ylim(-0.03, 1.03)
    grid[0][0].legend(fontsize="small")
    report.save(figure, numbers)
