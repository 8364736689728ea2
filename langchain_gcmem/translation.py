"""Documents to memories, and memories back to the very documents they were read from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from langchain_core.documents import Document

from gcmem import Memory
from gcmem.mapping import MetadataMapping

__all__ = ["DocumentTranslator", "check_documents"]


class DocumentTranslator:
    """Translates the documents of one request, and remembers which memory came from which.

    Args:
        mapping: How metadata is read.
    """

    def __init__(self, mapping: MetadataMapping) -> None:
        self._mapping = mapping
        self._read: list[Memory] = []  # keeps them alive, so that id() stays unique
        self._by_object: dict[int, Document] = {}
        self._by_id: dict[str, Document] = {}

    def read(self, documents: Iterable[Document]) -> list[Memory]:
        """Read documents as memories.

        Raises:
            ValueError: A time in the metadata cannot be read.
        """
        memories = []
        for document in documents:
            memory = self._mapping.memory(
                document.page_content, document.metadata, id=document.id or _derived_id(document)
            )
            self._by_object[id(memory)] = document
            self._by_id.setdefault(memory.id, document)
            memories.append(memory)
        self._read.extend(memories)
        return memories

    def write(self, memory: Memory, candidate: Memory) -> Document:
        """Give the document of a memory that is to be shown.

        Args:
            memory: As the collector kept it.
            candidate: The same memory as it was before.

        Returns:
            The original document where nothing changed; a copy with the new text and metadata
            where something was cut or annotated; a new document for a memory that no document
            stands behind (short-term memory).
        """
        original = self._by_object.get(id(candidate)) or self._by_id.get(candidate.id)
        if original is None:
            metadata = self._mapping.written(memory)
            return Document(page_content=memory.text, id=memory.id, metadata=metadata)
        if memory is candidate:
            return original
        return original.model_copy(
            update={"page_content": memory.text, "metadata": dict(memory.metadata)}
        )

    def write_all(
        self, memories: Sequence[Memory], candidates: Sequence[Memory], positions: Sequence[int]
    ) -> list[Document]:
        """Give the documents of memories, given their positions among the candidates."""
        return [
            self.write(memory, candidates[position])
            for memory, position in zip(memories, positions, strict=True)
        ]


def check_documents(found: Any, *, of: str) -> list[Document]:
    """Check that something is a sequence of documents.

    Raises:
        TypeError: It is not; the message names ``of``, who gave it.
    """
    if not isinstance(found, Sequence) or isinstance(found, str):
        msg = f"{of} must give a list of Documents, got {type(found).__name__}."
        raise TypeError(msg)
    for position, document in enumerate(found):
        if not isinstance(document, Document):
            msg = (
                f"{of} must give a list of Documents, got {type(document).__name__} at position "
                f"{position}."
            )
            raise TypeError(msg)
    return list(found)


def _derived_id(document: Document) -> str:
    """An id for a document without one: equal text with other metadata is another document."""
    metadata = sorted((str(key), repr(value)) for key, value in document.metadata.items())
    identity = repr((document.page_content, metadata))
    digest = hashlib.blake2b(identity.encode(errors="surrogatepass"), digest_size=8)
    return f"m-{digest.hexdigest()}"
