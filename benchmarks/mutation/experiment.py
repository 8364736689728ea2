"""Runs methods over instances under conditions, and the options that the commands share."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rich.progress import track

from benchmarks import results
from benchmarks.mutation import judges as judging
from benchmarks.mutation.candidates import Candidates, Store, new_client
from benchmarks.mutation.instances import (
    DISTRACTORS,
    SIZES,
    Instance,
    make_instances,
    most_distractors,
)
from benchmarks.mutation.language_reader import LanguageReader
from benchmarks.mutation.methods import Method
from benchmarks.mutation.reading import measure, summary
from benchmarks.options import Parser, count
from benchmarks.results import Run
from gcmem import Collector
from langchain_gcmem.embeddings import BundledEmbeddings

Row = dict[str, float]


@dataclass(frozen=True, slots=True)
class Condition:
    """How R_k is made: top k (None: everything), united with the newest chunks (None: not)."""

    name: str
    k: int | None
    recent: int | None = None


@cache
def _embeddings() -> BundledEmbeddings:
    return BundledEmbeddings()


def freeze(
    instances: Sequence[Instance], conditions: Sequence[Condition], *, title: str
) -> dict[str, list[Candidates]]:
    """Retrieve once for every instance and condition."""
    embeddings, client = _embeddings(), new_client()
    frozen: dict[str, list[Candidates]] = defaultdict(list)
    for instance in track(instances, description=f"{title}: retrieval"):
        store = Store(instance, embeddings, client)
        for condition in conditions:
            found = store.candidates(k=condition.k, recent=condition.recent)
            frozen[condition.name].append(found)
        store.forget()
    return frozen


def run(
    frozen: Sequence[Candidates], methods: Mapping[str, Method], *, title: str
) -> dict[str, list[Row]]:
    """Give one row of measures for every method and instance."""
    rows: dict[str, list[Row]] = {name: [] for name in methods}
    for candidates in track(frozen, description=title):
        for name, method in methods.items():
            rows[name].append(measure(candidates, method(candidates)))
    return rows


def summaries(frozen: Sequence[Candidates], rows: Mapping[str, list[Row]]) -> dict[str, Any]:
    """Summaries of every method: over all instances, by ratio and by kind of change."""
    groups: dict[str, list[int]] = {"all": list(range(len(frozen)))}
    for index, candidates in enumerate(frozen):
        n, m = candidates.instance.ratio
        groups.setdefault(f"{n}:{m}", []).append(index)
        groups.setdefault(candidates.instance.kind, []).append(index)
    return {
        method: {
            group: summary([found[i] for i in members], [rows["standard"][i] for i in members])
            for group, members in groups.items()
        }
        for method, found in rows.items()
    }


def parser(name: str, purpose: str | None, *, trials: Sequence[str] = ()) -> Parser:
    """Give the options that all commands of this family have: those of the instances.

    Args:
        name: Of the command.
        purpose: What it measures.
        trials: Further options that make a run other than the published one.
    """
    trials = ("--sizes", "--instances", "--wordings", "--distractors", *trials)
    made = Parser(name, purpose, trials=trials)
    made.add_argument("--sizes", nargs="+", choices=tuple(SIZES), default=["medium"])
    made.add_argument("--instances", type=count(), help="only so many of each set")
    made.add_argument("--wordings", nargs="+", choices=("behaviour", "said"), default=["behaviour"])
    made.add_argument("--distractors", type=count(least=0), default=DISTRACTORS)
    made.add_argument("--seed", type=int, default=11)
    return made


def add_retrieval_options(parser: Parser) -> None:
    """Add the options of a retrieval that does not give everything."""
    parser.add_argument("--k", type=count(), default=10)
    parser.add_argument("--recent", type=count(), default=10, help="chunks in short-term memory")


def read(parser: Parser, arguments: Sequence[str]) -> tuple[argparse.Namespace, Run]:
    """Read the options; more distractors than there are end the run here."""
    chosen, started = parser.read(arguments)
    if chosen.distractors > (most := most_distractors()):
        parser.error(f"--distractors must be at most {most}, got {chosen.distractors}")
    return chosen, started


def sets(chosen: argparse.Namespace) -> dict[str, list[Instance]]:
    """The chosen sets of instances."""
    return {
        f"{size}, {wording}": make_instances(
            SIZES[size] if chosen.instances is None else min(chosen.instances, SIZES[size]),
            wording=wording,
            distractors=chosen.distractors,
            seed=f"{size} {chosen.seed}",
        )
        for wording in chosen.wordings
        for size in chosen.sizes
    }


def config(chosen: argparse.Namespace) -> dict[str, Any]:
    """What to write down of the options; those of a language model only where one reads."""
    left_out = {"seed", "verdicts", "llm_url", "llm_answers", "llm_default_methods"}
    asked = getattr(chosen, "llm_model", None) is not None
    return {
        name: value
        for name, value in vars(chosen).items()
        if name not in left_out and (asked or not name.startswith("llm_"))
    }


def write(
    name: str,
    chosen: argparse.Namespace,
    *,
    judges: Mapping[str, Collector],
    figures: Mapping[str, Any],
    reader: LanguageReader | None,
    run: Run,
    **further: Any,
) -> Path:
    """Write what came out, with the options and the detectors that it came from.

    Args:
        name: Of the experiment, and of its file.
        chosen: The options.
        judges: The detectors, by the name that the figures call them.
        figures: What came out.
        reader: The language model that read along, if one did; what it cost is written too.
        run: The command line, and the file for the figures.
        further: Settings that are no options.
    """
    used = {key: judge.detector.name for key, judge in judges.items()}
    asked: dict[str, Any] = {} if reader is None else {"LLM": reader.costs()}
    if spent := judging.costs(judges):
        asked["LLM as judge"] = spent
    path = results.write(
        name,
        config={**config(chosen), **further, "judges": used},
        results={**figures, **asked},
        seed=chosen.seed,
        run=run,
    )
    print(f"figures: {results.shown(path)}")
    return path
