"""Everything that stands in a definition, with its place: what rules go through that do not care where something is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from enum import StrEnum
from typing import Any

from ostinato.journeys.language import Definition, Expression, expressions
from ostinato.journeys.language.shapes import table
from ostinato.journeys.language.states import Join, Task
from ostinato.schedules.marked import Path


@dataclass(frozen=True, slots=True)
class Part:
    """A field of the language: the value, its key and path, and the object it belongs to."""

    path: Path
    key: str
    value: Any
    owner: Any


def parts(definition: Definition) -> Iterator[Part]:
    yield from _within(definition, ())


def _within(owner: Any, path: Path) -> Iterator[Part]:
    cls: type = type(owner)
    for field in table(cls):
        key = field.metadata["key"]
        yield from _value(Part((*path, key), key, getattr(owner, field.name), owner))


def _value(part: Part) -> Iterator[Part]:
    value = part.value
    if isinstance(value, Expression) or _is_foreign(part) or isinstance(value, Task):
        yield part
    elif is_dataclass(value):
        yield part
        yield from _within(value, part.path)
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _value(Part((*part.path, name), part.key, one, part.owner))
    elif isinstance(value, tuple):
        for n, one in enumerate(value):
            yield from _value(Part((*part.path, n), part.key, one, part.owner))
    else:
        yield part


def _is_foreign(part: Part) -> bool:
    """A JSON Schema is a value of its own, not a part of the language."""
    return part.key == "schema"


class Role(StrEnum):
    """What is made of an expression's value."""

    PREDICATE = "predicate"
    STATUS = "status"
    JOIN = "join"
    MAPPER = "mapper"


@dataclass(frozen=True, slots=True)
class Site:
    expression: Expression
    role: Role


def sites(some: Iterable[Part]) -> Iterator[Site]:
    """Every expression, where it stands. One that is shared comes once for each place that names it."""
    for part in some:
        if isinstance(part.value, Expression):
            yield Site(part.value, _role(part))
        elif isinstance(part.value, Task):
            yield from (Site(one, Role.MAPPER) for one in expressions(part.value.settings, part.value.path))


def _role(part: Part) -> Role:
    if part.key == "predicate":
        return Role.PREDICATE
    if part.key == "statusExpr":
        return Role.STATUS
    return Role.JOIN if isinstance(part.owner, Join) else Role.MAPPER
