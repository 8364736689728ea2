"""Stands between a tool and the model server, and counts: no tool can hide a call or a failure."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_PATIENCE = 1_800.0


class CountingEndpoint:
    """Forwards every request to an OpenAI-compatible endpoint.

    Args:
        upstream: Base of the endpoint, such as ``http://127.0.0.1:8080/v1``.

    Attributes:
        url: Base to give to a tool.
        counts: "LLM calls", "failed LLM calls" (no answer, or a status that is not 2xx),
            "prompt tokens" and "answer tokens" so far.
    """

    def __init__(self, upstream: str) -> None:
        self.counts: Counter[str] = Counter()
        handler = _handler(upstream.rstrip("/"), self.counts, threading.Lock())
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(
    upstream: str, counts: Counter[str], lock: threading.Lock
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, answer = _forwarded(
                upstream + self.path, body, self.headers.get("Authorization")
            )
            with lock:
                counts.update(_counted(status, answer))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Requests are counted, not printed."""

    return Handler


def _forwarded(url: str, body: bytes, key: str | None) -> tuple[int, bytes]:
    headers = {"Content-Type": "application/json"} | ({"Authorization": key} if key else {})
    request = urllib.request.Request(url, data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError as error:
        return 502, json.dumps({"error": {"message": str(error)}}).encode()


def _counted(status: int, answer: bytes) -> Counter[str]:
    if not 200 <= status < 300:
        return Counter({"LLM calls": 1, "failed LLM calls": 1})
    usage = json.loads(answer).get("usage") or {}
    return Counter(
        {
            "LLM calls": 1,
            "prompt tokens": usage.get("prompt_tokens", 0),
            "answer tokens": usage.get("completion_tokens", 0),
        }
    )
