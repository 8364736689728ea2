"""nuggetindex: draws facts from passages, finds contested and outdated ones, governs retrieval.

Entry point: ``GovernancePostProcessor``, which its README recommends on top of an existing
retriever. Its ``apostprocess`` takes no dates, so each passage is first ingested, oldest first, by
``acreate_warm`` with ``Document.source_date`` (undated ones without); default settings, the cache
in a folder of its own. A passage whose extraction fails has no facts and stays, as the package's
own facade ``auto`` does it. Without an LLM the extractor is ``TriggerExtractor``, with one
``LLMExtractor`` (provider ``openai_compat``).

Two ways to read it:

* "as shipped": passages all of whose facts are deprecated are dropped; contested ones are marked
  and stay.
* "contested: older removed": of the passages with contested facts of one subject and predicate,
  only the newest stays.

Its LLM judge is off by default, and this entry point cannot be given one.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter, defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

from nuggetindex import LifecycleStatus, NuggetStore, TriggerExtractor
from nuggetindex.extractors.base import BaseExtractor, ExtractionResult
from nuggetindex.extractors.clients.base import LLMConfig
from nuggetindex.extractors.llm import LLMExtractor
from nuggetindex.governance import GovernancePostProcessor, RetrievedPassage
from nuggetindex.pipeline.constructor import Document
from serving import Kept, Request, all_but, options, serve

_PATIENCE = 1_800.0


class Forgiving(BaseExtractor):  # type: ignore[misc]
    """Draws no facts where an extraction fails, and counts that."""

    def __init__(self, extractor: BaseExtractor, counts: Counter[str]) -> None:
        self._extractor = extractor
        self._counts = counts
        self.emits_placeholder_validity = getattr(extractor, "emits_placeholder_validity", False)

    async def aextract(
        self, text: str, *, context: str = "", source_id: str | None = None
    ) -> list[ExtractionResult]:
        try:
            found: list[ExtractionResult] = await self._extractor.aextract(
                text, context=context, source_id=source_id
            )
        except Exception:  # noqa: BLE001  (whatever a model's answer can cause; counted)
            self._counts["extractions failed"] += 1
            return []
        return found


class Reader:
    """Governs each request with a cache of its own."""

    def __init__(self, extractor: BaseExtractor) -> None:
        self._extractor = extractor

    def __call__(self, request: Request, counts: Counter[str]) -> Kept:
        with tempfile.TemporaryDirectory() as folder:
            return asyncio.run(self._govern(request, counts, Path(folder) / "cache.db"))

    async def _govern(self, request: Request, counts: Counter[str], cache: Path) -> Kept:
        processor = await GovernancePostProcessor.acreate_warm(
            warm_cache=[_document(memory) for memory in request["memories"]],
            cache_path=cache,
            extractor=Forgiving(self._extractor, counts),
        )
        passages = [
            RetrievedPassage(source_id=memory["id"], text=memory["text"])
            for memory in request["memories"]
        ]
        governed = await processor.apostprocess(passages)
        await processor.aclose()
        sources = [passage.source_id for passage in passages]
        dropped = set(sources) - {passage.source_id for passage in governed}
        contested = await _contested(cache, sources)
        counts["contested"] += len(contested)
        return {
            "as shipped": all_but(request, dropped),
            "contested: older removed": all_but(request, dropped | outdone(contested)),
        }


def outdone(contested: dict[Any, list[str]]) -> set[str]:
    """Give all but the newest source of each contested key; sources come oldest first."""
    return {source for sources in contested.values() for source in sources[:-1]}


async def _contested(cache: Path, sources: list[str]) -> dict[Any, list[str]]:
    """Give the sources of contested facts by what the facts are about, in the given order."""
    store = NuggetStore(db_path=cache)
    found: dict[Any, list[str]] = defaultdict(list)
    for source in sources:
        nuggets = await store.backend.aget_nuggets_by_source(source)
        keys = {n.key for n in nuggets if n.epistemic.status == LifecycleStatus.CONTESTED}
        for key in keys:
            found[key].append(source)
    await store.aclose()
    return found


def _document(memory: dict[str, Any]) -> Document:
    time = memory["time"]
    date = None if time is None else datetime.fromisoformat(time)
    return Document(source_id=memory["id"], text=memory["text"], source_date=date)


def _extractor(url: str | None, model: str | None) -> BaseExtractor:
    if url is None or model is None:
        return TriggerExtractor()
    config = LLMConfig(
        provider="openai_compat", model=model, base_url=url, timeout_seconds=_PATIENCE
    )
    return LLMExtractor(config)


if __name__ == "__main__":
    chosen = options()
    serve(Reader(_extractor(chosen.llm_url, chosen.llm_model)), "nuggetindex")
