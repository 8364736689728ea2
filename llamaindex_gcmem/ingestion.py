"""Writes the records of a `MemoryStream` to a LlamaIndex index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from llama_index.core.indices.vector_store.base import VectorStoreIndex
from llama_index.core.schema import TextNode

from gcmem.ingestion import Record
from gcmem.record_writing import WriteReport, write_records

__all__ = ["IndexRecords", "write_to_index"]


def write_to_index(
    records: Iterable[Record],
    index: VectorStoreIndex,
    *,
    batch_size: int = 64,
    progress_file: str | Path | None = None,
    progress: bool = False,
) -> WriteReport:
    """Write the records that the index does not hold yet, one node for each.

    Their metadata is kept out of what is embedded and of what a model reads.

    Args:
        records: From `gcmem.ingestion.MemoryStream.to_records`.
        index: An index over any vector store.
        batch_size: How many records to embed and write at once.
        progress_file: Where to note what was written, for a store that cannot tell.
        progress: Whether to show a progress bar.

    Raises:
        IngestionError: A batch could not be written; the error says what was, and calling again
            goes on from there.

    Example:
        >>> from llama_index.core import MockEmbedding, VectorStoreIndex
        >>> from gcmem.ingestion import MemoryStream
        >>> said = {"role": "user", "text": "I live in Kiel.", "time": "2026-01-02"}
        >>> records = MemoryStream(scope={"user_id": "u7"}).to_records([said])
        >>> index = VectorStoreIndex([], embed_model=MockEmbedding(8))
        >>> len(write_to_index(records, index).written), len(write_to_index(records, index).written)
        (1, 0)
    """
    return write_records(
        records,
        IndexRecords(index),
        batch_size=batch_size,
        progress_file=progress_file,
        progress=progress,
    )


class IndexRecords:
    """A LlamaIndex index as a `gcmem.record_writing.RecordStore`."""

    def __init__(self, index: VectorStoreIndex) -> None:
        self._index = index

    def add(self, records: Sequence[Record]) -> None:
        """Embed and store records."""
        self._index.insert_nodes(
            [
                TextNode(
                    id_=record.id,
                    text=record.text,
                    metadata=dict(record.metadata),
                    excluded_embed_metadata_keys=list(record.metadata),
                    excluded_llm_metadata_keys=list(record.metadata),
                )
                for record in records
            ]
        )

    def present(self, ids: Sequence[str]) -> set[str] | None:
        """Tell which of the ids are stored; None if the store cannot tell."""
        if not self._index.vector_store.stores_text:
            return {node_id for node_id in ids if self._index.docstore.document_exists(node_id)}
        try:
            found = self._index.vector_store.get_nodes(node_ids=list(ids))
        except NotImplementedError:
            return None
        return {node.node_id for node in found}

    def remove(self, ids: Sequence[str]) -> None:
        """Delete records."""
        self._index.vector_store.delete_nodes(list(ids))
        kept_twice = [node_id for node_id in ids if node_id in self._index.index_struct.nodes_dict]
        if kept_twice:  # where the vector store holds no text, the docstore does
            self._index.delete_nodes(kept_twice, delete_from_docstore=True)
