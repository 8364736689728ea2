"""Many writers, killed writers: nothing is lost and nothing counts twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gcmem.precedents import LifecyclePolicy, Observation, PrecedentLedger, State

WORKERS = Path(__file__).with_name("workers.py")
ROOT = WORKERS.parents[2]


def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(WORKERS), name, *arguments]
    return subprocess.Popen(command, env={"PYTHONPATH": str(ROOT), "PATH": ""})


def test_sixteen_threads_observing_the_same_keys_give_exact_counts(url):
    rounds, threads = 12, 16
    with PrecedentLedger(url) as ledger:
        begin = threading.Barrier(threads)

        def work(number: int) -> None:
            begin.wait()
            for turn in range(rounds):
                ledger.observe(f"key {turn % 2}", "shared", scope="team")

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(threads)))
        found = ledger.active("team")
        assert [(item.key, item.support, item.conflict) for item in found] == [
            ("key 0", threads * rounds // 2, 0),
            ("key 1", threads * rounds // 2, 0),
        ]
        assert len(ledger.history("key 0", "team")) == 1


def test_threads_that_contradict_each_other_leave_one_active_value_and_lose_no_support(url):
    values = [f"value {number}" for number in range(8)]
    with PrecedentLedger(url) as ledger:
        with ThreadPoolExecutor(8) as pool:
            for _ in range(6):
                list(pool.map(lambda value: ledger.observe("city", value), values))
        everything = ledger.active() + ledger.archive()
        assert sorted((item.value, item.support) for item in everything) == [
            (value, 6) for value in values
        ]
        assert len(ledger.active()) == 1
        rises = [item for item in ledger.history("city") if item.after is State.ACTIVE]
        falls = [item for item in ledger.history("city") if item.after is State.REVOKED]
        assert len(rises) == len(falls) + 1


def test_two_parallel_adds_of_one_fact_are_one_precedent_with_support_two(url):
    with PrecedentLedger(url) as ledger:
        begin = threading.Barrier(2)

        def add(_: int) -> None:
            begin.wait()
            ledger.observe("likes", "cocoa", at="2026-07-22T10:00:00Z")

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(add, range(2)))
        (only,) = ledger.active()
        assert only.support == 2


def test_a_batch_in_one_thread_and_single_writes_in_others_add_up(url):
    with PrecedentLedger(url) as ledger:

        def batch(_: int) -> None:
            items = [Observation(f"k{number % 5}", "v") for number in range(50)]
            ledger.observe_many(items)

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(batch, range(6)))
        assert [item.support for item in ledger.active()] == [60] * 5


def check_processes(url: str, processes: int, rounds: int) -> None:
    running = [start("observe_shared", url, str(rounds)) for _ in range(processes)]
    assert [process.wait(300) for process in running] == [0] * processes
    with PrecedentLedger(url, LifecyclePolicy.append_only()) as ledger:
        shared = [item for item in ledger.active() if item.value == "shared"]
        own = [item for item in ledger.active() if item.value != "shared"]
    assert [item.support for item in shared] == [processes * rounds // 3] * 3
    assert [item.support for item in own] == [rounds // 3] * 3 * processes


def test_four_processes_opening_one_new_file_give_exact_counts(tmp_path):
    check_processes(f"sqlite:///{tmp_path / 'memory.db'}", processes=4, rounds=9)
    assert [path.name for path in tmp_path.iterdir()] == ["memory.db"]


@pytest.mark.integration
def test_four_processes_on_one_server_give_exact_counts(postgres_url):
    check_processes(postgres_url, processes=4, rounds=15)


def test_a_forked_child_does_not_share_its_parents_connections(tmp_path):
    code = """
import os, sys
from gcmem.precedents import PrecedentLedger
ledger = PrecedentLedger(sys.argv[1])
ledger.observe("k", "v")
children = []
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        for _ in range(5):
            ledger.observe("k", "v")
        os._exit(0)
    children.append(pid)
codes = [os.waitpid(pid, 0)[1] for pid in children]
ledger.observe("k", "v")
assert codes == [0, 0, 0], codes
assert [item.support for item in ledger.active()] == [17], ledger.active()
"""
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    command = [sys.executable, "-c", code, url]
    subprocess.run(command, check=True, timeout=120, env={"PYTHONPATH": str(ROOT), "PATH": ""})


def check_kills(url: str, log: Path, rounds: int, *options: str) -> None:
    acknowledged = 0
    for _ in range(rounds):
        process = start("acknowledge", url, str(log), *options)
        waited = time.monotonic()
        while not log.exists() or len(log.read_bytes().splitlines()) < acknowledged + 3:
            assert process.poll() is None, "the writer failed"
            assert time.monotonic() - waited < 120, "the writer does not write"
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        written = [int(line) for line in log.read_bytes().splitlines() if line.isdigit()]
        acknowledged = len(written)
        with PrecedentLedger(url, LifecyclePolicy.append_only()) as ledger:
            kept = {int(item.value) for item in ledger.active(keys="n")}
            (count,) = ledger.active(keys="count")
            folded = ledger.active(as_of="2999-01-01")
            assert {(item.value, item.support) for item in folded} == {
                (item.value, item.support) for item in ledger.active()
            }
        assert set(written) <= kept
        assert kept == set(range(len(kept)))
        assert len(kept) - len(set(written)) <= rounds
        assert count.support >= len(set(written))


def test_a_kill_in_a_loop_loses_nothing_acknowledged(tmp_path):
    check_kills(f"sqlite:///{tmp_path / 'memory.db'}", tmp_path / "log", rounds=4)


def test_a_kill_in_the_middle_of_a_compaction_loses_nothing_acknowledged(tmp_path):
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    check_kills(url, tmp_path / "log", 4, "compacting")
    with PrecedentLedger(url, LifecyclePolicy.append_only()) as ledger:
        assert sum(item.observations for item in ledger.compactions()) > 0


@pytest.mark.integration
def test_a_long_loop_of_kills_loses_nothing_acknowledged(tmp_path):
    check_kills(f"sqlite:///{tmp_path / 'memory.db'}", tmp_path / "log", rounds=40)


@pytest.mark.integration
def test_a_killed_client_of_a_server_loses_nothing_acknowledged(postgres_url, tmp_path):
    check_kills(postgres_url, tmp_path / "log", rounds=4)
