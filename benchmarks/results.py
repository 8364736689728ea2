"""Writes and reads the figures of an experiment, with what is needed to repeat it."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from gcmem._version import __version__

FOLDER = Path(__file__).parent / "results"
SHARED = Path(__file__).resolve().parents[2] / "shared"
_PACKAGES = (
    "onnxruntime",
    "numpy",
    "langchain-core",
    "llama-index-core",
    "chromadb",
    "SQLAlchemy",
)


@dataclass(frozen=True, slots=True)
class Run:
    """What every run has, whatever it measures.

    Attributes:
        command: The command line; None where it is not known.
        output: The file for its figures; None for the published one.
    """

    command: str | None = None
    output: Path | None = None


def file_of(name: str, run: Run) -> Path:
    """Give the file that a run of an experiment writes."""
    return FOLDER / f"{name}.json" if run.output is None else run.output


def write(
    name: str,
    *,
    config: dict[str, Any],
    results: Any,
    seed: int | None = None,
    run: Run = Run(),
) -> Path:
    """Write the figures of one experiment as JSON, and give the file."""
    path = file_of(name, run)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "experiment": name,
        "command": run.command,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "config": config,
        "seed": seed,
        "versions": {"python": platform.python_version(), "gcmem": __version__, **_versions()},
        "results": results,
    }
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def shown(path: Path) -> str:
    """Name a file for a person: from the repository where it lies there."""
    root = FOLDER.parents[1]
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def shared_file(name: str) -> Path:
    """Give a file of the shared data, which is not part of the repository.

    Raises:
        SystemExit: It is not there.
    """
    path = SHARED / name
    if not path.exists():
        msg = f"This experiment reads {name} from a folder 'shared' beside the repository."
        raise SystemExit(msg)
    return path


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
