"""Asks a model about many things: batches, retries, one repair, budget; blocking or not."""

from __future__ import annotations

import asyncio
import threading
import time
import warnings
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

from gcmem.checks import whole_number
from gcmem.detectors.chat import Prompt, Reply, chat_model
from gcmem.detectors.usage import Usage, count

__all__ = ["Asker", "BudgetSpentWarning", "InventedNumberWarning", "Reading", "Task"]

V = TypeVar("V")
T = TypeVar("T")
Steps: TypeAlias = Generator[Prompt | float, Reply | None, T]
"""Yields a prompt to ask (and is sent the reply) or seconds to wait (and is sent None)."""

_PROGRAMMING_ERRORS: Final = (
    TypeError,
    AttributeError,
    NameError,
    NotImplementedError,
    ImportError,
)
_PASSING_STATUS: Final = frozenset({408, 409, 425, 429})


class BudgetSpentWarning(UserWarning):
    """All calls that a model was allowed for its life are made; said once."""


class InventedNumberWarning(UserWarning):
    """A model answered about something that it was not asked; that part was ignored."""


@dataclass(frozen=True, slots=True)
class Reading(Generic[V]):
    """What was read from one answer.

    Attributes:
        answers: By number, what is usable.
        invented: Numbers in the answer that were not asked.
        problem: Why something is missing, in our own words; it goes into the repair prompt.
        from_log_probabilities: How many answers came from log-probabilities.
    """

    answers: Mapping[int, V]
    invented: Sequence[object] = field(default=())
    problem: str = ""
    from_log_probabilities: int = 0


class Task(Protocol[V]):
    """Numbered items that a model is asked about."""

    def prompt(self, numbers: Sequence[int], note: str) -> Prompt:
        """Ask about these items; the note says what was wrong with an earlier answer."""
        ...

    def read(self, reply: Reply, numbers: Sequence[int]) -> Reading[V]:
        """Read an answer about these items."""
        ...


class Asker:
    """Asks one model about batches of numbered items.

    Args:
        model: See `gcmem.detectors.chat.chat_model`.
        concurrency: Calls in flight at once, over all threads or over one event loop.
        retries: How often a call that failed is repeated (not where the request itself is wrong).
        backoff: Seconds before the first repetition; doubled each time.
        max_calls: Calls in the life of this object, or None; past it nothing is asked, and a
            `BudgetSpentWarning` says so once.
        deadline: Seconds within which one `ask` may begin calls, or None. `aask` also gives up a
            call that is still running then (a blocking function goes on in its thread, unheard);
            `ask` cannot, and waits for it.

    Raises:
        TypeError: The model is of no known form, or a count is no whole number.
        ValueError: A number is out of range.
    """

    def __init__(
        self,
        model: Any,
        *,
        concurrency: int,
        retries: int,
        backoff: float,
        max_calls: int | None,
        deadline: float | None,
    ) -> None:
        whole_number("concurrency", concurrency, least=1)
        whole_number("retries", retries, least=0)
        if max_calls is not None:
            whole_number("max_calls", max_calls, least=0)
        for name, value in (("backoff", backoff), ("deadline", deadline)):
            if value is not None and not value >= 0:
                msg = f"{name} must be at least 0, got {value!r}."
                raise ValueError(msg)
        self.model = chat_model(model)
        self.concurrency = concurrency
        self.retries = retries
        self.backoff = float(backoff)
        self.max_calls = max_calls
        self.deadline = deadline
        self.usage = Usage()
        self._warned = False
        self._prepare()

    def ask(self, task: Task[V], batches: Sequence[Sequence[int]]) -> dict[int, V]:
        """Ask about all batches, in threads; give the answers by number.

        Raises:
            Exception: What the model raised when the last retry failed, or when the budget left
                no room for another.
        """
        if not batches:
            return {}
        until = self._until()
        pool = ThreadPoolExecutor(max_workers=min(self.concurrency, len(batches)))
        try:
            futures = [
                pool.submit(copy_context().run, self._drive, self._converse(task, batch, until))
                for batch in batches
            ]
            return _merged([future.result() for future in futures])
        finally:
            pool.shutdown(cancel_futures=True)

    async def aask(self, task: Task[V], batches: Sequence[Sequence[int]]) -> dict[int, V]:
        """Ask about all batches, without blocking the event loop; give the answers by number."""
        until = self._until()
        running = [
            asyncio.ensure_future(self._adrive(self._converse(task, batch, until), until))
            for batch in batches
        ]
        try:
            return _merged(await asyncio.gather(*running))
        finally:
            for conversation in running:
                conversation.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _converse(
        self, task: Task[V], numbers: Sequence[int], until: float | None
    ) -> Steps[dict[int, V]]:
        """Ask about a batch, and once more about what the first answer left open."""
        answers: dict[int, V] = {}
        missing, note = list(numbers), ""
        for attempt in range(2):
            if attempt:
                self._count(repairs=1)
            reply = yield from self._asked(task.prompt(missing, note), until)
            if reply is None:
                break
            reading = task.read(reply, missing)
            answers.update(reading.answers)
            self._count(from_log_probabilities=reading.from_log_probabilities)
            if reading.invented:
                self._count(invented=len(reading.invented))
                warnings.warn(
                    f"the model {self.model.name!r} answered about {list(reading.invented)!r}, "
                    "which it was not asked; this was ignored.",
                    InventedNumberWarning,
                    stacklevel=2,
                )
            missing = [number for number in missing if number not in answers]
            if not missing:
                break
            note = reading.problem or "some numbers were missing"
        self._count(unanswered=len(missing))
        return answers

    def _asked(self, prompt: Prompt, until: float | None) -> Steps[Reply | None]:
        """Make one call, repeated after errors; None where the budget forbids it.

        An error is never taken for "no answer": where the budget ends the repetitions it is raised.
        """
        attempt = 0
        failed: Exception | None = None
        while self._may_call(until):
            if failed is not None:
                self._count(retries=1)
            try:
                reply = yield prompt
            except Exception as error:
                pause = self.backoff * 2.0**attempt
                too_late = until is not None and time.monotonic() + pause >= until
                if attempt == self.retries or too_late or not _may_pass(error):
                    raise
                failed = error
                yield pause
                attempt += 1
                continue
            if reply is None:
                break
            known = reply.input_tokens is not None or reply.output_tokens is not None
            self._count(
                input_tokens=reply.input_tokens or 0,
                output_tokens=reply.output_tokens or 0,
                calls_without_counts=0 if known else 1,
            )
            return reply
        if failed is not None:
            raise failed
        return None

    def _drive(self, steps: Steps[T]) -> T:
        answer: Reply | Exception | None = None
        while True:
            step, result = _advance(steps, answer)
            if step is None:
                return cast("T", result)
            if isinstance(step, Prompt):
                answer = self._reply(step)
            else:
                time.sleep(step)
                answer = None

    async def _adrive(self, steps: Steps[T], until: float | None) -> T:
        answer: Reply | Exception | None = None
        while True:
            step, result = _advance(steps, answer)
            if step is None:
                return cast("T", result)
            if isinstance(step, Prompt):
                answer = await self._areply(step, until)
            else:
                await asyncio.sleep(step)
                answer = None

    def _reply(self, prompt: Prompt) -> Reply | Exception:
        try:
            with self._threads:
                return self.model.ask(prompt)
        except Exception as error:  # noqa: BLE001  (the conversation retries it or raises it)
            return error

    async def _areply(self, prompt: Prompt, until: float | None) -> Reply | Exception | None:
        """Call the model; None where the deadline passed first."""
        loop = asyncio.get_running_loop()
        limit = self._loops.setdefault(loop, asyncio.Semaphore(self.concurrency))
        left = None if until is None else max(0.0, until - time.monotonic())
        timer = asyncio.timeout(left)
        try:
            async with timer, limit:
                return await self.model.aask(prompt)
        except TimeoutError as error:
            return None if timer.expired() else error  # else it is the model's own
        except Exception as error:  # noqa: BLE001  (the conversation retries it or raises it)
            return error

    def _until(self) -> float | None:
        return None if self.deadline is None else time.monotonic() + self.deadline

    def _may_call(self, until: float | None) -> bool:
        if until is not None and time.monotonic() >= until:
            return False
        with self._lock:
            allowed = self.max_calls is None or self.usage.calls < self.max_calls
            first_refusal = not allowed and not self._warned
            if allowed:
                self.usage += Usage(calls=1)
            else:
                self._warned = True
        if first_refusal:
            warnings.warn(
                f"the model {self.model.name!r} has made all {self.max_calls} calls of max_calls; "
                "what is left gets no answer.",
                BudgetSpentWarning,
                stacklevel=2,
            )
        if not allowed:
            return False
        count(Usage(calls=1))
        return True

    def _count(self, **added: int) -> None:
        usage = Usage(**added)
        with self._lock:
            self.usage += usage
        count(usage)

    def _prepare(self) -> None:
        """Make what cannot be pickled."""
        self._lock = threading.Lock()
        self._threads = threading.BoundedSemaphore(self.concurrency)
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            WeakKeyDictionary()
        )

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in {"_lock", "_threads", "_loops"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()


def _may_pass(error: Exception) -> bool:
    """Whether a call may succeed when it is repeated: not if the code or the request is wrong."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and 400 <= status < 500:
        return status in _PASSING_STATUS
    return not isinstance(error, _PROGRAMMING_ERRORS)


def _advance(
    steps: Steps[T], answer: Reply | Exception | None
) -> tuple[Prompt | float, None] | tuple[None, T]:
    """Let a conversation go on to its next step; without one, give its result."""
    try:
        if isinstance(answer, Exception):
            return steps.throw(answer), None
        return steps.send(answer), None
    except StopIteration as stop:
        return None, stop.value


def _merged(answers: Sequence[dict[int, V]]) -> dict[int, V]:
    return {number: answer for part in answers for number, answer in part.items()}
