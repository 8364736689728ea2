"""Doubtful verdicts are checked against the sure ones beside them.

Kappa reads one pair at a time, and of some pairs it is in doubt. What it is sure of in the same
collection can decide those:

- A stale fact is rarely said once. "Bram uses Marginal for his notes" and "Bram takes his notes in
  Marginal" go stale together. A statement about which kappa is in doubt goes if the model reads
  that it says the same as one that the same newer statement surely supersedes.
- One plain statement changes one thing. Where "Bram has gone over to Cuadro" surely supersedes
  what Bram notes in, a doubtful verdict that it also supersedes "Bram notes a lot" is a false
  alarm: it falls if the model reads that the two older statements have nothing to do with each
  other.

Both need a reading of the model; likeness alone decides nothing, and a clear verdict stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gcmem.rounds import Asking, Hit, Judge, Requests, Statement, walk
from gcmem.sentences import clauses

__all__ = ["DOUBTFUL", "CrossCheck"]

DOUBTFUL: Final = 1 / 3
"""Share of the threshold from which a verdict is no clear "no", chosen on the dev streams."""


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """Checks the verdicts of a walk. `run` is a generator: it yields pairs, is sent scores.

    Attributes:
        judge: Kappa, which scored the pairs.
        same: Scores whether the newer statement of a pair says the same as the older one.
        other: Scores whether the two have nothing to do with each other.
    """

    judge: Judge
    same: Judge
    other: Judge

    @property
    def pairs_read(self) -> int:
        """How many pairs were read, by the detector or from the cache, to check verdicts."""
        counted = (self.same.stats, self.other.stats)
        return sum(stats.pairs_judged + stats.cache_hits for stats in counted)

    def run(
        self,
        older: Sequence[Statement],
        candidates: Sequence[Sequence[Statement]],
        hits: Sequence[Hit | None],
    ) -> Requests:
        """Take back doubtful hits, then add those of what says the same.

        Args:
            older: The statements that may be stale, oldest first.
            candidates: For each, the newer statements that may contradict it, newest first.
            hits: For each, the hit with the newest contradicting statement, or None.

        Returns:
            For each statement its hit; one that rests on another statement has `Hit.via`.
        """
        checked = list(hits)
        reach = [list(own) for own in candidates]
        while doubted := (yield from self._false_alarms(older, checked)):
            for place in doubted:
                hit = checked[place]
                if hit is not None:  # an older one of the newer statements may contradict it, too
                    reach[place] = reach[place][reach[place].index(hit.by) + 1 :]
            again = yield from walk(
                [older[place] for place in doubted],
                [reach[place] for place in doubted],
                self.judge,
            )
            for place, hit in zip(doubted, again, strict=True):
                checked[place] = hit
        return (yield from self._restatements(older, candidates, checked))

    def _false_alarms(
        self, older: Sequence[Statement], hits: Sequence[Hit | None]
    ) -> Asking[list[int]]:
        """Give the places of doubtful hits by a statement that surely changes something else."""
        sure = (1 + self.judge.threshold) / 2
        targets: dict[Statement, list[int]] = {}
        for place, hit in enumerate(hits):
            if hit is not None and hit.score >= sure and len(clauses(hit.by.text)) < 2:
                targets.setdefault(hit.by, []).append(place)
        doubtful = {
            place: targets[hit.by]
            for place, hit in enumerate(hits)
            if hit is not None and hit.score < sure and hit.by in targets
        }
        pairs = [(place, other) for place, others in doubtful.items() for other in others]
        scores = yield from self.other.scores([_by_age(older, *both) for both in pairs])
        apart = {
            both: score is not None and self.other.is_conflict(score)
            for both, score in zip(pairs, scores, strict=True)
        }
        return [
            place
            for place, others in doubtful.items()
            if all(apart[place, other] for other in others)
        ]

    def _restatements(
        self,
        older: Sequence[Statement],
        candidates: Sequence[Sequence[Statement]],
        hits: Sequence[Hit | None],
    ) -> Requests:
        """Add hits for doubtful statements that say the same as one that has a hit."""
        superseded_by: dict[Statement, list[int]] = {}
        for place, hit in enumerate(hits):
            if hit is not None:
                superseded_by.setdefault(hit.by, []).append(place)
        doubtful = [
            (place, other)
            for place, statement in enumerate(older)
            if hits[place] is None
            for by in candidates[place]
            if by in superseded_by and self._in_doubt(statement, by)
            for other in superseded_by[by]
        ]
        scores = yield from self.same.scores([_by_age(older, *both) for both in doubtful])
        result = list(hits)
        best: dict[int, float] = {}
        for (place, other), score in zip(doubtful, scores, strict=True):
            found = hits[other]
            if score is None or found is None or not self.same.is_conflict(score):
                continue
            if score > best.get(place, 0.0):
                best[place] = score
                result[place] = Hit(found.by, found.score, older[other])
        return result

    def _in_doubt(self, statement: Statement, by: Statement) -> bool:
        score = self.judge.known((statement.judged, by.judged))
        return score is not None and DOUBTFUL <= score / self.judge.threshold < 1


def _by_age(older: Sequence[Statement], first: int, second: int) -> tuple[str, str]:
    """The texts of two statements, the older one first."""
    return older[min(first, second)].text, older[max(first, second)].text
