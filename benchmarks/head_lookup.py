"""Is the current statement shown, although the question's wording matches only the old ones?

A vector index (the bundled encoder, exact cosine) holds the statements of all held-out attributes
of the training corpus, and statements about other things. Of each attribute that changes, it holds
every statement of an earlier state, spread over earlier days, and one statement of the later state,
drawn at random: said plainly, only implied, or announcing the change. The question is the
attribute's own. A retriever shows k records, fetches four times k, at least 20 ("deep") or no more
than k ("shallow", as most chains do), and collects with three judges: none, the bundled model, and
a perfect one, which bounds what any detector can gain. The form of the look-up was chosen on the
split "dev".
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks import options, results
from gcmem import Collector, Memory, load_detector
from gcmem.detectors.base import Calibration, ScoreArray, TextPair
from gcmem.encoder import SentenceEncoder
from gcmem.retrieval import Collect, Compare, Fetch, RetrievalPlan, Retrieved, Step
from gcmem.training.corpus_files import Family, read_families


@dataclass(frozen=True)
class Index:
    """Statements, their vectors, and which of them are outdated or current."""

    memories: list[Memory]
    vectors: Any
    encoder: SentenceEncoder

    def search(self, query: str, limit: int) -> list[Memory]:
        scores = self.vectors @ self.encoder.encode([query])[0]
        return [self.memories[i] for i in np.argsort(-scores, kind="stable")[:limit]]


class PerfectJudge:
    """Knows which statement of which attribute is outdated."""

    name = "perfect"
    threshold = 0.5
    calibration: Calibration | None = None

    def __init__(self, memories: Sequence[Memory]) -> None:
        self.roles = {memory.text: memory.metadata for memory in memories}

    def score(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        del query
        return np.array([self._conflict(*pair) for pair in pairs], dtype=np.float32)

    def _conflict(self, older: str, newer: str) -> bool:
        old, new = self.roles.get(older), self.roles.get(newer)
        return (
            old is not None
            and new is not None
            and (old["role"], new["role"]) == ("old", "new")
            and old["family"] == new["family"]
        )


def build_index(
    families: Sequence[Family],
    encoder: SentenceEncoder,
    random: Random,
    distractors: Sequence[str] = (),
) -> Index:
    """Put the statements of the families into an index, with statements about other things."""
    memories: list[Memory] = []

    def put(text: str, day: int, family: Family, role: str) -> None:
        meta = {"family": family.id, "role": role}
        memories.append(Memory(text, 86_400 * day, id=str(len(memories)), metadata=meta))

    for family in families:
        for text in family.compatible:
            put(text, random.randrange(400), family, "other")
        names = sorted(family.states)
        if family.multi:
            for name in names:
                for text in (*family.states[name][0], *family.states[name][1]):
                    put(text, random.randrange(400), family, "other")
            continue
        old, new = (family.states[name] for name in names[:2])
        for text in (*old[0], *old[1]):
            put(text, random.randrange(300), family, "old")
        announced = family.transitions.get((names[0], names[1]), ())
        current = random.choice((*new[0], *new[1], *announced))
        put(current, 300 + random.randrange(100), family, "new")
    for text in distractors:
        memories.append(
            Memory(
                text,
                86_400 * random.randrange(400),
                id=str(len(memories)),
                metadata={"family": "", "role": "other"},
            )
        )
    return Index(memories, encoder.encode([memory.text for memory in memories]), encoder)


def perform(
    steps: Generator[Step, Any, Retrieved], index: Index, collector: Collector, near: Collector
) -> tuple[Retrieved, int]:
    """Perform the steps of a retrieval; give also how many queries it took.

    The gate of ``near`` decides what is looked up, so that every judge meets the same candidates.
    """
    answer: Any = None
    queries = 0
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as stop:
            return stop.value, queries
        if isinstance(step, Fetch):
            queries += len(step.queries)
            answer = [index.search(query, step.limit or 20) for query in step.queries]
        elif isinstance(step, Compare):
            answer = step.perform(near)
        elif isinstance(step, Collect):
            answer = collector.collect(step.query, step.memories)


def measure(
    plan: RetrievalPlan,
    index: Index,
    families: Sequence[Family],
    collector: Collector,
    near: Collector,
) -> dict[str, float]:
    """Ask every question once."""
    found = shown = stale_only = queries = candidates = 0
    asked = [family for family in families if not family.multi]
    for family in asked:
        retrieved, used = perform(plan.run(family.query), index, collector, near)
        queries += used
        candidates += len(retrieved.candidates)
        roles = [m.metadata["role"] for m in retrieved.memories if _is_of(family, m)]
        found += any(
            _is_of(family, m) and m.metadata["role"] == "new" for m in retrieved.candidates
        )
        shown += "new" in roles
        stale_only += "old" in roles and "new" not in roles
    n = len(asked)
    return {
        "questions": n,
        "current among the candidates": found / n,
        "current shown": shown / n,
        "only outdated shown": stale_only / n,
        "queries": queries / n,
        "candidates": candidates / n,
    }


def _is_of(family: Family, memory: Memory) -> bool:
    return bool(memory.metadata["family"] == family.id)


def main(arguments: list[str]) -> None:
    trials = ("--split dev", "--families", "--distractors", "--repeats", "--k", "--without-model")
    parser = options.Parser("head-lookup", __doc__, trials=trials)
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument(
        "--families", type=options.count(), default=None, help="only so many attributes"
    )
    parser.add_argument("--distractors", type=options.count(least=0), default=4000)
    parser.add_argument("--repeats", type=options.count(), default=3)
    parser.add_argument("--k", type=options.count(), default=5)
    parser.add_argument("--without-model", action="store_true", help="leave the bundled model out")
    parser.add_argument("--seed", type=int, default=7)
    chosen, started = parser.read(arguments)
    every = read_families()
    families = [f for f in every if f.split == chosen.split][: chosen.families]
    others = [text for f in every if f.split == "train" for text in f.statements()]
    if chosen.distractors > len(others):
        parser.error(f"--distractors must be at most {len(others)}, got {chosen.distractors}")
    distractors = Random(chosen.seed).sample(others, chosen.distractors)
    encoder = SentenceEncoder(cache_size=40_000)
    rows: dict[str, list[dict[str, float]]] = {}
    for repeat in track(range(chosen.repeats), description="head-lookup"):
        random = Random(f"{chosen.seed} {repeat}")
        index = build_index(families, encoder, random, distractors)
        near = Collector("explicit")
        perfect = PerfectJudge(index.memories)
        judges = {
            "none": near,
            "perfect": Collector(perfect, gate=False, granularity="chunk"),
        }
        if not chosen.without_model:
            judges["bundled"] = Collector()
        for judge, collector in judges.items():
            for depth, fetch_k in (("shallow", chosen.k), ("deep", None)):
                for on in (False, True):
                    plan = RetrievalPlan(k=chosen.k, fetch_k=fetch_k, head_lookup=on)
                    name = f"{judge}, {depth}, {'with' if on else 'without'}"
                    rows.setdefault(name, []).append(
                        measure(plan, index, families, collector, near)
                    )
    outcome = {
        name: {key: round(sum(row[key] for row in runs) / len(runs), 4) for key in runs[0]}
        for name, runs in rows.items()
    }
    show(outcome)
    config = {
        "detector": "none" if chosen.without_model else load_detector("bundled").name,
        "split": chosen.split,
        "families": len(families),
        "statements": len(index.memories),
        "k": chosen.k,
        "repeats": chosen.repeats,
    }
    path = results.write(
        "head_lookup", config=config, results=outcome, seed=chosen.seed, run=started
    )
    print(f"{config}\nfigures: {results.shown(path)}")


def show(outcome: dict[str, dict[str, float]]) -> None:
    table = Table(title="Questions whose current statement is shown")
    table.add_column("judge, depth, look-up")
    columns = [key for key in next(iter(outcome.values())) if key != "questions"]
    for column in columns:
        table.add_column(column, justify="right")
    for name, figures in outcome.items():
        shares = [f"{figures[c]:.1%}" for c in columns[:3]]
        table.add_row(name, *shares, *(f"{figures[c]:.2f}" for c in columns[3:]))
    Console().print(table)
