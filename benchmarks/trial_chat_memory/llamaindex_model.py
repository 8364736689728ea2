"""A LangChain chat model as a LlamaIndex LLM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms.custom import CustomLLM

__all__ = ["LangChainLLM"]

_ROLES = {"system": "system", "assistant": "ai"}


class LangChainLLM(CustomLLM):
    """Asks a LangChain chat model, without streaming."""

    _model: Any = PrivateAttr()

    def __init__(self, model: Any) -> None:
        super().__init__()
        self._model = model

    @property
    def metadata(self) -> LLMMetadata:
        """What LlamaIndex wants to know of a model."""
        return LLMMetadata(context_window=8_192, num_output=512, is_chat_model=True)

    def chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        """Answer messages."""
        given = [(_ROLES.get(said.role.value, "human"), said.content or "") for said in messages]
        answer = str(self._model.invoke(given).text)
        return ChatResponse(message=ChatMessage(role="assistant", content=answer))

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        """Answer a text."""
        del formatted
        return CompletionResponse(text=str(self._model.invoke(prompt).text))

    def stream_complete(
        self, prompt: str, formatted: bool = False, **_: Any
    ) -> CompletionResponseGen:
        """Answer a text in one piece."""
        yield self.complete(prompt, formatted)
