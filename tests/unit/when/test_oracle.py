"""Every dialect and both daylight-saving rules agree with a walk along the wall clock."""

from __future__ import annotations

import os
import random
from bisect import bisect_left, bisect_right
from dataclasses import replace
from itertools import pairwise

import pytest

from ostinato import SpecError
from ostinato.when import Calendar, Duration, Exclusions, Recurrence, Spec
from ostinato.when.calendars import read_calendar
from ostinato.when.instants import SECOND
from ostinato.when.times import Compiled
from tests.unit.when import oracle

DAY = 86_400
# One of every kind: half-hour and two-hour shifts, gaps at midnight, date-line jumps, standard time ahead
# of summer time, several changes a year, changes of the standard offset, and none at all.
ZONES = (
    "America/New_York Europe/Berlin Europe/London Europe/Dublin Australia/Lord_Howe Antarctica/Troll "
    "Pacific/Apia Pacific/Kwajalein Pacific/Chatham Africa/Casablanca Africa/Cairo America/Havana "
    "America/Santiago America/Asuncion Asia/Tehran Asia/Beirut Asia/Gaza Asia/Pyongyang America/Caracas "
    "Europe/Istanbul Atlantic/Azores America/Nuuk Asia/Kathmandu America/Sao_Paulo Africa/Monrovia "
    "Australia/Sydney UTC Asia/Tokyo"
).split()


def window_for(zone: str, dice: random.Random) -> oracle.Window:
    """Six days around a change of offset, if the zone has any, sometimes far in the future or the past."""
    first, last = dice.choice([(1990, 2037), (2020, 2030), (2050, 2060), (2085, 2095)])
    changes = oracle.transitions(zone, first, last) or [dice.randint(631_152_000, 2_114_380_800)]
    middle = dice.choice(changes)
    return oracle.walk(zone, middle - 3 * DAY, middle + 3 * DAY, 60)


def spec_of(text: oracle.Text, zone: str, dialect: str, rule: str) -> Spec:
    five = f"{text.minute} {text.hour} {text.day} {text.month} {text.weekday}"
    if dialect == "cron":
        return Spec(crons=(five if text.second == "0" else f"{text.second} {five}",), tz=zone, dst=rule)  # type: ignore[arg-type]
    seven = f"{text.second} {five} {text.year}"
    return Spec(crons=(seven,), tz=zone, dialect="temporal", dst=rule)  # type: ignore[arg-type]


def calendar_of(text: oracle.Text) -> Calendar:
    return read_calendar(
        {
            "second": text.second,
            "minute": text.minute,
            "hour": text.hour,
            "day_of_month": text.day,
            "month": text.month,
            "day_of_week": text.weekday,
            "year": text.year,
        }
    )


def check(dice: random.Random, window: oracle.Window, dialect: str, rule: str, starts: int, seconds: bool) -> int:
    text = oracle.random_text(dice, specials=dialect == "cron", seconds=seconds, years=dialect == "temporal")
    try:
        compiled = spec_of(text, window.zone, dialect, rule).compiled
    except SpecError as problem:
        assert "can never match" in str(problem), text
        return 0
    literal = rule == "wall" or not text.fixed or (dialect == "temporal" and spans_a_field(text))
    times = oracle.literal_times(text, window) if literal else oracle.fixed_times(text, window)
    return compare(dice, window, compiled, times, literal, starts, f"{text} {dialect} {rule}")


def spans_a_field(text: oracle.Text) -> bool:
    """A calendar, and so the temporal dialect, has a wildcard where a range spans the field; so is a star."""
    parts = [part for f in (text.second, text.minute, text.hour) for part in f.split(",")]
    return any(part.startswith(("0-59", "0-23", "0/")) for part in parts)


def compare(
    dice: random.Random,
    window: oracle.Window,
    compiled: Compiled,
    times: list[int],
    literal: bool,
    starts: int,
    what: str,
) -> int:
    low = window.seconds[0] if literal else window.seconds[1]
    last = window.seconds[-1]
    asked = 0
    for start in oracle.starts(dice, window, starts):
        if start < low:
            continue
        asked += 1
        place = f"{what} {window.zone} start {start}"
        at = bisect_right(times, start)
        following = compiled.next(start * SECOND + dice.randrange(SECOND))
        if at < len(times):
            assert following == times[at] * SECOND, place
        else:
            assert following is None or following > last * SECOND, place
        at = bisect_left(times, start)
        preceding = compiled.previous(start * SECOND)
        if at:
            assert preceding == times[at - 1] * SECOND, place
        else:
            assert preceding is None or preceding < low * SECOND, place
        assert compiled.matches(start * SECOND) == (times[at : at + 1] == [start]), place
    return asked


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    ("dialect", "rule"), [("cron", "cron"), ("cron", "wall"), ("temporal", "wall"), ("temporal", "cron")]
)
def test_next_and_previous_agree_with_a_walk(zone: str, dialect: str, rule: str) -> None:
    dice = random.Random(f"{zone} {dialect} {rule}")
    window = window_for(zone, dice)
    asked = sum(check(dice, window, dialect, rule, starts=20, seconds=False) for _ in range(6))
    assert asked > 50


@pytest.mark.parametrize(
    "zone", ["Europe/Berlin", "Australia/Lord_Howe", "Africa/Monrovia", "Europe/Amsterdam", "Asia/Kolkata"]
)
@pytest.mark.parametrize(("dialect", "rule"), [("cron", "cron"), ("cron", "wall"), ("temporal", "wall")])
def test_seconds_agree_with_a_walk_by_the_second(zone: str, dialect: str, rule: str) -> None:
    dice = random.Random(f"seconds {zone} {dialect} {rule}")
    changes = oracle.transitions(zone, 1920, 1990) if dialect == "cron" else oracle.transitions(zone, 2000, 2030)
    middle = dice.choice(changes or [1_600_000_000])
    window = oracle.walk(zone, middle - 20_000, middle + 20_000, 1)
    for _ in range(4):
        check(dice, window, dialect, rule, starts=40, seconds=True)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("rule", ["cron", "wall"])
def test_calendars_less_calendars_and_dates_agree_with_a_walk(zone: str, rule: str) -> None:
    dice = random.Random(f"calendars {zone} {rule}")
    window = window_for(zone, dice)
    reading = dict(zip(window.seconds, window.walls, strict=True))
    asked = 0
    for _ in range(8):
        text = replace(oracle.random_text(dice, specials=True, years=True), either=False)
        excluded = [oracle.random_exclusion(dice) for _ in range(dice.randint(0, 3))]
        dates = tuple(dice.choice(window.walls).date() for _ in range(dice.randint(0, 2)))
        exclude = Exclusions(tuple(map(calendar_of, excluded)), dates)
        try:
            compiled = Spec(
                calendars=(calendar_of(text),),
                exclude=exclude,
                tz=zone,
                dst=rule,  # type: ignore[arg-type]
                start=(window.seconds[0] - 9 * DAY) * SECOND,  # where nothing is left, the search ends with the window
                end=(window.seconds[-1] + 9 * DAY) * SECOND,
            ).compiled
        except SpecError as problem:
            assert "can never match" in str(problem), text
            continue
        literal = rule == "wall" or not text.fixed or spans_a_field(text)
        times = oracle.literal_times(text, window) if literal else oracle.fixed_times(text, window)
        left = [t for t in times if not oracle.is_excluded(reading[t], excluded, dates)]
        asked += compare(dice, window, compiled, left, literal, 20, f"{text} less {excluded} {dates} {rule}")
    assert asked > 50


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("rule", ["cron", "wall"])
def test_recurrences_agree_with_a_walk(zone: str, rule: str) -> None:
    dice = random.Random(f"recurrences {zone} {rule}")
    window = window_for(zone, dice)
    middle = window.seconds[0] + 2 * DAY, window.seconds[-1] - DAY
    count = 0
    for _ in range(12):
        months, days, hours = dice.choice(
            [(0, 1, 0), (0, 2, 0), (0, 7, 0), (1, 0, 0), (1, 1, 0), (12, 0, 0), (0, 1, 1)]
        )
        reach = 10 if hours else 800 if months else 100
        anchor = (window.seconds[0] - dice.randrange(reach * DAY)) // 60 * 60
        times = oracle.recurring_times(window, anchor, months, days, hours * 3600, literal=rule == "wall")
        period = Duration(months, days, hours * 3600 * SECOND)
        compiled = Spec(recurrences=(Recurrence(anchor * SECOND, period),), tz=zone, dst=rule).compiled  # type: ignore[arg-type]
        expected = [t * SECOND for t in times if middle[0] <= t <= middle[1]]
        place = f"{period} from {anchor} {zone} {rule}"
        assert list(compiled.between(middle[0] * SECOND, middle[1] * SECOND)) == expected, place
        for earlier, later in pairwise(expected):
            assert compiled.previous(later) == earlier, place
        count += len(expected)
    assert count > 0


@pytest.mark.soak
@pytest.mark.parametrize("worker", range(2))
def test_a_million_pairs_agree_with_a_walk(worker: int) -> None:
    wanted = int(os.environ.get("OSTINATO_SOAK_PAIRS", "1000000")) // 2
    dice = random.Random(f"soak {worker}")
    asked = 0
    while asked < wanted:
        window = window_for(dice.choice(ZONES), dice)
        for _ in range(30):
            dialect, rule = dice.choice(
                [("cron", "cron"), ("cron", "wall"), ("temporal", "wall"), ("temporal", "cron")]
            )
            asked += check(dice, window, dialect, rule, starts=100, seconds=False)
