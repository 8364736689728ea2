"""The field cases: what users of memory systems reported, as small inputs with the right output.

Every method sees the same memories. A case passes when all that must be kept is kept and all that
must be dropped is dropped. Application settings are those an integrator would make once, for every
case: tenants by ``user_id``, ties by ``seq``, the user above the assistant; and one case ships a
key in its metadata that only its own application can name (``meter``).
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import options, results
from gcmem import Collector, Memory
from gcmem.mapping import MetadataMapping

Case = dict[str, Any]
Method = Callable[[Case, list[Memory]], set[str]]

_AUTHORITY = {"user": 1.0, "assistant": 0.0}
_AS_OF = re.compile(r"\b(?:as_of|now)=(\d{4}-\d{2}-\d{2})")
_OWN_SLOTS = {"F79": "meter"}


def read_cases(*, kind: str = "text") -> list[Case]:
    """Read the cases: "text" for those about statements, "api" for those about interfaces."""
    lines = results.shared_file("field_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines if line.strip()]
    return [case for case in cases if case["id"].startswith("A") == (kind == "api")]


def memories_of(case: Case) -> list[Memory]:
    """Read a case's memories as an adapter would."""
    mapping = MetadataMapping(scope_keys=("user_id",), slot_key=_OWN_SLOTS.get(case["id"]))
    memories = []
    for row in case["memories"]:
        metadata = {**row.get("meta", {}), "created_at": row["ts"]}
        if metadata.get("source") in _AUTHORITY:
            metadata["authority"] = _AUTHORITY[metadata["source"]]
        memories.append(
            mapping.memory(row["text"], metadata, id=row["id"], relevance=metadata.get("score"))
        )
    return memories


def as_of(case: Case) -> str | None:
    """The time of reading, where the case gives one."""
    found = _AS_OF.search(case["note"])
    return found.group(1) if found else None


def gcmem_method(collector: Collector) -> Method:
    def method(case: Case, memories: list[Memory]) -> set[str]:
        collection = collector.collect(case["query"], memories, as_of=as_of(case), history="auto")
        return {memory.id for memory in collection.kept}

    return method


def keep_everything(case: Case, memories: list[Memory]) -> set[str]:
    return {memory.id for memory in memories}


def newest_only(case: Case, memories: list[Memory]) -> set[str]:
    oldest = datetime.min.replace(tzinfo=UTC)
    return {max(memories, key=lambda memory: memory.timestamp or oldest).id}


def embedding_recency(cutoff: float = 0.7) -> Method:
    """Newest first, drop what is too similar to something newer (index bug of others corrected)."""
    from gcmem.encoder import SentenceEncoder

    encoder = SentenceEncoder()

    def method(case: Case, memories: list[Memory]) -> set[str]:
        oldest = datetime.min.replace(tzinfo=UTC)
        ordered = sorted(memories, key=lambda m: m.timestamp or oldest, reverse=True)
        vectors = np.asarray(encoder.encode([memory.text for memory in ordered]))
        kept: list[int] = []
        for position in range(len(ordered)):
            if all(float(vectors[position] @ vectors[other]) <= cutoff for other in kept):
                kept.append(position)
        return {ordered[position].id for position in kept}

    return method


def judge(case: Case, kept: set[str]) -> dict[str, int]:
    """Count what one method did with one case."""
    must_keep, must_drop = set(case["must_keep"]), set(case["must_drop"])
    return {
        "passed": int(must_keep <= kept and not must_drop & kept),
        "needed": len(must_keep),
        "needed_kept": len(must_keep & kept),
        "stale": len(must_drop),
        "stale_dropped": len(must_drop - kept),
    }


def run(methods: dict[str, Method], cases: list[Case]) -> dict[str, Any]:
    outcome: dict[str, Any] = {}
    for name, method in methods.items():
        by_case = {case["id"]: judge(case, method(case, memories_of(case))) for case in cases}
        kinds: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for case in cases:
            kinds[case["kind"]]["cases"] += 1
            for key, value in by_case[case["id"]].items():
                kinds[case["kind"]][key] += value
        total: dict[str, int] = defaultdict(int)
        for counts in kinds.values():
            for key, value in counts.items():
                total[key] += value
        failed = [id for id, counts in by_case.items() if not counts["passed"]]
        outcome[name] = {"total": total, "kinds": kinds, "failed": failed}
    return outcome


def show(outcome: dict[str, Any], *, kinds_of: str) -> None:
    console = Console()
    table = Table(
        title="Field cases", caption="stale dropped: recall; needed kept: 1 - over-deletion"
    )
    for column in ("method", "pass", "stale dropped", "needed kept"):
        table.add_column(column, justify="left" if column == "method" else "right")
    for name, result in outcome.items():
        table.add_row(name, *_shares(result["total"]))
    console.print(table)
    table = Table(title=f"{kinds_of}, per kind")
    for column in ("kind", "pass", "stale dropped", "needed kept"):
        table.add_column(column, justify="left" if column == "kind" else "right")
    for kind, counts in sorted(outcome[kinds_of]["kinds"].items()):
        table.add_row(kind, *_shares(counts))
    console.print(table)
    console.print(f"not passed by {kinds_of}: {' '.join(outcome[kinds_of]['failed']) or 'none'}")


def _shares(counts: dict[str, int]) -> list[str]:
    return [
        f"{counts['passed']}/{counts['cases']}",
        f"{counts['stale_dropped']}/{counts['stale']}",
        f"{counts['needed_kept']}/{counts['needed']}",
    ]


def main(arguments: list[str]) -> None:
    parser = options.Parser("field", __doc__, trials=("--detector", "--threshold"))
    parser.add_argument(
        "--detector", default="bundled", help="name for load_detector; another needs --output"
    )
    parser.add_argument(
        "--threshold", type=options.threshold, default=None, help="needs --output as well"
    )
    chosen, started = parser.read(arguments)
    as_published = chosen.detector == "bundled" and chosen.threshold is None
    detector = parser.detector("--detector", chosen.detector)
    cases = read_cases()
    collector = Collector(detector, threshold=chosen.threshold, tie_breaker="seq")
    ours = f"gcmem ({chosen.detector})"
    methods = {
        "keep everything": keep_everything,
        "newest only": newest_only,
        "embedding recency, cosine 0.7": embedding_recency(),
        "explicit rules only": gcmem_method(Collector("explicit", tie_breaker="seq")),
        ours: gcmem_method(collector),
    }
    outcome = run(methods, cases)
    show(outcome, kinds_of=ours)
    if not as_published and started.output is None:
        print("no figures written: another detector or threshold than published needs --output")
        return
    config = {"detector": collector.detector.name, "threshold": collector.threshold}
    path = results.write("field", config=config, results=outcome, run=started)
    print(f"figures: {results.shown(path)}")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
