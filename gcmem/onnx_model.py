"""Runs a text model with onnxruntime: loaded once per process, batched by length."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["WEIGHTS", "OnnxTextModel", "load_tokenizer"]

WEIGHTS = Path(__file__).parent / "weights"
"""The folder of the models that ship with gcmem."""

FloatArray: TypeAlias = npt.NDArray[np.float32]
IntArray: TypeAlias = npt.NDArray[np.int64]

_PAD_TO = 8
_CHARACTERS = 8192

_loaded: dict[tuple[str, int, int, int], Any] = {}
_lock = threading.Lock()


@dataclass(slots=True)
class OnnxTextModel:
    """A BERT-like ONNX model over texts or pairs of texts.

    The session is made at the first use, once for all instances of a process, and never travels:
    instances are small, can be pickled and used from any thread.

    Args:
        path: The ONNX file, with inputs input_ids, attention_mask and token_type_ids.
        tokenizer: The ``tokenizer.json`` file.
        max_tokens: Longer inputs are cut, the longer text of a pair first.
        threads: Threads inside one model call; None leaves the number to onnxruntime.
        batch_tokens: Padded tokens in one model call, at most (but never less than one input).
    """

    path: Path
    tokenizer: Path
    max_tokens: int = 256
    threads: int | None = None
    batch_tokens: int = 4096

    def __post_init__(self) -> None:
        if self.threads is not None and self.threads < 1:
            msg = f"threads must be None or at least 1, got {self.threads}."
            raise ValueError(msg)
        if self.batch_tokens < 1:
            msg = f"batch_tokens must be at least 1, got {self.batch_tokens}."
            raise ValueError(msg)

    def run(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> FloatArray:
        """The model's first output for each input, in the order of the inputs: (n, width).

        An empty input gives shape (0, 0).
        """
        if not len(texts):
            return np.zeros((0, 0), dtype=np.float32)
        rows = self._encode(texts)
        session = self.session()
        outputs: list[FloatArray] = []
        order: list[int] = []
        for members, ids, mask, types in padded_batches(rows, self.batch_tokens):
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
            outputs.append(session.run(None, inputs)[0])
            order += members
        result = np.empty((len(rows), outputs[0].shape[1]), dtype=np.float32)
        result[order] = np.concatenate(outputs)
        return result

    def session(self) -> Any:
        """The onnxruntime session, made at the first call in this process."""
        key = (str(self.path), self.threads or 0, os.getpid(), 0)
        found = _loaded.get(key)
        if found is None:
            with _lock:
                found = _loaded.get(key)
                if found is None:
                    found = _loaded[key] = _new_session(self.path, self.threads)
        return found

    def _encode(
        self, texts: Sequence[str] | Sequence[tuple[str, str]]
    ) -> list[tuple[list[int], list[int]]]:
        cut = [
            text[:_CHARACTERS]
            if isinstance(text, str)
            else (text[0][:_CHARACTERS], text[1][:_CHARACTERS])
            for text in texts
        ]
        encoded = load_tokenizer(self.tokenizer, self.max_tokens).encode_batch(cut)
        return [(item.ids, item.type_ids) for item in encoded]


def padded_batches(
    rows: Sequence[tuple[list[int], list[int]]], batch_tokens: int
) -> Iterator[tuple[list[int], IntArray, IntArray, IntArray]]:
    """Batches of rows of like length: (row numbers, ids, mask, segments), padded to eights."""
    order = sorted(range(len(rows)), key=lambda row: len(rows[row][0]))
    start = 0
    while start < len(order):
        end = start + 1
        while end < len(order):
            width = _rounded(len(rows[order[end]][0]))
            if width * (end + 1 - start) > batch_tokens:
                break
            end += 1
        members = order[start:end]
        width = _rounded(len(rows[members[-1]][0]))
        ids = np.zeros((len(members), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        types = np.zeros_like(ids)
        for at, row in enumerate(members):
            tokens, segments = rows[row]
            ids[at, : len(tokens)] = tokens
            mask[at, : len(tokens)] = 1
            types[at, : len(tokens)] = segments
        yield members, ids, mask, types
        start = end


def load_tokenizer(path: Path, max_tokens: int) -> Any:
    """The tokenizer of a file, loaded once per process, cutting inputs to `max_tokens`."""
    key = (str(path), max_tokens, os.getpid(), 1)
    found = _loaded.get(key)
    if found is None:
        with _lock:
            found = _loaded.get(key)
            if found is None:
                from tokenizers import Tokenizer  # noqa: PLC0415 - heavy, and not always needed

                found = Tokenizer.from_file(str(path))
                found.no_padding()
                found.enable_truncation(max_length=max_tokens, strategy="longest_first")
                _loaded[key] = found
    return found


def _rounded(length: int) -> int:
    return -(-length // _PAD_TO) * _PAD_TO


def _new_session(path: Path, threads: int | None) -> Any:
    import onnxruntime  # noqa: PLC0415 - heavy, and not always needed

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if threads is not None:
        options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
