"""The sentence encoder that ships with gcmem, as a LlamaIndex embedding: offline, on the CPU."""

from __future__ import annotations

import asyncio

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr

from gcmem.encoder import SentenceEncoder

__all__ = ["BundledEmbedding"]


class BundledEmbedding(BaseEmbedding):
    """all-MiniLM-L6-v2 as int8 ONNX, 384 dimensions, unit length.

    Example:
        >>> vector = BundledEmbedding().get_query_embedding("Where does Elena live?")
        >>> len(vector)
        384
    """

    model_name: str = "gcmem/all-MiniLM-L6-v2-int8"
    _encoder: SentenceEncoder = PrivateAttr(default_factory=SentenceEncoder)

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex serialises it."""
        return "GCMemBundledEmbedding"

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._encoder.encode(texts).tolist()
        return vectors

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)
