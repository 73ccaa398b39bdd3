"""Specs made in Python: types, moments without an offset, far moments."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from ostinato import Spec, SpecError, calendar, cron, every, once
from ostinato.when import Recurrence, parse_duration, read_spec
from ostinato.when.instants import Micros, read_instant


@pytest.mark.parametrize(
    ("make", "same"),
    [
        (lambda: every(minutes=5), "5m"),
        (lambda: every(5), "5s"),
        (lambda: every(timedelta(hours=2)), "2h"),
        (lambda: every(hours=1, minutes=30), "1h30m"),
    ],
)
def test_an_interval_may_be_written_in_several_ways(make: Any, same: str) -> None:
    assert make() == every(same)


anything: Any = lambda value: value  # noqa: E731  # what a caller without types may give


def at(text: str) -> Micros:
    return read_instant(text, "test")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cron(anything(5)), "cron 5 is not text"),
        (lambda: cron(anything(None)), "cron None is not text"),
        (lambda: cron(anything(["0 9 * * *"])), "several as cron("),
        (lambda: cron("0 9 * * *", tz=anything(5)), "tz 5 is not the name of a time zone"),
        (lambda: cron("0 9 * * *", tz=anything(None)), "tz None is not the name of a time zone"),
        (lambda: once("2026-01-01T00:00Z", tz=anything(5)), "tz 5 is not the name"),
        (lambda: cron("0 9 * * *", exclude=anything(None)), "exclude None is not a list"),
        (lambda: cron("0 9 * * *", exclude=anything(5)), "exclude 5 is not a list"),
        (lambda: cron("0 9 * * *", exclude=[anything(5)]), "exclude 5 is not a day"),
        (lambda: cron("0 9 * * *", exclude=[anything(calendar(hour=9))]), "not a spec; during(hour=9)"),
        (lambda: cron("0 9 * * *", exclude=anything(calendar(hour=9))), "not a spec; during(hour=9)"),
        (lambda: cron("0 9 * * *").without(anything(calendar(hour=9))), "not a spec; during(hour=9)"),
        (lambda: cron("0 9 * * *", exclude=[datetime(2026, 1, 1, tzinfo=UTC)]), "as a pair (first, end)"),
        (lambda: cron("0 9 * * *", dialect=anything([])), "dialect [] is unknown"),
        (lambda: cron("0 9 * * *", dst=anything(5)), "dst 5 is unknown"),
        (lambda: cron("0 9 * * *", start=anything(5)), "start 5 is not a time"),
        (lambda: every(anything([5])), "every [5] is not a duration"),
        (lambda: every(minutes=anything("5")), "minutes '5' is not a number; write every(minutes=15), or every('15m')"),
        (lambda: every(days=1e300), "every(days=1e+300) is not a length of time"),
        (lambda: every("1h", phase=anything(None)), "phase None is not a duration"),
        (lambda: every("1h", anchor=anything(5)), "anchor 5 is not a time"),
        (lambda: once(anything(5)), "time 5 is not a time"),
        (lambda: read_spec(anything(5)), "a spec is an object, not 5"),
        (lambda: read_spec({"cron": {"a": 1}}), "is not text"),
        (lambda: read_spec({"dialect": []}), "dialect [] is not text"),
    ],
)
def test_a_value_of_the_wrong_type_is_a_spec_error(make: Callable[[], Spec], words: str) -> None:
    with pytest.raises(SpecError) as problem:
        make()
    assert words in str(problem.value)


def test_a_zone_may_be_given_as_a_zoneinfo() -> None:
    assert cron("0 9 * * *", tz=ZoneInfo("Europe/Berlin")) == cron("0 9 * * *", tz="Europe/Berlin")
    assert cron("0 9 * * *", tz=UTC) == cron("0 9 * * *", tz="UTC")


@pytest.mark.parametrize(
    "make",
    [
        lambda: cron("0 9 * * *", tz="Asia/Tokyo", end="9999-12-31T23:59:59Z"),
        lambda: cron("0 9 * * *", end="9999-12-31T23:59:59-05:00"),
        lambda: cron("0 9 * * *", tz="America/New_York", start="0001-01-01T00:00:00Z"),
        lambda: cron("0 9 * * *", tz="Asia/Tokyo", start="0001-01-01T00:00"),
        lambda: once("9999-12-31T23:59:59Z"),
        lambda: every("P1D", anchor="0001-01-01T00:00Z", tz="America/New_York"),
        lambda: cron("0 9 * * *", exclude=[("2026-01-01T00:00Z", "9999-12-31T23:59:59Z")]),
        lambda: read_spec({"cron": "0 9 * * *", "start": "0001-01-01T00:00:00Z"}),
        lambda: Spec(recurrences=(Recurrence(10**30, parse_duration("P1D")),)).check(),
    ],
)
def test_a_moment_that_no_zone_can_show_is_refused(make: Callable[[], Spec]) -> None:
    with pytest.raises(SpecError, match="outside the years 2 to 9998"):
        make()


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "Pacific/Kiritimati", ""])
def test_moments_at_the_ends_are_shown_in_every_zone(zone: str) -> None:
    spec = cron("0 9 * * *", tz=zone, start="0002-01-01T00:00:00Z", end="9998-12-31T23:59:59Z")
    assert "from 000" in spec.describe()
    assert "until 999" in spec.describe()
    assert read_spec(spec.to_json()) == spec
    old = every("P1D", tz=zone, anchor="0002-01-01T00:00:00Z")
    assert old.compiled.next(at("2026-01-01T00:00:00Z")) is not None


def test_a_stretch_without_offsets_is_read_on_the_wall_of_the_spec() -> None:
    stretch = ("2026-07-01T00:00", "2026-07-02T00:00")
    expected = [(at("2026-06-30T22:00:00Z"), at("2026-07-01T22:00:00Z"))]
    for spec in (
        cron("0 9 * * *", tz="Europe/Berlin", exclude=[stretch]),
        cron("0 9 * * *", tz="Europe/Berlin").without(stretch),
        cron("CRON_TZ=Europe/Berlin 0 9 * * *").without(tuple(map(datetime.fromisoformat, stretch))),  # type: ignore[arg-type]
        read_spec({"cron": "0 9 * * *", "tz": "Europe/Berlin", "exclude": {"spans": [stretch]}}),
    ):
        assert list(spec.exclude.spans) == expected
    with pytest.raises(SpecError, match="has no offset"):
        cron("0 9 * * *", exclude=[stretch])


def test_bounds_without_an_offset_are_read_in_the_zone_that_the_cron_string_names() -> None:
    text, start = "CRON_TZ=Asia/Tokyo 0 9 * * *", "2026-01-01T00:00"
    assert cron(text, start=start).start == at("2025-12-31T15:00:00Z")
    assert read_spec({"cron": text, "start": start}).start == at("2025-12-31T15:00:00Z")


def test_a_misspelt_attribute_of_a_spec_comes_with_a_suggestion() -> None:
    spec: Any = every("1h")
    with pytest.raises(AttributeError, match="a spec has no 'upcoming'; did you mean 'next'"):
        spec.upcoming  # noqa: B018
    assert not hasattr(spec, "_nothing")
    assert pickle.loads(pickle.dumps(spec)) == spec == copy.deepcopy(spec)
