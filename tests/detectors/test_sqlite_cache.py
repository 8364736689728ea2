"""The verdict cache in a file: bounded, shared, persistent, and loud about damage."""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gcmem import Collector, Memory
from gcmem.detectors import SQLiteVerdictCache
from gcmem.detectors.cache import MemoryVerdictCache, verdict_key
from gcmem.detectors.sqlite_cache import VerdictCacheError
from tests.support import ScriptedDetector, slot_rule


def key(number: int) -> bytes:
    return verdict_key("detector", str(number), "newer")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "verdicts.db"


def test_what_was_put_is_got_and_nothing_else(path: Path) -> None:
    cache = SQLiteVerdictCache(path)
    cache.put_many({key(1): 0.25, key(2): float(np.float32(0.1))})
    assert cache.get_many([key(1), key(3), key(2), key(1)]) == {
        key(1): 0.25,
        key(2): float(np.float32(0.1)),
    }
    assert len(cache) == 2


def test_a_later_score_replaces_an_earlier_one(path: Path) -> None:
    cache = SQLiteVerdictCache(path)
    cache.put_many({key(1): 0.25})
    cache.put_many({key(1): 0.75})
    assert (cache.get_many([key(1)]), len(cache)) == ({key(1): 0.75}, 1)


def test_no_verdict_is_kept_as_no_verdict(path: Path) -> None:
    cache = SQLiteVerdictCache(path)
    cache.put_many({key(1): float("nan")})
    assert math.isnan(cache.get_many([key(1)])[key(1)])


def test_empty_requests_do_nothing(path: Path) -> None:
    cache = SQLiteVerdictCache(path)
    cache.put_many({})
    assert cache.get_many([]) == {}
    assert len(cache) == 0


def test_more_keys_than_one_statement_takes(path: Path) -> None:
    cache = SQLiteVerdictCache(path)
    scores = {key(number): number / 2000 for number in range(2000)}
    cache.put_many(scores)
    assert cache.get_many(list(scores)) == scores


def test_verdicts_outlive_the_object(path: Path) -> None:
    with SQLiteVerdictCache(path) as cache:
        cache.put_many({key(1): 0.5})
    assert SQLiteVerdictCache(path).get_many([key(1)]) == {key(1): 0.5}


def test_a_closed_cache_opens_again_at_the_next_use(path: Path) -> None:
    cache = SQLiteVerdictCache(path)
    cache.put_many({key(1): 0.5})
    cache.close()
    assert cache.get_many([key(1)]) == {key(1): 0.5}


def test_the_least_recently_used_fall_out(path: Path) -> None:
    cache = SQLiteVerdictCache(path, capacity=3)
    for number in (1, 2, 3):
        cache.put_many({key(number): 0.5})
    cache.get_many([key(1)])
    cache.put_many({key(4): 0.5})
    assert set(cache.get_many([key(n) for n in (1, 2, 3, 4)])) == {key(1), key(3), key(4)}
    assert len(cache) == 3


def test_uses_are_remembered_when_the_file_is_closed(path: Path) -> None:
    with SQLiteVerdictCache(path, capacity=2) as cache:
        cache.put_many({key(1): 0.5})
        cache.put_many({key(2): 0.5})
        cache.get_many([key(1)])
    later = SQLiteVerdictCache(path, capacity=2)
    later.put_many({key(3): 0.5})
    assert set(later.get_many([key(1), key(2), key(3)])) == {key(1), key(3)}


def test_more_than_the_capacity_at_once_still_stays_within_it(path: Path) -> None:
    cache = SQLiteVerdictCache(path, capacity=10)
    cache.put_many({key(number): 0.5 for number in range(100)})
    assert len(cache) == 10


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None
)
@given(
    st.lists(
        st.tuples(st.booleans(), st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True)),
        max_size=12,
    ),
    st.integers(1, 6),
)
def test_it_holds_what_the_cache_in_memory_holds(
    tmp_path: Path, steps: list[tuple[bool, list[int]]], capacity: int
) -> None:
    file = tmp_path / f"{os.urandom(8).hex()}.db"
    on_disk = SQLiteVerdictCache(file, capacity=capacity)
    in_memory = MemoryVerdictCache(capacity=capacity)
    for puts, numbers in steps:
        for number in numbers:  # one at a time: within one call the order of use is not defined
            if puts:
                on_disk.put_many({key(number): number / 10})
                in_memory.put_many({key(number): number / 10})
            else:
                assert on_disk.get_many([key(number)]) == in_memory.get_many([key(number)])
    everything = [key(number) for number in range(10)]
    assert on_disk.get_many(everything) == in_memory.get_many(everything)
    assert len(on_disk) == len(in_memory)
    on_disk.close()


def test_a_collector_takes_its_verdicts_from_the_file(path: Path) -> None:
    memories = [Memory("a=1", 1, id="old"), Memory("a=2", 2, id="new")]
    for run in range(2):
        detector = ScriptedDetector(slot_rule)
        with SQLiteVerdictCache(path) as cache:
            collection = Collector(detector, cache=cache).collect("", memories)
        assert [memory.id for memory in collection.kept] == ["new"]
        assert collection.stats.cache_hits == run
        assert len(detector.asked) == 1 - run


def test_verdicts_of_another_version_are_not_taken(path: Path) -> None:
    memories = [Memory("a=1", 1, id="old"), Memory("a=2", 2, id="new")]
    cache = SQLiteVerdictCache(path)
    Collector(ScriptedDetector(slot_rule, name="v1"), cache=cache).collect("", memories)
    never = ScriptedDetector(lambda older, newer: False, name="v2")
    assert len(Collector(never, cache=cache).collect("", memories).kept) == 2


def test_threads_share_one_cache(path: Path) -> None:
    cache = SQLiteVerdictCache(path)

    def work(worker: int) -> None:
        for step in range(20):
            number = worker * 100 + step
            cache.put_many({key(number): 0.5})
            assert cache.get_many([key(number)]) == {key(number): 0.5}

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len(cache) == 160


WRITER = """
import sys
from gcmem.detectors.sqlite_cache import SQLiteVerdictCache
cache = SQLiteVerdictCache(sys.argv[1], capacity=500)
for step in range(40):
    key = f"{sys.argv[2]}-{step}".encode()
    cache.put_many({key: 0.5})
    assert cache.get_many([key])
"""


def test_processes_that_create_and_fill_the_file_at_once_lose_nothing(path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(number)])
        for number in range(3)
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    assert len(SQLiteVerdictCache(path)) == 120


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_opens_the_file_for_itself(path: Path) -> None:
    cache = SQLiteVerdictCache(path)
    cache.put_many({key(1): 0.5})
    context = multiprocessing.get_context("fork")
    child = context.Process(target=cache.put_many, args=({key(2): 0.75},))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert cache.get_many([key(1), key(2)]) == {key(1): 0.5, key(2): 0.75}


def test_a_pickled_cache_is_the_same_file(path: Path) -> None:
    cache = SQLiteVerdictCache(path, capacity=7)
    cache.put_many({key(1): 0.5})
    copy = pickle.loads(pickle.dumps(cache))
    assert copy.get_many([key(1)]) == {key(1): 0.5}
    assert copy.capacity == 7


def test_a_file_that_is_no_database_is_an_error_that_names_it(path: Path) -> None:
    path.write_bytes(b"these are my notes, not a database" * 100)
    with pytest.raises(VerdictCacheError, match=r"verdicts\.db.*not a database"):
        SQLiteVerdictCache(path)
    assert path.read_bytes().startswith(b"these are my notes")


def test_a_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE customers (name TEXT)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(VerdictCacheError, match=r"verdicts\.db.*another program"):
        SQLiteVerdictCache(path)
    assert path.read_bytes() == before


def test_a_damaged_file_is_an_error_that_names_it_and_never_an_empty_cache(path: Path) -> None:
    with SQLiteVerdictCache(path) as cache:
        cache.put_many({key(number): 0.5 for number in range(2000)})
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 3])
    with pytest.raises(VerdictCacheError, match=r"verdicts\.db"):
        SQLiteVerdictCache(path).get_many([key(number) for number in range(2000)])


def test_a_missing_folder_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(VerdictCacheError, match=r"nowhere.verdicts\.db"):
        SQLiteVerdictCache(tmp_path / "nowhere" / "verdicts.db")


def test_a_capacity_below_one_is_an_error(path: Path) -> None:
    with pytest.raises(ValueError, match="capacity"):
        SQLiteVerdictCache(path, capacity=0)
    assert not path.exists()
