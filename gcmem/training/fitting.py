"""The training loop: batches of like length, cosine schedule."""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from gcmem.training.model import ConflictModel

log = logging.getLogger(__name__)

Task = Literal["supersession", "nli"]


@dataclass(frozen=True, slots=True)
class Example:
    """A pair of texts with the index of its label, for one of the two heads.

    Attributes:
        first: The older text.
        second: The newer text.
        label: Index in LABELS.
        task: The head that learns from it.
        weight: Relative weight in the loss.
        no_conflict: The label says no more than that the pair does not conflict: ``supports`` and
            ``neither`` are equally right.
    """

    first: str
    second: str
    label: int
    task: Task = "supersession"
    weight: float = 1.0
    no_conflict: bool = False


def load_tokenizer(folder: str | Path, *, max_length: int = 128) -> Tokenizer:
    """The tokenizer of a model folder, cutting the longer text of a pair first."""
    tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=max_length, strategy="longest_first")
    return tokenizer


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded model inputs, each (n, tokens) int64."""

    input_ids: Tensor
    attention_mask: Tensor
    token_type_ids: Tensor

    def inputs(self) -> tuple[Tensor, Tensor, Tensor]:
        """The three tensors in the order of the model's arguments."""
        return self.input_ids, self.attention_mask, self.token_type_ids


def encode(
    tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]
) -> list[tuple[list[int], list[int]]]:
    """Token ids and segment ids of each pair, unpadded."""
    return [(item.ids, item.type_ids) for item in tokenizer.encode_batch(list(pairs))]


def pad(encoded: Sequence[tuple[list[int], list[int]]]) -> Batch:
    """Pad encoded pairs to the longest of them."""
    width = max(len(ids) for ids, _ in encoded)
    ids = np.zeros((len(encoded), width), dtype=np.int64)
    mask = np.zeros_like(ids)
    types = np.zeros_like(ids)
    for row, (tokens, segments) in enumerate(encoded):
        ids[row, : len(tokens)] = tokens
        types[row, : len(tokens)] = segments
        mask[row, : len(tokens)] = 1
    return Batch(torch.from_numpy(ids), torch.from_numpy(mask), torch.from_numpy(types))


def buckets(lengths: Sequence[int], size: int, generator: random.Random) -> Iterator[list[int]]:
    """Shuffled batches of indices; the members of a batch have similar lengths."""
    order = list(range(len(lengths)))
    generator.shuffle(order)
    batches: list[list[int]] = []
    pool = 32 * size
    for start in range(0, len(order), pool):
        part = sorted(order[start : start + pool], key=lambda index: lengths[index])
        batches += [part[at : at + size] for at in range(0, len(part), size)]
    generator.shuffle(batches)
    yield from batches


def fit(
    model: ConflictModel,
    tokenizer: Tokenizer,
    epochs: Sequence[Sequence[Example]] | Callable[[int], Sequence[Example]],
    *,
    number_of_epochs: int,
    learning_rate: float = 5e-5,
    batch_size: int = 64,
    warmup: float = 0.06,
    weight_decay: float = 0.01,
    label_smoothing: float = 0.0,
    minutes: float | None = None,
    seed: int = 0,
    after_epoch: Callable[[int], None] | None = None,
) -> dict[str, float]:
    """Train the model in place.

    Args:
        model: The model; its state after the last step is the result.
        tokenizer: Its tokenizer, which sets the longest input.
        epochs: The examples of every epoch, or a function from the epoch's number to them.
        number_of_epochs: How many epochs.
        learning_rate: Peak of the cosine schedule.
        batch_size: Pairs in one step.
        warmup: Share of the schedule in which the rate rises.
        weight_decay: Of the matrices.
        label_smoothing: Probability that is spread over all labels.
        minutes: With a limit, the schedule also ends after this many minutes of training; the time
            that `epochs` and `after_epoch` take is not part of them.
        seed: Of dropout and of the order of the batches.
        after_epoch: Called with the epoch's number after each.

    Returns:
        Steps, seconds and the mean loss of the last 200 steps.
    """
    generator = random.Random(seed)
    torch.manual_seed(seed)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    decayed = [parameter for parameter in trained if parameter.ndim > 1]
    others = [parameter for parameter in trained if parameter.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [
            {"params": decayed, "weight_decay": weight_decay},
            {"params": others, "weight_decay": 0.0},
        ],
        lr=learning_rate,
        fused=True,
    )
    started = time.monotonic()
    spent_outside = 0.0
    step = 0
    losses: list[float] = []
    model.train()
    for epoch in range(number_of_epochs):
        asked = time.monotonic()
        examples = epochs(epoch) if callable(epochs) else epochs[epoch % len(epochs)]
        spent_outside += time.monotonic() - asked
        encoded = encode(tokenizer, [(e.first, e.second) for e in examples])
        batches = list(buckets([len(ids) for ids, _ in encoded], batch_size, generator))
        for position, members in enumerate(batches):
            done = (epoch + position / len(batches)) / number_of_epochs
            if minutes is not None:
                done = max(done, (time.monotonic() - started - spent_outside) / (60 * minutes))
            if done >= 1.0:
                break
            rate = min(1.0, done / warmup) * 0.5 * (1 + math.cos(math.pi * done))
            for group in optimizer.param_groups:
                group["lr"] = learning_rate * max(rate, 1e-3)
            loss = _loss(
                model,
                [examples[i] for i in members],
                [encoded[i] for i in members],
                label_smoothing,
            )
            optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward(loss)
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            step += 1
            losses.append(loss.item())
            if step % 200 == 0:
                log.info(
                    "step %d, epoch %.2f, done %.3f, loss %.4f, %.0f pairs/s",
                    step,
                    epoch + position / len(batches),
                    done,
                    float(np.mean(losses[-200:])),
                    step * batch_size / (time.monotonic() - started - spent_outside),
                )
        if after_epoch is not None:
            pause = time.monotonic()
            after_epoch(epoch)
            model.train()
            spent_outside += time.monotonic() - pause
    return {
        "steps": step,
        "seconds": time.monotonic() - started,
        "loss": float(np.mean(losses[-200:])) if losses else float("nan"),
    }


def _loss(
    model: ConflictModel,
    examples: Sequence[Example],
    encoded: Sequence[tuple[list[int], list[int]]],
    label_smoothing: float,
) -> Tensor:
    batch = pad(encoded)
    labels = torch.tensor([e.label for e in examples])
    weights = torch.tensor([e.weight for e in examples])
    is_nli = torch.tensor([e.task == "nli" for e in examples])
    supersession, nli = model.both(*batch.inputs())
    logits = torch.where(is_nli.unsqueeze(-1), nli, supersession)
    each = functional.cross_entropy(
        logits, labels, reduction="none", label_smoothing=label_smoothing
    )
    no_conflict = torch.tensor([e.no_conflict for e in examples])
    if no_conflict.any():
        either = logits.logsumexp(-1) - logits[:, 1:].logsumexp(-1)
        each = torch.where(no_conflict, either, each)
    return (each * weights).sum() / weights.sum()


def predict_logits(
    model: ConflictModel,
    tokenizer: Tokenizer,
    pairs: Sequence[tuple[str, str]],
    *,
    batch_size: int = 128,
    task: Task = "supersession",
) -> np.ndarray:
    """Logits of the pairs, (n, 3) float32, sorted by length inside."""
    encoded = encode(tokenizer, pairs)
    order = sorted(range(len(encoded)), key=lambda index: len(encoded[index][0]))
    logits = np.zeros((len(encoded), 3), dtype=np.float32)
    model.eval()
    with torch.inference_mode():
        for start in range(0, len(order), batch_size):
            members = order[start : start + batch_size]
            outputs = model.both(*pad([encoded[i] for i in members]).inputs())
            logits[members] = outputs[0 if task == "supersession" else 1].numpy()
    return logits
