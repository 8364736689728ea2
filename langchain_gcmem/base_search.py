"""How the wrapped retriever is asked for more records than it would show."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.retrievers import BaseRetriever, RetrieverLike
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.vectorstores import VectorStoreRetriever

__all__ = ["BaseSearch"]

# What every LangChain vector store uses where ``search_kwargs`` does not say otherwise.
_STORE_K: Final = 4
_STORE_MMR_POOL: Final = 20


@dataclass(frozen=True, slots=True)
class BaseSearch:
    """What can be asked of a retriever.

    Attributes:
        retriever: The retriever, or any Runnable from a query to documents.
    """

    retriever: RetrieverLike

    @property
    def known_k(self) -> int | None:
        """How many records the retriever shows by itself; None where that is not known."""
        target, bound = self._unbound()
        if isinstance(target, VectorStoreRetriever):
            given = bound.get("k", target.search_kwargs.get("k", _STORE_K))
        else:
            given = bound.get("k", getattr(target, "k", None) if self._takes_k else None)
        is_count = isinstance(given, int) and not isinstance(given, bool) and given > 0
        return given if is_count else None

    def options(self, limit: int | None) -> dict[str, Any]:
        """Give the keyword arguments that ask for ``limit`` records, where it can be asked.

        For maximal marginal relevance the pool grows with the limit, so that the selection stays
        as strict as it was.
        """
        if limit is None or not self._takes_k:
            return {}
        target, bound = self._unbound()
        if isinstance(target, VectorStoreRetriever) and target.search_type == "mmr":
            settings = {**target.search_kwargs, **bound}
            pool = settings.get("fetch_k", _STORE_MMR_POOL)
            share = max(pool / (self.known_k or _STORE_K), 1.0)
            return {"k": limit, "fetch_k": max(math.ceil(limit * share), pool)}
        return {"k": limit}

    @property
    def runs_only_synchronously(self) -> bool:
        """Whether ``k`` can be asked of ``invoke`` but not of ``ainvoke``."""
        target, _ = self._unbound()
        return self._takes_k and not _declares_k(type(target)._aget_relevant_documents)

    @property
    def _takes_k(self) -> bool:
        target, _ = self._unbound()
        return isinstance(target, BaseRetriever) and _declares_k(
            type(target)._get_relevant_documents
        )

    def _unbound(self) -> tuple[Any, dict[str, Any]]:
        """Give the retriever below ``with_config`` and ``bind``, and what was bound to it."""
        target: Any = self.retriever
        bound: dict[str, Any] = {}
        while isinstance(target, RunnableBindingBase):
            bound = {**target.kwargs, **bound}
            target = target.bound
        return target, bound


def _declares_k(method: Callable[..., Any]) -> bool:
    parameters = inspect.signature(method).parameters
    return "k" in parameters or any(
        parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()
    )
