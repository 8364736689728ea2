"""The float model that a shipped int8 file stands for, so that training can go on from it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import numpy_helper

from gcmem.training.model import ConflictModel

Array = npt.NDArray[np.float32]


def restore(path: str | Path, *, base: str | Path | None = None) -> ConflictModel:
    """The conflict model of an ONNX file that `export_conflict_model` wrote, in float.

    Matrices and embeddings come back to within half a step of their int8 scale. The head of the
    second task (NLI) is not in the file: it starts as a copy of the supersession head, whose
    outputs correspond (see `NLI_LABELS`).

    Args:
        path: The ``conflict.onnx``.
        base: A folder with the configuration of its trunk; None is that of the bundled model.

    Raises:
        ValueError: The file is not one that `export_conflict_model` wrote.
    """
    graph = onnx.load(str(path)).graph
    stored = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    model = ConflictModel.from_base(base)
    state = model.state_dict()
    filled = {name: value for name, value in stored.items() if name in state}
    prefix = "trunk.embeddings.word_embeddings"
    filled[f"{prefix}.weight"] = _needed(stored, f"{prefix}.values", path).astype(
        np.float32
    ) * _needed(stored, f"{prefix}.scales", path)
    for layer in range(model.config.num_hidden_layers):
        filled |= _attention(stored, layer, path)
    for name, matrix in _matrices(graph, stored).items():
        filled[name] = matrix
    missing = sorted(name for name in state if name not in filled and not name.startswith("nli."))
    if missing:
        msg = f"{path} is not a conflict model that gcmem exported: it lacks {', '.join(missing)}"
        raise ValueError(msg)
    for name, value in filled.items():
        if tuple(value.shape) != tuple(state[name].shape):
            msg = f"{path}: {name} has shape {value.shape}, expected {tuple(state[name].shape)}"
            raise ValueError(msg)
        state[name] = torch.tensor(value, dtype=torch.float32)
    model.load_state_dict(state)
    model.nli.load_state_dict(model.supersession.state_dict())
    return model


def _needed(stored: dict[str, Array], name: str, path: str | Path) -> Array:
    if name not in stored:
        msg = f"{path} is not a conflict model that gcmem exported: it lacks {name}"
        raise ValueError(msg)
    return stored[name]


def _attention(stored: dict[str, Array], layer: int, path: str | Path) -> dict[str, Array]:
    """Query, key and value of a layer, which the fused operator keeps side by side."""
    weight = _plain(stored, f"Attention_{layer}_qkv_weight", path)
    bias = _needed(stored, f"Attention_{layer}_qkv_bias", path)
    found = {}
    for part, columns, values in zip(
        ("query", "key", "value"), np.split(weight, 3, axis=1), np.split(bias, 3), strict=True
    ):
        name = f"trunk.encoder.layer.{layer}.attention.self.{part}"
        found[f"{name}.weight"] = columns.T
        found[f"{name}.bias"] = values
    return found


def _matrices(graph: onnx.GraphProto, stored: dict[str, Array]) -> dict[str, Array]:
    """The other matrices, named after the module whose operator reads them."""
    found = {}
    for node in graph.node:
        quantized = [name for name in node.input if name.endswith("_quantized") and name in stored]
        if node.op_type == "MatMulInteger" and quantized:
            source = quantized[0].removesuffix("_quantized")
            module = node.name.strip("/").split("/MatMul")[0].split("/Gemm")[0].replace("/", ".")
            found[f"{module}.weight"] = _plain(stored, source, "").T
    return found


def _plain(stored: dict[str, Array], name: str, path: str | Path) -> Array:
    values = _needed(stored, f"{name}_quantized", path).astype(np.float32)
    zero = _needed(stored, f"{name}_zero_point", path).astype(np.float32)
    return (values - zero) * _needed(stored, f"{name}_scale", path)
