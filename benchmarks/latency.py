"""Cost of one collection against judging every pair with the same model in the same process.

A candidate set of k chunks holds one attribute that changed, k/2 : 1 (25:1 at k=50), and
distractors of other attributes; the statements are those of held-out attributes of the training
corpus. Longer chunks are made by adding statements of further attributes. All-pairs scores, with
the same detector and without gate, cache or early stop, every pair that scope and time allow, at
the same granularity. Repeats are interleaved and the medians are compared, so that what else the
machine does meets both alike.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks import results
from gcmem import Collection, Collector, Memory, load_detector
from gcmem.sentences import split_statements
from gcmem.training.corpus_files import read_families

SIZES = (5, 10, 20, 50, 100)
LENGTHS = (12, 40)


def candidate_set(k: int, words: int, random: Random) -> list[Memory]:
    """Give k chunks, oldest first: old : new = k/2 : 1 of one attribute among distractors."""
    families = [f for f in read_families() if f.split != "train"]
    changed = random.choice([f for f in families if not f.multi])
    others = [f for f in families if f is not changed]
    old_state, new_state = sorted(changed.states)[:2]
    old = [text for texts in changed.states[old_state] for text in texts]
    lines = [old[n % len(old)] for n in range(k // 2)]
    lines += [random.choice(random.choice(others).compatible) for _ in range(k - len(lines) - 1)]
    random.shuffle(lines)
    lines.append(random.choice(changed.states[new_state][0]))
    return [
        Memory(_lengthened(line, words, others, random), 86_400 * n, id=str(n))
        for n, line in enumerate(lines)
    ]


def _lengthened(line: str, words: int, others: list[Any], random: Random) -> str:
    text = line if line.endswith((".", "!", "?")) else line + "."
    while len(text.split()) < words:
        more = random.choice(random.choice(others).compatible)
        text += " " + (more if more.endswith((".", "!", "?")) else more + ".")
    return text


def every_pair(memories: list[Memory]) -> list[tuple[str, str]]:
    """Give every pair of statements in which one memory is newer than the other."""
    statements = [[span.text for span in split_statements(m.text)] for m in memories]
    return [
        (older, newer)
        for j in range(len(memories))
        for i in range(j)
        for older in statements[i]
        for newer in statements[j]
    ]


def measure(k: int, words: int, *, repeats: int, seed: int) -> dict[str, Any]:
    """Time both ways on the same candidate sets."""
    detector = load_detector("bundled")
    times: dict[str, list[float]] = {"all pairs": [], "cold": [], "warm": []}
    possible = judged = 0
    for repeat in range(repeats):
        memories = candidate_set(k, words, Random(f"{seed} {k} {words} {repeat}"))
        pairs = every_pair(memories)
        times["all pairs"].append(_timed(partial(detector.score, pairs)))
        collector = Collector(load_detector("bundled"))
        _forget_vectors(collector)
        collections: list[Collection] = []
        collect = partial(_collect_into, collections, collector, memories)
        times["cold"].append(_timed(collect))
        times["warm"].append(statistics.median(_timed(collect) for _ in range(3)))
        possible += collections[0].stats.pairs_possible
        judged += collections[0].stats.pairs_judged
    median = {name: statistics.median(values) for name, values in times.items()}
    return {
        "k": k,
        "words": words,
        "milliseconds": {name: round(1000 * value, 2) for name, value in median.items()},
        "cold is faster by": round(median["all pairs"] / median["cold"], 2),
        "warm is faster by": round(median["all pairs"] / median["warm"], 1),
        "pairs possible": round(possible / repeats, 1),
        "pairs judged": round(judged / repeats, 1),
        "share judged": round(judged / possible, 4),
    }


def _forget_vectors(collector: Collector) -> None:
    """Empty the encoder's memory, so that a cold collection pays for its vectors."""
    encoder = getattr(collector.gate, "encoder", None)
    if encoder is not None:
        encoder.__setstate__(encoder.__getstate__())  # its cache is not part of its state


def _collect_into(
    collections: list[Collection], collector: Collector, memories: list[Memory]
) -> None:
    collections.append(collector.collect("q", memories))


def _timed(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks latency", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--words", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--seed", type=int, default=7)
    chosen = parser.parse_args(arguments)
    load_detector("bundled").score([("warm up", "the model")])
    # With long chunks, all-pairs alone takes minutes beyond k=10.
    grid = [(k, w) for w in chosen.words for k in chosen.sizes if w <= 12 or k <= 10]
    rows = [
        measure(k, words, repeats=chosen.repeats, seed=chosen.seed)
        for k, words in track(grid, description="latency")
    ]
    table = Table(title="One collection against judging every pair with the same model")
    for column in (
        "k",
        "words",
        "all pairs ms",
        "cold ms",
        "warm ms",
        "cold x",
        "warm x",
        "judged",
    ):
        table.add_column(column, justify="right")
    for row in rows:
        cost = row["milliseconds"]
        table.add_row(
            str(row["k"]),
            str(row["words"]),
            *(f"{cost[name]:.1f}" for name in ("all pairs", "cold", "warm")),
            f"{row['cold is faster by']:.1f}",
            f"{row['warm is faster by']:.0f}",
            f"{row['pairs judged']}/{row['pairs possible']} ({row['share judged']:.0%})",
        )
    Console().print(table)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of the process: {peak:.0f} MiB")
    config = {"repeats": chosen.repeats, "detector": load_detector("bundled").name}
    path = results.write(
        "latency", config=config, results={"rows": rows, "peak MiB": peak}, seed=chosen.seed
    )
    print(f"figures: {path.relative_to(path.parents[2])}")
