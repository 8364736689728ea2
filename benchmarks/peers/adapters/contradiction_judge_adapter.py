"""contradiction-judge: finds contradicting pairs by rules, and by an LLM if one is registered.

Entry point: ``check_memories(entries)`` with id, text and ``created_at``, as in its README; no
settings exist. It only detects. Each verdict carries its own suggestion ("keep m2, drop or correct
m1"), and that suggestion is applied; where it asks for a manual review, nothing is removed.

With an LLM, ``set_judge`` gets a function whose prompt is worded after the example in its
documentation; the package asks it about every pair that its rules did not flag.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from typing import Any

from contradiction_judge import check_memories, set_judge
from serving import Kept, Request, all_but, complete, options, serve

_PROMPT = (
    "Do these two remembered facts contradict each other? Answer in JSON with the keys "
    '"contradiction" (true or false) and "explanation".\n\n1. {}\n2. {}'
)


def suggested(report: dict[str, Any]) -> set[str]:
    """Give the ids that the report suggests to drop."""
    return {
        found["arbitration"]["recommendation"].rsplit(" ", 1)[-1]
        for found in report["contradictions"]
        if found["arbitration"]["strategy"] == "recency"
    }


def read(request: Request, counts: Counter[str]) -> Kept:
    entries = [
        {"id": memory["id"], "text": memory["text"], "created_at": memory["time"]}
        for memory in request["memories"]
    ]
    report = check_memories(entries)
    counts["pairs"] += report["pairs_checked"]
    return {"suggestions applied": all_but(request, suggested(report))}


def judge(older: str, newer: str, *, url: str, model: str) -> dict[str, Any] | None:
    """Give the model's verdict; None where its answer is not JSON."""
    answer = complete(url, model, _PROMPT.format(older, newer), json_object=True)
    try:
        verdict = json.loads(answer)
    except json.JSONDecodeError:
        return None
    return verdict if isinstance(verdict, dict) else None


if __name__ == "__main__":
    chosen = options()
    if chosen.llm_url:
        set_judge(partial(judge, url=chosen.llm_url, model=chosen.llm_model))
    serve(read, "contradiction-judge")
