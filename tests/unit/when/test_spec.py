"""Specs as values: what they mean, how they join, and that JSON brings them back."""

from __future__ import annotations

import json
import pickle
from contextlib import suppress
from datetime import UTC, date, datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato import Spec, SpecError, calendar, cron, during, every, manual, once
from ostinato.errors import TooManyExclusions
from ostinato.when import (
    DayRule,
    Duration,
    Exclusions,
    Interval,
    Range,
    Recurrence,
    parse_duration,
    read_spec,
)
from ostinato.when.calendars import read_calendar
from ostinato.when.instants import SECOND, Micros, format_instant, read_instant
from ostinato.when.spec_text import parse_spec_text


def at(text: str) -> Micros:
    return read_instant(text, "test")


def times(spec: Spec, after: str, count: int) -> list[str]:
    result = []
    for instant in spec.compiled.times(at(after)):
        result.append(format_instant(instant))
        if len(result) == count:
            break
    return result


# Sources


def test_a_spec_knows_no_clock_and_says_so() -> None:
    spec = cron("0 9 * * *")
    with pytest.raises(TypeError, match=r"next\(\) needs the moment .* write spec.next\(datetime.now\(UTC\)\)"):
        spec.next()
    with pytest.raises(TypeError, match=r"previous\(\) needs the moment .* write spec.previous\(datetime.now\(UTC\)\)"):
        spec.previous()


def test_intervals_are_counted_from_1970_and_moved_by_their_phase() -> None:
    assert times(every("90m", phase="5m"), "2026-01-01T00:00:00Z", 3) == [
        "2026-01-01T00:05:00Z",
        "2026-01-01T01:35:00Z",
        "2026-01-01T03:05:00Z",
    ]


def test_months_are_counted_from_the_anchor_and_never_drift() -> None:
    spec = every("P1M", anchor="2026-01-31T09:00:00Z")
    assert times(spec, "2026-01-01T00:00:00Z", 5) == [
        "2026-01-31T09:00:00Z",
        "2026-02-28T09:00:00Z",
        "2026-03-31T09:00:00Z",
        "2026-04-30T09:00:00Z",
        "2026-05-31T09:00:00Z",
    ]
    assert times(spec, "2123-12-31T10:00:00Z", 2) == ["2124-01-31T09:00:00Z", "2124-02-29T09:00:00Z"]


def test_days_of_a_recurrence_keep_the_time_on_the_wall() -> None:
    spec = every("P1D", anchor="2026-03-28T02:30", tz="Europe/Berlin")
    assert times(spec, "2026-03-28T00:00:00Z", 3) == [
        "2026-03-28T01:30:00Z",
        "2026-03-29T01:00:00Z",  # 02:30 does not exist: the first moment after the gap
        "2026-03-30T00:30:00Z",
    ]
    literal = every("P1D", anchor="2026-10-24T02:30", tz="Europe/Berlin", dst="wall")
    assert times(literal, "2026-10-24T12:00:00Z", 3) == [
        "2026-10-25T00:30:00Z",
        "2026-10-25T01:30:00Z",  # 02:30 comes twice
        "2026-10-26T01:30:00Z",
    ]


def test_hours_of_a_recurrence_are_counted_on_a_stopwatch() -> None:
    spec = every("PT6H", anchor="2026-03-28T20:00", tz="Europe/Berlin")
    assert times(spec, "2026-03-28T00:00:00Z", 3) == [
        "2026-03-28T19:00:00Z",
        "2026-03-29T01:00:00Z",
        "2026-03-29T07:00:00Z",
    ]


def test_a_mixed_period_adds_its_calendar_part_before_its_hours() -> None:
    spec = every("P1Y2M3DT4H", anchor="2024-01-31T00:00:00Z")
    assert times(spec, "2024-01-01T00:00:00Z", 3) == [
        "2024-01-31T00:00:00Z",
        "2025-04-03T04:00:00Z",  # 31 March + 3 days, 4 hours
        "2026-06-06T08:00:00Z",  # 31 May + 6 days, 8 hours
    ]


@pytest.mark.parametrize("period", ["P1M", "P3M", "P1Y", "P7D", "P1M2D", "P1DT5H", "PT15M", "P2W", "P1Y2M3DT4H"])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"])
@pytest.mark.parametrize("rule", ["cron", "wall"])
def test_previous_mirrors_next_for_recurrences(period: str, zone: str, rule: str) -> None:
    compiled = Spec(
        recurrences=(Recurrence(at("2009-12-31T14:30:00Z"), parse_duration(period)),),
        tz=zone,
        dst=rule,  # type: ignore[arg-type]
    ).compiled
    times_seen = []
    for instant in compiled.times(0):
        times_seen.append(instant)
        if len(times_seen) == 60:
            break
    assert times_seen[0] == at("2009-12-31T14:30:00Z")
    assert times_seen == sorted(set(times_seen))
    for earlier, later in pairwise(times_seen):
        assert compiled.previous(later) == earlier
        assert compiled.next((earlier + later) // 2) == later
    assert compiled.previous(times_seen[0]) is None


def test_single_times_come_in_order_and_once() -> None:
    spec = once("2026-05-02T00:00Z", "2026-05-01T00:00Z", "2026-05-02T00:00Z")
    assert times(spec, "2026-01-01T00:00:00Z", 9) == ["2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"]


def test_a_manual_spec_has_no_times() -> None:
    assert times(manual(), "2000-01-01T00:00:00Z", 1) == []
    assert manual().compiled.previous(at("2100-01-01T00:00:00Z")) is None


def test_a_time_that_two_sources_share_comes_once() -> None:
    spec = cron("0 9 * * *") | cron("0 9,10 * * *")
    assert times(spec, "2026-01-01T00:00:00Z", 3) == [
        "2026-01-01T09:00:00Z",
        "2026-01-01T10:00:00Z",
        "2026-01-02T09:00:00Z",
    ]


def test_start_and_end_are_included() -> None:
    spec = every("1h", start="2026-01-01T10:00Z", end="2026-01-01T12:00Z")
    assert times(spec, "2020-01-01T00:00:00Z", 9) == [
        "2026-01-01T10:00:00Z",
        "2026-01-01T11:00:00Z",
        "2026-01-01T12:00:00Z",
    ]
    assert spec.compiled.previous(at("2030-01-01T00:00:00Z")) == at("2026-01-01T12:00:00Z")
    assert spec.compiled.previous(at("2026-01-01T10:00:00Z")) is None


def test_between_includes_both_ends() -> None:
    spec = every("1h")
    times_between = list(spec.between(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 2, tzinfo=UTC)))
    assert [t.hour for t in times_between] == [0, 1, 2]


# Jitter


def test_jitter_is_deterministic_bounded_and_before_the_following_time() -> None:
    spec = every("1m", jitter="10m")
    nominal = at("2026-01-01T00:00:00Z")
    jittered = {spec.compiled.jittered(nominal, seed) for seed in "abcdefgh"}
    assert len(jittered) == 8
    assert all(nominal <= t < nominal + 60 * SECOND for t in jittered)
    assert spec.compiled.jittered(nominal, "a") == spec.compiled.jittered(nominal, "a")
    alone = once("2026-01-01T00:00Z", jitter="10m")
    assert any(alone.compiled.jittered(nominal, seed) >= nominal + 60 * SECOND for seed in "abcdefgh")


# JSON

field_values = st.sampled_from(["*", "0", "5", "1-4", "*/3", "2,4", "3/2", "23/2", "7-7/3", "22,23/5"])
calendars = st.builds(
    lambda h, m, s, d, w: read_calendar(
        {"hour": h, "minute": m, "second": s, "day_of_month": d, "day_of_week": w},
    ),
    field_values,
    field_values | st.just("59/2"),
    st.sampled_from(["0", "*", "59/2", "58-59/3"]),
    st.sampled_from(["*", "1", "1-7", "L", "LW", "15W", "1,L", "31/2"]),
    st.sampled_from(["*", "1-5", "5#2", "5L", "0,6", "6/2", "5-7/2"]),
)


def is_valid(spec: Spec) -> bool:
    try:
        spec.check()
    except SpecError:
        return False
    return True


instants = st.integers(at("1990-01-01T00:00:00Z"), at("2090-01-01T00:00:00Z"))
lengths = st.integers(SECOND, 400 * 86_400 * SECOND)
specs = st.builds(
    Spec,
    crons=st.lists(st.sampled_from(["0 9 * * 1-5", "*/5 * * * *", "0 0 L * *", "@daily"]), max_size=2).map(tuple),
    calendars=st.lists(calendars, max_size=2).map(tuple),
    intervals=st.lists(st.builds(Interval, lengths), max_size=2).map(tuple),
    recurrences=st.lists(
        st.builds(Recurrence, instants, st.builds(Duration, st.integers(0, 30), st.integers(1, 40), lengths)),
        max_size=2,
    ).map(tuple),
    times=st.lists(instants, max_size=3).map(tuple),
    exclude=st.builds(Exclusions, st.lists(calendars, max_size=2).map(tuple), st.just((date(2026, 12, 25),))),
    start=st.none() | instants.map(lambda t: t - 40 * 366 * 86_400 * SECOND),
    tz=st.sampled_from(["", "Europe/Berlin", "UTC"]),
    jitter=st.integers(0, 10**10),
    dst=st.sampled_from(["", "cron", "wall"]),
).filter(is_valid)


@given(specs)
@settings(max_examples=150, deadline=None)
def test_json_brings_back_an_equal_spec(spec: Spec) -> None:
    assert read_spec(json.loads(json.dumps(spec.to_json()))) == spec
    assert hash(spec) == hash(read_spec(spec.to_json()))


def test_years_before_1000_come_back_from_json() -> None:
    spec = cron("0 9 * * *", start="0031-01-01T00:00Z")
    assert spec.to_json()["start"] == "0031-01-01T00:00:00Z"
    assert read_spec(spec.to_json()) == spec


@given(specs, instants)
@settings(max_examples=150, deadline=None)
def test_next_is_constant_up_to_its_answer_and_previous_mirrors_it(spec: Spec, start: Micros) -> None:
    with suppress(TooManyExclusions):  # exclusions that leave nothing from here on: other tests see to that
        _check_next(spec, start)


def _check_next(spec: Spec, start: Micros) -> None:
    compiled = spec.compiled
    time = compiled.next(start)
    if time is None:
        return
    assert time > start
    assert compiled.matches(time)
    assert compiled.next(time - 1) == time
    assert compiled.next((start + time) // 2) == time
    assert compiled.previous(time + 1) == time
    before = compiled.previous(time)
    assert before is None or before <= start
    following = compiled.next(time)
    if following is not None:
        assert compiled.previous(following) == time


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"cron": ["0 9 * * *", "0 24 * * *"]}, "cron[1]"),
        ({"calendars": [{"hour": "25"}]}, "calendars[0]: hour 25 is out of range 0–23"),
        ({"calendars": [{"hours": "5"}]}, "did you mean 'hour'?"),
        ({"calendar": []}, "did you mean 'calendars'?"),
        ({"intervals": [{"every": "PT0.5S"}]}, "too short"),
        ({"intervals": [{"every": "PT5M", "phase": "PT5M"}]}, "phase"),
        ({"intervals": [{"every": "P1M"}]}, "no fixed length"),
        ({"recurrences": [{"anchor": "2026-01-01T00:00", "period": "P1M"}]}, "has no offset"),
        ({"times": ["yesterday"]}, "times[0] 'yesterday' is not a time"),
        ({"exclude": {"dates": ["25.12.2026"]}}, "exclude.dates[0]"),
        ({"exclude": {"spans": [["2026-01-02T00:00Z", "2026-01-01T00:00Z"]]}}, "excluded span"),
        ({"start": "2026-02-01T00:00Z", "end": "2026-01-01T00:00Z"}, "is before start"),
        ({"cron": "0 9 * * *", "tz": "Mars/Olympus"}, "not a time zone"),
        ({"cron": "0 9 * * *", "dialect": "quartz"}, "dialect 'quartz' is unknown"),
        ({"cron": "0 9 * * *", "dst": "summer"}, "dst 'summer' is unknown"),
        ({"cron": [9]}, "cron[0] 9 is not text"),
        ({"jitter": "-5m"}, "jitter"),
        ({"tz_data": "???"}, "base64"),
        ({"tz_data": "AAAA"}, "compiled zone file"),
    ],
)
def test_a_wrong_document_names_the_place(document: dict[str, object], place: str) -> None:
    with pytest.raises(SpecError) as problem:
        read_spec(document)
    assert place in str(problem.value)


# One line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 9 * * 1-5", cron("0 9 * * 1-5")),
        ("@daily", cron("@daily")),
        ("every 15m", every("15m")),
        ("90s", every("90s")),
        ("PT15M", every("PT15M")),
        ("every P1M from 2026-01-31T09:00Z", every("P1M", anchor="2026-01-31T09:00Z")),
        ("R/2026-01-31T09:00Z/P1M", every("P1M", anchor="2026-01-31T09:00Z")),
        ("2026-01-31T09:00Z", once("2026-01-31T09:00Z")),
        ('{"cron": "0 9 * * *"}', cron("0 9 * * *")),
    ],
)
def test_a_phrase_is_read_as_what_it_looks_like(text: str, expected: Spec) -> None:
    assert parse_spec_text(text) == expected


def test_a_calendar_field_takes_numbers_texts_and_lists() -> None:
    (fields,) = calendar(hour=[9, "12-14"], day_of_week=range(1, 6), day_of_month=DayRule("last_day")).calendars
    assert fields.hour == (Range(9, 9), Range(12, 14))
    assert fields.day_of_week == tuple(Range(n, n) for n in range(1, 6))
    with pytest.raises(SpecError, match="hour -1 is out of range"):
        calendar(hour=-1)
    with pytest.raises(SpecError, match="neither a number nor a text"):
        calendar(hour=1.5)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="cannot hold"):
        calendar(hour=DayRule("last_day"))


# The ends of time


@pytest.mark.parametrize("year", [2, 1066, 1600, 1899])
@pytest.mark.parametrize("period", ["P1D", "P1W", "P1M", "P1Y", "P1M1DT1H", "PT36H", "P100Y"])
def test_a_recurrence_goes_on_to_2199_however_long_ago_it_began(period: str, year: int) -> None:
    compiled = every(period, anchor=f"{year:04d}-01-31T09:00:00Z").compiled
    for asked in ("1900-01-01T00:00:00Z", "2026-06-01T00:00:00Z", "2099-06-01T00:00:00Z"):
        time = compiled.next(at(asked))
        assert time is not None, asked
        assert compiled.previous(time + 1) == time
    last = compiled.previous(at("2500-01-01T00:00:00Z"))
    assert last is not None
    assert compiled.next(last) is None
    assert compiled.previous(last) is not None


@pytest.mark.parametrize("anchor", ["2199-12-30T09:00:00Z", "2200-01-01T00:00:00Z", "9998-01-01T00:00:00Z"])
def test_a_recurrence_that_begins_too_late_ends(anchor: str) -> None:
    compiled = Spec(recurrences=(Recurrence(at(anchor), parse_duration("P1D")),)).compiled
    times_left = list(compiled.times(at("2190-01-01T00:00:00Z")))
    assert len(times_left) == (2 if anchor < "2200" else 0)
    assert compiled.previous(at("9999-01-01T00:00:00Z")) == (times_left[-1] if times_left else None)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York", "Europe/Berlin", "Pacific/Auckland"])
@pytest.mark.parametrize(
    "text", ["0 * * * *", "30 */7 * * *", "0 3 * * *", "0 0 * * 0", "*/20 30 * * * *", "0 12 1,L * *"]
)
@pytest.mark.parametrize("rule", ["cron", "wall"])
def test_previous_mirrors_next_at_both_ends_of_time(zone: str, text: str, rule: str) -> None:
    compiled = Spec(crons=(text,), tz=zone, dst=rule).compiled  # type: ignore[arg-type]
    week = 8 * 86_400 * SECOND
    for first in (at("1900-01-01T00:00:00Z") - week, at("2200-01-01T00:00:00Z") - week):
        forward = list(compiled.between(first, first + 2 * week))
        assert forward
        back, before = [], first + 2 * week + 1
        while (earlier := compiled.previous(before)) is not None and earlier >= first:
            back.append(earlier)
            before = earlier
        assert back[::-1] == forward


def test_a_spec_can_be_pickled_after_it_was_asked() -> None:
    spec = cron("0 9 * * 1-5", tz="Europe/Berlin", exclude=[during(month=12)])
    following = spec.next(datetime(2026, 1, 1, tzinfo=UTC))
    back = pickle.loads(pickle.dumps(spec))
    assert back == spec
    assert back.next(datetime(2026, 1, 1, tzinfo=UTC)) == following


def test_between_refuses_a_moment_without_an_offset_when_it_is_called() -> None:
    with pytest.raises(SpecError, match="has no offset"):
        cron("0 9 * * *").between(datetime(2026, 1, 1), datetime(2026, 1, 2))  # noqa: DTZ001
