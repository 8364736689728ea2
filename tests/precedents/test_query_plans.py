"""No question to a ledger scans a table, so the number of records does not matter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import event, text

from gcmem.precedents import LifecyclePolicy, PrecedentLedger

CALLS: dict[str, Callable[[PrecedentLedger], Any]] = {
    "active by key": lambda ledger: ledger.active("s 7", keys="city"),
    "active by keys": lambda ledger: ledger.active("s 7", keys=["city", "drink"]),
    "active of a scope": lambda ledger: ledger.active("s 7"),
    "as of": lambda ledger: ledger.active("s 7", as_of="2030-01-01"),
    "archive": lambda ledger: ledger.archive("s 7"),
    "hypotheses": lambda ledger: ledger.hypotheses("s 7"),
    "conflicts": lambda ledger: ledger.conflicts("s 7"),
    "history": lambda ledger: ledger.history("city", "s 7"),
    "explain": lambda ledger: ledger.explain("7"),
    "observe": lambda ledger: ledger.observe("city", "Kiel", scope="s 7"),
    "observe a new value": lambda ledger: ledger.observe("city", "Bonn", scope="s 7"),
    "observe late": lambda ledger: ledger.observe("city", "Rom", scope="s 7", at="2020-01-01"),
    "observe many": lambda ledger: ledger.observe_many([("a", "b"), ("city", "x")], scope="s 8"),
    "outcome many": lambda ledger: ledger.outcome_many([("city", False)] * 3, scope="s 7"),
    "correct": lambda ledger: ledger.correct("city", "Bonn", reason="wrong", scope="s 7"),
    "retract": lambda ledger: ledger.retract("7", "wrong"),
    "compact": lambda ledger: ledger.compact("2999-01-01", scope="s 7", at_least=1),
    "outcome": lambda ledger: ledger.outcome("city", False, scope="s 7"),
    "define": lambda ledger: ledger.define_key("drink", cardinality="multi", scope="s 7"),
    "purge": lambda ledger: ledger.purge("s 9"),
}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_every_statement_of_a_call_searches_by_an_index(tmp_path, name):
    seen: list[tuple[str, Any]] = []
    with PrecedentLedger(
        f"sqlite:///{tmp_path / 'memory.db'}", LifecyclePolicy.append_only()
    ) as ledger:
        for number in range(30):
            pairs = [("city", f"v {number}"), ("drink", "tea"), ("city", "Ulm")]
            ledger.observe_many(pairs, scope=f"s {number}")
        engine = ledger._storage._engine

        def note(connection, cursor, statement, parameters, context, executemany):
            first = statement.split(None, 1)[0]
            if first in {"SELECT", "UPDATE", "DELETE"}:
                seen.append((statement, parameters[0] if executemany else parameters))

        event.listen(ledger._storage._reader, "before_cursor_execute", note)
        CALLS[name](ledger)
        event.remove(ledger._storage._reader, "before_cursor_execute", note)
        assert seen
        with engine.connect() as connection:
            for statement, parameters in seen:
                rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
                plan = [row[3] for row in rows]
                scans = [step for step in plan if step.startswith("SCAN") and "gcmem" in step]
                assert not scans, (statement, plan)
                assert not [step for step in plan if "AUTOMATIC" in step], (statement, plan)


def test_a_key_with_a_long_archive_is_not_read_whole(tmp_path):
    """Work per observation, in SQLite's own steps, with 20 and with 600 archived values."""
    steps = {}
    for archived in (20, 600):
        url = f"sqlite:///{tmp_path / f'{archived}.db'}"
        with PrecedentLedger(url) as ledger:
            ledger.observe_many(("city", f"value {number}") for number in range(archived))
            counted = [0]

            def tick(counted: list[int] = counted) -> int:
                counted[0] += 1
                return 0

            with ledger._storage._engine.connect() as connection:
                raw = connection.connection.driver_connection
                connection.execute(text("SELECT 1"))
                raw.set_progress_handler(tick, 10)
            ledger.observe("city", "Kiel")
            ledger.active(keys="city")
            steps[archived] = counted[0]
    assert steps[600] < 2 * steps[20] + 20, steps
