"""A line for every experiment: what was asked, what came out, and the command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from benchmarks.report.markdown import cell, percent, slug
from benchmarks.report.reading import Content, Contents, command_of, made_from
from benchmarks.report.tables.collecting import ours_of, shipped_row
from benchmarks.report.tables.costs import faster
from benchmarks.report.tables.facts import LEDGER, RETRIEVER, by_task
from benchmarks.report.tables.mutation import BUNDLED


@dataclass(frozen=True, slots=True)
class Claim:
    """What an experiment is called, and what of it goes into the overview.

    Attributes:
        title: Name in the overview.
        command: After ``python -m benchmarks``; for files that do not tell their own.
        headline: Sentence from its file.
        section: Heading in benchmarks/README.md, where it is not the title.
    """

    title: str
    command: str
    headline: Callable[[Content], str]
    section: str = ""

    @property
    def heading(self) -> str:
        return self.section or self.title


def _field(content: Content) -> str:
    totals = {name: found["total"] for name, found in content["results"].items()}
    ours = ours_of(totals)
    others = ", ".join(
        f"{name} {total['passed']}" for name, total in totals.items() if name != ours
    )
    return f"**{totals[ours]['passed']} of {totals[ours]['cases']}** cases right ({others})"


def _peers(content: Content) -> str:
    passed = {
        tool: max(judged["passed"] for judged in found["readings"].values())
        for tool, found in content["results"]["field"].items()
    }
    ours = [tool for tool in passed if tool.startswith("gcmem")]
    others = [tool for tool in passed if tool not in {*ours, "keep everything"}]
    best = max(others, key=lambda tool: passed[tool])
    items = content["results"]["field"][ours[0]]["items"]
    of_ours = ", ".join(f"{tool} **{passed[tool]} of {items}**" for tool in ours)
    return f"{of_ours} cases right; the best of {len(others)} others ({best}) {passed[best]}"


def _streams(content: Content) -> str:
    row = shipped_row(content)
    return (
        f"**{percent(row['stale exposure'])}** of what is stale still shown, "
        f"**{percent(row['over-deletion'])}** of what is true removed"
    )


def _detectors(content: Content) -> str:
    parts = []
    for title, found in content["results"]["figures"].items():
        row = found["detectors"]["bundled"]
        parts.append(
            f"{_plainly(title)}: **{percent(row['removal recall'], 0)}** of what is stale removed, "
            f"{percent(row['removal precision'], 0)} of the removed was stale"
        )
    return "; ".join(parts)


def _plainly(title: str) -> str:
    size, wording = title.split(", ")
    described = {"behaviour": "states that are only shown", "said": "states that are said"}
    return f"{described[wording]} ({size})"


def _mutation(content: Content) -> str:
    title, conditions = list(content["results"]["methods"].items())[-1]
    condition, found = next(iter(conditions.items()))
    plain, ours, oracle = (
        percent(found[name]["all"]["CR-Acc"], 0) for name in ("standard", BUNDLED, "GC-Mem, oracle")
    )
    return (
        f"the majority of what is shown is right in {plain} of contexts before, **{ours}** after "
        f"gcmem, {oracle} with a perfect detector ({_plainly(title)}, {condition})"
        f"{_with_model(found)}"
    )


def _with_model(found: Content) -> str:
    read = {name: groups["all"].get("LLM, forced") for name, groups in found.items()}
    if read["standard"] is None or read[BUNDLED] is None:
        return ""
    before, after = (percent(read[name]["CR-Acc"], 0) for name in ("standard", BUNDLED))
    return f"; a language model answers right in {before} before, **{after}** after"


def _theory(content: Content) -> str:
    row = content["results"]["theorem 1"][-1]
    return (
        f"new chunks retrieved at {row['ratio']}: {row['bound']:.2f} by the bound, "
        f"{row['no distractors']:.2f} measured, **{row['distractors, STM']:.2f}** with short-term "
        "memory"
    )


def _facts(content: Content) -> str:
    parts: dict[str, list[str]] = {}
    for (hops, length), methods in by_task(content).items():
        ours, plain = (methods[name]["exact match"]["share"] for name in (RETRIEVER, "plain"))
        filed = methods[LEDGER]["exact match"]["share"] if LEDGER in methods else None
        also = "" if filed is None else f", filed in a ledger **{percent(filed, 0)}**"
        parts.setdefault(hops, []).append(
            f"{length} **{percent(ours, 0)}**{also} (plain {percent(plain, 0)})"
        )
    return "; ".join(f"{hops} hop: {', '.join(lengths)}" for hops, lengths in parts.items())


def _head_lookup(content: Content) -> str:
    results = content["results"]
    judge = "bundled" if "bundled, deep, with" in results else "perfect"
    shown = {
        (depth, on): percent(results[f"{judge}, {depth}, {on}"]["current shown"], 0)
        for depth in ("shallow", "deep")
        for on in ("without", "with")
    }
    return (
        f"current statement shown ({judge} judge): {shown['shallow', 'without']} to "
        f"**{shown['shallow', 'with']}** where only k are fetched, {shown['deep', 'without']} to "
        f"**{shown['deep', 'with']}** where four times k are"
    )


def _history(content: Content) -> str:
    row = content["results"]["gcmem.history, test"]
    return (
        f"**{percent(row['recall'], 0)}** of questions about the past found, "
        f"{percent(row['lookalikes left alone'], 0)} of lookalikes left alone"
    )


def _drift(content: Content) -> str:
    methods = content["results"]["settings"]["controlled"]["methods"]
    ours, nothing, every = (
        f"{methods[name]['reversal']['success']:.2f}"
        for name in ("gcmem", "no memory", "append-only")
    )
    return f"success after a secret reversal: **{ours}**; no memory {nothing}, append-only {every}"


def _ledger(content: Content) -> str:
    rows = content["results"]["rows"]
    most = max(row["records"] for row in rows)
    costs = ", ".join(
        f"{row['store']} {row['query']['wall_median_us']:,.1f}"
        for row in rows
        if row["records"] == most
    )
    return f"microseconds of a query at {most:,} records: {costs}"


def _latency(content: Content) -> str:
    rows = content["results"]["rows"]
    shortest = min(row["words"] for row in rows)
    row = max((row for row in rows if row["words"] == shortest), key=lambda row: row["k"])
    return (
        f"k = {row['k']}: **{faster(row, 'cold', 1)}** faster than judging every pair, "
        f"{faster(row, 'warm', 0)} once verdicts are cached"
        f"{' (~: scaled up from a sample)' if row['extrapolated'] else ''}"
    )


_PEERS: Final = "Other tools on the same inputs"
CLAIMS: Final = {
    "field": Claim("Cases that users reported", "field", _field),
    "peers": Claim(_PEERS, "peers --environments DIR", _peers),
    "peers_llm": Claim(
        "The same with an LLM",
        "peers --environments DIR --llm-url URL --llm-model NAME",
        _peers,
        _PEERS,
    ),
    "streams": Claim(
        "Long streams full of lookalikes", "streams --thresholds .3 .4 .6 .7 .8", _streams
    ),
    "detectors": Claim("What the detectors find", "detectors", _detectors),
    "temporal_mutation": Claim("N old statements, M new ones", "temporal-mutation", _mutation),
    "bag_of_facts": Claim("Everything in the context", "bag-of-facts", _mutation),
    "theory": Claim("Both theorems of GC-Mem", "theory", _theory),
    "factconsolidation": Claim("FactConsolidation", "factconsolidation --questions 40", _facts),
    "head_lookup": Claim("Head look-up", "head-lookup", _head_lookup),
    "history": Claim("Questions about the past", "history", _history),
    "drift": Claim("A world that changes in secret", "drift", _drift),
    "ledger": Claim("Cost of the ledger", "ledger", _ledger),
    "latency": Claim("Cost of a collection", "latency", _latency),
}


def overview(contents: Contents, *, details: str) -> str:
    """Write the table; experiments without a file are left out.

    Args:
        contents: The files by name.
        details: Where the sections are, as a link.
    """
    rows = [
        f"| [{claim.title}]({details}#{slug(claim.heading)}) "
        f"| {made_from(name, contents, claim.headline)} "
        f"| `{_command(contents[name], claim)}` |\n"
        for name, claim in CLAIMS.items()
        if name in contents
    ]
    return "| experiment | what came out | `python -m benchmarks` |\n|---|---|---|\n" + "".join(
        rows
    )


def _command(content: Content, claim: Claim) -> str:
    own = command_of(content)
    return claim.command if own is None else cell(own.removeprefix("python -m benchmarks "))
