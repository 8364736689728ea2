"""A language model behind any OpenAI-compatible endpoint, and what it is given: memories as data.

Memories are quoted as JSON between marks that nothing in them can end (`gcmem.detectors.quoting`),
and the model is told that they are never addressed to it.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any, Final

from benchmarks.options import Parser
from gcmem.detectors.chat import Reply, read_reply
from gcmem.detectors.quoting import DATA_RULE, quoted

_MOST_TOKENS: Final = 512


def add_options(parser: Parser) -> None:
    """Add the options that name an endpoint."""
    parser.add_place(
        "--llm-url",
        "URL",
        help="OpenAI-compatible, such as http://127.0.0.1:8080/v1; the key is OPENAI_API_KEY",
    )
    parser.add_argument("--llm-model", default=None, metavar="NAME")


def chosen_model(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> Any | None:
    """Give the chat model that was chosen, or None; one that does not answer ends the run here.

    Raises:
        SystemExit: One of the two options is missing, or langchain-openai, or an answer.
    """
    if (chosen.llm_url is None) != (chosen.llm_model is None):
        parser.error("--llm-url and --llm-model go together")
    if chosen.llm_url is None:
        return None
    chat = connect(chosen.llm_url, chosen.llm_model)
    try:
        ask(chat, instruction="Answer with one word.", items=[], task="Say yes.")
    except Exception as error:
        raise SystemExit(f"the model at --llm-url does not answer: {error}") from error
    return chat


def connect(url: str, model: str) -> Any:
    """Give a LangChain chat model at temperature 0; the key is OPENAI_API_KEY, or "none".

    Raises:
        SystemExit: langchain-openai is not installed.
    """
    try:
        from langchain_openai import ChatOpenAI
    except ImportError as error:
        raise SystemExit("--llm-url needs the package langchain-openai") from error
    key: Any = os.environ.get("OPENAI_API_KEY", "none")
    return ChatOpenAI(
        base_url=url,
        model=model,
        temperature=0,
        api_key=key,
        max_completion_tokens=_MOST_TOKENS,
    )


def ask(chat: Any, *, instruction: str, items: list[dict[str, Any]], task: str) -> Reply:
    """Ask about quoted items, and give the answer without what a model thought before it."""
    given = f"{quoted(items)}\n\n{task}" if items else task
    reply = read_reply(
        chat.invoke([("system", f"{instruction}\n\n{DATA_RULE}"), ("human", given)]),
    )
    answer = reply.text.rpartition("</think>")[2].strip()
    return Reply(answer, reply.input_tokens, reply.output_tokens)


class Answers:
    """What a model answered, by prompt; with a file, a run that was stopped goes on from it.

    Args:
        model: Whose answers they are; a file may hold those of several.
        path: A file of JSON lines, made where it is missing; None keeps them in memory alone.
    """

    def __init__(self, model: str = "", path: Path | None = None) -> None:
        self._model = model
        self._path = path
        self._known: dict[tuple[str, str], str] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self._known[row["model"], row["prompt"]] = row["answer"]

    def get(self, prompt: str) -> str | None:
        """Give the answer to a prompt, or None where it was not asked."""
        return self._known.get((self._model, prompt))

    def put(self, prompt: str, answer: str) -> None:
        """Keep an answer."""
        self._known[self._model, prompt] = answer
        if self._path is not None:
            row = {"model": self._model, "prompt": prompt, "answer": answer}
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
