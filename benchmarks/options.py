"""The command line that every experiment has: where its figures go, and values out of range."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.results import Run
from gcmem import load_detector
from gcmem.detectors.base import Detector


class Parser(argparse.ArgumentParser):
    """Reads the options of one experiment, and notes the command line for its file.

    Args:
        name: Of the experiment, after ``python -m benchmarks``.
        description: What it measures.
        trials: Options that make a run smaller or other than the published one.
    """

    def __init__(self, name: str, description: str | None, *, trials: Sequence[str] = ()) -> None:
        super().__init__(
            prog=f"python -m benchmarks {name}",
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,  # so that the command in a file names its options in full
        )
        self._name = name
        self._places: dict[str, str] = {}
        also = f" (with {', '.join(trials)})" if trials else ""
        self.add_place(
            "--output",
            "FILE",
            help="write the figures there, as .json, and not over the published ones in "
            "benchmarks/results; give it to every run that is smaller or other than theirs"
            f"{also}",
        )

    def add_place(self, option: str, kind: str, **settings: Any) -> None:
        """Add an option that takes a place on this machine, of which a file tells the kind only.

        Args:
            option: Its name.
            kind: "FILE", "DIR" or "URL".
            settings: As for ``add_argument``.
        """
        self._places[option] = kind
        known: dict[str, Any] = {} if kind == "URL" else {"type": Path}
        self.add_argument(option, metavar=kind, default=None, **known, **settings)

    def read(self, arguments: Sequence[str]) -> tuple[argparse.Namespace, Run]:
        """Give the options of the experiment, and apart from them what every run has."""
        chosen = self.parse_args(arguments)
        output: Path | None = chosen.output
        del chosen.output
        if output is not None and (output.suffix != ".json" or output.is_dir()):
            self.error(f"--output must be a file that ends in .json, got {output}")
        return chosen, Run(self._command(arguments), output)

    def detector(self, option: str, name: str) -> Detector:
        """Load the detector that an option names; one that there is not ends the run here."""
        try:
            return load_detector(name)
        except (ValueError, FileNotFoundError) as error:
            self.error(f"{option}: {error}")

    def _command(self, arguments: Sequence[str]) -> str:
        written: list[str] = []
        for argument in arguments:
            option, equals, _ = argument.partition("=")
            if written and written[-1] in self._places:
                written.append(self._places[written[-1]])
            elif equals and option in self._places:
                written.append(f"{option}={self._places[option]}")
            else:
                written.append(argument)
        return shlex.join(["python", "-m", "benchmarks", self._name, *written])


def count(*, least: int = 1) -> Callable[[str], int]:
    """Give what reads a whole number that is not too small."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(
                f"must be a whole number of at least {least}, got {text}"
            )
        return number

    return read


def threshold(text: str) -> float:
    """Read a threshold, as a collector takes it."""
    return _number(text, most=1)


def seconds(text: str) -> float:
    """Read a time that may be spent."""
    return _number(text)


def _number(text: str, *, most: float = float("inf")) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0 < number <= most:
        limit = "" if most == float("inf") else f" and at most {most:g}"
        raise argparse.ArgumentTypeError(f"must be a number above 0{limit}, got {text}")
    return number
