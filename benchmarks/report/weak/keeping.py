"""What of the collecting and keeping did not come out as aimed at."""

from __future__ import annotations

from typing import Final

from benchmarks.report.markdown import percent
from benchmarks.report.reading import Content
from benchmarks.report.tables.chat_memory import totals
from benchmarks.report.tables.collecting import ours_of, shipped_row
from benchmarks.report.tables.facts import OURS, by_task

STREAM_BARS: Final = {"stale exposure": 0.15, "over-deletion": 0.02}
_FACT_AIMS: Final = {"single": 0.95, "multi": 0.60}


def field(content: Content) -> str | None:
    ours = content["results"][ours_of(content["results"])]
    kinds = [kind for kind, counts in ours["kinds"].items() if counts["passed"] < counts["cases"]]
    if not kinds:
        return None
    return f"**Reported cases that still fail:** {', '.join(sorted(kinds))}."


def streams(content: Content) -> str | None:
    row = shipped_row(content)
    if all(row[name] <= bar for name, bar in STREAM_BARS.items()):
        return None
    stale, true = (percent(row[name]) for name in STREAM_BARS)
    aims = " and ".join(percent(bar, 0) for bar in STREAM_BARS.values())
    return (
        f"**Long streams.** {stale} of what is stale is still shown and {true} of what is true is "
        f"removed at the threshold that ships; the aim is {aims}."
    )


def facts(content: Content) -> str | None:
    below = []
    for (hops, length), methods in by_task(content).items():
        ours = [methods[name]["exact match"]["share"] for name in OURS if name in methods]
        share = max(ours)
        if share < _FACT_AIMS[hops]:
            below.append(f"{hops} {length} {percent(share, 0)}")
    if not below:
        return None
    aims = ", ".join(f"{hops} {percent(aim, 0)}" for hops, aim in _FACT_AIMS.items())
    found = ", ".join(below)
    return f"**FactConsolidation below the aim** ({aims}), at its best: {found}."


def head_lookup(content: Content) -> str | None:
    results = content["results"]
    if "bundled, deep, with" not in results:
        return None
    without, with_it, perfect = (
        results[name]["current shown"]
        for name in ("bundled, deep, without", "bundled, deep, with", "perfect, deep, with")
    )
    return (
        f"**Head look-up where the base over-fetches:** {percent(without, 0)} of questions show "
        f"the current statement without it, {percent(with_it, 0)} with it; a perfect judge reaches "
        f"{percent(perfect, 0)}."
    )


def history(content: Content) -> str | None:
    row = content["results"]["gcmem.history, test"]
    return (
        f"**Questions about the past** were found in {percent(row['recall'], 0)} on test; earlier "
        "blind rounds gave 80 % and 70 % before their misses were worked on, so unfamiliar wording "
        "may do worse."
    )


def trial_chat_memory(content: Content) -> str | None:
    found = totals(content)
    exact, turns = found["prompts with exactly what is true"], found["turns"]
    right, questions = found["answers right"], found["questions"]
    if exact == turns and right == questions:
        return None
    return (
        f"**Chat memories with {content['config']['model']}:** {exact} of {turns} prompts held "
        f"exactly what was true, {right} of {questions} questions were answered right. One short "
        "conversation: an impression, not a measure."
    )
