"""The gate: which pairs of statements are near enough to deserve a verdict of the model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gcmem.encoder import SentenceEncoder
from gcmem.onnx_model import WEIGHTS

__all__ = ["Gate"]

FloatArray = npt.NDArray[np.float32]


class Gate:
    """Lets pairs pass whose projected sentence vectors are close.

    The bundled encoder places statements by topic; a small projection, learnt on pairs about the
    same attribute, brings those close that may be about one slot. A pair that does not pass is
    never shown to the model and so never removes anything: the gate can only cost recall.
    ``measured`` tells how much, on attributes that were not trained on: ``conflicts_passed`` (share
    of the true conflicts that pass; at least 0.99 was the aim) and ``random_passed`` (share of
    random pairs of one collection that pass; at most 0.20).

    Args:
        projection: Matrix (384, m) that is applied to unit vectors; None for the identity.
        threshold: Smallest cosine similarity that passes.
        encoder: Makes the sentence vectors; None takes the bundled one.
        measured: The figures behind the threshold.

    Raises:
        ValueError: `threshold` is not from -1 to 1, or the projection has another shape.
    """

    def __init__(
        self,
        projection: FloatArray | None,
        threshold: float,
        *,
        encoder: SentenceEncoder | None = None,
        measured: dict[str, float] | None = None,
    ) -> None:
        if not -1.0 <= threshold <= 1.0:
            msg = f"threshold must be from -1 to 1, got {threshold}."
            raise ValueError(msg)
        if projection is not None and (
            projection.ndim != 2 or projection.shape[0] != SentenceEncoder.dimension
        ):
            msg = (
                f"projection must have shape ({SentenceEncoder.dimension}, m), "
                f"got {projection.shape}."
            )
            raise ValueError(msg)
        self.projection = projection
        self.threshold = float(threshold)
        self.encoder = encoder if encoder is not None else SentenceEncoder()
        self.measured = dict(measured or {})

    @classmethod
    def default(cls) -> Gate:
        """The bundled gate, loaded once per process."""
        return _bundled(WEIGHTS)

    def project(self, embeddings: FloatArray) -> FloatArray:
        """Unit vectors in the space of the gate, (n, m), from sentence vectors (n, 384)."""
        projected = embeddings if self.projection is None else embeddings @ self.projection
        length = np.linalg.norm(projected, axis=-1, keepdims=True)
        return np.asarray(projected / np.maximum(length, 1e-9), dtype=np.float32)

    def passes(
        self, embeddings_older: FloatArray, embeddings_newer: FloatArray
    ) -> npt.NDArray[np.bool_]:
        """Whether each pair passes: (n,) from sentence vectors (n, 384) and (n, 384)."""
        cosine = (self.project(embeddings_older) * self.project(embeddings_newer)).sum(axis=-1)
        return np.asarray(cosine >= self.threshold)

    def allowed(self, older: Sequence[str], newer: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Whether each older statement may meet each newer one: (len(older), len(newer))."""
        if not len(older) or not len(newer):
            return np.zeros((len(older), len(newer)), dtype=np.bool_)
        vectors = self.project(self.encoder.encode([*older, *newer]))
        cosine = vectors[: len(older)] @ vectors[len(older) :].T
        return np.asarray(cosine >= self.threshold)

    def __repr__(self) -> str:
        return f"Gate(threshold={self.threshold:g}, measured={self.measured})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self is _bundled(WEIGHTS):
            return (Gate.default, ())
        return (_rebuilt, (self.projection, self.threshold, self.encoder, self.measured))


@lru_cache(maxsize=1)
def _bundled(folder: Path) -> Gate:
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))["gate"]
    projection = np.load(folder / "gate.npy").astype(np.float32)
    return Gate(
        projection,
        settings["threshold"],
        encoder=SentenceEncoder(folder),
        measured=settings["measured"],
    )


def _rebuilt(
    projection: FloatArray | None,
    threshold: float,
    encoder: SentenceEncoder,
    measured: dict[str, float],
) -> Gate:
    return Gate(projection, threshold, encoder=encoder, measured=measured)
