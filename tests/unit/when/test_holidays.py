"""Holidays from an iCalendar document."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ostinato import SpecError, cron, every
from ostinato.when.holidays import holidays


def document(*events: str) -> str:
    body = "".join(f"BEGIN:VEVENT\r\nUID:{n}@test\r\n{event}\r\nEND:VEVENT\r\n" for n, event in enumerate(events))
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\n{body}END:VCALENDAR\r\n"


def test_an_all_day_event_leaves_out_its_local_days() -> None:
    found = holidays(document("DTSTART;VALUE=DATE:20261224\r\nDTEND;VALUE=DATE:20261227\r\nSUMMARY:Christmas"))
    assert [d.isoformat() for d in found.dates] == ["2026-12-24", "2026-12-25", "2026-12-26"]
    spec = cron("0 9 * * *", tz="Asia/Tokyo", exclude=[found])
    following = spec.next(datetime(2026, 12, 23, 12, tzinfo=UTC))
    assert following is not None
    assert following.isoformat() == "2026-12-27T09:00:00+09:00"


def test_a_yearly_rule_leaves_out_every_year() -> None:
    found = holidays(
        document(
            "DTSTART;VALUE=DATE:20200501\r\nRRULE:FREQ=YEARLY",
            "DTSTART;VALUE=DATE:20201126\r\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH",
        ),
        first_year=2026,
        last_year=2028,
    )
    assert [d.isoformat() for d in found.dates] == [
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
    found = holidays(
        document("DTSTART;VALUE=DATE:20200501\r\nRRULE:FREQ=YEARLY\r\nEXDATE;VALUE=DATE:20270501"),
        first_year=2026,
        last_year=2028,
    )
    assert [d.year for d in found.dates] == [2026, 2028]


def test_what_is_no_calendar_is_refused() -> None:
    with pytest.raises(SpecError, match="not an iCalendar document"):
        holidays("hello")


def test_a_document_without_end_is_refused() -> None:
    with pytest.raises(SpecError, match="more than 20,000 events"):
        holidays(document("DTSTART:20200101T000000Z\r\nDURATION:PT1M\r\nRRULE:FREQ=MINUTELY"))
