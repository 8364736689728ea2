"""Reads the files of results, and says what one of them lacks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

Content: TypeAlias = dict[str, Any]
Contents: TypeAlias = Mapping[str, Content]
Made = TypeVar("Made")


class MissingFieldError(Exception):
    """A file of results lacks a field that the report needs."""


def read(folder: Path, names: Mapping[str, Any]) -> dict[str, Content]:
    """Read those of the named files that there are."""
    paths = {name: folder / f"{name}.json" for name in names}
    return {
        name: _with_results(json.loads(path.read_text(encoding="utf-8")))
        for name, path in paths.items()
        if path.exists()
    }


def _with_results(content: Content) -> Content:
    """Put what is measured where every file has it now; one of the ledger had it at the top."""
    if "results" in content:
        return content
    measured = {name: content[name] for name in ("paper", "rows")}
    return {**{k: v for k, v in content.items() if k not in measured}, "results": measured}


def command_of(content: Content) -> str | None:
    """Give the command line that made a file, or None where it does not tell."""
    command: str | None = content.get("command")
    return command


def made_from(name: str, contents: Contents, make: Callable[[Content], Made]) -> Made:
    """Make something of one file.

    Raises:
        MissingFieldError: The file lacks what is asked of it.
    """
    try:
        return make(contents[name])
    except KeyError as error:
        raise MissingFieldError(
            f"results/{name}.json lacks {error}, which the report reads; run the experiment again."
        ) from error


def other_weights(contents: Contents, shipped: str) -> list[str]:
    """Name the files that were made with a bundled model other than the one that ships."""
    used = {}
    for name, content in contents.items():
        config = content["config"]
        used[name] = str(config.get("detector") or config.get("judges", {}).get("bundled", ""))
    return [
        f"{name} ({detector})"
        for name, detector in used.items()
        if detector.startswith("bundled-") and detector != shipped
    ]
