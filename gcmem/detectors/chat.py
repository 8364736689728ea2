"""Asks a chat model of any framework, or a plain function, and reads its answer. By duck typing."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["ChatModel", "Prompt", "Reply", "Token", "chat_model"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked.

    Attributes:
        system: The instructions.
        user: The task with its data.
    """

    system: str
    user: str

    @property
    def text(self) -> str:
        """Both in one text, for models that take no messages."""
        return f"{self.system}\n\n{self.user}"


@dataclass(frozen=True, slots=True)
class Token:
    """One token of an answer.

    Attributes:
        text: The token.
        alternatives: Log-probability by token, of this one and of the likeliest others.
    """

    text: str
    alternatives: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Attributes:
        text: The answer.
        input_tokens: Tokens read, or None where the model does not say.
        output_tokens: Tokens written, or None where the model does not say.
        tokens: The answer's tokens with their log-probabilities; empty where none are offered.
    """

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    tokens: Sequence[Token] = field(default=())


class ChatModel(Protocol):
    """Something that answers prompts."""

    @property
    def name(self) -> str:
        """Names the model; verdicts are cached under it."""
        ...

    def ask(self, prompt: Prompt) -> Reply:
        """Ask, blocking. Must not be called where an event loop is running."""
        ...

    async def aask(self, prompt: Prompt) -> Reply:
        """Ask, without blocking the event loop."""
        ...


def chat_model(model: Any) -> ChatModel:
    """Wrap a model.

    Args:
        model: A LangChain chat model or runnable (``invoke``, ``ainvoke``), a LlamaIndex LLM
            (``complete``, ``acomplete``), or a function or coroutine function that takes the
            prompt as one text and returns the answer as text.

    Raises:
        TypeError: It is none of these.
    """
    if callable(getattr(model, "invoke", None)):
        return _Adapter(model, "invoke", "ainvoke", takes_messages=True)
    if callable(getattr(model, "complete", None)):
        return _Adapter(model, "complete", "acomplete", takes_messages=False)
    if callable(model):
        return _Adapter(model, "__call__", "", takes_messages=False)
    msg = (
        "model must be a LangChain chat model (invoke), a LlamaIndex LLM (complete), or a function "
        f"from a prompt to a text, got {model!r}."
    )
    raise TypeError(msg)


@dataclass(frozen=True)
class _Adapter:
    """Calls one method of a model, blocking or not."""

    model: Any
    method: str
    async_method: str
    takes_messages: bool

    @property
    def name(self) -> str:
        return _name_of(self.model)

    def ask(self, prompt: Prompt) -> Reply:
        answer = getattr(self.model, self.method)(self._form(prompt))
        if inspect.isawaitable(answer):
            answer = asyncio.run(_settled(answer))
        return read_reply(answer)

    async def aask(self, prompt: Prompt) -> Reply:
        method = getattr(self.model, self.async_method, None) if self.async_method else None
        if method is None:
            method = getattr(self.model, self.method)
            if not _is_coroutine_function(method):
                answer = await asyncio.to_thread(method, self._form(prompt))
                return read_reply(await answer if inspect.isawaitable(answer) else answer)
        return read_reply(await method(self._form(prompt)))

    def _form(self, prompt: Prompt) -> Any:
        if self.takes_messages:
            return [("system", prompt.system), ("human", prompt.user)]
        return prompt.text


def read_reply(answer: object) -> Reply:
    """Read an answer: a text, or an object with its text, token counts and log-probabilities.

    Raises:
        TypeError: It holds no text.
    """
    if isinstance(answer, str):
        return Reply(answer)
    usage = _usage(answer)
    return Reply(
        _text(answer),
        _count(usage, "input_tokens", "prompt_tokens"),
        _count(usage, "output_tokens", "completion_tokens"),
        _tokens(answer),
    )


async def _settled(answer: Awaitable[Any]) -> Any:
    return await answer


def _is_coroutine_function(method: Any) -> bool:
    call = getattr(method, "__call__", None)  # noqa: B004  (an object may be called)
    return inspect.iscoroutinefunction(method) or inspect.iscoroutinefunction(call)


def _name_of(model: Any) -> str:
    """The model's own name where it has one, else that of its class or function."""
    inner = getattr(model, "bound", None)
    if inner is not None:
        return _name_of(inner)
    metadata = getattr(model, "metadata", None)
    for holder, attribute in (
        (model, "model_name"),
        (model, "model"),
        (model, "model_id"),
        (metadata, "model_name"),
    ):
        found = getattr(holder, attribute, None)
        if isinstance(found, str) and found and found != "unknown":
            return found
    if inspect.isroutine(model):
        return f"{model.__module__}.{model.__qualname__}"
    return f"{type(model).__module__}.{type(model).__qualname__}"


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _text(answer: object) -> str:
    content = getattr(answer, "content", None)
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        parts = [part if isinstance(part, str) else _get(part, "text") for part in content]
        return "".join(part for part in parts if isinstance(part, str))
    text = getattr(answer, "text", None)
    if isinstance(text, str):
        return text
    msg = f"the model must answer with text, got {answer!r} of type {type(answer).__name__}."
    raise TypeError(msg)


def _usage(answer: object) -> Any:
    """Token counts: LangChain's usage_metadata, or the provider's own under ``raw``."""
    reported = getattr(answer, "usage_metadata", None)
    if reported is None:
        reported = _get(getattr(answer, "raw", None), "usage")
    return getattr(answer, "additional_kwargs", None) if reported is None else reported


def _count(usage: Any, *names: str) -> int | None:
    for name in names:
        found = _get(usage, name)
        if isinstance(found, int) and not isinstance(found, bool):
            return found
    return None


def _tokens(answer: object) -> tuple[Token, ...]:
    """Log-probabilities in OpenAI's form, in LangChain's metadata or under LlamaIndex's ``raw``."""
    logprobs = _get(getattr(answer, "response_metadata", None), "logprobs")
    if logprobs is None:
        choices = _get(getattr(answer, "raw", None), "choices")
        logprobs = _get(choices[0], "logprobs") if choices else None
    content = _get(logprobs, "content")
    if not isinstance(content, Sequence) or isinstance(content, str):
        return ()
    tokens: list[Token] = []
    for entry in content:
        text, own = _get(entry, "token"), _get(entry, "logprob")
        if not isinstance(text, str) or not isinstance(own, int | float):
            return ()
        others = _get(entry, "top_logprobs") or ()
        alternatives = {_get(other, "token"): float(_get(other, "logprob")) for other in others}
        tokens.append(Token(text, {**alternatives, text: float(own)}))
    return tuple(tokens)
