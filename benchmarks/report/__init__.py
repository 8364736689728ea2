"""Rebuilds the tables and figures of both READMEs from benchmarks/results/*.json.

Between ``<!-- results:NAME -->`` and ``<!-- end -->`` stands what `benchmarks.report.tables` makes
of ``NAME.json``, and its figure. ``overview`` (a line per experiment) and ``weak`` (what did not
come out) are made of all files. What has no file stays empty; a file without a field is an error.
"""

from __future__ import annotations

from benchmarks.report.command import main

__all__ = ["main"]
