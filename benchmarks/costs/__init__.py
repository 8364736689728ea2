"""What `benchmarks.latency` measures: candidate sets, rows, stores, an LLM judge."""
