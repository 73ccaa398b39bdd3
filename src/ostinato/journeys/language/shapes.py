"""How values of a document become values of the language. A dataclass is its own table of fields: each names its key
and the shape of what stands there, and `read_object` does the rest: what is missing, unknown, of another kind or out of
range becomes a problem with its place. Nothing here knows what any field means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import lru_cache
from typing import Any, TypeAlias

from ostinato.errors import did_you_mean, nearest
from ostinato.errors import shown_json as shown
from ostinato.journeys.problems import Problem, Severity, problem
from ostinato.schedules.marked import Marked, Path

IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Expression:
    """A piece of code in a language of its own. `path` is where it stands; a `mapperRef` is already resolved."""

    lang: str
    expr: str
    path: Path = field(default=(), compare=False)


@dataclass(slots=True)
class Reading:
    """What is known while a document is read, and what was wrong so far. Reading goes on over what is wrong: something
    of the same type stands in for it, and its path is among the `unread`."""

    marked: Marked
    mappers: Mapping[str, Expression] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unread: set[Path] = field(default_factory=set)

    def wrong(
        self,
        code: str,
        path: Path,
        message: str,
        suggestion: str = "",
        *,
        key: bool = False,
        unread: Path | None = None,
    ) -> None:
        """`unread`: what could not be read for it, where that is not the place itself."""
        self.problems.append(problem(self.marked, code, path, message, suggestion, key=key))
        self.unread.add(path if unread is None else unread)

    def warn(self, code: str, path: Path, message: str, suggestion: str = "") -> None:
        warning = Severity.WARNING
        self.problems.append(problem(self.marked, code, path, message, suggestion, key=True, severity=warning))


def explained(unread: Set[Path], path: Path) -> bool:
    """Whether a place is one that could not be read, or within one: whatever is there stands in for something else."""
    return any(path[:n] in unread for n in range(1, len(path) + 1)) or () in unread


# A shape is total: what it cannot read is on record, and what it returns has the type all the same.
Shape: TypeAlias = Callable[[Reading, Any, Path], Any]


def stand_in(shape: Shape, path: Path) -> Any:
    """What stands for something that is missing, or cannot be read: null is never what is wanted."""
    return shape(Reading(Marked("")), None, path)


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
        not_a(reading, value, path, "an object")
        return read_object(cls, Reading(reading.marked), {}, path)
    meant = refuse_unknown(reading, value, path, [*keys(cls), *also])
    if "mapperRef" in meant:
        meant.add("mapper")
        reading.unread.add((*path, "mapper"))
    given: dict[str, Any] = {}
    for one in table(cls):
        name, shape = one.metadata["key"], one.metadata["shape"]
        if shape is mapper and "mapperRef" in value:
            given[one.name] = _referred(reading, value, path, name)
        elif name in value:
            given[one.name] = shape(reading, value[name], (*path, name))
        elif name in meant or (one.default is MISSING and one.default_factory is MISSING):
            given[one.name] = stand_in(shape, (*path, name))
            if name not in meant:
                unread = (*path, name)
                reading.wrong("shape-missing", path, f"{name!r} is missing{_in(path)}", unread=unread)
    if any(one.name == "path" and not one.metadata for one in fields(cls)):
        given["path"] = path
    return cls(**given)


def refuse_unknown(reading: Reading, value: Mapping[str, Any], path: Path, known: Sequence[str]) -> set[str]:
    """The fields that are not there and that what is unknown was likely meant to be: nobody else misses them."""
    meant = set()
    for name in value:
        if name not in known:
            near = nearest(name, [one for one in known if one not in value])
            meant |= {near} if near else set()
            hint = did_you_mean(near or name, known) or f"there are {', '.join(sorted(known))}"
            unread = (*path, near) if near else None
            message = f"{shown(name)} is not known{_in(path)}"
            reading.wrong("shape-unknown-field", (*path, name), message, hint, key=True, unread=unread)
    return meant


def not_a(reading: Reading, value: Any, path: Path, wanted: str, suggestion: str = "") -> None:
    reading.wrong("shape-type", path, f"{_name(path)}{shown(value)} is not {wanted}", suggestion)


def _in(path: Path) -> str:
    names = [str(one) for one in path if isinstance(one, str)]
    return f" in {names[-1]!r}" if names else ""


def _name(path: Path) -> str:
    return f"{path[-1]!r} " if path and isinstance(path[-1], str) else ""


# Shapes of single values.


def anything(reading: Reading, value: Any, path: Path) -> Any:
    return value


def yes_no(reading: Reading, value: Any, path: Path) -> Any:
    if isinstance(value, bool):
        return value
    not_a(reading, value, path, "true or false")
    return False


def text(pattern: re.Pattern[str] | None = None, example: str = "") -> Shape:
    """A text that is not empty, and matches the pattern as a whole."""

    def read(reading: Reading, value: Any, path: Path) -> Any:
        if not isinstance(value, str):
            fits = pattern is None or pattern.fullmatch(str(value)) is not None
            hint = f"write something like {example!r}" if example and not fits else ""
            if isinstance(value, int | float) and not isinstance(value, bool) and fits:
                hint = f'write "{value}"'
            not_a(reading, value, path, "a text", hint)
        elif not value.strip():
            reading.wrong("shape-empty", path, f"{_name(path)}is empty")
        elif pattern is not None and not pattern.fullmatch(value):
            hint = f"write something like {example!r}" if example else ""
            reading.wrong("shape-pattern", path, f"{_name(path)}{shown(value)} does not match {pattern.pattern}", hint)
        else:
            return value
        return ""

    return read


def any_text(reading: Reading, value: Any, path: Path) -> Any:
    """A text that may be empty."""
    if isinstance(value, str):
        return value
    not_a(reading, value, path, "a text")
    return ""


identifier = text(IDENTIFIER, "result")


LONGEST_S = 1000 * 365 * 86_400  # seconds of a length: timers have no moment after the year 9999
LONGEST_MS = LONGEST_S * 1000
_MOST = (1 << 31) - 1  # of what is counted


def seconds(least: int = 1) -> Shape:
    """A length of time in whole seconds."""
    return whole(least, LONGEST_S)


def milliseconds(least: int = 1) -> Shape:
    return whole(least, LONGEST_MS)


def whole(least: int, most: int = _MOST) -> Shape:
    def read(reading: Reading, value: Any, path: Path) -> Any:
        if not isinstance(value, int) or isinstance(value, bool):
            not_a(reading, value, path, "a whole number")
        elif not least <= value <= most:
            bounds = f"at least {least}, and at most {most:,}" if most >= _MOST else f"{least} to {most}"
            reading.wrong("shape-range", path, f"{_name(path)}{value} is out of range", f"it is {bounds}")
        else:
            return value
        return least

    return read


def number(most: float) -> Shape:
    def read(reading: Reading, value: Any, path: Path) -> Any:
        if not isinstance(value, int | float) or isinstance(value, bool):
            not_a(reading, value, path, "a number")
        elif abs(value) > most:
            reading.wrong("shape-range", path, f"{_name(path)}{value} is out of range", f"it is at most {most:,}")
        else:
            return value
        return 1

    return read


def one_of(*words: str) -> Shape:
    def read(reading: Reading, value: Any, path: Path) -> Any:
        if value in words and isinstance(value, str):
            return value
        hint = did_you_mean(str(value), words) or f"there are {', '.join(words)}"
        reading.wrong("shape-enum", path, f"{_name(path)}{shown(value)} is not known", hint)
        return ""  # none of the words, so that no rule about one of them applies

    return read


# Shapes of what holds others.


def list_of(shape: Shape, least: int = 0) -> Shape:
    def read(reading: Reading, value: Any, path: Path) -> Any:
        if not isinstance(value, list):
            not_a(reading, value, path, "a list")
            return ()
        if len(value) < least:
            reading.wrong("shape-empty", path, f"{_name(path)}is empty", f"at least {least} must be there")
        return tuple(shape(reading, one, (*path, n)) for n, one in enumerate(value))

    return read


def map_of(shape: Shape, least: int = 0) -> Shape:
    def read(reading: Reading, value: Any, path: Path) -> Any:
        if not isinstance(value, dict):
            not_a(reading, value, path, "an object")
            return {}
        if len(value) < least:
            reading.wrong("shape-empty", path, f"{_name(path)}is empty", f"at least {least} must be there")
        return {name: shape(reading, one, (*path, name)) for name, one in value.items()}

    return read


def open_object(reading: Reading, value: Any, path: Path) -> Any:
    """An object whose fields are somebody else's: a JSON Schema, an engine's settings."""
    if isinstance(value, dict):
        return value
    not_a(reading, value, path, "an object")
    return {}


def either(test: Callable[[Any], bool], yes: Shape, no: Shape) -> Shape:
    return lambda reading, value, path: (yes if test(value) else no)(reading, value, path)


# Expressions.


def expression(reading: Reading, value: Any, path: Path) -> Expression:
    if not isinstance(value, dict):
        not_a(reading, value, path, "an expression", "write lang: plain and expr: …")
    elif "exprRef" in value:
        message = "an expression stands where it is used"
        reading.wrong("expression-ref", (*path, "exprRef"), message, "write expr", key=True, unread=path)
    else:
        found = read_object(_Written, reading, value, path)
        return Expression(found.lang, found.expr, path)
    return Expression("", "", path)


@dataclass(frozen=True, slots=True)
class _Written:
    lang: str = key("lang", text())
    expr: str = key("expr", text())


def mapper(reading: Reading, value: Any, path: Path) -> Expression:
    """A mapper that stands in its object as `mapper`, or as `mapperRef` by the name it has in `spec.mappers`."""
    return expression(reading, value, path)


def _referred(reading: Reading, value: Mapping[str, Any], path: Path, name: str) -> Expression:
    """What a `mapperRef` names."""
    wanted, here = value["mapperRef"], (*path, "mapperRef")
    if name in value:
        reading.wrong("mapper-twice", here, f"{name!r} and 'mapperRef' stand together", "leave one out", key=True)
        return expression(reading, value[name], (*path, name))
    if isinstance(wanted, str) and wanted in reading.mappers:
        return reading.mappers[wanted]
    hint = did_you_mean(str(wanted), reading.mappers) or "spec.mappers has " + (", ".join(reading.mappers) or "none")
    reading.wrong("mapper-unknown", here, f"there is no mapper {shown(wanted)}", hint)
    return Expression("", "", here)


@dataclass(frozen=True, slots=True)
class _Mapped:
    mapper: Expression = key("mapper", mapper)


def mapped(reading: Reading, value: Any, path: Path) -> Any:
    """`{mapper: …}` or `{mapperRef: …}`: an expression."""
    return read_object(_Mapped, reading, value, path).mapper


def or_mapped(shape: Shape) -> Shape:
    """A literal, or an object with a mapper."""
    return either(lambda value: isinstance(value, dict), mapped, shape)


def inlined(reading: Reading, value: Any, path: Path) -> Any:
    """Settings of a plugin: as they are, but each `mapperRef` is the mapper it names."""
    if isinstance(value, list):
        return [inlined(reading, one, (*path, n)) for n, one in enumerate(value)]
    if not isinstance(value, dict):
        return value
    found = {name: inlined(reading, one, (*path, name)) for name, one in value.items() if name != "mapperRef"}
    if "mapperRef" in value:
        made = _referred(reading, value, path, "mapper")
        found["mapper"] = {"lang": made.lang, "expr": made.expr}
        if (*path, "mapperRef") in reading.unread:
            reading.unread.add((*path, "mapper"))
    return found


def expressions(settings: Any, path: Path = ()) -> Iterator[Expression]:
    """Every mapper in a plugin's settings."""
    if isinstance(settings, Mapping):
        for name, value in settings.items():
            if name == "mapper" and isinstance(value, Mapping) and _is_written(value):
                yield Expression(value["lang"], value["expr"], (*path, name))
            else:
                yield from expressions(value, (*path, name))
    elif isinstance(settings, list | tuple):
        for n, value in enumerate(settings):
            yield from expressions(value, (*path, n))


def _is_written(value: Mapping[str, Any]) -> bool:
    """What is less than an expression is said by the plugin."""
    return isinstance(value.get("lang"), str) and isinstance(value.get("expr"), str)
