"""Cases of the options suite: how metadata, time and scope are read."""

from __future__ import annotations

from typing import Any

from gcmem import Collector
from tests.contract.option_case import Case, Fresh
from tests.contract.option_cases_deciding import CITY, NOW, rec
from tests.support import ScriptedDetector, slot_rule


def stamped(key: str, first: Any, second: Any) -> list[Any]:
    return [rec("old", "city=A", **{key: first}), rec("new", "city=B", **{key: second})]


def mentions_past(query: str) -> bool:
    return "once" in query


ONE = {"shown": ["new"], "removed": {"old": "new"}}
BOTH = {"shown": ["old", "new"], "unresolved": [frozenset({"old", "new"})]}
DAYS = [rec("old", "city=A", "2025-01-01"), rec("new", "city=B", "2026-01-01")]
UNTIL = "2026-01-01T00:00:00+00:00"
MARKED = {
    "shown": ["old", "new"],
    "removed": {"old": "new"},
    "added": {"old": {"superseded_by": "new", "valid_until": UNTIL}},
}
THEN = {"shown": ["old"], "hidden": ["new"]}
EVENT_BEFORE_INGEST = [
    rec("new", "city=B", said_at="2026-01-01", stored_at="2026-02-01"),
    rec("old", "city=A", said_at="2025-01-01", stored_at="2026-03-01"),
    rec("third", "pet=x", stored_at="2026-03-01"),
]
TENANTS = [
    rec("a1", "city=A", 1, user="a"),
    rec("b1", "city=B", 2, user="b"),
    rec("a2", "city=C", 3, user="a"),
    rec("b0", "job=x", 1, user="b"),
]
VERSIONS = [
    rec("p1", "fee=1", 1, doc="guide", edition="1"),
    rec("p2", "fee=2", 2, doc="guide", edition="1"),
    rec("p3", "fee=3", 3, doc="guide", edition="2"),
]
METER = [
    rec("r1", "0412", 1, meter="M1", reading="412"),
    rec("r2", "0460", 2, meter="M1", reading="460"),
    rec("r3", "0007", 3, meter="M2", reading="7"),
]
RANKED = [rec("staff", "fee=1", 1, rank=2), rec("guest", "fee=2", 2, rank=1)]
VALID = [
    rec("ended", "code=1", "2026-01-01", valid_until="2026-02-01"),
    rec("rate", "rate=80", "2026-03-01"),
    rec("later", "rate=95", "2026-11-15", valid_from="2027-01-01"),
]

CASES = [
    Case("the default collector", [rec("old", "Elena lives in Osaka.", 1),
                                   rec("new", "Elena moved from Osaka to Bremen.", 2)],
         options={"collector": None}, **ONE),
    Case("a collector of one's own", CITY, **NOW,
         options={"collector": Fresh(lambda: Collector(ScriptedDetector(slot_rule)))}),
    Case("another key of the time", stamped("at", 1, 2), options={"timestamp_key": "at"}, **ONE),
    Case("event time before ingest time", EVENT_BEFORE_INGEST,
         options={"timestamp_key": ["said_at", "stored_at"]},
         shown=["new", "third"], removed={"old": "new"}),
    Case("ingest time before event time", EVENT_BEFORE_INGEST,
         options={"timestamp_key": ["stored_at", "said_at"]},
         shown=["old", "third"], removed={"new": "old"}),
    Case("without a time under the key", stamped("at", 1, 2), **BOTH),
    *[
        Case(f"a number counts {unit}", stamped("created_at", 10 * ticks, 20 * ticks),
             options={"timestamp_unit": unit, "as_of": "1970-01-01T00:00:15Z"}, **THEN)
        for unit, ticks in (("s", 1), ("ms", 1_000), ("us", 1_000_000), ("ns", 1_000_000_000))
    ],
    Case("scopes are never compared", TENANTS, options={"scope_keys": ["user"]},
         shown=["b1", "a2", "b0"], removed={"a1": "a2"}),
    Case("one document version", VERSIONS,
         options={"source_key": "doc", "version_key": "edition"},
         shown=["p3"], removed={"p1": "p3", "p2": "p3"}),
    Case("one document version stands", VERSIONS[:2],
         options={"source_key": "doc", "version_key": "edition"}, shown=["p1", "p2"]),
    Case("slots", METER, options={"slot_key": "meter", "value_key": "reading"},
         shown=["r2", "r3"], removed={"r1": "r2"}),
    Case("slots whose text is the value", METER, options={"slot_key": "meter"},
         shown=["r2", "r3"], removed={"r1": "r2"}),
    Case("slots of equal values", [rec("r1", "read 412", 1, meter="M1", reading="412"),
                                   rec("r2", "it says 412", 2, meter="M1", reading="412")],
         options={"slot_key": "meter", "value_key": "reading"}, shown=["r1", "r2"]),
    Case("authority", RANKED, options={"authority_key": "rank"}, shown=["staff", "guest"],
         unresolved=[frozenset({"staff", "guest"})]),
    Case("as of a time", DAYS, options={"as_of": "2025-06-01"}, **THEN),
    Case("as of a time, for one call", DAYS, call={"as_of": "2025-06-01"}, **THEN),
    Case("as of now, for one call", DAYS, options={"as_of": "2025-06-01"},
         call={"as_of": None}, **ONE),
    Case("validity that ends and begins", VALID, options={"as_of": "2026-11-30"},
         shown=["rate", "later"], removed={"ended": None}),
    Case("validity that has begun", VALID, options={"as_of": "2027-02-01"},
         shown=["later"], removed={"ended": None, "rate": "later"}),
    Case("history annotates", DAYS, options={"history": True}, **MARKED),
    Case("no history", DAYS, options={"history": False}, query="Where was it before?", **ONE),
    Case("history of a question about the past", DAYS, options={"history": "auto"},
         query="Where did Ann live before?", **MARKED),
    Case("no history of a question about now", DAYS, options={"history": "auto"},
         query="Where does Ann live?", **ONE),
    Case("history by a callable", DAYS, options={"history": mentions_past},
         query="Where did Ann once live?", **MARKED),
    Case("no history by a callable", DAYS, options={"history": mentions_past},
         query="Where does Ann live?", **ONE),
    Case("history, for one call", DAYS, call={"history": True}, **MARKED),
    Case("no history, for one call", DAYS, options={"history": True}, call={"history": False},
         **ONE),
]  # fmt: skip
