"""Turn an iCalendar document, for example one with holidays, into exclusions. The extra `ical` is needed.

An all-day event excludes whole local days. A timed event excludes its span of time. Events before `first_year` or after
`last_year` are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Any

from ostinato.errors import SpecError, install_hint, short_repr
from ostinato.when.exclusions import Exclusions
from ostinato.when.instants import Micros
from ostinato.when.local_times import read_moment
from ostinato.when.zones import Zone, zone, zone_name

_MOST = 20_000
_TOO_OFTEN = ("SECONDLY", "MINUTELY", "HOURLY")


def holidays(text: str, *, tz: str = "", first_year: int = 2000, last_year: int = 2100) -> Exclusions:
    """Return the exclusions for the events of an iCalendar document. Events before `first_year` or after `last_year`
    are left out. If a time in the document has no zone, `tz` is its zone. Raises `SpecError` if the document cannot be
    read or has too many events, or if the extra `ical` is not installed."""
    try:
        import icalendar
        import recurring_ical_events
    except ImportError:
        raise SpecError(
            "reading iCalendar documents needs the extra 'ical'", field="exclude", hint=install_hint("ical")
        ) from None
    if not isinstance(text, str | bytes):
        raise _refusal(f"{short_repr(text)} is not the text of an iCalendar document", text)
    if not 1 <= first_year <= last_year <= 9998:
        raise _refusal(f"the years {first_year!r} to {last_year!r} are not within 1 to 9998", last_year)
    at = zone(zone_name(tz)) if tz else None
    try:
        document = icalendar.Calendar.from_ical(text)
        for event in document.walk("VEVENT"):
            _check(event)
        times = _by_year(recurring_ical_events.of(document), first_year, last_year)
        events = list(islice(times, _MOST + 1))
    except SpecError:
        raise
    except OverflowError:
        raise _refusal("an event of the iCalendar document ends beyond the year 9999", text[:40]) from None
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as problem:
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
            hint="give an earlier last_year, or write the recurrence as during(…)",
        )
    dates: set[date] = set()
    spans: set[tuple[Micros, Micros]] = set()
    for first, end in events:
        if isinstance(first, datetime):
            span = _instant(first, at), _instant(end, at)
            if span[1] > span[0]:
                spans.add(span)
        else:
            dates.update(_days(first, end, first_year, last_year))
    return Exclusions(dates=tuple(sorted(dates)), spans=tuple(sorted(spans)))


def _check(event: Any) -> None:
    """Raise `SpecError` if an event ends before it starts, or repeats too often to compute: hourly or more often."""
    first, end, length = event.DTSTART, event.DTEND, event.DURATION
    if (end is not None and type(end) is type(first) and end < first) or (length and length < timedelta()):
        raise _refusal(f"the event of {first} ends before it starts", str(end or length))
    rules = event.get("RRULE") or []
    for rule in rules if isinstance(rules, list) else [rules]:
        often = str((rule.get("FREQ") or [""])[0]).upper()
        if often in _TOO_OFTEN:
            raise _refusal(f"the event of {first} repeats {often}, which is no holiday", often)


def _by_year(query: Any, first_year: int, last_year: int) -> Iterator[tuple[date, date]]:
    """Yield (start, end) of each event in the years from `first_year` through `last_year`. `query` finds the events of
    a period. If an event is in two years, it is yielded only once."""
    seen = set()
    for year in range(first_year, last_year + 1):
        for event in query.between(datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)):
            if event.start.year <= last_year and (event.start, event.end) not in seen:
                seen.add((event.start, event.end))
                yield event.start, event.end


def _days(first: date, end: date, first_year: int, last_year: int) -> Iterator[date]:
    """Yield the days of an all-day event, from `first_year` to `last_year`. `end` is the day after the event's last
    day. If `end` equals `first`, the event has one day."""
    last = min(max(first, end - timedelta(days=1)), date(last_year, 12, 31))
    first = max(first, date(first_year, 1, 1))
    return (first + timedelta(days=n) for n in range((last - first).days + 1))


def _instant(moment: date, at: Zone | None) -> Micros:
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    return read_moment(moment, at, "exclude")


def _refusal(message: str, value: object) -> SpecError:
    return SpecError(message, field="exclude", value=value, hint="correct it, or write the days as during(…)")
