"""A query expander backed by a LlamaIndex model: the same question, asked in other words."""

from __future__ import annotations

from typing import Any, Final, Literal

from llama_index.core.bridge.pydantic import BaseModel, Field
from llama_index.core.llms.llm import LLM
from llama_index.core.prompts import PromptTemplate

from gcmem.expansion import INSTRUCTION, Expansion

__all__ = ["ModelQueryExpander", "SearchQueries"]

_PROMPT: Final = PromptTemplate("{instruction}\n\nQuestion: {query}")


class SearchQueries(BaseModel):
    """Search queries for one question."""

    queries: list[str] = Field(description="The search queries, each complete in itself.")


class ModelQueryExpander:
    """Asks a language model for ``n`` variants of a query, with structured output, once per query.

    Give it to a retriever as ``query_expander``.

    Args:
        model: Any LlamaIndex model. One without structured output of its own is asked for JSON.
        n: How many variants to ask for; further ones are left out.
        instruction: What the model is told; "{n}" stands for the number of variants.
        on_error: "raise" what the model or the parser raised, or "keep" to the question alone
            and log it.
        cache_size: How many queries to remember the variants of; 0 remembers none.

    Raises:
        ValueError: ``n`` is below 1, ``cache_size`` below 0, or ``on_error`` unknown; when called:
            the model gave no query.

    Example:
        >>> from llama_index.core.llms import MockLLM
        >>> expander = ModelQueryExpander(MockLLM(), n=3, on_error="keep")
        >>> expander("Where does Elena live?")  # the mock cannot give any
        []
    """

    def __init__(
        self,
        model: LLM,
        *,
        n: int = 3,
        instruction: str = INSTRUCTION,
        on_error: Literal["raise", "keep"] = "raise",
        cache_size: int = 1024,
    ) -> None:
        self.model = model
        self._expansion = Expansion(
            n=n, instruction=instruction, on_error=on_error, cache_size=cache_size
        )

    def __call__(self, query: str) -> list[str]:
        """Give the variants of a query."""
        with self._expansion.asking(query) as asked:
            if not asked.is_known:
                asked.given = _read(
                    self.model.structured_predict(
                        SearchQueries, _PROMPT, instruction=asked.instruction, query=query
                    )
                )
        return asked.variants

    async def acall(self, query: str) -> list[str]:
        """Give the variants of a query, without blocking the event loop."""
        with self._expansion.asking(query) as asked:
            if not asked.is_known:
                asked.given = _read(
                    await self.model.astructured_predict(
                        SearchQueries, _PROMPT, instruction=asked.instruction, query=query
                    )
                )
        return asked.variants


def _read(answer: Any) -> list[str] | None:
    return answer.queries if isinstance(answer, SearchQueries) else None
