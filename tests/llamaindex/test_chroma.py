"""Over a real Chroma collection on disk, as users have it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import chromadb
import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import (
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)
from llama_index.vector_stores.chroma import ChromaVectorStore

from gcmem import Collector
from llamaindex_gcmem import GCMemPostprocessor, GCMemRetriever
from tests.llamaindex.support import HashEmbedding, ids, replaces, slot_collector, text_node


@pytest.fixture
def client(tmp_path: Path) -> Any:
    return chromadb.PersistentClient(path=str(tmp_path / "chroma"))


def index_over(client: Any, nodes: list[TextNode]) -> VectorStoreIndex:
    store = ChromaVectorStore(chroma_collection=client.get_or_create_collection("memories"))
    index = VectorStoreIndex.from_vector_store(store, embed_model=HashEmbedding())
    if nodes:
        index.insert_nodes(nodes)
    return index


def epoch(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


def residences() -> list[TextNode]:
    stale = [
        text_node(f"Ann lives in town number {n}", epoch(f"2025-01-{n + 1:02}"), id_=f"old{n}")
        for n in range(25)
    ]
    return [
        *stale,
        text_node("Ann moved house and lives in Kiel now", epoch("2026-01-01"), id_="new"),
        text_node("Bob plays chess with Ann", epoch("2024-01-01"), id_="chess"),
    ]


MOVED = Collector(replaces("town number", "Kiel"))


def test_plain_retrieval_shows_stale_nodes_and_the_retriever_does_not(client: Any) -> None:
    index = index_over(client, residences())
    question = "Ann lives in town number"
    assert all(found.startswith("old") for found in ids(index.as_retriever().retrieve(question)))
    retriever = GCMemRetriever(
        index.as_retriever(similarity_top_k=2), collector=MOVED, fetch_k=27
    )  # fmt: skip
    assert ids(retriever.retrieve(question)) == ["new", "chess"]


async def test_the_asynchronous_path_gives_the_same(client: Any) -> None:
    index = index_over(client, residences())
    retriever = GCMemRetriever(index.as_retriever(), collector=MOVED, k=2, fetch_k=27)
    assert ids(await retriever.aretrieve("where")) == ids(retriever.retrieve("where"))


def test_nothing_is_written_to_the_store(client: Any) -> None:
    index = index_over(client, residences())
    collection = client.get_collection("memories")
    before = collection.get(include=["documents", "metadatas"])
    GCMemRetriever(index.as_retriever(), collector=MOVED, fetch_k=27).retrieve("where")
    assert collection.get(include=["documents", "metadatas"]) == before


def test_times_survive_the_store_in_every_form_that_it_takes(client: Any) -> None:
    nodes = [
        text_node("city=A", epoch("2026-01-01")),
        text_node("city=B", datetime(2026, 1, 2, tzinfo=UTC)),
        text_node("city=C", "2026-01-03T00:00:00+02:00"),
        text_node("city=D", int(epoch("2026-01-04"))),
        text_node("job=x"),
    ]
    index = index_over(client, nodes)
    retriever = GCMemRetriever(index.as_retriever(similarity_top_k=5), collector=slot_collector())
    assert sorted(ids(retriever.retrieve("city"))) == ["city=D", "job=x"]


def test_scores_metadata_and_relationships_of_the_store_pass_through(client: Any) -> None:
    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="letter")}
    nodes = [
        text_node("I live in Leeds. I like tea.", 1.0, id_="a", relationships=source,
                  metadata={"page": 3}),
        text_node("I moved to York.", 2.0, id_="b"),
    ]  # fmt: skip
    index = index_over(client, nodes)
    plain = {n.node_id: n for n in index.as_retriever().retrieve("Leeds")}
    retriever = GCMemRetriever(index.as_retriever(), collector=Collector(replaces("Leeds", "York")))
    found = {n.node_id: n for n in retriever.retrieve("Leeds")}
    assert found["a"].get_content() == "I like tea."
    for name in ("a", "b"):
        assert found[name].score == plain[name].score
        assert found[name].metadata == plain[name].metadata
        assert found[name].node.relationships == plain[name].node.relationships
    assert found["a"].node.ref_doc_id == "letter"


def test_filters_of_the_base_retriever_hold_for_the_wider_search(client: Any) -> None:
    index = index_over(client, residences())
    recent = MetadataFilters(
        filters=[
            MetadataFilter(key="created_at", value=epoch("2025-01-24"), operator=FilterOperator.GTE)
        ]
    )
    base = index.as_retriever(filters=recent, similarity_top_k=1)
    candidates = GCMemRetriever(base, collector=MOVED).candidates("Ann lives in town number")
    assert sorted(ids(candidates)) == ["new", "old23", "old24"]


def test_a_new_version_needs_a_new_id_because_chroma_ignores_a_known_one(client: Any) -> None:
    index = index_over(client, [text_node("city=A", 1.0, id_="home")])
    index.insert_nodes([text_node("city=B", 2.0, id_="home")])
    index.insert_nodes([text_node("city=C", 3.0, id_="home-2")])
    retriever = GCMemRetriever(index.as_retriever(), collector=slot_collector())
    assert [node.get_content() for node in retriever.candidates("city")] == ["city=A", "city=C"]
    assert [node.get_content() for node in retriever.retrieve("city")] == ["city=C"]


def test_a_postprocessor_works_in_a_query_over_the_same_collection(client: Any) -> None:
    index = index_over(client, residences())
    gc = GCMemPostprocessor(collector=MOVED, k=2)
    found = index.as_retriever(similarity_top_k=27).retrieve("Ann lives in town number")
    assert ids(gc.postprocess_nodes(found)) == ["new", "chess"]


def test_what_was_stored_without_gcmem_needs_no_re_ingest(client: Any) -> None:
    collection = client.get_or_create_collection("memories")
    embed = HashEmbedding().get_text_embedding
    texts = ["city=A", "city=B"]
    collection.add(
        ids=["1", "2"],
        documents=texts,
        embeddings=[embed(text) for text in texts],
        metadatas=[{"created_at": 1.0}, {"created_at": 2.0}],
    )
    retriever = GCMemRetriever(index_over(client, []), collector=slot_collector(), k=2)
    assert [node.get_content() for node in retriever.retrieve("city")] == ["city=B"]
