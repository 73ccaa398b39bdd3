"""Holidays from an iCalendar document."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ostinato import SpecError, cron, every
from ostinato.when.holidays import holidays


def document(*events: str) -> str:
    body = "".join(f"BEGIN:VEVENT\r\nUID:{n}@test\r\n{event}\r\nEND:VEVENT\r\n" for n, event in enumerate(events))
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\n{body}END:VCALENDAR\r\n"


def test_an_all_day_event_leaves_out_its_local_days() -> None:
    exclusions = holidays(document("DTSTART;VALUE=DATE:20261224\r\nDTEND;VALUE=DATE:20261227\r\nSUMMARY:Christmas"))
    assert [d.isoformat() for d in exclusions.dates] == ["2026-12-24", "2026-12-25", "2026-12-26"]
    spec = cron("0 9 * * *", tz="Asia/Tokyo", exclude=[exclusions])
    following = spec.next(datetime(2026, 12, 23, 12, tzinfo=UTC))
    assert following is not None
    assert following.isoformat() == "2026-12-27T09:00:00+09:00"


def test_a_yearly_rule_leaves_out_every_year() -> None:
    exclusions = holidays(
        document(
            "DTSTART;VALUE=DATE:20200501\r\nRRULE:FREQ=YEARLY",
            "DTSTART;VALUE=DATE:20201126\r\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH",
        ),
        first_year=2026,
        last_year=2028,
    )
    assert [d.isoformat() for d in exclusions.dates] == [
        "2026-05-01",
        "2026-11-26",
        "2027-05-01",
        "2027-11-25",
        "2028-05-01",
        "2028-11-23",
    ]


def test_a_timed_event_leaves_out_its_stretch() -> None:
    text = document("DTSTART:20260101T100000Z\r\nDTEND:20260101T120000Z", "DTSTART:20260102T100000\r\nDURATION:PT1H")
    spec = every("1h", exclude=[holidays(text, tz="Europe/Berlin")])
    hours = [t.hour for t in spec.between(datetime(2026, 1, 1, 9, tzinfo=UTC), datetime(2026, 1, 1, 13, tzinfo=UTC))]
    assert hours == [9, 12, 13]
    assert not spec.matches(datetime(2026, 1, 2, 9, tzinfo=UTC))


def test_exceptions_to_a_rule_are_honoured() -> None:
    exclusions = holidays(
        document("DTSTART;VALUE=DATE:20200501\r\nRRULE:FREQ=YEARLY\r\nEXDATE;VALUE=DATE:20270501"),
        first_year=2026,
        last_year=2028,
    )
    assert [d.year for d in exclusions.dates] == [2026, 2028]


def test_what_is_no_calendar_is_refused() -> None:
    with pytest.raises(SpecError, match="not an iCalendar document"):
        holidays("hello")


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("DTSTART:20200101T000000Z\r\nDURATION:PT1M\r\nRRULE:FREQ=MINUTELY", "repeats MINUTELY"),
        ("DTSTART;VALUE=DATE:20200101\r\nRRULE:FREQ=DAILY", "more than 20,000 events"),
        ("DTSTART;VALUE=DATE:20260101\r\nDTEND;VALUE=DATE:99991231", "beyond the year 9999"),
        ("DTSTART:20260101T000000Z\r\nDTEND:99991231T235959Z", "beyond the year 9999"),
        ("DTSTART;VALUE=DATE:20260101\r\nDURATION:P3650000D", "beyond the year 9999"),
        ("DTSTART;VALUE=DATE:20260105\r\nDTEND;VALUE=DATE:20260101", "ends before it starts"),
        ("DTSTART:20260105T000000Z\r\nDTEND:20260101T000000Z", "ends before it starts"),
        ("DTSTART;VALUE=DATE:20260105\r\nDURATION:-P3D", "ends before it starts"),
        ("SUMMARY:when?", "not an iCalendar document"),
        ("DTSTART:soon", "not an iCalendar document"),
    ],
)
def test_an_event_that_cannot_be_meant_is_refused(event: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        holidays(document(event))


@pytest.mark.parametrize("text", [None, 5, ["BEGIN:VCALENDAR"]])
def test_what_is_no_text_is_refused(text: Any) -> None:
    with pytest.raises(SpecError, match="is not the text"):
        holidays(text)


@pytest.mark.parametrize("years", [(0, 2100), (2000, 10_000), (2030, 2020)])
def test_years_that_cannot_be_counted_are_refused(years: tuple[int, int]) -> None:
    with pytest.raises(SpecError, match="are not within 1 to 9998"):
        holidays(document("DTSTART;VALUE=DATE:20260105"), first_year=years[0], last_year=years[1])


def test_long_events_that_overlap_are_left_out_day_by_day() -> None:
    rule = "DTSTART;VALUE=DATE:20200101\r\nDTEND;VALUE=DATE:20210101\r\nRRULE:FREQ=DAILY;UNTIL=20220101"
    exclusions = holidays(document(rule), first_year=2021, last_year=2022)
    assert (len(exclusions.dates), str(exclusions.dates[0]), str(exclusions.dates[-1])) == (
        730,
        "2021-01-01",
        "2022-12-31",
    )
