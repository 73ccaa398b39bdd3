"""Parse one field of a cron string or a string calendar, in either dialect.

`cron` is the grammar of crontab, with `L`, `LW`, `15W`, `5#2` and `FRIL`. `temporal` is the grammar of Temporal's
server (service/worker/scheduler/calendar.go), including its quirks and error texts.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from ostinato.errors import SpecError, did_you_mean, short_repr
from ostinato.when.fields import (
    DAY_OF_MONTH,
    DAY_OF_WEEK,
    WEEKDAYS,
    YEAR,
    DayRule,
    Field,
    Item,
    Items,
    Range,
    digits,
)

Dialect: TypeAlias = Literal["cron", "temporal"]
_GO_INTEGER = re.compile(r"[+-]?[0-9]{1,9}")


def parse_field(text: str, field: Field, dialect: Dialect, whole: str = "") -> Items:
    """Parse one field into its items. `whole` is the complete cron string, for error messages. Raises `SpecError`."""
    if dialect == "temporal":
        return temporal_items(text, field, whole)
    where = f" in {short_repr(whole)}" if whole else ""
    items: list[Item] = []
    for part in text.split(","):
        items += _cron_part(part.strip() if not whole else part, field, where)
    return tuple(items)


def is_star(text: str) -> bool:
    """Return whether a field is a wildcard by the rule of Debian's cron: its text begins with a star, as `*/2` does."""
    return text.startswith("*")


# The cron dialect


def _cron_part(part: str, field: Field, where: str) -> list[Item]:
    rule = _day_rule(part, field, where)
    if rule is not None:
        return [rule]
    base, slash, step_text = part.partition("/")
    step = 1
    if slash:
        step = digits(step_text) or 0
        if step == 0:
            raise SpecError(
                f"{field.words} step {short_repr(step_text)} is not a number from 1{where}",
                field=field.name,
                value=part,
                hint=f"write '*/5' or '{field.low}-{field.high}/5'",
            )
    top = 7 if field is DAY_OF_WEEK else field.high
    if base == "*":
        return (
            _weekday_seven(Range(field.low, field.high, step))
            if field is DAY_OF_WEEK
            else [Range(field.low, field.high, step)]
        )
    first, dash, last = base.partition("-")
    start = _cron_value(first, field, part, where)
    end = _cron_value(last, field, part, where) if dash else (top if slash else start)
    if end < start:
        raise SpecError(
            f"{field.words} {base!r} ends before it starts{where}",
            field=field.name,
            value=base,
            hint=_wrapped_hint(field, first, last, start, end),
        )
    item = Range(start, end, step)
    return _weekday_seven(item) if field is DAY_OF_WEEK else [item]


def _wrapped_hint(field: Field, first: str, last: str, start: int, end: int) -> str:
    if field is DAY_OF_WEEK and start == 7:
        return f"did you mean '{f'0-{last}' if end else '0'}'? (7 is Sunday, and so is 0)"
    if field is DAY_OF_WEEK and end == 0:
        return f"did you mean '{start}-7'? (7 is Sunday)"
    top, bottom = str(field.high), str(field.low)
    if field.names and not first.isdigit():
        top, bottom = field.names[-1][:3], field.names[0][:3]
    return f"a range does not wrap around: write '{first}-{top},{bottom}-{last}'"


def _cron_value(text: str, field: Field, part: str, where: str) -> int:
    top = 7 if field is DAY_OF_WEEK else field.high
    number = digits(text)
    if number is not None:
        if not field.low <= number <= top:
            raise out_of_range(field, number, where, high=top)
        return number
    number_of_name = _name(text, field, 3)
    if number_of_name is None:
        raise _unknown(text, field, part, where)
    return number_of_name


def _unknown(text: str, field: Field, part: str, where: str) -> SpecError:
    top = 7 if field is DAY_OF_WEEK else field.high
    hint = did_you_mean(text.lower()[:20], [n[:3] for n in field.names] + list(field.names))
    if not hint:
        hint = f"use {field.low}–{top}, '*', a range '{field.low}-{top}', a list or a step '*/2'"
        if field.names:
            hint += f", or names such as '{field.names[1][:3]}'"
    if text == "?":
        hint = "write '*' for any"
    elif text == "":
        hint = f"something is missing around {part!r}" if part else "an item of the list is empty"
    elif "#" in part or text.upper().endswith(("L", "W")):
        hint = "'L', 'LW' and '15W' go into day of month, '5#2' and 'FRIL' into day of week"
    return SpecError(f"{field.words} {short_repr(text)} is not a value{where}", field=field.name, value=text, hint=hint)


def _day_rule(part: str, field: Field, where: str) -> DayRule | None:
    word = part.upper()
    if field is DAY_OF_MONTH:
        if word == "L":
            return DayRule("last_day")
        if word in ("LW", "WL"):
            return DayRule("last_workday")
        day = digits(word[:-1]) if word.endswith("W") else None
        if day is not None:
            if not 1 <= day <= 31:
                raise out_of_range(field, day, where)
            return DayRule("nearest_workday", day)
    if field is DAY_OF_WEEK:
        if "#" in word:
            day_text, _, nth_text = word.partition("#")
            weekday = _cron_value(day_text, field, part, where) % 7
            nth = digits(nth_text) or 0
            if not 1 <= nth <= 5:
                raise SpecError(
                    f"day of week {short_repr(part)} asks for number {short_repr(nth_text)} of the month{where}",
                    field=field.name,
                    value=part,
                    hint="use 1 to 5, or '5L' for the last one",
                )
            return DayRule("nth_weekday", weekday, nth)
        if len(word) > 1 and word.endswith("L"):
            return DayRule("last_weekday", _cron_value(word[:-1], field, part, where) % 7)
    return None


# The temporal dialect


def temporal_items(text: str, field: Field, whole: str = "") -> Items:
    where = f" ({short_repr(text)} in {short_repr(whole)})" if whole else f" ({short_repr(text)})"
    items: list[Item] = []
    for part in text.split(","):
        items += _temporal_part(part, field, where)
    return tuple(items)


def _temporal_part(part: str, field: Field, where: str) -> list[Item]:
    def refuse(problem: str) -> SpecError:
        return SpecError(f"{field.title} {problem}{where}", field=field.name, value=part)

    top = 7 if field is DAY_OF_WEEK else field.high
    step, has_step = 1, False
    base = part
    if "/" in part:
        pieces = part.split("/")
        if len(pieces) != 2:
            raise refuse("has too many slashes")
        base, step_text = pieces
        if step_text == "":
            raise refuse("missing step value")
        if not _GO_INTEGER.fullmatch(step_text) or int(step_text) < 1:
            raise refuse("has invalid Step")
        step, has_step = int(step_text), True
    if base == "*":
        start, end = field.low, top
    elif "-" in base[1:] or base.startswith("-"):
        ends = base.split("-")
        if len(ends) != 2:
            raise refuse("has too many dashes")
        first, last = (temporal_value(e, field, top) for e in ends)
        if first is None:
            raise refuse("Start is not in range")
        if last is None or last < first:
            raise refuse("End is before Start or not in range")
        start, end = first, last
    else:
        value = temporal_value(base, field, top)
        if value is None:
            raise refuse(f"is not in range [{field.low}-{top}]")
        start, end = value, top if has_step else value
    if base == "*" and field is DAY_OF_WEEK:
        end = field.high if not has_step else top
    return _weekday_seven(Range(start, end, step)) if field is DAY_OF_WEEK else [Range(start, end, step)]


def temporal_value(text: str, field: Field, top: int) -> int | None:
    """Return the number that `text` means in a field, or None if `text` is wrong. These texts are right:

    - the name of a month or weekday, or the beginning of one, such as `mon`
    - a number from the field's minimum to `top`, in a form that Go's Atoi reads, such as `5`, `+5` or `05`
    """
    named = _name(text, field, 2 if field.names == WEEKDAYS else 3)
    if named is not None:
        return named
    if _GO_INTEGER.fullmatch(text) and field.low <= int(text) <= top:
        return int(text)
    return None


# Both


def _name(text: str, field: Field, letters: int) -> int | None:
    """Return the number of the month or weekday whose name begins with `text`. Return None if there is no such name, or
    if `text` has fewer than `letters` letters."""
    word = text.lower()
    if len(word) >= letters:
        for number, name in enumerate(field.names):
            if name.startswith(word):
                return number + field.low
    return None


def _weekday_seven(item: Range) -> list[Item]:
    """Return a range of weekdays as ranges without 7. Both 7 and 0 mean Sunday, so `5-7` becomes `0` and `5-6`."""
    if item.end < 7:
        return [item]
    items: list[Item] = []
    if 7 in item.values() and item.start != 0:
        items.append(Range(0, 0))
    if item.start < 7:
        items.append(Range(item.start, 6, item.step if item.start < 6 else 1))
    return items


def check_range(field: Field, item: Range, where: str) -> None:
    """Raise `SpecError` if a range exceeds the limits of its field, ends before it starts, or has a step below 1."""
    for number in (item.start, item.end):
        if not field.low <= number <= field.high:
            raise out_of_range(field, number, where)
    if item.end < item.start:
        raise SpecError(
            f"{field.words} {item} ends before it starts{where}",
            field=field.name,
            value=str(item),
            hint=f"write it as two ranges, '{item.start}-{field.high},{field.low}-{item.end}'",
        )
    if item.step < 1:
        raise SpecError(
            f"{field.words} step {short_repr(item.step)} is not a step{where}",
            field=field.name,
            value=item.step,
            hint="use 1 or more",
        )


def out_of_range(field: Field, number: int, where: str, *, high: int | None = None) -> SpecError:
    """Return the error for a value outside a field's range, with a hint. `high` replaces the field's own maximum."""
    top = field.high if high is None else high
    hint = f"did you mean {field.low}?" if number in (top + 1, field.low - 1) and field is not YEAR else ""
    if field is DAY_OF_WEEK:
        hint = "weekdays are 0 to 6 from Sunday, or names such as 'mon'; 7 is Sunday too in a cron string"
    elif field is DAY_OF_MONTH and number > top:
        hint = "'L' is the last day of the month in the cron dialect"
    return SpecError(
        f"{field.words} {short_repr(number)} is out of range {field.low}–{top}{where}",
        field=field.name,
        value=number,
        hint=hint,
    )
