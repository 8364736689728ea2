"""`python -m benchmarks NAME [options]`: run one experiment, print its table, keep its figures."""

from __future__ import annotations

import importlib
import sys

EXPERIMENTS = {
    "bag-of-facts": "GC-Mem: temporal-mutation with an infinite k",
    "detector-speed": "pairs per second of the bundled detector against onnxruntime alone",
    "detectors": "GC-Mem: precision and recall of detectors, and accuracy as recall is degraded",
    "drift": "TEPA: success of eleven memories when what is right changes in secret",
    "factconsolidation": "MemoryAgentBench: answers from contradicting facts, one hop and several",
    "field": "what users reported, as small cases: pass rate, stale dropped, needed kept",
    "head-lookup": "share of questions whose current statement is shown, with and without it",
    "history": "questions about the past against those that only look like it",
    "latency": "cost of a collection against judging every pair with the same model",
    "peers": "the same inputs through gcmem and through other tools, in the same run",
    "report": "rebuild the README's tables from benchmarks/results",
    "streams": "long interleaved streams of held-out attributes: stale exposure and over-deletion",
    "temporal-mutation": "GC-Mem: what is true now, after N old statements and M new ones",
    "theory": "GC-Mem: both theorems against what is retrieved and read",
    "trial-chat-memory": "the chat memories with a real language model, turn by turn",
    "ledger": "update and query cost of the precedent ledger at 1k, 100k and 1M records",
}


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] not in EXPERIMENTS:
        print("usage: python -m benchmarks NAME [--help]\n")
        for name, purpose in EXPERIMENTS.items():
            print(f"  {name:<20} {purpose}")
        return 0 if len(sys.argv) < 2 or sys.argv[1] in {"-h", "--help"} else 2
    importlib.import_module(f"benchmarks.{sys.argv[1].replace('-', '_')}").main(sys.argv[2:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
