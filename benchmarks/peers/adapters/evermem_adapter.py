"""evermem-ai: a memory that turns messages into claims, and supersedes exclusive ones.

Entry points: ``EverMem().observe(text, session_id=, user_id=, happened_at=)``, oldest first, one
session per statement (they come from different days), then ``recall(query)`` from a new session, as
in its quick start; default settings, its own hash embeddings. Without an LLM it extracts by rules;
with one, ``EverMem(llm=OpenAICompatLLM(...))`` extracts, with its fallback to the rules. A question
about a past state sets ``reference_time``.

Two ways to read it, because a claim is not a statement:

* "superseded removed": a statement goes when claims were drawn from it and none of them is active
  any more; statements from which nothing was drawn stay. The tool's verdicts, applied.
* "recall as prompted": what ``recall(...).as_prompt()`` shows at its default limits. A statement
  counts as shown when its message, or a claim drawn from it, is in the pack.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from evermem import EverMem
from evermem.llm import OpenAICompatLLM
from serving import Kept, Request, all_but, options, serve

_NOBODY = "default"
_PATIENCE = 1_800.0


class Reader:
    """Observes and recalls each request in a memory of its own."""

    def __init__(self, llm: Any = None) -> None:
        self._llm = llm

    def __call__(self, request: Request, counts: Counter[str]) -> Kept:
        memory = EverMem(":memory:", llm=self._llm)
        users = {statement["scope"] or _NOBODY for statement in request["memories"]}
        turns: dict[str, int] = {}
        claims: dict[str, set[int]] = {}
        for number, statement in enumerate(request["memories"]):
            user = statement["scope"] or _NOBODY
            before = {claim.id: claim.support for claim in memory.profile(user)}
            turns[statement["id"]] = memory.observe(
                statement["text"],
                session_id=f"session {number}",
                user_id=user,
                role=statement["speaker"],
                happened_at=_seconds(statement["time"]),
            ).turn_id
            claims[statement["id"]] = {
                claim.id
                for claim in memory.profile(user)
                if claim.support != before.get(claim.id)  # new, or confirmed
            }
        counts["claims"] += sum(len(drawn) for drawn in claims.values())
        active = {claim.id for user in users for claim in memory.profile(user)}
        gone = {id for id, drawn in claims.items() if drawn and not drawn & active}
        kept = {"superseded removed": all_but(request, gone)}
        if request["query"]:
            shown_turns, shown_claims = self._recall(memory, request, users)
            unseen = {
                id
                for id, turn in turns.items()
                if turn not in shown_turns and not claims[id] & shown_claims
            }
            kept["recall as prompted"] = all_but(request, unseen)
        memory.close()
        return kept

    def _recall(
        self, memory: EverMem, request: Request, users: set[str]
    ) -> tuple[set[int], set[int]]:
        """Give the messages and the claims that the prompt of every user shows."""
        turns: set[int] = set()
        claims: set[int] = set()
        for user in users:
            pack = memory.recall(
                request["query"],
                session_id="reader",
                user_id=user,
                reference_time=_seconds(request["as_of"]),
            )
            turns |= {turn.id for turn in [*pack.history, *pack.turns, *pack.chronology]}
            claims |= {scored.claim.id for scored in pack.claims}
        return turns, claims


def _seconds(time: str | None) -> float | None:
    return None if time is None else datetime.fromisoformat(time).timestamp()


if __name__ == "__main__":
    chosen = options()
    model = chosen.llm_url and OpenAICompatLLM(
        chosen.llm_model, base_url=chosen.llm_url, timeout=_PATIENCE
    )
    serve(Reader(model or None), "evermem-ai")
