"""Runs methods over instances under conditions, and the options that the commands share."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from rich.progress import track

from benchmarks import results
from benchmarks.mutation.candidates import Candidates, Store, new_client
from benchmarks.mutation.instances import DISTRACTORS, SIZES, Instance, make_instances
from benchmarks.mutation.language_reader import LanguageReader
from benchmarks.mutation.methods import Method
from benchmarks.mutation.reading import measure, summary
from gcmem import Collector, load_detector
from gcmem.detectors import SQLiteVerdictCache
from gcmem.detectors.cache import MemoryVerdictCache
from langchain_gcmem.embeddings import BundledEmbeddings

Row = dict[str, float]


@dataclass(frozen=True, slots=True)
class Condition:
    """How R_k is made: top k (None: everything), united with the newest chunks (None: not)."""

    name: str
    k: int | None
    recent: int | None = None


@cache
def _embeddings() -> BundledEmbeddings:
    return BundledEmbeddings()


def freeze(
    instances: Sequence[Instance], conditions: Sequence[Condition], *, title: str
) -> dict[str, list[Candidates]]:
    """Retrieve once for every instance and condition."""
    embeddings, client = _embeddings(), new_client()
    frozen: dict[str, list[Candidates]] = defaultdict(list)
    for instance in track(instances, description=f"{title}: retrieval"):
        store = Store(instance, embeddings, client)
        for condition in conditions:
            found = store.candidates(k=condition.k, recent=condition.recent)
            frozen[condition.name].append(found)
        store.forget()
    return frozen


def run(
    frozen: Sequence[Candidates], methods: Mapping[str, Method], *, title: str
) -> dict[str, list[Row]]:
    """Give one row of measures for every method and instance."""
    rows: dict[str, list[Row]] = {name: [] for name in methods}
    for candidates in track(frozen, description=title):
        for name, method in methods.items():
            rows[name].append(measure(candidates, method(candidates)))
    return rows


def summaries(frozen: Sequence[Candidates], rows: Mapping[str, list[Row]]) -> dict[str, Any]:
    """Summaries of every method: over all instances, by ratio and by kind of change."""
    groups: dict[str, list[int]] = {"all": list(range(len(frozen)))}
    for index, candidates in enumerate(frozen):
        n, m = candidates.instance.ratio
        groups.setdefault(f"{n}:{m}", []).append(index)
        groups.setdefault(candidates.instance.kind, []).append(index)
    return {
        method: {
            group: summary([found[i] for i in members], [rows["standard"][i] for i in members])
            for group, members in groups.items()
        }
        for method, found in rows.items()
    }


def collectors(
    names: Sequence[str], *, verdicts: str | None = None, ungated: bool = False
) -> dict[str, Collector]:
    """Collectors by detector; those of one detector share their verdicts.

    Errors of a detector are counted, not raised. A model also runs as the paper's Phi_T to the
    letter (whole chunks, dropped) and, where wanted, without its gate.

    Args:
        names: For `load_detector`.
        verdicts: File that keeps verdicts between runs, or None.
        ungated: Whether to add the variant without a gate.
    """
    cache = MemoryVerdictCache() if verdicts is None else SQLiteVerdictCache(verdicts)
    made: dict[str, Collector] = {}
    for name in names:
        detector = load_detector(name)
        made[name] = Collector(detector, cache=cache, on_error="keep")
        if name != "explicit":
            made[f"{name}, whole chunks"] = Collector(
                detector, granularity="chunk", on_conflict="drop", cache=cache, on_error="keep"
            )
            if ungated:
                made[f"{name}, no gate"] = Collector(
                    detector, gate=False, cache=cache, on_error="keep"
                )
    return made


def parser(name: str, purpose: str | None) -> argparse.ArgumentParser:
    """The options that all commands of this family have."""
    made = argparse.ArgumentParser(
        prog=f"python -m benchmarks {name}",
        description=purpose,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--sizes", nargs="+", choices=tuple(SIZES), default=["medium"])
    made.add_argument("--instances", type=int, help="only so many of each set")
    made.add_argument("--wordings", nargs="+", choices=("behaviour", "said"), default=["behaviour"])
    made.add_argument("--detectors", nargs="+", default=["explicit", "bundled"])
    made.add_argument("--distractors", type=int, default=DISTRACTORS)
    made.add_argument("--k", type=int, default=10)
    made.add_argument("--recent", type=int, default=10, help="chunks in short-term memory")
    made.add_argument("--verdicts", help="file that keeps verdicts between runs; times are warm")
    made.add_argument("--seed", type=int, default=11)
    return made


def sets(chosen: argparse.Namespace) -> dict[str, list[Instance]]:
    """The chosen sets of instances."""
    return {
        f"{size}, {wording}": make_instances(
            SIZES[size] if chosen.instances is None else min(chosen.instances, SIZES[size]),
            wording=wording,
            distractors=chosen.distractors,
            seed=f"{size} {chosen.seed}",
        )
        for wording in chosen.wordings
        for size in chosen.sizes
    }


def config(chosen: argparse.Namespace) -> dict[str, Any]:
    """What to write down of the options; those of a language model only where one reads."""
    left_out = {"seed", "verdicts", "llm_url", "llm_answers", "llm_default_methods"}
    reads = getattr(chosen, "llm_model", None) is not None
    return {
        name: value
        for name, value in vars(chosen).items()
        if name not in left_out and (reads or not name.startswith("llm_"))
    }


def write(
    name: str,
    chosen: argparse.Namespace,
    *,
    judges: Mapping[str, Collector],
    figures: Mapping[str, Any],
    reader: LanguageReader | None,
    **further: Any,
) -> None:
    """Write what came out, with the options and the detectors that it came from.

    Args:
        name: Of the experiment, and of its file.
        chosen: The options.
        judges: The detectors, by the name that the figures call them.
        figures: What came out.
        reader: The language model that read along, if one did; what it cost is written too.
        further: Settings that are no options.
    """
    used = {key: judge.detector.name for key, judge in judges.items()}
    path = results.write(
        name,
        config={**config(chosen), **further, "judges": used},
        results={**figures, **({} if reader is None else {"LLM": reader.costs()})},
        seed=chosen.seed,
    )
    print(f"figures: {path.name}")
