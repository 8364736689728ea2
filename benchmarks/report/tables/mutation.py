"""Tables of GC-Mem's experiments: temporal mutation, bag of facts, detectors, theorems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from benchmarks.report.markdown import percent, points, span, table
from benchmarks.report.tables.language_reader import language_reader

_BASELINES: Final = ("standard", "timestamp re-rank", "time decay")
_ORACLE: Final = "GC-Mem, oracle"
BUNDLED: Final = "GC-Mem, bundled"
_RECALLS: Final = (0.0, 0.3, 0.5, 0.7, 0.9, 1.0)
_CONDITIONS: Final = {
    "STM on": "with short-term memory",
    "STM off": "without short-term memory",
    "bag of facts": "all that was said",
}


def in_words(condition: str) -> str:
    """Say what a context holds, for a reader who has not seen the tables."""
    return _CONDITIONS[condition]


def temporal_mutation(content: dict[str, Any]) -> str:
    """The methods on every set and condition, and the ablation on the last set."""
    judged = list(_judged(content))
    methods = [*_BASELINES, *_detectors(judged[0][2]), _ORACLE]
    rows = []
    for title, condition, found in judged:
        every = {method: found[method]["all"] for method in methods}
        ours = found[BUNDLED]["all"]
        rows.append(
            [
                f"{title}, {condition}",
                percent(every["standard"]["recall new"], 0),
                *(
                    f"{percent(e['CR-Acc'], 0)}, {percent(e['CR-Acc, first'], 0)}"
                    for e in every.values()
                ),
                points(ours["delta"], ours["delta, 95 %"]),
                f"{ours['removed']:.1f}, {every[_ORACLE]['removed']:.1f}",
            ]
        )
    columns = [
        "set, R_k",
        "new in R_k",
        *methods,
        "gain, bundled",
        "removed: bundled, oracle",
    ]
    contexts = {
        f"{title}, {condition}": {method: groups["all"] for method, groups in found.items()}
        for title, condition, found in judged
    }
    return (
        f"{_about(content)}\n\n{table(columns, rows)}\n{_ablation(judged)}"
        f"{language_reader(contexts, content['config'])}"
    )


bag_of_facts = temporal_mutation


def _judged(content: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for title, conditions in content["results"]["methods"].items():
        for condition, found in conditions.items():
            yield title, condition, found


def _detectors(found: dict[str, Any]) -> list[str]:
    """The detectors, without their variants and the one that reads metadata (there is none)."""
    names = [name for name in found if name.startswith("GC-Mem, ") and name.count(",") == 1]
    return [name for name in names if name not in {_ORACLE, "GC-Mem, explicit"}]


def _about(content: dict[str, Any]) -> str:
    sets, config = content["results"]["sets"], content["config"]
    held = "; ".join(
        f"{title}: {found['instances']} instances, {found['chunks']} chunks, "
        f"{percent(found['leakage']['a word'])} of the statements name a word of their state"
        for title, found in sets.items()
    )
    return (
        f"Detector {config['judges']['bundled']}{_asked(content)}. {held}. Two answers are read "
        "from each context: the state that most chunks speak for, and that of the first chunk; "
        "the share of right ones is given for both, in this order. Gain: of the first answer "
        "against standard, in points, with its 95 % interval. The file also holds each ratio, "
        "chains, flips and recalls."
    )


def _asked(content: dict[str, Any]) -> str:
    """Say what the detectors that ask a language model took, where the run had them."""
    spent = content["results"].get("LLM as judge", {})
    return "".join(
        f"; {name}: {content['config']['llm_model']}, {found['calls']:,} calls"
        for name, found in spent.items()
    )


def _ablation(judged: list[tuple[str, str, dict[str, Any]]]) -> str:
    title, condition, found = judged[0]
    names = [_ORACLE, *(name for name in found if name.startswith("multi-factor"))]
    rows = []
    for name in names:
        row = found[name]["all"]
        rows.append(
            [
                "newest (GC-Mem)" if name == _ORACLE else name,
                f"{percent(row['CR-Acc'])} ({span(row['CR-Acc, 95 %'])})",
                f"{row['stale removed']:.1f}",
                f"{row['new removed']:.2f}",
            ]
        )
    columns = ["what dominates, with perfect conflicts", "right", "stale removed", "new removed"]
    return f"What may decide who wins ({title}, {condition}):\n\n{table(columns, rows)}"


def detectors(content: dict[str, Any]) -> str:
    """Precision and recall of every detector, and accuracy as recall is degraded."""
    figures = content["results"]["figures"]
    rows = []
    for title, found in figures.items():
        for name, row in found["detectors"].items():
            if "pair recall" in row:  # neither the baseline nor a variant of another
                names = ("pair precision", "pair recall", "removal precision", "removal recall")
                shares = (percent(row[column]) for column in (*names, "CR-Acc"))
                rows.append([f"{title}: {name}", *shares])
    curves = []
    for title, found in figures.items():
        for condition, curve in found["degraded"].items():
            at = {point["recall"]: point["CR-Acc"] for point in curve}
            shares = (percent(at[recall], 0) for recall in _RECALLS)
            curves.append([f"{title}, {condition}", *shares])
    columns = [
        "set: detector",
        "pair precision",
        "pair recall",
        "removal precision",
        "removal recall",
        "right",
    ]
    read = {f"{title}, STM on": found["detectors"] for title, found in figures.items()}
    degraded = ["right, if the oracle finds", *(percent(recall, 0) for recall in _RECALLS)]
    return (
        f"Bundled: {content['config']['judges']['bundled']}{_asked(content)}. The file also holds "
        "whole chunks instead of sentences, intervals, and more steps of recall.\n\n"
        f"{table(columns, rows)}\n{table(degraded, curves)}"
        f"{language_reader(read, content['config'])}"
    )


def theory(content: dict[str, Any]) -> str:
    """What both theorems say, and what is measured."""
    first, second = content["results"]["theorem 1"], content["results"]["theorem 2"]
    names = ("bound", "random", "no distractors", "distractors", "distractors, STM")
    one = [[row["ratio"], *(f"{row[name]:.2f}" for name in names)] for row in first]
    shares = ("mass, theorem", "mass, softmax", "accuracy, majority")
    two = [
        [str(row["stale"]), str(row["contexts"]), *(f"{row[name]:.2f}" for name in shares)]
        for row in second
    ]
    return (
        f"Theorem 1: new chunks among the {content['config']['k']} retrieved, per ratio of old to "
        "new; the file also holds intervals.\n\n"
        f"{table(['old : new', 'bound', 'random draw', *names[2:]], one)}\n"
        "Theorem 2: share of the attention on stale chunks beside one valid one.\n\n"
        f"{table(['stale chunks', 'contexts', *shares], two)}"
    )
