"""Specs in Temporal's messages, both ways. What they mean is decided by `ostinato.when.temporal`; here is only the
form."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from typing import Any

from google.protobuf.json_format import ParseDict
from temporalio.api.schedule.v1 import CalendarSpec, ScheduleSpec, StructuredCalendarSpec

from ostinato.faces.temporal.times import read_duration, read_timestamp
from ostinato.when import Spec
from ostinato.when.instants import SECOND, Micros, format_instant
from ostinato.when.sizes import check_temporal_size
from ostinato.when.temporal import spec_from_temporal, spec_to_temporal

_FIELDS = ("second", "minute", "hour", "day_of_month", "month", "year", "day_of_week")
_CALENDARS = ("structured_calendar", "calendar", "exclude_structured_calendar", "exclude_calendar")
_SHOWN = 10  # of each list, in a list of schedules


def read_spec(given: ScheduleSpec, field: str) -> Spec:
    """The canonical spec, checked as Temporal's server checks it."""
    lists = (*_CALENDARS, "cron_string", "interval")
    check_temporal_size({name: [None] * len(getattr(given, name)) for name in lists})  # before anything is copied
    told: dict[str, Any] = {
        "structured_calendar": [_structured(one) for one in given.structured_calendar],
        "calendar": [_strings(one) for one in given.calendar],
        "cron_string": list(given.cron_string),
        "interval": [
            {
                "interval": _text(read_duration(one.interval, f"{field}.interval[{n}].interval")),
                "phase": _text(read_duration(one.phase, f"{field}.interval[{n}].phase")),
            }
            for n, one in enumerate(given.interval)
        ],
        "exclude_structured_calendar": [_structured(one) for one in given.exclude_structured_calendar],
        "exclude_calendar": [_strings(one) for one in given.exclude_calendar],
        "timezone_name": given.timezone_name,
        "timezone_data": b64encode(given.timezone_data).decode(),
        "jitter": _text(read_duration(given.jitter, f"{field}.jitter")),
    }
    for name in ("start_time", "end_time"):
        if given.HasField(name):
            told[name] = format_instant(read_timestamp(getattr(given, name), f"{field}.{name}"))
    check_temporal_size(told)
    return spec_from_temporal(told)


def _text(length: Micros) -> str:
    sign, (whole, rest) = "-" if length < 0 else "", divmod(abs(length), SECOND)
    return f"{sign}{whole}.{rest:06d}s" if rest else f"{sign}{whole}s"


def _structured(one: StructuredCalendarSpec) -> dict[str, Any]:
    ranges = {name: [{"start": r.start, "end": r.end, "step": r.step} for r in getattr(one, name)] for name in _FIELDS}
    return {**ranges, "comment": one.comment}


def _strings(one: CalendarSpec) -> dict[str, Any]:
    return {**{name: getattr(one, name) for name in _FIELDS}, "comment": one.comment}


def write_spec(spec: Spec) -> ScheduleSpec:
    """The canonical form with its ranges written out. A spec that Temporal's form cannot hold is an error."""
    found = ScheduleSpec()
    found.CopyFrom(_written(spec))
    return found


@lru_cache(maxsize=4096)
def _written(spec: Spec) -> ScheduleSpec:
    """Many schedules have the same."""
    found: ScheduleSpec = ParseDict(spec_to_temporal(spec), ScheduleSpec())
    for calendar in (*found.structured_calendar, *found.exclude_structured_calendar):
        for name in _FIELDS:
            for one in getattr(calendar, name):
                one.end = max(one.end, one.start)
                one.step = one.step or 1
    return found


def shorten(spec: ScheduleSpec) -> ScheduleSpec:
    """As lists of schedules show it."""
    for name in (*_CALENDARS, "cron_string", "interval"):
        del getattr(spec, name)[_SHOWN:]
    spec.ClearField("timezone_data")
    return spec
