"""A peer in an environment of its own, spoken to in JSON lines."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from benchmarks.peers.inputs import as_request
from benchmarks.peers.tools import Answer, Item, ToolError, Words

_TAIL = 500


class ProcessTool:
    """Runs an adapter and asks it about one item at a time.

    Args:
        name: Row of the table.
        words: What it is given, and what it cannot express.
        command: Starts the adapter.
        takes_streams: See `benchmarks.peers.tools.Tool`.

    Attributes:
        versions: Of the packages that the adapter says it uses.

    Raises:
        ToolError: The adapter did not start.
    """

    def __init__(
        self, name: str, words: Words, command: Sequence[str], *, takes_streams: bool
    ) -> None:
        self.name = name
        self.words = words
        self.takes_streams = takes_streams
        self._errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115  (see close)
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
        )
        try:
            self.versions: dict[str, str] = self._receive()["ready"]
        except ToolError:
            self.close()
            raise

    def read(self, item: Item) -> Answer:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(as_request(item)) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._ended() from error
        reply = self._receive()
        if "error" in reply:
            raise ToolError(reply["error"])
        given = {memory.id for memory in item.memories}
        kept = {reading: set(ids) for reading, ids in reply["kept"].items()}
        if unknown := set().union(*kept.values()) - given:
            raise ToolError(f"it shows ids that it was not given: {sorted(unknown)}")
        return Answer(kept, reply["seconds"], Counter(reply["counts"]))

    def close(self) -> None:
        """End the adapter: its input ends, then it is waited for."""
        self._process.communicate()
        self._errors.close()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        return cast("dict[str, Any]", json.loads(line))

    def _ended(self) -> ToolError:
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().strip()[-_TAIL:]
        return ToolError(f"the adapter of {self.name} ended with {code}: {said}")
