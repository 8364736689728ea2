"""Cases of the options suite: what is retrieved, looked up, remembered and cut."""

from __future__ import annotations

from typing import Any

import numpy as np

from gcmem import Memory, ShortTermMemory
from tests.contract.option_case import Case, Fresh
from tests.contract.option_cases_deciding import rec, rule
from tests.contract.option_cases_reading import TENANTS


def recent(*memories: Memory) -> Fresh:
    def make() -> ShortTermMemory:
        short_term = ShortTermMemory(5)
        short_term.extend(memories)
        return short_term

    return Fresh(make)


def two_more(query: str) -> list[str]:
    return ["jobs", " ", query, "pets"]


async def two_more_later(query: str) -> list[str]:
    return two_more(query)


class OneTopic:
    """A gate for which everything is about one thing."""

    def allowed(self, older: Any, newer: Any) -> Any:
        return np.ones((len(older), len(newer)), dtype=np.bool_)


STREAM = [
    rec("a", "city=A", 1),
    rec("b", "job=x", 1),
    rec("c", "pet=y", 1),
    rec("d", "city=D", 4),
]
QUERIES = {"q": ["a"], "jobs": ["b", "c"], "pets": ["c", "d"]}
OFFICE = [
    rec("old", "office on floor 2", 1),
    rec("new", "new rooms on 4", 2),
    rec("wall", "lunch at noon", 1),
]
OFFICE_FINDS = {"q": ["old", "wall"], "office on floor 2 lunch at noon": ["old", "new"]}
MOVED = {"detector": rule("floor 2", "new rooms"), "gate": Fresh(OneTopic)}
SAID = Memory("city=Z", 90, id="said", metadata={"role": "user"})
SAID_BY_A = Memory("city=Z", 90, id="said", scope={"user": "a"})
WHEN = "1970-01-01T00:01:30+00:00"

CASES = [
    Case("room for k", STREAM, options={"k": 2}, shown=["b", "d"], removed={"a": "d"},
         in_any_order=False),
    Case("room for k, for one call", STREAM, options={"k": 2}, call={"k": 1}, shown=["d"],
         removed={"a": "d"}, in_any_order=False),
    Case("room for all, for one call", STREAM, options={"k": 1}, call={"k": None},
         shown=["b", "c", "d"], removed={"a": "d"}, in_any_order=False),
    Case("as many as the base retriever shows", STREAM, base_k=2, shown=["b", "d"],
         removed={"a": "d"}, in_any_order=False),
    Case("fetch as many as told", STREAM, options={"fetch_k": 3}, base_k=2, shown=["a", "b"],
         in_any_order=False),
    Case("fetch as many as told, for one call", STREAM, call={"fetch_k": 3}, base_k=2,
         shown=["a", "b"], in_any_order=False),
    Case("fetch less than the base retriever gives", STREAM, options={"k": 1, "fetch_k": 2},
         base_k=3, shown=["a"], in_any_order=False),
    Case("fetch less than shown is an error", STREAM, options={"k": 3, "fetch_k": 2},
         error=ValueError),
    Case("no room is an error", STREAM, options={"k": 0}, error=ValueError),
    Case("only one scope", TENANTS, options={"scope_keys": ["user"], "scope": {"user": "b"}},
         shown=["b1", "b0"]),
    Case("only one scope, for one call", TENANTS, options={"scope_keys": ["user"]},
         call={"scope": {"user": "a"}}, shown=["a2"], removed={"a1": "a2"}),
    Case("every scope, for one call", TENANTS,
         options={"scope_keys": ["user"], "scope": {"user": "a"}}, call={"scope": None},
         shown=["b1", "a2", "b0"], removed={"a1": "a2"}),
    Case("short-term memory is judged and shown in addition", STREAM,
         options={"short_term": recent(SAID), "k": 1}, shown=["b", "said"],
         removed={"a": "said", "d": "said"}, texts={"said": "city=Z"},
         added={"said": {"role": "user", "created_at": WHEN}}, in_any_order=False),
    Case("short-term memory of one scope", TENANTS,
         options={"short_term": recent(SAID_BY_A, SAID), "scope_keys": ["user"],
                  "scope": {"user": "a"}},
         shown=["said"], removed={"a1": "said", "a2": "said"}, texts={"said": "city=Z"},
         added={"said": {"user": "a", "created_at": WHEN}}),
    Case("short-term memory holds what was retrieved", STREAM[:3],
         options={"short_term": recent(Memory("city=A", 1, id="a"), Memory("pet=y", 1))},
         shown=["a", "b", "c"]),
    Case("an expander", STREAM, options={"query_expander": two_more}, finds=QUERIES,
         shown=["c", "b", "d"], removed={"a": "d"}, in_any_order=False),
    Case("an asynchronous expander", STREAM, options={"query_expander": two_more_later},
         finds=QUERIES, shown=["c", "b", "d"], removed={"a": "d"}, in_any_order=False),
    Case("an expander that gives one text is an error", STREAM,
         options={"query_expander": lambda query: "jobs"}, error=TypeError),
    Case("a look-up for what is newer", OFFICE, options={"head_lookup": True}, collector=MOVED,
         finds=OFFICE_FINDS, shown=["new", "wall"], removed={"old": "new"}, in_any_order=False),
    Case("a look-up finds nothing that was not yet known", OFFICE, collector=MOVED,
         options={"head_lookup": True, "as_of": "1970-01-01T00:00:01.500Z"},
         finds=OFFICE_FINDS, shown=["old", "wall"]),
    Case("no look-up", OFFICE, collector=MOVED, finds=OFFICE_FINDS, shown=["old", "wall"]),
]  # fmt: skip
