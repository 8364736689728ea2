"""delta-prune: an LLM judges every pair of chunks, the older side of a contradiction goes.

Entry point: ``DeltaPrune(llm=OpenAILLM(model), strategy="prune").filter_chunks(chunks)``, the call
that its README gives for retrieved chunks; the other settings are its defaults. "Older" is the
earlier place in the list, so the chunks are given oldest first. The optional embedding filter
(extra ``fast``) downloads a model and is left out; it only saves calls.

``filter_chunks`` gives texts back; equal texts are told apart by their order.
"""

from __future__ import annotations

import os
from collections import Counter

from delta_prune import DeltaPrune
from delta_prune.llm import OpenAILLM
from serving import Kept, Request, options, serve


class Reader:
    """Prunes with one model."""

    def __init__(self, prune: DeltaPrune) -> None:
        self._prune = prune

    def __call__(self, request: Request, counts: Counter[str]) -> Kept:
        memories = request["memories"]
        result = self._prune.filter_chunks([memory["text"] for memory in memories])
        counts["conflicts"] += len(result.conflicts)
        return {"pruned": ids_of(result.filtered_chunks, memories)}


def ids_of(texts: list[str], memories: list[dict[str, str]]) -> list[str]:
    """Give the ids of the texts that are left; of equal texts the later ones are left."""
    left = Counter(texts)
    ids = []
    for memory in reversed(memories):
        if left[memory["text"]]:
            left[memory["text"]] -= 1
            ids.append(memory["id"])
    return ids[::-1]


if __name__ == "__main__":
    chosen = options()
    # Its OpenAI backend takes the endpoint from the environment.
    os.environ["OPENAI_BASE_URL"] = chosen.llm_url
    os.environ.setdefault("OPENAI_API_KEY", "none")
    serve(
        Reader(DeltaPrune(llm=OpenAILLM(model=chosen.llm_model), strategy="prune")), "delta-prune"
    )
