"""Plays the conversation through each memory, prints what happened, and keeps it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks import language_model, results
from benchmarks.options import Parser
from benchmarks.results import Run
from benchmarks.trial_chat_memory.script import TURNS, Turn, as_text, judge
from benchmarks.trial_chat_memory.surfaces import INSTRUCTION, SCOPE, SURFACES, Surface, opened
from benchmarks.trial_chat_memory.watching import WatchedExtractor, WatchedModel, items_of
from gcmem.detectors import Detector
from gcmem.precedents.evidence import Claim, EvidenceExtractor
from gcmem.precedents.evidence_conflict import ConflictExtractor
from gcmem.precedents.evidence_model import ModelExtractor

__all__ = ["main", "play", "run"]

VOCABULARY: Final = {"home city": "where somebody lives", "favourite drink": "what they like best"}


def main(arguments: list[str]) -> None:
    """Read the options and play."""
    parser = Parser("trial-chat-memory", __doc__, trials=("--surfaces",))
    language_model.add_options(parser)
    parser.add_argument(
        "--surfaces", nargs="+", choices=list(SURFACES), default=list(SURFACES), metavar="NAME"
    )
    chosen, started = parser.read(arguments)
    model = language_model.chosen_model(parser, chosen)
    if model is None:
        parser.error("--llm-url and --llm-model are needed: this is a trial with a real model")
    run(model, chosen.llm_model, surfaces=chosen.surfaces, started=started)


def run(
    model: Any,
    name: str,
    *,
    surfaces: Sequence[str] = tuple(SURFACES),
    detector: Detector | None = None,
    console: Console | None = None,
    started: Run = Run(),  # noqa: B008  (immutable)
) -> dict[str, Any]:
    """Play the conversation through memories over one chat model, and write what happened.

    Args:
        model: A LangChain chat model.
        name: Its name, for the file.
        surfaces: Which memories.
        detector: Kappa of the ConflictExtractor; None is the bundled one.
        console: Where to print.
        started: The command line, and the file for the figures.
    """
    shown = console or Console()
    found: dict[str, Any] = {}
    for surface in surfaces:
        shown.rule(escape(surface))
        extractor = _extractor(SURFACES[surface], model, detector)
        found[surface] = play(SURFACES[surface], model, extractor, shown)
        path = results.write(
            "trial_chat_memory",
            config={"model": name, "instruction": INSTRUCTION, "turns": len(TURNS)},
            results=found,
            run=started,
        )
    shown.print(_summary(found))
    shown.print(f"written to {path}")
    return found


def play(
    surface: Surface, model: Any, extractor: EvidenceExtractor, console: Console
) -> dict[str, Any]:
    """Play the conversation through one memory; give every turn and the summary."""
    watched, chat = WatchedExtractor(extractor), WatchedModel(inner=model)
    memory = opened(watched)
    say = surface.open(memory, chat)
    before: Turn | None = None
    turns = []
    for number, turn in enumerate(TURNS):
        watched.found.clear()
        begin = time.perf_counter()
        answer = say(turn.said, f"session {number}")
        seconds = time.perf_counter() - begin
        items = items_of(chat.prompts[-1])
        expected = turn if not surface.next_turn else before
        judged = judge(items, () if expected is None else expected.true)
        turns.append(
            {
                "said": turn.said,
                "case": turn.what,
                "evidence": [_claim(claim) for claim in watched.found],
                "in the prompt": items,
                "answer": answer,
                "seconds": round(seconds, 2),
                "true, shown": judged.shown,
                "true, missing": judged.missing,
                "not true, shown": judged.untrue,
                "answer right": _right(answer, turn),
            }
        )
        _show(console, turns[-1])
        before = turn
    known = [as_text(item) for item in memory.ledger.active(SCOPE)]
    archived = [as_text(item) for item in memory.ledger.archive(SCOPE)]
    memory.ledger.close()
    return {"summary": _figures(turns), "active": known, "archived": archived, "turns": turns}


def _extractor(surface: Surface, model: Any, detector: Detector | None) -> EvidenceExtractor:
    if surface.extractor == "model":
        return ModelExtractor(model, vocabulary=VOCABULARY)
    return ConflictExtractor(detector)


def _claim(claim: Claim) -> str:
    taken_back = "taken back: " if claim.retracts else ""
    return f"{taken_back}{claim.key}: {claim.value} ({claim.evidence})"


def _right(answer: str, turn: Turn) -> bool | None:
    """Whether the answer holds what it should; None where nothing was asked."""
    return all(word in answer.casefold() for word in turn.answer) if turn.answer else None


def _show(console: Console, turn: dict[str, Any]) -> None:
    console.print(f"[bold]user ({turn['case']}):[/bold] {escape(turn['said'])}")
    console.print(f"  evidence: {escape('; '.join(turn['evidence']) or 'none')}")
    console.print(f"  in the prompt: {escape('; '.join(turn['in the prompt']) or 'nothing')}")
    for what, colour in (("true, missing", "red"), ("not true, shown", "red")):
        if turn[what]:
            console.print(f"  [{colour}]{what}: {escape('; '.join(turn[what]))}[/{colour}]")
    marks = {None: "", True: " [green](right)[/green]", False: " [red](wrong)[/red]"}
    console.print(
        f"  model, {turn['seconds']} s: {escape(turn['answer'])}{marks[turn['answer right']]}"
    )


def _figures(turns: Sequence[dict[str, Any]]) -> dict[str, Any]:
    shown = sum(len(turn["true, shown"]) for turn in turns)
    missing = sum(len(turn["true, missing"]) for turn in turns)
    asked = [turn["answer right"] for turn in turns if turn["answer right"] is not None]
    return {
        "turns": len(turns),
        "prompts with exactly what is true": sum(
            not turn["true, missing"] and not turn["not true, shown"] for turn in turns
        ),
        "true statements due": shown + missing,
        "true statements shown": shown,
        "statements not true, shown": sum(len(turn["not true, shown"]) for turn in turns),
        "questions": len(asked),
        "answers right": sum(asked),
        "seconds": round(sum(turn["seconds"] for turn in turns), 1),
    }


def _summary(found: dict[str, Any]) -> Table:
    table = Table(title="chat memories with a real model")
    columns = ("memory", "prompts exact", "true shown", "not true shown", "answers right", "s")
    for column in columns:
        table.add_column(column, justify="left" if column == "memory" else "right")
    for name, result in found.items():
        figures = result["summary"]
        table.add_row(
            name,
            f"{figures['prompts with exactly what is true']}/{figures['turns']}",
            f"{figures['true statements shown']}/{figures['true statements due']}",
            str(figures["statements not true, shown"]),
            f"{figures['answers right']}/{figures['questions']}",
            f"{figures['seconds']:.0f}",
        )
    return table
