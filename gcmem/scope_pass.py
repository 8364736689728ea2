"""One pass over the memories of one scope: explicit rules, then kappa, then Phi_T."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from gcmem.collection import Conflict, Excision, Shadow
from gcmem.cross_check import CrossCheck
from gcmem.detectors.base import ScoreArray
from gcmem.detectors.explicit import ExplicitDetector
from gcmem.dominance import BoolMatrix, Dominance, TieBreaker, UndatedPolicy
from gcmem.excision import says_something
from gcmem.explicit_pass import apply_explicit
from gcmem.memory import Memory
from gcmem.rounds import Gate, Hit, Judge, Request, Statement, walk
from gcmem.scope_outcome import ScopeOutcome, why_undecided
from gcmem.sentences import Span, clauses, split_statements

__all__ = ["ScopePass"]

Steps = Generator[Request, ScoreArray | None, None]


@dataclass(slots=True)
class ScopePass:
    """Judges the memories of one scope. `run` is a generator: it yields pairs, is sent scores.

    Attributes:
        memories: The memories of the scope.
        judge: Scores pairs.
        cross_check: Checks doubtful verdicts against the sure ones, or None.
        explicit: Decides by metadata.
        gate: Leaves pairs out before they are judged, or None.
        now: The time of reading.
        by_sentence: Judge sentence by sentence instead of whole chunks.
        whole_only: One contradicted statement takes the whole memory.
        undated: What becomes of undated memories.
        tie_breaker: Orders memories of the same time.
        outcome: What was decided, filled by `run`.
    """

    memories: Sequence[Memory]
    judge: Judge
    cross_check: CrossCheck | None
    explicit: ExplicitDetector
    gate: Gate | None
    now: datetime
    by_sentence: bool
    whole_only: bool
    undated: UndatedPolicy
    tie_breaker: TieBreaker | None
    outcome: ScopeOutcome = field(default_factory=ScopeOutcome)
    _statements: list[list[Statement]] = field(default_factory=list)
    _row: dict[Statement, int] = field(default_factory=dict)
    _allowed: BoolMatrix | None = None

    def run(self) -> Steps:
        """Decide every memory of the scope."""
        dominance = Dominance.of(
            self.memories, now=self.now, undated=self.undated, tie_breaker=self.tie_breaker
        )
        for i in np.flatnonzero(dominance.expired).tolist():
            self.outcome.shadows[i] = Shadow(self.memories[i], None, 1.0, "expired")
        settled = apply_explicit(self.memories, dominance, self.explicit, self.outcome)
        decided = len(self.outcome.shadows) + len(self.outcome.conflicts)
        self.judge.stats.pairs_explicit += decided
        self.judge.stats.count_stage("explicit", decided)
        if isinstance(self.judge.detector, ExplicitDetector):
            return
        self._split(dominance)
        contradicted = yield from self._judge_newer(dominance, settled)
        yield from self._judge_undecided(dominance, settled, contradicted)

    def _split(self, dominance: Dominance) -> None:
        """Split the memories into statements, and ask the gate about all of them at once."""
        reads_dates = self.judge.reads_dates
        self._statements = [
            [
                Statement(position, span, recorded=memory.timestamp if reads_dates else None)
                for span in self._spans(memory)
            ]
            for position, memory in enumerate(self.memories)
        ]
        flat = [statement for group in self._statements for statement in group]
        self._row = {statement: row for row, statement in enumerate(flat)}
        sizes = np.array([len(group) for group in self._statements], dtype=np.int64)
        weight = np.outer(sizes, sizes)
        self.judge.stats.pairs_possible += int(weight[dominance.may_shadow].sum())
        self.judge.stats.pairs_possible += 2 * int(weight[dominance.undecided].sum())
        if self.gate is not None and (dominance.may_shadow.any() or dominance.undecided.any()):
            texts = [statement.text for statement in flat]
            self._allowed = self.gate.allowed(texts, texts)

    def _spans(self, memory: Memory) -> tuple[Span, ...]:
        if self.by_sentence:
            return split_statements(memory.text)
        return (Span(0, 0, len(memory.text), memory.text),)

    def _judge_newer(self, dominance: Dominance, settled: BoolMatrix) -> _Contradicted:
        """Judge each memory against those that may shadow it, and apply Phi_T."""
        older: list[Statement] = []
        candidates: list[list[Statement]] = []
        for i in reversed(dominance.newest_first):  # a budget reaches the oldest, in any order
            if i in self.outcome.shadows:
                continue
            allowed = dominance.may_shadow[i] & ~settled[i]
            newer = [s for j in dominance.newest_first if allowed[j] for s in self._statements[j]]
            for statement in self._statements[i]:
                older.append(statement)
                candidates.append(self._through_gate(statement, newer))
        one_hit_settles = self.whole_only and self.cross_check is None  # which may take it back
        hits = yield from walk(
            older, candidates, self.judge, one_hit_settles_memory=one_hit_settles
        )
        if self.cross_check is not None:
            hits = yield from self.cross_check.run(older, candidates, hits)
        found = {s: hit for s, hit in zip(older, hits, strict=True) if hit is not None}
        parts: dict[Statement, list[tuple[Statement, Hit | None]]] = {}
        if self.by_sentence and not self.whole_only:
            reach = dict(zip(older, candidates, strict=True))
            parts = yield from self._judge_clauses(list(found), reach)
            for statement, pieces in parts.items():
                if found[statement].via is not None and not any(hit for _, hit in pieces):
                    del found[statement]  # more than what it restates, and none of it contradicted
        by_memory: dict[int, dict[Statement, Hit]] = {}
        for statement, hit in found.items():
            by_memory.setdefault(statement.memory, {})[statement] = hit
        for position, own in by_memory.items():
            self._decide(position, own, parts)
        return set(found)

    def _through_gate(self, statement: Statement, newer: list[Statement]) -> list[Statement]:
        if self._allowed is None or not newer:
            return newer
        row = self._allowed[self._row[statement]]
        passed = [other for other in newer if row[self._row[other]]]
        self.judge.stats.pairs_gated += len(newer) - len(passed)
        self.judge.stats.count_stage("gate", len(newer) - len(passed))
        return passed

    def _judge_clauses(
        self, contradicted: list[Statement], reach: dict[Statement, list[Statement]]
    ) -> Generator[
        Request,
        ScoreArray | None,
        dict[Statement, list[tuple[Statement, Hit | None]]],
    ]:
        """Judge the clauses of contradicted compound sentences one by one."""
        pieces: list[Statement] = []
        for statement in contradicted:
            text = self.memories[statement.memory].text[statement.span.body : statement.span.end]
            shift = statement.span.body
            found = clauses(text)
            if len(found) > 1:
                pieces += [
                    Statement(
                        statement.memory,
                        Span(s.start + shift, s.body + shift, s.end + shift, s.text),
                        statement,
                        statement.recorded,
                    )
                    for s in found
                ]
        owners = [piece.part_of for piece in pieces]
        hits = yield from walk(
            pieces, [reach[owner] for owner in owners if owner is not None], self.judge
        )
        parts: dict[Statement, list[tuple[Statement, Hit | None]]] = {}
        for owner, piece, hit in zip(owners, pieces, hits, strict=True):
            if owner is not None:
                parts.setdefault(owner, []).append((piece, hit))
        return parts

    def _decide(
        self,
        position: int,
        contradicted: dict[Statement, Hit],
        parts: dict[Statement, list[tuple[Statement, Hit | None]]],
    ) -> None:
        """Turn the hits on one memory's statements into a shadow or into excisions."""
        memory = self.memories[position]
        cuts: list[Excision] = []
        whole = dict(contradicted)
        for statement in contradicted:
            clause_hits = parts.get(statement, [])
            if any(hit for _, hit in clause_hits) and not all(hit for _, hit in clause_hits):
                del whole[statement]
                cuts += self._partial(memory, clause_hits)
        rest = [s for s in self._statements[position] if s not in contradicted]
        stays = bool(cuts) or any(says_something(statement.text) for statement in rest)
        if whole and (self.whole_only or not stays):
            order = self._statements[position]
            first = min(whole, key=lambda s: (whole[s].via is not None, order.index(s)))
            hit = whole[first]
            by, reason, via = self._verdict(first, hit)
            self.outcome.shadows[position] = Shadow(memory, by, hit.score, reason, via)
            return
        cuts += [self._excision(memory, s, hit) for s, hit in whole.items()]
        if cuts:
            self.outcome.excisions[position] = sorted(cuts, key=lambda part: part.start)

    def _partial(
        self, memory: Memory, clause_hits: list[tuple[Statement, Hit | None]]
    ) -> list[Excision]:
        """Cut contradicted clauses at the end of a sentence; only mark those before a kept one."""
        last_kept = max(i for i, (_, hit) in enumerate(clause_hits) if hit is None)
        return [
            self._excision(memory, piece, hit, cut=i > last_kept)
            for i, (piece, hit) in enumerate(clause_hits)
            if hit is not None
        ]

    def _excision(self, memory: Memory, part: Statement, hit: Hit, *, cut: bool = True) -> Excision:
        span = part.span
        by, reason, via = self._verdict(part, hit)
        return Excision(memory, span.start, span.end, by, hit.score, reason, cut, via)

    def _verdict(self, part: Statement, hit: Hit) -> tuple[Memory, str, Memory | None]:
        """Give the newer memory, what decided, and which memory says the same, if that did."""
        judged = part if hit.via is None else hit.via
        reason = self.judge.decided_by((judged.judged, hit.by.judged), hit.score)
        via = None if hit.via is None else self.memories[hit.via.memory]
        return self.memories[hit.by.memory], reason, via

    def _judge_undecided(
        self, dominance: Dominance, settled: BoolMatrix, contradicted: set[Statement]
    ) -> Steps:
        """Judge, both ways, pairs that neither may shadow, so that a conflict can be shown."""
        rank = {i: place for place, i in enumerate(reversed(dominance.newest_first))}
        pairs = [
            (i, j) if rank[i] < rank[j] else (j, i)
            for i, j in np.argwhere(dominance.undecided & ~settled).tolist()
            if not {i, j} & self.outcome.shadows.keys()
        ]
        pairs.sort(key=lambda pair: (rank[pair[0]], rank[pair[1]]))
        older: list[Statement] = []
        candidates: list[list[Statement]] = []
        for number, (i, j) in enumerate(pairs):
            for left, right in ((i, j), (j, i)):
                standing = [s for s in self._statements[right] if s not in contradicted]
                for statement in self._statements[left]:
                    if statement not in contradicted:
                        older.append(
                            Statement(number, statement.span, statement, statement.recorded)
                        )
                        candidates.append(self._through_gate(statement, standing))
        hits = yield from walk(older, candidates, self.judge, one_hit_settles_memory=True)
        best: dict[int, float] = {}
        for statement, hit in zip(older, hits, strict=True):
            if hit is not None:
                best[statement.memory] = max(hit.score, best.get(statement.memory, 0.0))
        for number, score in best.items():
            first, second = (self.memories[position] for position in pairs[number])
            reason = why_undecided(first, second)
            self.outcome.conflicts.append(Conflict(first, second, score, reason))


_Contradicted = Generator[Request, ScoreArray | None, "set[Statement]"]
