"""A ledger of an earlier schema opens, keeps everything, and can do what is new."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text

from gcmem.precedents import PrecedentLedger, upgrading
from gcmem.precedents.chat_log import ChatLog

DATA = Path(__file__).with_name("data")


def made_by_version_1(dump: str, folder: Path) -> str:
    """The file that the first version wrote: from its dump, with its mark and journal mode."""
    path = folder / "memory.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA application_id={upgrading.APPLICATION_ID}")
    connection.executescript((DATA / f"{dump}.sql").read_text(encoding="utf-8"))
    connection.close()
    return f"sqlite:///{path}"


def columns(url: str) -> dict[str, set[str]]:
    engine = create_engine(url)
    looked_at = inspect(engine)
    found = {
        table: {column["name"] for column in looked_at.get_columns(table)}
        | {str(index["name"]) for index in looked_at.get_indexes(table)}
        for table in looked_at.get_table_names()
        if not table.startswith("sqlite_")
    }
    engine.dispose()
    return found


@pytest.mark.parametrize("dump", ["schema_1", "schema_1_chat"])
def test_a_file_of_version_1_is_read_whole_and_has_the_tables_of_today(dump, tmp_path):
    url = made_by_version_1(dump, tmp_path)
    with PrecedentLedger(url) as ledger:
        assert [(item.key, item.value) for item in ledger.active("ann")] == [
            ("city", "Kiel"),
            ("tool", "pandas"),
            ("hobby", "golf"),
            ("hobby", "chess"),
        ]
        assert [item.value for item in ledger.active("ann", keys="city", as_of="2025-06-01")] == [
            "Ulm"
        ]
        assert len(ledger.history("tool", "ann")) == 2
        assert [purge.messages for purge in ledger.purges()] == [0]
    new = f"sqlite:///{tmp_path / 'new.db'}"
    PrecedentLedger(new).close()
    assert columns(url) == columns(new)


@pytest.mark.parametrize(("dump", "messages"), [("schema_1", 0), ("schema_1_chat", 2)])
def test_conversations_of_version_1_are_kept_and_counted_when_they_are_purged(
    dump, messages, tmp_path
):
    with PrecedentLedger(made_by_version_1(dump, tmp_path)) as ledger:
        log = ChatLog(ledger)
        assert log.messages("ann", "s1") == ["one", "two"][:messages]
        assert len(log.heard("ann", "s1")) == messages // 2
        done = ledger.purge("ann")
        assert (done.precedents, done.messages) == (5, messages)
        assert ledger.purges()[-1] == done
        assert log.messages("ann", "s1") == log.heard("ann", "s1") == []


def test_an_upgrade_that_fails_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    def fail(connection):
        connection.execute(text("ALTER TABLE gcmem_purge ADD COLUMN messages BIGINT"))
        raise ConnectionError("the power went")

    url = made_by_version_1("schema_1", tmp_path)
    monkeypatch.setitem(upgrading.MIGRATIONS, 1, fail)
    with pytest.raises(ConnectionError):
        PrecedentLedger(url)
    monkeypatch.undo()
    with PrecedentLedger(url) as ledger:
        assert len(ledger.active("ann")) == 4


@pytest.mark.integration
def test_a_server_of_version_1_is_upgraded(postgres_url):
    with PrecedentLedger(postgres_url) as ledger:
        ledger.observe("city", "Kiel", scope="ann")
        ledger.purge("nobody")
    engine = create_engine(postgres_url)
    with engine.begin() as connection:
        for table in ("chat_heard", "chat_message", "recent_chunk", "checkpoint", "compaction"):
            connection.execute(text(f"DROP TABLE gcmem_{table}"))
        for column in ("messages", "chunks"):
            connection.execute(text(f"ALTER TABLE gcmem_purge DROP COLUMN {column}"))
        connection.execute(text("UPDATE gcmem_meta SET value = '1'"))
    engine.dispose()
    with PrecedentLedger(postgres_url) as ledger:
        ChatLog(ledger).add("ann", "s1", ["one"])
        assert ledger.purge("ann").messages == 1
        assert [item.messages for item in ledger.purges()] == [0, 1]
