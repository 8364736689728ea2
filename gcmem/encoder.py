"""The bundled sentence encoder: all-MiniLM-L6-v2 as an int8 ONNX file, on the CPU, offline."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gcmem.onnx_model import WEIGHTS, OnnxTextModel

__all__ = ["SentenceEncoder"]


class SentenceEncoder:
    """Turns texts into unit vectors of 384 numbers; texts of like meaning come close.

    Loaded at the first use, safe to share between threads, can be pickled. Vectors of recent texts
    are kept in memory.

    Args:
        folder: Where ``encoder.onnx`` and ``tokenizer.json`` lie; None takes the bundled ones.
        threads: Threads inside one model call; None leaves the number to onnxruntime.
        cache_size: How many vectors to keep (about 1.6 kB each); 0 keeps none.

    Raises:
        FileNotFoundError: A file of the model is missing.
        ValueError: `threads` or `cache_size` is out of range.

    Example:
        >>> encoder = SentenceEncoder()
        >>> encoder.encode(["I live in Kiel.", "My home is in Kiel."]).shape
        (2, 384)
    """

    dimension: ClassVar[int] = 384

    def __init__(
        self,
        folder: str | Path | None = None,
        *,
        threads: int | None = None,
        cache_size: int = 20_000,
    ) -> None:
        if cache_size < 0:
            msg = f"cache_size must be at least 0, got {cache_size}."
            raise ValueError(msg)
        self.folder = Path(folder) if folder is not None else WEIGHTS
        for name in ("encoder.onnx", "tokenizer.json"):
            if not (self.folder / name).is_file():
                msg = f"the sentence encoder lacks {self.folder / name}."
                raise FileNotFoundError(msg)
        self._model = OnnxTextModel(
            self.folder / "encoder.onnx", self.folder / "tokenizer.json", threads=threads
        )
        self.cache_size = cache_size
        self._vectors: OrderedDict[bytes, npt.NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit vectors of the texts, (n, 384).

        Raises:
            TypeError: `texts` is a single string.
        """
        if isinstance(texts, str):
            msg = "texts must be a sequence of texts, got a single text; wrap it in []."
            raise TypeError(msg)
        keys = [_key(text) for text in texts]
        result = np.empty((len(keys), self.dimension), dtype=np.float32)
        missing: dict[bytes, str] = {}
        with self._lock:
            for row, (key, text) in enumerate(zip(keys, texts, strict=True)):
                vector = self._vectors.get(key)
                if vector is None:
                    missing[key] = text
                else:
                    self._vectors.move_to_end(key)
                    result[row] = vector
        if missing:
            made = self._model.run(list(missing.values()))
            vectors = dict(zip(missing, made, strict=True))
            for row, key in enumerate(keys):
                if key in vectors:
                    result[row] = vectors[key]
            self._keep(vectors)
        return result

    def similarity(self, first: Sequence[str], second: Sequence[str]) -> npt.NDArray[np.float32]:
        """Cosine similarity of every text of `first` with every text of `second`."""
        return self.encode(first) @ self.encode(second).T

    def _keep(self, vectors: dict[bytes, npt.NDArray[np.float32]]) -> None:
        if not self.cache_size:
            return
        with self._lock:
            for key, vector in vectors.items():
                self._vectors[key] = vector.copy()
            while len(self._vectors) > self.cache_size:
                self._vectors.popitem(last=False)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "folder": self.folder,
            "threads": self._model.threads,
            "cache_size": self.cache_size,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        SentenceEncoder.__init__(
            self, state["folder"], threads=state["threads"], cache_size=state["cache_size"]
        )


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
