"""How the shipped model was made, usable on a user's own labelled pairs (extra ``train``)."""

from __future__ import annotations

from gcmem.training.pairs import LabelledPair, read_pairs, write_pairs

__all__ = ["LabelledPair", "read_pairs", "train", "write_pairs"]


def __getattr__(name: str) -> object:
    """Load `train`, and with it torch, at its first use."""
    if name == "train":
        from gcmem.training.training import train

        return train
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
