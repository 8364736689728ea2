"""A query expander backed by a chat model: the same question, asked in other words."""

from __future__ import annotations

from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SkipValidation, field_validator
from typing_extensions import override

from gcmem.expansion import INSTRUCTION, Expansion

__all__ = ["ModelQueryExpander", "SearchQueries"]


class SearchQueries(BaseModel):
    """Search queries for one question."""

    queries: list[str] = Field(description="The search queries, each complete in itself.")


class ModelQueryExpander(RunnableSerializable[str, list[str]]):
    """Asks a chat model for ``n`` variants of a query, with structured output, once per query.

    Give it to a retriever as ``query_expander``.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> model = FakeListChatModel(responses=["?"])  # stands for yours
        >>> expander = ModelQueryExpander(model=model, n=3, on_error="keep")
        >>> expander.invoke("Where does Elena live?")  # this one cannot give any
        []
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    model: SkipValidation[BaseChatModel]
    """Any chat model that supports structured output."""

    n: int = Field(default=3, ge=1, strict=True)
    """How many variants to ask for; further ones are left out."""

    instruction: str = INSTRUCTION
    """System message; "{n}" stands for the number of variants."""

    on_error: Literal["raise", "keep"] = "raise"
    """Either "raise" what the model or its parser raised, or "keep" to the question and log it."""

    cache_size: int = Field(default=1024, ge=0, strict=True)
    """How many queries to remember the variants of; 0 remembers none."""

    _expansion: Expansion = PrivateAttr()

    @field_validator("model", mode="before")
    @classmethod
    def _gives_structured_output(cls, value: Any) -> Any:
        if not hasattr(value, "with_structured_output"):
            msg = f"model must be a chat model with structured output, got {value!r}."
            raise ValueError(msg)
        return value

    @override
    def model_post_init(self, context: Any, /) -> None:
        self._expansion = Expansion(
            n=self.n,
            instruction=self.instruction,
            on_error=self.on_error,
            cache_size=self.cache_size,
        )

    @override
    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[str]:
        """Give the variants of a query.

        Raises:
            ValueError: The model gave no query, and ``on_error`` is "raise".
        """
        with self._expansion.asking(input) as asked:
            if not asked.is_known:
                messages = _messages(asked.instruction, input)
                asked.given = _read(self._asking().invoke(messages, config, **kwargs))
        return asked.variants

    @override
    async def ainvoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[str]:
        """Give the variants of a query, as `invoke` does."""
        with self._expansion.asking(input) as asked:
            if not asked.is_known:
                messages = _messages(asked.instruction, input)
                asked.given = _read(await self._asking().ainvoke(messages, config, **kwargs))
        return asked.variants

    def _asking(self) -> Runnable[Any, Any]:
        return self.model.with_structured_output(SearchQueries)


def _messages(instruction: str, query: str) -> list[BaseMessage]:
    return [SystemMessage(instruction), HumanMessage(query)]


def _read(answer: Any) -> list[str] | None:
    if isinstance(answer, dict):
        answer = SearchQueries.model_validate(answer)
    return answer.queries if isinstance(answer, SearchQueries) else None
