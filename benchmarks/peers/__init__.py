"""Peers: the same inputs, in the same run, through gcmem and through other tools.

The inputs are the field cases (`benchmarks.field` reads and judges them) and the streams of
held-out attributes (`benchmarks.streams`). Every tool gets the same memories, oldest first, with
times brought to UTC in one form, and is used through the entry point and with the defaults that its
documentation gives; what that is stands in the docstring of its adapter, and what a tool was given
and cannot express is kept with the figures. Where a tool only detects, its verdicts are applied in
the obvious way: the older of a contradicting pair is removed. Where its output can be read in two
ways, both are reported. Tools that know no scope get the memories of all scopes in one list.

* passed: of the cases, those where all that must be kept is shown and nothing that must be dropped.
* stale shown: of the statements that are no longer true, those still shown.
* needed removed: of the statements that must stay, those removed.
* LLM calls: counted on the way to the endpoint, failed ones too. gcmem's own model runs in this
  process; the pairs that it judged are in the file.
* time: seconds in the tool alone, from the statements to what is shown (a memory's ingestion
  included; starting it and the way to its process excluded), as a multiple of gcmem's.

A tool that raises an error on an input shows it in full and has not passed it. One whose
environment, package or LLM is missing is listed as not run. Where an LLM is given, every tool that
can use one is run without it and with it. Tools with an LLM, and those that rank by a question and
cut to k, are not given the streams.

    python -m benchmarks peers --environments DIR --prepare
    python -m benchmarks peers --environments DIR
    python -m benchmarks peers --environments DIR --llm-url URL/v1 --llm-model NAME --cases 15
"""

from __future__ import annotations

from benchmarks.peers.command import main

__all__ = ["main"]
