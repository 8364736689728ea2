"""Cases of the options suite: how is decided (the options of `Collector`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gcmem import Memory
from gcmem.detectors.cache import MemoryVerdictCache
from gcmem.detectors.explicit import ExplicitDetector
from tests.contract.option_case import Case, Fresh, Record
from tests.support import ScriptedDetector, slot_rule


def rec(id: str, text: str, when: Any = None, **metadata: Any) -> Record:
    dated = {} if when is None else {"created_at": when}
    return Record(id, text, {**dated, **metadata})


def rule(old: str, new: str) -> Fresh:
    """A detector for which texts with one phrase are replaced by newer texts with another."""
    return Fresh(
        lambda: ScriptedDetector(lambda older, newer: float(old in older and new in newer))
    )


class NothingAlike:
    """A gate that lets no pair pass."""

    def allowed(self, older: Any, newer: Any) -> Any:
        return np.zeros((len(older), len(newer)), dtype=np.bool_)


def _with_gate() -> ScriptedDetector:
    detector = ScriptedDetector(slot_rule)
    detector.gate = NothingAlike()  # type: ignore[attr-defined]
    return detector


def _in_doubt() -> ScriptedDetector:
    """Sure of what is said in capitals, in doubt about the rest; says what says the same."""
    detector = ScriptedDetector(lambda older, newer: slot_rule(older, newer) * doubt(older))
    same = ScriptedDetector(lambda older, newer: older.casefold() == newer.casefold(), name="same")
    apart = ScriptedDetector(lambda older, newer: 0.0, name="apart")
    detector.relation = {"supports": same, "neither": apart}.get  # type: ignore[attr-defined]
    return detector


def doubt(text: str) -> float:
    return 0.9 if "CITY" in text else 0.3


def _broken(older: str, newer: str) -> bool:
    raise ConnectionError


def _sequence(memory: Memory) -> Any:
    return memory.metadata["seq"]


CITY = [rec("old", "city=A", 1), rec("other", "job=x", 1), rec("new", "city=B", 2)]
NOW = {"shown": ["other", "new"], "removed": {"old": "new"}}
TWO = [rec("chunk", "city=A. I like tea.", 1), rec("new", "city=B.", 2)]
HOMES = {"detector": rule("city=A", "city=B")}
COMPOUND = [
    rec("end", "Ola uses the Finch editor and lives in Leeds.", 1),
    rec("front", "Ola lives in Leeds and uses the Finch editor.", 1),
    rec("new", "Ola moved to York.", 2),
]
LINKED = [rec("a", "The office is on floor 2.", 1), rec("b", "It is on 4.", 2, supersedes="a")]
TIED = [rec("one", "city=A", 5, seq=1), rec("two", "city=B", 5, seq=2)]
UNDATED = [rec("undated", "city=A"), rec("dated", "city=B", 2)]
METERS = [
    rec("first", "tea", 1, key="drinks", value="tea"),
    rec("second", "milk", 2, key="drinks", value="milk"),
]
REPEATED = [
    rec("sure", "=CITY A", 1),
    rec("same", "=city a", 2),
    rec("other", "=town a", 3),
    rec("new", "=city b", 9),
]
DOUBTING = {"detector": Fresh(_in_doubt)}
CHAIN = [rec(f"c{n}", f"city={n}", n) for n in range(5)]
UNSURE = Fresh(lambda: ScriptedDetector(lambda older, newer: 0.7, threshold=0.5))

CASES = [
    Case("a detector of one's own", CITY, collector={"detector": UNSURE},
         shown=["new"], removed={"old": "new", "other": "new"}),
    Case("the bundled model is the default",
         [rec("old", "Elena lives in Osaka.", 1),
          rec("new", "Elena moved from Osaka to Bremen.", 2)],
         collector={"detector": None}, shown=["new"], removed={"old": "new"}),
    Case("the explicit rules alone", [*LINKED, *CITY], collector={"detector": "explicit"},
         shown=["b", "old", "other", "new"], removed={"a": "b"}),
    Case("a higher threshold", CITY, collector={"detector": UNSURE, "threshold": 0.8},
         shown=["old", "other", "new"]),
    Case("excise cuts the sentence", TWO, collector={**HOMES, "on_conflict": "excise"},
         shown=["chunk", "new"], texts={"chunk": "I like tea."}),
    Case("excise keeps what is still valid of a compound sentence", COMPOUND,
         collector={"detector": rule("Leeds", "York")}, shown=["end", "front", "new"],
         texts={"end": "Ola uses the Finch editor."},
         added={"front": {"gcmem_contradicted": ["Ola lives in Leeds"]}}),
    Case("drop takes the whole chunk", TWO, collector={**HOMES, "on_conflict": "drop"},
         shown=["new"], removed={"chunk": "new"}),
    Case("annotate keeps and marks", CITY, collector={"on_conflict": "annotate"},
         shown=["old", "other", "new"], removed={"old": "new"},
         added={"old": {"superseded_by": "new", "valid_until": "1970-01-01T00:00:02+00:00"}}),
    Case("annotate marks a sentence", TWO, collector={**HOMES, "on_conflict": "annotate"},
         shown=["chunk", "new"], added={"chunk": {"gcmem_contradicted": ["city=A."]}}),
    Case("report changes nothing", CITY, collector={"on_conflict": "report"},
         shown=["old", "other", "new"], removed={"old": "new"}),
    Case("sentence by sentence", TWO, collector={**HOMES, "granularity": "sentence"},
         shown=["chunk", "new"], texts={"chunk": "I like tea."}),
    Case("the chunk as one", TWO, collector={**HOMES, "granularity": "chunk"},
         shown=["new"], removed={"chunk": "new"}),
    Case("the undated is kept", UNDATED, collector={"undated": "keep"},
         shown=["undated", "dated"], unresolved=[frozenset({"undated", "dated"})]),
    Case("the undated counts as oldest", UNDATED, collector={"undated": "oldest"},
         shown=["dated"], removed={"undated": "dated"}),
    Case("the undated is an error", UNDATED, collector={"undated": "raise"}, error=ValueError),
    Case("a budget of pairs", CHAIN, collector={"max_pairs": 2, "cache": False},
         shown=["c2", "c3", "c4"], removed={"c0": "c4", "c1": "c4"}),
    Case("no time at all", CITY, collector={"deadline": 0.0}, shown=["old", "other", "new"]),
    Case("an error of the detector is raised",
         CITY, collector={"detector": Fresh(lambda: ScriptedDetector(_broken)),
                          "on_error": "raise"}, error=ConnectionError),
    Case("an error of the detector removes nothing",
         CITY, collector={"detector": Fresh(lambda: ScriptedDetector(_broken)),
                          "on_error": "keep"}, shown=["old", "other", "new"]),
    Case("no cache", CITY, collector={"cache": False}, **NOW),
    Case("a cache of one's own", CITY, collector={"cache": Fresh(MemoryVerdictCache)}, **NOW),
    Case("a gate of one's own", CITY, collector={"gate": Fresh(NothingAlike)},
         shown=["old", "other", "new"]),
    Case("the gate of the detector", CITY, collector={"detector": Fresh(_with_gate)},
         shown=["old", "other", "new"]),
    Case("no gate", CITY, collector={"detector": Fresh(_with_gate), "gate": False}, **NOW),
    Case("a second key orders ties", TIED, collector={"tie_breaker": "seq"},
         shown=["two"], removed={"one": "two"}),
    Case("a callable orders ties", TIED, collector={"tie_breaker": _sequence},
         shown=["two"], removed={"one": "two"}),
    Case("without a second key ties stand", TIED, shown=["one", "two"],
         unresolved=[frozenset({"one", "two"})]),
    Case("what restates a superseded statement goes with it", REPEATED, collector=DOUBTING,
         shown=["other", "new"], removed={"sure": "new", "same": "new"}),
    Case("what restates a superseded statement goes with it, as asked", REPEATED,
         collector={**DOUBTING, "cross_check": True},
         shown=["other", "new"], removed={"sure": "new", "same": "new"}),
    Case("each statement by its own verdict alone", REPEATED,
         collector={**DOUBTING, "cross_check": False},
         shown=["same", "other", "new"], removed={"sure": "new"}),
    Case("each statement by its own verdict alone in the paper's mode", REPEATED,
         collector={**DOUBTING, "granularity": "chunk", "on_conflict": "drop"},
         shown=["same", "other", "new"], removed={"sure": "new"}),
    Case("one value a slot", METERS, shown=["second"], removed={"first": "second"}),
    Case("slots of several values", METERS,
         collector={"explicit": ExplicitDetector(multi_valued=["drinks"])},
         shown=["first", "second"]),
]  # fmt: skip
