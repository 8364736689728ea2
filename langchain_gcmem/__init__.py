"""gcmem for LangChain: retriever, compressor, agent middleware, memories, store, ingestion."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from gcmem import __version__

if TYPE_CHECKING:
    from langchain_gcmem.collecting import COLLECTION_EVENT
    from langchain_gcmem.compressor import GCMemCompressor
    from langchain_gcmem.embeddings import BundledEmbeddings
    from langchain_gcmem.expansion import ModelQueryExpander
    from langchain_gcmem.history import PrecedentChatMessageHistory
    from langchain_gcmem.ingestion import write_to_vector_store
    from langchain_gcmem.middleware import GCMemMiddleware, PrecedentMemoryMiddleware
    from langchain_gcmem.precedent_functions import (
        aobserve_messages,
        observe_messages,
        recall_facts,
        remembering,
    )
    from langchain_gcmem.retriever import GCMemRetriever
    from langchain_gcmem.store import GCMemStore

__all__ = [
    "COLLECTION_EVENT",
    "BundledEmbeddings",
    "GCMemCompressor",
    "GCMemMiddleware",
    "GCMemRetriever",
    "GCMemStore",
    "ModelQueryExpander",
    "PrecedentChatMessageHistory",
    "PrecedentMemoryMiddleware",
    "__version__",
    "aobserve_messages",
    "observe_messages",
    "recall_facts",
    "remembering",
    "write_to_vector_store",
]

# Where each name lives, and the extra that brings what it needs.
_HOMES: Final = {
    "BundledEmbeddings": ("langchain_gcmem.embeddings", "langchain"),
    "COLLECTION_EVENT": ("langchain_gcmem.collecting", "langchain"),
    "GCMemCompressor": ("langchain_gcmem.compressor", "langchain"),
    "GCMemMiddleware": ("langchain_gcmem.middleware", "agents"),
    "GCMemRetriever": ("langchain_gcmem.retriever", "langchain"),
    "GCMemStore": ("langchain_gcmem.store", "agents"),
    "ModelQueryExpander": ("langchain_gcmem.expansion", "langchain"),
    "PrecedentChatMessageHistory": ("langchain_gcmem.history", "langchain"),
    "PrecedentMemoryMiddleware": ("langchain_gcmem.middleware", "agents"),
    "aobserve_messages": ("langchain_gcmem.precedent_functions", "langchain"),
    "observe_messages": ("langchain_gcmem.precedent_functions", "langchain"),
    "recall_facts": ("langchain_gcmem.precedent_functions", "langchain"),
    "remembering": ("langchain_gcmem.precedent_functions", "langchain"),
    "write_to_vector_store": ("langchain_gcmem.ingestion", "langchain"),
}
_FRAMEWORKS: Final = {"langchain", "langchain_core", "langgraph"}


def __getattr__(name: str) -> Any:
    """Import a name at its first use.

    Raises:
        ImportError: What it needs is not installed; the message names the extra.
    """
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    module, extra = _HOMES[name]
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _FRAMEWORKS:
            raise
        msg = (
            f"langchain_gcmem.{name} needs {error.name}, which is not installed; "
            f'install it with: pip install "gcmem[{extra}]"'
        )
        raise ImportError(msg) from error


def __dir__() -> list[str]:
    return sorted(__all__)
