"""Whether a statement says the same as another, as read by the bundled model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy.typing as npt

from gcmem.detectors.base import Calibration, ScoreArray, TextPair

__all__ = ["RestatementDetector"]

_SUPPORTS: Final = 1
"""Position of "the newer statement supports the older one" among the relations."""


class RestatementDetector:
    """The second reading of a model that tells superseding, supporting and neither apart.

    Has the form of a `Detector`, but its score is not kappa: it is the probability that the newer
    statement says the same as the older one, or the same and more. The collector asks it about
    statements that are doubtful (`gcmem.restatement`).

    Args:
        name: Name of the model.
        relations: Gives (n, 3): the probabilities of supersedes, supports and neither.
        threshold: Score from which two statements say the same.

    Example:
        >>> from gcmem import load_detector
        >>> same = load_detector("bundled").restatement
        >>> score = same.score([("Bram takes his notes in Marginal.", "Bram notes in Marginal.")])
        >>> bool(score[0] >= same.threshold)
        True
    """

    uses_query: Final = False
    calibration: Calibration | None = None

    def __init__(
        self,
        name: str,
        relations: Callable[[Sequence[TextPair]], ScoreArray],
        *,
        threshold: float = 0.7,
    ) -> None:
        self.name = f"{name}/restates"
        self.threshold = threshold
        self._relations = relations

    def score(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:  # noqa: ARG002
        """Score pairs of statements.

        Args:
            pairs: (older, newer) texts.
            query: Not used.

        Returns:
            Shape (n,): the probability that the newer statement says the same as the older one;
            NaN where the model cannot judge one of the texts.
        """
        relations: npt.NDArray = self._relations(pairs)
        return relations[:, _SUPPORTS].copy()

    def __repr__(self) -> str:
        return f"RestatementDetector({self.name!r}, threshold={self.threshold:g})"
