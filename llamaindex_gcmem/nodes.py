"""Translates nodes to memories and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

from gcmem import Memory
from gcmem.mapping import MetadataMapping

__all__ = ["NodeBook", "to_memory", "to_node"]


def to_memory(node: NodeWithScore, mapping: MetadataMapping) -> Memory:
    """Read a memory out of a node: its own text, without the metadata that a prompt would show.

    Raises:
        ValueError: A time in the metadata cannot be read.
    """
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    return mapping.memory(text, node.metadata, id=node.node_id, relevance=node.score)


def to_node(memory: Memory, original: NodeWithScore) -> NodeWithScore:
    """Give a copy of a node that says what the memory says.

    Class, id, relationships and everything else are those of the original, which stays as it is.
    An embedding does not survive a change of the text, since it would describe the old one.
    """
    changes_text = memory.text != original.get_content(metadata_mode=MetadataMode.NONE)
    if not changes_text and memory.metadata == original.metadata:
        return original.model_copy(update={"score": memory.relevance})
    node = original.node.model_copy()
    node.metadata = dict(memory.metadata)
    node.relationships = dict(node.relationships)
    node.excluded_embed_metadata_keys = list(node.excluded_embed_metadata_keys)
    node.excluded_llm_metadata_keys = list(node.excluded_llm_metadata_keys)
    if changes_text:
        node.set_content(memory.text)
        node.embedding = None
    score = original.score if memory.relevance is None else memory.relevance
    return original.model_copy(update={"node": node, "score": score})


class NodeBook:
    """Remembers, during one retrieval, which node each memory was read from."""

    def __init__(self, mapping: MetadataMapping) -> None:
        self._mapping = mapping
        self._read: dict[str, tuple[Memory, NodeWithScore]] = {}

    def read(self, nodes: Iterable[NodeWithScore]) -> list[Memory]:
        """Read memories out of nodes.

        Raises:
            ValueError: A time in the metadata of a node cannot be read.
        """
        memories = []
        for node in nodes:
            memory = to_memory(node, self._mapping)
            self._read.setdefault(memory.id, (memory, node))
            memories.append(memory)
        return memories

    def write(self, memories: Sequence[Memory]) -> list[NodeWithScore]:
        """Give the nodes of the memories: the very objects that were read where nothing changed."""
        return [self._node(memory) for memory in memories]

    def _node(self, memory: Memory) -> NodeWithScore:
        if memory.id not in self._read:
            return self._new_node(memory)
        read, original = self._read[memory.id]
        return original if memory is read else to_node(memory, original)

    def _new_node(self, memory: Memory) -> NodeWithScore:
        """A chunk that only short-term memory holds; it shows its time as a stored one does."""
        node = TextNode(id_=memory.id, text=memory.text, metadata=self._mapping.written(memory))
        return NodeWithScore(node=node, score=memory.relevance)
