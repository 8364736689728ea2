"""Shared by the tests of memories: a conversation, and extractors whose findings are known."""

from __future__ import annotations

from collections.abc import Sequence

from gcmem.precedents.evidence import Claim, Known, Utterance

CONVERSATION: Sequence[tuple[str, set[str]]] = (
    ("I live in Ulm.", {"I live in Ulm."}),
    ("Hi! I moved from Ulm to Kiel. Which bank is near?", {"I moved from Ulm to Kiel."}),
    ('My gran always said "I live in Ulm and nowhere else".', {"I moved from Ulm to Kiel."}),
    ("Do I still live in Ulm?", {"I moved from Ulm to Kiel."}),
    ("What if I moved to Rome?", {"I moved from Ulm to Kiel."}),
    ("Tom told me that he moved to Bonn.", {"I moved from Ulm to Kiel."}),
    ("My sister moved to Bonn.", {"I moved from Ulm to Kiel.", "My sister moved to Bonn."}),
    ("I live in Ulm.", {"I live in Ulm.", "My sister moved to Bonn."}),
)
"""What is said, and all that is true after it."""

HOMES = ("live in", "moved ")


def home_rule(older: str, newer: str) -> bool:
    return all(any(home in text for home in HOMES) for text in (older, newer)) and older != newer


class SlotExtractor:
    """Reads messages of the form "slot=value", and remembers what it was shown."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def extract(self, utterances: Sequence[Utterance], known: Known) -> list[Claim]:
        self.read += [said.text for said in utterances]
        return [
            Claim(*said.text.split("="), source=said.origin, at=said.at)
            for said in utterances
            if said.role == "user" and "=" in said.text
        ]

    async def aextract(self, utterances: Sequence[Utterance], known: Known) -> list[Claim]:
        return self.extract(utterances, known)
