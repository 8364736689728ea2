"""Peers: adapters as processes, and the endpoint that counts model calls."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from benchmarks.peers.adapters.serving import complete
from benchmarks.peers.endpoint import CountingEndpoint
from benchmarks.peers.environments import ADAPTERS
from benchmarks.peers.inputs import make_item
from benchmarks.peers.packages import PACKAGES, start
from benchmarks.peers.process import ProcessTool
from benchmarks.peers.tools import ToolError, Words
from gcmem import Memory

pytestmark = pytest.mark.integration

ITEM = make_item(
    {"must_keep": [], "must_drop": []},
    [
        Memory("I live in Ulm.", "2025-01-01", id="old"),
        Memory("I live in Kiel.", "2026-01-01", id="new"),
    ],
    query="Where do I live?",
)
_ADAPTER = """
import sys
sys.path.insert(0, {folder!r})
from serving import all_but, serve

def read(request, counts):
    {body}

serve(read, "pip")
"""


def started(folder: Path, body: str) -> ProcessTool:
    script = folder / "adapter.py"
    script.write_text(_ADAPTER.format(folder=str(ADAPTERS), body=body), encoding="utf-8")
    return ProcessTool("peer", Words("", ""), [sys.executable, str(script)], takes_streams=True)


def test_an_adapter_in_a_process_is_asked_and_answers(tmp_path: Path) -> None:
    tool = started(tmp_path, "return {'verdicts': all_but(request, {'old'})}")
    answer = tool.read(ITEM)
    tool.close()

    assert answer.kept == {"verdicts": {"new"}}
    assert set(tool.versions) == {"pip"}


def test_an_error_in_the_process_is_a_tool_error_and_it_goes_on(tmp_path: Path) -> None:
    tool = started(tmp_path, "raise KeyError('date')")
    for _ in range(2):
        with pytest.raises(ToolError, match="KeyError: 'date'"):
            tool.read(ITEM)
    tool.close()


def test_ids_that_were_not_given_are_refused(tmp_path: Path) -> None:
    tool = started(tmp_path, "return {'verdicts': ['invented']}")
    with pytest.raises(ToolError, match="invented"):
        tool.read(ITEM)
    tool.close()


def test_a_process_that_ends_says_with_what(tmp_path: Path) -> None:
    tool = started(tmp_path, "print('out of memory', file=sys.stderr); sys.exit(3)")
    with pytest.raises(ToolError, match=r"ended with 3: .*out of memory"):
        tool.read(ITEM)
    tool.close()


def test_an_adapter_that_cannot_start_is_a_tool_error(tmp_path: Path) -> None:
    script = tmp_path / "adapter.py"
    script.write_text("import a_package_that_is_not_there", encoding="utf-8")
    with pytest.raises(ToolError, match="a_package_that_is_not_there"):
        ProcessTool("peer", Words("", ""), [sys.executable, str(script)], takes_streams=True)


class _Model(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = asked["messages"][0]["content"]
        self.send_response(500 if text == "fail" else 200)
        self.end_headers()
        answer = {
            "choices": [{"message": {"content": text.upper()}}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 2},
        }
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def model() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_the_endpoint_forwards_calls_and_counts_them_with_their_failures(model: str) -> None:
    endpoint = CountingEndpoint(model)
    assert complete(endpoint.url, "any", "hello") == "HELLO"
    with pytest.raises(OSError, match="500"):
        complete(endpoint.url, "any", "fail")
    endpoint.close()

    assert endpoint.counts == {
        "LLM calls": 2,
        "failed LLM calls": 1,
        "prompt tokens": 5,
        "answer tokens": 2,
    }


def test_a_server_that_is_not_there_is_a_failed_call() -> None:
    endpoint = CountingEndpoint("http://127.0.0.1:9/v1")
    with pytest.raises(OSError, match="502"):
        complete(endpoint.url, "any", "hello")
    endpoint.close()

    assert endpoint.counts["failed LLM calls"] == 1


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_each_peer_answers_in_its_own_environment(package) -> None:
    folder = os.environ.get("GCMEM_PEERS")
    if folder is None or package.needs_llm:
        pytest.skip("GCMEM_PEERS names no folder of environments, or the peer needs a model")
    tool = start(package, Path(folder))
    answer = tool.read(ITEM)
    tool.close()

    assert all("new" in kept for kept in answer.kept.values())
