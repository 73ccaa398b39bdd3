"""List all parts of a definition with their paths, for rules that apply to any part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from enum import StrEnum
from typing import Any

from ostinato.documents import Path
from ostinato.journeys.language import Expression, expressions
from ostinato.journeys.language.shapes import table
from ostinato.journeys.language.states import Join, Task


@dataclass(frozen=True, slots=True)
class DefinitionPart:
    """A field of a definition: its path, key and value, and the object that contains it."""

    path: Path
    key: str
    value: Any
    owner: Any


def parts(owner: Any, path: Path = ()) -> Iterator[DefinitionPart]:
    """Yield every part of `owner`, at any depth. `owner` is a whole definition, or the object at `path` in a
    definition. The insides of tasks, expressions and JSON Schemas are not parts."""
    cls: type = type(owner)
    for field in table(cls):
        key = field.metadata["key"]
        yield from _value(DefinitionPart((*path, key), key, getattr(owner, field.name), owner))


def _value(part: DefinitionPart) -> Iterator[DefinitionPart]:
    value = part.value
    # The content of a JSON Schema is not part of the journey language.
    if isinstance(value, Expression | Task) or part.key == "schema":
        yield part
    elif is_dataclass(value):
        yield part
        yield from parts(value, part.path)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _value(DefinitionPart((*part.path, name), part.key, item, part.owner))
    elif isinstance(value, tuple):
        for n, item in enumerate(value):
            yield from _value(DefinitionPart((*part.path, n), part.key, item, part.owner))
    else:
        yield part


class Role(StrEnum):
    """What an expression's value is used for."""

    PREDICATE = "predicate"
    STATUS = "status"
    JOIN = "join"
    MAPPER = "mapper"


@dataclass(frozen=True, slots=True)
class Site:
    expression: Expression
    role: Role


def sites(some: Iterable[DefinitionPart]) -> Iterator[Site]:
    """Yield every expression in these parts with its role, once for each place that uses it."""
    for part in some:
        if isinstance(part.value, Expression):
            yield Site(part.value, _role(part))
        elif isinstance(part.value, Task):
            yield from (Site(one, Role.MAPPER) for one in expressions(part.value.settings, part.value.path))


def _role(part: DefinitionPart) -> Role:
    if part.key == "predicate":
        return Role.PREDICATE
    if part.key == "statusExpr":
        return Role.STATUS
    return Role.JOIN if isinstance(part.owner, Join) else Role.MAPPER
