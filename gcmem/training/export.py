"""From torch to the int8 ONNX files that ship in ``gcmem/weights``."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn
from transformers import BertModel

from gcmem.training.fitting import load_tokenizer
from gcmem.training.model import ConflictModel, base_folder

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_OPSET = 18


class RowwiseInt8Embedding(nn.Module):
    """An embedding table kept as int8 with one scale for each row."""

    values: Tensor
    scales: Tensor

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        scales = (table.abs().amax(dim=1, keepdim=True) / 127.0).clamp(min=1e-12)
        self.register_buffer("values", torch.round(table / scales).to(torch.int8))
        self.register_buffer("scales", scales)

    def forward(self, ids: Tensor) -> Tensor:
        """Embeddings of the token ids."""
        rows = torch.nn.functional.embedding(ids, self.values).to(torch.float32)
        return rows * torch.nn.functional.embedding(ids, self.scales)


class MeanPooledEncoder(nn.Module):
    """A BERT trunk that gives one unit vector for each text: the mean over its tokens."""

    def __init__(self, trunk: BertModel) -> None:
        super().__init__()
        self.trunk = trunk

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """Normalised sentence vectors, (n, hidden)."""
        hidden = self.trunk(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(mean, dim=-1)


def load_encoder(folder: str | Path | None = None) -> MeanPooledEncoder:
    """The float sentence encoder of a model folder; None takes the base model."""
    trunk = BertModel.from_pretrained(
        Path(folder) if folder is not None else base_folder(),
        local_files_only=True,
        add_pooling_layer=False,
    )
    return MeanPooledEncoder(trunk).eval()


def export_conflict_model(model: ConflictModel, path: str | Path) -> None:
    """Write the supersession head of a model as an int8 ONNX file with the output ``logits``."""
    _export(model, model.trunk, path, output="logits")


def export_encoder(encoder: MeanPooledEncoder, path: str | Path) -> None:
    """Write a sentence encoder as an int8 ONNX file with the output ``embedding``."""
    _export(encoder, encoder.trunk, path, output="embedding")


def save_tokenizer(path: str | Path, *, folder: str | Path | None = None) -> None:
    """Write the tokenizer that both models share."""
    load_tokenizer(folder if folder is not None else base_folder()).save(str(path))


def _export(module: nn.Module, trunk: BertModel, path: str | Path, *, output: str) -> None:
    words = trunk.embeddings.word_embeddings
    int8_words = RowwiseInt8Embedding(words.weight.detach())
    trunk.embeddings.word_embeddings = int8_words  # type: ignore[assignment]
    attention = trunk.config._attn_implementation
    trunk.config._attn_implementation = "eager"
    module.eval()
    try:
        with tempfile.TemporaryDirectory() as folder:
            plain = Path(folder) / "float.onnx"
            _to_onnx(module, plain, output=output)
            fused = Path(folder) / "fused.onnx"
            _fuse(
                plain,
                fused,
                heads=trunk.config.num_attention_heads,
                hidden=trunk.config.hidden_size,
            )
            quantize_dynamic(
                fused,
                Path(path),
                op_types_to_quantize=["MatMul", "Gemm", "Attention"],
                per_channel=True,
                weight_type=QuantType.QInt8,
                extra_options={
                    "MatMulConstBOnly": True,
                    "DefaultTensorType": onnx.TensorProto.FLOAT,
                },
            )
    finally:
        trunk.embeddings.word_embeddings = words
        trunk.config._attn_implementation = attention


def _to_onnx(module: nn.Module, path: Path, *, output: str) -> None:
    example = tuple(torch.ones((2, 16), dtype=torch.int64) for _ in INPUTS)
    axes = {name: {0: "pairs", 1: "tokens"} for name in INPUTS} | {output: {0: "pairs"}}
    torch.onnx.export(
        module,
        example,
        str(path),
        input_names=list(INPUTS),
        output_names=[output],
        dynamic_axes=axes,
        opset_version=_OPSET,
        dynamo=False,
    )


def _fuse(plain: Path, fused: Path, *, heads: int, hidden: int) -> None:
    """Fuse attention, layer norm and GELU into single operators."""
    from onnxruntime.transformers.optimizer import optimize_model

    model = optimize_model(
        str(plain), model_type="bert", num_heads=heads, hidden_size=hidden, opt_level=0
    )
    model.save_model_to_file(str(fused))


def softmax(logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Probabilities along the last axis."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return cast("npt.NDArray[np.float32]", shifted / shifted.sum(axis=-1, keepdims=True))
