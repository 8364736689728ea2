"""The peers from PyPI: their adapters, and what they are given and cannot express."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.environments import ADAPTERS, python_of
from benchmarks.peers.process import ProcessTool
from benchmarks.peers.tools import NotRun, Words


@dataclass(frozen=True)
class Package:
    """One peer.

    Attributes:
        name: On PyPI.
        adapter: Script in ``adapters``.
        words: Without an LLM.
        llm_words: With one.
        needs_llm: Whether it does nothing without one.
    """

    name: str
    adapter: str
    words: Words
    llm_words: Words
    needs_llm: bool = False


_AGES = (
    "keeping a true fact that is old (age alone makes it stale); changes within a day; "
    "scope, question"
)
PACKAGES = (
    Package(
        "contradiction-judge",
        "contradiction_judge_adapter.py",
        Words(
            "time",
            "anything but its patterns (age, birthday, 'my name is', 'I live in', 'I like'); "
            "scope, question, time asked about, speaker, validity",
        ),
        Words("time, LLM", "scope, question, time asked about, speaker, validity"),
    ),
    Package(
        "evermem-ai",
        "evermem_adapter.py",
        Words(
            "time, scope, question, time asked about, speaker",
            "statements that its patterns do not read (mostly other than 'I' and 'my'); validity",
        ),
        Words("time, scope, question, time asked about, speaker, LLM", "validity"),
    ),
    Package(
        "memlint",
        "memlint_adapter.py",
        Words(
            "time, time of reading or asked about, speaker",
            _AGES,
        ),
        Words(
            "time, time of reading or asked about, speaker, LLM (for categories only)",
            _AGES,
        ),
    ),
    Package(
        "delta-prune",
        "delta_prune_adapter.py",
        Words("", ""),
        Words(
            "order by time, LLM",
            "time itself, scope, question, time asked about, speaker, validity",
        ),
        needs_llm=True,
    ),
    Package(
        "nuggetindex",
        "nuggetindex_adapter.py",
        Words(
            "time",
            "relations other than its triggers (CEO of, headquartered in, renamed to, priced at); "
            "a winner where both sides have one source; scope, speaker",
        ),
        Words(
            "time, LLM",
            "conflicts outside its single-valued relations; a winner where both sides have one "
            "source; scope, speaker",
        ),
    ),
)


def start(
    package: Package, folder: Path | None, *, llm: tuple[str, str] | None = None
) -> ProcessTool:
    """Start a peer in its environment below a folder.

    Args:
        package: Which one.
        folder: Holds the environments.
        llm: Base and model of the endpoint that it gets; None runs it without.

    Raises:
        NotRun: It has no environment, or needs an LLM.
        ToolError: It did not start.
    """
    if package.needs_llm and llm is None:
        raise NotRun("it needs an LLM (--llm-url)")
    if folder is None:
        raise NotRun("no --environments was given")
    python = python_of(folder, package.name)
    if not python.exists():
        raise NotRun(f"no environment {package.name} below the folder; --prepare makes it")
    command = [str(python), str(ADAPTERS / package.adapter)]
    if llm is None:
        return ProcessTool(package.name, package.words, command, takes_streams=True)
    command += ["--llm-url", llm[0], "--llm-model", llm[1]]
    return ProcessTool(f"{package.name} + LLM", package.llm_words, command, takes_streams=False)
