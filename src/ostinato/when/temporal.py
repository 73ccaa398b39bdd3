"""Convert specs from and to Temporal's form, the JSON of `temporal.api.schedule.v1.ScheduleSpec`.

Nothing is dropped silently. Reading a spec raises `SpecError` for an unknown field. Writing a spec raises `SpecError`
if Temporal cannot express the spec.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ostinato.errors import SpecError, short_repr
from ostinato.when.calendars import Calendar
from ostinato.when.cron_strings import parse_cron
from ostinato.when.documents import check_keys, each, read_bytes
from ostinato.when.durations import parse_short
from ostinato.when.exclusions import Exclusions
from ostinato.when.field_grammar import temporal_items
from ostinato.when.fields import FIELDS, YEAR, Field, Items, Range
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


def spec_from_temporal(document: Mapping[str, Any]) -> Spec:
    """Read a spec in Temporal's form, with the checks of Temporal's server. Return it in the form of `canonical`."""
    check_keys(document, _SPEC_KEYS, "a Temporal spec")
    for name in _LISTS:
        if not isinstance(_value(document, name, []), list | tuple):
            raise SpecError(f"{name} {short_repr(document[name])} is not a list", field=name, value=document[name])
    spec = Spec(
        crons=each(document, "cron_string", _text),
        calendars=each(document, "structured_calendar", _structured) + each(document, "calendar", _strings),
        intervals=each(document, "interval", _interval),
        exclude=Exclusions(
            each(document, "exclude_structured_calendar", _structured) + each(document, "exclude_calendar", _strings)
        ),
        start=_time(document, "start_time"),
        end=_time(document, "end_time"),
        tz=_text(_value(document, "timezone_name", ""), "timezone_name"),
        tz_data=read_bytes(document.get("timezone_data"), "timezone_data"),
        jitter=_duration(_value(document, "jitter", "0s"), "jitter"),
        dialect="temporal",
    )
    try:
        spec.check()
    except SpecError as problem:
        raise _in_temporal_words(problem) from None
    return canonical(spec)


def _in_temporal_words(problem: SpecError) -> SpecError:
    """If an error is about a zone field, return it with Temporal's name for the field: `timezone_name` for `tz`, and
    `timezone_data` for `tz_data`. Return any other error unchanged."""
    name = {"tz": "timezone_name", "tz_data": "timezone_data"}.get(problem.field)
    if name is None:
        return problem
    message = problem.message.replace(problem.field, name, 1)
    return SpecError(message, field=name, value=problem.value, hint=problem.hint)


def canonical(spec: Spec) -> Spec:
    """Return the spec in the form in which Temporal's server stores specs. Cron strings become structured calendars and
    intervals, and their zone becomes the spec's zone. Raises `SpecError` if Temporal cannot express the spec."""
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
    """Yield the names of the parts of a spec that Temporal's form cannot express."""
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
        yield "excluded spans of time"
    if spec.rule == "cron" and not spec.wall_sources.manual and len(spec.compiled.zone.starts) > 1:
        yield "the cron daylight-saving rule"
    if spec.dialect == "cron" and any(i.every % SECOND or i.phase % SECOND for i in spec.intervals):
        yield "intervals with fractions of a second"


def spec_to_temporal(spec: Spec) -> dict[str, Any]:
    """Return a JSON document in Temporal's form, without empty fields. Raises `SpecError` as `canonical` does."""
    spec = canonical(spec)
    document: dict[str, Any] = {
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
    return {name: value for name, value in document.items() if value}


def _value(document: Mapping[str, Any], name: str, default: object) -> Any:
    """Return a field's value, or `default` if the field is absent or null."""
    value = document.get(name)
    return default if value is None else value


def _structured(document: object, _: str) -> Calendar:
    """Read a structured calendar. An absent field matches nothing, except an absent year: it matches every year."""
    check_keys(document, _CALENDAR_KEYS, "a structured calendar")
    assert isinstance(document, Mapping)
    items = {field.name: each(document, field.name, partial(_range, field)) for field in FIELDS}
    return Calendar(**items, comment=_text(_value(document, "comment", ""), "comment"))


def _range(field: Field, document: object, _: str) -> Range:
    check_keys(document, ("start", "end", "step"), "a range")
    assert isinstance(document, Mapping)
    numbers = [_value(document, name, 0) for name in ("start", "end", "step")]
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
        raise SpecError(
            f"{field.title} {short_repr(document)} is not a range of numbers", field=field.name, value=document
        )
    start, end, step = numbers
    if step < 0:
        raise SpecError(f"{field.title} has invalid Step", field=field.name, value=step)
    return Range(start, end or start, step or 1)


def _strings(document: object, _: str) -> Calendar:
    """Read a calendar whose fields are texts, such as `{"hour": "9-17"}`. An absent or empty field gets its default
    value. The default values match midnight of every day."""
    check_keys(document, _CALENDAR_KEYS, "a calendar")
    assert isinstance(document, Mapping)
    items: dict[str, Items] = {}
    for field in FIELDS:
        text = _text(_value(document, field.name, ""), field.name).strip()
        if text and not (field is YEAR and text == "*"):
            items[field.name] = temporal_items(text, field)
    return Calendar(**items, comment=_text(_value(document, "comment", ""), "comment"))


def _interval(document: object, _: str) -> Interval:
    check_keys(document, ("interval", "phase"), "an interval")
    assert isinstance(document, Mapping)
    if document.get("interval") is None:
        raise SpecError("'interval' is missing", field="interval", value=document, hint="write {'interval': '3600s'}")
    return Interval(_duration(document["interval"], "interval"), _duration(_value(document, "phase", "0s"), "phase"))


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise SpecError(f"{field} {short_repr(value)} is not text", field=field, value=value)
    return value


def _duration(value: object, field: str) -> Micros:
    text = _text(value, field)
    length = parse_short(text.removeprefix("-"), field).exact
    return -length if text.startswith("-") else length


def _time(document: Mapping[str, Any], field: str) -> Micros | None:
    return None if document.get(field) is None else read_instant(document[field], field)


def _seconds(length: Micros) -> str:
    whole, fraction = divmod(length, SECOND)
    return f"{whole}.{fraction:06d}s" if fraction else f"{whole}s"


def _calendar_json(calendar: Calendar) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for field in FIELDS:
        items = [_range_json(i) for i in calendar.items(field) if isinstance(i, Range)]
        if items:
            document[field.name] = items
    return document | ({"comment": calendar.comment} if calendar.comment else {})


def _range_json(item: Range) -> dict[str, int]:
    document = {"start": item.start}
    if item.end != item.start:
        document["end"] = item.end
    if item.step != 1:
        document["step"] = item.step
    return document
