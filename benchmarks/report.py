"""Rebuilds the README's tables from benchmarks/results/*.json; a table without a file goes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.results import FOLDER

README = Path(__file__).parents[1] / "README.md"
_BLOCK = re.compile(r"(<!-- results:(\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def field(content: dict[str, Any]) -> str:
    rows = []
    for name, result in content["results"].items():
        total = result["total"]
        rows.append(
            f"| {name} | {total['passed']}/{total['cases']} | "
            f"{total['stale_dropped']}/{total['stale']} | "
            f"{total['needed_kept']}/{total['needed']} |"
        )
    return _table("| method | cases passed | stale dropped | needed kept |", rows)


def latency(content: dict[str, Any]) -> str:
    rows = [
        f"| {row['k']} | {row['words']} | {row['share judged']:.0%} | "
        f"{row['cold is faster by']:.1f}x | {row['warm is faster by']:.0f}x |"
        for row in content["results"]["rows"]
    ]
    return _table("| k | words per chunk | pairs judged | faster, cold | faster, warm |", rows)


def streams(content: dict[str, Any]) -> str:
    rows = [
        f"| {row['threshold']:.2f} | {row['stale exposure']:.1%} | {row['over-deletion']:.1%} |"
        for row in content["results"]
    ]
    return _table("| threshold | stale still shown | true removed |", rows)


def drift(content: dict[str, Any]) -> str:
    settings = content["results"]["settings"]
    rows = []
    for method in content["config"]["methods"]:
        found = [settings[name]["methods"].get(method) for name in settings]
        cells = ["-" if each is None else f"{each['reversal']['success']:.3f}" for each in found]
        rows.append(f"| {method} | {' | '.join(cells)} |")
    return _table(f"| memory | {' | '.join(settings)} |", rows)


TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "drift": drift,
    "field": field,
    "latency": latency,
    "streams": streams,
}


def _table(header: str, rows: list[str]) -> str:
    columns = header.count("|") - 1
    return "\n".join([header, "|" + "---|" * columns, *rows]) + "\n"


def main(arguments: list[str]) -> None:
    def renewed(block: re.Match[str]) -> str:
        name = block[2]
        path = FOLDER / f"{name}.json"
        if not path.exists() or name not in TABLES:
            return block[1] + block[3]
        content = json.loads(path.read_text(encoding="utf-8"))
        return f"{block[1]}{TABLES[name](content)}{block[3]}"

    text = README.read_text(encoding="utf-8")
    README.write_text(_BLOCK.sub(renewed, text), encoding="utf-8")
    print(f"renewed {README.name} from {len(_BLOCK.findall(text))} results")
