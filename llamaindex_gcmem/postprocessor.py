"""The node postprocessor: takes stale statements out of what any retriever found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Self

from llama_index.core.bridge.pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    field_serializer,
    field_validator,
    model_validator,
)
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index_instrumentation import get_dispatcher

from gcmem import Collection, Collector, Memory, to_utc
from gcmem.cutting import shown_within
from gcmem.mapping import MetadataMapping
from gcmem.timestamps import TimestampUnit
from llamaindex_gcmem import collecting
from llamaindex_gcmem.nodes import to_memory, to_node
from llamaindex_gcmem.serialization import dump_collector, load_collector

__all__ = ["GCMemPostprocessor"]

dispatcher = get_dispatcher(__name__)


class GCMemPostprocessor(BaseNodePostprocessor):
    """Takes contradicted, outdated statements out of retrieved nodes.

    Put it behind any retriever, in a query engine or a chat engine. An engine does not refill what
    a postprocessor removes: retrieve more than you show (``similarity_top_k=20``) and cut with
    ``k``, or use `GCMemRetriever`, which does both.

    Nodes that stay are the very objects that were given, in the given order. Only a node that
    loses a sentence, or is annotated, is replaced by a copy with the same id, score and
    relationships.

    Example:
        >>> from gcmem import Collector
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> old = TextNode(id_="old", text="The office is on floor 2.",
        ...                metadata={"created_at": "2025-01-01"})
        >>> new = TextNode(id_="new", text="The office is on floor 4 now.",
        ...                metadata={"created_at": "2026-01-01", "supersedes": "old"})
        >>> gc = GCMemPostprocessor(collector=Collector("explicit"))
        >>> kept = gc.postprocess_nodes([NodeWithScore(node=n) for n in (old, new)])
        >>> [node.node_id for node in kept]
        ['new']

    Raises:
        ValueError: A field is unknown or has a value that is not allowed.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    collector: Collector | None = Field(
        default=None, description="Decides what is stale; None: Collector(), the bundled model."
    )
    k: int | None = Field(
        default=None,
        ge=1,
        description="How many nodes to show after collecting; None: all. What replaces a node that "
        "goes takes its rank, as in GCMemRetriever.",
    )
    timestamp_key: str | tuple[str, ...] = Field(
        default="created_at",
        description="Metadata key of the time, or keys tried in order (event before ingest time).",
    )
    timestamp_unit: TimestampUnit = Field(
        default="s", description='What a number under it counts: "s", "ms", "us" or "ns".'
    )
    scope_keys: tuple[str, ...] = Field(
        default=(), description="Metadata keys that keep tenants, users or agents apart."
    )
    source_key: str = Field(default="source", description="Metadata key of a chunk's document.")
    version_key: str = Field(default="version", description="Metadata key of its version.")
    slot_key: str | None = Field(
        default=None, description='Metadata key of a slot; None: "key" and "value", if both exist.'
    )
    value_key: str | None = Field(default=None, description="Metadata key of the slot's value.")
    authority_key: str = Field(
        default="authority", description="Metadata key of a number that ranks who said it."
    )
    as_of: datetime | None = Field(
        default=None, description="Read as of this time, in any form of time; None: now."
    )
    history: bool | Literal["auto"] | Callable[[str], bool] = Field(
        default=False,
        description='True annotates and removes nothing; "auto" does so for questions about the '
        "past; a callable may recognise them.",
    )

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex serialises it."""
        return "GCMemPostprocessor"

    @model_validator(mode="before")
    @classmethod
    def _without_class_name(cls, data: Any) -> Any:
        """Accept what `model_dump` writes, which LlamaIndex tags with the name of the class."""
        if isinstance(data, Mapping) and data.get("class_name") == cls.class_name():
            return {name: value for name, value in data.items() if name != "class_name"}
        return data

    @field_validator("collector", mode="before")
    @classmethod
    def _read_collector(cls, value: Any) -> Any:
        return load_collector(value) if isinstance(value, Mapping) else value

    @field_serializer("collector")
    def _write_collector(self, collector: Collector | None) -> dict[str, Any] | None:
        return None if collector is None else dump_collector(collector)

    @field_validator("as_of", mode="before")
    @classmethod
    def _read_as_of(cls, value: Any) -> Any:
        if value is None:
            return None
        try:
            return to_utc(value)
        except TypeError as error:
            raise ValueError(str(error)) from error

    @field_serializer("as_of")
    def _write_as_of(self, as_of: datetime | None) -> str | None:
        return None if as_of is None else as_of.isoformat()

    @field_serializer("history")
    def _write_history(self, history: Any) -> bool | str:
        if isinstance(history, bool | str):
            return history
        msg = (
            f"history={history!r} is a callable and cannot be serialised; use "
            'to_dict(exclude={"history"}) and from_dict(data, history=...).'
        )
        raise ValueError(msg)

    @model_validator(mode="after")
    def _check_mapping(self) -> Self:
        self._mapping()
        return self

    def collect(self, nodes: Sequence[NodeWithScore], query: str = "") -> Collection:
        """Decide without changing anything, so that one can ask why: ``.explain(node_id)``.

        Args:
            nodes: What was retrieved.
            query: The question that it was retrieved for.
        """
        return self._decide(self._memories(nodes), query)

    async def acollect(self, nodes: Sequence[NodeWithScore], query: str = "") -> Collection:
        """Decide as `collect` does, without blocking the event loop."""
        return await self._adecide(self._memories(nodes), query)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        memories = self._memories(nodes)
        return self._shown(nodes, memories, self._decide(memories, _text(query_bundle)))

    @dispatcher.span
    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        memories = self._memories(nodes)
        return self._shown(nodes, memories, await self._adecide(memories, _text(query_bundle)))

    def _memories(self, nodes: Sequence[NodeWithScore]) -> list[Memory]:
        mapping = self._mapping()
        return [to_memory(node, mapping) for node in nodes]

    def _decide(self, memories: Sequence[Memory], query: str) -> Collection:
        return collecting.collect(self.collector, query, memories, self.as_of, self.history)

    async def _adecide(self, memories: Sequence[Memory], query: str) -> Collection:
        return await collecting.acollect(self.collector, query, memories, self.as_of, self.history)

    def _shown(
        self,
        nodes: Sequence[NodeWithScore],
        memories: Sequence[Memory],
        collection: Collection,
    ) -> list[NodeWithScore]:
        return [
            nodes[position] if memory is memories[position] else to_node(memory, nodes[position])
            for memory, position in shown_within(collection, memories, self.k)
        ]

    def _mapping(self) -> MetadataMapping:
        return MetadataMapping(
            timestamp_key=self.timestamp_key,
            timestamp_unit=self.timestamp_unit,
            scope_keys=self.scope_keys,
            source_key=self.source_key,
            version_key=self.version_key,
            slot_key=self.slot_key,
            value_key=self.value_key,
            authority_key=self.authority_key,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields; callback handlers stay behind. What cannot be pickled is an error."""
        fields = BaseModel.__getstate__(self)["__dict__"]
        return {name: value for name, value in fields.items() if name != "callback_manager"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        GCMemPostprocessor.__init__(self, **state)


def _text(query_bundle: QueryBundle | None) -> str:
    return "" if query_bundle is None else query_bundle.query_str
