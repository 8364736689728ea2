"""A damaged, truncated, foreign or newer file is an error that names it, never an empty memory."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from gcmem.precedents import (
    LedgerClosedError,
    LedgerFileError,
    PrecedentLedger,
    upgrading,
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "memory.db"
    with PrecedentLedger(f"sqlite:///{path}") as ledger:
        ledger.observe_many([(f"key {number}", "a value " * 20) for number in range(300)])
    return path


@pytest.fixture
def copy(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(filled, tmp_path / "memory.db"))


def opened(path: Path) -> PrecedentLedger:
    return PrecedentLedger(f"sqlite:///{path}")


def refused(path: Path) -> LedgerFileError:
    before = path.read_bytes()
    with pytest.raises(LedgerFileError) as caught:
        opened(path).close()
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before, "a refused file must stay as it is"
    return caught.value


def test_a_closed_ledger_is_one_file_that_opens_again(copy):
    assert [path.name for path in copy.parent.iterdir()] == ["memory.db"]
    with opened(copy) as ledger:
        assert len(ledger.active()) == 300


@pytest.mark.parametrize("share", [0.0, 0.0001, 0.001, 0.1, 0.5, 0.9, 0.99, 0.99999])
def test_a_truncated_file_is_refused(copy, share):
    content = copy.read_bytes()
    copy.write_bytes(content[: int(len(content) * share)])
    refused(copy)


@pytest.mark.parametrize("pages", [1, 5, 20])
def test_a_file_cut_at_a_page_boundary_is_refused(copy, pages):
    content = copy.read_bytes()
    copy.write_bytes(content[: -4096 * pages])
    refused(copy)


@pytest.mark.parametrize("page", [1, 3, 7, 15, 40])
def test_a_page_of_garbage_is_refused(copy, page):
    content = bytearray(copy.read_bytes())
    content[page * 4096 : page * 4096 + 4096] = b"\xa5" * 4096
    copy.write_bytes(content)
    refused(copy)


@pytest.mark.parametrize(
    "content", [b"hello", b"{}" * 5000, b"\x00" * 8192, b"SQLite format 3\x00"]
)
def test_a_file_that_is_no_ledger_is_refused(tmp_path, content):
    path = tmp_path / "memory.db"
    path.write_bytes(content)
    refused(path)


def test_another_programs_sqlite_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE notes (text)")
    connection.commit()
    connection.close()
    assert "another program" in refused(path).problem


def test_a_missing_table_is_refused(copy):
    connection = sqlite3.connect(copy)
    connection.execute("DROP TABLE gcmem_evidence")
    connection.commit()
    connection.close()
    assert "gcmem_evidence" in refused(copy).problem


@pytest.mark.parametrize(
    ("version", "problem"), [("999", "newer than"), ("none", "not a number"), ("0", "no upgrade")]
)
def test_a_version_that_cannot_be_read_is_refused(copy, version, problem):
    connection = sqlite3.connect(copy)
    connection.execute("UPDATE gcmem_meta SET value = ? WHERE name = 'schema_version'", (version,))
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    assert problem in refused(copy).problem


def test_an_older_file_is_upgraded_step_by_step_in_one_transaction(copy):
    steps = []

    def first(connection):
        connection.execute(text("ALTER TABLE gcmem_key ADD COLUMN note TEXT"))
        steps.append(1)

    def second(connection):
        connection.execute(text("UPDATE gcmem_key SET note = 'seen'"))
        steps.append(2)

    engine = create_engine(f"sqlite:///{copy}")
    with engine.begin() as connection:
        upgrading.upgrade(connection, "memory.db", target=4, migrations={2: first, 3: second})
    with engine.begin() as connection:
        upgrading.upgrade(connection, "memory.db", target=4, migrations={})
        notes = connection.execute(text("SELECT DISTINCT note FROM gcmem_key")).scalars().all()
        version = connection.execute(text("SELECT value FROM gcmem_meta")).scalar()
    engine.dispose()
    assert (steps, notes, version) == ([1, 2], ["seen"], "4")


def test_a_missing_folder_is_an_error_that_names_it(tmp_path):
    with pytest.raises(LedgerFileError, match="no-such-folder"):
        opened(tmp_path / "no-such-folder" / "memory.db")


def test_a_folder_in_place_of_the_file_is_refused(tmp_path):
    with pytest.raises(LedgerFileError, match="cannot be read"):
        opened(tmp_path)


def test_damage_while_the_ledger_is_open_is_reported_too(copy):
    with opened(copy) as ledger:
        content = bytearray(copy.read_bytes())
        content[4096:] = b"\xa5" * (len(content) - 4096)
        copy.write_bytes(content)
        ledger._storage._engine.dispose()  # a new connection has nothing cached
        with pytest.raises(LedgerFileError, match=r"memory\.db"):
            ledger.archive()


def test_the_settings_that_keep_acknowledged_writes_are_on(copy):
    with opened(copy) as ledger:
        read = ledger._storage.read
        settings = {
            name: read(lambda connection, name=name: connection.scalar(text(f"PRAGMA {name}")))
            for name in ("journal_mode", "synchronous", "secure_delete", "busy_timeout")
        }
    assert settings == {
        "journal_mode": "wal",
        "synchronous": 2,
        "secure_delete": 1,
        "busy_timeout": 20_000,
    }


def test_a_closed_ledger_says_so(url):
    ledger = PrecedentLedger(url)
    ledger.close()
    ledger.close()
    for call in (ledger.active, ledger.archive, lambda: ledger.observe("a", "b"), ledger.purges):
        with pytest.raises(LedgerClosedError, match="closed"):
            call()


def test_a_relative_path_stays_where_it_was_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with PrecedentLedger("sqlite:///memory.db") as ledger:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        ledger.observe("a", "b")
        assert [item.value for item in ledger.active()] == ["b"]
    assert (tmp_path / "memory.db").exists()


def test_two_ledgers_in_memory_are_two_memories():
    with PrecedentLedger("sqlite://") as one, PrecedentLedger("sqlite://") as other:
        one.observe("a", "b")
        assert other.active() == []


@pytest.mark.parametrize(
    "url", ["memory.db", "", "mysql://x/y", "sqlite:///a.db?mode=ro", "sqlite:///file:a.db"]
)
def test_a_url_that_names_no_storage_is_an_error_that_lists_what_does(url):
    with pytest.raises(ValueError, match="url"):
        PrecedentLedger(url)


def test_a_url_of_another_type_is_an_error():
    with pytest.raises(TypeError, match="url must be a string"):
        PrecedentLedger(Path("memory.db"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="policy must be a LifecyclePolicy"):
        PrecedentLedger("sqlite://", policy="tepa")  # type: ignore[arg-type]
