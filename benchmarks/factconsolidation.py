"""MemoryAgentBench's FactConsolidation over real adapters: facts in Chroma, the number is the time.

Each context is a numbered list of facts in which later ones contradict earlier ones. The facts lie
in Chroma (bundled encoder, cosine, a folder that lasts as long as the run, so each length is
encoded once for both kinds of questions) with their number as ``created_at``. Five ways to show k:
"plain" (the k most similar), "newest first" (the k newest of the fetch_k most similar),
GCMemRetriever with the bundled detector, without and with head look-up (fetch_k fetched, collected,
cut to k), and "gcmem ledger" (each fact was compared once, when it was written; the k most similar
of what is Active, see `benchmarks.fact_ledger`). What is read from the data, and how the reader
without a language model works, stands in `benchmarks.fact_reading`. The figures, shares of
questions unless said otherwise:

* gold in context: the gold fact is shown (multi-hop: a fact with the gold answer is shown on the
  way; a weak measure, for it need not be the fact that the chain ends with).
* stale exposure: of the questions whose gold fact has an older conflicting fact, those where one is
  shown (multi-hop: where any fact is shown that a single-hop gold fact of this context replaces).
* gold removed: of the questions whose gold fact was fetched and has no newer conflicting fact,
  those where the collector removed it. A few gold facts are the older ones; they are left out.
* current removed: over all searches, of the fetched facts that are the gold fact of any single-hop
  question of this context and have no newer conflicting fact, the share removed.
* right fact: the fact that the extractive reader answers from has the gold answer.
* exact match: substring exact match of its answer; "LLM" that of a language model which reads
  everything shown, oldest first, and is told that larger numbers are newer. A model may also know
  an answer from its training.

The file is for measuring only; nothing was chosen on it.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks import language_model, options, results
from benchmarks.fact_ledger import FiledFacts
from benchmarks.fact_reading import ExtractiveReader, Fact, Gold, Task, Truth, read_tasks
from benchmarks.fact_searches import Room, Search, fill_store, searches
from benchmarks.fact_tally import FIGURES, Tally
from benchmarks.results import Run
from gcmem import Collector
from gcmem.detectors.base import Detector
from gcmem.encoder import SentenceEncoder

LENGTHS = ("6k", "32k", "64k", "262k")
HOPS = ("single", "multi")
_MOST_HOPS = {"single": 1, "multi": 4}
_INSTRUCTION = (
    "Answer the question from the numbered facts alone. Where facts contradict each other, the "
    "one with the larger number is newer and true. Give the answer only, without explanation."
)

Answerer = Callable[[str, Iterable[Fact]], str]


def answerer_with(chat: Any) -> Answerer:
    """Give a reader that lets a chat model answer from the facts, oldest first."""

    def answer(question: str, shown: Iterable[Fact]) -> str:
        ordered = sorted(shown, key=lambda fact: fact.serial)
        return language_model.ask(
            chat,
            instruction=_INSTRUCTION,
            items=[{"number": fact.serial, "fact": fact.text} for fact in ordered],
            task=f"Question: {question}\nAnswer:",
        ).text

    return answer


def measure(
    task: Task,
    ways: dict[str, Search],
    *,
    known: Sequence[Gold],
    limit: int | None = None,
    answerer: Answerer | None = None,
) -> list[dict[str, Any]]:
    """Ask every question of a task in every way."""
    truth = Truth(task.facts)
    reader = ExtractiveReader(SentenceEncoder(), truth)
    questions = task.questions[:limit]
    golds = [truth.gold(q) if task.hops == "single" else None for q in questions]
    rows = []
    for method, search in ways.items():
        tally = Tally(task.hops, known)
        described = f"{task.hops} {task.length}: {method}"
        pairs = list(zip(questions, golds, strict=True))
        for question, gold in track(pairs, description=described):
            reading = reader.read(question.text, search, most_hops=_MOST_HOPS[task.hops])
            tally.add(question, gold, reading)
            if answerer is not None:
                tally.add_answer(question, answerer(question.text, reading.context.values()))
        about = {"length": task.length, "hops": task.hops, "method": method}
        rows.append({**about, "questions": len(questions), **tally.figures()})
    return rows


def run(
    tasks: Sequence[Task],
    *,
    room: Room,
    detector: Detector | None = None,
    limit: int | None = None,
    hops: Sequence[str] = HOPS,
    answerer: Answerer | None = None,
    filed_lengths: Sequence[str] = LENGTHS,
    done: Callable[[list[dict[str, Any]]], None] | None = None,
) -> list[dict[str, Any]]:
    """Measure the tasks, length by length; ``done`` is given all rows after each task."""
    rows: list[dict[str, Any]] = []
    for length in dict.fromkeys(task.length for task in tasks):
        of_length = {task.hops: task for task in tasks if task.length == length}
        facts = next(iter(of_length.values())).facts
        asked = of_length["single"].questions if "single" in of_length else ()
        known = [gold for gold in map(Truth(facts).gold, asked) if gold is not None]
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            started = time.perf_counter()
            store = fill_store(facts, Path(folder), f"facts-{length}")
            seconds = round(time.perf_counter() - started, 1)
            filed = None
            if length in filed_lengths:
                filed = FiledFacts(facts, detector, name=f"facts-{length}")
            ways = searches(store, facts, detector, room, filed)
            for kind in (kind for kind in hops if kind in of_length):
                measured = measure(
                    of_length[kind], ways, known=known, limit=limit, answerer=answerer
                )
                size: dict[str, Any] = {"facts": len(facts), "seconds to encode": seconds}
                if filed is not None:
                    size["seconds to file"] = round(filed.seconds, 1)
                rows += [{**row, **size} for row in measured]
                if done is not None:
                    done(rows)
    return rows


def main(arguments: list[str]) -> None:
    trials = ("--hops", "--questions other than 40", "--k", "--fetch-k")
    parser = options.Parser("factconsolidation", __doc__, trials=trials)
    parser.add_argument("--lengths", nargs="+", choices=LENGTHS, default=["6k", "32k"])
    parser.add_argument("--hops", nargs="+", choices=HOPS, default=list(HOPS))
    parser.add_argument("--questions", type=options.count(), default=None, help="only the first N")
    parser.add_argument(
        "--ledger-lengths",
        nargs="*",
        choices=LENGTHS,
        default=["6k", "32k"],
        help="lengths at which the facts are also filed in a ledger",
    )
    parser.add_argument(
        "--add",
        action="store_true",
        help="keep the tasks of the file of an earlier run with the same settings",
    )
    parser.add_argument("--k", type=options.count(), default=10)
    parser.add_argument("--fetch-k", type=options.count(), default=40)
    language_model.add_options(parser)
    chosen, started = parser.read(arguments)
    if chosen.fetch_k < chosen.k:
        parser.error(f"--fetch-k must be at least --k={chosen.k}, got {chosen.fetch_k}")
    chat = language_model.chosen_model(parser, chosen)
    path = results.shared_file("data/factconsolidation.json.gz")
    tasks = [task for task in read_tasks(path) if task.length in chosen.lengths]
    collector = Collector()
    config = {
        **{name: value for name, value in vars(chosen).items() if name not in {"llm_url", "add"}},
        "detector": collector.detector.name,
        "threshold": collector.threshold,
    }
    kept: list[dict[str, Any]] = []
    if chosen.add:
        kept, started = earlier_rows(config, started)
    rows = run(
        tasks,
        room=Room(chosen.k, chosen.fetch_k),
        detector=collector.detector,
        limit=chosen.questions,
        hops=chosen.hops,
        filed_lengths=chosen.ledger_lengths,
        answerer=None if chat is None else answerer_with(chat),
        done=lambda rows: print_and_write(completed(kept, rows), config, started),
    )
    if not rows:
        raise SystemExit(f"no task of {chosen.lengths} and {chosen.hops} in {path.name}")


def earlier_rows(config: Mapping[str, Any], started: Run) -> tuple[list[dict[str, Any]], Run]:
    """The rows of the file that lies there, of a run with these settings on any tasks.

    Also gives the run with the commands of both; none where that of the earlier one is not known.

    Raises:
        SystemExit: There is no file, or it was made with other settings.
    """
    path = results.file_of("factconsolidation", started)
    if not path.exists():
        msg = "--add: there are no figures of an earlier run."
        raise SystemExit(msg)
    content = json.loads(path.read_text(encoding="utf-8"))
    for name in set(config) - {"lengths", "hops", "ledger_lengths"}:
        if content["config"].get(name) != config[name]:
            msg = (
                f"--add: the earlier run has {name} = {content['config'].get(name)!r}, "
                f"this one {config[name]!r}."
            )
            raise SystemExit(msg)
    earlier = content.get("command")
    both = None if earlier is None else f"{earlier} && {started.command}"
    return content["results"], replace(started, command=both)


def completed(
    earlier: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The rows of all tasks, single hops first and by length; a task that was run again is new."""
    again = {(row["hops"], row["length"]) for row in rows}
    every = [row for row in earlier if (row["hops"], row["length"]) not in again] + list(rows)
    return sorted(every, key=lambda row: (HOPS.index(row["hops"]), LENGTHS.index(row["length"])))


def print_and_write(rows: Sequence[dict[str, Any]], config: dict[str, Any], started: Run) -> None:
    """Show what has been measured so far, and keep it, so that a stopped run loses little."""
    shown = [name for name in FIGURES if any(row[name]["of"] for row in rows)]
    table = Table(title="FactConsolidation: share (of how many)")
    for column in ("hops", "length", "method", *shown):
        table.add_column(column, justify="left" if column == "method" else "right")
    for row in rows:
        cells = [_cell(row[name]) for name in shown]
        table.add_row(row["hops"], row["length"], row["method"], *cells)
    Console().print(table)
    tasks = {
        "lengths": list(dict.fromkeys(row["length"] for row in rows)),
        "hops": list(dict.fromkeys(row["hops"] for row in rows)),
    }
    path = results.write(
        "factconsolidation", config={**config, **tasks}, results=list(rows), run=started
    )
    print(f"figures: {results.shown(path)}")


def _cell(figure: dict[str, Any]) -> str:
    return "-" if figure["share"] is None else f"{figure['share']:.1%} ({figure['of']})"
