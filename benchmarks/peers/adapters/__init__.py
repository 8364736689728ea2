"""One script and one list of requirements per peer; each script runs in its peer's environment."""
