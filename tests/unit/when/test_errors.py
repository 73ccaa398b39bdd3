"""Bad input: the error names the field, the value and what would be right."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from ostinato import Spec, SpecError, calendar, cron, every, once
from ostinato.when import Range
from ostinato.when.field_grammar import Dialect
from ostinato.when.spec_text import parse_spec_text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 24 * * *", "hour 24 is out of range 0–23 in '0 24 * * *'; did you mean 0?"),
        ("60 * * * *", "minute 60 is out of range 0–59 in '60 * * * *'; did you mean 0?"),
        ("0 9 0 * *", "day of month 0 is out of range 1–31 in '0 9 0 * *'; did you mean 1?"),
        ("0 9 32 * *", "'L' is the last day of the month"),
        ("0 9 * 13 *", "month 13 is out of range 1–12"),
        ("0 9 * * 8", "7 is Sunday too"),
        ("0 9 * * mno", "did you mean 'mon'?"),
        ("0 9 * * sat-sun", "did you mean '6-7'?"),
        ("0 9 * * fri-mon", "write 'fri-sat,sun-mon'"),
        ("50-10 * * * *", "write '50-59,0-10'"),
        ("*/0 * * * *", "is not a number from 1"),
        ("0 9 ? * *", "write '*' for any"),
        ("0 9 * L *", "'L', 'LW' and '15W' go into day of month"),
        ("0 9 * * 5#6", "use 1 to 5"),
        ("0 9 40W * *", "day of month 40 is out of range"),
        (",1 * * * *", "an item of the list is empty"),
        ("* * * *", "has 4 fields; a cron string has 5"),
        ("* * * * * * *", "7 fields are the temporal dialect"),
        ("", "has 0 fields"),
        ("@dayly", "did you mean '@daily'?"),
        ("@every 5m", "(in Python every('5m'))"),
        ("@reboot", "is not a shorthand"),
        ("0 9 31 2 *", "can never match"),
        ("0 9 30,31 2 *", "can never match"),
        ("٣ * * * *", "is not a value"),
        ("CRON_TZ=Europe/Berlinn 0 9 * * *", "did you mean 'Europe/Berlin'?"),
    ],
)
def test_cron_strings(text: str, message: str) -> None:
    with pytest.raises(SpecError) as problem:
        cron(text)
    assert message in str(problem.value)
    assert problem.value.field


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cron("0 9 * * *", tz="Europe/Berln"), "did you mean 'Europe/Berlin'?"),
        (lambda: cron("0 9 * * *", tz="../etc/passwd"), "is not a time zone"),
        (lambda: once("2026-03-29T02:30", tz="Europe/Berlin"), "does not exist in Europe/Berlin"),
        (lambda: once("2026-10-25T02:30", tz="Europe/Berlin"), "happens twice in Europe/Berlin"),
        (lambda: once("2026-03-29T02:30"), "has no offset"),
        (lambda: once(), "once() needs a time"),
        (lambda: cron(), "cron() needs a cron string"),
        (lambda: every("P1M"), "needs an anchor"),
        (lambda: every("1M"), "'1m' is minutes, 'P1M' is months"),
        (lambda: every("15"), "it has no unit"),
        (lambda: every("P5H"), "'PT5H'"),
        (lambda: every("P"), "is not a duration"),
        (lambda: every("100ms"), "the minimum is one second"),
        (lambda: every("P99999Y", anchor="2026-01-01T00:00Z"), "10,000 years"),
        (lambda: every("1h", phase="1h"), "less than the interval"),
        (lambda: every("1h", phase="5m", anchor="2026-01-01T00:00Z"), "a phase or an anchor"),
        (lambda: calendar(hour=25), "hour 25 is out of range 0–23"),
        (lambda: calendar(day_of_month=30, month=2), "can never match"),
        (lambda: calendar(comment="x" * 201), "the maximum is 200"),
        (lambda: cron("CRON_TZ=Asia/Tokyo 0 9 * * *", tz="Europe/Berlin"), "name it once"),
        (lambda: cron("0 9 * * *", end="1899-01-01T00:00Z"), "it has no time between"),
        (lambda: cron("0 9 * * *", exclude=["xmas"]), "exclude 'xmas' is not a day"),
    ],
)
def test_builders(make: Callable[[], Spec], message: str) -> None:
    with pytest.raises(SpecError) as problem:
        make()
    assert message in str(problem.value)


def test_a_naive_moment_is_ambiguous() -> None:
    with pytest.raises(SpecError, match="has no offset"):
        cron("0 9 * * *").next(datetime(2026, 1, 1))  # noqa: DTZ001
    assert cron("0 9 * * *").next(datetime(2026, 1, 1, tzinfo=UTC)) == datetime(2026, 1, 1, 9, tzinfo=UTC)


def test_several_problems_are_told_together() -> None:
    with pytest.raises(SpecError) as problem:
        cron("99 99 * * *")
    assert "minute 99" in str(problem.value)
    assert "hour 99" in str(problem.value)


LONG = "9" * 5000


@pytest.mark.parametrize("dialect", ["cron", "temporal"])
@pytest.mark.parametrize(
    "text",
    [
        "0 9 * * 5#²",
        "0 9 ١W * *",
        "0 9 ²W * *",
        "² 9 * * *",
        "*/² 9 * * *",
        "*/١ 9 * * *",
        f"{LONG} 9 * * *",
        f"*/{LONG} 9 * * *",
        f"0-{LONG} 9 * * *",
        f"0 9 {LONG}W * *",
        f"0 9 * * {LONG}#2",
        f"0 9 * * 5#{LONG}x",
        f"0 9 * * {'x' * 5000}",
        f"@every {LONG}s",
        f"@every 1h/{LONG}s",
        f"@{LONG}",
        "0 9 * * * # \ud800",
    ],
)
def test_no_text_brings_forth_anything_but_a_spec_error(text: str, dialect: Dialect) -> None:
    try:
        cron(text, dialect=dialect)
    except SpecError as problem:
        assert len(str(problem)) < 1000
    else:
        assert dialect == "temporal"  # everything after '#' is a comment there
        assert "#" in text


@pytest.mark.parametrize(
    "make",
    [
        lambda: calendar(hour=10**5000),
        lambda: calendar(hour=-(10**5000)),
        lambda: calendar(hour=Range(0, 10**5000)),
        lambda: calendar(hour=Range(0, 5, -(10**5000))),
        lambda: calendar(hour=LONG),
        lambda: calendar(hour=[[9]]),  # type: ignore[list-item]
        lambda: calendar(comment="\ud800"),
        lambda: calendar(comment=5),  # type: ignore[arg-type]
        lambda: calendar(hour=None),  # type: ignore[arg-type]
    ],
)
def test_no_calendar_brings_forth_anything_but_a_spec_error(make: Callable[[], Spec]) -> None:
    with pytest.raises(SpecError) as problem:
        make()
    assert len(str(problem.value)) < 1000


def test_a_set_of_values_is_taken_in_its_order() -> None:
    assert calendar(hour={17, 9, 10}) == calendar(hour=[9, 10, 17])
    assert calendar(hour=frozenset({"9-10", 3})) == calendar(hour=[3, "9-10"])


@pytest.mark.parametrize(
    ("make", "right"),
    [
        (lambda: cron("0 9 * * 7-2"), "did you mean '0-2'?"),
        (lambda: cron("0 9 * * 7-0"), "did you mean '0'?"),
        (lambda: calendar(year=2101), "year 2101 is out of range 2000–2100"),
    ],
)
def test_what_is_suggested_would_be_right(make: Callable[[], Spec], right: str) -> None:
    with pytest.raises(SpecError) as problem:
        make()
    assert right in str(problem.value)
    assert "2000?" not in str(problem.value)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("2026-02-28", "a time of day is missing: write '2026-02-28T09:00'"),
        ("2026-02-30", "there is no such day"),
        ("2026-13-01", "there is no such day"),
    ],
)
def test_a_day_without_a_time_is_told_from_one_that_does_not_exist(text: str, hint: str) -> None:
    with pytest.raises(SpecError, match=re.escape(f"{text!r} is not a spec; {hint}")):
        parse_spec_text(text)
