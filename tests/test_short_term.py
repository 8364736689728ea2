"""The newest chunks of a scope, in memory and in a database."""

from __future__ import annotations

import json
import pickle
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gcmem import Memory, PrecedentLedger, ShortTermMemory
from tests.precedents.test_upgrading import made_by_version_1


@pytest.fixture(params=["memory", "sqlite in memory", "sqlite file"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    return {
        "memory": None,
        "sqlite in memory": "sqlite://",
        "sqlite file": f"sqlite:///{tmp_path / 'recent.db'}",
    }[request.param]


def texts(recent: ShortTermMemory, scope: object = ()) -> list[str]:
    return [memory.text for memory in recent.recent(scope)]


def test_the_oldest_falls_out(url: str | None) -> None:
    recent = ShortTermMemory(2, url=url)
    recent.extend(Memory(text, i) for i, text in enumerate("abcd"))
    assert texts(recent) == ["c", "d"]
    recent.add(Memory("e", 9))
    assert texts(recent) == ["d", "e"]


def test_scopes_are_apart_and_cleared_apart(url: str | None) -> None:
    recent = ShortTermMemory(2, url=url)
    recent.extend([Memory("a", 1, scope="u1"), Memory("b", 2, scope={"user": 2})])
    assert texts(recent) == []
    assert texts(recent, "u1") == ["a"]
    recent.clear("u1")
    assert (texts(recent, "u1"), texts(recent, {"user": 2})) == ([], ["b"])


def test_a_chunk_of_the_same_id_is_replaced_and_becomes_the_newest(url: str | None) -> None:
    recent = ShortTermMemory(3, url=url)
    recent.extend([Memory("a", 1, id="x"), Memory("b", 2, id="y"), Memory("a2", 3, id="x")])
    assert texts(recent) == ["b", "a2"]


def test_the_same_id_in_another_scope_is_another_chunk(url: str | None) -> None:
    recent = ShortTermMemory(3, url=url)
    recent.extend([Memory("a", 1, id="x", scope="s"), Memory("b", 1, id="x", scope="t")])
    assert (texts(recent, "s"), texts(recent, "t")) == (["a"], ["b"])


def test_every_field_comes_back(url: str | None) -> None:
    memory = Memory(
        "snow \u2603 \x00 \ud800",
        datetime(2026, 1, 1, 10, 0, 0, 123456, tzinfo=UTC),
        id="i\u00e9",
        scope=("a", "b"),
        relevance=0.1,
        key="k",
        value="v",
        supersedes=("o", "p"),
        valid_from="2026-01-01",
        valid_until="2026-02-01",
        authority=2.5,
        source="s@1",
        metadata={"n": 1, "list": ["x"], "none": None},
    )
    recent = ShortTermMemory(url=url)
    recent.add(memory)
    assert recent.recent(("a", "b")) == [memory]


def test_threads_lose_nothing(url: str | None) -> None:
    recent = ShortTermMemory(1000, url=url)

    def add(thread: int) -> None:
        for n in range(10):
            recent.add(Memory(f"{thread} {n}", n))

    threads = [threading.Thread(target=add, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(texts(recent)) == sorted(f"{t} {n}" for t in range(4) for n in range(10))


def test_processes_share_a_file_with_each_other_and_with_a_ledger(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    recent = ShortTermMemory(3, url=url)
    recent.add(Memory("mine", 1, scope="u"))
    with PrecedentLedger(url=url) as ledger:
        ledger.observe("k", "v", scope="u")
    code = (
        "from gcmem import Memory, ShortTermMemory\n"
        f"recent = ShortTermMemory(3, url={url!r})\n"
        "recent.add(Memory('theirs', 2, scope='u'))\n"
        "print([memory.text for memory in recent.recent('u')])\n"
    )
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True
    )
    assert done.stdout.strip() == "['mine', 'theirs']"
    assert texts(recent, "u") == ["mine", "theirs"]
    with PrecedentLedger(url=url) as ledger:
        assert len(ledger.history("k", scope="u")) == 1


def test_what_was_added_is_there_after_reopening(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    first = ShortTermMemory(5, url=url)
    first.extend(Memory(text, i) for i, text in enumerate("abc"))
    first.close()
    assert texts(ShortTermMemory(2, url=url)) == ["b", "c"]


SCOPES = ("ann", "ben", ("ann", "work"))


def fill(recent: ShortTermMemory) -> None:
    for scope in SCOPES:
        recent.extend(
            [Memory(f"hobby={hobby}", 1, scope=scope) for hobby in ("ironing", "fencing")]
        )


def test_a_purge_of_the_ledger_erases_the_chunks_of_exactly_that_scope(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    recent = ShortTermMemory(url=url)
    fill(recent)
    with PrecedentLedger(url) as ledger:
        done = ledger.purge(("ann", "work"))
        assert done.chunks == 2
        assert ledger.purges() == [done]
        assert [len(texts(recent, scope)) for scope in SCOPES] == [2, 2, 0]
        assert ledger.purge("ann").chunks == 2
        assert [len(texts(recent, scope)) for scope in SCOPES] == [0, 2, 0]
        assert ledger.purge("ann").chunks == 0
    recent.add(Memory("hobby=chess", 2, scope="ann"))
    assert texts(recent, "ann") == ["hobby=chess"]


@pytest.mark.parametrize("way", ["purge", "clear"])
def test_of_what_was_erased_no_byte_is_left_in_the_files(tmp_path: Path, way: str) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    recent = ShortTermMemory(url=url)
    fill(recent)
    with PrecedentLedger(url) as ledger:
        for scope in SCOPES:
            if way == "purge":
                ledger.purge(scope)
            else:
                recent.clear(scope)
        for path in tmp_path.iterdir():
            content = path.read_bytes()
            for word in (b"ironing", b"fencing", b"ann", b"ben"):
                assert word not in content, (path.name, word)


def test_chunks_of_a_file_of_version_1_are_kept_and_purged(tmp_path: Path) -> None:
    url = made_by_version_1("schema_1", tmp_path)
    now = ShortTermMemory(url=f"sqlite:///{tmp_path / 'now.db'}")
    fill(now)
    now.close()
    with (
        closing(sqlite3.connect(tmp_path / "now.db")) as new,
        closing(sqlite3.connect(tmp_path / "memory.db")) as old,
    ):
        (table,) = new.execute("SELECT sql FROM sqlite_master WHERE name = 'gcmem_recent_chunk'")
        old.execute(table[0])
        rows = new.execute("SELECT scope, id, content FROM gcmem_recent_chunk").fetchall()
        spaced = [(json.dumps(json.loads(scope)), *rest) for scope, *rest in rows]
        old.executemany("INSERT INTO gcmem_recent_chunk VALUES (NULL, ?, ?, ?)", spaced)
        old.commit()
    recent = ShortTermMemory(url=url)
    assert [texts(recent, scope) for scope in SCOPES] == [["hobby=ironing", "hobby=fencing"]] * 3
    with PrecedentLedger(url) as ledger:
        assert [ledger.purge(scope).chunks for scope in SCOPES] == [2, 2, 2]


def test_a_copy_by_pickle_shares_a_file_and_copies_memory(tmp_path: Path) -> None:
    shared = ShortTermMemory(5, url=f"sqlite:///{tmp_path / 'memory.db'}")
    shared.add(Memory("a", 1))
    twin = pickle.loads(pickle.dumps(shared))
    shared.add(Memory("b", 2))
    assert texts(twin) == ["a", "b"]
    own = ShortTermMemory(5)
    own.add(Memory("a", 1))
    copied = pickle.loads(pickle.dumps(own))
    own.add(Memory("b", 2))
    assert texts(copied) == ["a"]


def test_a_database_in_this_process_cannot_be_pickled() -> None:
    with pytest.raises(TypeError, match="lives in this process"):
        pickle.dumps(ShortTermMemory(url="sqlite://"))


def test_metadata_that_is_no_json_is_named_and_nothing_is_added() -> None:
    recent = ShortTermMemory(url="sqlite://")
    with pytest.raises(TypeError, match=r"metadata\['when'\] of memory 'x'"):
        recent.extend(
            [Memory("a", 1), Memory("b", 2, id="x", metadata={"when": datetime.now(UTC)})]
        )
    assert texts(recent) == []


def test_bad_parameters_say_what_is_allowed() -> None:
    with pytest.raises(ValueError, match="maxlen must be at least 1, got 0"):
        ShortTermMemory(0)
    with pytest.raises(ValueError, match="url must be"):
        ShortTermMemory(url="mysql://host/db")
