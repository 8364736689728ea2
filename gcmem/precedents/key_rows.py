"""Reads and writes the rows of keys and of their definitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Row, Select, and_, bindparam, insert, select, update

from gcmem.precedents.precedent import Cardinality
from gcmem.precedents.schema import definition, key

__all__ = ["KeyRow", "chunks", "define", "ensure_keys", "find_keys", "keys_by_id", "save_keys"]

Item = TypeVar("Item")

_CHUNK: Final = 400
_EVERY_SCOPE: Final = ""


@dataclass(slots=True)
class KeyRow:
    """One key of one scope."""

    id: int
    scope: str
    match: str
    text: str
    cardinality: Cardinality
    latest_at: int | None
    supports: int


def chunks(items: Iterable[Item], size: int = _CHUNK) -> Iterator[list[Item]]:
    """Give items in lists short enough for the parameters of one statement."""
    held = list(items)
    for start in range(0, len(held), size):
        yield held[start : start + size]


def _select_keys(named: str) -> Select[Any]:
    wanted = select(key).where(key.c.scope == bindparam("of_scope")).order_by(key.c.id)
    if named == "one":
        return wanted.where(key.c.match == bindparam("of_match"))
    if named == "some":
        return wanted.where(key.c.match.in_(bindparam("of_matches", expanding=True)))
    return wanted


_SELECT_KEYS: Final = {
    (named, lock): _select_keys(named).with_for_update() if lock else _select_keys(named)
    for named in ("all", "one", "some")
    for lock in (False, True)
}


def find_keys(
    connection: Connection, scope: str, matches: Iterable[str] | None = None, *, lock: bool = False
) -> list[KeyRow]:
    """Give the keys of a scope, all or those named, in the order in which they came."""
    if matches is None:
        found = connection.execute(_SELECT_KEYS["all", lock], {"of_scope": scope})
        return [_key_row(row) for row in found]
    named = sorted(set(matches))
    if len(named) == 1:
        bound = {"of_scope": scope, "of_match": named[0]}
        return [_key_row(row) for row in connection.execute(_SELECT_KEYS["one", lock], bound)]
    rows = [
        _key_row(row)
        for some in chunks(named)
        for row in connection.execute(
            _SELECT_KEYS["some", lock], {"of_scope": scope, "of_matches": some}
        )
    ]
    return sorted(rows, key=lambda row: row.id)


def keys_by_id(connection: Connection, key_ids: Iterable[int]) -> list[KeyRow]:
    """Lock and give keys that are still there, in the order in which they came."""
    wanted = select(key).where(key.c.id.in_(sorted(key_ids))).order_by(key.c.id).with_for_update()
    return [_key_row(row) for row in connection.execute(wanted)]


_INSERT_KEY: Final = insert(key).returning(key)


def ensure_keys(
    connection: Connection, wanted: Mapping[tuple[str, str], str]
) -> dict[tuple[str, str], KeyRow]:
    """Lock the keys named (scope, match), creating those that are missing with their text."""
    by_scope: dict[str, list[str]] = {}
    for scope, match in sorted(wanted):
        by_scope.setdefault(scope, []).append(match)
    found = {
        (row.scope, row.match): row
        for scope, matches in by_scope.items()
        for row in find_keys(connection, scope, matches, lock=True)
    }
    missing = [pair for pair in sorted(wanted) if pair not in found]
    if not missing:
        return found
    defined = _definitions(connection, {match for _, match in missing})
    rows = [
        {
            "scope": scope,
            "match": match,
            "text": wanted[scope, match],
            "cardinality": (
                defined.get((scope, match))
                or defined.get((_EVERY_SCOPE, match))
                or Cardinality.SINGLE
            ).value,
            "latest_at": None,
            "supports": 0,
        }
        for scope, match in missing
    ]
    for row in connection.execute(_INSERT_KEY, rows):
        found[row.scope, row.match] = _key_row(row)
    return found


_SELECT_DEFINITIONS: Final = select(definition).where(
    definition.c.match.in_(bindparam("of_matches", expanding=True))
)


def _definitions(connection: Connection, matches: set[str]) -> dict[tuple[str, str], Cardinality]:
    return {
        (row.scope, row.match): Cardinality(row.cardinality)
        for some in chunks(sorted(matches))
        for row in connection.execute(_SELECT_DEFINITIONS, {"of_matches": some})
    }


def define(
    connection: Connection, scope: str | None, match: str, cardinality: Cardinality
) -> list[KeyRow]:
    """Store the cardinality of a key, in one scope or (None) in every one that has no other.

    Returns:
        The existing keys that it concerns, locked.
    """
    place = _EVERY_SCOPE if scope is None else scope
    same = and_(definition.c.scope == place, definition.c.match == match)
    known = connection.execute(update(definition).where(same).values(cardinality=cardinality.value))
    if known.rowcount == 0:
        row = {"scope": place, "match": match, "cardinality": cardinality.value}
        connection.execute(insert(definition), row)
    wanted = select(key).where(key.c.match == match).order_by(key.c.id).with_for_update()
    if scope is None:
        own = select(definition.c.scope).where(
            definition.c.match == match, definition.c.scope != _EVERY_SCOPE
        )
        wanted = wanted.where(key.c.scope.not_in(own))
    else:
        wanted = wanted.where(key.c.scope == scope)
    return [_key_row(row) for row in connection.execute(wanted)]


_SAVE_KEY: Final = (
    update(key)
    .where(key.c.id == bindparam("of_id"))
    .values(
        latest_at=bindparam("new_latest"),
        supports=bindparam("new_supports"),
        cardinality=bindparam("new_cardinality"),
    )
)


def save_keys(connection: Connection, rows: Iterable[KeyRow]) -> None:
    """Write back what a decision changed about the keys."""
    changed = [
        {
            "of_id": row.id,
            "new_latest": row.latest_at,
            "new_supports": row.supports,
            "new_cardinality": row.cardinality.value,
        }
        for row in rows
    ]
    if changed:
        connection.execute(_SAVE_KEY, changed)


def _key_row(row: Row[Any]) -> KeyRow:
    number, scope, match, text, cardinality, latest_at, supports = tuple(row)
    return KeyRow(number, scope, match, text, Cardinality(cardinality), latest_at, supports)
