"""Cost of a collection: against judging every pair, by size of the store, and of an LLM judge.

Rows: a candidate set of k chunks holds one attribute that changed, k/2 : 1 (25:1 at k=50), and
distractors of other attributes (`benchmarks.costs.sets`). All-pairs scores, with the same model and
without gate, cache or early stop, every different pair of statements that time allows. Cold: the
models are loaded, no vector and no verdict is known. Warm: the same set once more. Several sets are
measured in turn, and medians compared, so that what else the machine does meets all alike. Each row
is measured in a process of its own; memory is its peak in one collection, over a process that has
only imported gcmem.

All-pairs at 150 words and k=100 takes more than an hour. What would take minutes is extrapolated
from a random sample, is marked with ~ in the table, and is listed under "extrapolated" in the file.
For all-pairs that is a sample of its pairs. For gcmem it is an upper bound, from one set; see
`benchmarks.costs.row`.

Stores: a search through GCMemRetriever against its base retriever in a Chroma store of 1,000 and of
100,000 records, most of whose vectors are drawn at random (`benchmarks.costs.stores`).

LLM judge, with ``--llm-url`` and ``--llm-model``: calls, tokens, time (`benchmarks.costs.judge`).
"""

from __future__ import annotations

import argparse
from random import Random
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks import language_model, options, results
from benchmarks.costs import judge, stores
from benchmarks.costs.child import in_fresh_process
from benchmarks.costs.row import Bounds
from benchmarks.costs.sets import candidate_set
from gcmem import load_detector

SIZES = (5, 10, 20, 50, 100)
LENGTHS = (12, 40, 150)
JUDGED_SIZES = (5, 10)
STORES = (1_000, 100_000)


def main(arguments: list[str]) -> None:
    parser = _parser()
    chosen, started = parser.read(arguments)
    chat = language_model.chosen_model(parser, chosen)
    detector = load_detector("bundled")
    config = {
        **{name: value for name, value in vars(chosen).items() if name not in {"seed", "llm_url"}},
        "detector": detector.name,
    }
    found: dict[str, Any] = {"rows": []}

    def keep() -> None:
        results.write("latency", config=config, results=found, seed=chosen.seed, run=started)

    grid = [(k, words) for words in chosen.words for k in chosen.sizes]
    for k, words in track(grid, description="latency: rows"):
        found["rows"].append(row(k, words, chosen))
        keep()  # after each part, so that a run that is stopped keeps what it has
    show_rows(found["rows"])
    if chosen.stores:
        found["stores"] = stores.measure(
            chosen.stores,
            detector,
            questions=chosen.questions,
            seconds=chosen.store_seconds,
            seed=chosen.seed,
        )
        keep()
        show_stores(found["stores"])
    if chat is not None:
        found["LLM judge"] = judge.measure(
            chat,
            [k for k in chosen.sizes if k in JUDGED_SIZES],
            detector,
            words=min(chosen.words, default=LENGTHS[0]),
            most_calls=chosen.llm_calls,
            seed=chosen.seed,
        )
        keep()
        show_judge(found["LLM judge"])
    print(f"figures: {results.shown(results.file_of('latency', started))}")


def _parser() -> options.Parser:
    trials = ("--repeats", "--row-seconds", "--sizes", "--words", "--whole", "--sample", "--stores")
    made = options.Parser("latency", __doc__, trials=(*trials, "--questions"))
    many = options.count()
    made.add_argument("--repeats", type=many, default=3, help="sets per row, at most")
    made.add_argument(
        "--row-seconds",
        type=options.seconds,
        default=10,
        help="a row begins no further set after so long",
    )
    made.add_argument("--sizes", type=options.count(least=2), nargs="*", default=SIZES)
    made.add_argument("--words", type=many, nargs="*", default=LENGTHS)
    made.add_argument(
        "--whole",
        type=options.count(least=0),
        default=25_000,
        help="pairs that gcmem judges in full",
    )
    made.add_argument("--sample", type=many, default=1_000, help="pairs that time the model")
    made.add_argument("--stores", type=many, nargs="*", default=STORES, help="records in a store")
    made.add_argument("--store-seconds", type=options.seconds, default=90, help="to fill one store")
    made.add_argument("--questions", type=many, default=8, help="asked of each store")
    made.add_argument("--llm-calls", type=many, default=24, help="of an LLM judge, per set")
    language_model.add_options(made)
    made.add_argument("--seed", type=int, default=7)
    return made


def row(k: int, words: int, chosen: argparse.Namespace) -> dict[str, Any]:
    """Measure one row in a process of its own."""
    sets = [
        candidate_set(k, words, Random(f"{chosen.seed} {k} {words} {repeat}"))
        for repeat in range(chosen.repeats)
    ]
    bounds = Bounds(chosen.whole, chosen.sample, chosen.row_seconds)
    return {"k": k, "words": words, **in_fresh_process(sets, bounds=bounds, seed=chosen.seed)}


def show_rows(rows: list[dict[str, Any]]) -> None:
    table = Table(
        title="One collection against judging every pair with the same model",
        caption="~: extrapolated from a sample; for gcmem (cold, warm) an upper bound.",
    )
    for column in ("k", "words", "all pairs ms", "cold ms", "warm ms", "cold x", "warm x"):
        table.add_column(column, justify="right")
    table.add_column("judged", justify="right")
    table.add_column("MiB", justify="right")
    for found in rows:
        marks = dict.fromkeys(found["extrapolated"], "~")
        cells = [f"{marks.get(name, '')}{cost:.1f}" for name, cost in found["milliseconds"].items()]
        table.add_row(
            str(found["k"]),
            str(found["words"]),
            *cells,
            f"{'~' if marks else ''}{found['cold is faster by']:.1f}",
            f"{'~' if marks else ''}{found['warm is faster by']:.0f}",
            f"{found['pairs judged']:.0f}/{found['pairs possible']:.0f} "
            f"({found['share judged']:.0%})",
            f"{found['peak MiB over bare import']:.0f}",
        )
    console = Console(width=max(Console().width, 110))
    console.print(table)
    if rows:
        console.print(f"a process that has imported gcmem: {rows[0]['bare import MiB']:.0f} MiB")


def show_stores(found: dict[str, Any]) -> None:
    table = Table(title="A search through gcmem, in times of one through its base retriever")
    for column in ("records", "cold", "warm", "pairs judged"):
        table.add_column(column, justify="right")
    for each in found["rows"]:
        table.add_row(
            f"{each['records']:,}",
            f"{each['cold, times base']:.1f}x",
            f"{each['warm, times base']:.1f}x",
            f"{each['pairs judged per question']:.0f}",
        )
    console = Console()
    console.print(table)
    grown = ", ".join(f"{way} {ratio:.2f}x" for way, ratio in found["last over first"].items())
    console.print(f"from the first store to the last a search takes: {grown}")


def show_judge(rows: list[dict[str, Any]]) -> None:
    table = Table(title="An LLM judge of every pair, against gcmem (cold) on the same set")
    judged = ("k", "words", "pairs judged", "pairs unjudged", "model calls")
    columns = (*judged, "input tokens", "output tokens", "times gcmem")
    for column in columns:
        table.add_column(column, justify="right")
    for found in rows:
        table.add_row(*(f"{found[column]:,}" for column in columns))
    Console().print(table)
