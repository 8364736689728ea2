"""What an update and a query of the precedent ledger cost, by number of records.

The baseline is the paper's append-only memory: a list of records that a query scans for its key
(TEPA, Cost; the paper has 4,006 us for it, 0.301 us per TEPA query and 0.513 ms per 1,000 updates,
in memory, at 1M records). A query and an update take a key at random; the records of one key are
loaded together.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks import options, results
from gcmem.precedents import LifecyclePolicy, PrecedentLedger

SCOPE = ("bench",)
VALUES_PER_KEY = 10  # one Active, the others archived: the records of a key that changed its mind
LOAD_BATCH = 5_000
UPDATE_BATCH = 1_000


PAPER = {
    "records": 1_000_000,
    "append_query_us": 4006,
    "query_us": 0.301,
    "update_ms_per_1000": 0.513,
}


def main(arguments: Sequence[str]) -> None:
    """Measure, print a table and write the figures."""
    trials = ("--records", "--queries", "--scans", "--single", "--batches")
    parser = options.Parser("ledger", __doc__, trials=trials)
    many = options.count()
    parser.add_argument("--records", type=many, nargs="+", default=[1_000, 100_000, 1_000_000])
    parser.add_argument("--queries", type=many, default=2_000, help="queries per measurement")
    parser.add_argument("--scans", type=many, default=20, help="queries of the scanned list")
    parser.add_argument("--single", type=many, default=200, help="observe() calls one at a time")
    parser.add_argument("--batches", type=many, default=5, help="observe_many() calls of 1,000")
    parser.add_argument("--seed", type=int, default=7)
    chosen, started = parser.read(arguments)
    rows: list[dict[str, Any]] = []
    console = Console()
    for records in chosen.records:
        with Progress(console=console, transient=True) as progress:
            rows.append(measure_list(records, chosen))
            rows += [
                measure_ledger(storage, records, chosen, progress)
                for storage in ("memory", "sqlite file")
            ]
        console.print(as_table(rows[-3:]))
        # After each size, so that an interrupted run keeps what it has.
        path = results.write(
            "ledger",
            config={
                **{name: value for name, value in vars(chosen).items() if name != "seed"},
                "values_per_key": VALUES_PER_KEY,
                "update_batch": UPDATE_BATCH,
                "policy": LifecyclePolicy().describe(),
                "sqlite": sqlite3.sqlite_version,
            },
            results={"paper": PAPER, "rows": rows},
            seed=chosen.seed,
            run=started,
        )
    console.print(f"figures: {results.shown(path)}")


def timed(calls: Sequence[Callable[[], Any]], per_call: int = 1) -> dict[str, float]:
    """Microseconds per operation: median wall time, mean processor time."""
    walls = []
    processor = time.process_time()
    for call in calls:
        begin = time.perf_counter()
        call()
        walls.append(time.perf_counter() - begin)
    processor = time.process_time() - processor
    return {
        "wall_median_us": statistics.median(walls) / per_call * 1e6,
        "cpu_mean_us": processor / len(calls) / per_call * 1e6,
    }


def names(records: int) -> tuple[int, Callable[[int], tuple[str, str]]]:
    """Number of keys, and the key and value of each record in the order of loading."""
    keys = max(1, records // VALUES_PER_KEY)
    each = records // keys
    return keys, lambda number: (f"key {number // each}", f"value {number % each}")


def measure_list(records: int, chosen: argparse.Namespace) -> dict[str, Any]:
    """The append-only baseline: append to a list, scan all of it for a key."""
    keys, record = names(records)
    memory = [record(number) for number in range(records)]
    rng = random.Random(chosen.seed)
    wanted = [f"key {rng.randrange(keys)}" for _ in range(chosen.scans)]
    return {
        "store": "append-only list, scanned",
        "records": records,
        "query": timed([partial(scan, memory, key) for key in wanted]),
        "update_batched": timed(
            [partial(memory.extend, [("key 0", "value")] * UPDATE_BATCH)] * chosen.batches,
            UPDATE_BATCH,
        ),
    }


def scan(memory: list[tuple[str, str]], key: str) -> list[str]:
    return [value for name, value in memory if name == key]


def measure_ledger(
    storage: str, records: int, chosen: argparse.Namespace, progress: Progress
) -> dict[str, Any]:
    """The ledger, filled with as many precedents."""
    step = progress.add_task(f"{storage}: loading {records:,} records", total=records)
    keys, record = names(records)
    rng = random.Random(chosen.seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        url = "sqlite://" if storage == "memory" else f"sqlite:///{path}"
        with PrecedentLedger(url) as ledger:
            begin = time.perf_counter()
            for start in range(0, records, LOAD_BATCH):
                stop = min(records, start + LOAD_BATCH)
                ledger.observe_many((record(n) for n in range(start, stop)), scope=SCOPE)
                progress.advance(step, stop - start)
            loaded = time.perf_counter() - begin
            progress.update(step, description=f"{storage}: queries and updates", total=None)
            wanted = [f"key {rng.randrange(keys)}" for _ in range(chosen.queries)]
            assert len(ledger.active(SCOPE, keys=wanted[0])) == 1
            query = timed([partial(ledger.active, SCOPE, keys=key) for key in wanted])
            restated = [
                [(f"key {rng.randrange(keys)}", "value 0") for _ in range(UPDATE_BATCH)]
                for _ in range(chosen.batches)
            ]
            batched = timed(
                [partial(ledger.observe_many, batch, scope=SCOPE) for batch in restated],
                UPDATE_BATCH,
            )
            single = timed(
                [
                    partial(ledger.observe, key, "value 1", scope=SCOPE)
                    for key in wanted[: chosen.single]
                ]
            )
        row = {
            "store": f"ledger, {storage}",
            "records": records,
            "query": query,
            "update_batched": batched,
            "update_single": single,
            "load_seconds": loaded,
        }
        if storage != "memory":
            progress.update(step, description=f"{storage}: opening the file, which is checked")
            begin = time.perf_counter()
            PrecedentLedger(url).close()
            row["reopen_seconds"] = time.perf_counter() - begin
            row["file_bytes_per_record"] = path.stat().st_size / records
    progress.remove_task(step)
    return row


def as_table(rows: Sequence[dict[str, Any]]) -> Table:
    """The figures for a person to read (wall time)."""
    table = Table(title=f"{rows[0]['records']:,} records")
    for column in ("store", "query us", "us per update, batches of 1,000", "us per single update"):
        table.add_column(column, justify="left" if column == "store" else "right")
    for row in rows:
        figures = [
            f"{row[name]['wall_median_us']:,.2f}" if name in row else "-"
            for name in ("query", "update_batched", "update_single")
        ]
        table.add_row(row["store"], *figures)
    return table
