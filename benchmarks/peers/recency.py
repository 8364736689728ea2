"""The recency tools of LlamaIndex and LangChain, with their defaults and the bundled encoder.

LlamaIndex's postprocessors get nodes as a query engine would give them: most similar first, scored
by the cosine to the question, the date in the metadata and not in the embedded text. Where a tool
needs a date (the other two raise KeyError), undated memories are kept and not handed over.

EmbeddingRecencyPostprocessor's default template wraps the newer text in a long instruction, written
for other encoders; with the bundled one hardly anything then exceeds its cutoff. It is therefore
also measured with the text alone as its (documented) template, which is to its advantage.

LangChain's retriever gets a store of its own per item, filled oldest first. Its reading time is the
clock, and cannot be set.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from importlib import metadata
from typing import Any

import numpy as np

from benchmarks.peers.tools import Ids, Item, LocalTool, NotRun, Words
from gcmem import Memory

try:
    import pandas as pd  # noqa: F401  (LlamaIndex imports it where it sorts)
    from langchain_classic.retrievers import TimeWeightedVectorStoreRetriever
    from langchain_core.documents import Document
    from langchain_core.vectorstores import InMemoryVectorStore
    from llama_index.core.postprocessor import (
        EmbeddingRecencyPostprocessor,
        FixedRecencyPostprocessor,
        TimeWeightedPostprocessor,
    )
    from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise NotRun(f'{error}; pip install "gcmem[bench]"') from error

from langchain_gcmem import BundledEmbeddings
from llamaindex_gcmem import BundledEmbedding

_DATE = "date"
_TEXT_ALONE = "{context_str}"


class CorrectedEmbeddingRecency(EmbeddingRecencyPostprocessor):
    """What EmbeddingRecencyPostprocessor is meant to do: newest first, drop what is like it.

    The original compares each node with the text of another one: it embeds the texts in the order
    given and looks them up by their place in the sorted order. Here both have one order.
    """

    def _postprocess_nodes(
        self,
        nodes: list[NodeWithScore],
        query_bundle: QueryBundle | None = None,  # noqa: ARG002  (the name is the base class's)
    ) -> list[NodeWithScore]:
        newest_first = sorted(
            nodes,
            key=lambda node: datetime.fromisoformat(node.node.metadata[self.date_key]),
            reverse=True,
        )
        texts = [node.get_content(metadata_mode=MetadataMode.EMBED) for node in newest_first]
        vectors = np.asarray(self.embed_model.get_text_embedding_batch(texts))
        kept: list[NodeWithScore] = []
        queries: list[Any] = []
        for node, text, vector in zip(newest_first, texts, vectors, strict=True):
            if any(query @ vector > self.similarity_cutoff for query in queries):
                continue
            kept.append(node)
            template = self.query_embedding_tmpl.format(context_str=text)
            queries.append(np.asarray(self.embed_model.get_query_embedding(template)))
        return kept


class CosineStore(InMemoryVectorStore):
    """LangChain's store in memory, told that its scores are relevances already."""

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda cosine: max(0.0, cosine)


def recency_tools() -> list[LocalTool]:
    """Give all of them, each with an encoder of its own, so that none pays for another."""
    llama = {name: metadata.version(name) for name in ("llama-index-core", "pandas")}
    classic = {"langchain-classic": metadata.version("langchain-classic")}
    rank = "any contradiction: it {} and shows {}, whatever the rest says; scope"
    fixed = LocalTool(
        "LlamaIndex FixedRecency",
        Words("time", rank.format("sorts by time", "one (top_k=1)")),
        _postprocessor(FixedRecencyPostprocessor()),
        takes_streams=False,
        versions=llama,
    )
    time_weighted = LocalTool(
        "LlamaIndex TimeWeighted",
        Words("time, score, time of reading", rank.format("ranks by both", "one (top_k=1)")),
        _time_weighted,
        takes_streams=False,
        versions=llama,
    )
    retriever = LocalTool(
        "LangChain TimeWeighted",
        Words("time, question", rank.format("ranks by both", "four (k=4)")),
        _time_weighted_retriever(BundledEmbeddings()),
        takes_streams=False,
        versions=classic,
    )
    return [fixed, *_embedding_recency(llama), time_weighted, retriever]


def _embedding_recency(versions: dict[str, str]) -> list[LocalTool]:
    """As shipped and with the index corrected; with the template of both and the text alone."""
    beyond = "telling contradiction from likeness; scope, time asked about, speaker, validity"
    kinds = {"": EmbeddingRecencyPostprocessor, ", index corrected": CorrectedEmbeddingRecency}
    tools = []
    for correction, kind in kinds.items():
        for template in (None, _TEXT_ALONE):
            settings: dict[str, Any] = (
                {} if template is None else {"query_embedding_tmpl": template}
            )
            tool = kind(embed_model=BundledEmbedding(), **settings)
            words = Words(
                "time" if template is None else "time; query_embedding_tmpl is the text alone",
                beyond if correction else f"{beyond}; comparing the right texts",
            )
            name = f"LlamaIndex EmbeddingRecency{correction}" + (", text alone" if template else "")
            tools.append(LocalTool(name, words, _postprocessor(tool), versions=versions))
    return tools


def nodes_of(item: Item, memories: Sequence[Memory]) -> list[NodeWithScore]:
    """Give nodes as a retriever would: most similar first; in the given order if nothing is asked.

    Made anew for every tool, because TimeWeightedPostprocessor writes into the metadata.
    """
    nodes = []
    for memory in memories:
        dated = {}
        if memory.timestamp is not None:
            dated[_DATE] = memory.timestamp.isoformat(timespec="microseconds")
        node = TextNode(
            text=memory.text,
            id_=memory.id,
            metadata=dated,
            excluded_embed_metadata_keys=[_DATE],
        )
        nodes.append(NodeWithScore(node=node, score=item.scores.get(memory.id)))
    return sorted(nodes, key=lambda node: -(node.score or 0.0))


def _postprocessor(tool: Any) -> Callable[[Item, Counter[str]], Ids]:
    def read(item: Item, counts: Counter[str]) -> Ids:
        undated = {memory.id for memory in item.memories if memory.timestamp is None}
        dated = [memory for memory in item.memories if memory.timestamp is not None]
        # It refuses to work without a question, and never looks at it.
        shown = tool.postprocess_nodes(nodes_of(item, dated), query_str=item.query or "anything")
        return undated | {node.node.node_id for node in shown}

    return read


def _time_weighted(item: Item, counts: Counter[str]) -> Ids:
    tool = TimeWeightedPostprocessor(now=item.now.timestamp())
    nodes = nodes_of(item, item.memories)
    for node in nodes:
        if _DATE in node.node.metadata:
            date = datetime.fromisoformat(node.node.metadata.pop(_DATE))
            node.node.metadata[tool.last_accessed_key] = date.timestamp()
    return {node.node.node_id for node in tool.postprocess_nodes(nodes, query_str=item.query)}


def _time_weighted_retriever(embedding: Any) -> Callable[[Item, Counter[str]], Ids]:
    def read(item: Item, counts: Counter[str]) -> Ids:
        tool = TimeWeightedVectorStoreRetriever(vectorstore=CosineStore(embedding))
        documents = [
            Document(memory.text, id=memory.id, metadata=_accessed(memory))
            for memory in item.memories
        ]
        tool.add_documents(documents)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of relevances that rounding puts above 1
            return {str(document.id) for document in tool.invoke(item.query)}

    return read


def _accessed(memory: Memory) -> dict[str, datetime]:
    """Its dates are naive local ones; undated documents get its default, now."""
    if memory.timestamp is None:
        return {}
    local = memory.timestamp.astimezone().replace(tzinfo=None)
    return {"last_accessed_at": local, "created_at": local}
