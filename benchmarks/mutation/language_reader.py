"""A language model as the reader: which state does it name, given what a method shows?

The paper's prompt is not published; this one is ours. The model gets the question, the shown
chunks in the method's order, quoted as data, and lettered options in an order drawn for each
instance: the states that the chat holds (the current one is "new", any other "old"), and as
"distractor" the attribute's states that it does not hold, or "something else" where there are none.
Forced choice demands one of these; allow-unclear adds "unclear". Days are not shown unless wanted:
then a reader can find the newest statement by itself, which is another experiment.

An answer counts if it is one option's letter, its words, or both, and nothing else. Everything
else, and a call that fails, is an "error"; errors are counted and left out of the accuracies, as in
the paper.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Literal, get_args

import numpy as np
from rich.progress import track

from benchmarks import language_model
from benchmarks.language_model import Answers
from benchmarks.mutation.candidates import Candidates
from benchmarks.mutation.instances import Chunk, Instance
from benchmarks.mutation.methods import Method
from benchmarks.mutation.reading import interval
from benchmarks.options import Parser, count

Answer = Literal["old", "new", "distractor", "unclear", "error"]
Mode = Literal["forced", "allow-unclear"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)

_TASK: Final = (
    "You answer a question about how things are now, from recorded statements alone. Some of the "
    "statements may be about something else, and some may no longer be true."
)
_FORCED: Final = "Choose exactly one option, even where you are not sure."
_UNCLEAR: Final = 'Choose exactly one option; choose "unclear" where the statements do not tell.'
_FORM: Final = "Reply with the letter of that option and nothing else."


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its letter, its words, and what choosing it means."""

    letter: str
    words: str
    meaning: Answer


def options_of(instance: Instance, mode: Mode) -> list[Option]:
    """Give the options, in an order that depends on the instance alone; "unclear" comes last."""
    meant: list[tuple[str, Answer]] = []
    for state, label in sorted(instance.labels.items()):
        held: Answer = "new" if state == instance.current else "old"
        meant.append((label, held if state in instance.states else "distractor"))
    if all(meaning != "distractor" for _, meaning in meant):
        meant.append(("something else", "distractor"))
    Random(f"options {instance.id} {instance.family}").shuffle(meant)
    if mode == "allow-unclear":
        meant.append(("unclear", "unclear"))
    return [Option(chr(ord("A") + n), words, meaning) for n, (words, meaning) in enumerate(meant)]


def parsed(text: str, options: Sequence[Option]) -> Answer:
    """Read an answer strictly: the letter, the words, or the letter and its own words."""
    said = text.strip().strip("*`\"'").rstrip(".").strip()
    for option in options:
        if said in {option.letter, f"({option.letter})", f"{option.letter})"}:
            return option.meaning
    for option in options:
        words = re.escape(option.words.rstrip("."))
        if re.fullmatch(rf"(\(?{option.letter}[.:)]*\s+)?{words}", said, re.IGNORECASE):
            return option.meaning
    return "error"


@dataclass
class LanguageReader:
    """Reads with a chat model; a prompt that was answered is not asked again.

    Attributes:
        chat: A LangChain chat model.
        methods: Names of the methods that it reads with.
        instances: It reads the first so many of each condition.
        dates: Whether it is shown the day of each statement.
        answers: What the model answered, by prompt.
        failures: Messages of calls that failed.
    """

    chat: Any
    methods: Sequence[str]
    instances: int
    dates: bool = False
    answers: Answers = field(default_factory=Answers)
    failures: Counter[str] = field(default_factory=Counter)
    _tokens: Counter[str] = field(default_factory=Counter)

    def read(self, instance: Instance, chunks: Sequence[Chunk], mode: Mode) -> Answer:
        """Let the model answer the instance's question from chunks."""
        options = options_of(instance, mode)
        listed = "\n".join(f"{option.letter}. {option.words}" for option in options)
        instruction = f"{_TASK} {_FORCED if mode == 'forced' else _UNCLEAR} {_FORM}"
        task = f"Question: {instance.query}\n\nOptions:\n{listed}\n\nLetter:"
        items = [self._item(chunk) for chunk in chunks]
        prompt = json.dumps([instruction, items, task])
        said = self.answers.get(prompt)
        if said is None:
            try:
                reply = language_model.ask(
                    self.chat, instruction=instruction, items=items, task=task
                )
            except Exception as error:  # noqa: BLE001  (counted and reported, as the paper does)
                self.failures[f"{type(error).__name__}: {error}"] += 1
                return "error"
            self._tokens["calls"] += 1
            self._tokens["input"] += reply.input_tokens or 0
            self._tokens["output"] += reply.output_tokens or 0
            said = reply.text
            self.answers.put(prompt, said)
        return parsed(said, options)

    def _item(self, chunk: Chunk) -> dict[str, Any]:
        if not self.dates:
            return {"statement": chunk.text}
        return {"recorded": chunk.when.date().isoformat(), "statement": chunk.text}

    def figures(
        self, frozen: Sequence[Candidates], methods: Mapping[str, Method], *, title: str
    ) -> dict[str, dict[str, Any]]:
        """Give for each read method what came out: "LLM, forced" and "LLM, allow-unclear"."""
        answers: dict[tuple[str, Mode], list[Answer]] = {}
        for candidates in track(frozen[: self.instances], description=f"{title}: LLM"):
            for name in self.methods:
                shown = methods[name](candidates).chunks
                for mode in MODES:
                    answer = self.read(candidates.instance, shown, mode)
                    answers.setdefault((name, mode), []).append(answer)
        return {
            name: {
                f"LLM, {mode}": summary(answers[name, mode], answers.get(("standard", mode)))
                for mode in MODES
            }
            for name in self.methods
            if (name, MODES[0]) in answers
        }

    def costs(self) -> dict[str, Any]:
        """Give what this run has cost, and which calls failed; what was kept cost nothing."""
        return {
            "answered calls": self._tokens["calls"],
            "input tokens": self._tokens["input"],
            "output tokens": self._tokens["output"],
            "failed calls": dict(self.failures),
        }


def summary(answers: Sequence[Answer], baseline: Sequence[Answer] | None) -> dict[str, Any]:
    """Give shares of the answers that are no error, with intervals, and the paired difference."""
    right = [float(answer == "new") for answer in answers if answer != "error"]
    found: dict[str, Any] = {"instances": len(answers), "errors": len(answers) - len(right)}
    if not right:
        return {**found, "CR-Acc": None}
    found |= {"CR-Acc": round(float(np.mean(right)), 4), "CR-Acc, 95 %": interval(right)}
    for answer in ("old", "distractor", "unclear"):
        found[answer] = round(answers.count(answer) / len(right), 4)
    gains = [
        float(answer == "new") - float(base == "new")
        for answer, base in zip(answers, baseline or (), strict=baseline is not None)
        if "error" not in {answer, base}
    ]
    if gains:
        found |= {"delta": round(float(np.mean(gains)), 4), "delta, 95 %": interval(gains)}
    return found


def add_options(parser: Parser, *, methods: Sequence[str]) -> None:
    """Add the options of a reading with a language model.

    Args:
        parser: Where they are added.
        methods: Those that it reads with unless others are chosen, as far as the run has them.
    """
    language_model.add_options(parser)
    parser.add_argument("--llm-instances", type=count(), default=12, help="first N per condition")
    parser.add_argument("--llm-methods", nargs="+", default=None, help=f"default: {methods}")
    parser.add_argument("--llm-dates", action="store_true", help="show it the statements' days")
    parser.add_place("--llm-answers", "FILE", help="keeps answers between runs")
    parser.set_defaults(llm_default_methods=methods)


def chosen_reader(
    parser: Parser, chosen: argparse.Namespace, methods: Mapping[str, Method], chat: Any | None
) -> LanguageReader | None:
    """Give the reader that was chosen, or None; what does not fit ends the run here."""
    wanted = chosen.llm_methods or [name for name in chosen.llm_default_methods if name in methods]
    unknown = [name for name in wanted if name not in methods]
    if unknown:
        parser.error(f"--llm-methods: no method {unknown[0]!r}; allowed are {list(methods)}")
    if chat is None:
        return None
    answers = Answers(chosen.llm_model, chosen.llm_answers)
    return LanguageReader(chat, wanted, chosen.llm_instances, chosen.llm_dates, answers)
