"""What the adapters share: JSON lines over stdin and stdout. Runs on a bare Python, in any venv.

The adapter first writes ``{"ready": {package: version}}``. A request then holds ``query``, ``now``
(when it is read), ``as_of`` (null unless the question is about a past state) and ``memories``,
oldest first and undated ones before them; each has ``id``, ``text``, ``time`` (ISO 8601 in UTC, or
null), ``scope`` and ``speaker``. The answer holds ``kept`` (ids, for each way to read the tool's
output), ``seconds`` and ``counts``; or ``error``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from importlib import metadata
from typing import Any, TextIO

Request = dict[str, Any]
Kept = dict[str, list[str]]
Read = Callable[[Request, "Counter[str]"], Kept]

_PATIENCE = 1_800.0


def serve(
    read: Read, package: str, *, requests: TextIO | None = None, replies: TextIO | None = None
) -> None:
    """Answer requests until the input ends.

    Whatever else is printed goes to stderr, so that a chatty package cannot break the protocol. An
    exception of the package is its answer to that request; the runner counts it.
    """
    replies = replies or sys.stdout
    sys.stdout = sys.stderr
    _send(replies, {"ready": {package: metadata.version(package)}})
    for line in requests or sys.stdin:
        counts: Counter[str] = Counter()
        start = time.perf_counter()
        try:
            kept = read(json.loads(line), counts)
        except Exception as error:  # noqa: BLE001  (reported, not swallowed)
            _send(replies, {"error": f"{type(error).__name__}: {error}"})
            continue
        _send(
            replies, {"kept": kept, "seconds": time.perf_counter() - start, "counts": dict(counts)}
        )


def options() -> argparse.Namespace:
    """Read the command line that every adapter has."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--llm-url", default=None, help="base of an OpenAI-compatible endpoint")
    parser.add_argument("--llm-model", default=None)
    return parser.parse_args()


def complete(url: str, model: str, prompt: str, *, json_object: bool = False) -> str:
    """Ask a chat model once, at temperature 0."""
    body: dict[str, Any] = {
        "model": model,
        "temperature": 0,
        "messages": [{"role": "user", "content": prompt}],
    }
    if json_object:
        body["response_format"] = {"type": "json_object"}
    request = urllib.request.Request(
        f"{url.rstrip('/')}/chat/completions",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
        return str(json.load(answer)["choices"][0]["message"]["content"])


def all_but(request: Request, removed: set[str]) -> list[str]:
    """Give the ids of a request that are not removed, in its order."""
    return [memory["id"] for memory in request["memories"] if memory["id"] not in removed]


def _send(replies: TextIO, message: dict[str, Any]) -> None:
    replies.write(json.dumps(message) + "\n")
    replies.flush()
