"""Multi-query expansion (GC-Mem, section 4.1): one question, asked in several ways."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Final, Literal, TypeAlias

from llama_index.core.bridge.pydantic import BaseModel, Field
from llama_index.core.llms.llm import LLM
from llama_index.core.prompts import PromptTemplate

__all__ = ["ModelQueryExpander", "QueryExpander", "aexpand", "expand"]

QueryExpander: TypeAlias = Callable[[str], Iterable[str] | Awaitable[Iterable[str]]]
"""From a question to search queries, synchronously or asynchronously. One that also has a
coroutine method ``acall(query)`` is awaited through it on asynchronous paths."""

_LOG: Final = logging.getLogger("gcmem")

DEFAULT_PROMPT: Final = PromptTemplate(
    "Write {n} search queries that would find notes which answer the question below. Use other "
    "words than the question does, and ask for the current state as well as for changes of it. "
    "Do not answer the question.\n\n"
    "Question: {query}"
)


class QueryVariants(BaseModel):
    """Search queries for one question."""

    queries: list[str] = Field(description="The search queries, one string each.")


class ModelQueryExpander:
    """Lets a language model write further search queries; each question is asked only once.

    Args:
        llm: Any LlamaIndex model; structured output is used, natively where it has that.
        n: How many queries to ask for, the question itself not counted.
        prompt: Template with ``{n}`` and ``{query}``.
        on_error: "raise" what the model or the parser raised, or "keep" to the question alone
            and log it.
        cache_size: How many questions to remember.

    Raises:
        ValueError: A size is below 1, ``on_error`` is unknown, or the prompt lacks a variable.

    Example:
        >>> from llama_index.core.llms import MockLLM
        >>> expander = ModelQueryExpander(MockLLM(), n=3, on_error="keep")
        >>> expander("Where do I live?")  # the mock gives no structured output
        []
    """

    def __init__(
        self,
        llm: LLM,
        *,
        n: int = 3,
        prompt: PromptTemplate = DEFAULT_PROMPT,
        on_error: Literal["raise", "keep"] = "raise",
        cache_size: int = 1024,
    ) -> None:
        for name, size in (("n", n), ("cache_size", cache_size)):
            if size < 1:
                msg = f"{name} must be at least 1, got {size!r}."
                raise ValueError(msg)
        if on_error not in {"raise", "keep"}:
            msg = f'on_error must be "raise" or "keep", got {on_error!r}.'
            raise ValueError(msg)
        if missing := {"n", "query"} - set(prompt.template_vars):
            msg = f"prompt must hold the variables {{n}} and {{query}}; missing: {sorted(missing)}."
            raise ValueError(msg)
        self.llm = llm
        self.n = n
        self.prompt = prompt
        self.on_error = on_error
        self.cache_size = cache_size
        self._known: OrderedDict[str, list[str]] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, query: str) -> list[str]:
        """Give up to n search queries for the question."""
        if (known := self._recall(query)) is not None:
            return known
        try:
            answer = self.llm.structured_predict(QueryVariants, self.prompt, n=self.n, query=query)
        except Exception as error:  # noqa: BLE001  (see _failed)
            return self._failed(error)
        return self._remember(query, answer)

    async def acall(self, query: str) -> list[str]:
        """Give what calling gives, without blocking the event loop."""
        if (known := self._recall(query)) is not None:
            return known
        try:
            answer = await self.llm.astructured_predict(
                QueryVariants, self.prompt, n=self.n, query=query
            )
        except Exception as error:  # noqa: BLE001  (see _failed)
            return self._failed(error)
        return self._remember(query, answer)

    def _recall(self, query: str) -> list[str] | None:
        with self._lock:
            if query not in self._known:
                return None
            self._known.move_to_end(query)
            return list(self._known[query])

    def _remember(self, query: str, answer: Any) -> list[str]:
        stripped = (variant.strip() for variant in QueryVariants.model_validate(answer).queries)
        variants = [variant for variant in dict.fromkeys(stripped) if variant][: self.n]
        with self._lock:
            self._known[query] = variants
            while len(self._known) > self.cache_size:
                self._known.popitem(last=False)
        return list(variants)

    def _failed(self, error: Exception) -> list[str]:
        if self.on_error == "raise":
            raise error
        _LOG.warning("The query was not expanded; it is searched alone.", exc_info=error)
        return []

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the lock."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()


def expand(expander: QueryExpander | None, query: str) -> list[str]:
    """Call an expander, also one that is asynchronous, from synchronous code."""
    if expander is None:
        return []
    answer = expander(query)
    if inspect.isawaitable(answer):
        with ThreadPoolExecutor(max_workers=1) as pool:
            answer = pool.submit(copy_context().run, asyncio.run, _resolved(answer)).result()
    return _checked(answer)


async def aexpand(expander: QueryExpander | None, query: str) -> list[str]:
    """Call an expander without blocking the event loop; a synchronous one runs in a thread."""
    if expander is None:
        return []
    native = getattr(expander, "acall", None)
    if native is not None:
        return _checked(await native(query))
    if inspect.iscoroutinefunction(expander):
        return _checked(await expander(query))
    answer = await asyncio.to_thread(expander, query)
    return _checked(await answer if inspect.isawaitable(answer) else answer)


async def _resolved(answer: Awaitable[Iterable[str]]) -> Iterable[str]:
    return await answer


def _checked(answer: Any) -> list[str]:
    queries = answer if isinstance(answer, str) else list(answer)
    if isinstance(queries, str) or not all(isinstance(query, str) for query in queries):
        msg = f"query_expander must give a list of strings, got {answer!r}."
        raise TypeError(msg)
    return queries
