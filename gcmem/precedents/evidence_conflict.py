"""Evidence without a chat model: kappa and the encoder decide which key a statement is about."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from gcmem.detectors import Detector, load_detector
from gcmem.encoder import SentenceEncoder
from gcmem.precedents.assertions import Assertion, plain_assertions
from gcmem.precedents.evidence import Claim, Known, Utterance
from gcmem.precedents.standing import Pair, StandingStatements, wording

__all__ = ["STATEMENT_KEY", "ConflictExtractor"]

STATEMENT_KEY: Final = "statement "
"""Keys that this extractor opens begin with it; the rest names the first statement by its hash."""

_SMALL_WORDS: Final = (
    "a an the i i'm i've i'd my me mine we we're we've our us is are am was were be been being do "
    "does did have has had of in on at to for from by with and or so that this it its it's as "
    "really very now still currently also just too there where"
)
_SMALL: Final = frozenset(_SMALL_WORDS.split())
_SUPPORTS: Final = 1
"""Position of "supports" among the columns of `BundledDetector.relations`."""


class ConflictExtractor:
    """Finds evidence with kappa instead of a chat model: offline, on the CPU, no tokens spent.

    A message is cut into sentences, and only plain assertions count (see
    `gcmem.precedents.assertions`). The value of a precedent is the statement itself. A statement

    - that supersedes one that stands, by kappa's verdict, takes its key (of several, that of the
      most similar); others about the same thing that it supersedes as well are taken back,
    - that restates one that stands is support for it; where it says more, it takes its key,
    - that was said before, and is archived, takes up its old key again,
    - that is anything else opens a key named by a hash of its text. No word of an old statement
      stays behind in a key.

    Statements about different people ("I", "my sister") are never compared, and the assistant is
    not read unless asked for; then its statements are guesses. Where kappa gives no verdict (the
    bundled one reads English), a statement opens a key: nothing is revoked for it.

    Args:
        detector: Kappa; None takes the bundled model. One with a method ``relations(pairs)``, like
            the bundled one, also says what restates what; with any other, only statements of
            nearly the same words do.
        encoder: Finds the statements worth comparing; None takes the bundled one.
        threshold: Score from which a statement supersedes; None takes the detector's.
        candidates: How many of the most similar statements are compared with a new one.
        related: Similarity (cosine) below which two statements are not about the same thing and
            kappa is not asked, on top of the gate that the detector may bring: a guard against
            its false alarms, paid for in changes that go unnoticed.
        same_thing: Similarity from which two statements that both look superseded are about the
            same thing, so that the second is taken back as well.
        restated: Similarity (cosine) from which statements may be restatements.
        read_assistant: Also take what the assistant asserts, as guesses.

    Raises:
        ValueError: A number is out of range.

    Example:
        >>> extractor = ConflictExtractor()
        >>> known = Known(standing=(("home", "I live in Ulm."),))
        >>> [(claim.key, claim.value) for claim in extractor.extract(
        ...     [Utterance("user", "Hi! I live in Kiel now.")], known)]
        [('home', 'I live in Kiel now.')]
    """

    def __init__(
        self,
        detector: Detector | None = None,
        *,
        encoder: SentenceEncoder | None = None,
        threshold: float | None = None,
        candidates: int = 50,
        related: float = 0.3,
        same_thing: float = 0.5,
        restated: float = 0.8,
        read_assistant: bool = False,
    ) -> None:
        for name, share in (
            ("threshold", threshold),
            ("related", related),
            ("same_thing", same_thing),
            ("restated", restated),
        ):
            if share is not None and not 0.0 < share <= 1.0:
                msg = f"{name} must be above 0 and at most 1, got {share!r}."
                raise ValueError(msg)
        if candidates < 1:
            msg = f"candidates must be at least 1, got {candidates!r}."
            raise ValueError(msg)
        self.detector = load_detector("bundled") if detector is None else detector
        self.encoder = SentenceEncoder() if encoder is None else encoder
        self.threshold = self.detector.threshold if threshold is None else threshold
        self.candidates = candidates
        self.related = related
        self.same_thing = same_thing
        self.restated = restated
        self.read_assistant = read_assistant

    def extract(self, utterances: Sequence[Utterance], known: Known) -> list[Claim]:
        """Give the claims in the messages, in their order."""
        standing = StandingStatements(known, self.encoder)
        claims: list[Claim] = []
        for utterance in utterances:
            if utterance.role != "user" and not (self.read_assistant and _is_assistant(utterance)):
                continue
            for assertion in plain_assertions(utterance.text):
                for claim in self._claims(assertion, utterance, standing):
                    standing.believe(claim)
                    claims.append(claim)
        return claims

    async def aextract(self, utterances: Sequence[Utterance], known: Known) -> list[Claim]:
        """Do the same in a thread, so that the event loop is not blocked."""
        return await asyncio.to_thread(self.extract, utterances, known)

    def _claims(
        self, assertion: Assertion, said: Utterance, standing: StandingStatements
    ) -> list[Claim]:
        def claim(key: str, value: str, *, retracts: bool = False) -> Claim:
            return Claim(
                key,
                value,
                evidence="testimony" if said.role == "user" else "guess",
                source=said.origin,
                at=said.at,
                retracts=retracts,
            )

        old_key, text = standing.archived_as(assertion.text) or (None, assertion.text)
        similar = standing.most_similar(
            assertion.text,
            at_most=self.candidates,
            that=lambda value: _may_concern(assertion, value),
        )
        repeated = [pair for pair, _ in similar if wording(pair[1]) == wording(text)]
        if assertion.retracts:
            gone = repeated or self._restated(similar, text)
            return [claim(key, value, retracts=True) for key, value in gone]
        if repeated:
            return [claim(*repeated[0])]
        superseded = self._superseded(similar, text)
        if superseded:
            (key, value), others = superseded[0], superseded[1:]
            same = self._about_the_same(value, [pair for pair in others if pair[0] != key])
            return [*(claim(*pair, retracts=True) for pair in same), claim(key, text)]
        for key, value in self._restated(similar, text):
            if not _words(text) - _words(value):
                return [claim(key, value)]
            if not _words(value) - _words(text):
                return [claim(key, text)]
        return [claim(old_key or _new_key(text), text)]

    def _superseded(self, similar: Sequence[tuple[Pair, float]], text: str) -> list[Pair]:
        """Give what a statement supersedes by kappa's verdict, most similar first."""
        near = [pair for pair, likeness in similar if likeness >= self.related]
        gate = getattr(self.detector, "gate", None)
        if gate is not None and near:
            passes = gate.allowed([value for _, value in near], [text])[:, 0]
            near = [pair for pair, passed in zip(near, passes, strict=True) if passed]
        if not near:
            return []
        scores = self.detector.score([(value, text) for _, value in near])
        return [near[row] for row in np.flatnonzero(scores >= self.threshold)]

    def _about_the_same(self, value: str, others: Sequence[Pair]) -> list[Pair]:
        if not others:
            return []
        likeness = self.encoder.similarity([value], [other for _, other in others])[0]
        return [
            pair for pair, like in zip(others, likeness, strict=True) if like >= self.same_thing
        ]

    def _restated(self, similar: Sequence[tuple[Pair, float]], text: str) -> list[Pair]:
        """Give what a statement restates, most similar first."""
        near = [pair for pair, likeness in similar if likeness >= self.restated]
        if not near:
            return []
        relations: Callable[..., npt.NDArray[np.float32]] | None = getattr(
            self.detector, "relations", None
        )
        if relations is None:
            return [pair for pair in near if _words(pair[1]) == _words(text)]
        judged = relations([(value, text) for _, value in near])
        return [
            pair for pair, chances in zip(near, judged, strict=True) if chances[_SUPPORTS] >= 0.5
        ]


def _is_assistant(utterance: Utterance) -> bool:
    return utterance.role in {"assistant", "ai"}


def _may_concern(assertion: Assertion, value: str) -> bool:
    """Whether two statements may be about the same person; unknown subjects may be anybody."""
    subject = _subject_of(value)
    return not (subject and assertion.subject) or subject == assertion.subject


@lru_cache(maxsize=8_192)
def _subject_of(value: str) -> str:
    known = plain_assertions(value)
    return known[0].subject if known else ""


def _words(text: str) -> frozenset[str]:
    return frozenset(wording(text).split()) - _SMALL


def _new_key(text: str) -> str:
    digest = hashlib.blake2b(wording(text).encode(errors="surrogatepass"), digest_size=8)
    return f"{STATEMENT_KEY}{digest.hexdigest()}"
