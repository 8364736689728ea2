"""The command line of the comparison with peers, and what it says of itself."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import options, results
from benchmarks.language_model import add_options
from benchmarks.peers import environments
from benchmarks.peers.adapters.serving import complete
from benchmarks.peers.endpoint import CountingEndpoint
from benchmarks.peers.inputs import field_items, make_item, stream_items
from benchmarks.peers.measuring import measure, with_ratios
from benchmarks.peers.packages import PACKAGES, start
from benchmarks.peers.tools import NotRun, Tool, ToolError, everything, gcmem
from gcmem import Collector, Memory, load_detector
from gcmem.detectors import LLMDetector

OURS = "gcmem"
PURPOSE = """The field cases and the streams through gcmem and through other tools, in one run.

Every tool has its documented defaults. Packages from PyPI run in environments of their own:
--prepare makes them below --environments; without it they are listed as not run. With --llm-url
and --llm-model, every tool that can use a language model runs once more with it, and the figures
are those of peers_llm.
"""
_WARM_UP = [
    Memory("The pier is closed.", "2026-01-01", id="a"),
    Memory("The pier is open again.", "2026-01-02", id="b"),
]


class Room:
    """The tools of one run, their endpoints, and why the others are missing."""

    def __init__(self, stack: ExitStack) -> None:
        self.tools: list[Tool] = []
        self.not_run: dict[str, str] = {}
        self.endpoints: dict[str, CountingEndpoint] = {}
        self._stack = stack

    def add(self, tool: Tool, endpoint: CountingEndpoint | None = None) -> None:
        self.tools.append(tool)
        self._stack.callback(tool.close)
        if endpoint is not None:
            self.endpoints[tool.name] = endpoint

    def endpoint(self, url: str) -> CountingEndpoint:
        endpoint = CountingEndpoint(url)
        self._stack.callback(endpoint.close)
        return endpoint


def fill(room: Room, folder: Path | None, llm: tuple[str, str] | None) -> None:
    """Add all tools that can be run; with an LLM, those that can use one once more."""
    room.add(gcmem(OURS, Collector(load_detector("bundled"), tie_breaker="seq")))
    room.add(everything())
    try:
        from benchmarks.peers.recency import recency_tools

        for tool in recency_tools():
            room.add(tool)
    except NotRun as reason:
        room.not_run["LlamaIndex and LangChain"] = str(reason)
    for package in PACKAGES:
        try:
            room.add(start(package, folder))
        except (NotRun, ToolError) as reason:
            room.not_run[package.name] = str(reason)
    if llm is not None:
        _fill_with_llm(room, folder, *llm)


def _fill_with_llm(room: Room, folder: Path | None, url: str, model: str) -> None:
    endpoint = room.endpoint(url)
    detector = LLMDetector(partial(complete, endpoint.url, model), name=model)
    collector = Collector(detector, tie_breaker="seq")
    room.add(gcmem(f"{OURS} + LLM", collector, takes_streams=False), endpoint)
    for package in PACKAGES:
        endpoint = room.endpoint(url)
        try:
            room.add(start(package, folder, llm=(endpoint.url, model)), endpoint)
        except (NotRun, ToolError) as reason:
            room.not_run[f"{package.name} + LLM"] = str(reason)
            continue
        if package.needs_llm:
            del room.not_run[package.name]  # it could only not be run without one


def run(room: Room, *, cases: int, streams: int, seed: int) -> dict[str, Any]:
    """Warm the tools up, and measure them on the field cases and the streams."""
    warm_up = make_item({"must_keep": [], "must_drop": []}, _WARM_UP, query="Is the pier open?")
    for tool in room.tools:
        if tool.name not in room.endpoints:
            with suppress(ToolError):  # what fails here fails again, and is counted then
                tool.read(warm_up)
    field = measure(room.tools, field_items(count=cases, seed=seed), title="cases")
    for name, endpoint in room.endpoints.items():
        field[name]["counts"] |= endpoint.counts
    takers = [tool for tool in room.tools if tool.takes_streams]
    on_streams = None
    if streams:
        on_streams = measure(takers, stream_items(count=streams, seed=seed), title="streams")
    return {
        "tools": {
            tool.name: {
                "given": tool.words.given,
                "cannot express": tool.words.cannot,
                "versions": tool.versions,
            }
            for tool in room.tools
        },
        "not run": room.not_run,
        "field": with_ratios(field, OURS),
        "streams": with_ratios(on_streams, OURS) if on_streams is not None else None,
    }


def show(outcome: dict[str, Any], *, console: Console) -> None:
    for title, part in (("Field cases", outcome["field"]), ("Streams", outcome["streams"])):
        if part is None:
            continue
        table = Table(title=title)
        columns = ("tool", "passed", "stale shown", "needed removed", "LLM calls", "time", "errors")
        for column in columns:
            table.add_column(column, justify="left" if column == "tool" else "right")
        for name, found in part.items():
            for reading, judged in found["readings"].items():
                table.add_row(
                    f"{name}: {reading}" if reading else name,
                    f"{judged['passed']}/{found['items']}",
                    f"{judged['stale shown']}/{judged['stale']}",
                    f"{judged['needed removed']}/{judged['needed']}",
                    str(found["counts"].get("LLM calls", 0)),
                    f"{found['times gcmem']}x",
                    str(len(found["errors"])),
                )
        console.print(table)
    for name, reason in outcome["not run"].items():
        console.print(f"not run: {name}: {reason}", markup=False)


def main(arguments: list[str]) -> None:
    parser = options.Parser("peers", PURPOSE, trials=("--cases", "--streams"))
    parser.add_place("--environments", "DIR", help="holds the environments of the packages")
    parser.add_argument("--prepare", action="store_true", help="make the environments, and end")
    add_options(parser)
    at_least_none = options.count(least=0)
    parser.add_argument(
        "--cases", type=at_least_none, default=0, help="a sample of the field cases; 0: all"
    )
    parser.add_argument("--streams", type=at_least_none, default=20, help="how many; 0: none")
    parser.add_argument("--seed", type=int, default=5)
    chosen, started = parser.read(arguments)
    if (chosen.llm_url is None) != (chosen.llm_model is None):
        parser.error("--llm-url and --llm-model go together")
    if chosen.prepare:
        if chosen.environments is None:
            parser.error("--prepare needs --environments")
        for package in PACKAGES:
            environments.prepare(chosen.environments, package.name)
        return
    llm = None
    if chosen.llm_url is not None:
        llm = (chosen.llm_url, chosen.llm_model)
        try:
            complete(*llm, "Say yes.")
        except OSError as error:
            raise SystemExit(f"the model at --llm-url does not answer: {error}") from error
    with ExitStack() as stack:
        room = Room(stack)
        fill(room, chosen.environments, llm)
        outcome = run(room, cases=chosen.cases, streams=chosen.streams, seed=chosen.seed)
    console = Console()
    show(outcome, console=console if console.is_terminal else Console(width=130))
    config = {
        "cases": chosen.cases or "all",
        "streams": chosen.streams,
        "LLM": chosen.llm_model,
        "detector": load_detector("bundled").name,
    }
    name = "peers" if llm is None else "peers_llm"
    path = results.write(name, config=config, results=outcome, seed=chosen.seed, run=started)
    print(f"figures: {results.shown(path)}")
