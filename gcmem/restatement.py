"""What falls with a superseded statement: what says the same, and is half contradicted itself.

A stale fact is rarely said once. "Bram uses Marginal for his notes" and "Bram takes his notes in
Marginal" go stale together, but kappa reads one pair at a time and may be sure of the first only.
Here the sure verdict decides the doubtful one: a statement goes with one that is superseded if a
model says that the two say the same, and if its own verdict against the same newer statement is no
clear "no" either. Neither of the two alone removes anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gcmem.rounds import Hit, Judge, Requests, Statement

__all__ = ["DOUBTFUL", "with_restatements"]

DOUBTFUL: Final = 1 / 3
"""Share of the threshold from which a verdict is no clear "no", chosen on the dev streams."""


def with_restatements(
    older: Sequence[Statement],
    candidates: Sequence[Sequence[Statement]],
    hits: Sequence[Hit | None],
    judge: Judge,
    restates: Judge,
) -> Requests:
    """Add hits for statements that say the same as one that has a hit.

    Args:
        older: The statements that may be stale, oldest first.
        candidates: For each, the newer statements that may contradict it.
        hits: For each, the hit with the newest contradicting statement, or None.
        judge: What scored them.
        restates: Scores whether the newer statement of a pair says the same as the older one.

    Returns:
        For each statement the hit it had, one with `Hit.via`, or None.
    """
    superseded_by: dict[Statement, list[int]] = {}
    for place, hit in enumerate(hits):
        if hit is not None:
            superseded_by.setdefault(hit.by, []).append(place)
    doubtful = [
        (place, other)
        for place, statement in enumerate(older)
        if hits[place] is None
        for by in candidates[place]
        if by in superseded_by and _in_doubt(judge, statement, by)
        for other in superseded_by[by]
    ]
    scores = yield from restates.scores(
        [(older[min(both)].text, older[max(both)].text) for both in doubtful]
    )
    result = list(hits)
    best: dict[int, float] = {}
    for (place, other), score in zip(doubtful, scores, strict=True):
        found = hits[other]
        if score is None or found is None or not restates.is_conflict(score):
            continue
        if score > best.get(place, 0.0):
            best[place] = score
            result[place] = Hit(found.by, found.score, older[other])
    return result


def _in_doubt(judge: Judge, statement: Statement, by: Statement) -> bool:
    score = judge.known((statement.judged, by.judged))
    return score is not None and score >= DOUBTFUL * judge.threshold
