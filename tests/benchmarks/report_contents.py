"""Small files of results, one for every experiment, in the form that the experiments write."""

from __future__ import annotations

import copy
from typing import Any

from benchmarks.fact_searches import METHODS
from benchmarks.fact_tally import Tally
from benchmarks.mutation.reading import summary
from benchmarks.report.tables import TABLES

_CONFIG = {
    "detector": "bundled-test",
    "threshold": 0.54,
    "judges": {"bundled": "bundled-test"},
    "k": 10,
    "fetch_k": 40,
}
_MEASURED = {
    "CR-Acc": 0.25,
    "CR-Acc, allow-unclear": 0.2,
    "CR-Acc, first": 0.5,
    "recall new": 1.0,
    "removed": 3.0,
    "stale removed": 2.0,
    "new removed": 0.5,
}


def contents() -> dict[str, dict[str, Any]]:
    """Give a file of every experiment."""
    bare = {
        "field": _field(),
        "streams": [_stream(0.3, 0.26, 0.10), _stream(0.54, 0.33, 0.06), _stream(0.8, 0.48, 0.01)],
        "detectors": _detectors(),
        "temporal_mutation": _mutation(),
        "bag_of_facts": _mutation(),
        "theory": _theory(),
        "factconsolidation": _facts(),
        "head_lookup": {
            f"{judge}, {depth}, {look_up}": {
                "current shown": 0.5,
                "only outdated shown": 0.25,
                "queries": 2.0,
            }
            for judge in ("none", "bundled", "perfect")
            for depth in ("shallow", "deep")
            for look_up in ("without", "with")
        },
        "history": {
            f"{name}, {split}": {
                "past": 60,
                "recall": 0.9,
                "lookalikes": 60,
                "lookalikes left alone": 1.0,
            }
            for name in ("gcmem.history", "keywords")
            for split in ("dev", "test")
        },
        "drift": _drift(),
        "latency": _latency(),
        "peers": _peers(),
        "peers_llm": _peers(),
        "trial_chat_memory": _chat_memory(),
        "detector_speed": _speed(),
    }
    made = {name: {"config": copy.deepcopy(_CONFIG), "results": bare[name]} for name in bare}
    made["drift"]["config"] |= {"seeds": 2, "methods": list(_DRIFT_METHODS)}
    made["head_lookup"]["config"] |= {"families": 100, "statements": 5000}
    made["latency"]["config"] |= {"repeats": 3}
    made["peers"]["config"]["LLM"] = None
    made["peers_llm"]["config"]["LLM"] = "small-model"
    made["trial_chat_memory"]["config"] |= {"model": "small-model", "turns": 10}
    made["detector_speed"]["config"] |= {"pairs": 2_000, "repeats": 3}
    made["ledger"] = _ledger()
    return {name: made[name] for name in TABLES}


def _field() -> dict[str, Any]:
    def counted(passed: int, kept: int, dropped: int) -> dict[str, Any]:
        total = {"cases": 10, "passed": passed, "needed": 20, "needed_kept": kept}
        total |= {"stale": 10, "stale_dropped": dropped}
        kinds = {"moved": total | {"passed": 10}, "rename": total | {"cases": 2, "passed": 1}}
        return {"total": total, "kinds": kinds, "failed": ["F01"]}

    return {
        "keep everything": counted(3, 20, 0),
        "newest only": counted(4, 9, 10),
        "gcmem (bundled)": counted(9, 19, 8),
    }


def _stream(threshold: float, stale: float, true: float) -> dict[str, Any]:
    row = {"threshold": threshold, "stale exposure": stale, "over-deletion": true}
    return row | {"share judged": 0.2, "stale": 200, "needed": 900}


def _detectors() -> dict[str, Any]:
    pairs = {"pair precision": 0.9, "pair recall": 0.3, "pairs": 300}
    row = {"removal precision": None, "removal recall": 0.4, "CR-Acc": 0.2, "CR-Acc, 95 %": [0, 1]}
    curve = [
        {"recall": recall, "CR-Acc": recall, "removed": 1.0}
        for recall in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
    ]
    figures = {
        "detectors": {"standard": row, "bundled": row | pairs, "oracle": row | pairs},
        "degraded": {"STM on": curve, "bag of facts": curve},
    }
    return {"sets": {}, "figures": {"medium, behaviour": figures}}


def _mutation() -> dict[str, Any]:
    row = summary([_MEASURED, _MEASURED], [_MEASURED, _MEASURED])
    names = ["standard", "timestamp re-rank", "time decay", "GC-Mem, explicit", "GC-Mem, bundled"]
    names += ["GC-Mem, bundled, whole chunks", "GC-Mem, oracle", "multi-factor"]
    found = {name: {"all": row} for name in names}
    sets = {"instances": 2, "chunks": 80, "leakage": {"a word": 0.01}}
    return {
        "sets": {"medium, behaviour": sets},
        "methods": {"medium, behaviour": {"STM on": found, "STM off": found}},
    }


def _theory() -> dict[str, Any]:
    names = ("bound", "random", "no distractors", "distractors", "distractors, STM")
    shares = ("mass, theorem", "mass, softmax", "accuracy, majority")
    return {
        "theorem 1": [{"ratio": "1:1", **dict.fromkeys(names, 0.5)}],
        "theorem 2": [{"stale": 1, "contexts": 9, **dict.fromkeys(shares, 0.5)}],
    }


def _facts() -> list[dict[str, Any]]:
    rows = []
    for hops in ("single", "multi"):
        for length in ("6k", "32k"):
            for place, method in enumerate(METHODS):
                figures = Tally(hops, []).figures()
                figures["exact match"] = {"share": 0.3 + 0.1 * place, "of": 100}
                about = {"length": length, "hops": hops, "method": method, "questions": 100}
                rows.append({**about, **figures})
    return rows


_DRIFT_METHODS = (
    "no memory",
    "append-only",
    "last write wins",
    "reactive",
    "oracle reset",
    "no revocation",
    "TEPA-Rev",
    "TEPA-Full",
    "gcmem",
)


def _drift() -> dict[str, Any]:
    figures = {"methods": {name: {"reversal": {"success": 0.5}} for name in _DRIFT_METHODS}}
    figures["tests in the reversal"] = [{"claim": "TEPA-Rev > reactive", "p, Holm": 0.5}]
    evidence = [
        {"method": name, "corrections reach": reach, "reversal": 0.4}
        for reach in ("everyone", "nobody")
        for name in _DRIFT_METHODS
    ]
    names = ("controlled", "executable", "preference")
    settings = {name: copy.deepcopy(figures) for name in names}
    return {"settings": settings, "sweeps": {"evidence": evidence}}


def _latency() -> dict[str, Any]:
    rows = [
        {
            "k": k,
            "words": words,
            "milliseconds": {"all pairs": 9.0 * k * k, "cold": 9.0 * k, "warm": 0.1 * k},
            "extrapolated": ["all pairs"] if k == 50 else [],
            "cold is faster by": k,
            "warm is faster by": 90 * k,
            "share judged": 0.2,
            "peak MiB over bare import": 400.0,
        }
        for words in (12, 40, 150)
        for k in (5, 10, 50)
    ]
    return {"rows": rows}


def _peers() -> dict[str, Any]:
    def read(passed: int, stale: int, needed: int) -> dict[str, Any]:
        shown = {"passed": passed, "stale": 10, "stale shown": stale, "needed": 20}
        return shown | {"needed removed": needed, "not passed": []}

    def tool(readings: dict[str, Any], errors: dict[str, str]) -> dict[str, Any]:
        counts = {"LLM calls": 3}
        taken = {"items": 10, "counts": counts, "errors": errors, "times gcmem": 0.5}
        return {"readings": readings, **taken}

    field = {
        "gcmem": tool({"": read(9, 2, 1)}, {}),
        "keep everything": tool({"": read(3, 10, 0)}, {}),
        "inert": tool({"": read(3, 10, 0)}, {"F02": "KeyError"}),
        "two-ways": tool({"strict": read(4, 6, 1), "loose": read(2, 3, 9)}, {}),
    }
    words = {"given": "time", "cannot express": "scope", "versions": {}}
    return {
        "tools": dict.fromkeys(field, words),
        "not run": {"absent": "it needs an LLM (--llm-url)"},
        "field": field,
        "streams": {name: field[name] for name in ("gcmem", "keep everything")},
    }


def _chat_memory() -> dict[str, Any]:
    summary = {
        "turns": 10,
        "prompts with exactly what is true": 9,
        "true statements due": 22,
        "true statements shown": 21,
        "statements not true, shown": 0,
        "questions": 2,
        "answers right": 1,
        "seconds": 73.5,
    }
    memories = ("LangChain agent, ModelExtractor", "LlamaIndex block, ConflictExtractor")
    return {memory: {"summary": dict(summary)} for memory in memories}


def _speed() -> dict[str, Any]:
    rates = {"detector pairs per second": 150.0, "onnxruntime pairs per second": 200.0}
    return {"ratio": 0.7, "ratios": [0.7, 0.6, 0.9], "aim": 0.8, **rates}


def _ledger() -> dict[str, Any]:
    def cost(microseconds: float) -> dict[str, float]:
        return {"wall_median_us": microseconds, "cpu_mean_us": microseconds}

    stores = ("append-only list, scanned", "ledger, memory", "ledger, sqlite file")
    rows = []
    for records in (1_000, 100_000, 1_000_000):
        for store in stores:
            scanned = store.startswith("append")
            row = {"store": store, "records": records, "update_batched": cost(2.0)}
            row["query"] = cost(records / 100 if scanned else 4.0)
            rows.append(row if scanned else row | {"update_single": cost(90.0)})
    paper = {"records": 1_000_000, "append_query_us": 4006, "query_us": 0.301}
    return {
        "config": {"update_batch": 1_000},
        "results": {"paper": paper | {"update_ms_per_1000": 0.513}, "rows": rows},
    }
