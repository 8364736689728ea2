"""With nothing but what ships: the bundled model and encoder, over Chroma on disk."""

from __future__ import annotations

from pathlib import Path

import chromadb
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory
from llama_index.core.schema import TextNode
from llama_index.vector_stores.chroma import ChromaVectorStore

from llamaindex_gcmem import (
    BundledEmbedding,
    GCMemMemoryBlock,
    GCMemPostprocessor,
    GCMemRetriever,
)
from tests.llamaindex.support import ids, said

NOTES = {
    "osaka": ("Elena lives in Osaka.", 1735689600.0),
    "bremen": ("Elena moved from Osaka to Bremen.", 1767225600.0),
    "rye": ("Elena bakes rye bread on Sundays.", 1735689600.0),
}


def chroma(path: Path) -> ChromaVectorStore:
    client = chromadb.PersistentClient(path=str(path))
    return ChromaVectorStore(chroma_collection=client.get_or_create_collection("notes"))


async def test_one_line_takes_a_stale_fact_out_of_a_chroma_index(tmp_path: Path) -> None:
    nodes = [
        TextNode(id_=name, text=text, metadata={"created_at": when})
        for name, (text, when) in NOTES.items()
    ]
    storage = StorageContext.from_defaults(vector_store=chroma(tmp_path))
    index = VectorStoreIndex(nodes, storage_context=storage, embed_model=BundledEmbedding())
    question = "Where does Elena live?"

    plain = index.as_query_engine(llm=MockLLM(), similarity_top_k=3)
    assert "osaka" in ids(plain.query(question).source_nodes)

    clean = index.as_query_engine(
        llm=MockLLM(), similarity_top_k=3, node_postprocessors=[GCMemPostprocessor()]
    )
    assert sorted(ids(clean.query(question).source_nodes)) == ["bremen", "rye"]

    retriever = GCMemRetriever(index.as_retriever(similarity_top_k=2))
    assert sorted(ids(retriever.retrieve(question))) == ["bremen", "rye"]
    assert ids(await retriever.aretrieve(question)) == ids(retriever.retrieve(question))
    assert "newer memory 'bremen'" in retriever.collect(question).collection.explain("osaka")


def test_a_chat_memory_forgets_what_the_user_takes_back(tmp_path: Path) -> None:
    block = GCMemMemoryBlock(vector_store=chroma(tmp_path), embed_model=BundledEmbedding())
    memory = Memory.from_defaults(
        memory_blocks=[block], token_limit=60, token_flush_size=10, chat_history_token_ratio=0.3
    )
    told = [said(text, when=when) for text, when in NOTES.values()]
    filler = said("thank you, and now something else, please, for a good while", "assistant")
    memory.put_messages([*told, filler, said("What a lovely day it is today")])
    prompt = str(memory.get(input="Where does Elena live?")[0].content)
    assert "moved from Osaka to Bremen" in prompt
    assert "rye bread" in prompt
    assert "lives in Osaka" not in prompt
