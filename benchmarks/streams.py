"""Long interleaved streams: stale exposure and over-deletion over the threshold.

Each stream interleaves statements of several held-out groups of the training corpus (of attributes
that the model never saw): the statement that will become stale, said two or three times in other
words where the group has them, what supersedes it, and everything that must survive: other
entities, other attributes, history, plans, questions, multi-valued additions. Paraphrases of the
new state are left out. One collection reads the whole stream. Stale exposure is the share of stale
statements that are still shown; over-deletion the share of statements that should stay and do not,
"by another topic" that of them which a statement of another group removed.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import options, results
from gcmem import Collector, Memory, load_detector
from gcmem.training.corpus_files import Group, read_groups


@dataclass(frozen=True)
class Stream:
    """Memories, oldest first, which of them are stale at the end, and the group of each."""

    memories: list[Memory]
    stale: set[str]
    topic: dict[str, str]


def make_streams(split: str, *, count: int, groups_each: int, seed: int) -> list[Stream]:
    """Interleave held-out groups; a group in two streams is changed in a different way."""
    random = Random(f"{split} {seed}")
    usable = [g for g in read_groups() if g.split == split and _labelled(g, "supersedes")]
    streams = []
    for number in range(count):
        chosen = random.sample(usable, min(groups_each, len(usable)))
        lines: list[tuple[float, str, bool, str]] = []
        for group in chosen:
            change = random.choice(_labelled(group, "supersedes"))
            older = [group.older, *_labelled(group, "supports", kinds={"paraphrase"})[:2]]
            lines += [(random.uniform(0, 0.8), text, True, group.id) for text in older]
            lines.append((random.uniform(0.85, 1.0), change, False, group.id))
            lines += [
                (random.random(), text, False, group.id) for text in _labelled(group, "neither")
            ]
        lines.sort()
        memories = [
            Memory(text, 3_600 * place, id=f"{number}-{place}")
            for place, (_, text, _, _) in enumerate(lines)
        ]
        pairs = list(zip(memories, lines, strict=True))
        stale = {memory.id for memory, (_, _, is_stale, _) in pairs if is_stale}
        topic = {memory.id: group_id for memory, (_, _, _, group_id) in pairs}
        streams.append(Stream(memories, stale, topic))
    return streams


def _labelled(group: Group, label: str, *, kinds: set[str] | None = None) -> list[str]:
    return [
        text
        for text, given, kind in group.newer
        if given == label and (kinds is None or kind in kinds)
    ]


def measure(streams: list[Stream], collector: Collector) -> dict[str, Any]:
    """Collect every stream once."""
    shown = stale = lost = needed = judged = possible = by_others = 0
    for stream in streams:
        collection = collector.collect("", stream.memories)
        kept = {memory.id for memory in collection.kept}
        shown += len(stream.stale & kept)
        stale += len(stream.stale)
        must_stay = {memory.id for memory in stream.memories} - stream.stale
        lost += len(must_stay - kept)
        by_others += sum(
            shadow.memory.id in must_stay
            and shadow.by is not None
            and stream.topic[shadow.by.id] != stream.topic[shadow.memory.id]
            for shadow in collection.shadowed
        )
        needed += len(must_stay)
        judged += collection.stats.pairs_judged + collection.stats.cache_hits
        possible += collection.stats.pairs_possible
    return {
        "threshold": round(collector.threshold, 4),
        "stale exposure": round(shown / stale, 4),
        "over-deletion": round(lost / needed, 4),
        "by another topic": round(by_others / needed, 4),
        "share judged": round(judged / possible, 4),
        "stale": stale,
        "needed": needed,
    }


def main(arguments: list[str]) -> None:
    trials = ("--split dev", "--count", "--groups", "--no-gate")
    parser = options.Parser("streams", __doc__, trials=trials)
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--count", type=options.count(), default=20, help="streams")
    parser.add_argument("--groups", type=options.count(), default=8, help="in each stream")
    parser.add_argument("--thresholds", type=options.threshold, nargs="*", default=[])
    parser.add_argument("--no-gate", action="store_true")
    parser.add_argument("--seed", type=int, default=5)
    chosen, started = parser.read(arguments)
    streams = make_streams(
        chosen.split, count=chosen.count, groups_each=chosen.groups, seed=chosen.seed
    )
    detector = load_detector("bundled")
    base = Collector(detector)  # one cache for all thresholds: verdicts do not depend on them
    rows = [
        measure(
            streams,
            Collector(
                detector,
                threshold=threshold,
                cache=base.cache,
                gate=False if chosen.no_gate else None,
            ),
        )
        for threshold in sorted({*chosen.thresholds, detector.threshold})
    ]
    table = Table(title=f"{len(streams)} streams of held-out attributes ({chosen.split})")
    figures = ("stale exposure", "over-deletion", "by another topic", "share judged")
    for column in ("threshold", *figures):
        table.add_column(column, justify="right")
    for row in rows:
        shares = [f"{row[name]:.1%}" for name in figures]
        table.add_row(f"{row['threshold']:.3f}", *shares)
    Console().print(table)
    path = results.write(
        "streams",
        config={
            "split": chosen.split,
            "streams": len(streams),
            "groups": chosen.groups,
            "detector": detector.name,
            "threshold": detector.threshold,
            "gate": not chosen.no_gate,
        },
        results=rows,
        seed=chosen.seed,
        run=started,
    )
    print(f"figures: {results.shown(path)}")
