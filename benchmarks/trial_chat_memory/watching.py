"""Stands between a memory and what it works with, and writes down what passes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models.chat_models import SimpleChatModel
from langchain_core.messages import BaseMessage
from pydantic import Field

from gcmem.detectors.chat import read_reply
from gcmem.detectors.quoting import DATA_END, DATA_START
from gcmem.precedents.evidence import Claim, EvidenceExtractor, Known, Utterance

__all__ = ["WatchedExtractor", "WatchedModel", "items_of"]


class WatchedModel(SimpleChatModel):
    """Passes everything on to a chat model, and keeps the texts of each prompt."""

    inner: Any
    prompts: list[list[str]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "watched"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        self.prompts.append([str(message.text) for message in messages])
        answer = read_reply(self.inner.invoke(messages)).text
        return answer.rpartition("</think>")[2].strip()


class WatchedExtractor:
    """Passes messages on to an extractor, and keeps what it found."""

    def __init__(self, inner: EvidenceExtractor) -> None:
        self._inner = inner
        self.found: list[Claim] = []

    def extract(self, utterances: Sequence[Utterance], known: Known) -> list[Claim]:
        """Give the claims in the messages."""
        claims = self._inner.extract(utterances, known)
        self.found += claims
        return claims

    async def aextract(self, utterances: Sequence[Utterance], known: Known) -> list[Claim]:
        """Do the same without blocking the event loop."""
        claims = await self._inner.aextract(utterances, known)
        self.found += claims
        return claims


def items_of(prompt: Sequence[str]) -> list[str]:
    """Give the facts that a memory put into a prompt, each as one text."""
    for text in prompt:
        _, start, rest = text.rpartition(f"\n{DATA_START}")
        if start:
            items = json.loads(rest.partition(DATA_END)[0])
            return [item.get("said") or f"{item['about']}: {item['value']}" for item in items]
    return []
