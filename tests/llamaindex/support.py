"""Shared by the LlamaIndex tests: an embedding that depends on the words, and scripted models."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.event_handlers import BaseEventHandler

from gcmem import Collector
from tests.support import ScriptedDetector, slot_rule

DIMENSIONS = 64


class HashEmbedding(BaseEmbedding):
    """A bag of words: every word adds to one dimension. Deterministic, no model."""

    def _embed(self, text: str) -> list[float]:
        vector = [0.0] * DIMENSIONS
        for word in re.findall(r"\w+", text.lower()):
            digest = hashlib.blake2b(word.encode(), digest_size=2).digest()
            vector[int.from_bytes(digest, "big") % DIMENSIONS] += 1.0
        length = math.sqrt(sum(value * value for value in vector)) or 1.0
        return [value / length for value in vector]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._embed(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embed(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._embed(query)


class ScriptedLLM(CustomLLM):
    """Answers by a function of the prompt, and keeps every prompt that it saw."""

    _answer: Callable[[str], str] = PrivateAttr()
    _prompts: list[str] = PrivateAttr(default_factory=list)

    def __init__(self, answer: Callable[[str], str] | str = "fine", **data: Any) -> None:
        super().__init__(**data)
        self._answer = (lambda _: answer) if isinstance(answer, str) else answer

    @property
    def prompts(self) -> list[str]:
        return self._prompts

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self._prompts.append(prompt)
        return CompletionResponse(text=self._answer(prompt))

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        self._prompts.append(prompt)
        text = self._answer(prompt)

        def parts() -> CompletionResponseGen:
            for end in range(1, len(text) + 1):
                yield CompletionResponse(text=text[:end], delta=text[end - 1])

        return parts()

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return super().chat(messages, **kwargs)

    def stream_chat(self, messages: Any, **kwargs: Any) -> ChatResponseGen:
        return super().stream_chat(messages, **kwargs)


class Recorder(BaseEventHandler):
    """Keeps events."""

    seen: list[Any] = Field(default_factory=list)

    @classmethod
    def class_name(cls) -> str:
        return "Recorder"

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        self.seen.append(event)


@contextmanager
def recorded_events() -> Iterator[list[Any]]:
    """Collect every event that is dispatched inside the block."""
    root, recorder = get_dispatcher(), Recorder(seen=[])
    root.add_event_handler(recorder)
    try:
        yield recorder.seen
    finally:
        root.event_handlers.remove(recorder)


def text_node(text: str, when: Any = None, **fields: Any) -> TextNode:
    """A node whose id is its text, unless one is given."""
    metadata = {**({} if when is None else {"created_at": when}), **fields.pop("metadata", {})}
    return TextNode(text=text, metadata=metadata, **{"id_": text, **fields})


def scored(text: str, when: Any = None, score: float | None = None, **fields: Any) -> NodeWithScore:
    return NodeWithScore(node=text_node(text, when, **fields), score=score)


def slot_collector(**options: Any) -> Collector:
    """Decides by texts of the form "slot=value"."""
    return Collector(ScriptedDetector(slot_rule), **options)


def replaces(old: str, new: str) -> ScriptedDetector:
    """A detector for which texts with one phrase are replaced by newer texts with another."""
    return ScriptedDetector(lambda older, newer: old in older and new in newer)


def ids(nodes: Any) -> list[str]:
    return [node.node_id for node in nodes]


def said(text: str, role: str = "user", when: Any = None, **more: Any) -> ChatMessage:
    """A message, with its time where one is given."""
    times = {} if when is None else {"created_at": when}
    return ChatMessage(role=role, content=text, additional_kwargs={**times, **more})
