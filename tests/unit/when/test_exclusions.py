"""What is left out of a spec, and that the search passes over it at once."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import islice

import pytest

from ostinato import Spec, SpecError, cron, during, every, once
from ostinato.errors import TooManyExclusions
from ostinato.when import Calendar, Exclusions
from ostinato.when.calendars import read_calendar
from ostinato.when.instants import SECOND, Micros, format_instant, read_instant
from ostinato.when.wall_clock import WallClock


def at(text: str) -> Micros:
    return read_instant(text, "test")


def times(spec: Spec, after: str, count: int) -> list[str]:
    return [format_instant(t) for t in islice(spec.compiled.times(at(after)), count)]


def test_whole_days_stretches_and_calendars_are_left_out() -> None:
    spec = every("6h", tz="Europe/Berlin").without(
        "2026-01-02",  # in Berlin: from the 1st 23:00Z to the 2nd 23:00Z
        during(hour="13"),
        (datetime(2026, 1, 3, 6, tzinfo=UTC), datetime(2026, 1, 3, 12, tzinfo=UTC)),
    )
    assert times(spec, "2026-01-01T00:00:00Z", 5) == [
        "2026-01-01T06:00:00Z",
        "2026-01-01T18:00:00Z",
        "2026-01-03T00:00:00Z",
        "2026-01-03T18:00:00Z",
        "2026-01-04T00:00:00Z",
    ]


def test_previous_passes_over_exclusions_too() -> None:
    spec = cron("0 * * * *").without(during(hour="1-5"), date(2026, 1, 1))
    assert spec.compiled.previous(at("2026-01-02T05:30:00Z")) == at("2026-01-02T00:00:00Z")
    assert spec.compiled.previous(at("2026-01-02T00:00:00Z")) == at("2025-12-31T23:00:00Z")


def test_a_month_of_excluded_seconds_is_passed_over_at_once() -> None:
    spec = Spec(crons=("* * * * * *",), exclude=Exclusions(calendars=(during(month="1-11"),)))
    time, skipped = spec.compiled.search(at("2026-01-01T00:00:00Z"))
    assert time == at("2026-12-01T00:00:00Z")
    assert skipped < 400


@pytest.mark.parametrize("exclusion", [during(), during(hour=9), during(minute=0), during(second=0)])
def test_a_spec_that_excludes_everything_is_refused_in_bounded_time(exclusion: Calendar) -> None:
    with pytest.raises(SpecError, match="can never match"):
        cron("0 9 * * *", exclude=[exclusion])


def test_a_span_that_covers_all_times_leaves_none() -> None:
    with pytest.raises(SpecError, match="it has no time between"):
        once("2026-01-01T00:00Z", exclude=["2026-01-01"])


def test_a_time_moved_out_of_a_gap_is_excluded_by_where_it_falls() -> None:
    before = at("2026-03-29T00:00:00Z")
    spec = cron("30 2 * * *", tz="Europe/Berlin")
    assert spec.without(during(hour=2)).compiled.next(before) == at("2026-03-29T01:00:00Z")
    assert spec.without(during(hour=3)).compiled.next(before) == at("2026-03-30T00:30:00Z")


def test_previous_does_not_pass_over_a_time_moved_to_the_end_of_a_gap() -> None:
    # 02:30 becomes 03:00 on that day; the exclusion knows 03:30 only, which the spec reads too.
    spec = cron("30 2,3 * * *", tz="Europe/Berlin").without(
        Calendar(minute=during(minute=30).minute, hour=during().hour)
    )
    assert spec.compiled.previous(at("2026-03-29T12:00:00Z")) == at("2026-03-29T01:00:00Z")


def test_a_long_list_is_built_in_one_go() -> None:
    days = [date(1990, 1, 1) + timedelta(days=n) for n in range(20_000)]
    began = time.process_time()
    spec = cron("0 9 * * *", exclude=days)
    assert time.process_time() - began < 2
    assert len(spec.exclude.dates) == 20_000


@pytest.mark.parametrize(
    "calendars",
    [
        [{"second": "0", "month": "1-11"}],
        [{"minute": "*/2", "month": "1-11"}, {"minute": "1/2", "month": "1-11"}],
        [{"hour": "0-11", "month": "1-11"}, {"hour": "12-23", "month": "1-11"}],
        [{"second": "0", "month": str(month)} for month in range(1, 12)],
    ],
)
def test_what_covers_the_readings_of_the_spec_is_passed_over_by_days(calendars: list[dict[str, object]]) -> None:
    excluded = tuple(read_calendar(c, rest="*") for c in calendars)
    spec = Spec(crons=("* * * * *",), tz="Europe/Berlin", exclude=Exclusions(calendars=excluded))
    time, steps = spec.compiled.search(at("2026-01-01T00:00:00Z"))
    assert time == at("2026-11-30T23:00:00Z")
    assert steps < 400


def never_joined() -> Exclusions:
    """Every second, in a form that is passed over second by second."""
    return Exclusions(
        tuple(during(second=second, month=month) for second, month in (("*/2", "*"), ("1/2", "1-6"), ("1/2", "7-12")))
    )


def test_a_search_that_gives_up_says_so_and_where() -> None:
    spec = Spec(crons=("* * * * * *",), exclude=never_joined())
    with pytest.raises(TooManyExclusions, match="gave up after 1,000 excluded times") as problem:
        spec.compiled.search(at("2026-01-01T00:00:00Z"), give_up=1000)
    assert "from 2026-01-01T00:00:01Z to 2026-01-01T00:16:41Z" in str(problem.value)


def test_at_the_door_giving_up_is_not_called_never() -> None:
    began = time.process_time()
    with pytest.raises(SpecError, match="no first time of this spec was found: the search gave up") as problem:
        every("1s", exclude=[never_joined()])
    assert "never match" not in str(problem.value)
    assert time.process_time() - began < 2


def test_asking_whether_one_time_matches_never_searches() -> None:
    compiled = Spec(crons=("* * * * * *",), exclude=never_joined()).compiled
    began = time.process_time()
    assert not any(compiled.matches(at("2026-01-01T00:00:00Z") + n * SECOND) for n in range(1000))
    assert time.process_time() - began < 0.5


def test_a_time_matches_only_between_start_and_end() -> None:
    spec = every("1h", start="2026-01-01T10:00Z", end="2026-01-01T12:00Z")
    hours = [h for h in range(24) if spec.matches(datetime(2026, 1, 1, h, tzinfo=UTC))]
    assert hours == [10, 11, 12]


@pytest.mark.parametrize(
    "spec",
    [
        Spec(crons=("0 9 * * *",), dialect="temporal", exclude=Exclusions((during(hour=9),))),
        Spec(crons=("0 9 * * *",), dialect="temporal", end=at("1899-01-01T00:00:00Z")),
        Spec(crons=("0 9 1 1 *",), dialect="temporal", start=at("2026-02-01T00:00Z"), end=at("2026-03-01T00:00Z")),
    ],
)
def test_the_temporal_dialect_warns_when_exclusions_or_bounds_leave_nothing(spec: Spec) -> None:
    (warning,) = spec.check()
    assert "gave up" in warning or "it has no time between" in warning


def test_the_warning_that_nothing_is_left_stands_beside_others() -> None:
    spec = Spec(crons=("0 9 * * 5#2", "0 9 31 2 *"), dialect="temporal", exclude=Exclusions((during(hour=9),)))
    comment, never, left = spec.check()
    assert "is a comment" in comment
    assert "'0 9 31 2 *' can never match" in never
    assert "it has no time between" in left


def random_exclusions(dice: random.Random) -> tuple[Calendar, ...]:
    field = {
        "second": ["*", "0", "0-29", "*/2"],
        "minute": ["*", "0", "30", "*/2", "0-40", "15,45"],
        "hour": ["*", "2", "0-3", "*/2", "3-23", "1,3"],
        "day_of_week": ["*", "*", "sun", "1-5"],
        "day_of_month": ["*", "*", "29", "L"],
    }
    return tuple(
        read_calendar({name: dice.choice(texts) for name, texts in field.items()}) for _ in range(dice.randint(1, 3))
    )


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "America/Havana"])
def test_passing_over_at_once_leaves_what_passing_over_one_by_one_leaves(zone: str) -> None:
    dice = random.Random(zone)
    changes = {"Pacific/Apia": "2011-12-30T10:00:00Z", "America/Havana": "2026-03-08T05:00:00Z"}
    middle = at(changes.get(zone, "2026-03-29T01:00:00Z" if zone != "Australia/Lord_Howe" else "2026-04-04T15:00:00Z"))
    first, last = middle - 3 * 86_400 * SECOND, middle + 3 * 86_400 * SECOND
    sources = ["30 2 * * *", "*/15 * * * *", "0,30 0-4 * * *", "10 0,30 2-3 * * *", "7,37 1-3 29,30 * *"]
    for _ in range(60):
        excluded = random_exclusions(dice)
        # Where nothing is left, the search ends with the window.
        unlimited = Spec(crons=(dice.choice(sources),), tz=zone, dst=dice.choice(["cron", "wall"]))
        bounded = replace(unlimited, start=first, end=last, exclude=Exclusions(excluded))
        all_times, left = unlimited.compiled, bounded.compiled
        walls = [WallClock(c) for c in excluded]
        expected = [
            t
            for t in all_times.between(first, last)
            if not any(w.matches(t // SECOND + left.zone.offset(t // SECOND)) for w in walls)
        ]
        assert list(left.between(first, last)) == expected, bounded
        back: list[Micros] = []
        while (before := left.previous(back[-1] if back else last + 1)) is not None and before >= first:
            back.append(before)
        assert back[::-1] == expected, bounded
        assert [t for t in all_times.between(first, last) if left.matches(t)] == expected


@pytest.mark.parametrize("tz", ["", "Europe/Berlin"])
def test_a_spec_with_everything_left_out_can_never_match(tz: str) -> None:
    with pytest.raises(SpecError, match="this spec can never match"):
        cron("0 5 * * *", tz=tz, exclude=[during(hour="*")])
