"""The experiments behind every figure that gcmem claims; run `python -m benchmarks`."""
