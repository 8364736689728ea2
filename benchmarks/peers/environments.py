"""The virtual environments of the peers from PyPI: where they lie, and how they are made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ADAPTERS = Path(__file__).parent / "adapters"


def requirements(package: str) -> Path:
    return ADAPTERS / f"requirements-{package}.txt"


def python_of(folder: Path, package: str) -> Path:
    """Give the interpreter of a peer's environment, which may not exist."""
    place = "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
    return folder / package / place


def prepare(folder: Path, package: str) -> None:
    """Make a peer's environment below a folder, or bring it up to its requirements.

    Raises:
        subprocess.CalledProcessError: venv or pip failed.
    """
    python = python_of(folder, package)
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / package)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "-r", str(requirements(package))]
    subprocess.run(install, check=True)
