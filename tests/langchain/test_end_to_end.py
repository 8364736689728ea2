"""The default collector and the bundled encoder over a real vector store, offline."""

from __future__ import annotations

from pathlib import Path

import chromadb
from langchain_chroma import Chroma
from langchain_core.documents import Document

from gcmem import to_utc
from langchain_gcmem import BundledEmbeddings, GCMemRetriever
from tests.langchain.support import texts

NOTES = [
    ("old", "Elena's apartment is in Ulm.", "2025-03-14", {}),
    ("new", "Elena's apartment is in Kiel now.", "2025-09-14", {"supersedes": "old"}),
    ("tea", "Elena drinks green tea in the morning.", "2025-01-10", {}),
    ("cat", "Her cat is called Minka.", "2024-05-02", {}),
]


async def test_the_default_setup_works_offline_on_chroma(tmp_path: Path) -> None:
    store = Chroma(
        client=chromadb.PersistentClient(str(tmp_path)),
        collection_name="notes",
        embedding_function=BundledEmbeddings(),
    )
    store.add_documents(
        [
            Document(text, id=name, metadata={"created_at": to_utc(when).timestamp(), **more})
            for name, text, when, more in NOTES
        ]
    )
    base = store.as_retriever(search_kwargs={"k": 3})
    assert "Elena's apartment is in Ulm." in texts(base.invoke("Where is Elena's apartment?"))
    retriever = GCMemRetriever(base_retriever=base)
    found = retriever.invoke("Where is Elena's apartment?")
    assert {document.id for document in found} == {"new", "tea", "cat"}
    assert found[0].id == "new"
    assert await retriever.ainvoke("Where is Elena's apartment?") == found
