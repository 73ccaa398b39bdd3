"""Specs in Temporal's shape: the JSON form of `temporal.api.schedule.v1.ScheduleSpec`, both ways.

Nothing is passed over: what is not known on the way in, and what Temporal cannot hold on the way out, is refused.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ostinato.errors import SpecError, shown
from ostinato.when.calendars import Calendar
from ostinato.when.crontab import parse_cron
from ostinato.when.documents import each, known_keys, read_bytes
from ostinato.when.durations import parse_short
from ostinato.when.exclusions import Exclusions
from ostinato.when.fields import FIELDS, YEAR, Field, Items, Range
from ostinato.when.grammar import temporal_items
from ostinato.when.instants import SECOND, Micros, format_instant, read_instant
from ostinato.when.spec import Interval, Spec

_LISTS = (
    "structured_calendar",
    "calendar",
    "cron_string",
    "interval",
    "exclude_structured_calendar",
    "exclude_calendar",
)
_SPEC_KEYS = (*_LISTS, "start_time", "end_time", "jitter", "timezone_name", "timezone_data")
_CALENDAR_KEYS = (*(f.name for f in FIELDS), "comment")


def spec_from_temporal(given: Mapping[str, Any]) -> Spec:
    """The canonical spec for a Temporal spec, checked as its server checks it, excluded calendars included."""
    known_keys(given, _SPEC_KEYS, "a Temporal spec")
    for name in _LISTS:
        if not isinstance(given.get(name) or [], list | tuple):
            raise SpecError(f"{name} {shown(given[name])} is not a list", field=name, value=given[name])
    spec = Spec(
        crons=each(given, "cron_string", _text),
        calendars=each(given, "structured_calendar", _structured) + each(given, "calendar", _strings),
        intervals=each(given, "interval", _interval),
        exclude=Exclusions(
            each(given, "exclude_structured_calendar", _structured) + each(given, "exclude_calendar", _strings)
        ),
        start=_time(given, "start_time"),
        end=_time(given, "end_time"),
        tz=_text(given.get("timezone_name") or "", "timezone_name"),
        tz_data=read_bytes(given.get("timezone_data"), "timezone_data"),
        jitter=_duration(given.get("jitter") or "0s", "jitter"),
        dialect="temporal",
    )
    try:
        spec.check()
    except SpecError as problem:
        raise _in_temporal_words(problem) from None
    return canonical(spec)


def _in_temporal_words(problem: SpecError) -> SpecError:
    """The same error with the name that Temporal has for the zone."""
    name = {"tz": "timezone_name", "tz_data": "timezone_data"}.get(problem.field)
    if name is None:
        return problem
    message = problem.message.replace(problem.field, name, 1)
    return SpecError(message, field=name, value=problem.value, hint=problem.hint)


def canonical(spec: Spec) -> Spec:
    """The same times as Temporal's server stores them: strings become structured calendars and intervals, and the
    zone of a cron string becomes the zone of the spec. Doing it twice changes nothing."""
    beyond = ", ".join(_beyond_temporal(spec))
    if beyond:
        raise SpecError(f"Temporal's specs cannot hold {beyond}", field="spec", value=spec.describe())
    calendars, intervals, zone = list(spec.calendars), list(spec.intervals), spec.tz
    for text in spec.crons:
        cron = parse_cron(text, spec.dialect)
        zone = zone or cron.zone
        if cron.calendar is None:
            intervals.append(Interval(cron.every, cron.phase))
        else:
            calendars.append(cron.calendar)
    return replace(
        spec,
        crons=(),
        calendars=tuple(calendars),
        intervals=tuple(intervals),
        tz=zone,
        dialect="temporal",
        dst="",
    )


def _beyond_temporal(spec: Spec) -> Iterator[str]:
    """What would be lost, or mean something else, in Temporal's form."""
    crons = [parse_cron(text, spec.dialect) for text in spec.crons]
    calendars = [*spec.calendars, *spec.exclude.calendars, *(c.calendar for c in crons if c.calendar)]
    if any(cron.either for cron in crons):
        yield "day of month OR day of week"
    if any(calendar.rules for calendar in calendars):
        yield "the day rules L, W and #"
    if spec.recurrences:
        yield "recurrences counted from an anchor"
    if spec.times:
        yield "single times"
    if spec.exclude.dates:
        yield "excluded dates"
    if spec.exclude.spans:
        yield "excluded stretches of time"
    if spec.rule == "cron" and not spec.wall_sources.manual and len(spec.compiled.zone.starts) > 1:
        yield "the cron daylight-saving rule"
    if spec.dialect == "cron" and any(i.every % SECOND or i.phase % SECOND for i in spec.intervals):
        yield "intervals with fractions of a second"


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
        "timezone_name": spec.tz,
        "timezone_data": b64encode(spec.tz_data).decode(),
    }
    return {name: value for name, value in found.items() if value}


def _structured(given: object, _: str) -> Calendar:
    """Temporal's structured calendar has no defaults: a field that is absent matches nothing (but the year)."""
    known_keys(given, _CALENDAR_KEYS, "a structured calendar")
    assert isinstance(given, Mapping)
    found = {field.name: each(given, field.name, partial(_range, field)) for field in FIELDS}
    return Calendar(**found, comment=_text(given.get("comment") or "", "comment"))


def _range(field: Field, given: object, _: str) -> Range:
    known_keys(given, ("start", "end", "step"), "a range")
    assert isinstance(given, Mapping)
    numbers = [given.get(name) or 0 for name in ("start", "end", "step")]
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
        raise SpecError(f"{field.title} {shown(given)} is not a range of numbers", field=field.name, value=given)
    start, end, step = numbers
    if step < 0:
        raise SpecError(f"{field.title} has invalid Step", field=field.name, value=step)
    return Range(start, end or start, step or 1)


def _strings(given: object, _: str) -> Calendar:
    """Temporal's string calendar has defaults: midnight, every day; an empty text is one that is absent."""
    known_keys(given, _CALENDAR_KEYS, "a calendar")
    assert isinstance(given, Mapping)
    found: dict[str, Items] = {}
    for field in FIELDS:
        text = _text(given.get(field.name) or "", field.name).strip()
        if text and not (field is YEAR and text == "*"):
            found[field.name] = temporal_items(text, field)
    return Calendar(**found, comment=_text(given.get("comment") or "", "comment"))


def _interval(given: object, _: str) -> Interval:
    known_keys(given, ("interval", "phase"), "an interval")
    assert isinstance(given, Mapping)
    if given.get("interval") is None:
        raise SpecError("'interval' is missing", field="interval", value=given, hint="write {'interval': '3600s'}")
    return Interval(_duration(given["interval"], "interval"), _duration(given.get("phase") or "0s", "phase"))


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise SpecError(f"{field} {shown(value)} is not text", field=field, value=value)
    return value


def _duration(value: object, field: str) -> Micros:
    text = _text(value, field)
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
