"""Draws what the experiments do not draw themselves, and renews both READMEs."""

from __future__ import annotations

import argparse
import json
import os
import re
from pathlib import Path
from typing import Final

from benchmarks import pictures, results
from benchmarks.report.figures import FIGURES
from benchmarks.report.overview import CLAIMS, overview
from benchmarks.report.reading import (
    Contents,
    MissingFieldError,
    command_of,
    made_from,
    other_weights,
    read,
)
from benchmarks.report.tables import TABLES
from benchmarks.report.weak import weak

_ROOT: Final = Path(__file__).parents[2]
DETAILS: Final = _ROOT / "benchmarks" / "README.md"
FILES: Final = (_ROOT / "README.md", DETAILS)
_SHIPPED: Final = _ROOT / "gcmem" / "weights" / "config.json"
_BLOCK: Final = re.compile(r"(<!-- results:(\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main(arguments: list[str]) -> None:
    argparse.ArgumentParser(prog="python -m benchmarks report").parse_args(arguments)
    contents = read(results.FOLDER, TABLES)
    problems: list[str] = []
    drawn = draw(contents, results.FOLDER, problems=problems)
    for path in FILES:
        text = renewed(path, contents, results.FOLDER, problems=problems)
        path.write_text(text, encoding="utf-8")
        print(f"renewed {path.relative_to(_ROOT)} from {len(contents)} files of results")
    print(
        f"drew {', '.join(drawn)}" if drawn else 'no figure: matplotlib (extra "bench") is missing'
    )
    shipped = json.loads(_SHIPPED.read_text(encoding="utf-8"))
    if other := other_weights(contents, f"{shipped['name']}-{shipped['version']}"):
        print(f"made with weights that do not ship: {', '.join(other)}")
    if problems:
        raise SystemExit("\n".join(dict.fromkeys(problems)))


def draw(contents: Contents, folder: Path, *, problems: list[str]) -> list[str]:
    """Draw the figures of the files that there are; give their names."""
    drawn = []
    for name in (name for name in contents if name in FIGURES):
        try:
            figure = made_from(name, contents, FIGURES[name])
        except MissingFieldError as error:
            problems.append(str(error))
            continue
        if figure is not None:
            pictures.save(figure, folder / f"{name}.png")
            drawn.append(name)
    return drawn


def renewed(path: Path, contents: Contents, folder: Path, *, problems: list[str]) -> str:
    """Give the text of a file with its blocks made anew.

    A block without a file of results is empty; one whose file lacks a field stays as it is.

    Args:
        path: The file.
        contents: The results by name.
        folder: Holds the figures.
        problems: Takes what files of results lack.

    Raises:
        ValueError: A block has a name that no experiment has.
    """

    def block(found: re.Match[str]) -> str:
        try:
            return found[1] + _block(found[2], contents, folder, path.parent) + found[3]
        except MissingFieldError as error:
            problems.append(str(error))
            return found[0]

    return _BLOCK.sub(block, path.read_text(encoding="utf-8"))


def _block(name: str, contents: Contents, folder: Path, seen_from: Path) -> str:
    if name == "overview":
        return overview(contents, details=os.path.relpath(DETAILS, seen_from))
    if name == "weak":
        return weak(contents)
    if name not in TABLES:
        raise ValueError(f"results:{name} is none of overview, weak, {', '.join(TABLES)}.")
    if name not in contents:
        return ""
    text = made_from(name, contents, TABLES[name])
    if (command := command_of(contents[name])) is not None:
        text += f"\nMade by `{command}`.\n"
    picture = folder / f"{name}.png"
    if picture.exists():
        text += f"\n![{CLAIMS[name].title}]({os.path.relpath(picture, seen_from)})\n"
    return text
