"""The detectors that are measured side by side, those that ask a language model among them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from benchmarks.options import Parser
from gcmem import Collector, load_detector
from gcmem.detectors import CascadeDetector, Detector, LLMDetector, SQLiteVerdictCache
from gcmem.detectors.cache import MemoryVerdictCache

LLM: Final = "llm"
CASCADE: Final = "cascade"
_ASKING: Final = (LLM, CASCADE)


def add_options(parser: Parser) -> None:
    """Add the options that choose detectors."""
    parser.add_argument(
        "--detectors",
        nargs="+",
        default=["explicit", "bundled"],
        metavar="NAME",
        help='for load_detector; with --llm-url and --llm-model also "llm", the model itself '
        'behind the bundled gate, and "cascade", which asks it where the bundled detector is '
        "unsure (default: explicit bundled)",
    )
    parser.add_place("--verdicts", "FILE", help="keeps verdicts between runs; times are warm")


def chosen_judges(
    parser: Parser, chosen: argparse.Namespace, chat: Any | None, *, ungated: bool = False
) -> dict[str, Collector]:
    """Give the collectors that were chosen; what does not fit ends the run here."""
    detectors: dict[str, Detector] = {}
    for name in chosen.detectors:
        if name not in _ASKING:
            detectors[name] = parser.detector("--detectors", name)
        elif chat is None:
            parser.error(f"--detectors {name} needs --llm-url and --llm-model")
        else:
            detectors[name] = asking(name, chat, model=chosen.llm_model)
    return collectors(detectors, verdicts=chosen.verdicts, ungated=ungated)


def asking(name: str, chat: Any, *, model: str) -> Detector:
    """Give a detector that asks a chat model, which it has for itself, so that its calls count."""
    judge = LLMDetector(chat, name=model)
    return judge if name == LLM else CascadeDetector(load_detector("bundled"), judge)


def collectors(
    detectors: Mapping[str, Detector], *, verdicts: Path | None = None, ungated: bool = False
) -> dict[str, Collector]:
    """Collectors by detector; those of one detector share their verdicts.

    Errors of a detector are counted, not raised. A model also runs as the paper's Phi_T to the
    letter (whole chunks, dropped) and, where wanted, without its gate.

    Args:
        detectors: By the name that the figures call them.
        verdicts: File that keeps verdicts between runs, or None.
        ungated: Whether to add the variant without a gate.
    """
    cache = MemoryVerdictCache() if verdicts is None else SQLiteVerdictCache(str(verdicts))
    made: dict[str, Collector] = {}
    for name, detector in detectors.items():
        shared: dict[str, Any] = {"cache": cache, "on_error": "keep"}
        gated = shared | ({"gate": _bundled_gate()} if isinstance(detector, LLMDetector) else {})
        made[name] = Collector(detector, **gated)
        if name != "explicit":
            made[f"{name}, whole chunks"] = Collector(
                detector, granularity="chunk", on_conflict="drop", **gated
            )
            if ungated:
                made[f"{name}, no gate"] = Collector(detector, gate=False, **shared)
    return made


def _bundled_gate() -> Any:
    gate = getattr(load_detector("bundled"), "gate", None)
    if gate is None:
        raise ValueError("the bundled detector has no gate for the language model.")
    return gate


def costs(judges: Mapping[str, Collector]) -> dict[str, dict[str, Any]]:
    """Give what the detectors that ask a model have cost, their variants included."""
    found: dict[str, dict[str, Any]] = {}
    for name in _ASKING:
        if name not in judges:
            continue
        detector = judges[name].detector
        judge = detector.second if isinstance(detector, CascadeDetector) else detector
        usage = asdict(judge.usage) if isinstance(judge, LLMDetector) else {}
        found[name] = {key.replace("_", " "): value for key, value in usage.items()}
        if isinstance(detector, CascadeDetector):
            found[name]["pairs: bundled, model"] = list(detector.judged)
    return found
