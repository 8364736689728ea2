"""A purge erases the short-term memory that is kept in the ledger's database, on a server too."""

from __future__ import annotations

import pytest

from gcmem import Memory, ShortTermMemory
from gcmem.precedents import PrecedentLedger


@pytest.mark.integration
def test_a_purge_on_a_server_erases_the_chunks_of_exactly_that_scope(postgres_url):
    recent = ShortTermMemory(2, url=postgres_url)
    for scope in ("ann", ("ann", "work")):
        recent.extend(Memory(text, 1, scope=scope) for text in ("a", "b", "c"))
    with PrecedentLedger(postgres_url) as ledger:
        done = ledger.purge("ann")
        assert done.chunks == 2
        assert ledger.purges() == [done]
    assert recent.recent("ann") == []
    assert [memory.text for memory in recent.recent(("ann", "work"))] == ["b", "c"]
    recent.clear(("ann", "work"))
    assert recent.recent(("ann", "work")) == []
    recent.close()
