"""gcmem for LlamaIndex: a postprocessor, a retriever, memory blocks, events, ingestion."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from gcmem import __version__

if TYPE_CHECKING:
    from llamaindex_gcmem.embeddings import BundledEmbedding
    from llamaindex_gcmem.events import MemoryGCEndEvent, MemoryGCStartEvent
    from llamaindex_gcmem.expansion import ModelQueryExpander
    from llamaindex_gcmem.ingestion import write_to_index
    from llamaindex_gcmem.memory import GCMemMemoryBlock
    from llamaindex_gcmem.postprocessor import GCMemPostprocessor
    from llamaindex_gcmem.precedent_block import PrecedentMemoryBlock
    from llamaindex_gcmem.retriever import GCMemRetriever

__all__ = [
    "BundledEmbedding",
    "GCMemMemoryBlock",
    "GCMemPostprocessor",
    "GCMemRetriever",
    "MemoryGCEndEvent",
    "MemoryGCStartEvent",
    "ModelQueryExpander",
    "PrecedentMemoryBlock",
    "__version__",
    "write_to_index",
]

# The module where each name lives.
_HOMES: Final = {
    "BundledEmbedding": "embeddings",
    "GCMemMemoryBlock": "memory",
    "GCMemPostprocessor": "postprocessor",
    "GCMemRetriever": "retriever",
    "MemoryGCEndEvent": "events",
    "MemoryGCStartEvent": "events",
    "ModelQueryExpander": "expansion",
    "PrecedentMemoryBlock": "precedent_block",
    "write_to_index": "ingestion",
}


def __getattr__(name: str) -> Any:
    """Import a name at its first use.

    Raises:
        ImportError: LlamaIndex is not installed; the message names the extra.
    """
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    try:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("llama_index"):
            raise
        msg = (
            f"llamaindex_gcmem.{name} needs {error.name}, which is not installed; "
            'install it with: pip install "gcmem[llamaindex]"'
        )
        raise ImportError(msg) from error


def __dir__() -> list[str]:
    return sorted(__all__)
