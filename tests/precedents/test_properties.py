"""Laws of the ledger that hold for every sequence of evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gcmem.precedents import LifecyclePolicy, Observation, Outcome, Precedent, PrecedentLedger

START = datetime(2026, 1, 1, tzinfo=UTC)
POLICIES = {
    "default": LifecyclePolicy(),
    "tepa_rev": LifecyclePolicy.tepa_rev(),
    "eager": LifecyclePolicy.tepa_rev(theta_propose=1, n_recent=1, window=2),
    "no_revocation": LifecyclePolicy.no_revocation(),
    "last_write_wins": LifecyclePolicy.last_write_wins(),
    "append_only": LifecyclePolicy.append_only(),
    "sliding_window": LifecyclePolicy.sliding_window(2),
    "reactive": LifecyclePolicy.reactive(),
}


KINDS = ["testimony", "inferred", "guess", "success", "failure", "failure", "correct"]


@dataclass(frozen=True)
class Told:
    value: str | None
    kind: str
    authority: float | None

    def tell(self, ledger: PrecedentLedger, minute: int) -> None:
        at = START + timedelta(minutes=minute)
        if self.kind == "correct":
            value = self.value or "a"
            ledger.correct("k", value, reason="x", at=at, authority=self.authority)
        elif self.kind in {"success", "failure"}:
            good = self.kind == "success"
            ledger.outcome("k", good, value=self.value, at=at, authority=self.authority)
        else:
            kind: Any = self.kind
            ledger.observe("k", self.value or "a", at=at, evidence=kind, authority=self.authority)


told = st.builds(
    Told,
    st.sampled_from(["a", "b", "c", None]),
    st.sampled_from(KINDS),
    st.sampled_from([None, None, None, 0.0, 1.0]),
)
sequences = st.lists(told, min_size=1, max_size=14)
names = st.sampled_from(sorted(POLICIES))


def opened(policy: LifecyclePolicy, cardinality: str = "single") -> PrecedentLedger:
    ledger = PrecedentLedger("sqlite://", policy)
    if cardinality != "single":
        ledger.define_key("k", cardinality=cardinality)
    return ledger


def everything(ledger: PrecedentLedger) -> list[Precedent]:
    found = ledger.active() + ledger.archive() + ledger.hypotheses()
    return sorted((replace(item, id="") for item in found), key=lambda item: item.value)


@settings(max_examples=30, deadline=None)
@given(sequences, names, st.sampled_from(["single", "immutable"]), st.randoms())
def test_any_order_of_arrival_of_evidence_with_distinct_times_gives_the_same_state(
    sequence, name, cardinality, random
):
    order = list(enumerate(sequence))
    with (
        opened(POLICIES[name], cardinality) as straight,
        opened(POLICIES[name], cardinality) as shuffled,
    ):
        for minute, item in order:
            item.tell(straight, minute)
        random.shuffle(order)
        for minute, item in order:
            item.tell(shuffled, minute)
        assert everything(shuffled) == everything(straight)


@settings(max_examples=20, deadline=None)
@given(sequences, names)
def test_as_of_is_what_a_ledger_that_knows_no_more_would_say(sequence, name):
    cut = len(sequence) // 2
    with opened(POLICIES[name]) as whole, opened(POLICIES[name]) as part:
        for minute, item in enumerate(sequence):
            item.tell(whole, minute)
            if minute <= cut:
                item.tell(part, minute)
        then = [replace(item, id="") for item in whole.active(as_of=START + timedelta(minutes=cut))]
        assert then == [replace(item, id="") for item in part.active()]


@settings(max_examples=20, deadline=None)
@given(sequences, names)
def test_the_stored_state_is_what_the_evidence_says_when_it_is_read_again(sequence, name):
    with opened(POLICIES[name]) as ledger:
        for minute, item in enumerate(sequence):
            item.tell(ledger, minute)
        assert ledger.active(as_of=START + timedelta(days=1)) == ledger.active()


@settings(max_examples=30, deadline=None)
@given(sequences, st.sampled_from(["default", "tepa_rev", "eager", "last_write_wins", "reactive"]))
def test_at_most_one_value_of_a_single_valued_key_is_active(sequence, name):
    with opened(POLICIES[name]) as ledger:
        for minute, item in enumerate(sequence):
            item.tell(ledger, minute)
            assert len(ledger.active()) <= 1


@settings(max_examples=20, deadline=None)
@given(sequences, names)
def test_restore_is_the_exact_inverse_of_revoke(sequence, name):
    with opened(POLICIES[name]) as ledger:
        for minute, item in enumerate(sequence):
            item.tell(ledger, minute)
        before = ledger.active() + ledger.hypotheses()
        for item in before:
            ledger.revoke(item.id, "trying")
            ledger.restore(item.id)
        after = ledger.active() + ledger.hypotheses()
        assert [repr(item) for item in after] == [repr(item) for item in before]


@settings(max_examples=20, deadline=None)
@given(sequences, names)
def test_a_batch_is_the_same_as_one_at_a_time(sequence, name):
    items: list[Any] = [
        Observation(
            "k",
            item.value or "a",
            at=START + timedelta(minutes=minute),
            evidence="inferred" if item.kind == "failure" else "testimony",
            authority=item.authority,
        )
        for minute, item in enumerate(sequence)
    ]
    with opened(POLICIES[name]) as batch, opened(POLICIES[name]) as single:
        together = batch.observe_many(items)
        apart = [change for item in items for change in single.observe_many([item])]
        assert together == apart
        assert everything(batch) == everything(single)


@settings(max_examples=20, deadline=None)
@given(sequences)
def test_support_is_the_number_of_observations_of_the_value(sequence):
    with opened(LifecyclePolicy()) as ledger:
        for minute, item in enumerate(sequence):
            item.tell(ledger, minute)
        named = [
            item.value or "a"
            for item in sequence
            if item.kind in {"testimony", "inferred", "guess", "correct"}
            or (item.kind == "success" and item.value)
        ]
        unnamed = [item for item in sequence if item.kind == "success" and not item.value]
        for item in everything(ledger):
            counted = named.count(item.value)
            assert counted <= item.support <= counted + len(unnamed)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.booleans()), max_size=14), names)
def test_a_batch_of_outcomes_is_the_same_as_one_at_a_time(sequence, name):
    items = [
        Outcome("k", success, value=value, at=START + timedelta(minutes=minute))
        for minute, (value, success) in enumerate(sequence, start=1)
    ]
    with opened(POLICIES[name]) as batch, opened(POLICIES[name]) as single:
        for ledger in (batch, single):
            ledger.observe("k", "a", at=START)
        together = batch.outcome_many(items)
        apart = [
            change
            for item in items
            for change in single.outcome("k", item.success, value=item.value, at=item.at)
        ]
        assert together == apart
        assert everything(batch) == everything(single)
