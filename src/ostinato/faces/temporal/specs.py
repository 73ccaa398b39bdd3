"""Read specs from Temporal's messages, and write specs as messages.

The module `ostinato.when.temporal` defines what these specs mean.
"""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from typing import Any

from google.protobuf.json_format import ParseDict
from temporalio.api.schedule.v1 import CalendarSpec, ScheduleSpec, StructuredCalendarSpec

from ostinato.faces.temporal.times import read_duration, read_timestamp
from ostinato.when import Spec
from ostinato.when.instants import SECOND, Micros, format_instant
from ostinato.when.size_limits import check_temporal_size
from ostinato.when.temporal import spec_from_temporal, spec_to_temporal

_FIELDS = ("second", "minute", "hour", "day_of_month", "month", "year", "day_of_week")
_CALENDARS = ("structured_calendar", "calendar", "exclude_structured_calendar", "exclude_calendar")
_LISTED = 10  # calendars, cron strings and intervals, each, in a list of schedules


def read_spec(message: ScheduleSpec, field: str) -> Spec:
    """Read a spec from a message, check it as Temporal's server does, and return its canonical form.

    Raises `Wrong` or `SpecError` if the spec is invalid.
    """
    lists = (*_CALENDARS, "cron_string", "interval")
    check_temporal_size({name: [None] * len(getattr(message, name)) for name in lists})  # before anything is copied
    document: dict[str, Any] = {
        "structured_calendar": [_structured(calendar) for calendar in message.structured_calendar],
        "calendar": [_strings(calendar) for calendar in message.calendar],
        "cron_string": list(message.cron_string),
        "interval": [
            {
                "interval": _text(read_duration(interval.interval, f"{field}.interval[{n}].interval")),
                "phase": _text(read_duration(interval.phase, f"{field}.interval[{n}].phase")),
            }
            for n, interval in enumerate(message.interval)
        ],
        "exclude_structured_calendar": [_structured(calendar) for calendar in message.exclude_structured_calendar],
        "exclude_calendar": [_strings(calendar) for calendar in message.exclude_calendar],
        "timezone_name": message.timezone_name,
        "timezone_data": b64encode(message.timezone_data).decode(),
        "jitter": _text(read_duration(message.jitter, f"{field}.jitter")),
    }
    for name in ("start_time", "end_time"):
        if message.HasField(name):
            document[name] = format_instant(read_timestamp(getattr(message, name), f"{field}.{name}"))
    check_temporal_size(document)
    return spec_from_temporal(document)


def _text(length: Micros) -> str:
    sign, (whole, rest) = "-" if length < 0 else "", divmod(abs(length), SECOND)
    return f"{sign}{whole}.{rest:06d}s" if rest else f"{sign}{whole}s"


def _structured(calendar: StructuredCalendarSpec) -> dict[str, Any]:
    ranges = {
        name: [{"start": field.start, "end": field.end, "step": field.step} for field in getattr(calendar, name)]
        for name in _FIELDS
    }
    return {**ranges, "comment": calendar.comment}


def _strings(calendar: CalendarSpec) -> dict[str, Any]:
    return {**{name: getattr(calendar, name) for name in _FIELDS}, "comment": calendar.comment}


def write_spec(spec: Spec) -> ScheduleSpec:
    """Write the canonical form of a spec. Raises `SpecError` if Temporal's messages cannot express the spec."""
    message = ScheduleSpec()
    message.CopyFrom(_cached_message(spec))
    return message


@lru_cache(maxsize=4096)
def _cached_message(spec: Spec) -> ScheduleSpec:
    """Return a spec as a message. In the message, each range of a calendar has an end and a step, even if the spec has
    none.

    Callers share the returned message, so they must not change it. Raises `SpecError` if messages cannot express the
    spec.
    """
    message: ScheduleSpec = ParseDict(spec_to_temporal(spec), ScheduleSpec())
    for calendar in (*message.structured_calendar, *message.exclude_structured_calendar):
        for name in _FIELDS:
            for field in getattr(calendar, name):
                field.end = max(field.end, field.start)
                field.step = field.step or 1
    return message


def shorten(spec: ScheduleSpec) -> ScheduleSpec:
    """Shorten `spec` in place for a list of schedules, and return it. Remove the time zone data, and keep at most
    `_LISTED` cron strings, intervals, and calendars of each kind."""
    for name in (*_CALENDARS, "cron_string", "interval"):
        del getattr(spec, name)[_LISTED:]
    spec.ClearField("timezone_data")
    return spec
