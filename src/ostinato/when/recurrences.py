"""Compute recurrences: anchor, anchor + period, anchor + 2 × period and so on. Months and days follow the calendar."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

from ostinato.when.days import epoch_day
from ostinato.when.durations import Duration
from ostinato.when.instants import DAY_SECONDS, SECOND, Micros
from ostinato.when.sources import Source, Steps, interval_source
from ostinato.when.zones import FAR, LAST_YEAR, Zone, epoch_second

_MONTH: Micros = 2_629_746 * SECOND  # the mean month of the Gregorian calendar
_END: Micros = epoch_second(LAST_YEAR + 1) * SECOND


def recurrence_source(anchor: Micros, period: Duration, zone: Zone, literal: bool) -> Source:
    """Return a source of the times anchor, anchor + period, anchor + 2 × period and so on.

    Months and days are counted in the zone's wall-clock time. If a month lacks the anchor's day, the month's last day
    is used. Hours, minutes and seconds are elapsed time. If `literal` is true, the wall rule for daylight saving
    applies, otherwise the cron rule (see `daylight_saving`).
    """
    if not period.months and not period.days:
        return _anchored_interval(anchor, period.micros)
    mean = period.months * _MONTH + period.exact
    # The k-th time differs from anchor + k * mean by at most this much: months and years differ in length, and the
    # zone's offset may change.
    slack = (8 if period.months else 2) * DAY_SECONDS * SECOND
    start, fraction = divmod(anchor, SECOND)
    first_day, time = divmod(start + zone.offset(start), DAY_SECONDS)
    first = date(1970, 1, 1) + timedelta(days=first_day)

    def instants(number: int) -> list[Micros]:
        """Return the instants of anchor + `number` × period. Usually there is one. If `literal` is true, a time in a
        gap has no instant, and a time in a fold has two."""
        if number <= 0:
            return [anchor] if number == 0 else []
        year, month = divmod(first.year * 12 + first.month - 1 + number * period.months, 12)
        if year > 9998:
            return []
        length = monthrange(year, month + 1)[1]
        day = epoch_day(date(year, month + 1, min(first.day, length))) + number * period.days
        wall = day * DAY_SECONDS + time
        seconds = zone.instants(wall) if literal else [zone.first_at_or_past(wall)]
        return [second * SECOND + fraction + number * period.micros for second in seconds]

    def following(after: Micros) -> Micros:
        number = max(0, (after - anchor - slack) // mean)
        while True:
            # If a zone repeats a whole day, the k-th time may be later than the time after it, so compute both.
            candidates = [t for k in (number, number + 1) for t in instants(k) if t > after]
            if candidates:
                return min(candidates)
            if anchor + number * mean > _END + slack:
                return FAR
            number += 1

    def preceding(before: Micros) -> Micros:
        number = (min(before, _END) - anchor + slack) // mean + 1
        while number >= 0:
            candidates = [t for k in (number, number - 1) for t in instants(k) if t < before]
            if candidates:
                return max(candidates)
            number -= 1
        return -FAR

    return Steps(following, preceding)


def _anchored_interval(anchor: Micros, every: Micros) -> Source:
    steps = interval_source(every, anchor % every)
    return Steps(
        lambda after: max(anchor, steps.next(after)),
        lambda before: steps.previous(before) if before > anchor else -FAR,
    )
