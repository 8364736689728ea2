"""memlint: scores how stale each fact is, by age, category and contradiction signals.

Entry point: ``StaleDetector().filter_safe(facts, now)``, the call that its README gives for
retrieval; default decay rates. ``created_at`` is naive UTC, as its models ask; undated facts get
its default (now). A statement of the assistant has its source "agent_inferred". The documented
parameter ``now`` is set, because its default (the clock) would age the inputs by when this runs.

Two ways to read one report:

* "filter_safe": only facts that it calls fresh or aging are shown.
* "contradicted removed": its contradiction signals alone. It flags both sides of a pair; the older
  side is removed.

With an LLM, ``StaleDetector(use_llm=True, llm=ChatOpenAI(...))``: it classifies facts, which sets
their decay rates. It has no other use for one.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from memlint import MemoryFact, StaleDetector
from serving import Kept, Request, all_but, options, serve


class Reader:
    """Reads the report of one detector in both ways."""

    def __init__(self, detector: StaleDetector) -> None:
        self._detector = detector

    def __call__(self, request: Request, counts: Counter[str]) -> Kept:
        facts = [_fact(memory) for memory in request["memories"]]
        report = self._detector.check(facts, now=_naive(request["as_of"] or request["now"]))
        counts["contradictions"] += sum(result.has_contradiction for result in report.results)
        return {
            "filter_safe": all_but(request, {result.fact_id for result in report.flagged}),
            "contradicted removed": all_but(request, older_sides(facts, report.results)),
        }


def older_sides(facts: list[MemoryFact], verdicts: list[Any]) -> set[str]:
    """Give the older fact of each contradicting pair; of equally old ones, none."""
    born = {fact.id: fact.created_at for fact in facts}
    pairs = [(found.fact_id, found.contradicted_by) for found in verdicts if found.contradicted_by]
    return {min(pair, key=born.__getitem__) for pair in pairs if born[pair[0]] != born[pair[1]]}


def _fact(memory: dict[str, Any]) -> MemoryFact:
    dated = {} if memory["time"] is None else {"created_at": _naive(memory["time"])}
    source = "agent_inferred" if memory["speaker"] == "assistant" else "user"
    return MemoryFact(id=memory["id"], content=memory["text"], source=source, **dated)


def _naive(time: str) -> datetime:
    return datetime.fromisoformat(time).astimezone(UTC).replace(tzinfo=None)


def _detector(url: str | None, model: str | None) -> StaleDetector:
    if url is None:
        return StaleDetector()
    from langchain_openai import ChatOpenAI

    settings: Any = {"base_url": url, "model": model, "api_key": "none", "temperature": 0}
    chat = ChatOpenAI(**settings)
    return StaleDetector(use_llm=True, llm=chat)


if __name__ == "__main__":
    chosen = options()
    serve(Reader(_detector(chosen.llm_url, chosen.llm_model)), "memlint")
