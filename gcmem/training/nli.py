"""The NLI rows that are trained on as a second task: they teach the comparison of values."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import dataclass
from pathlib import Path

from gcmem.training.model import NLI_LABELS

CAPTION_SOURCES = frozenset({"snli_train_subsets", "snli_dev_test", "cad_nli"})
"""Rows about image captions, in which any other scene counts as a contradiction."""


@dataclass(frozen=True, slots=True)
class NLIRow:
    """One premise and hypothesis, with the index of its label in NLI_LABELS."""

    premise: str
    hypothesis: str
    label: int
    source: str


def read_nli(
    path: str | Path, *, captions: int = 20_000, longest: int = 400, seed: int = 0
) -> list[NLIRow]:
    """Read the NLI rows: every row of the sources without captions, and a sample of the others.

    Args:
        path: ``nli_train.jsonl.gz``.
        captions: How many rows about image captions to sample.
        longest: Rows with more characters than this (both sentences together) are left out.
        seed: Seed of the sample and of the order.
    """
    rows: list[NLIRow] = []
    about_captions: list[NLIRow] = []
    with gzip.open(path, "rt", encoding="utf-8") as source:
        for line in source:
            record = json.loads(line)
            if len(record["premise"]) + len(record["hypothesis"]) > longest:
                continue
            row = NLIRow(
                record["premise"],
                record["hypothesis"],
                NLI_LABELS.index(record["label"]),
                record["source"],
            )
            (about_captions if row.source in CAPTION_SOURCES else rows).append(row)
    generator = random.Random(seed)
    rows += generator.sample(about_captions, min(captions, len(about_captions)))
    generator.shuffle(rows)
    return rows
