"""The standard retriever suite of langchain-tests, which needs no network here."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests import RetrieversIntegrationTests

from gcmem import Collector
from langchain_gcmem import GCMemRetriever
from tests.langchain.support import WordHashEmbeddings


class TestGCMemRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return GCMemRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        store = InMemoryVectorStore(WordHashEmbeddings())
        notes = [Document(f"Note {n} about tea", metadata={"created_at": n}) for n in range(10)]
        store.add_documents(notes)
        return {"base_retriever": store.as_retriever(), "collector": Collector("explicit")}

    @property
    def retriever_query_example(self) -> str:
        return "tea"
