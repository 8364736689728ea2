"""Every form of time that stores hold, as one instant."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gcmem import Collector, Memory, to_utc
from gcmem.timestamps import to_epoch

NINE = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
EPOCH = NINE.timestamp()


@pytest.mark.parametrize(
    "value",
    [
        NINE,
        NINE.replace(tzinfo=None),
        NINE.astimezone(timezone(timedelta(hours=-7))),
        "2026-03-01T09:00:00Z",
        "2026-03-01T09:00:00+00:00",
        "2026-03-01T09:00:00",
        "2026-03-01 09:00:00",
        "2026-03-01 09:00",
        "2026-03-01T09:00:00.000Z",
        "2026-03-01T02:00:00-07:00",
        "2026-03-01T17:00:00+0800",
        "20260301T090000Z",
        "2026-W09-7T09:00:00",
        " 2026-03-01T09:00:00Z \n",
        EPOCH,
        int(EPOCH),
        str(EPOCH),
        str(int(EPOCH)),
        np.float64(EPOCH),
        np.int64(EPOCH),
        np.datetime64("2026-03-01T09:00:00"),
    ],
    ids=repr,
)
def test_every_form_is_the_same_instant(value: object) -> None:
    assert to_utc(value) == NINE  # type: ignore[arg-type]
    assert to_utc(value).tzinfo is UTC  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("unit", "factor"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)]
)
def test_a_number_counts_what_the_unit_says(unit: str, factor: int) -> None:
    for number in (int(EPOCH) * factor, float(EPOCH * factor), str(int(EPOCH) * factor)):
        assert to_utc(number, unit=unit) == NINE  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [date(2026, 3, 1), "2026-03-01", "20260301", "2026-W09-7"])
def test_a_date_is_its_midnight_or_the_one_that_ends_it(value: object) -> None:
    assert to_utc(value) == datetime(2026, 3, 1, tzinfo=UTC)  # type: ignore[arg-type]
    assert to_utc(value, end_of_day=True) == datetime(2026, 3, 2, tzinfo=UTC)  # type: ignore[arg-type]


def test_the_end_of_day_moves_no_time_of_day() -> None:
    assert to_utc("2026-03-01T00:00:00", end_of_day=True) == datetime(2026, 3, 1, tzinfo=UTC)
    assert to_utc(date.max, end_of_day=True).date() == date.max


def test_fractions_of_a_second_keep_their_order() -> None:
    first, second = to_utc("2026-06-25T10:00:00.100Z"), to_utc("2026-06-25T10:00:00.500Z")
    assert second - first == timedelta(milliseconds=400)
    assert to_utc(1782381600.1) < to_utc(1782381600.5)


def test_an_offset_decides_before_the_text() -> None:
    assert to_utc("2025-07-24T19:30:00-07:00") > to_utc("2025-07-25T02:00:00Z")
    assert to_utc("2026-09-15T12:45:00+08:00") < to_utc("2026-09-15T05:00:00Z")


def test_naive_aware_and_numbers_compare_in_one_collection() -> None:
    memories = [
        Memory("a", "2025-09-01T08:00:00Z", id="a", key="printer", value="2"),
        Memory("b", "2025-09-02 09:00:00", id="b", key="printer", value="4"),
        Memory("c", 1756800000, id="c"),
    ]
    kept = Collector("explicit").collect("q", memories).kept
    assert [memory.id for memory in kept] == ["b", "c"]


def test_milliseconds_are_never_guessed() -> None:
    with pytest.raises(ValueError, match=r'too large for seconds.*unit="ms"'):
        to_utc(1_770_000_000_000)
    assert to_utc(1_770_000_000_000, unit="ms").year == 2026


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -1e12, "soon", "", "2026-13-01", "2026-02-30", "nan"]
)
def test_what_is_no_time_is_an_error_that_shows_it(value: object) -> None:
    with pytest.raises(ValueError, match="timestamp") as error:
        to_utc(value)  # type: ignore[arg-type]
    assert repr(value) in str(error.value)


@pytest.mark.parametrize("value", [True, None, [], {}, b"2026-03-01", np.bool_(True)])
def test_what_has_no_accepted_type_is_an_error_that_names_it(value: object) -> None:
    with pytest.raises(TypeError, match="timestamp must be a datetime, a date"):
        to_utc(value)  # type: ignore[arg-type]


def test_an_unknown_unit_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"unit must be one of .*'ms'.* got 'min'"):
        to_utc(1, unit="min")  # type: ignore[arg-type]


def test_a_time_that_leaves_the_calendar_is_an_error() -> None:
    with pytest.raises(ValueError, match="outside the years"):
        to_utc("0001-01-01T00:00:00+14:00")


def test_times_before_1970_are_times() -> None:
    assert to_utc(-86_400) == datetime(1969, 12, 31, tzinfo=UTC)
    assert to_utc("1901-05-01").year == 1901


moments = st.datetimes(
    min_value=datetime(1970, 1, 2), max_value=datetime(2200, 1, 1), timezones=st.just(UTC)
)


@given(moments, st.integers(-14 * 60, 14 * 60))
def test_writing_and_reading_gives_the_same_instant(moment: datetime, offset: int) -> None:
    zone = timezone(timedelta(minutes=offset))
    assert to_utc(moment.astimezone(zone).isoformat()) == moment
    assert to_utc(moment.astimezone(zone)) == moment
    assert to_utc(to_utc(moment)) == moment
    assert abs(to_utc(to_epoch(moment)) - moment) <= timedelta(microseconds=1)


@given(moments, moments)
def test_epoch_seconds_keep_the_order_of_a_millisecond(first: datetime, second: datetime) -> None:
    if abs(first - second) >= timedelta(milliseconds=1):
        assert (to_epoch(first) < to_epoch(second)) is (first < second)
