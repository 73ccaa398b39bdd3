"""Specs in plain words."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from ostinato import Spec, calendar, cron, during, every, manual, once
from ostinato.when import Exclusions


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 9 * * 1-5", "At 09:00 on weekdays"),
        ("*/5 * * * *", "Every 5 minutes"),
        ("*/7 * * * *", "Every 7 minutes from minute 0 through 56 of the hour"),
        ("*/15 9-17 * * 1-5", "Every 15 minutes from 09:00 through 17:59 on weekdays"),
        ("0 0 29 2 *", "At 00:00 on the 29th in February"),
        ("0 */2 * * *", "Every 2 hours"),
        ("@hourly", "Every hour"),
        ("* * * * *", "Every minute"),
        ("* * * * * *", "Every second"),
        ("1 * * * *", "At 1 minute past every hour"),
        ("5 9-17 * * *", "At 5 minutes past hours 9–17"),
        ("0 8-18 * * *", "Every hour from 08:00 through 18:00"),
        ("0 0 1,15 * *", "At 00:00 on the 1st and 15th of the month"),
        ("0 0 13 * 5", "At 00:00 on the 13th of the month or on Friday"),
        ("0 12 L * *", "At 12:00 on the last day of the month"),
        ("0 12 LW * *", "At 12:00 on the last weekday of the month"),
        ("0 9 15W * *", "At 09:00 on the weekday nearest the 15th of the month"),
        ("0 9 * * 5#2", "At 09:00 on the second Friday of the month"),
        ("0 9 * * FRIL", "At 09:00 on the last Friday of the month"),
        ("0 9 * * mon,wed", "At 09:00 on Monday and Wednesday"),
        ("0 9 * * 4-6", "At 09:00 on Thursday through Saturday"),
        ("0 9,17 * * 0,6", "At 09:00 and 17:00 on weekends"),
        ("0 0 */2 * *", "At 00:00 on every 2nd day from the 1st through the 31st of the month"),
        ("0 9 * 1-3,6 *", "At 09:00 in January through March and June"),
        ("30 * * * * *", "At second 30 of every minute"),
        ("*/10 * 9 * * *", "Every 10 seconds during hour 9"),
        ("0,10,11,40,41,42 1 * * *", "At 01:00, 01:10, 01:11, 01:40, 01:41 and 01:42"),
        ("1,2,4,7,11,16,22 * * * *", "At minutes 1, 2, 4, 7, 11, 16 and 22 of the hour"),
        ("7 */3 * * *", "At 7 minutes past every 3rd hour from 00:00 through 21:00"),
        ("*/30 9-17 * * *", "Every 30 minutes from 09:00 through 17:59"),
        ("*/30 * * * *", "Every 30 minutes"),
        ("15,45 * * * *", "At minutes 15 and 45 of the hour"),
        ("*/30 * * * * *", "Every 30 seconds"),
        ("*/5 */3 * * *", "Every 5 minutes during every 3rd hour from 00:00 through 21:00"),
        ("30 5 * * * *", "At 5 minutes and 30 seconds past every hour"),
        ("30 0 9-17 * * *", "At 30 seconds past hours 9–17"),
        ("30 */5 * * * *", "Every 5 minutes at second 30"),
        ("30 1,2,7 * * * *", "At second 30 of minutes 1, 2 and 7 of the hour"),
        ("30 1,2,7,9 1,3 * * *", "At second 30 of minutes 1, 2, 7 and 9 of hours 1 and 3"),
        ("*/10 5 * * * *", "Every 10 seconds during minute 5 of the hour"),
        (
            "0 9 */2 * 5#2",
            "At 09:00 on every 2nd day from the 1st through the 31st of the month "
            "if it is the second Friday of the month",
        ),
        (
            "0 9 */10 * 1,5#2",
            "At 09:00 on every 10th day from the 1st through the 31st of the month "
            "if it is a Monday or the second Friday of the month",
        ),
    ],
)
def test_cron_strings(text: str, words: str) -> None:
    assert cron(text).describe() == f"{words}, UTC"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (manual(), "Only when asked to"),
        (every("90m"), "Every 1 hour and 30 minutes"),
        (every("1d"), "Every day"),
        (every("1h", phase="5m"), "Every hour, 5 minutes past"),
        (every("1.5s"), "Every 1.5 seconds"),
        (
            every("P1M", anchor="2026-01-31T09:00", tz="Europe/Berlin"),
            "Every month from 2026-01-31 09:00, Europe/Berlin",
        ),
        (once("2026-03-01T09:00:30Z"), "At 2026-03-01 09:00:30, UTC"),
        (
            once(*(f"2026-03-0{n}T09:00Z" for n in range(1, 7))),
            "At 6 single times from 2026-03-01 09:00 through 2026-03-06 09:00, UTC",
        ),
        (calendar(hour=9, year="2027"), "At 09:00 in 2027, UTC"),
        (
            cron("0 9 1-7 * 1", dialect="temporal"),
            "At 09:00 on the 1st through 7th of the month if it is a Monday, UTC",
        ),
        (cron("@every 5m", dialect="temporal"), "Every 5 minutes, UTC"),
        (cron("0 9 * * *") | every("2h"), "At 09:00; every 2 hours, UTC"),
        (
            cron("0 9 * * *", exclude=[during(month=12, day_of_month="24-26")]),
            "At 09:00, except on the 24th through 26th in December, UTC",
        ),
        (cron("0 9 * * *", exclude=[during(day_of_week="mon")]), "At 09:00, except on Monday, UTC"),
        (every("1h", exclude=[during(hour="12-13")]), "Every hour, except during hours 12 and 13, UTC"),
        (
            every("1h", exclude=[during(minute=0, hour=5)]),
            "Every hour, except during minute 0 of hour 5, UTC",
        ),
        (every("1h", exclude=[during(minute=30)]), "Every hour, except during minute 30 of the hour, UTC"),
        (
            every("1h", exclude=[during(minute="0-29", hour="9-17", day_of_week="mon-fri")]),
            "Every hour, except during minutes 0–29 of the hour from 09:00 through 17:59 on weekdays, UTC",
        ),
        (Spec(crons=("0 9 * * *",), exclude=Exclusions((during(),))), "At 09:00, except always, UTC"),
        (cron("0 9 * * *", exclude=["2026-05-01"]), "At 09:00, except 2026-05-01, UTC"),
        (
            cron("0 9 * * *", exclude=[Exclusions(dates=(date(2026, 5, 2), date(2026, 5, 1), date(2026, 5, 2)))]),
            "At 09:00, except 2026-05-01 and 2026-05-02, UTC",
        ),
        (every("1h", start="2026-01-01T00:00", tz="Asia/Tokyo"), "Every hour, from 2026-01-01 00:00, Asia/Tokyo"),
        (
            once("2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-10-25T03:30:00.25Z", tz="Europe/Berlin"),
            "At 2026-10-25 02:30+02:00, 2026-10-25 02:30+01:00 and 2026-10-25 04:30:00.25, Europe/Berlin",
        ),
        (
            cron("0 9 1-7 * 4-6", dialect="temporal"),
            "At 09:00 on the 1st through 7th of the month if it is a Thursday, Friday or Saturday, UTC",
        ),
        (
            cron("0 9 * * *", exclude=[Exclusions(dates=tuple(date(2026, 1, n) for n in range(1, 9)))]),
            "At 09:00, except 8 days from 2026-01-01 through 2026-01-08, UTC",
        ),
        (
            cron(
                "0 9 * * *",
                exclude=[(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC))],
                start="2025-01-01T00:00Z",
                end="2027-01-01T00:00Z",
                jitter="10m",
            ),
            "At 09:00, except from 2026-01-01 00:00 to 2026-01-02 00:00, from 2025-01-01 00:00, "
            "until 2027-01-01 00:00, each up to 10 minutes late, UTC",
        ),
    ],
)
def test_specs(spec: Spec, words: str) -> None:
    assert spec.describe() == words


def test_an_empty_field_is_said() -> None:
    spec = Spec(calendars=(calendar(hour="9").calendars[0].__class__(hour=()),), dialect="temporal")
    assert spec.describe().startswith("Never")
