"""Where the experiments of both papers came out otherwise."""

from __future__ import annotations

from typing import Final

from benchmarks.drift.report import PAPER as DRIFT_PAPER
from benchmarks.report.markdown import percent, points
from benchmarks.report.reading import Content
from benchmarks.report.tables.drift import told_of_corrections
from benchmarks.report.tables.mutation import BUNDLED, in_words

_USEFUL_RECALL: Final = 0.5
_PAPER_GAIN: Final = 0.424
_SIGNIFICANT: Final = 0.05
_NEAR: Final = 0.015
_STEPS: Final = (0.3, 0.5, 0.7, 0.9)


def behaviour(content: Content) -> str | None:
    rows = {
        title: found["detectors"]["bundled"]["removal recall"]
        for title, found in content["results"]["figures"].items()
    }
    if min(rows.values()) >= _USEFUL_RECALL:
        return None
    found = ", ".join(f"{percent(recall, 0)} ({title})" for title, recall in rows.items())
    return (
        "**States that are only shown (behaviour), not said, are rarely found.** Of the stale "
        f"statements of held-out attributes the bundled model removes {found}; the GC-Mem paper "
        f"advises against anything that finds less than {percent(_USEFUL_RECALL, 0)}."
    )


def bag_of_facts(content: Content) -> str | None:
    title, conditions = list(content["results"]["methods"].items())[-1]
    found = next(iter(conditions.values()))
    ours, oracle = found[BUNDLED]["all"], found["GC-Mem, oracle"]["all"]
    if ours["delta"] >= _PAPER_GAIN:
        return None
    return (
        f"**A bag of facts.** The paper gains {100 * _PAPER_GAIN:.1f} points there with a language "
        "model. With the bundled model the majority of what is shown gains "
        f"{points(ours['delta'], ours['delta, 95 %'])}, with a perfect detector "
        f"{100 * oracle['delta']:+.1f} ({title}): what lacks is recall."
        f"{_read_by_a_model(ours)}"
    )


def _read_by_a_model(row: Content) -> str:
    read = row.get("LLM, forced", {})
    if "delta" not in read:
        return ""
    gain = points(read["delta"], read["delta, 95 %"])
    return f" A language model, answering from {read['instances']} of the contexts, gains {gain}."


def threshold(content: Content) -> str | None:
    curves = {
        f"{title}, {in_words(condition)}": {point["recall"]: point["CR-Acc"] for point in curve}
        for title, found in content["results"]["figures"].items()
        for condition, curve in found["degraded"].items()
    }
    name, first = next(iter(curves.items()))
    at = ", ".join(f"{percent(first[recall], 0)} at {percent(recall, 0)}" for recall in _STEPS)
    worse = [
        (recall, share - curve[0.0])
        for curve in curves.values()
        for recall, share in curve.items()
        if share < curve[0.0]
    ]
    text = (
        "**No step at 50 % recall.** The paper puts a line there. Here what is shown is right by "
        f"majority the more often the more is found ({name}: {at}); "
    )
    if not worse:
        return text + "no recall was worse than no collecting."
    return text + (
        f"worse than no collecting only up to a recall of {percent(max(worse)[0], 0)}, by at most "
        f"{-100 * min(loss for _, loss in worse):.1f} points."
    )


def theory(content: Content) -> str | None:
    passed = [
        f"{row['ratio']} ({row['no distractors']:.2f} for {row['bound']:.2f})"
        for row in content["results"]["theorem 1"]
        if row["no distractors"] > row["bound"] + _NEAR
    ]
    more = max(
        row["mass, softmax"] - row["mass, theorem"] for row in content["results"]["theorem 2"]
    )
    text = "**The theorems are about random draws and even attention.** "
    if passed:
        text += f"A real retriever passes Theorem 1's bound at {', '.join(passed)}. "
    return text + (
        f"Theorem 2's mass is up to {100 * more:.0f} points higher when attention follows likeness "
        "to the question, because old wordings are nearer to it; and the majority reader follows "
        "from the theorem, so that it cannot test it."
    )


def drift(content: Content) -> str | None:
    settings = content["results"]["settings"]
    apart = [
        f"{method} {success:.3f} for {published:.3f} ({name})"
        for name, found in settings.items()
        for method, published in DRIFT_PAPER[name].items()
        if _apart(success := found["methods"][method]["reversal"]["success"], published)
    ]
    told = told_of_corrections(content)
    everyone, nobody = told["everyone's"], told["nobody's"]
    text = (
        "**Drift: the ranking hangs on who is told of corrections.** With corrections told to "
        f"every memory, last write wins reaches {everyone['last write wins']:.2f} (TEPA-Rev "
        f"{everyone['TEPA-Rev']:.2f}); with none told, TEPA-Rev falls to {nobody['TEPA-Rev']:.2f} "
        f"(reactive {nobody['reactive']:.2f})."
    )
    if apart:
        text += f" More than {_NEAR} from the paper: {', '.join(apart)}."
    unproven = [
        f"{test['claim']} ({name})"
        for name, found in settings.items()
        for test in found["tests in the reversal"]
        if test["p, Holm"] >= _SIGNIFICANT
    ]
    if unproven:
        text += f" Not significant (p of {_SIGNIFICANT} or more after Holm): {', '.join(unproven)}."
    return text


def _apart(measured: float, published: float) -> bool:
    return round(abs(measured - published), 3) > _NEAR
