"""A calendar: seven wall-clock fields that must all match. The one form that cron strings,
string calendars and structured calendars come down to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from ostinato.errors import SpecError, did_you_mean
from ostinato.when.fields import DAY_OF_MONTH, DAY_OF_WEEK, FIELDS, YEAR, DayRule, Field, Items, Range, check_range
from ostinato.when.grammar import Dialect, parse_field

_ZERO: Items = (Range(0, 0),)
_COMMENT_BYTES = 200


@dataclass(frozen=True, slots=True)
class Calendar:
    """An empty field matches nothing, except an empty year, which matches every year."""

    second: Items = _ZERO
    minute: Items = _ZERO
    hour: Items = _ZERO
    day_of_month: Items = (Range(1, 31),)
    month: Items = (Range(1, 12),)
    year: Items = ()
    day_of_week: Items = (Range(0, 6),)
    comment: str = ""

    def __post_init__(self) -> None:
        if len(self.comment.encode()) > _COMMENT_BYTES:
            raise SpecError(
                f"comment is {len(self.comment.encode())} bytes long",
                field="comment",
                value=self.comment,
                hint=f"at most {_COMMENT_BYTES} are kept",
            )
        for field in FIELDS:
            for item in self.items(field):
                if isinstance(item, Range):
                    check_range(field, item, "")
                elif field is not (DAY_OF_MONTH if item.kind in _MONTH_RULES else DAY_OF_WEEK):
                    raise SpecError(f"{field.words} cannot hold {str(item)!r}", field=field.name, value=str(item))

    def items(self, field: Field) -> Items:
        found: Items = getattr(self, field.name)
        return found

    @property
    def rules(self) -> tuple[DayRule, ...]:
        return tuple(i for i in self.day_of_month + self.day_of_week if isinstance(i, DayRule))

    def without_comment(self) -> Calendar:
        return replace(self, comment="")

    def to_json(self) -> dict[str, str]:
        """Each field as text in the cron dialect's grammar; fields at their default are left out."""
        found = {
            f.name: ",".join(map(str, self.items(f))) for f in FIELDS if self.items(f) != getattr(_DEFAULT, f.name)
        }
        return {**found, "comment": self.comment} if self.comment else found


_MONTH_RULES = ("last_day", "last_workday", "nearest_workday")
_DEFAULT = Calendar()
_NAMES = tuple(f.name for f in fields(Calendar))


def read_calendar(given: Mapping[str, object], dialect: Dialect = "cron", *, rest: str = "") -> Calendar:
    """A calendar from texts, numbers or lists of them. A field that is absent keeps its default, or is `rest`."""
    found: dict[str, Items] = {}
    for name in given:
        if name not in _NAMES:
            raise SpecError(
                f"{name!r} is not a calendar field",
                field=name,
                value=given[name],
                hint=did_you_mean(name, _NAMES) or f"the fields are {', '.join(_NAMES)}",
            )
    for field in FIELDS:
        if field.name in given:
            found[field.name] = _read_items(given[field.name], field, dialect)
        elif rest and field is not YEAR:
            found[field.name] = parse_field(rest, field, dialect)
    comment = given.get("comment", "")
    if not isinstance(comment, str):
        raise SpecError(f"comment {comment!r} is not text", field="comment", value=comment)
    return Calendar(**found, comment=comment)


def _read_items(value: object, field: Field, dialect: Dialect) -> Items:
    if isinstance(value, bool) or not isinstance(value, int | str | Range | DayRule | list | tuple | range):
        raise SpecError(
            f"{field.words} {value!r} is neither a number nor a text",
            field=field.name,
            value=value,
            hint="write 9, '9-17', '*/5' or a list of them",
        )
    if isinstance(value, int):
        return parse_field(str(value), field, dialect) if value >= 0 else _negative(value, field)
    if isinstance(value, str):
        if value == "":
            return ()
        return () if field is YEAR and value == "*" else parse_field(value, field, dialect)
    if isinstance(value, Range | DayRule):
        return (value,)
    return tuple(item for one in value for item in _read_items(one, field, dialect))


def _negative(value: int, field: Field) -> Items:
    check_range(field, Range(value, value), "")
    return ()
