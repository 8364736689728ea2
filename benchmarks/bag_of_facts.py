"""Bag of facts (GC-Mem, section 5): k is infinite, R_k holds everything that was ever said.

Instances, methods and readers are those of temporal-mutation.
"""

from __future__ import annotations

from benchmarks.mutation import experiment, judges, language_reader
from benchmarks.mutation.experiment import Condition
from benchmarks.temporal_mutation import READ, play


def main(arguments: list[str]) -> None:
    parser = experiment.parser("bag-of-facts", __doc__, trials=("--detectors",))
    judges.add_options(parser)
    language_reader.add_options(parser, methods=READ)
    chosen, started = experiment.read(parser, arguments)
    play(parser, chosen, "bag_of_facts", [Condition("bag of facts", None)], started)
