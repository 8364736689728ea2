"""Temporal Mutation (GC-Mem, section 5): what is true now, after N old statements and M new ones.

Every method gets the same frozen R_k, from a real Chroma store with the bundled encoder; with
short-term memory (STM) R_k also holds the newest chunks. Ours, for want of the paper's: k = 10,
STM of 10, no query expansion, 20 distractors, the corpus and its wordings (see
`benchmarks.mutation.instances`), and the readers: models of a reader for everything
(`benchmarks.mutation.reading`), and with ``--llm-url`` and ``--llm-model`` a language model for the
first instances of each condition (`benchmarks.mutation.language_reader`). Verdicts are shared
between conditions, in the order STM on, STM off, so that milliseconds are those of a partly filled
cache.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Final

from benchmarks import language_model
from benchmarks.mutation import experiment, judges, language_reader, report
from benchmarks.mutation.experiment import Condition
from benchmarks.mutation.methods import methods_for
from benchmarks.options import Parser
from benchmarks.results import Run

READ: Final = ("standard", "timestamp re-rank", "GC-Mem, bundled", "GC-Mem, oracle")


def main(arguments: list[str]) -> None:
    trials = ("--detectors", "--k", "--recent")
    parser = experiment.parser("temporal-mutation", __doc__, trials=trials)
    experiment.add_retrieval_options(parser)
    judges.add_options(parser)
    language_reader.add_options(parser, methods=READ)
    chosen, started = experiment.read(parser, arguments)
    conditions = [
        Condition("STM on", chosen.k, chosen.recent),
        Condition("STM off", chosen.k),
    ]
    play(parser, chosen, "temporal_mutation", conditions, started)


def play(
    parser: Parser,
    chosen: argparse.Namespace,
    name: str,
    conditions: Sequence[Condition],
    started: Run,
) -> None:
    """Run every method under the conditions; print, write and draw what comes out."""
    chat = language_model.chosen_model(parser, chosen)
    collectors = judges.chosen_judges(parser, chosen, chat)
    methods = methods_for(collectors)
    reader = language_reader.chosen_reader(parser, chosen, methods, chat)
    made = experiment.sets(chosen)
    holdings = report.show_sets(made)
    found: dict[str, dict[str, Any]] = {}
    for title, instances in made.items():
        frozen = experiment.freeze(instances, conditions, title=title)
        found[title] = {}
        for condition, candidates in frozen.items():
            heading = f"{title}, {condition}"
            rows = experiment.run(candidates, methods, title=heading)
            found[title][condition] = experiment.summaries(candidates, rows)
            if reader is not None:
                read = reader.figures(candidates, methods, title=heading)
                for method, figures in read.items():
                    found[title][condition][method]["all"] |= figures
            report.show_methods(heading, found[title][condition])
    path = experiment.write(
        name,
        chosen,
        judges=collectors,
        figures={"sets": holdings, "methods": found},
        reader=reader,
        run=started,
        conditions=[condition.name for condition in conditions],
    )
    last = list(found)[-1]
    panels = {f"{last}, {condition}": rows for condition, rows in found[last].items()}
    report.draw_ratios(path, panels)
