"""Parse cron strings of both dialects into calendars and intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from ostinato.errors import SpecError, did_you_mean, short_repr
from ostinato.when.calendars import Calendar
from ostinato.when.durations import parse_short
from ostinato.when.field_grammar import Dialect, is_star, parse_field
from ostinato.when.fields import (
    DAY_OF_MONTH,
    DAY_OF_WEEK,
    HOUR_FIELD,
    MINUTE_FIELD,
    MONTH,
    SECOND_FIELD,
    YEAR,
    Field,
    Items,
)
from ostinato.when.instants import SECOND, Micros

_FIVE = (MINUTE_FIELD, HOUR_FIELD, DAY_OF_MONTH, MONTH, DAY_OF_WEEK)
_SHORTHANDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


@dataclass(frozen=True, slots=True)
class Cron:
    """One parsed cron string.

    - `calendar`: the calendar that the string describes; None if the string has `@every`
    - `every`: for `@every`, the length of the interval in microseconds
    - `phase`: for `@every`, the offset of the interval in microseconds
    - `either`: whether a day matches if its day of month OR its day of week matches; if false, both must match
    - `fixed`: whether hour, minute and second have no wildcard; always false in the dialect temporal

    In the dialect cron, `fixed` matters for specs with the daylight-saving rule `cron`. If `fixed` is true, this rule
    applies to the string. If `fixed` is false, the rule `wall` applies to the string.
    """

    calendar: Calendar | None
    every: Micros = 0
    phase: Micros = 0
    zone: str = ""
    either: bool = False
    fixed: bool = False
    warning: str = ""


@lru_cache(maxsize=8192)
def parse_cron(text: str, dialect: Dialect) -> Cron:
    zone, body = "", text.strip()
    if body.startswith(("TZ=", "CRON_TZ=")):
        # In Temporal's dialect one space ends the zone's name; in ours any white space does.
        first, *rest = body.split(" " if dialect == "temporal" else None, 1)
        if not rest:
            raise SpecError(
                f"CronString has time zone but missing fields ({short_repr(text)})",
                field="cron",
                value=text,
                hint="the fields come after the zone: 'CRON_TZ=Europe/Berlin 0 9 * * *'",
            )
        zone, body = first.partition("=")[2], rest[0]
    return _temporal(text, zone, body) if dialect == "temporal" else _cron(text, zone, body)


_SHORT = 12  # longer lengths and steps are not quoted in hints


def _cron(text: str, zone: str, body: str) -> Cron:
    word = body.lower()
    if word.startswith("@"):
        if word not in _SHORTHANDS:
            hint = did_you_mean(word[:20], _SHORTHANDS) or f"the shorthands are {', '.join(_SHORTHANDS)}"
            if word.startswith("@every"):
                length = body[6:].strip()
                length = length if len(length) <= _SHORT and length.isalnum() else "5m"
                hint = f"write every {length} (in Python every({length!r})), or use the temporal dialect"
            raise SpecError(f"{short_repr(text)} is not a shorthand", field="cron", value=text, hint=hint)
        body = _SHORTHANDS[word]
    parts = body.split()
    if len(parts) not in (5, 6):
        raise SpecError(
            f"{short_repr(text)} has {len(parts)} field{'s' if len(parts) != 1 else ''}",
            field="cron",
            value=text,
            hint="a cron string has 5 (minute hour day month weekday), or 6 with the second first"
            + ("; 7 fields are the temporal dialect" if len(parts) == 7 else ""),
        )
    names = _FIVE if len(parts) == 5 else (SECOND_FIELD, *_FIVE)
    by_name = dict(zip(names, parts, strict=True))
    return Cron(
        _read(by_name, "cron", text),
        zone=zone,
        either=not is_star(by_name[DAY_OF_MONTH]) and not is_star(by_name[DAY_OF_WEEK]),
        fixed=not any(is_star(by_name.get(f, "0")) for f in (SECOND_FIELD, MINUTE_FIELD, HOUR_FIELD)),
        warning=_step_warning(text, by_name),
    )


def _step_warning(text: str, by_name: Mapping[Field, str]) -> str:
    """Return a warning if a step is larger than the range of its field, as in `*/90` for minutes. Such a step matches
    only the first value. Return "" if no step is too large."""
    for field, part in by_name.items():
        for item in part.split(","):
            start, slash, step = item.partition("/")
            if (
                slash
                and start in ("*", "?")
                and len(step) <= _SHORT
                and step.isdecimal()
                and int(step) > field.high - field.low
            ):
                units = {MINUTE_FIELD: "m", HOUR_FIELD: "h", SECOND_FIELD: "s"}
                instead = f"; for an interval write 'every {int(step)}{units[field]}'" if field in units else ""
                return (
                    f"{item} in {short_repr(text)} matches {field.name} {field.low} only: "
                    f"a step of {int(step)} is larger than the range {field.low} to {field.high}{instead}"
                )
    return ""


def _temporal(text: str, zone: str, body: str) -> Cron:
    body, hash_sign, comment = body.partition("#")
    warning = ""
    if hash_sign and body[-1:] not in ("", " ", "\t"):
        warning = f"in {text!r} everything after '#' is a comment; it does not select the n-th weekday"
    body = body.strip()
    if body.startswith("@every"):
        every, phase = _temporal_every(text, body)
        return Cron(None, every, phase)
    parts = _SHORTHANDS.get(body, body).split()
    if not 5 <= len(parts) <= 7:
        raise SpecError(
            f"CronString does not have 5-7 fields ({short_repr(text)} has {len(parts)})",
            field="cron",
            value=text,
            hint="minute hour day month weekday [year], or with the second first and the year last",
        )
    names: tuple[Field, ...] = _FIVE
    if len(parts) > 5:
        names = (*names, YEAR)
    if len(parts) == 7:
        names = (SECOND_FIELD, *names)
    by_name = dict(zip(names, parts, strict=True))
    if by_name.get(YEAR) == "*":
        del by_name[YEAR]
    calendar = replace(_read(by_name, "temporal", text), comment=comment.strip())
    return Cron(calendar, zone=zone, warning=warning)


def _temporal_every(text: str, body: str) -> tuple[Micros, Micros]:
    """Parse `@every 5m` or `@every 5m/1m`, and return (interval, phase). Exactly one space follows `@every`."""
    if not body.startswith("@every "):
        raise SpecError(
            f"CronString does not have interval after @every ({short_repr(text)})",
            field="interval",
            value=text,
            hint="put one space between them: '@every 5m'",
        )
    every_text, _, phase_text = body.removeprefix("@every ").partition("/")
    every = parse_short(every_text, "interval").exact
    phase = parse_short(phase_text, "phase").exact if phase_text else 0
    if every < SECOND:
        raise SpecError(
            f"interval is too small ({text!r})", field="interval", value=every_text, hint="the minimum is one second"
        )
    if phase >= every:
        raise SpecError(
            f"phase cannot be greater than Interval ({text!r})",
            field="phase",
            value=phase_text,
            hint="the phase must be less than the interval",
        )
    return every, phase


def _read(parts: dict[Field, str], dialect: Dialect, text: str) -> Calendar:
    items: dict[str, Items] = {}
    problems: list[SpecError] = []
    for field, part in parts.items():
        try:
            items[field.name] = parse_field(part, field, dialect, text)
        except SpecError as problem:
            problems.append(problem)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise SpecError(", ".join(map(str, problems)), field=problems[0].field, value=problems[0].value)
    return Calendar(**items, comment="")
