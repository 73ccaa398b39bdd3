"""Define and read calendars, which have seven wall-clock fields. A time matches a calendar if it matches all fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from ostinato.errors import SpecError, did_you_mean, short_repr
from ostinato.when.field_grammar import Dialect, check_range, out_of_range, parse_field
from ostinato.when.fields import (
    DAY_OF_MONTH,
    DAY_OF_WEEK,
    FIELDS,
    YEAR,
    DayRule,
    Field,
    Items,
    Range,
)

_ZERO: Items = (Range(0, 0),)
_COMMENT_BYTES = 200


@dataclass(frozen=True, slots=True)
class Calendar:
    """The values of seven fields. An empty field matches nothing, except an empty year: it matches every year."""

    second: Items = _ZERO
    minute: Items = _ZERO
    hour: Items = _ZERO
    day_of_month: Items = (Range(1, 31),)
    month: Items = (Range(1, 12),)
    year: Items = ()
    day_of_week: Items = (Range(0, 6),)
    comment: str = ""

    def __post_init__(self) -> None:
        try:
            size = len(self.comment.encode())
        except UnicodeEncodeError:
            raise SpecError(
                f"comment {short_repr(self.comment)} holds half of a character",
                field="comment",
                value=self.comment,
                hint="surrogates must come in pairs",
            ) from None
        if size > _COMMENT_BYTES:
            raise SpecError(
                f"comment is {size} bytes long",
                field="comment",
                value=self.comment,
                hint=f"the maximum is {_COMMENT_BYTES}",
            )
        for field in FIELDS:
            for item in self.items(field):
                if isinstance(item, Range):
                    check_range(field, item, "")
                elif field is not (DAY_OF_MONTH if item.kind in _MONTH_RULES else DAY_OF_WEEK):
                    raise SpecError(f"{field.words} cannot hold {str(item)!r}", field=field.name, value=str(item))

    def items(self, field: Field) -> Items:
        items: Items = getattr(self, field.name)
        return items

    @property
    def rules(self) -> tuple[DayRule, ...]:
        return tuple(i for i in self.day_of_month + self.day_of_week if isinstance(i, DayRule))

    def with_items(self, field: Field, items: Items) -> Calendar:
        changed: dict[str, Any] = {field.name: items}
        return replace(self, **changed)

    def without_comment(self) -> Calendar:
        return replace(self, comment="")

    def to_json(self, *, always: bool = False) -> dict[str, str]:
        """Return the calendar as a dict from field name to text. If the calendar has a comment, the dict also has the
        key `comment`. Fields with these values are left out:

        - If `always` is true: the whole range for every field.
        - If `always` is false: the defaults of `Calendar`. They are 0 for second, minute and hour, and the whole range
          for the other fields.
        """
        rest = _ALWAYS if always else _DEFAULT
        document = {f.name: ",".join(map(str, self.items(f))) for f in FIELDS if self.items(f) != rest.items(f)}
        return {**document, "comment": self.comment} if self.comment else document


_MONTH_RULES = ("last_day", "last_workday", "nearest_workday")
_DEFAULT = Calendar()
_ALWAYS = Calendar(second=(Range(0, 59),), minute=(Range(0, 59),), hour=(Range(0, 23),))
_NAMES = tuple(f.name for f in fields(Calendar))


def read_calendar(document: Mapping[str, object], dialect: Dialect = "cron", *, rest: str = "") -> Calendar:
    """Read a calendar from a dict of field names to values. A value is a text, a number, or a list of these. Raises
    `SpecError` if a field is wrong.

    `rest` is the value for absent fields, for example `"*"`. If `rest` is empty, each absent field has its default.
    `rest` does not apply to the year: an absent year always has its default.
    """
    items: dict[str, Items] = {}
    for name in document:
        if name not in _NAMES:
            raise SpecError(
                f"{short_repr(name)} is not a calendar field",
                field=name,
                value=document[name],
                hint=did_you_mean(str(name)[:40], _NAMES) or f"the fields are {', '.join(_NAMES)}",
            )
    for field in FIELDS:
        if field.name in document:
            items[field.name] = _read_items(document[field.name], field, dialect)
        elif rest and field is not YEAR:
            items[field.name] = parse_field(rest, field, dialect)
    comment = document.get("comment", "")
    if not isinstance(comment, str):
        raise SpecError(f"comment {short_repr(comment)} is not text", field="comment", value=comment)
    return Calendar(**items, comment=comment)


def _read_items(value: object, field: Field, dialect: Dialect) -> Items:
    if isinstance(value, set | frozenset):
        value = sorted(value, key=lambda one: (type(one).__name__, one if isinstance(one, int) else str(one)))
    if isinstance(value, list | tuple | range):
        return tuple(item for one in value for item in _read_item(one, field, dialect))
    return _read_item(value, field, dialect)


def _read_item(value: object, field: Field, dialect: Dialect) -> Items:
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 <= value < 10_000:
            raise out_of_range(field, value, "")
        return parse_field(str(value), field, dialect)
    if isinstance(value, str):
        if value == "":
            return ()
        return () if field is YEAR and value == "*" else parse_field(value, field, dialect)
    if isinstance(value, Range | DayRule):
        return (value,)
    raise SpecError(
        f"{field.words} {short_repr(value)} is neither a number nor a text",
        field=field.name,
        value=value,
        hint="write 9, '9-17', '*/5' or a list of them",
    )
