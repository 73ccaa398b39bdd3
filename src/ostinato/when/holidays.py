"""Holidays: exclusions made from an iCalendar document. The caller reads the file.

Needs the extra `ical`. All-day events leave out whole local days, timed events their stretch of time,
and recurring ones every recurrence from `first_year` through `last_year`.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

from ostinato.errors import SpecError
from ostinato.when.exclusions import Exclusions
from ostinato.when.instants import Micros, from_datetime
from ostinato.when.moments import read_moment
from ostinato.when.zones import zone

_MOST = 20_000


def holidays(text: str, *, tz: str = "", first_year: int = 2000, last_year: int = 2100) -> Exclusions:
    """What the events of an iCalendar document leave out. `tz` is for timed events that name no zone."""
    try:
        import icalendar
        import recurring_ical_events
    except ImportError:
        raise SpecError(
            "reading iCalendar documents needs the extra 'ical'", field="exclude", hint="pip install 'ostinato[ical]'"
        ) from None
    try:
        document = icalendar.Calendar.from_ical(text)
        found = recurring_ical_events.of(document).after(datetime(first_year, 1, 1, tzinfo=UTC))
        events = list(islice(_until(found, last_year), _MOST + 1))
    except (ValueError, KeyError, IndexError, TypeError) as problem:
        raise SpecError(
            f"this is not an iCalendar document: {problem}",
            field="exclude",
            value=text[:40],
            hint="it begins with BEGIN:VCALENDAR and holds VEVENTs",
        ) from None
    if len(events) > _MOST:
        raise SpecError(
            f"the iCalendar document has more than {_MOST:,} events until {last_year}",
            field="exclude",
            value=last_year,
            hint="give a nearer last_year, or write the rhythm as during(…)",
        )
    dates: set[date] = set()
    spans: set[tuple[Micros, Micros]] = set()
    for event in events:
        first, end = event.start, event.end
        if isinstance(first, datetime):
            span = _instant(first, tz), _instant(end, tz)
            if span[1] > span[0]:
                spans.add(span)
        else:
            last = end - timedelta(days=1) if end > first else first
            dates.update(first + timedelta(days=n) for n in range((last - first).days + 1))
    return Exclusions(dates=tuple(sorted(dates)), spans=tuple(sorted(spans)))


def _until(events, last_year: int):  # type: ignore[no-untyped-def]
    for event in events:
        if event.start.year > last_year:
            return
        yield event


def _instant(moment: date, tz: str) -> Micros:
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    if moment.tzinfo is not None:
        return from_datetime(moment)
    return read_moment(moment, zone(tz) if tz else None, "exclude")
