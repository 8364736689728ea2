"""Both theorems of GC-Mem against what is retrieved and read here.

Theorem 1: of N stale and M valid chunks, k drawn at random hold k*M/(N+M) valid ones on average (at
most M). Measured: new chunks in the top k of a real Chroma store, with the bundled encoder, without
and with distractors, and with short-term memory; beside it a random draw. A retriever is no random
draw, so that the bound may be passed where the new wording is nearer to the question.

Theorem 2: with one valid chunk among k, an even attention puts (k-1)/k of its mass on stale ones.
Contexts are cut from the same R_k (STM on): the new chunk and the first s stale ones. Measured: the
mass of a softmax over the encoder's cosines with the question (temperature 0.1, ours), a reader
who answers from one chunk by that mass, and the majority reader. Both readers are models; the
majority reader follows from the theorem and cannot test it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import results
from benchmarks.mutation import experiment, report
from benchmarks.mutation.candidates import Candidates
from benchmarks.mutation.experiment import Condition
from benchmarks.mutation.instances import RATIOS, Instance, make_instances
from benchmarks.mutation.reading import interval, majority

STALE: Final = (0, 1, 2, 3, 5, 9)
_TEMPERATURE: Final = 0.1
_DRAWS: Final = 200


def bound(k: int, n: int, m: int) -> float:
    """Theorem 1: the hypergeometric expectation; no more than there are."""
    return min(k, n + m) * m / (n + m)


def random_draw(instance: Instance, k: int) -> float:
    """Mean number of new chunks among k drawn from the old and the new ones."""
    random = Random(instance.id)
    roles = [chunk.role for chunk in instance.chunks if chunk.role != "distractor"]
    draws = (random.sample(roles, min(k, len(roles))) for _ in range(_DRAWS))
    return fmean(draw.count("new") for draw in draws)


def new_chunks(frozen: Sequence[Candidates]) -> list[float]:
    return [float(sum(c.role == "new" for c in candidates.chunks)) for candidates in frozen]


def first_theorem(chosen: Any, count: int) -> list[dict[str, Any]]:
    """Retrieved new chunks for every N:M, the same attributes each time."""
    rows = []
    for ratio in RATIOS:
        row: dict[str, Any] = {
            "ratio": f"{ratio[0]}:{ratio[1]}",
            "bound": round(bound(chosen.k, *ratio), 4),
        }
        for name, distractors, recent in (
            ("no distractors", 0, None),
            ("distractors", chosen.distractors, None),
            ("distractors, STM", chosen.distractors, chosen.recent),
        ):
            instances = make_instances(
                count, ratios=(ratio,), distractors=distractors, seed=chosen.seed
            )
            condition = Condition(name, chosen.k, recent)
            title = f"{row['ratio']}, {name}"
            found = new_chunks(experiment.freeze(instances, [condition], title=title)[name])
            row[name] = round(fmean(found), 4)
            row[f"{name}, 95 %"] = interval(found)
        row["random"] = round(fmean(random_draw(i, chosen.k) for i in instances), 4)
        rows.append(row)
    return rows


def second_theorem(frozen: Sequence[Candidates]) -> list[dict[str, Any]]:
    """Mass and accuracy over the number of stale chunks beside one valid one."""
    rows = []
    for stale in STALE:
        masses, accuracies = [], []
        for candidates in frozen:
            new = [chunk for chunk in candidates.chunks if chunk.role == "new"]
            old = [chunk for chunk in candidates.chunks if chunk.role == "old"]
            if not new or len(old) < stale:
                continue
            context = [new[0], *old[:stale]]
            cosine = np.array([candidates.relevance[chunk.id] for chunk in context])
            attention = np.exp((cosine - cosine.max()) / _TEMPERATURE)
            masses.append(float(attention[1:].sum() / attention.sum()))
            accuracies.append(majority(candidates.instance, context)["forced"])
        if masses:
            rows.append(
                {
                    "stale": stale,
                    "contexts": len(masses),
                    "mass, theorem": round(stale / (stale + 1), 4),
                    "mass, softmax": round(fmean(masses), 4),
                    "mass, softmax, 95 %": interval(masses),
                    "accuracy, one chunk by mass": round(1 - fmean(masses), 4),
                    "accuracy, majority": round(fmean(accuracies), 4),
                }
            )
    return rows


def main(arguments: list[str]) -> None:
    parser = experiment.parser("theory", __doc__, trials=("--k", "--recent"))
    parser.set_defaults(sizes=["medium", "large"])
    experiment.add_retrieval_options(parser)
    chosen, started = experiment.read(parser, arguments)
    first = first_theorem(chosen, chosen.instances or 48)
    instances = [i for found in experiment.sets(chosen).values() for i in found]
    condition = Condition("STM on", chosen.k, chosen.recent)
    frozen = experiment.freeze(instances, [condition], title="theorem 2")["STM on"]
    outcome = {"theorem 1": first, "theorem 2": second_theorem(frozen)}
    for name, rows in outcome.items():
        show(name, rows)
    path = results.write(
        "theory",
        config=experiment.config(chosen),
        results=outcome,
        seed=chosen.seed,
        run=started,
    )
    print(f"figures: {results.shown(path)}")
    draw(outcome, path)


def show(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    columns = [name for name in rows[0] if not name.endswith("95 %")]
    table = Table(title=title)
    for name in columns:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            *(f"{row[n]:.2f}" if isinstance(row[n], float) else str(row[n]) for n in columns)
        )
    Console().print(table)


def draw(outcome: Mapping[str, Sequence[Mapping[str, Any]]], numbers: Path) -> None:
    drawn = report.axes(2)
    if drawn is None:
        return
    figure, grid = drawn
    one, two = grid[0]
    rows = outcome["theorem 1"]
    for name in ("bound", "random", "no distractors", "distractors", "distractors, STM"):
        style = "k--" if name == "bound" else "."
        line = "" if name == "bound" else "-"
        values = [row[name] for row in rows]
        one.plot([row["ratio"] for row in rows], values, style + line, label=name)
    one.set(title="Theorem 1", xlabel="old : new", ylabel="new chunks in R_k")
    rows = outcome["theorem 2"]
    for name in ("mass, theorem", "mass, softmax", "accuracy, majority"):
        two.plot([row["stale"] for row in rows], [row[name] for row in rows], ".-", label=name)
    two.set(title="Theorem 2", xlabel="stale chunks beside one valid one", ylabel="share")
    for panel in (one, two):
        panel.legend(fontsize="small")
    report.save(figure, numbers)
