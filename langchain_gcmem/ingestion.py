"""Writes the records of a `MemoryStream` to a LangChain vector store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from gcmem.ingestion import Record
from gcmem.record_writing import WriteReport, write_records

__all__ = ["VectorStoreRecords", "write_to_vector_store"]


def write_to_vector_store(
    records: Iterable[Record],
    store: VectorStore,
    *,
    batch_size: int = 64,
    progress_file: str | Path | None = None,
    progress: bool = False,
) -> WriteReport:
    """Write the records that the store does not hold yet.

    Args:
        records: From `gcmem.ingestion.MemoryStream.to_records`.
        store: Any vector store.
        batch_size: How many records to embed and write at once.
        progress_file: Where to note what was written, for a store without ``get_by_ids``.
        progress: Whether to show a progress bar.

    Raises:
        IngestionError: A batch could not be written; the error says what was, and calling again
            goes on from there.

    Example:
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> from gcmem.ingestion import MemoryStream
        >>> from langchain_gcmem import BundledEmbeddings
        >>> said = {"role": "user", "text": "I live in Kiel.", "time": "2026-01-02"}
        >>> records = MemoryStream(scope={"user_id": "u7"}).to_records([said])
        >>> store = InMemoryVectorStore(BundledEmbeddings())
        >>> report = write_to_vector_store(records, store)
        >>> len(report.written), len(write_to_vector_store(records, store).written)
        (1, 0)
    """
    return write_records(
        records,
        VectorStoreRecords(store),
        batch_size=batch_size,
        progress_file=progress_file,
        progress=progress,
    )


class VectorStoreRecords:
    """A LangChain vector store as a `gcmem.record_writing.RecordStore`."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store

    def add(self, records: Sequence[Record]) -> None:
        """Embed and store records."""
        documents = [
            Document(record.text, id=record.id, metadata=dict(record.metadata))
            for record in records
        ]
        self._store.add_documents(documents, ids=[record.id for record in records])

    def present(self, ids: Sequence[str]) -> set[str] | None:
        """Tell which of the ids are stored; None if the store cannot tell."""
        try:
            found = self._store.get_by_ids(ids)
        except NotImplementedError:
            return None
        return {document.id for document in found if document.id is not None}

    def remove(self, ids: Sequence[str]) -> None:
        """Delete records."""
        self._store.delete(list(ids))
