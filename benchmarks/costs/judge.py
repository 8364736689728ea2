"""An LLM judge on the candidate sets of the first rows, against gcmem with its own model.

`LLMDetector` judges every pair, as in the paper: no gate stands before it. Its seconds depend on
the endpoint, so they are given as a multiple of what gcmem takes on the same set, cold, at that
moment. Calls beyond the limit are not made; the pairs that stay unjudged for it are counted.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from random import Random
from typing import Any

from rich.progress import track

from benchmarks.costs.row import fresh_gate
from benchmarks.costs.sets import candidate_set
from gcmem import Collector
from gcmem.detectors import LLMDetector
from gcmem.detectors.base import Detector


def measure(
    chat: Any, sizes: Sequence[int], detector: Detector, *, words: int, most_calls: int, seed: int
) -> list[dict[str, Any]]:
    """Measure one set of each size."""
    detector.score([("warm up", "the model")])
    rows = []
    for k in track(sizes, description="latency: LLM judge"):
        memories = candidate_set(k, words, Random(f"{seed} {k} {words} 0"))
        ours = Collector(detector, gate=fresh_gate(detector))
        started = time.perf_counter()
        ours.collect("q", memories)
        seconds = time.perf_counter() - started
        judge = LLMDetector(chat, max_calls=most_calls)
        collection = Collector(judge, on_error="keep").collect("q", memories)
        stats = collection.stats
        rows.append(
            {
                "k": k,
                "words": words,
                "pairs possible": stats.pairs_possible,
                "pairs judged": stats.pairs_judged,
                "pairs unjudged": stats.pairs_unjudged,
                "pairs without an answer": judge.usage.unanswered,
                "model calls": stats.model_calls,
                "input tokens": stats.input_tokens,
                "output tokens": stats.output_tokens,
                "calls without token counts": judge.usage.calls_without_counts,
                "times gcmem": round(stats.seconds / seconds, 1),
            }
        )
    return rows
