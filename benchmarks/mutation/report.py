"""Tables and figures of the temporal-mutation experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import pictures
from benchmarks.mutation.instances import Instance, leakage

_DRAWN = {
    "standard": ("tab:red", "o"),
    "timestamp re-rank": ("tab:orange", "v"),
    "GC-Mem, bundled": ("tab:green", "s"),
    "GC-Mem, oracle": ("black", "^"),
}


def show_sets(made: Mapping[str, Sequence[Instance]]) -> dict[str, Any]:
    """Print and give what the sets hold, with their keyword leakage."""
    table = Table(title="Sets of instances", caption="leakage: of the state's label into its words")
    for column in ("set", "instances", "chunks", "old", "new", "leaks a word", "leaks the label"):
        table.add_column(column, justify="left" if column == "set" else "right")
    found = {}
    for name, instances in made.items():
        chunks = [chunk for instance in instances for chunk in instance.chunks]
        leaks = leakage(instances)
        kinds = {kind: sum(i.kind == kind for i in instances) for kind in ("chain", "flip")}
        found[name] = {
            "instances": len(instances),
            "chunks": len(chunks),
            "wordings of a state's statements": sum(i.wordings for i in instances),
            "attributes": len({i.family for i in instances}),
            **kinds,
            "leakage": leaks,
        }
        table.add_row(
            name,
            str(len(instances)),
            str(len(chunks)),
            str(sum(chunk.role == "old" for chunk in chunks)),
            str(sum(chunk.role == "new" for chunk in chunks)),
            f"{leaks['a word']:.1%}",
            f"{leaks['the whole label']:.1%}",
        )
    Console().print(table)
    return found


def show_methods(title: str, found: Mapping[str, Mapping[str, Any]]) -> None:
    """Print every method over all instances of one set and condition."""
    table = Table(
        title=title,
        caption="CR-Acc: majority reader, forced choice (95 % interval); unclear allowed; "
        "first: a reader who trusts the order. Removed per instance.",
    )
    table.add_column("method", no_wrap=True)
    for column in (
        "CR-Acc",
        "95 %",
        "delta",
        "unclear",
        "first",
        "removed",
        "stale",
        "new",
        "other",
        "err",
        "ms",
    ):
        table.add_column(column, justify="right")
    for method, groups in found.items():
        row = groups["all"]
        table.add_row(
            method,
            f"{row['CR-Acc']:.1%}",
            "{:.0%}-{:.0%}".format(*row["CR-Acc, 95 %"]),
            f"{row['delta']:+.1%}",
            f"{row['CR-Acc, allow-unclear']:.1%}",
            f"{row['CR-Acc, first']:.1%}",
            f"{row['removed']:.2f}",
            f"{row['stale removed']:.2f}",
            f"{row['new removed']:.2f}",
            f"{row['distractors removed']:.2f}",
            f"{row['errors']:.0%}",
            f"{1000 * row['seconds']:.0f}",
        )
    console = Console(width=max(Console().width, 126))
    console.print(table)
    every = next(iter(found.values()))["all"]
    recalls = ", ".join(f"{r} {every[f'recall {r}']:.1%}" for r in ("old", "new", "distractor"))
    console.print(f"R_k: {every['candidates']:.1f} chunks; recall of {recalls}\n")
    show_language_reader(title, {method: groups["all"] for method, groups in found.items()})


def show_language_reader(title: str, rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Print what a language model made of the methods that it read with, if it read any."""
    read = [
        (method, mode.removeprefix("LLM, "), row[mode])
        for method, row in rows.items()
        for mode in row
        if mode.startswith("LLM, ")
    ]
    if not read:
        return
    table = Table(
        title=f"{title}: language model",
        caption="Shares of the answers that are no error (95 % interval); delta to standard.",
    )
    for column in ("method", "mode"):
        table.add_column(column, no_wrap=True)
    for column in ("CR-Acc", "95 %", "delta", "old", "distractor", "unclear", "errors", "of"):
        table.add_column(column, justify="right")
    for method, mode, row in read:
        counts = (str(row["errors"]), str(row["instances"]))
        if row["CR-Acc"] is None:
            table.add_row(method, mode, *["-"] * 6, *counts)
            continue
        table.add_row(
            method,
            mode,
            f"{row['CR-Acc']:.1%}",
            "{:.0%}-{:.0%}".format(*row["CR-Acc, 95 %"]),
            f"{row['delta']:+.1%}" if "delta" in row else "-",
            *(f"{row[answer]:.1%}" for answer in ("old", "distractor", "unclear")),
            *counts,
        )
    Console().print(table)


def axes(columns: int) -> tuple[Any, Any] | None:
    """A figure with axes side by side, or None where matplotlib (extra ``bench``) is missing."""
    try:
        import matplotlib as mpl
    except ImportError:
        print("no figure: matplotlib is not installed (extra 'bench').")
        return None
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt.subplots(1, columns, figsize=(5 * columns, 3.8), squeeze=False)


def save(figure: Any, numbers: Path) -> None:
    """Write a figure beside the file of the numbers."""
    path = numbers.with_suffix(".png")
    figure.tight_layout()
    pictures.save(figure, path)
    print(f"figure: {path.name}")


def draw_ratios(numbers: Path, panels: Mapping[str, Mapping[str, Any]]) -> None:
    """CR-Acc over N:M, one panel per condition."""
    drawn = axes(len(panels))
    if drawn is None:
        return
    figure, grid = drawn
    for panel, (title, found) in zip(grid[0], panels.items(), strict=True):
        for method, (colour, marker) in _DRAWN.items():
            if method not in found:
                continue
            ratios = sorted(
                (g for g in found[method] if ":" in g), key=lambda g: int(g.split(":")[0])
            )
            rows = [found[method][ratio] for ratio in ratios]
            middle = [row["CR-Acc"] for row in rows]
            panel.plot(ratios, middle, color=colour, marker=marker, label=method)
            bounds = list(zip(*(row["CR-Acc, 95 %"] for row in rows), strict=True))
            panel.fill_between(ratios, bounds[0], bounds[1], color=colour, alpha=0.12)
        panel.set(title=title, xlabel="old : new", ylabel="CR-Acc (majority reader)")
        panel.set_ylim(-0.03, 1.03)
    grid[0][0].legend()
    save(figure, numbers)
