"""What else the bundled model reads in a pair, beside whether the newer statement supersedes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias, get_args

from gcmem.detectors.base import Calibration, ScoreArray, TextPair

__all__ = ["Relation", "RelationDetector"]

Relation: TypeAlias = Literal["supports", "neither"]

_COLUMN: Final = {"supports": 1, "neither": 2}
_THRESHOLD: Final = {"supports": 0.7, "neither": 0.5}  # chosen on the dev streams


class RelationDetector:
    """One relation of two statements, as read by a model that tells three apart.

    Has the form of a `Detector`, but its score is not kappa: it is the probability that the newer
    statement says the same as the older one, or the same and more ("supports"), or that neither
    changes or confirms the other ("neither"). The collector asks it about statements of which kappa
    is in doubt (`gcmem.cross_check`).

    Args:
        relation: "supports" or "neither".
        name: Name of the model.
        relations: Gives (n, 3): the probabilities of supersedes, supports and neither.
        threshold: Score from which the relation holds; None for the one chosen on dev.

    Raises:
        ValueError: `relation` is none of the two.

    Example:
        >>> from gcmem import load_detector
        >>> same = load_detector("bundled").relation("supports")
        >>> score = same.score([("Bram takes his notes in Marginal.", "Bram notes in Marginal.")])
        >>> bool(score[0] >= same.threshold)
        True
    """

    uses_query: Final = False
    calibration: Calibration | None = None

    def __init__(
        self,
        relation: Relation,
        name: str,
        relations: Callable[[Sequence[TextPair]], ScoreArray],
        *,
        threshold: float | None = None,
    ) -> None:
        if relation not in get_args(Relation):
            msg = f"relation must be one of {list(get_args(Relation))}, got {relation!r}."
            raise ValueError(msg)
        self.name = f"{name}/{relation}"
        self.threshold = _THRESHOLD[relation] if threshold is None else threshold
        self._column = _COLUMN[relation]
        self._relations = relations

    def score(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:  # noqa: ARG002
        """Score pairs of statements.

        Args:
            pairs: (older, newer) texts.
            query: Not used.

        Returns:
            Shape (n,): the probability of the relation; NaN where the model cannot judge a text.
        """
        column: ScoreArray = self._relations(pairs)[:, self._column].copy()
        return column

    def __repr__(self) -> str:
        return f"RelationDetector({self.name!r}, threshold={self.threshold:g})"
