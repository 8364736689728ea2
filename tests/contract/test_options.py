"""Every option of both frameworks gives the same on the same data, sync and async, in any order.

The options are found by introspection: a new one without a case fails here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice, permutations
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from gcmem import Collector
from gcmem.mapping import MetadataMapping
from langchain_gcmem.fields import CollectingFields, CollectingOptions
from tests.contract import (
    option_cases_deciding,
    option_cases_reading,
    option_cases_retrieval,
)
from tests.contract.option_case import Case, Fresh, Outcome, made
from tests.contract.option_surfaces import (
    CALL_OPTIONS,
    CLEANERS,
    COLLECTOR_OPTIONS,
    RETRIEVERS,
    outcome,
    parameters,
    surfaces_of,
)

CASES = [
    *option_cases_deciding.CASES,
    *option_cases_reading.CASES,
    *option_cases_retrieval.CASES,
]
_MOST_ORDERS = 7
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def without_case(options: Iterable[str], given: Iterable[Mapping[str, Any]]) -> set[str]:
    """The options that none of the cases sets."""
    return set(options) - {name for chosen in given for name in chosen}


def allowed_values(annotation: Any) -> set[Any]:
    """The values that an option's type names: literals, and both truths of a flag."""
    if get_origin(annotation) is Literal:
        return set(get_args(annotation))
    if annotation is bool:
        return {True, False}
    return {value for part in get_args(annotation) for value in allowed_values(part)}


class TestEveryOptionHasACase:
    def test_of_the_collector(self) -> None:
        assert without_case(COLLECTOR_OPTIONS, [case.collector for case in CASES]) == set()

    @pytest.mark.parametrize("surface", [*RETRIEVERS, *CLEANERS], ids=lambda s: s.name)
    def test_of_the_surface(self, surface: Any) -> None:
        given = [case.options for case in CASES if surface in surfaces_of(case)]
        assert without_case(surface.options, given) == set()

    def test_of_a_call(self) -> None:
        assert without_case(CALL_OPTIONS, [case.call for case in CASES]) == set()

    def test_an_option_without_a_case_is_found(self) -> None:
        given = [case.collector for case in CASES]
        assert without_case([*COLLECTOR_OPTIONS, "brand_new"], given) == {"brand_new"}

    def test_every_choice_of_an_option_of_the_collector(self) -> None:
        for name, annotation in get_type_hints(Collector.__init__).items():
            chosen = [case.collector[name] for case in CASES if _plain(case.collector, name)]
            given = {_hashable(value) for value in [*chosen, COLLECTOR_OPTIONS.get(name)]}
            assert allowed_values(annotation) <= given, name

    def test_every_choice_of_an_option_of_the_adapters(self) -> None:
        hints = get_type_hints(CollectingFields)
        for name in RETRIEVERS[0].options:
            chosen = [case.options[name] for case in CASES if _plain(case.options, name)]
            assert allowed_values(hints.get(name, Any)) <= {_hashable(v) for v in chosen}, name


def _plain(options: Mapping[str, Any], name: str) -> bool:
    return name in options and not isinstance(options[name], Fresh)


def _hashable(value: Any) -> Any:
    return value if isinstance(value, str | bool) else None


class TestBothFrameworksHaveTheSameOptions:
    @pytest.mark.parametrize("pair", [RETRIEVERS, CLEANERS], ids=["retrievers", "cleaners"])
    def test_with_the_same_names_and_defaults(self, pair: Sequence[Any]) -> None:
        first, second = (surface.options for surface in pair)
        assert first == second

    def test_which_name_every_rule_of_reading_metadata(self) -> None:
        for surface in [*RETRIEVERS, *CLEANERS]:
            rules = parameters(MetadataMapping.__init__)
            assert rules.items() <= surface.options.items()

    def test_which_middleware_and_store_take_as_well(self) -> None:
        assert set(CollectingOptions.__annotations__) == set(CollectingFields.model_fields)


async def outcomes(case: Case) -> dict[str, Outcome]:
    """What every surface makes of a case, sync and async."""
    return {
        f"{surface.name}, {'async' if native else 'sync'}": await outcome(
            surface, case, native=native
        )
        for surface in surfaces_of(case)
        for native in (False, True)
    }


@every_case
async def test_every_surface_gives_what_the_case_says(case: Case) -> None:
    found = await outcomes(case)
    assert len(found) >= 4  # two surfaces at least, of both frameworks
    texts = {record.id: record.text for record in case.records} | dict(case.texts)
    for name, result in found.items():
        if case.error is not None:
            assert issubclass(result.error or type(None), case.error), name
            continue
        assert result.error is None, name
        assert [shown.id for shown in result.shown] == list(case.shown), name
        for shown in result.shown:
            assert shown.text == texts[shown.id], name
            assert shown.added == case.added.get(shown.id, {}), name
        assert len(result.reports) == 2, name  # it is asked twice
        for report in result.reports:
            assert {row["id"]: row["by"] for row in report["removed"]} == case.removed, name
            assert {frozenset(pair) for pair in report["unresolved"]} == set(case.unresolved), name
            assert sorted(report["hidden"]) == sorted(case.hidden), name


@every_case
async def test_every_surface_announces_the_same_report(case: Case) -> None:
    """Ids, reasons, scores, offsets, and what it cost: pairs, cache hits, stages."""
    found = await outcomes(case)
    first = next(iter(found.values()))
    for name, result in found.items():
        assert result.reports == first.reports, name


@every_case
async def test_the_candidate_set_can_be_had_alone_and_is_the_one_that_is_judged(case: Case) -> None:
    if case.error is not None:
        pytest.skip("nothing is retrieved")
    found = []
    for surface in RETRIEVERS:
        retriever, query, call = surface.made(case), case.query, made(case.call)
        judged = retriever.collect(query, **call).candidates
        found += [
            [memory.id for memory in judged],
            [memory.id for memory in (await retriever.acollect(query, **call)).candidates],
            surface.ids(retriever.candidates(query, **call)),
            surface.ids(await retriever.acandidates(query, **call)),
        ]
    assert found == [found[0]] * 8


@every_case
async def test_the_order_of_what_is_found_changes_nothing_else(case: Case) -> None:
    if not case.in_any_order:
        pytest.skip("the order is the ranking that is cut")
    for surface in surfaces_of(case):
        expected = await outcome(surface, case, native=False)
        places = [record.id for record in case.records]
        for order in islice(permutations(case.records), 1, None, _stride(len(case.records))):
            turned = replace(case, records=order, finds=_turned(case, order))
            result = await outcome(surface, turned, native=False)
            assert result.decided == expected.decided, (surface.name, order)
            given = [record.id for record in order]
            assert [s.id for s in result.shown if s.id in places] == [
                name for name in given if name in {s.id for s in expected.shown}
            ], (surface.name, order)


def _stride(records: int) -> int:
    count = 1
    for factor in range(2, records + 1):
        count *= factor
    return max(1, count // _MOST_ORDERS)


def _turned(case: Case, order: Sequence[Any]) -> Any:
    if case.finds is None:
        return None
    places = {record.id: place for place, record in enumerate(order)}
    return {q: sorted(found, key=lambda name: places[name]) for q, found in case.finds.items()}


@pytest.mark.parametrize("kind", ["collector", "options", "call"])
@pytest.mark.parametrize("surface", [*RETRIEVERS, *CLEANERS], ids=lambda surface: surface.name)
async def test_every_option_has_a_case_that_fails_without_it(surface: Any, kind: str) -> None:
    known = {
        "collector": COLLECTOR_OPTIONS,
        "options": surface.options,
        "call": surface.call_options,
    }
    decisive = set()
    for case in CASES:
        given = getattr(case, kind)
        if surface not in surfaces_of(case) or set(given) <= decisive:
            continue
        expected = await outcome(surface, case, native=False)
        for name in set(given) - decisive:
            rest = {key: value for key, value in given.items() if key != name}
            result = await outcome(surface, replace(case, **{kind: rest}), native=False)
            is_refused = result.error is not None and issubclass(result.error, ValueError)
            if result != expected and not is_refused:
                decisive.add(name)
    assert set(known[kind]) - decisive == set()
