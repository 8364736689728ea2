from __future__ import annotations

import asyncio
import pickle

import pytest
from langchain_core.documents import Document
from pydantic import ValidationError

from gcmem import Collector
from langchain_gcmem import GCMemCompressor
from tests.langchain.support import ListRetriever, doc, ruled, slot_collector, texts

FEES = [
    Document("fee=10", id="a", metadata={"created_at": 1, "source": "a.md", "page": 3}),
    Document("fee=12", id="b", metadata={"created_at": 2, "source": "b.md", "page": 9}),
    Document("tea=free", id="c", metadata={"created_at": 1}),
]


def test_contradicted_documents_go_and_the_others_are_the_very_objects() -> None:
    """A05."""
    kept = GCMemCompressor(collector=slot_collector()).compress_documents(FEES, "fee?")
    assert len(kept) == 2
    assert kept[0] is FEES[1]
    assert kept[1] is FEES[2]


async def test_async_gives_the_sync_result_inside_a_running_loop() -> None:
    """A02."""
    compressor = GCMemCompressor(collector=slot_collector())
    kept = await compressor.acompress_documents(FEES, "fee?")
    assert kept == compressor.compress_documents(FEES, "fee?")


def test_k_cuts_after_collecting() -> None:
    compressor = GCMemCompressor(collector=slot_collector(), k=2)
    stream = [doc("fee=1", 1), doc("fee=2", 2), doc("tea=x", 1), doc("cup=y", 1)]
    assert texts(compressor.compress_documents(stream, "q")) == ["fee=2", "tea=x"]


def test_as_of_and_history_are_options() -> None:
    then = GCMemCompressor(collector=slot_collector(), as_of=1)
    assert texts(then.compress_documents(FEES, "q")) == ["fee=10", "tea=free"]
    past = GCMemCompressor(collector=slot_collector(), history=True)
    marked = past.compress_documents(FEES, "q")
    assert len(marked) == 3
    assert marked[0].metadata["superseded_by"] == "b"
    assert "superseded_by" not in FEES[0].metadata


def test_metadata_of_a_cut_document_passes_through() -> None:
    old = Document("I live in Leeds. I like tea.", id="x", metadata={"created_at": 1, "page": 3})
    new = Document("I moved to York.", id="y", metadata={"created_at": 2})
    collector = ruled(lambda older, newer: "Leeds" in older and "York" in newer)
    cut, _ = GCMemCompressor(collector=collector).compress_documents([old, new], "q")
    assert (cut.id, cut.page_content) == ("x", "I like tea.")
    assert cut.metadata == {"created_at": 1, "page": 3}


def test_nothing_in_gives_nothing_out() -> None:
    compressor = GCMemCompressor(collector=slot_collector())
    assert list(compressor.compress_documents([], "q")) == []
    assert list(asyncio.run(compressor.acompress_documents([], "q"))) == []


def test_a_misspelt_option_is_an_error() -> None:
    with pytest.raises(ValidationError, match="top_n"):
        GCMemCompressor(top_n=3)


def test_it_survives_pickling() -> None:
    compressor = GCMemCompressor(collector=Collector("explicit"), k=2)
    again = pickle.loads(pickle.dumps(compressor))
    assert again.k == 2
    assert again.compress_documents(FEES, "q") == compressor.compress_documents(FEES, "q")


def test_it_works_in_a_contextual_compression_retriever() -> None:
    classic = pytest.importorskip(
        "langchain_classic.retrievers", reason="langchain-classic is not installed (extra: bench)"
    )
    retriever = classic.ContextualCompressionRetriever(
        base_compressor=GCMemCompressor(collector=slot_collector()),
        base_retriever=ListRetriever(documents=FEES),
    )
    assert texts(retriever.invoke("fee?")) == ["fee=12", "tea=free"]
