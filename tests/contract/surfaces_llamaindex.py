"""The LlamaIndex adapter as surfaces of the contract suite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode

from gcmem import Collector, Memory
from llamaindex_gcmem import GCMemPostprocessor, GCMemRetriever


@dataclass(frozen=True)
class Returned:
    """What came back, in the shape of a memory."""

    id: str
    text: str
    metadata: dict[str, Any]
    relevance: float | None


class FixedRetriever(BaseRetriever):
    """Gives the same nodes for every query, in the given order."""

    def __init__(self, nodes: Sequence[NodeWithScore]) -> None:
        super().__init__()
        self.nodes = list(nodes)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(self.nodes)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(self.nodes)


def transport(memory: Memory) -> dict[str, Any]:
    """The metadata that carries the fields of a memory through a node."""
    fields = {
        "created_at": memory.timestamp and memory.timestamp.isoformat(),
        "contract_scope": json.dumps(memory.scope) if memory.scope else None,
        "key": memory.key,
        "value": (memory.value or memory.text) if memory.key else None,
        "supersedes": list(memory.supersedes) or None,
        "valid_from": memory.valid_from and memory.valid_from.isoformat(),
        "valid_until": memory.valid_until and memory.valid_until.isoformat(),
        "authority": memory.authority or None,
        "source": memory.source,
        "version": memory.source and "1",
    }
    return {key: value for key, value in fields.items() if value is not None}


def to_node(memory: Memory) -> NodeWithScore:
    metadata = {**transport(memory), **memory.metadata}
    node = TextNode(id_=memory.id, text=memory.text, metadata=metadata)
    return NodeWithScore(node=node, score=memory.relevance)


def from_nodes(nodes: Sequence[NodeWithScore], memories: Sequence[Memory]) -> list[Returned]:
    given = {memory.id: memory for memory in memories}
    returned = []
    for node in nodes:
        carried = transport(given[node.node_id])
        metadata = {
            key: value
            for key, value in node.metadata.items()
            if key in given[node.node_id].metadata or carried.get(key) != value
        }
        text = node.get_content(metadata_mode=MetadataMode.NONE)
        returned.append(Returned(node.node_id, text, metadata, node.score))
    return returned


class PostprocessorSurface:
    """Pushes memories through the node postprocessor."""

    name = "llamaindex-postprocessor"

    def _postprocessor(self, collector: Collector, as_of: Any, history: Any) -> GCMemPostprocessor:
        return GCMemPostprocessor(
            collector=collector, as_of=as_of, history=history, scope_keys=["contract_scope"]
        )

    def collect(
        self,
        memories: Sequence[Memory],
        *,
        query: str = "q",
        collector: Collector,
        as_of: Any = None,
        history: Any = False,
    ) -> list[Returned]:
        postprocessor = self._postprocessor(collector, as_of, history)
        nodes = [to_node(memory) for memory in memories]
        return from_nodes(postprocessor.postprocess_nodes(nodes, query_str=query), memories)

    async def acollect(
        self,
        memories: Sequence[Memory],
        *,
        query: str = "q",
        collector: Collector,
        as_of: Any = None,
        history: Any = False,
    ) -> list[Returned]:
        postprocessor = self._postprocessor(collector, as_of, history)
        nodes = [to_node(memory) for memory in memories]
        kept = await postprocessor.apostprocess_nodes(nodes, query_str=query)
        return from_nodes(kept, memories)


class RetrieverSurface:
    """Pushes memories through the retriever, over a retriever that gives them as they are."""

    name = "llamaindex-retriever"

    def _retriever(self, memories: Sequence[Memory], collector: Collector) -> GCMemRetriever:
        base = FixedRetriever([to_node(memory) for memory in memories])
        return GCMemRetriever(base, collector=collector, scope_keys=["contract_scope"])

    def collect(
        self,
        memories: Sequence[Memory],
        *,
        query: str = "q",
        collector: Collector,
        as_of: Any = None,
        history: Any = False,
    ) -> list[Returned]:
        retriever = self._retriever(memories, collector)
        return from_nodes(retriever.retrieve(query, as_of=as_of, history=history), memories)

    async def acollect(
        self,
        memories: Sequence[Memory],
        *,
        query: str = "q",
        collector: Collector,
        as_of: Any = None,
        history: Any = False,
    ) -> list[Returned]:
        retriever = self._retriever(memories, collector)
        kept = await retriever.aretrieve(query, as_of=as_of, history=history)
        return from_nodes(kept, memories)


SURFACES = [PostprocessorSurface(), RetrieverSurface()]
