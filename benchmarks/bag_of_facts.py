"""Bag of facts (GC-Mem, section 5): k is infinite, R_k holds everything that was ever said.

Instances, methods and readers are those of temporal-mutation.
"""

from __future__ import annotations

from benchmarks.mutation import experiment
from benchmarks.mutation.experiment import Condition
from benchmarks.temporal_mutation import play


def main(arguments: list[str]) -> None:
    chosen = experiment.parser("bag-of-facts", __doc__).parse_args(arguments)
    play(chosen, "bag_of_facts", [Condition("bag of facts", None)])
