"""Define the base classes and field types of request bodies and answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from inspect import get_annotations
from types import GenericAlias
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    field_validator,
)

from ostinato.errors import OstinatoError
from ostinato.faces.http.routing import Body
from ostinato.faces.options import Option, OptionKind
from ostinato.schedules.model import OverlapName
from ostinato.when.instants import to_datetime


class RequestBody(BaseModel):
    """The base of request bodies. Unknown fields are refused.

    The class argument `options` adds fields to a subclass: one field for each `Option`, with None as the default.
    """

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)

    def __init_subclass__(cls, options: Sequence[Option] = (), **config: Any) -> None:
        super().__init_subclass__(**config)
        for option in options:
            setattr(cls, option.name, None)
        hints = {option.name: _field_type(option) for option in options}
        cls.__annotations__ = {**get_annotations(cls), **hints}  # before pydantic reads them

    @field_validator("*")
    @classmethod
    def _without_nul(cls, value: Any) -> Any:
        """Return the value of a field. If it is a string with a NUL character, or a list with such a string, raise
        `ValueError`, because no store accepts NUL. A dict is not checked: it is stored as JSON, which escapes NUL."""
        texts = value if isinstance(value, list | tuple) else [value]
        if any(isinstance(text, str) and "\x00" in text for text in texts):
            raise ValueError("no text may have a NUL in it")
        return value


@contextmanager
def naming_the_field() -> Iterator[None]:
    """Turn an `OstinatoError` inside the block into a `ValueError`, so that pydantic reports it for the field."""
    try:
        yield
    except OstinatoError as problem:
        raise ValueError(str(problem)) from None


def checking(field: str, check: Callable[[Any], object]) -> Any:
    """Return a pydantic validator that passes a field's value to `check`, unless the value is None.

    `check` raises `OstinatoError` to refuse the value. The result of `check` is ignored.
    """

    def validate(value: Any) -> Any:
        if value is not None:
            with naming_the_field():
                check(value)
        return value

    return field_validator(field)(validate)


class Shown(BaseModel):
    """The base of answers.

    The class argument `view` is a dataclass. The fields of the dataclass become required fields of the model. If the
    model itself declares a field with the same name, the model's own field is used.
    """

    model_config = ConfigDict(from_attributes=True)

    def __init_subclass__(cls, view: type | None = None, **config: Any) -> None:
        super().__init_subclass__(**config)
        if view is not None:  # before pydantic reads the annotations
            hints = {name: _on_the_wire(hint) for name, hint in get_type_hints(view).items()}
            cls.__annotations__ = {**hints, **get_annotations(cls)}


def _on_the_wire(hint: Any) -> Any:
    """Return the type of a field. `tuple` becomes `list`, and `Mapping` becomes `dict`, to make pydantic faster."""
    kind, parts = get_origin(hint), get_args(hint)
    if kind is tuple:
        return GenericAlias(list, parts[0])
    return GenericAlias(dict, parts) if kind is Mapping else hint


NO_NUL = r"^[^\x00]*$"  # neither store keeps a NUL in a text
RUN_CURSOR = r"^[0-9][0-9a-hjkmnp-tv-z]{25}[^\x00]*$"  # begins with the id of a run


def _no_truth(value: Any) -> Any:
    """Return `value`. Raise ValueError if it is a bool, which pydantic would take for 0 or 1."""
    if isinstance(value, bool):
        raise ValueError("this is neither a number nor a text")
    return value


Number = Annotated[float, BeforeValidator(_no_truth)]
Length = Annotated[
    str | float, BeforeValidator(_no_truth), Field(description="A length of time: `30s`, `5m`, `PT1H`, or seconds.")
]


def _moment(value: Any) -> Any:
    """Return `value` if it is a datetime, or a text that begins with a date and a time. Otherwise raise ValueError.

    Pydantic alone would also accept numbers, as seconds or as milliseconds, depending on their size.
    """
    if isinstance(value, datetime) or (isinstance(value, str) and _MOMENT.match(value)):
        return value
    raise ValueError("write it as in RFC 3339, with an offset: 2026-03-01T09:00:00Z")


_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]")
Moment = Annotated[
    AwareDatetime,
    BeforeValidator(_moment),
    Field(description="RFC 3339, with an offset.", examples=["2026-03-01T09:00:00Z"]),
]
Instant = Annotated[datetime, BeforeValidator(lambda at: to_datetime(at) if isinstance(at, int) else at)]
Text = Annotated[str, Field(min_length=1, max_length=512)]
Object = dict[str, Any]
_FIELD_TYPES: dict[OptionKind, Any] = {
    OptionKind.TEXT: Text | None,
    OptionKind.NOTES: Annotated[str, Field(max_length=1000)] | None,
    OptionKind.LENGTH: Length | None,
    OptionKind.FLAG: StrictBool | None,
    OptionKind.TEXTS: list[str] | None,
    OptionKind.OVERLAP: OverlapName | None,
    OptionKind.CATCHUP: Annotated[
        str | Object | None, Field(description="`skip`, `latest`, `all`, or a window such as `1h`.")
    ],
    OptionKind.WHOLE_OR_OBJECT: StrictInt | Object | None,
    OptionKind.OBJECT: Object | None,
    OptionKind.JSON: Any,
}


def _field_type(option: Option) -> Any:
    if option.kind is OptionKind.WHOLE:
        return Annotated[StrictInt, Field(ge=option.least, le=option.most)] | None
    return _FIELD_TYPES[option.kind]


class Stop(RequestBody):
    reason: str = Field(default="", max_length=1000)


class NoFields(RequestBody):
    """The body of a request that has no fields, because the path says everything. The body may be left out."""


StopBody = Annotated[Stop, Body(default_factory=Stop)]
EmptyBody = Annotated[NoFields, Body(default_factory=NoFields)]
NextBefore = Annotated[str | None, Field(description="Pass as `before` for the next page; null on the last.")]
NextAfter = Annotated[str | None, Field(description="Pass as `after` for the next page; null on the last.")]
NextAfterNumber = Annotated[int | None, Field(description="Pass as `after` for the next page; null on the last.")]
NextAfterLatest = Annotated[
    int | None, Field(description="Pass as `after` for the next page; null where there is no more for now.")
]
