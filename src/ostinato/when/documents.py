"""Specs as JSON documents, both ways. Reading checks everything and names the place of what is wrong."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import TypeVar

from ostinato.errors import SpecError, did_you_mean, shown
from ostinato.when.calendars import Calendar, read_calendar
from ostinato.when.compiled import named_zone
from ostinato.when.crontab import parse_cron
from ostinato.when.durations import Duration, fixed_length, parse_duration
from ostinato.when.exclusions import Exclusions
from ostinato.when.grammar import Dialect
from ostinato.when.instants import Micros, format_instant
from ostinato.when.moments import read_date, read_moment
from ostinato.when.spec import Interval, Recurrence, Spec

T = TypeVar("T")
Moment = Callable[[object, str], Micros]
_NAMES = {"crons": "cron"}
_SPEC_KEYS = tuple(_NAMES.get(f.name, f.name) for f in fields(Spec))


def spec_json(spec: Spec) -> dict[str, object]:
    found: dict[str, object] = {
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
    return {name: value for name, value in found.items() if value not in ([], {}, "", None)}


def read_spec(given: Mapping[str, object]) -> Spec:
    """A spec from JSON, checked. A time without an offset is wall-clock time in the zone that it names."""
    known_keys(given, _SPEC_KEYS, "a spec")
    draft = Spec(
        tz=_text(given, "tz", ""),
        tz_data=read_bytes(given.get("tz_data"), "tz_data"),
        jitter=fixed_length(_text(given, "jitter", "PT0S"), "jitter"),
        dialect=_text(given, "dialect", "cron"),  # type: ignore[arg-type]
        dst=_text(given, "dst", ""),  # type: ignore[arg-type]
    )
    draft.check_choices()
    dialect = draft.dialect
    draft = replace(draft, crons=each(given, "cron", lambda value, place: _cron_text(value, place, dialect)))
    zone = named_zone(draft)

    def moment(value: object, field: str) -> Micros:
        return read_moment(value, zone, field)

    exclude = given.get("exclude")
    exclude = {} if exclude is None else exclude
    known_keys(exclude, ("calendars", "dates", "spans"), "exclude")
    assert isinstance(exclude, Mapping)
    spec = replace(
        draft,
        calendars=each(given, "calendars", lambda value, _: _read_calendar(value, dialect)),
        intervals=each(given, "intervals", _read_interval),
        recurrences=each(given, "recurrences", lambda value, _: _read_recurrence(value, moment)),
        times=each(given, "times", moment),
        exclude=Exclusions(
            calendars=each(exclude, "calendars", lambda value, _: _read_calendar(value, dialect, "*"), "exclude."),
            dates=each(exclude, "dates", read_date, "exclude."),
            spans=each(exclude, "spans", lambda value, place: _read_span(value, place, moment), "exclude."),
        ),
        start=None if given.get("start") is None else moment(given["start"], "start"),
        end=None if given.get("end") is None else moment(given["end"], "end"),
    )
    spec.check()
    return spec


def known_keys(given: object, known: tuple[str, ...], what: str) -> None:
    """Refuse what is no object, or has a key that is not known: nothing in a document is passed over."""
    if not isinstance(given, Mapping):
        raise SpecError(f"{what} is an object, not {shown(given)}", field="spec", value=given)
    for key in given:
        if key not in known:
            raise SpecError(
                f"{shown(key)} is not part of {what}",
                field=str(key),
                value=given[key],
                hint=did_you_mean(str(key)[:40], known) or f"its parts are {', '.join(known)}",
            )


def each(given: Mapping[str, object], name: str, read: Callable[[object, str], T], before: str = "") -> tuple[T, ...]:
    """Each member of a list, read; one member may stand alone. An error names its place."""
    return tuple(_each_of(given.get(name), before + name, read))


def _each_of(value: object, name: str, read: Callable[[object, str], T]) -> Iterator[T]:
    if value is None:
        return
    for number, one in enumerate(value if isinstance(value, list | tuple) else [value]):
        place = f"{name}[{number}]"
        try:
            yield read(one, place)
        except SpecError as problem:
            raise (problem if problem.field == place else problem.at(place)) from None


def _text(given: Mapping[str, object], name: str, default: str) -> str:
    value = given.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise SpecError(f"{name} {shown(value)} is not text", field=name, value=value)
    return value or default


def _cron_text(value: object, field: str, dialect: Dialect) -> str:
    if not isinstance(value, str):
        raise SpecError(f"{field} {shown(value)} is not text", field=field, value=value, hint="write '0 9 * * 1-5'")
    parse_cron(value, dialect)
    return value


def _read_calendar(value: object, dialect: Dialect, rest: str = "") -> Calendar:
    if not isinstance(value, Mapping):
        raise SpecError(
            f"{shown(value)} is not a calendar", value=value, hint="write {'hour': '9', 'day_of_week': 'mon-fri'}"
        )
    return read_calendar(value, dialect, rest=rest)


def _read_interval(value: object, _: str) -> Interval:
    if isinstance(value, str):
        value = {"every": value}
    if not isinstance(value, Mapping) or "every" not in value:
        raise SpecError(
            f"{shown(value)} is not an interval", value=value, hint="write {'every': 'PT15M', 'phase': 'PT5M'}"
        )
    known_keys(value, ("every", "phase"), "an interval")
    return Interval(fixed_length(value["every"], "every"), fixed_length(value.get("phase", "PT0S"), "phase"))


def _read_recurrence(value: object, moment: Moment) -> Recurrence:
    if not isinstance(value, Mapping) or not {"anchor", "period"} <= set(value):
        raise SpecError(
            f"{shown(value)} is not a recurrence",
            value=value,
            hint="write {'anchor': '2026-01-31T09:00:00Z', 'period': 'P1M'}",
        )
    known_keys(value, ("anchor", "period"), "a recurrence")
    return Recurrence(moment(value["anchor"], "anchor"), parse_duration(value["period"], "period"))


def _read_span(value: object, place: str, moment: Moment) -> tuple[Micros, Micros]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise SpecError(f"{shown(value)} is not a stretch of time", field=place, value=value, hint="write [first, end]")
    return moment(value[0], place), moment(value[1], place)


def read_bytes(value: object, field: str) -> bytes:
    try:
        return b64decode(str(value or ""), validate=True)
    except ValueError:
        raise SpecError(f"{field} is not base64", field=field, value=value) from None


def _interval_json(interval: Interval) -> dict[str, str]:
    found = {"every": str(Duration(micros=interval.every))}
    return {**found, "phase": str(Duration(micros=interval.phase))} if interval.phase else found


def _exclusions_json(exclude: Exclusions) -> dict[str, object]:
    found: dict[str, object] = {
        "calendars": [c.to_json(always=True) for c in exclude.calendars],
        "dates": [d.isoformat() for d in exclude.dates],
        "spans": [[format_instant(a), format_instant(b)] for a, b in exclude.spans],
    }
    return {name: value for name, value in found.items() if value}
