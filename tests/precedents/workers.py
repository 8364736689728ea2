"""Programs that the tests start as processes of their own: `python workers.py NAME ARGUMENT...`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gcmem.precedents import LifecyclePolicy, PrecedentLedger


def observe_shared(url: str, count: str) -> None:
    """Observe the same three keys again and again, beside other processes."""
    with PrecedentLedger(url, LifecyclePolicy.append_only()) as ledger:
        for number in range(int(count)):
            ledger.observe(f"key {number % 3}", "shared")
            ledger.observe(f"key {number % 3}", f"own {os.getpid()}")


def acknowledge(url: str, log: str, compacting: str = "") -> None:
    """Observe for ever; append each number to the log once it is acknowledged."""
    with (
        PrecedentLedger(url, LifecyclePolicy.append_only()) as ledger,
        Path(log).open("ab", buffering=0) as file,
    ):
        start = len(ledger.active(keys="n"))
        for number in range(start, 10**9):
            ledger.observe("n", str(number))
            ledger.observe("count", "all")
            file.write(f"{number}\n".encode())
            if compacting:
                ledger.compact("2999-01-01", at_least=1)


if __name__ == "__main__":
    {"observe_shared": observe_shared, "acknowledge": acknowledge}[sys.argv[1]](*sys.argv[2:])
