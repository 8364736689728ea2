"""The gate: which pairs of statements are near enough to deserve a verdict of the model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gcmem.encoder import SentenceEncoder
from gcmem.onnx_model import WEIGHTS

__all__ = ["Gate"]

FloatArray = npt.NDArray[np.float32]


class Gate:
    """Lets pairs pass whose sentence vectors are close.

    A pair that does not pass is never shown to the model and so never removes anything: the gate
    can only cost recall. ``measured`` tells how much, as shares from 0 to 1 of the pairs of the dev
    and the test split that pass: explicit conflicts (the aim was 0.99), conflicts that are only
    shown by behaviour, and random pairs of one collection (the aim was at most 0.20).

    Args:
        threshold: Smallest cosine similarity that passes.
        encoder: Makes the sentence vectors; None takes the bundled one.
        measured: The figures behind the threshold.

    Raises:
        ValueError: `threshold` is not from -1 to 1.

    Example:
        >>> newer = ["I live in Ulm now.", "The invoice was paid."]
        >>> Gate.default().allowed(["I live in Kiel."], newer)
        array([[ True, False]])
    """

    def __init__(
        self,
        threshold: float,
        *,
        encoder: SentenceEncoder | None = None,
        measured: Mapping[str, float] | None = None,
    ) -> None:
        if not -1.0 <= threshold <= 1.0:
            msg = f"threshold must be from -1 to 1, got {threshold}."
            raise ValueError(msg)
        self.threshold = float(threshold)
        self.encoder = encoder if encoder is not None else SentenceEncoder()
        self.measured = dict(measured or {})

    @classmethod
    def default(cls) -> Gate:
        """The bundled gate, made once per process."""
        return _bundled()

    def passes(
        self, embeddings_older: FloatArray, embeddings_newer: FloatArray
    ) -> npt.NDArray[np.bool_]:
        """Whether each pair passes: (n,) from unit sentence vectors (n, 384) and (n, 384)."""
        cosine = (embeddings_older * embeddings_newer).sum(axis=-1)
        return np.asarray(cosine >= self.threshold)

    def allowed(self, older: Sequence[str], newer: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Whether each older statement may meet each newer one: (len(older), len(newer))."""
        if not len(older) or not len(newer):
            return np.zeros((len(older), len(newer)), dtype=np.bool_)
        vectors = self.encoder.encode([*older, *newer])
        cosine = vectors[: len(older)] @ vectors[len(older) :].T
        return np.asarray(cosine >= self.threshold)

    def __repr__(self) -> str:
        return f"Gate(threshold={self.threshold:g}, measured={self.measured})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self is _bundled():
            return (Gate.default, ())
        return (_rebuilt, (self.threshold, self.encoder, self.measured))


@cache
def _bundled() -> Gate:
    path: Path = WEIGHTS / "config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))["gate"]
    return Gate(settings["threshold"], measured=settings["measured"])


def _rebuilt(threshold: float, encoder: SentenceEncoder, measured: dict[str, float]) -> Gate:
    return Gate(threshold, encoder=encoder, measured=measured)
