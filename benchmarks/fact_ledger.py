"""Facts filed in a ledger when they are written, so that reading judges nothing any more."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from rich.progress import track

from benchmarks.fact_reading import Fact, Shown
from gcmem.detectors.base import Detector
from gcmem.encoder import SentenceEncoder
from gcmem.precedents import ConflictExtractor, Precedent, PrecedentLedger, Utterance
from gcmem.precedents.chat_memory import PrecedentMemory
from gcmem.precedents.recall import by_relevance

_TOLD_AT_ONCE = 200


class FiledFacts:
    """The facts as a chat memory learns them: said by the user, one after another.

    Every fact is compared, once, with those that stand and are most similar (`ConflictExtractor`
    with its defaults); what it supersedes is Revoked. A search ranks what is Active.

    Attributes:
        seconds: How long it took to file them.
    """

    def __init__(self, facts: Sequence[Fact], detector: Detector | None, *, name: str) -> None:
        self._encoder = SentenceEncoder(cache_size=2 * len(facts) + 1_000)
        memory = PrecedentMemory(
            PrecedentLedger("sqlite://"),
            ConflictExtractor(detector, encoder=self._encoder),
            encoder=self._encoder,
        )
        started = time.perf_counter()
        parts = _parts(facts, _TOLD_AT_ONCE)
        for part in track(parts, description=f"{name}: filing"):
            said = [Utterance("user", fact.text, at=float(fact.serial)) for fact in part]
            memory.observe(said, given="new")
        self.seconds = time.perf_counter() - started
        self._active = memory.ledger.active()
        memory.ledger.close()
        known = {fact.tokens: fact for fact in sorted(facts, key=lambda fact: fact.serial)}
        self._fact_of = {item.id: _fact(item, known) for item in self._active}
        self._still_true = {fact.tokens for fact in self._fact_of.values()}

    def search(self, similar: Callable[[str], list[Fact]], query: str, *, k: int) -> Shown:
        """Show the k most similar of what is Active.

        Args:
            similar: Gives the most similar of all facts, Active or not; what of them is no longer
                Active was removed.
            query: What is searched for.
            k: How many to show.
        """
        fetched = similar(query)
        ranked = by_relevance(self._active, query, self._encoder)
        shown = [self._fact_of[item.id] for item in ranked[:k]]
        kept = [fact for fact in fetched if fact.tokens in self._still_true]
        return Shown(fetched, kept, shown)


def _parts(facts: Sequence[Fact], size: int) -> list[Sequence[Fact]]:
    return [facts[start : start + size] for start in range(0, len(facts), size)]


def _fact(item: Precedent, known: Mapping[tuple[str, ...], Fact]) -> Fact:
    """The fact that an Active statement is; part of one, where the extractor cut it in two."""
    part = Fact(int(item.updated_at.timestamp()), item.value)
    return known.get(part.tokens, part)
