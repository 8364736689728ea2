"""Kappa by any NLI cross-encoder, through sentence-transformers (extra ``nli``)."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from gcmem.detectors.base import Calibration, ScoreArray, TextPair

__all__ = ["CrossEncoderDetector", "Direction"]

Direction: TypeAlias = Literal["forward", "backward", "both"]

_CONTRADICTION: Final = frozenset({"contradiction", "contradictory", "contradict", "contradicts"})


class CrossEncoderDetector:
    """The probability that an NLI model gives to "contradiction", for the two statements.

    Softmax is taken over the model's logits, and the position of "contradiction" is read from the
    model's own ``id2label``; whether it finds an entailment too is never asked, since shared words
    make entailment likely just where a value was replaced. NLI knows no time and no direction of
    change, so this is a baseline for languages and domains that the bundled model does not read.

    The model is loaded at the first score. Safe to share between threads, can be pickled.

    Args:
        model_name_or_path: A Hugging Face name ("cross-encoder/nli-deberta-v3-small") or a folder.
        direction: Which statement is the premise: "forward" the older, "backward" the newer, or
            "both", the higher of the two scores (twice the cost).
        labels: What the model's outputs mean, by position, where its config does not say.
        threshold: Score from which a pair counts as a conflict. The default is not calibrated:
            measure your own with `gcmem.calibrate` or ``gcmem calibrate``, whose folder
            `load_detector` reads.
        device: "cpu", "cuda", ...; None leaves the choice to sentence-transformers.
        batch_size: Pairs in one model call.
        max_tokens: Longer pairs are cut; None leaves it to the model.
        revision: Branch, tag or commit on the hub.
        local_files_only: Never ask the hub.

    Raises:
        FileNotFoundError: `model_name_or_path` is a `Path` and nothing is there.
        ImportError: At the first score: the extra ``nli`` is not installed.
        ValueError: A parameter is out of range; at the first score: the model has one output (a
            reranker), or none of its labels is "contradiction".

    Example:
        >>> from gcmem import Collector
        >>> judge = CrossEncoderDetector("cross-encoder/nli-deberta-v3-small", direction="both")
        >>> collector = Collector(judge)  # the model is loaded when it is first needed
    """

    calibration: Calibration | None = None
    uses_query: bool = False

    def __init__(
        self,
        model_name_or_path: str | Path,
        *,
        direction: Direction = "forward",
        labels: Sequence[str] | None = None,
        threshold: float = 0.5,
        device: str | None = None,
        batch_size: int = 32,
        max_tokens: int | None = None,
        revision: str | None = None,
        local_files_only: bool = False,
    ) -> None:
        if direction not in get_args(Direction):
            msg = f"direction must be one of {list(get_args(Direction))}, got {direction!r}."
            raise ValueError(msg)
        if isinstance(labels, str):
            msg = f"labels must be a sequence of names, got the text {labels!r}."
            raise TypeError(msg)
        if not 0 < threshold <= 1:
            msg = f"threshold must be above 0 and at most 1, got {threshold!r}."
            raise ValueError(msg)
        for name, value in (("batch_size", batch_size), ("max_tokens", max_tokens)):
            if value is not None and value < 1:
                msg = f"{name} must be at least 1, got {value!r}."
                raise ValueError(msg)
        if isinstance(model_name_or_path, Path) and not model_name_or_path.is_dir():
            msg = f"there is no model folder {model_name_or_path}."
            raise FileNotFoundError(msg)
        self.model_name_or_path = str(model_name_or_path)
        self.direction: Direction = direction
        self.labels = None if labels is None else tuple(labels)
        self.threshold = float(threshold)
        self.device = device
        self.batch_size = batch_size
        self.max_tokens = max_tokens
        self.revision = revision
        self.local_files_only = local_files_only
        self._model: Any = None
        self._contradiction = -1
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model, its version as far as it is known, and the direction."""
        version = self.revision or _version_of(Path(self.model_name_or_path))
        cut = f":{self.max_tokens}" if self.max_tokens else ""
        labels = f":{'/'.join(self.labels)}" if self.labels else ""
        model = f"{self.model_name_or_path}@{version}" if version else self.model_name_or_path
        return f"cross-encoder:{model}:{self.direction}{cut}{labels}"

    def score(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        """Score pairs of statements.

        Args:
            pairs: (older, newer) texts.
            query: Not used.

        Returns:
            Shape (n,): P(contradiction).
        """
        del query
        if not pairs:
            return np.empty(0, dtype=np.float32)
        forward = [(older, newer) for older, newer in pairs]
        backward = [(newer, older) for older, newer in pairs]
        if self.direction == "both":
            chances = self._contradictions(forward + backward).reshape(2, len(pairs))
            return np.asarray(chances.max(axis=0), dtype=np.float32)
        return self._contradictions(forward if self.direction == "forward" else backward)

    def _contradictions(self, pairs: list[TextPair]) -> ScoreArray:
        with self._lock:  # fast tokenizers cannot be shared between threads
            self._load()
            import torch  # noqa: PLC0415  (an extra)

            logits = self._model.predict(
                pairs,
                batch_size=self.batch_size,
                activation_fn=torch.nn.Identity(),
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return _softmax(np.asarray(logits, dtype=np.float32))[:, self._contradiction]

    def _load(self) -> None:
        if self._model is not None:
            return
        try:
            from sentence_transformers import CrossEncoder  # noqa: PLC0415  (an extra)
        except ImportError as error:
            msg = (
                f"the cross-encoder {self.model_name_or_path!r} needs sentence-transformers; "
                'install the extra: pip install "gcmem[nli]"'
            )
            raise ImportError(msg) from error
        model = CrossEncoder(
            self.model_name_or_path,
            max_length=self.max_tokens,
            device=self.device,
            revision=self.revision,
            local_files_only=self.local_files_only,
        )
        names = self.labels if self.labels is not None else model.config.id2label
        self._contradiction = contradiction_at(
            names, outputs=int(model.config.num_labels), model=self.model_name_or_path
        )
        self._model = model

    def __repr__(self) -> str:
        return (
            f"CrossEncoderDetector({self.model_name_or_path!r}, direction={self.direction!r}, "
            f"threshold={self.threshold:g})"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in {"_lock", "_model"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._model = None
        self._lock = threading.Lock()


def contradiction_at(names: Sequence[str] | Mapping[Any, str], *, outputs: int, model: str) -> int:
    """Find which output of a model means "contradiction".

    Raises:
        ValueError: The model has one output, the labels are not as many as its outputs, they are
            placeholders such as "LABEL_0", or not exactly one of them means contradiction.
    """
    if outputs == 1:
        msg = (
            f"{model!r} has one output, so it is a reranker or a similarity model and no NLI "
            "model; choose one with the labels contradiction, entailment and neutral."
        )
        raise ValueError(msg)
    items = names.items() if isinstance(names, Mapping) else enumerate(names)
    by_position = {int(position): str(label) for position, label in items}
    shown = [by_position[position] for position in sorted(by_position)]
    if sorted(by_position) != list(range(outputs)):
        msg = f"labels must name each of the {outputs} outputs of {model!r}, got {shown}."
        raise ValueError(msg)
    found = [i for i, label in enumerate(shown) if label.strip().casefold() in _CONTRADICTION]
    if len(found) == 1:
        return found[0]
    if all(label.upper().startswith("LABEL_") for label in shown):
        msg = (
            f"the config of {model!r} does not say what its outputs mean ({shown}); pass "
            'labels=("contradiction", "entailment", "neutral") in the order of its model card.'
        )
        raise ValueError(msg)
    msg = f"exactly one label of {model!r} must be a contradiction, got {shown}."
    raise ValueError(msg)


def _softmax(logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True), dtype=np.float32)


def _version_of(folder: Path) -> str:
    """Tell versions of a local model apart by its config and the size and time of its weights."""
    config = folder / "config.json"
    if not config.is_file():
        return ""
    digest = hashlib.blake2b(config.read_bytes(), digest_size=4)
    for file in sorted([*folder.glob("*.safetensors"), *folder.glob("*.bin")]):
        status = file.stat()
        digest.update(f"{file.name}:{status.st_size}:{status.st_mtime_ns}".encode())
    return digest.hexdigest()
