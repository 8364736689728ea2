"""What a model costs, counted over its life and for one piece of work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields

__all__ = ["Meter", "Usage", "count", "metered"]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model has cost.

    Attributes:
        calls: Calls, with retries and repairs.
        input_tokens: Tokens read, as far as the model reports them.
        output_tokens: Tokens written, as far as the model reports them.
        calls_without_counts: Answers that came without token counts.
        retries: Calls repeated after an error.
        repairs: Calls repeated because an answer was unreadable or incomplete.
        invented: Answers about numbers that were never asked, ignored.
        unanswered: Items left without an answer.
        from_log_probabilities: Items whose score was read from log-probabilities.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    calls_without_counts: int = 0
    retries: int = 0
    repairs: int = 0
    invented: int = 0
    unanswered: int = 0
    from_log_probabilities: int = 0

    def __add__(self, other: Usage) -> Usage:
        names = (field.name for field in fields(self))
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in names})


class Meter:
    """Adds up usage; safe to use from threads."""

    def __init__(self) -> None:
        self._usage = Usage()
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        """What has been added so far."""
        with self._lock:
            return self._usage

    def add(self, usage: Usage) -> None:
        """Add usage."""
        with self._lock:
            self._usage += usage


_RUNNING: ContextVar[tuple[Meter, ...]] = ContextVar("gcmem_meters", default=())


@contextmanager
def metered() -> Iterator[Meter]:
    """Count what models cost within the block, in its threads and tasks as well.

    Example:
        >>> with metered() as meter:
        ...     count(Usage(calls=1, input_tokens=90))
        >>> meter.usage.input_tokens
        90
    """
    meter = Meter()
    token = _RUNNING.set((*_RUNNING.get(), meter))
    try:
        yield meter
    finally:
        _RUNNING.reset(token)


def count(usage: Usage) -> None:
    """Add usage to every meter that runs in this context."""
    for meter in _RUNNING.get():
        meter.add(usage)
