"""Lengths of time: both forms, what counts as a day, and what has no length."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ostinato import SpecError, every
from ostinato.when import Duration, Interval, Spec, parse_duration, read_spec
from ostinato.when.instants import SECOND, Micros, format_instant, read_instant

HOUR = 3600 * SECOND


@pytest.mark.parametrize(
    ("text", "months", "days", "micros"),
    [
        ("P1Y2M3DT4H", 14, 3, 4 * HOUR),
        ("P2W", 0, 14, 0),
        ("PT0.5S", 0, 0, SECOND // 2),
        ("1h30m", 0, 0, 5400 * SECOND),
        ("1d", 0, 1, 0),
        ("1.5d", 0, 1, 12 * HOUR),
        ("24h", 0, 0, 24 * HOUR),
        ("250ms", 0, 0, 250_000),
    ],
)
def test_a_text_is_read_into_months_days_and_the_rest(text: str, months: int, days: int, micros: Micros) -> None:
    duration = parse_duration(text)
    assert duration == Duration(months, days, micros)
    assert parse_duration(str(duration)) == duration


@given(st.builds(Duration, st.integers(0, 500), st.integers(0, 500), st.integers(0, 10**14)))
def test_durations_come_back_from_their_text(length: Duration) -> None:
    assert parse_duration(str(length)) == length


def test_a_timedelta_is_a_duration() -> None:
    assert every(timedelta(minutes=15)) == every("15m")
    assert parse_duration(timedelta(days=1, hours=12)) == parse_duration("1.5d")


@pytest.mark.parametrize("period", ["P1D", "1d", timedelta(days=1)])
def test_a_day_with_an_anchor_is_a_day_on_the_wall_however_it_is_written(period: str | timedelta) -> None:
    spec = every(period, anchor="2026-03-28T09:00", tz="Europe/Berlin")
    time = spec.compiled.next(read_instant("2026-03-28T12:00Z", "test"))
    assert time is not None
    assert format_instant(time) == "2026-03-29T07:00:00Z"


def test_a_day_without_an_anchor_is_24_hours() -> None:
    assert every("1d") == every("24h") == every(timedelta(days=1))


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: every("P1M"), "every"),
        (lambda: every("1h", phase="P1M"), "phase"),
        (lambda: every("1h", jitter="P1Y"), "jitter"),
        (lambda: read_spec({"intervals": [{"every": "P1M"}]}), "intervals[0].every"),
        (lambda: read_spec({"intervals": [{"every": "P1D", "phase": "P1M"}]}), "intervals[0].phase"),
        (lambda: read_spec({"cron": "0 9 * * *", "jitter": "P1M"}), "jitter"),
    ],
)
def test_months_are_refused_where_only_a_fixed_length_can_be_meant(make, field) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SpecError, match="no fixed length") as problem:
        make()
    assert problem.value.field == field


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: every("1h", phase=timedelta(minutes=-5)), "phase -1 day, 23:55:00 is negative"),
        (lambda: every("1h", phase="-5m"), "a length must be zero or more"),
        (lambda: every(timedelta(seconds=-5)), "is negative"),
        (lambda: Spec(intervals=(Interval(SECOND, -1),)).check(), "phase is negative"),
    ],
)
def test_a_negative_length_is_called_negative(make, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SpecError) as problem:
        make()
    assert words in str(problem.value)


@pytest.mark.parametrize("text", ["1" * 100_000, "1" * 5000 + "d", "P" + "9" * 5000 + "Y", "٣d", "1d" * 5000, "1²s"])
def test_a_monstrous_length_is_refused_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(SpecError, match="is not a duration") as problem:
        parse_duration(text)
    assert time.process_time() - began < 0.5
    assert len(str(problem.value)) < 300


def test_a_leap_second_is_the_moment_after_it() -> None:
    """RFC 3339 allows it at the end of a day in UTC, and nowhere else."""
    moment = read_instant("2017-01-01T00:00:00Z", "at")
    for text in ("2016-12-31T23:59:60Z", "2016-12-31T23:59:60.5Z", "2017-01-01T00:59:60+01:00"):
        assert read_instant(text, "at") == moment
    for text in ("2016-12-31T22:59:60Z", "2016-12-31T23:58:60Z", "2016-12-31T23:59:61Z", "9999-12-31T23:59:60Z"):
        with pytest.raises(SpecError):
            read_instant(text, "at")
