"""Shared by the LangChain tests: embeddings, retrievers, models and callbacks of a user's own."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from pydantic import Field

from gcmem import Collector
from tests.support import ScriptedDetector, slot_rule


class WordHashEmbeddings(Embeddings):
    """Bags of hashed words: deterministic, and similar texts are near each other."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        vector = np.full(64, 1e-3)
        for word in re.findall(r"\w+", text.casefold()):
            vector[hashlib.blake2b(word.encode()).digest()[0] % 64] += 1
        return list(vector / np.linalg.norm(vector))


class ListRetriever(BaseRetriever):
    """A user's own retriever that knows nothing of k."""

    documents: list[Document]

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self.documents


class CountedRetriever(BaseRetriever):
    """A user's own synchronous retriever that takes k in a call."""

    documents: list[Document]
    k: int = 2
    asked: list[int] = Field(default_factory=list)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        limit = self.k if k is None else k
        self.asked.append(limit)
        return self.documents[:limit]


class ScriptedChatModel(BaseChatModel):
    """Answers from a list, and remembers what it was shown."""

    answers: list[AIMessage]
    shown: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.shown.append(list(messages))
        answer = self.answers[min(len(self.shown), len(self.answers)) - 1]
        return ChatResult(generations=[ChatGeneration(message=answer)])


class RecordingHandler(BaseCallbackHandler):
    """Writes down what a tracer would see."""

    run_inline = True

    def __init__(self) -> None:
        self.starts: list[tuple[str, str, UUID, UUID | None, Any]] = []
        self.ends: list[tuple[str, UUID, Any]] = []
        self.errors: list[UUID] = []
        self.tags_of_models: list[list[str]] = []
        self.events: list[tuple[str, Any, UUID]] = []
        self._lock = threading.Lock()

    def started(self, kind: str) -> list[list[Any]]:
        return [run for kind_of_run, *run in self.starts if kind_of_run == kind]

    def _start(self, kind: str, given: Any, kwargs: dict[str, Any]) -> None:
        with self._lock:
            run = (kind, kwargs.get("name") or "", kwargs["run_id"], kwargs["parent_run_id"], given)
            self.starts.append(run)

    def on_retriever_start(self, serialized: Any, query: str, **kwargs: Any) -> None:
        self._start("retriever", query, kwargs)

    def on_retriever_end(self, documents: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self.ends.append(("retriever", run_id, documents))

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self.errors.append(run_id)

    def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
        self._start("chain", inputs, kwargs)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self.ends.append(("chain", run_id, outputs))

    def on_chat_model_start(self, serialized: Any, messages: Any, **kwargs: Any) -> None:
        self._start("model", messages, kwargs)
        self.tags_of_models.append(kwargs["tags"])

    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self.events.append((name, data, run_id))


def doc(text: str, when: Any = None, **metadata: Any) -> Document:
    """A document whose id is its text."""
    dated = {} if when is None else {"created_at": when}
    return Document(page_content=text, id=text, metadata={**dated, **metadata})


def texts(documents: Sequence[Document]) -> list[str]:
    return [document.page_content for document in documents]


def slot_collector(**options: Any) -> Collector:
    """Judges texts of the form "slot=value"."""
    return Collector(ScriptedDetector(slot_rule), **options)


def ruled(rule: Callable[[str, str], bool | float], **options: Any) -> Collector:
    return Collector(ScriptedDetector(rule), **options)
