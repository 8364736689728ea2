"""The three environments: what is asked, what is accepted, and when that changes."""

from __future__ import annotations

import csv
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import ClassVar, Final

PHASES: Final = ("stable", "light", "reversal", "return")
TASKS_PER_PHASE: Final = 40
TASKS: Final = TASKS_PER_PHASE * len(PHASES)
EXCEPTIONS: Final = 0.1
_TABLES: Final = 16


@dataclass(frozen=True, slots=True)
class Task:
    """One task.

    Attributes:
        key: What it is about.
        filed: The key under which the agent looks it up and files its evidence.
        right: The value that is accepted.
        guess: What the agent would do unaided.
        said: What the user states in this session, if anything.
        table: Number of the file that is read.
    """

    key: str
    filed: str
    right: str
    guess: str
    said: str | None = None
    table: int = 0


@dataclass(frozen=True, slots=True)
class Stream:
    """The tasks of one seed, with the two regimes: for each key, its value under either."""

    seed: int
    regimes: dict[str, tuple[str, str]]
    tasks: tuple[Task, ...]


class Setting(ABC):
    """An environment with a regime that changes in secret."""

    name: str
    spoken = False
    changing: tuple[str, ...]
    controls: tuple[str, ...]
    control_share: float

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.changing, *self.controls)

    @abstractmethod
    def options(self, key: str) -> tuple[str, ...]:
        """Give the candidates among which an unaided agent picks."""

    def execute(self, task: Task, value: str) -> bool:
        """Say whether acting on a value succeeds."""
        return value == task.right

    def said(self, right: str, random: Random) -> str | None:
        """Give what the user states in a session; here there is no user."""
        del right, random
        return None

    def stream(self, seed: int, *, wrong_keys: float = 0.0) -> Stream:
        """Draw the tasks of one seed; those at another noise differ in their filing alone."""
        random = Random(f"{self.name} {seed}")
        noise = Random(f"{self.name} {seed} wrong keys")
        regimes = {}
        for key in self.keys:
            old = random.choice(self.options(key))
            others = [value for value in self.options(key) if value != old]
            regimes[key] = (old, old if key in self.controls else random.choice(others))
        tasks = []
        for number in range(TASKS):
            control = random.random() < self.control_share
            key = random.choice(self.controls if control else self.changing)
            misfiled = noise.random() < wrong_keys
            other = noise.choice([name for name in self.keys if name != key])
            filed = other if misfiled else key
            tasks.append(self.task(regimes, number, key, random, filed=filed))
        return Stream(seed, regimes, tuple(tasks))

    def task(
        self,
        regimes: dict[str, tuple[str, str]],
        number: int,
        key: str,
        random: Random,
        *,
        filed: str | None = None,
    ) -> Task:
        """Draw a task of a key in the phase of a task number."""
        phase = PHASES[number // TASKS_PER_PHASE]
        exceptional = random.random() < EXCEPTIONS and phase == "light"
        right = regimes[key][(phase == "reversal") != exceptional]
        guess = random.choice(self.options(key))
        said = self.said(right, random)
        return Task(key, filed or key, right, guess, said, random.randrange(_TABLES))


class Controlled(Setting):
    """A tool pattern is accepted in secret; the executor is deterministic.

    Args:
        changing: Number of keys whose pattern changes under reversal.
    """

    name = "controlled"
    controls = ("convert / units, number", "look up / calendar, date")
    control_share = 0.2
    _patterns = tuple(
        " > ".join(steps)
        for steps in product(("load", "stream"), ("clean", "validate"), ("group", "pivot"))
    )

    def __init__(self, changing: int = 1) -> None:
        self.changing = tuple(f"report / domain {number}, table" for number in range(changing))

    def options(self, key: str) -> tuple[str, ...]:
        return self._patterns if key in self.changing else (f"natural tool of {key}",)


class Executable(Setting):
    """Backends read real files; which one a CSV file needs changes in secret.

    Args:
        folder: Where the files are written.
    """

    name = "executable"
    changing = ("sum / sales, csv",)
    controls = ("sum / sales, json",)
    control_share = 0.2
    _dialects: ClassVar = {
        f"csv.DictReader {name} {encoding}": (delimiter, encoding)
        for (name, delimiter), encoding in product(
            {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}.items(),
            ("utf-8", "utf-16"),
        )
    }

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        random = Random("tables")
        self._sums = []
        for number in range(_TABLES):
            amounts = [random.randrange(1, 1000) for _ in range(5)]
            self._sums.append(sum(amounts))
            rows = [
                {"item": f"item {line}", "amount": amount} for line, amount in enumerate(amounts)
            ]
            self._path(number, "json.load").write_text(json.dumps(rows), encoding="utf-8")
            for backend, (delimiter, encoding) in self._dialects.items():
                with self._path(number, backend).open("w", encoding=encoding, newline="") as file:
                    writer = csv.DictWriter(file, ["item", "amount"], delimiter=delimiter)
                    writer.writeheader()
                    writer.writerows(rows)

    def options(self, key: str) -> tuple[str, ...]:
        return tuple(self._dialects) if key in self.changing else ("json.load",)

    def execute(self, task: Task, value: str) -> bool:
        """Read the file of the task with a backend, and compare the sum."""
        path = self._path(task.table, task.right)
        try:
            return self._sum(path, value) == self._sums[task.table]
        except (ValueError, LookupError, TypeError, csv.Error):
            return False  # the wrong backend for this file

    def _path(self, table: int, needed: str) -> Path:
        return self._folder / f"{needed.replace(' ', '-')}-{table}"

    def _sum(self, path: Path, backend: str) -> int:
        if backend == "json.load":
            with path.open(encoding="utf-8") as file:
                return sum(int(row["amount"]) for row in json.load(file))
        delimiter, encoding = self._dialects[backend]
        with path.open(encoding=encoding, newline="") as file:
            return sum(int(row["amount"]) for row in csv.DictReader(file, delimiter=delimiter))


class Preference(Setting):
    """A user whose preferences change, and who says so in most sessions but not in all."""

    name = "preference"
    spoken = True
    changing = (
        "seat / work travel",
        "seat / holiday",
        "meal / work travel",
        "tone / mail",
        "length / report",
        "language / code",
    )
    controls = ("units / everywhere",)
    control_share = 1 / 7
    _saying = 0.8

    def options(self, key: str) -> tuple[str, ...]:
        slot, _, _ = key.partition(" / ")
        return tuple(f"{slot} option {letter}" for letter in "abcde")

    def said(self, right: str, random: Random) -> str | None:
        return right if random.random() < self._saying else None


SETTINGS: Final = ("controlled", "executable", "preference")


def make_setting(name: str, folder: Path) -> Setting:
    """Make a setting by name; the executable one writes its files into the folder."""
    match name:
        case "controlled":
            return Controlled()
        case "executable":
            return Executable(folder)
        case "preference":
            return Preference()
    msg = f"name must be one of {SETTINGS}, got {name!r}."
    raise ValueError(msg)
