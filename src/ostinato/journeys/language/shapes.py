"""How values of a document become values of the language. A dataclass is its own table of fields: each names its key
and the shape of what stands there, and `read_object` does the rest: what is missing, unknown, of another kind or out of
range becomes a problem with its place. Nothing here knows what any field means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import lru_cache
from typing import Any, Final, TypeAlias

from ostinato.errors import did_you_mean, shown
from ostinato.journeys.problems import Problem, Severity, problem
from ostinato.schedules.marked import Marked, Path

IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class _Invalid:
    """Stands for what could not be read; why is among the problems."""


INVALID: Final = _Invalid()


@dataclass(frozen=True, slots=True)
class Expression:
    """A piece of code in a language of its own. `path` is where it stands; a `mapperRef` is already resolved."""

    lang: str
    expr: str
    path: Path = field(default=(), compare=False)


@dataclass(slots=True)
class Reading:
    """What is known while a document is read, and what was wrong so far."""

    marked: Marked
    mappers: Mapping[str, Expression] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def wrong(
        self, code: str, path: Path, message: str, suggestion: str = "", *, key: bool = False, warning: bool = False
    ) -> _Invalid:
        severity = Severity.WARNING if warning else Severity.ERROR
        self.problems.append(problem(self.marked, code, path, message, suggestion, key=key, severity=severity))
        return INVALID


Shape: TypeAlias = Callable[[Reading, Any, Path], Any]


def key(name: str, shape: Shape, default: Any = MISSING, *, make: Callable[[], Any] | None = None) -> Any:
    """A field of the language: the key it stands under, its shape, and what it is when it is left out. Without that it
    must be there."""
    metadata = {"key": name, "shape": shape}
    if make is not None:
        return field(default_factory=make, metadata=metadata)
    return field(default=default, metadata=metadata)


def of(cls: type) -> Shape:
    """An object with the fields of this class, and no others."""
    return lambda reading, value, path: read_object(cls, reading, value, path)


def later(shape: Callable[[], Shape]) -> Shape:
    """A shape that contains itself."""
    return lambda reading, value, path: shape()(reading, value, path)


@lru_cache(maxsize=128)
def table(cls: type) -> tuple[Field[Any], ...]:
    return tuple(one for one in fields(cls) if "key" in one.metadata)


def keys(cls: type) -> list[str]:
    found = [one.metadata["key"] for one in table(cls)]
    return [*found, "mapperRef"] if any(one.metadata["shape"] is mapper for one in table(cls)) else found


def read_object(cls: type, reading: Reading, value: Any, path: Path, *, also: Sequence[str] = ()) -> Any:
    """`also` are keys that somebody else reads."""
    if not isinstance(value, dict):
        return not_a(reading, value, path, "an object")
    known = [*keys(cls), *also]
    refuse_unknown(reading, value, path, known)
    given: dict[str, Any] = {}
    whole = True
    for one in table(cls):
        name, shape = one.metadata["key"], one.metadata["shape"]
        if shape is mapper:
            found = _mapper_of(reading, value, path, name)
        elif name in value:
            found = shape(reading, value[name], (*path, name))
        else:
            found = None
        if found is INVALID:
            whole = False
        elif found is not None or name in value:
            given[one.name] = found
        elif one.default is MISSING and one.default_factory is MISSING:
            whole = False
            reading.wrong("shape-missing", path, f"{name!r} is missing{_in(path)}")
    if not whole:
        return INVALID
    if any(one.name == "path" and not one.metadata for one in fields(cls)):
        given["path"] = path
    return cls(**given)


def refuse_unknown(reading: Reading, value: Mapping[str, Any], path: Path, known: Sequence[str]) -> None:
    for name in value:
        if name not in known:
            hint = did_you_mean(name, known) or f"there are {', '.join(sorted(known))}"
            reading.wrong(
                "shape-unknown-field", (*path, name), f"{shown(name)} is not known{_in(path)}", hint, key=True
            )


def not_a(reading: Reading, value: Any, path: Path, wanted: str, suggestion: str = "") -> _Invalid:
    return reading.wrong("shape-type", path, f"{_name(path)}{shown(value)} is not {wanted}", suggestion)


def _in(path: Path) -> str:
    names = [str(one) for one in path if isinstance(one, str)]
    return f" in {names[-1]!r}" if names else ""


def _name(path: Path) -> str:
    return f"{path[-1]!r} " if path and isinstance(path[-1], str) else ""


# Shapes of single values.


def anything(reading: Reading, value: Any, path: Path) -> Any:
    return value


def yes_no(reading: Reading, value: Any, path: Path) -> Any:
    return value if isinstance(value, bool) else not_a(reading, value, path, "true or false")


def text(pattern: re.Pattern[str] | None = None, example: str = "") -> Shape:
    """A text that is not empty, and matches the pattern as a whole."""

    def read(reading: Reading, value: Any, path: Path) -> Any:
        if not isinstance(value, str):
            return not_a(reading, value, path, "a text", f'write "{value}"' if isinstance(value, int | float) else "")
        if not value.strip():
            return reading.wrong("shape-empty", path, f"{_name(path)}is empty")
        if pattern is not None and not pattern.fullmatch(value):
            hint = f"write something like {example!r}" if example else ""
            return reading.wrong(
                "shape-pattern", path, f"{_name(path)}{shown(value)} does not match {pattern.pattern}", hint
            )
        return value

    return read


def any_text(reading: Reading, value: Any, path: Path) -> Any:
    """A text that may be empty."""
    return value if isinstance(value, str) else not_a(reading, value, path, "a text")


identifier = text(IDENTIFIER, "result")


def whole(least: int | None = None, most: int | None = None) -> Shape:
    def read(reading: Reading, value: Any, path: Path) -> Any:
        if not isinstance(value, int) or isinstance(value, bool):
            return not_a(reading, value, path, "a whole number")
        if (least is not None and value < least) or (most is not None and value > most):
            bounds = f"at least {least}" if most is None else f"{least} to {most}"
            return reading.wrong("shape-range", path, f"{_name(path)}{value} is out of range", f"it is {bounds}")
        return value

    return read


def number(reading: Reading, value: Any, path: Path) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return not_a(reading, value, path, "a number")


def one_of(*words: str) -> Shape:
    def read(reading: Reading, value: Any, path: Path) -> Any:
        if value in words and isinstance(value, str):
            return value
        hint = did_you_mean(str(value), words) or f"there are {', '.join(words)}"
        return reading.wrong("shape-enum", path, f"{_name(path)}{shown(value)} is not known", hint)

    return read


# Shapes of what holds others.


def list_of(shape: Shape, least: int = 0) -> Shape:
    def read(reading: Reading, value: Any, path: Path) -> Any:
        if not isinstance(value, list):
            return not_a(reading, value, path, "a list")
        if len(value) < least:
            return reading.wrong("shape-empty", path, f"{_name(path)}is empty", f"at least {least} must be there")
        found = [shape(reading, one, (*path, n)) for n, one in enumerate(value)]
        return INVALID if any(one is INVALID for one in found) else tuple(found)

    return read


def map_of(shape: Shape, least: int = 0, key_shape: Shape | None = None) -> Shape:
    def read(reading: Reading, value: Any, path: Path) -> Any:
        if not isinstance(value, dict):
            return not_a(reading, value, path, "an object")
        if len(value) < least:
            return reading.wrong("shape-empty", path, f"{_name(path)}is empty", f"at least {least} must be there")
        found = {name: shape(reading, one, (*path, name)) for name, one in value.items()}
        named = [True if key_shape is None else key_shape(reading, name, (*path, name)) for name in value]
        return INVALID if any(one is INVALID for one in (*found.values(), *named)) else found

    return read


def open_object(reading: Reading, value: Any, path: Path) -> Any:
    """An object whose fields are somebody else's: a JSON Schema, an engine's settings."""
    return value if isinstance(value, dict) else not_a(reading, value, path, "an object")


def either(test: Callable[[Any], bool], yes: Shape, no: Shape) -> Shape:
    return lambda reading, value, path: (yes if test(value) else no)(reading, value, path)


# Expressions.


def expression(reading: Reading, value: Any, path: Path) -> Any:
    if not isinstance(value, dict):
        return not_a(reading, value, path, "an expression", "write lang: dataweave and expr: …")
    if "exprRef" in value:
        return reading.wrong(
            "expression-ref", (*path, "exprRef"), "an expression stands where it is used", "write expr", key=True
        )
    return read_object(_Written, reading, value, path)


@dataclass(frozen=True, slots=True)
class _Written:
    lang: str = key("lang", text())
    expr: str = key("expr", text())


def _expression(reading: Reading, value: Any, path: Path) -> Any:
    found = expression(reading, value, path)
    return found if found is INVALID else Expression(found.lang, found.expr, path)


predicate: Shape = _expression
plain_mapper: Shape = _expression


def mapper(reading: Reading, value: Any, path: Path) -> Any:
    """A mapper that stands in its object as `mapper`, or as `mapperRef` by the name it has in `spec.mappers`."""
    return _expression(reading, value, path)


def _mapper_of(reading: Reading, value: Mapping[str, Any], path: Path, name: str) -> Any:
    if name in value and "mapperRef" in value:
        return reading.wrong(
            "mapper-twice", (*path, "mapperRef"), f"{name!r} and 'mapperRef' stand together", "leave one out", key=True
        )
    if name in value:
        return _expression(reading, value[name], (*path, name))
    return None if "mapperRef" not in value else referred(reading, value["mapperRef"], (*path, "mapperRef"))


def referred(reading: Reading, name: Any, path: Path) -> Any:
    if isinstance(name, str) and name in reading.mappers:
        return reading.mappers[name]
    hint = did_you_mean(str(name), reading.mappers) or "spec.mappers has " + (", ".join(reading.mappers) or "none")
    return reading.wrong("mapper-unknown", path, f"there is no mapper {shown(name)}", hint)


@dataclass(frozen=True, slots=True)
class _Mapped:
    mapper: Expression = key("mapper", mapper)


def mapped(reading: Reading, value: Any, path: Path) -> Any:
    """`{mapper: …}` or `{mapperRef: …}`: an expression."""
    found = read_object(_Mapped, reading, value, path)
    return found if found is INVALID else found.mapper


def or_mapped(shape: Shape) -> Shape:
    """A literal, or an object with a mapper."""
    return either(lambda value: isinstance(value, dict), mapped, shape)


def inlined(reading: Reading, value: Any, path: Path) -> Any:
    """Settings of a plugin: as they are, but each `mapperRef` is the mapper it names."""
    if isinstance(value, list):
        found: Any = [inlined(reading, one, (*path, n)) for n, one in enumerate(value)]
        return INVALID if any(one is INVALID for one in found) else found
    if not isinstance(value, dict):
        return value
    found = {name: inlined(reading, one, (*path, name)) for name, one in value.items() if name != "mapperRef"}
    if "mapperRef" in value:
        here = _mapper_of(reading, value, path, "mapper")
        found["mapper"] = here if here is INVALID else {"lang": here.lang, "expr": here.expr}
    return INVALID if any(one is INVALID for one in found.values()) else found


def expressions(settings: Any, path: Path = ()) -> Iterator[Expression]:
    """Every mapper in a plugin's settings."""
    if isinstance(settings, Mapping):
        for name, value in settings.items():
            if name == "mapper" and isinstance(value, Mapping) and value.keys() >= {"lang", "expr"}:
                yield Expression(str(value["lang"]), str(value["expr"]), (*path, name))
            else:
                yield from expressions(value, (*path, name))
    elif isinstance(settings, list | tuple):
        for n, value in enumerate(settings):
            yield from expressions(value, (*path, n))
