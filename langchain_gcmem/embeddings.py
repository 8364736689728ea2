"""The sentence encoder that ships with gcmem, as LangChain embeddings: offline, on the CPU."""

from __future__ import annotations

from langchain_core.embeddings import Embeddings
from typing_extensions import override

from gcmem.encoder import SentenceEncoder

__all__ = ["BundledEmbeddings"]


class BundledEmbeddings(Embeddings):
    """all-MiniLM-L6-v2 as int8 ONNX, 384 dimensions, unit length.

    Example:
        >>> vector = BundledEmbeddings().embed_query("Where does Elena live?")
        >>> len(vector)
        384
    """

    def __init__(self) -> None:
        self._encoder = SentenceEncoder()

    @override
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts."""
        vectors: list[list[float]] = self._encoder.encode(texts).tolist()
        return vectors

    @override
    def embed_query(self, text: str) -> list[float]:
        """Embed one text."""
        return self.embed_documents([text])[0]
