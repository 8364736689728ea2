"""Writes and reads the figures of an experiment, with what is needed to repeat it."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"
SHARED = Path(__file__).resolve().parents[2] / "shared"
_PACKAGES = (
    "gcmem",
    "onnxruntime",
    "numpy",
    "langchain-core",
    "llama-index-core",
    "chromadb",
    "SQLAlchemy",
)


def write(name: str, *, config: dict[str, Any], results: Any, seed: int | None = None) -> Path:
    """Write the figures of one experiment as JSON, and give the file."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.json"
    content = {
        "experiment": name,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "config": config,
        "seed": seed,
        "versions": {"python": platform.python_version(), **_versions()},
        "results": results,
    }
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


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
