"""What a case of the options suite is, and what every surface must make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Record:
    """What both frameworks store alike: an id, a text and metadata."""

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Fresh:
    """The value of an option that holds state: made anew for every run."""

    make: Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """Records, the options under test, and what must come out.

    Attributes:
        name: What the case says.
        records: In the order in which the base retriever finds them.
        shown: Ids of what is shown, in order.
        removed: Ids of what goes, each with the id of what contradicts it (None: expired).
        texts: Texts that differ from those of the records, by id.
        added: Metadata that was added, by id.
        unresolved: Ids of pairs that time could not decide.
        hidden: Ids of what was not yet known.
        error: The error that is raised instead.
        query: The question.
        collector: Options of `Collector`; without "detector", texts of the form "slot=value" are
            judged.
        options: Options of the adapter.
        call: Options of the call.
        finds: What the base retriever finds for a query, by ids, where it depends on the query.
        base_k: How many records the base retriever gives by itself; None for all that it finds.
        in_any_order: Whether the order of the records changes nothing but the order of what is
            shown.
    """

    name: str
    records: Sequence[Record]
    shown: Sequence[str] = ()
    removed: Mapping[str, str | None] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    added: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    unresolved: Sequence[frozenset[str]] = ()
    hidden: Sequence[str] = ()
    error: type[Exception] | None = None
    query: str = "q"
    collector: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    call: Mapping[str, Any] = field(default_factory=dict)
    finds: Mapping[str, Sequence[str]] | None = None
    base_k: int | None = None
    in_any_order: bool = True

    def search(self, query: str, limit: int | None) -> list[Record]:
        """What the base retriever of the user finds."""
        by_id = {record.id: record for record in self.records}
        found = list(by_id) if self.finds is None else self.finds.get(query, [])
        return [by_id[name] for name in found][: self.base_k if limit is None else limit]


@dataclass(frozen=True)
class Shown:
    """One record as it came out: its text and what was added to its metadata."""

    id: str
    text: str
    added: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What a surface made of a case.

    Attributes:
        shown: What is shown, in order.
        reports: The reports of its collections, as they were announced, without the time taken.
        error: The type of the error that was raised.
    """

    shown: Sequence[Shown] = ()
    reports: Sequence[Mapping[str, Any]] = ()
    error: type[Exception] | None = None

    @property
    def decided(self) -> Any:
        """The same for every order of the records."""
        return (
            {found.id: (found.text, found.added) for found in self.shown},
            [_unordered(report) for report in self.reports],
            self.error,
        )


def _unordered(report: Mapping[str, Any]) -> dict[str, Any]:
    plain = dict(report)
    for name in ("kept", "hidden"):
        plain[name] = sorted(report[name])
    for name in ("removed", "excised"):
        plain[name] = sorted(report[name], key=lambda row: (row["id"], row.get("start", 0)))
    plain["unresolved"] = sorted(sorted(pair) for pair in report["unresolved"])
    return plain


def made(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, those with state made anew."""
    return {
        name: value.make() if isinstance(value, Fresh) else value for name, value in options.items()
    }
