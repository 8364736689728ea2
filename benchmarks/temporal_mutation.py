"""Temporal Mutation (GC-Mem, section 5): what is true now, after N old statements and M new ones.

Every method gets the same frozen R_k, from a real Chroma store with the bundled encoder; with
short-term memory (STM) R_k also holds the newest chunks. Ours, for want of the paper's: k = 10,
STM of 10, no query expansion, 20 distractors, the corpus and its wordings (see
`benchmarks.mutation.instances`), and the readers, which are models of a reader and no language
model (`benchmarks.mutation.reading`). Verdicts are shared between conditions, in the order STM on,
STM off, so that milliseconds are those of a partly filled cache.
"""

from __future__ import annotations

from typing import Any

from benchmarks import results
from benchmarks.mutation import experiment, report
from benchmarks.mutation.experiment import Condition
from benchmarks.mutation.methods import methods_for


def main(arguments: list[str]) -> None:
    parser = experiment.parser("temporal-mutation", __doc__)
    parser.set_defaults(sizes=["medium", "large"])
    chosen = parser.parse_args(arguments)
    conditions = [
        Condition("STM on", chosen.k, chosen.recent),
        Condition("STM off", chosen.k),
    ]
    play(chosen, "temporal_mutation", conditions)


def play(chosen: Any, name: str, conditions: list[Condition]) -> None:
    """Run every method under the conditions; print, write and draw what comes out."""
    made = experiment.sets(chosen)
    holdings = report.show_sets(made)
    judges = experiment.collectors(chosen.detectors, verdicts=chosen.verdicts)
    methods = methods_for(judges)
    found: dict[str, dict[str, Any]] = {}
    for title, instances in made.items():
        frozen = experiment.freeze(instances, conditions, title=title)
        found[title] = {}
        for condition, candidates in frozen.items():
            heading = f"{title}, {condition}"
            rows = experiment.run(candidates, methods, title=heading)
            found[title][condition] = experiment.summaries(candidates, rows)
            report.show_methods(heading, found[title][condition])
    path = results.write(
        name,
        config={
            **experiment.config(chosen),
            "conditions": [condition.name for condition in conditions],
            "judges": {key: judge.detector.name for key, judge in judges.items()},
        },
        results={"sets": holdings, "methods": found},
        seed=chosen.seed,
    )
    print(f"figures: {path.name}")
    last = list(found)[-1]
    panels = {f"{last}, {condition}": rows for condition, rows in found[last].items()}
    report.draw_ratios(name, panels)
