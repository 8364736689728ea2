"""What came out of each experiment, in a sentence for the overview."""

from __future__ import annotations

from benchmarks.report.markdown import percent
from benchmarks.report.reading import Content
from benchmarks.report.tables.chat_memory import totals
from benchmarks.report.tables.collecting import ours_of, shipped_row
from benchmarks.report.tables.costs import faster
from benchmarks.report.tables.facts import LEDGER, RETRIEVER, by_task
from benchmarks.report.tables.mutation import BUNDLED, in_words


def field(content: Content) -> str:
    totals = {name: found["total"] for name, found in content["results"].items()}
    ours = ours_of(totals)
    others = ", ".join(
        f"{name} {total['passed']}" for name, total in totals.items() if name != ours
    )
    return f"**{totals[ours]['passed']} of {totals[ours]['cases']}** cases right ({others})"


def peers(content: Content) -> str:
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


def streams(content: Content) -> str:
    row = shipped_row(content)
    return (
        f"**{percent(row['stale exposure'])}** of what is stale still shown, "
        f"**{percent(row['over-deletion'])}** of what is true removed"
    )


def detectors(content: Content) -> str:
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


def mutation(content: Content) -> str:
    title, conditions = list(content["results"]["methods"].items())[-1]
    condition, found = next(iter(conditions.items()))
    plain, ours, oracle = (
        percent(found[name]["all"]["CR-Acc"], 0) for name in ("standard", BUNDLED, "GC-Mem, oracle")
    )
    return (
        f"the majority of what is shown is right in {plain} of contexts before, **{ours}** after "
        f"gcmem, {oracle} with a perfect detector ({_plainly(title)}, {in_words(condition)})"
        f"{_with_model(found)}"
    )


def _with_model(found: Content) -> str:
    read = {name: groups["all"].get("LLM, forced") for name, groups in found.items()}
    if read["standard"] is None or read[BUNDLED] is None:
        return ""
    before, after = (percent(read[name]["CR-Acc"], 0) for name in ("standard", BUNDLED))
    return f"; a language model answers right in {before} before, **{after}** after"


def theory(content: Content) -> str:
    row = content["results"]["theorem 1"][-1]
    return (
        f"new chunks retrieved at {row['ratio']}: {row['bound']:.2f} by the bound, "
        f"{row['no distractors']:.2f} measured, **{row['distractors, STM']:.2f}** with short-term "
        "memory"
    )


def facts(content: Content) -> str:
    parts: dict[str, list[str]] = {}
    for (hops, length), methods in by_task(content).items():
        ours, plain = (methods[name]["exact match"]["share"] for name in (RETRIEVER, "plain"))
        filed = methods[LEDGER]["exact match"]["share"] if LEDGER in methods else None
        also = "" if filed is None else f", filed in a ledger **{percent(filed, 0)}**"
        parts.setdefault(hops, []).append(
            f"{length} **{percent(ours, 0)}**{also} (plain {percent(plain, 0)})"
        )
    return "; ".join(f"{hops} hop: {', '.join(lengths)}" for hops, lengths in parts.items())


def head_lookup(content: Content) -> str:
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


def history(content: Content) -> str:
    row = content["results"]["gcmem.history, test"]
    return (
        f"**{percent(row['recall'], 0)}** of questions about the past found, "
        f"{percent(row['lookalikes left alone'], 0)} of lookalikes left alone"
    )


def drift(content: Content) -> str:
    methods = content["results"]["settings"]["controlled"]["methods"]
    ours, nothing, every = (
        f"{methods[name]['reversal']['success']:.2f}"
        for name in ("gcmem", "no memory", "append-only")
    )
    return f"success after a secret reversal: **{ours}**; no memory {nothing}, append-only {every}"


def ledger(content: Content) -> str:
    rows = content["results"]["rows"]
    most = max(row["records"] for row in rows)
    costs = ", ".join(
        f"{row['store']} {row['query']['wall_median_us']:,.1f}"
        for row in rows
        if row["records"] == most
    )
    return f"microseconds of a query at {most:,} records: {costs}"


def latency(content: Content) -> str:
    rows = content["results"]["rows"]
    shortest = min(row["words"] for row in rows)
    row = max((row for row in rows if row["words"] == shortest), key=lambda row: row["k"])
    return (
        f"k = {row['k']}: **{faster(row, 'cold', 1)}** faster than judging every pair, "
        f"{faster(row, 'warm', 0)} once verdicts are cached"
        f"{' (~: scaled up from a sample)' if row['extrapolated'] else ''}"
    )


def trial_chat_memory(content: Content) -> str:
    found, memories = totals(content), len(content["results"])
    return (
        f"**{found['prompts with exactly what is true']} of {found['turns']}** prompts held "
        f"exactly what was true ({memories} {'memory' if memories == 1 else 'memories'}); "
        f"{content['config']['model']} answered {found['answers right']} of {found['questions']} "
        "questions right"
    )


def detector_speed(content: Content) -> str:
    found = content["results"]
    return (
        f"**{found['ratio']:.2f}** of the pairs per second of onnxruntime alone (aim: at least "
        f"{found['aim']})"
    )
