"""The inputs: the field cases and the streams, as every tool gets them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

from benchmarks import field
from benchmarks.peers.tools import Item, in_order
from benchmarks.streams import make_streams
from gcmem import Memory
from gcmem.encoder import SentenceEncoder
from gcmem.timestamps import to_utc

_DAY = 86_400


def field_items(*, count: int, seed: int) -> dict[str, Item]:
    """Give the field cases by name, all of them or a random `count`, in the order of the file."""
    cases = field.read_cases()
    if 0 < count < len(cases):
        chosen = set(Random(seed).sample(range(len(cases)), count))
        cases = [case for number, case in enumerate(cases) if number in chosen]
    return {
        case["id"]: make_item(
            case, field.memories_of(case), query=case["query"], as_of=field.as_of(case)
        )
        for case in cases
    }


def stream_items(*, count: int, seed: int) -> dict[str, Item]:
    """Give held-out streams as `benchmarks.streams` makes them, one statement a day.

    A day, because a peer takes nothing that lies less than a day apart for a contradiction. Only
    the order matters to gcmem.
    """
    items = {}
    streams = make_streams("test", count=count, groups_each=8, seed=seed) if count else []
    for number, stream in enumerate(streams):
        memories = [
            replace(memory, timestamp=to_utc(_DAY * place))
            for place, memory in enumerate(stream.memories)
        ]
        needed = [memory.id for memory in memories if memory.id not in stream.stale]
        case = {"must_keep": needed, "must_drop": sorted(stream.stale)}
        items[f"stream {number}"] = make_item(case, memories)
    return items


def make_item(
    case: dict[str, Any], memories: list[Memory], *, query: str = "", as_of: str | None = None
) -> Item:
    """Put one input together.

    Raises:
        ValueError: No memory has a time.
    """
    times = [memory.timestamp for memory in memories if memory.timestamp is not None]
    if not times:
        raise ValueError("an input needs at least one memory with a time.")
    judged = {name: case[name] for name in ("must_keep", "must_drop")}
    scores = _scores(query, memories) if query else {}
    return Item(query, in_order(memories), max(times), as_of, scores, judged)


def _scores(query: str, memories: list[Memory]) -> dict[str, float]:
    """Give the score that came with a memory, else the cosine of the bundled encoder."""
    vectors = _encoder().encode([query, *(memory.text for memory in memories)])
    cosines = vectors[1:] @ vectors[0]
    return {
        memory.id: float(cosine) if memory.relevance is None else memory.relevance
        for memory, cosine in zip(memories, cosines, strict=True)
    }


@cache
def _encoder() -> SentenceEncoder:
    return SentenceEncoder()  # not shared with any tool: its vectors are kept


def as_request(item: Item) -> dict[str, Any]:
    """Write an item as the adapters read it (see `benchmarks.peers.adapters.serving`)."""
    as_of = to_utc(item.as_of) if item.as_of else None
    return {
        "query": item.query,
        "now": _iso(item.now),
        "as_of": _iso(as_of),
        "memories": [
            {
                "id": memory.id,
                "text": memory.text,
                "time": _iso(memory.timestamp),
                "scope": "/".join(memory.scope) or None,
                "speaker": "assistant" if memory.metadata.get("source") == "assistant" else "user",
            }
            for memory in item.memories
        ],
    }


def _iso(time: Any) -> str | None:
    # One form for all, because pandas refuses a mixture.
    return None if time is None else time.isoformat(timespec="microseconds")
