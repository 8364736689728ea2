"""Which messages of a conversation are new. Pure: by their texts, whatever the framework."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import pairwise

from gcmem.precedents.evidence import Utterance

__all__ = ["hash_of", "new_in_flush", "new_in_window"]


def new_in_window(heard: Sequence[str], utterances: Sequence[Utterance]) -> list[Utterance]:
    """Give the messages of a conversation, as it stands now, that have not been read.

    Frameworks show the latest part of a conversation again and again, often without ids, and may
    have put a summary in place of its beginning. So the end of what was read is looked for in the
    window, by text; what follows it is new. Where it is not in the window at all, only what came
    after the assistant's last answer is: reading an old statement late would make it the newest.

    Args:
        heard: Hashes of what was read, oldest first; empty for a conversation never read.
        utterances: The window, oldest first.
    """
    window = list(_without_doubles(utterances))
    if not heard:
        return window
    hashes = [hash_of(utterance) for utterance in window]
    known = _single(heard)
    length, end = max((_common_end(known, hashes[:stop]), stop) for stop in range(len(hashes) + 1))
    if length == 0:
        answers = [row for row, said in enumerate(window) if said.role != "user"]
        end = answers[-1] + 1 if answers else 0
    return window[end:]


def new_in_flush(heard: Sequence[str], utterances: Sequence[Utterance]) -> list[Utterance]:
    """Give the messages, of those that leave a short-term memory, that have not been read.

    They are a run of the past, so their beginning is looked for anywhere in what was read.
    """
    flushed = list(_without_doubles(utterances))
    hashes, known = [hash_of(utterance) for utterance in flushed], _single(heard)
    read = 0
    for start in range(len(known)):
        run = 0
        while run < len(hashes) and start + run < len(known) and known[start + run] == hashes[run]:
            run += 1
        read = max(read, run)
    return flushed[read:]


def hash_of(utterance: Utterance) -> str:
    """Give the hash by which a message is known again."""
    said = f"{utterance.role}\x1f{' '.join(utterance.text.split())}"
    return hashlib.blake2b(said.encode(errors="surrogatepass"), digest_size=6).hexdigest()


def _common_end(first: Sequence[str], second: Sequence[str]) -> int:
    length = 0
    while length < min(len(first), len(second)) and first[-1 - length] == second[-1 - length]:
        length += 1
    return length


def _without_doubles(utterances: Sequence[Utterance]) -> Iterator[Utterance]:
    """Leave out what repeats the message before it, as some frameworks show the input twice."""
    yield from utterances[:1]
    for before, said in pairwise(utterances):
        if hash_of(before) != hash_of(said):
            yield said


def _single(hashes: Sequence[str]) -> list[str]:
    return [*hashes[:1], *(now for before, now in pairwise(hashes) if now != before)]
