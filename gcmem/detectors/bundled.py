"""The conflict model that ships with gcmem: a small cross-encoder, on the CPU, offline."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from gcmem.detectors.base import Calibration, ScoreArray, TextPair
from gcmem.detectors.gate import Gate
from gcmem.detectors.language import looks_english
from gcmem.detectors.relation import Relation, RelationDetector
from gcmem.onnx_model import WEIGHTS, OnnxTextModel, load_tokenizer

__all__ = ["BundledDetector"]

SUPERSEDES = 0
"""Position of "the newer statement supersedes the older one" among the model's outputs."""


class BundledDetector:
    """Kappa of GC-Mem (section 4.2) as a small model that reads the older and the newer statement.

    Six layers of MiniLM, fine-tuned on the corpus in ``gcmem.training`` and quantised to int8. It
    needs no network and no GPU. It reads English; about other languages it gives no verdict.
    Loaded at the first use, safe to share between threads, can be pickled.

    Args:
        folder: Where the model lies: ``conflict.onnx``, ``tokenizer.json`` and ``config.json``, as
            `gcmem.training.train` writes them; None takes the bundled one.
        threshold: Score from which a pair counts as a conflict; None takes the one that was chosen
            on development data for a precision of at least 0.95.
        threads: Threads inside one model call; None leaves the number to onnxruntime.
        batch_tokens: Padded tokens in one model call; more needs more memory.

    Attributes:
        name: The model and its version; verdicts are cached under it.
        threshold: Score from which a pair counts as a conflict.
        calibration: Precision and recall at the chosen threshold on the explicit development pairs,
            conflicts and others weighing the same.
        gate: The cheap test of which pairs deserve a verdict, or None where the folder has none.
        unjudged_language: How many pairs got no verdict for their language, since this detector
            was made.

    Raises:
        FileNotFoundError: A file of the model is missing.
        ValueError: `threshold`, `threads` or `batch_tokens` is out of range.

    Example:
        >>> detector = BundledDetector()
        >>> pairs = [("Elena lives in Osaka.", "Elena moved from Osaka to Bremen.")]
        >>> bool(detector.score(pairs)[0] >= detector.threshold)
        True
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        *,
        threshold: float | None = None,
        threads: int | None = None,
        batch_tokens: int = 4096,
    ) -> None:
        self.folder = Path(folder) if folder is not None else WEIGHTS
        for name in ("conflict.onnx", "tokenizer.json", "config.json"):
            if not (self.folder / name).is_file():
                msg = f"the conflict model lacks {self.folder / name}."
                raise FileNotFoundError(msg)
        if threshold is not None and not 0.0 <= threshold <= 1.0:
            msg = f"threshold must be from 0 to 1, got {threshold}."
            raise ValueError(msg)
        self._config = _read_config(self.folder)
        self._model = OnnxTextModel(
            self.folder / "conflict.onnx",
            self.folder / "tokenizer.json",
            max_tokens=self._config["max_tokens"],
            threads=threads,
            batch_tokens=batch_tokens,
        )
        self.name = f"{self._config['name']}-{self._config['version']}"
        self.threshold = float(self._config["threshold"] if threshold is None else threshold)
        self.calibration = Calibration(**self._config["calibration"])
        self.unjudged_language = 0
        self._lock = threading.Lock()

    @cached_property
    def gate(self) -> Gate | None:
        """The gate that was measured with this model, or None if the folder has none."""
        own = self._config.get("gate")
        if own is None:
            return None
        shipped = Gate.default()
        if (own["threshold"], own["measured"]) == (shipped.threshold, shipped.measured):
            return shipped
        return Gate(own["threshold"], encoder=shipped.encoder, measured=own["measured"])

    def relation(self, relation: Relation) -> RelationDetector:
        """Give what tells which statements say the same ("supports") or are apart ("neither")."""
        return RelationDetector(relation, self.name, self.relations)

    def score(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:  # noqa: ARG002
        """Score pairs of statements.

        Args:
            pairs: (older, newer) texts.
            query: Not used: the verdict of this model does not depend on the question.

        Returns:
            Shape (n,): the calibrated probability that the newer statement makes the older one no
            longer true; NaN where one of the texts is not English.
        """
        return self.relations(pairs)[:, SUPERSEDES].copy()

    def relations(self, pairs: Sequence[TextPair]) -> ScoreArray:
        """Say how the newer statement of each pair relates to the older one.

        Returns:
            Shape (n, 3): the calibrated probabilities that the newer statement supersedes the
            older one, supports it, or does neither; NaN where one of the texts is not English.
        """
        relations = np.full((len(pairs), 3), np.nan, dtype=np.float32)
        judged = [row for row, pair in enumerate(pairs) if all(map(self.can_judge, pair))]
        if len(judged) < len(pairs):
            with self._lock:
                self.unjudged_language += len(pairs) - len(judged)
        if judged:
            logits = self._model.run([(pairs[row][0], pairs[row][1]) for row in judged])
            relations[judged] = probabilities_of(logits, self._config)
        return relations

    def can_judge(self, text: str) -> bool:
        """Whether the text is in a language that the model reads, which is English."""
        return _can_judge(text, self.folder / "tokenizer.json")

    def __repr__(self) -> str:
        return f"BundledDetector(name={self.name!r}, threshold={self.threshold:g})"

    def __getstate__(self) -> dict[str, Any]:
        return {
            "folder": self.folder,
            "threshold": self.threshold,
            "threads": self._model.threads,
            "batch_tokens": self._model.batch_tokens,
        }

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        folder, options = state["folder"], {k: v for k, v in state.items() if k != "folder"}
        BundledDetector.__init__(self, folder, **options)


def probabilities(
    logits: npt.NDArray[np.float32],
    temperature: float,
    biases: Sequence[float] = (0.0, 0.0, 0.0),
) -> npt.NDArray[np.float32]:
    """Calibrated probabilities (n, 3) from the model's outputs (n, 3).

    Args:
        logits: For supersedes, supports and neither.
        temperature: Divides the logits.
        biases: Added to the logits before that: in a collection most pairs have nothing to do with
            each other, or say the same, far more than among the pairs that are trained on.
    """
    scaled = (logits + np.asarray(biases, dtype=np.float32)) / temperature
    raised = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True), dtype=np.float32)


def probabilities_of(
    logits: npt.NDArray[np.float32], config: Mapping[str, Any]
) -> npt.NDArray[np.float32]:
    """Probabilities with the temperature and the biases of a ``config.json``."""
    return probabilities(logits, config["temperature"], config.get("biases", (0.0, 0.0, 0.0)))


@lru_cache(maxsize=65_536)
def _can_judge(text: str, tokenizer: Path) -> bool:
    vocabulary = load_tokenizer(tokenizer, 256)
    return looks_english(text, lambda word: vocabulary.token_to_id(word) is not None)


@lru_cache(maxsize=32)
def _config_of(path: Path, _modified: int) -> dict[str, Any]:
    config = json.loads(path.read_text(encoding="utf-8"))
    needed = {"name", "version", "threshold", "temperature", "max_tokens", "calibration"}
    missing = sorted(needed - set(config))
    if missing:
        msg = f"{path} lacks {', '.join(missing)}."
        raise ValueError(msg)
    return cast("dict[str, Any]", config)


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    return _config_of(path, path.stat().st_mtime_ns)
