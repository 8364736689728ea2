"""Evidence by a chat model of any framework: structured answers over a growing vocabulary."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from gcmem.detectors.asking import Asker
from gcmem.detectors.usage import Usage
from gcmem.precedents.evidence import Claim, Known, Utterance
from gcmem.precedents.evidence_reading import ExtractionTask, Found
from gcmem.precedents.vocabulary import Vocabulary

__all__ = ["ModelExtractor"]

Answers: TypeAlias = Mapping[int, Sequence[Found]]


class ModelExtractor:
    """Asks a chat model what the user's messages say, in terms of keys and values.

    The model chooses from a vocabulary: the keys given here and those that the ledger has for the
    scope. A key that it invents is taken up only where none of them is the same but for order,
    number or small words, and never where ``grow=False``. Every answer must quote the words of
    the message that say so; what quotes nothing is refused, and so is what the message only quotes
    or asks, by its form, whatever the model says of it. An answer that cannot be used is
    asked for once more, and what is still unusable then is left out. Messages are quoted as data,
    and nothing in them can end the quotation.

    A fact about another person is stored under that person's key ("sister: home city").

    Args:
        model: A LangChain chat model or runnable, a LlamaIndex LLM, or a function or coroutine
            function from one text to one text.
        vocabulary: Keys, or keys with what they mean.
        grow: Whether the model may open a key where none fits.
        read_assistant: Also read what the assistant says, as guesses.
        messages_per_call: Messages in one call.
        longest_value: Characters of a value at most.
        retries: How often a call that failed is repeated; then the error is raised.
        backoff: Seconds before the first repetition; doubled each time.
        max_calls: Calls in the life of this object, or None; past it nothing is found.

    Raises:
        TypeError: The model is of no known form.
        ValueError: A number is out of range, or a key is blank.

    Example:
        >>> def model(prompt):
        ...     return ('{"messages": [{"message": 1, "evidence": [{"quote": "I moved to Kiel", '
        ...             '"whose": "user", "key": "home city", "value": "Kiel"}]}]}')
        >>> extractor = ModelExtractor(model, vocabulary=["home city"])
        >>> [(claim.key, claim.value) for claim in extractor.extract(
        ...     [Utterance("user", "Hi! I moved to Kiel.")], Known())]
        [('home city', 'Kiel')]
    """

    def __init__(
        self,
        model: Any,
        *,
        vocabulary: Mapping[str, str] | Iterable[str] = (),
        grow: bool = True,
        read_assistant: bool = False,
        messages_per_call: int = 10,
        longest_value: int = 200,
        retries: int = 2,
        backoff: float = 1.0,
        max_calls: int | None = None,
    ) -> None:
        for name, number in (
            ("messages_per_call", messages_per_call),
            ("longest_value", longest_value),
        ):
            if number < 1:
                msg = f"{name} must be at least 1, got {number!r}."
                raise ValueError(msg)
        self._asker = Asker(
            model,
            concurrency=1,
            retries=retries,
            backoff=backoff,
            max_calls=max_calls,
            deadline=None,
        )
        self.vocabulary = Vocabulary.of(vocabulary, grow=grow)
        self.read_assistant = read_assistant
        self.messages_per_call = messages_per_call
        self.longest_value = longest_value

    @property
    def usage(self) -> Usage:
        """Calls, tokens and repairs since this extractor was made."""
        return self._asker.usage

    def extract(self, utterances: Sequence[Utterance], known: Known) -> list[Claim]:
        """Give the claims in the messages, in their order.

        Raises:
            Exception: What the model raised when the last retry failed.
        """
        steps = self._steps(utterances, known)
        answers: Answers | None = None
        while True:
            try:
                task = steps.send(answers)
            except StopIteration as stop:
                return list(stop.value)
            answers = task.complete(self._asker.ask(task, [task.numbers]))

    async def aextract(self, utterances: Sequence[Utterance], known: Known) -> list[Claim]:
        """Do the same without blocking the event loop."""
        steps = self._steps(utterances, known)
        answers: Answers | None = None
        while True:
            try:
                task = steps.send(answers)
            except StopIteration as stop:
                return list(stop.value)
            answers = task.complete(await self._asker.aask(task, [task.numbers]))

    def _steps(
        self, utterances: Sequence[Utterance], known: Known
    ) -> Generator[ExtractionTask, Answers | None, list[Claim]]:
        """Yield what to ask, one call after the other, so that each sees the keys of the last."""
        roles = {"user", "assistant"} if self.read_assistant else {"user"}
        readable = [said for said in utterances if said.role in roles and said.text.strip()]
        claims: list[Claim] = []
        for start in range(0, len(readable), self.messages_per_call):
            batch = readable[start : start + self.messages_per_call]
            vocabulary = self.vocabulary.with_known(known)
            answers = yield ExtractionTask(batch, vocabulary, self.longest_value)
            for number, said in enumerate(batch, 1):
                for found in (answers or {}).get(number, ()):
                    claim = Claim(
                        vocabulary.key(found.key) or found.key,
                        found.value,
                        evidence="testimony" if said.role == "user" else "guess",
                        source=said.origin,
                        at=said.at,
                        retracts=found.retracts,
                    )
                    known = known.after(claim)
                    vocabulary = self.vocabulary.with_known(known)
                    claims.append(claim)
        return claims

    def __repr__(self) -> str:
        return f"ModelExtractor({self._asker.model.name!r})"
