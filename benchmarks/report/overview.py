"""A line for every experiment: what was asked, what came out, and the command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from benchmarks.report import headlines
from benchmarks.report.markdown import cell, slug
from benchmarks.report.reading import Content, Contents, command_of, made_from


@dataclass(frozen=True, slots=True)
class Claim:
    """What an experiment is called, and what of it goes into the overview.

    Attributes:
        title: Name in the overview.
        command: After ``python -m benchmarks``; for files that do not tell their own.
        headline: Sentence from its file.
        section: Heading in benchmarks/README.md, where it is not the title.
    """

    title: str
    command: str
    headline: Callable[[Content], str]
    section: str = ""

    @property
    def heading(self) -> str:
        return self.section or self.title


_PEERS: Final = "Other tools on the same inputs"
CLAIMS: Final = {
    "field": Claim("Cases that users reported", "field", headlines.field),
    "peers": Claim(_PEERS, "peers --environments DIR", headlines.peers),
    "peers_llm": Claim(
        "The same with an LLM",
        "peers --environments DIR --llm-url URL --llm-model NAME",
        headlines.peers,
        _PEERS,
    ),
    "streams": Claim(
        "Long streams full of lookalikes",
        "streams --thresholds .25 .3 .35 .5 .6 .7",
        headlines.streams,
    ),
    "detectors": Claim("What the detectors find", "detectors", headlines.detectors),
    "temporal_mutation": Claim(
        "N old statements, M new ones", "temporal-mutation", headlines.mutation
    ),
    "bag_of_facts": Claim("Everything in the context", "bag-of-facts", headlines.mutation),
    "theory": Claim("Both theorems of GC-Mem", "theory", headlines.theory),
    "factconsolidation": Claim(
        "FactConsolidation", "factconsolidation --questions 40", headlines.facts
    ),
    "head_lookup": Claim("Head look-up", "head-lookup", headlines.head_lookup),
    "history": Claim("Questions about the past", "history", headlines.history),
    "drift": Claim("A world that changes in secret", "drift", headlines.drift),
    "trial_chat_memory": Claim(
        "Chat memories with a real language model",
        "trial-chat-memory --llm-url URL --llm-model NAME",
        headlines.trial_chat_memory,
    ),
    "ledger": Claim("Cost of the ledger", "ledger", headlines.ledger),
    "latency": Claim("Cost of a collection", "latency", headlines.latency),
    "detector_speed": Claim("Speed of the detector", "detector-speed", headlines.detector_speed),
}


def overview(contents: Contents, *, details: str) -> str:
    """Write the table; experiments without a file are left out.

    Args:
        contents: The files by name.
        details: Where the sections are, as a link.
    """
    rows = [
        f"| [{claim.title}]({details}#{slug(claim.heading)}) "
        f"| {made_from(name, contents, claim.headline)} "
        f"| `{_command(contents[name], claim)}` |\n"
        for name, claim in CLAIMS.items()
        if name in contents
    ]
    return "| experiment | what came out | `python -m benchmarks` |\n|---|---|---|\n" + "".join(
        rows
    )


def _command(content: Content, claim: Claim) -> str:
    own = command_of(content)
    return claim.command if own is None else cell(own.removeprefix("python -m benchmarks "))
