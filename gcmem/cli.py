"""The command line: `gcmem check`, `gcmem calibrate`, `gcmem train`."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from gcmem._version import __version__
from gcmem.collector import Collector, Granularity, OnConflict

__all__ = ["app"]

app = typer.Typer(
    name="gcmem",
    help="Takes contradicted, outdated statements out of what a language model is about to read.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

_FAILED = 2
_OUT = Console()
_ERRORS = Console(stderr=True)


@contextmanager
def _explained() -> Iterator[None]:
    """Turn what a user can put right into one line and the exit code 2."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            yield
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            _say("error", str(error))
            raise typer.Exit(_FAILED) from error


def _show_warning(
    message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    """Show our own warnings in a line; those of libraries are not for the user of a command."""
    if category.__module__.startswith("gcmem"):
        _say("warning", str(message))


def _say(kind: str, text: str) -> None:
    colour = "red" if kind == "error" else "yellow"
    _ERRORS.print(f"[bold {colour}]{kind}:[/] {escape(text)}", soft_wrap=True)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gcmem {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Takes contradicted, outdated statements out of what a language model is about to read."""


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="Memories, as JSON Lines or CSV.")],
    *,
    query: Annotated[str, typer.Option(help="The question that they were retrieved for.")] = "",
    detector: Annotated[
        str, typer.Option(help='"bundled", "explicit", a folder, or a Hugging Face name.')
    ] = "bundled",
    threshold: Annotated[float | None, typer.Option(help="Instead of the detector's own.")] = None,
    on_conflict: Annotated[
        str, typer.Option(help='"excise" cuts sentences, "drop" takes whole memories.')
    ] = "excise",
    granularity: Annotated[str, typer.Option(help='Judge by "sentence" or "chunk".')] = "sentence",
    as_of: Annotated[str | None, typer.Option(help="Read as of this time (ISO 8601).")] = None,
    history: Annotated[bool, typer.Option(help="Remove nothing, mark what is outdated.")] = False,
    timestamp_field: Annotated[
        str, typer.Option(help="The field that holds the time.")
    ] = "timestamp",
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Show which memories are kept, which are removed, by what and why.

    A row of FILE has "text", "timestamp" (ISO 8601 or seconds since the epoch) and, if you like,
    id, scope, key, value, supersedes, valid_from, valid_until, authority, source, metadata.
    """
    from gcmem.cli_input import read_memories
    from gcmem.cli_table import outcome_table, summary
    from gcmem.detectors import load_detector

    with _explained():
        memories = read_memories(file, timestamp_field=timestamp_field)
        collector = Collector(
            load_detector(detector),
            threshold=threshold,
            on_conflict=cast("OnConflict", on_conflict),  # the collector says what is allowed
            granularity=cast("Granularity", granularity),
        )
        collection = collector.collect(query, memories, as_of=as_of, history=history)
        if as_json:
            typer.echo(json.dumps(collection.report(), indent=1))
            return
        _OUT.print(outcome_table(memories, collection))
        _OUT.print(summary(collection), highlight=False, markup=False, soft_wrap=True)


@app.command()
def calibrate(
    pairs: Annotated[
        Path, typer.Argument(help="Labelled pairs, as JSON Lines or CSV: older, newer, label.")
    ],
    *,
    out: Annotated[Path, typer.Option(help="Folder for the calibrated detector and the report.")],
    detector: Annotated[
        str, typer.Option(help='"bundled", a folder, or a Hugging Face name.')
    ] = "bundled",
    min_precision: Annotated[
        float, typer.Option(help="Share of the reported conflicts that must be real.")
    ] = 0.95,
    direction: Annotated[
        str | None,
        typer.Option(help='For a cross-encoder: "forward", "backward" or "both".'),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="For a cross-encoder: its labels in order, separated by commas."),
    ] = None,
) -> None:
    """Choose the threshold of a detector on your own labelled pairs, and measure it.

    A label says whether the newer statement makes the older one untrue: supersedes, supports,
    neither, or true and false. Pairs of the split "test" are only measured. The columns query and
    weight are not used. OUT can be given to load_detector and to the option --detector.
    """
    from gcmem.cli_actions import calibrate_rows
    from gcmem.cli_input import read_pair_rows
    from gcmem.detectors import load_detector
    from gcmem.detectors.saved import check_savable

    with _explained():
        rows = read_pair_rows(pairs)
        for option, given in (("direction", direction), ("labels", labels)):
            if given is not None and detector == "bundled":
                msg = f"--{option} is for cross-encoders; the bundled detector has none."
                raise ValueError(msg)
        options: dict[str, Any] = {} if direction is None else {"direction": direction}
        if labels is not None:
            options["labels"] = tuple(label.strip() for label in labels.split(","))
        try:
            judge = load_detector(detector, **options)
            check_savable(judge)
        except TypeError as error:
            msg = f"the detector {detector!r} cannot be calibrated so: {error}"
            raise ValueError(msg) from error
        with Progress(console=_ERRORS, transient=True) as progress:
            scoring = progress.add_task("scoring pairs", total=len(rows))
            content = calibrate_rows(
                judge,
                rows,
                out,
                min_precision=min_precision,
                progress=lambda done, total: progress.update(scoring, completed=done, total=total),
            )
        chosen = content["calibration"]
        _OUT.print(
            f"Threshold {chosen['threshold']:.4f}: precision {chosen['precision']:.1%}, recall "
            f"{chosen['recall']:.1%} on {chosen['n']} pairs.",
            highlight=False,
        )
        _OUT.print(f"Written to {out}: detector.json, report.json, report.md.", highlight=False)


@app.command()
def train(
    pairs: Annotated[
        Path, typer.Argument(help="Labelled pairs, as JSON Lines or CSV: older, newer, label.")
    ],
    *,
    out: Annotated[Path, typer.Option(help="Folder for the trained detector and the report.")],
    base: Annotated[
        Path | None,
        typer.Option(help="Folder of the model to start from; without it, the bundled model."),
    ] = None,
    epochs: Annotated[int, typer.Option(help="How often every pair is read.")] = 3,
    learning_rate: Annotated[float, typer.Option(help="Peak of the schedule.")] = 5e-5,
    batch_size: Annotated[int, typer.Option(help="Pairs in one step.")] = 32,
    min_precision: Annotated[
        float, typer.Option(help="Share of the reported conflicts that must be real.")
    ] = 0.95,
    name: Annotated[str, typer.Option(help="The detector's name.")] = "trained",
    seed: Annotated[int, typer.Option(help="Of the order of the pairs.")] = 0,
) -> None:
    """Train a conflict detector on your own labelled pairs (needs the extra "train").

    A label is supersedes, supports or neither, or true and false. OUT can be given to
    load_detector and to the option --detector.
    """
    from gcmem.cli_input import read_pair_rows

    with _explained():
        rows = read_pair_rows(pairs)
        try:
            import gcmem.training.training  # noqa: F401  (needs torch)
            from gcmem.cli_actions import train_on_rows
        except ImportError as error:
            msg = f'training needs the extra: pip install "gcmem[train]" ({error}).'
            raise ImportError(msg) from error
        with Progress(console=_ERRORS, transient=True) as progress:
            training = progress.add_task("training", total=epochs)
            chosen = train_on_rows(
                rows,
                out,
                base=base,
                epochs=epochs,
                learning_rate=learning_rate,
                batch_size=batch_size,
                precision=min_precision,
                name=name,
                seed=seed,
                progress=lambda epoch: progress.update(training, completed=epoch + 1),
            )
        _OUT.print(
            f"Threshold {chosen.threshold:.4f}: precision {chosen.precision:.1%}, recall "
            f"{chosen.recall:.1%} on {chosen.n} held-out pairs.",
            highlight=False,
        )
        _OUT.print(f"Written to {out}.", highlight=False)
