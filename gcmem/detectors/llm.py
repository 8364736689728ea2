"""Kappa by a chat model of any framework: many pairs a call, structured answers, no obedience."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from gcmem.checks import whole_number
from gcmem.detectors.asking import Asker
from gcmem.detectors.base import Calibration, ScoreArray, TextPair
from gcmem.detectors.judging import VERSION, JudgeTask
from gcmem.detectors.usage import Usage

__all__ = ["LLMDetector"]


class LLMDetector:
    """Asks a chat model whether the newer of two statements makes the older one untrue.

    Several pairs go into one call; the model answers in JSON, by pair number. Numbers that it
    invents are ignored with a warning. What it leaves out or answers unusably is asked once more,
    and has no verdict (NaN) after that, so nothing is removed for it. Statements are quoted as
    data, and nothing in them can end the quotation. Where the model gives log-probabilities
    (``ChatOpenAI(logprobs=True, top_logprobs=5)``), the score is the probability of the token
    "yes"; otherwise it is the probability that the model states. Either is uncalibrated: measure
    it on labelled pairs with `gcmem.calibrate` before trusting the threshold.

    It has no ``gate``, so a collector asks about every pair. To ask about near pairs only, give the
    collector the bundled one (``Collector(judge, gate=load_detector().gate)``), or make this the
    second stage of a `gcmem.detectors.CascadeDetector`.

    The collector gives the time at which each statement was recorded (``use_dates``); in `score`, a
    statement of the form that `gcmem.detectors.quoting.dated` writes is given with its date.

    Args:
        model: A LangChain chat model or runnable, a LlamaIndex LLM, or a function or coroutine
            function from one text to one text.
        name: Names the model and its settings; verdicts are cached under it. None takes the
            model's own name. Give one where two models would have the same; a lambda or
            ``functools.partial`` has no name of its own and needs one.
        threshold: Score from which a pair counts as a conflict.
        calibration: What was measured, if it was.
        use_query: Show the model the question behind the retrieval. Verdicts are then cached by
            question.
        use_dates: Have the collector give the time of each statement. Verdicts are then cached by
            date as well; without it the same words at another time need no new call.
        pairs_per_call: Pairs in one call.
        characters_per_call: Characters of statements in one call; a longer pair goes alone.
        concurrency: Calls in flight at once, over all threads or over one event loop.
        retries: How often a call that failed is repeated; then the error is raised.
        backoff: Seconds before the first repetition; doubled each time.
        max_calls: Calls in the life of this detector, repetitions included; past it there is no
            verdict. None: no limit. (`Collector.max_pairs` bounds the pairs of one collection.)
        deadline: Seconds within which one `score` may begin calls; past it there is no verdict.
            `ascore` also gives up calls still running then; `score` waits for them.

    Attributes:
        refuses: False: a missing verdict is a missing answer, never a refusal of the text.
        usage: Calls and tokens so far, see `Usage`.

    Raises:
        TypeError: The model is of no known form, or a count is no whole number.
        ValueError: A number is out of range, or a model without a name was given no ``name``.

    Example:
        >>> def model(prompt):
        ...     return '{"verdicts": [{"pair": 1, "verdict": "yes", "probability": 0.97}]}'
        >>> detector = LLMDetector(model, name="scripted")
        >>> round(float(detector.score([("The lamp is green.", "The lamp is red.")])[0]), 2)
        0.97
    """

    refuses = False

    def __init__(
        self,
        model: Any,
        *,
        name: str | None = None,
        threshold: float = 0.5,
        calibration: Calibration | None = None,
        use_query: bool = False,
        use_dates: bool = True,
        pairs_per_call: int = 20,
        characters_per_call: int = 20_000,
        concurrency: int = 4,
        retries: int = 2,
        backoff: float = 1.0,
        max_calls: int | None = None,
        deadline: float | None = None,
    ) -> None:
        if not 0 < threshold <= 1:
            msg = f"threshold must be above 0 and at most 1, got {threshold!r}."
            raise ValueError(msg)
        for option, value in (
            ("pairs_per_call", pairs_per_call),
            ("characters_per_call", characters_per_call),
        ):
            whole_number(option, value, least=1)
        self._asker = Asker(
            model,
            concurrency=concurrency,
            retries=retries,
            backoff=backoff,
            max_calls=max_calls,
            deadline=deadline,
        )
        if name is None and _is_nameless(model):
            msg = (
                f"name must be given for a lambda or functools.partial, got None for {model!r}: "
                "verdicts are cached under it, and two such models would share theirs. Name the "
                'model and its settings, as in name="my-model".'
            )
            raise ValueError(msg)
        self.name = f"llm:{name or self._asker.model.name}:{VERSION}"
        self.threshold = float(threshold)
        self.calibration = calibration
        self.uses_query = use_query
        self.uses_dates = use_dates
        self.pairs_per_call = pairs_per_call
        self.characters_per_call = characters_per_call

    @property
    def usage(self) -> Usage:
        """Calls, tokens, repairs and ignored answers since this detector was made."""
        return self._asker.usage

    def score(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        """Score pairs of statements; batches run in threads, `concurrency` at once.

        Args:
            pairs: (older, newer) texts.
            query: The question behind the retrieval; shown where ``use_query`` is set.

        Returns:
            Shape (n,): the model's probability that the newer statement makes the older one no
            longer true; NaN where it gave no usable answer, or the budget was spent.

        Raises:
            Exception: What the model raised when the last retry failed, or when the budget left
                no room for another.
        """
        task = JudgeTask(pairs, query if self.uses_query else None)
        return _in_order(self._asker.ask(task, self._batches(pairs)), len(pairs))

    async def ascore(self, pairs: Sequence[TextPair], query: str | None = None) -> ScoreArray:
        """Score pairs as `score` does, without blocking the event loop."""
        task = JudgeTask(pairs, query if self.uses_query else None)
        return _in_order(await self._asker.aask(task, self._batches(pairs)), len(pairs))

    def _batches(self, pairs: Sequence[TextPair]) -> list[list[int]]:
        """Share the pairs out to calls; pairs are numbered from 1."""
        batches: list[list[int]] = []
        room = 0
        for number, (older, newer) in enumerate(pairs, 1):
            size = len(older) + len(newer)
            if not batches or len(batches[-1]) == self.pairs_per_call or size > room:
                batches.append([])
                room = self.characters_per_call
            batches[-1].append(number)
            room -= size
        return batches

    def __repr__(self) -> str:
        return f"LLMDetector(name={self.name!r}, threshold={self.threshold:g})"


def _is_nameless(model: Any) -> bool:
    return isinstance(model, functools.partial) or getattr(model, "__name__", "") == "<lambda>"


def _in_order(answers: dict[int, float], number: int) -> ScoreArray:
    return np.array([answers.get(i + 1, np.nan) for i in range(number)], dtype=np.float32)
