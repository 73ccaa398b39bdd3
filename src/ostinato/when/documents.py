"""Write specs as JSON documents, and read them. Reading checks the whole document; an error names the place."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import TypeVar

from ostinato.errors import SpecError, did_you_mean, short_json, short_repr
from ostinato.when.calendars import Calendar, read_calendar
from ostinato.when.cron_strings import parse_cron
from ostinato.when.durations import Duration, fixed_length, parse_duration
from ostinato.when.exclusions import Exclusions
from ostinato.when.field_grammar import Dialect
from ostinato.when.instants import Micros, format_instant
from ostinato.when.local_times import read_date, read_moment
from ostinato.when.spec import Interval, Recurrence, Spec
from ostinato.when.times import named_zone

T = TypeVar("T")
Moment = Callable[[object, str], Micros]
_NAMES = {"crons": "cron"}
_SOURCES = ("cron", "calendars", "intervals", "recurrences", "times")
_SPEC_KEYS = tuple(_NAMES.get(f.name, f.name) for f in fields(Spec))


def spec_json(spec: Spec) -> dict[str, object]:
    document: dict[str, object] = {
        "cron": list(spec.crons),
        "calendars": [c.to_json() for c in spec.calendars],
        "intervals": [_interval_json(i) for i in spec.intervals],
        "recurrences": [{"anchor": format_instant(r.anchor), "period": str(r.period)} for r in spec.recurrences],
        "times": [format_instant(t) for t in spec.times],
        "exclude": _exclusions_json(spec.exclude),
        "start": None if spec.start is None else format_instant(spec.start),
        "end": None if spec.end is None else format_instant(spec.end),
        "tz": spec.tz,
        "tz_data": b64encode(spec.tz_data).decode(),
        "jitter": str(Duration(micros=spec.jitter)) if spec.jitter else "",
        "dialect": "" if spec.dialect == "cron" else spec.dialect,
        "dst": spec.dst,
    }
    return {name: value for name, value in document.items() if value not in ([], {}, "", None)}


def read_spec(document: Mapping[str, object]) -> Spec:
    """Read and check a spec from JSON. A time without an offset is wall-clock time in the spec's zone."""
    check_keys(document, _SPEC_KEYS, "a spec", "write {'cron': '0 9 * * *'}, or {} for a spec without times")
    draft = Spec(
        tz=_text(document, "tz", ""),
        tz_data=read_bytes(document.get("tz_data"), "tz_data"),
        jitter=fixed_length(_text(document, "jitter", "PT0S"), "jitter"),
        dialect=_text(document, "dialect", "cron"),  # type: ignore[arg-type]
        dst=_text(document, "dst", ""),  # type: ignore[arg-type]
    )
    draft.check_choices()
    sources = [name for name in _SOURCES if name in document]
    if sources and all(document[name] in (None, []) for name in sources):
        hint = "leave it out, or write {} for a spec without times"
        words = "null" if document[sources[0]] is None else "an empty list"
        raise SpecError(f"{sources[0]} is {words}", field=sources[0], hint=hint)
    dialect = draft.dialect
    draft = replace(draft, crons=each(document, "cron", lambda value, place: _cron_text(value, place, dialect)))
    zone = named_zone(draft)

    def moment(value: object, field: str) -> Micros:
        return read_moment(value, zone, field)

    exclude = document.get("exclude")
    exclude = {} if exclude is None else exclude
    check_keys(exclude, ("calendars", "dates", "spans"), "exclude")
    assert isinstance(exclude, Mapping)
    spec = replace(
        draft,
        calendars=each(document, "calendars", lambda value, _: _read_calendar(value, dialect)),
        intervals=each(document, "intervals", _read_interval),
        recurrences=each(document, "recurrences", lambda value, _: _read_recurrence(value, moment)),
        times=each(document, "times", moment),
        exclude=Exclusions(
            calendars=each(exclude, "calendars", lambda value, _: _read_calendar(value, dialect, "*"), "exclude."),
            dates=each(exclude, "dates", read_date, "exclude."),
            spans=each(exclude, "spans", lambda value, place: _read_span(value, place, moment), "exclude."),
        ),
        start=None if document.get("start") is None else moment(document["start"], "start"),
        end=None if document.get("end") is None else moment(document["end"], "end"),
    )
    spec.check()
    return spec


def check_keys(document: object, keys: tuple[str, ...], what: str, example: str = "") -> None:
    """Raise `SpecError` if `document` is not an object, or if it has a key that is not in `keys`. `what` is a name for
    the object in the error message, for example "an interval". `example` shows how to write such an object. It is the
    hint of the error if `document` is not an object."""
    if not isinstance(document, Mapping):
        words = f"{what} is an object, not {short_json(document)}"
        raise SpecError(words, field="spec", value=document, hint=example)
    for key in document:
        if key not in keys:
            raise SpecError(
                f"{short_repr(key)} is not part of {what}",
                field=str(key),
                value=document[key],
                hint=did_you_mean(str(key)[:40], keys) or f"its parts are {', '.join(keys)}",
            )


def each(
    document: Mapping[str, object], name: str, read: Callable[[object, str], T], before: str = ""
) -> tuple[T, ...]:
    """Call `read(member, place)` for each member of the list `document[name]`, and return the results. If
    `document[name]` is not a list, it counts as the only member. If it is absent, there are no results.

    `place` is a text such as `times[2]`: `before`, then `name`, then the index of the member. If `read` raises
    `SpecError`, the error gets this place.
    """
    return tuple(_each_of(document.get(name), before + name, read))


def _each_of(value: object, name: str, read: Callable[[object, str], T]) -> Iterator[T]:
    if value is None:
        return
    for number, member in enumerate(value if isinstance(value, list | tuple) else [value]):
        place = f"{name}[{number}]"
        try:
            yield read(member, place)
        except SpecError as problem:
            raise (problem if problem.field == place else problem.at(place)) from None


def _text(document: Mapping[str, object], name: str, default: str) -> str:
    value = document.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise SpecError(f"{name} {short_repr(value)} is not text", field=name, value=value)
    return value or default


def _cron_text(value: object, field: str, dialect: Dialect) -> str:
    if not isinstance(value, str):
        raise SpecError(
            f"{field} {short_repr(value)} is not text", field=field, value=value, hint="write '0 9 * * 1-5'"
        )
    parse_cron(value, dialect)
    return value


def _read_calendar(value: object, dialect: Dialect, rest: str = "") -> Calendar:
    if not isinstance(value, Mapping):
        raise SpecError(
            f"{short_repr(value)} is not a calendar", value=value, hint="write {'hour': '9', 'day_of_week': 'mon-fri'}"
        )
    return read_calendar(value, dialect, rest=rest)


def _read_interval(value: object, _: str) -> Interval:
    if isinstance(value, str):
        value = {"every": value}
    if not isinstance(value, Mapping) or "every" not in value:
        raise SpecError(
            f"{short_repr(value)} is not an interval", value=value, hint="write {'every': 'PT15M', 'phase': 'PT5M'}"
        )
    check_keys(value, ("every", "phase"), "an interval")
    return Interval(fixed_length(value["every"], "every"), fixed_length(value.get("phase", "PT0S"), "phase"))


def _read_recurrence(value: object, moment: Moment) -> Recurrence:
    if not isinstance(value, Mapping) or not {"anchor", "period"} <= set(value):
        raise SpecError(
            f"{short_repr(value)} is not a recurrence",
            value=value,
            hint="write {'anchor': '2026-01-31T09:00:00Z', 'period': 'P1M'}",
        )
    check_keys(value, ("anchor", "period"), "a recurrence")
    return Recurrence(moment(value["anchor"], "anchor"), parse_duration(value["period"], "period"))


def _read_span(value: object, place: str, moment: Moment) -> tuple[Micros, Micros]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise SpecError(
            f"{short_repr(value)} is not a span of time", field=place, value=value, hint="write [first, end]"
        )
    return moment(value[0], place), moment(value[1], place)


def read_bytes(value: object, field: str) -> bytes:
    try:
        return b64decode(str(value or ""), validate=True)
    except ValueError:
        raise SpecError(f"{field} is not base64", field=field, value=value) from None


def _interval_json(interval: Interval) -> dict[str, str]:
    document = {"every": str(Duration(micros=interval.every))}
    return {**document, "phase": str(Duration(micros=interval.phase))} if interval.phase else document


def _exclusions_json(exclude: Exclusions) -> dict[str, object]:
    document: dict[str, object] = {
        "calendars": [c.to_json(always=True) for c in exclude.calendars],
        "dates": [d.isoformat() for d in exclude.dates],
        "spans": [[format_instant(a), format_instant(b)] for a, b in exclude.spans],
    }
    return {name: value for name, value in document.items() if value}
