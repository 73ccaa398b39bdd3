"""Specs in Temporal's shape: the JSON form of `temporal.api.schedule.v1.ScheduleSpec`, both ways.

`canonical` is what Temporal's server stores: strings become structured calendars and intervals, and the
zone of a cron string becomes the zone of the spec.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ostinato.errors import SpecError
from ostinato.when.calendars import Calendar
from ostinato.when.crontab import parse_cron
from ostinato.when.durations import parse_short
from ostinato.when.exclusions import Exclusions
from ostinato.when.fields import FIELDS, YEAR, Field, Items, Range
from ostinato.when.grammar import temporal_items
from ostinato.when.instants import SECOND, Micros, format_instant, read_instant
from ostinato.when.spec import Interval, Spec


def spec_from_temporal(given: Mapping[str, Any]) -> Spec:
    """The canonical spec for a Temporal spec, checked as its server checks it."""
    excluded = [_structured(c) for c in given.get("exclude_structured_calendar", ())]
    excluded += [_strings(c) for c in given.get("exclude_calendar", ())]
    spec = Spec(
        crons=tuple(given.get("cron_string", ())),
        calendars=tuple(
            [_structured(c) for c in given.get("structured_calendar", ())]
            + [_strings(c) for c in given.get("calendar", ())]
        ),
        intervals=tuple(_interval(i) for i in given.get("interval", ())),
        exclude=Exclusions(calendars=tuple(excluded)),
        start=_time(given, "start_time"),
        end=_time(given, "end_time"),
        zone=given.get("timezone_name", ""),
        zone_data=b64decode(given.get("timezone_data", "")),
        jitter=_duration(given.get("jitter", "0s"), "jitter"),
        dialect="temporal",
    )
    spec.check()
    return canonical(spec)


def canonical(spec: Spec) -> Spec:
    """The same times without cron strings. Doing it twice changes nothing."""
    calendars, intervals = list(spec.calendars), list(spec.intervals)
    for text in spec.crons:
        cron = parse_cron(text, "temporal")
        if cron.calendar is None:
            intervals.append(Interval(cron.every, cron.phase))
        else:
            calendars.append(cron.calendar)
    zone = spec.zone or next((z for z in (parse_cron(t, "temporal").zone for t in spec.crons) if z), "")
    return replace(spec, crons=(), calendars=tuple(calendars), intervals=tuple(intervals), zone=zone)


def spec_to_temporal(spec: Spec) -> dict[str, Any]:
    """A canonical spec with its ranges at their shortest; what is empty is left out."""
    spec = canonical(spec)
    found: dict[str, Any] = {
        "structured_calendar": [_calendar_json(c) for c in spec.calendars],
        "interval": [
            {"interval": _seconds(i.every)} | ({"phase": _seconds(i.phase)} if i.phase else {}) for i in spec.intervals
        ],
        "exclude_structured_calendar": [_calendar_json(c) for c in spec.exclude.calendars],
        "start_time": None if spec.start is None else format_instant(spec.start),
        "end_time": None if spec.end is None else format_instant(spec.end),
        "jitter": _seconds(spec.jitter) if spec.jitter else None,
        "timezone_name": spec.zone,
        "timezone_data": b64encode(spec.zone_data).decode(),
    }
    return {name: value for name, value in found.items() if value}


def _structured(given: Mapping[str, Any]) -> Calendar:
    """Temporal's structured calendar has no defaults: a field that is absent matches nothing (but the year)."""
    found: dict[str, Items] = {}
    for field in FIELDS:
        found[field.name] = tuple(_range(r, field) for r in given.get(field.name, ()))
    return Calendar(**found, comment=given.get("comment", ""))


def _range(given: Mapping[str, int], field: Field) -> Range:
    start, end, step = given.get("start", 0), given.get("end", 0), given.get("step", 0)
    if step < 0:
        raise SpecError(f"{field.title} has invalid Step", field=field.name, value=step)
    return Range(start, end or start, step or 1)


def _strings(given: Mapping[str, str]) -> Calendar:
    found: dict[str, Items] = {}
    for field in FIELDS:
        text = given.get(field.name, "")
        if text and not (field is YEAR and text == "*"):
            found[field.name] = temporal_items(text, field)
    return Calendar(**found, comment=given.get("comment", ""))


def _interval(given: Mapping[str, str]) -> Interval:
    return Interval(_duration(given["interval"], "interval"), _duration(given.get("phase", "0s"), "phase"))


def _duration(text: str, field: str) -> Micros:
    length = parse_short(text.removeprefix("-"), field).exact
    return -length if text.startswith("-") else length


def _time(given: Mapping[str, Any], field: str) -> Micros | None:
    return None if given.get(field) is None else read_instant(given[field], field)


def _seconds(length: Micros) -> str:
    whole, fraction = divmod(length, SECOND)
    return f"{whole}.{fraction:06d}s" if fraction else f"{whole}s"


def _calendar_json(calendar: Calendar) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in FIELDS:
        items = [_range_json(i) for i in calendar.items(field) if isinstance(i, Range)]
        if items:
            found[field.name] = items
    return found | ({"comment": calendar.comment} if calendar.comment else {})


def _range_json(item: Range) -> dict[str, int]:
    found = {"start": item.start}
    if item.end != item.start:
        found["end"] = item.end
    if item.step != 1:
        found["step"] = item.step
    return found
