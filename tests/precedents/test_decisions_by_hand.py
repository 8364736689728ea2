"""revoke, restore, pin, unpin: restore is the exact inverse of revoke."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine, text

from gcmem.precedents import (
    Cause,
    PrecedentLedger,
    PrecedentStateError,
    State,
    UnknownPrecedentError,
)


def test_restore_brings_back_the_public_record(ledger):
    ledger.observe("city", "Kiel", at="2026-01-01", authority=1.5)
    for success in (True, False, True):
        ledger.outcome("city", success, at="2026-01-02")
    (before,) = ledger.active()
    ledger.revoke(before.id, "by mistake")
    assert ledger.active() == []
    ledger.restore(before.id)
    assert ledger.active() == [before]
    assert repr(ledger.get(before.id)) == repr(before)


def test_restore_brings_back_every_byte_of_the_stored_row(tmp_path):
    url = f"sqlite:///{tmp_path / 'memory.db'}"

    def row() -> tuple[object, ...]:
        engine = create_engine(url)
        with engine.connect() as connection:
            found = connection.execute(text("SELECT * FROM gcmem_precedent")).one()
        engine.dispose()
        return tuple(found)

    with PrecedentLedger(url) as ledger:
        ledger.observe("tool", "pandas", evidence="inferred")
        ledger.observe("tool", "pandas")
        ledger.outcome("tool", False)
        kept = ledger.active()[0].id
        ledger.pin(kept)
        before = row()
        ledger.revoke(kept, "trying")
        assert row() != before
        ledger.restore(kept)
        assert row() == before


def test_the_audit_trail_shows_both(ledger):
    ledger.observe("city", "Kiel")
    kept = ledger.active()[0].id
    (fall,) = ledger.revoke(kept, "the user asked")
    (rise,) = ledger.restore(kept)
    assert (fall.cause, fall.reason) == (Cause.REVOKED_BY_HAND, "the user asked")
    assert (rise.cause, rise.after) == (Cause.RESTORED, State.ACTIVE)
    assert ledger.history("city")[-2:] == [fall, rise]


def test_a_hypothesis_is_restored_as_a_hypothesis_even_beside_an_active_value(ledger):
    ledger.observe("city", "Berlin", evidence="inferred")
    guess = ledger.hypotheses()[0]
    ledger.revoke(guess.id, "wrong")
    ledger.observe("city", "Kiel")
    ledger.restore(guess.id)
    assert ledger.hypotheses() == [guess]


def test_evidence_between_revoke_and_restore_is_kept(paper_ledger):
    for _ in range(3):
        paper_ledger.observe("tool", "pandas")
    kept = paper_ledger.active()[0].id
    paper_ledger.revoke(kept, "trying")
    paper_ledger.observe("tool", "pandas")
    paper_ledger.restore(kept)
    (active,) = paper_ledger.active()
    assert (active.support, active.recent) == (4, (True, True, True, True))


def test_fresh_evidence_promotes_what_was_revoked_by_hand(paper_ledger):
    for _ in range(3):
        paper_ledger.observe("tool", "pandas")
    paper_ledger.revoke(paper_ledger.active()[0].id, "trying")
    for _ in range(2):
        paper_ledger.observe("tool", "pandas")
    assert paper_ledger.active() == []
    paper_ledger.observe("tool", "pandas")
    assert [item.support for item in paper_ledger.active()] == [6]


def test_restoring_beside_another_active_value_is_an_error_that_names_it(ledger):
    ledger.observe("city", "Ulm")
    ledger.observe("city", "Kiel")
    (old,) = ledger.archive()
    with pytest.raises(PrecedentStateError, match=r"'Ulm'.*'Kiel'.*first"):
        ledger.restore(old.id)
    ledger.revoke(ledger.active()[0].id, "the move was off")
    ledger.restore(old.id)
    assert [item.value for item in ledger.active()] == ["Ulm"]


def test_restoring_what_evidence_revoked_keeps_the_counts_and_is_no_longer_fragile(ledger):
    ledger.observe("wifi", "amber")
    for _ in range(3):
        ledger.outcome("wifi", False)
    (fallen,) = ledger.archive()
    ledger.restore(fallen.id)
    (active,) = ledger.active()
    assert (active.support, active.conflict) == (1, 3)
    ledger.outcome("wifi", False)
    assert [item.value for item in ledger.active()] == ["amber"]


def test_decisions_survive_the_process_and_late_evidence(tmp_path):
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    with PrecedentLedger(url) as ledger:
        ledger.observe("city", "Kiel", at="2026-02-01")
        ledger.revoke(ledger.active()[0].id, "trying", at="2026-02-02")
    with PrecedentLedger(url) as ledger:
        ledger.observe("city", "Ulm", at="2026-01-01")
        assert ledger.active() == []
        kiel = next(item for item in ledger.archive() if item.value == "Kiel")
        ledger.restore(kiel.id, at="2026-02-03")
        assert [item.value for item in ledger.active()] == ["Kiel"]


def test_impossible_decisions_are_errors(ledger):
    ledger.observe("city", "Kiel")
    kept = ledger.active()[0].id
    with pytest.raises(PrecedentStateError, match="not Revoked"):
        ledger.restore(kept)
    with pytest.raises(PrecedentStateError, match="not pinned"):
        ledger.unpin(kept)
    ledger.revoke(kept, "x")
    with pytest.raises(PrecedentStateError, match="Revoked already"):
        ledger.revoke(kept, "x")
    with pytest.raises(PrecedentStateError, match="not Active"):
        ledger.pin(kept)
    with pytest.raises(ValueError, match="reason must not be blank"):
        ledger.revoke(kept, "  ")


@pytest.mark.parametrize("unknown", ["0", "999", "x", "", "-1", "1" * 40, "٣"])
def test_an_unknown_id_is_an_error_with_that_name(ledger, unknown):
    for call in (
        ledger.get,
        ledger.explain,
        ledger.restore,
        ledger.pin,
        ledger.unpin,
        lambda number: ledger.revoke(number, "x"),
    ):
        with pytest.raises(UnknownPrecedentError):
            call(unknown)
