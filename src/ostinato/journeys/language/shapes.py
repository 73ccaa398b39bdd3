"""Read values of a document into dataclasses.

A field of such a dataclass is declared by `key`, with its key in the document and its shape. A shape is a function that
reads one value. If it cannot read the value, it reports an error and returns a substitute. `read_object` reports fields
that are missing, unknown, of the wrong type or out of range, each with its path. Nothing here depends on the meaning of
a field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import lru_cache
from typing import Any, TypeAlias

from ostinato.documents import Path, Positions
from ostinato.errors import did_you_mean, nearest, short_json
from ostinato.journeys.problems import JourneyProblem, Severity, problem_at

IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Expression:
    """Code in an expression language. `path` is its place in the document."""

    lang: str
    expr: str
    path: Path = field(default=(), compare=False)


@dataclass(slots=True)
class Reading:
    """The state of reading a document. The path of a value that cannot be read is added to `unread`, and reading
    continues with a substitute of the same type."""

    positions: Positions
    mappers: Mapping[str, Expression] = field(default_factory=dict)
    problems: list[JourneyProblem] = field(default_factory=list)
    unread: set[Path] = field(default_factory=set)

    def add_error(
        self,
        code: str,
        path: Path,
        message: str,
        suggestion: str = "",
        *,
        key: bool = False,
        unread: Path | None = None,
    ) -> None:
        """Report an error at `path`. Mark the value at `unread`, by default the value at `path`, as not read."""
        self.problems.append(problem_at(self.positions, code, path, message, suggestion, key=key))
        self.unread.add(path if unread is None else unread)

    def add_warning(self, code: str, path: Path, message: str, suggestion: str = "") -> None:
        warning = Severity.WARNING
        self.problems.append(problem_at(self.positions, code, path, message, suggestion, key=True, severity=warning))


def is_unread(unread: Set[Path], path: Path) -> bool:
    """Return whether the value at a path, or a value that contains it, could not be read."""
    return any(path[:n] in unread for n in range(1, len(path) + 1)) or () in unread


# A shape reads the value at a path. It never raises: it reports a value that it cannot read, and returns a substitute
# of the right type.
Shape: TypeAlias = Callable[[Reading, Any, Path], Any]


def substitute(shape: Shape, path: Path) -> Any:
    return shape(Reading(Positions()), None, path)


def key(name: str, shape: Shape, default: Any = MISSING, *, make: Callable[[], Any] | None = None) -> Any:
    """Declare a field of a dataclass. `name` is the key of the field in the document, and `shape` reads its value.
    `make` creates a mutable default. A field without `default` and `make` is required."""
    metadata = {"key": name, "shape": shape}
    if make is not None:
        return field(default_factory=make, metadata=metadata)
    return field(default=default, metadata=metadata)


def of(cls: type) -> Shape:
    """Return a shape that reads an object as an instance of `cls`, and reports fields that `cls` does not have."""
    return lambda reading, value, path: read_object(cls, reading, value, path)


def later(shape: Callable[[], Shape]) -> Shape:
    """Return a shape that calls `shape()` each time it reads a value. So `shape` may use names that the module defines
    later."""
    return lambda reading, value, path: shape()(reading, value, path)


@lru_cache(maxsize=128)
def table(cls: type) -> tuple[Field[Any], ...]:
    return tuple(one for one in fields(cls) if "key" in one.metadata)


def keys(cls: type) -> list[str]:
    names = [one.metadata["key"] for one in table(cls)]
    return [*names, "mapperRef"] if any(one.metadata["shape"] is mapper for one in table(cls)) else names


def read_object(cls: type, reading: Reading, value: Any, path: Path, *, also: Sequence[str] = ()) -> Any:
    """Read an object as an instance of `cls`. `also` lists further keys that are allowed; the caller reads them."""
    if not isinstance(value, dict):
        wrong_type(reading, value, path, "an object")
        return read_object(cls, Reading(reading.positions), {}, path)
    meant = refuse_unknown(reading, value, path, [*keys(cls), *also])
    if "mapperRef" in meant:
        meant.add("mapper")
        reading.unread.add((*path, "mapper"))
    values: dict[str, Any] = {}
    for part in table(cls):
        name, shape = part.metadata["key"], part.metadata["shape"]
        if shape is mapper and "mapperRef" in value:
            values[part.name] = _resolve_mapper_ref(reading, value, path, name)
        elif name in value:
            values[part.name] = shape(reading, value[name], (*path, name))
        elif name in meant or (part.default is MISSING and part.default_factory is MISSING):
            values[part.name] = substitute(shape, (*path, name))
            if name not in meant:
                unread = (*path, name)
                reading.add_error("shape-missing", path, f"{name!r} is missing{_in(path)}", unread=unread)
    if any(part.name == "path" and not part.metadata for part in fields(cls)):
        values["path"] = path
    return cls(**values)


def refuse_unknown(reading: Reading, value: Mapping[str, Any], path: Path, allowed: Sequence[str]) -> set[str]:
    """Report each key of `value` that is not in `allowed`. Return the allowed keys that were probably meant, so that
    the caller does not report them as missing. For example, report `nmae` and return `name`."""
    meant = set()
    for name in value:
        if name not in allowed:
            near = nearest(name, [one for one in allowed if one not in value])
            meant |= {near} if near else set()
            hint = did_you_mean(near or name, allowed) or f"there are {', '.join(sorted(allowed))}"
            unread = (*path, near) if near else None
            message = f"{short_json(name)} is not known{_in(path)}"
            reading.add_error("shape-unknown-field", (*path, name), message, hint, key=True, unread=unread)
    return meant


def wrong_type(reading: Reading, value: Any, path: Path, wanted: str, suggestion: str = "") -> None:
    reading.add_error("shape-type", path, f"{_name(path)}{short_json(value)} is not {wanted}", suggestion)


def _in(path: Path) -> str:
    names = [str(one) for one in path if isinstance(one, str)]
    return f" in {names[-1]!r}" if names else ""


def _name(path: Path) -> str:
    return f"{path[-1]!r} " if path and isinstance(path[-1], str) else ""


# Shapes of single values.


def anything(reading: Reading, value: Any, path: Path) -> Any:
    return value


def _instance_of(cls: type, wanted: str) -> Shape:
    """Return a shape that accepts values of the type `cls`. For any other value, the shape reports an error and returns
    `cls()`, for example an empty text. `wanted` names the type in the error message, for example "a text"."""

    def read(reading: Reading, value: Any, path: Path) -> Any:
        if isinstance(value, cls):
            return value
        wrong_type(reading, value, path, wanted)
        return cls()

    return read


boolean = _instance_of(bool, "true or false")
any_text = _instance_of(str, "a text")
open_object = _instance_of(dict, "an object")  # its fields are not defined by the language, as in a JSON Schema


def text(pattern: re.Pattern[str] | None = None, example: str = "") -> Shape:
    """Return a shape that accepts texts that are not blank. If there is a `pattern`, the whole text must match it. If
    there is an `example`, error messages suggest it. For any other value, the shape reports an error and returns an
    empty text."""

    def read(reading: Reading, value: Any, path: Path) -> Any:
        if not isinstance(value, str):
            fits = pattern is None or pattern.fullmatch(str(value)) is not None
            hint = f"write something like {example!r}" if example and not fits else ""
            if isinstance(value, int | float) and not isinstance(value, bool) and fits:
                hint = f'write "{value}"'
            wrong_type(reading, value, path, "a text", hint)
        elif not value.strip():
            reading.add_error("shape-empty", path, f"{_name(path)}is empty")
        elif pattern is not None and not pattern.fullmatch(value):
            hint = f"write something like {example!r}" if example else ""
            message = f"{_name(path)}{short_json(value)} does not match {pattern.pattern}"
            reading.add_error("shape-pattern", path, message, hint)
        else:
            return value
        return ""

    return read


identifier = text(IDENTIFIER, "result")


LONGEST_S = 1000 * 365 * 86_400  # seconds; timers end with the year 9999
LONGEST_MS = LONGEST_S * 1000
_MOST = (1 << 31) - 1  # default maximum of a whole number


def seconds() -> Shape:
    return whole(1, LONGEST_S)


def milliseconds(least: int = 1) -> Shape:
    return whole(least, LONGEST_MS)


def whole(least: int, most: int = _MOST) -> Shape:
    def read(reading: Reading, value: Any, path: Path) -> Any:
        if not isinstance(value, int) or isinstance(value, bool):
            wrong_type(reading, value, path, "a whole number")
        elif not least <= value <= most:
            bounds = f"at least {least}, and at most {most:,}" if most >= _MOST else f"{least} to {most}"
            reading.add_error("shape-range", path, f"{_name(path)}{value} is out of range", f"it is {bounds}")
        else:
            return value
        return least

    return read


def number(most: float) -> Shape:
    def read(reading: Reading, value: Any, path: Path) -> Any:
        if not isinstance(value, int | float) or isinstance(value, bool):
            wrong_type(reading, value, path, "a number")
        elif abs(value) > most:
            reading.add_error("shape-range", path, f"{_name(path)}{value} is out of range", f"it is at most {most:,}")
        else:
            return value
        return 1

    return read


def one_of(*words: str) -> Shape:
    def read(reading: Reading, value: Any, path: Path) -> Any:
        if value in words and isinstance(value, str):
            return value
        hint = did_you_mean(str(value), words) or f"there are {', '.join(words)}"
        reading.add_error("shape-enum", path, f"{_name(path)}{short_json(value)} is not known", hint)
        return ""  # none of the words, so that no rule about them applies

    return read


# Shapes of containers.


def list_of(shape: Shape, least: int = 0) -> Shape:
    def read(reading: Reading, value: Any, path: Path) -> Any:
        if not isinstance(value, list):
            wrong_type(reading, value, path, "a list")
            return ()
        if len(value) < least:
            reading.add_error("shape-empty", path, f"{_name(path)}is empty", f"at least {least} must be there")
        return tuple(shape(reading, one, (*path, n)) for n, one in enumerate(value))

    return read


def map_of(shape: Shape, least: int = 0) -> Shape:
    def read(reading: Reading, value: Any, path: Path) -> Any:
        if not isinstance(value, dict):
            wrong_type(reading, value, path, "an object")
            return {}
        if len(value) < least:
            reading.add_error("shape-empty", path, f"{_name(path)}is empty", f"at least {least} must be there")
        return {name: shape(reading, one, (*path, name)) for name, one in value.items()}

    return read


def either(test: Callable[[Any], bool], yes: Shape, no: Shape) -> Shape:
    return lambda reading, value, path: (yes if test(value) else no)(reading, value, path)


# Expressions.


def expression(reading: Reading, value: Any, path: Path) -> Expression:
    if not isinstance(value, dict):
        wrong_type(reading, value, path, "an expression", "write lang: plain and expr: …")
    elif "exprRef" in value:
        message = "an expression is written where it is used"
        reading.add_error("expression-ref", (*path, "exprRef"), message, "write expr", key=True, unread=path)
    else:
        written = read_object(_WrittenExpression, reading, value, path)
        return Expression(written.lang, written.expr, path)
    return Expression("", "", path)


@dataclass(frozen=True, slots=True)
class _WrittenExpression:
    lang: str = key("lang", text())
    expr: str = key("expr", text())


def mapper(reading: Reading, value: Any, path: Path) -> Expression:
    """Read an expression that computes a value. Instead of the expression, an object may have the key `mapperRef` with
    the name of a shared mapper. The function `read_object` handles that key."""
    return expression(reading, value, path)


def _resolve_mapper_ref(reading: Reading, value: Mapping[str, Any], path: Path, name: str) -> Expression:
    """Return the shared mapper that `value["mapperRef"]` names. If there is no such mapper, report an error and return
    an empty expression. If `value` also has a mapper of its own, under the key `name`, report an error and return that
    mapper."""
    wanted, here = value["mapperRef"], (*path, "mapperRef")
    if name in value:
        reading.add_error("mapper-twice", here, f"{name!r} and 'mapperRef' are both set", "leave one out", key=True)
        return expression(reading, value[name], (*path, name))
    if isinstance(wanted, str) and wanted in reading.mappers:
        return reading.mappers[wanted]
    hint = did_you_mean(str(wanted), reading.mappers) or "spec.mappers has " + (", ".join(reading.mappers) or "none")
    reading.add_error("mapper-unknown", here, f"there is no mapper {short_json(wanted)}", hint)
    return Expression("", "", here)


@dataclass(frozen=True, slots=True)
class _MapperObject:
    mapper: Expression = key("mapper", mapper)


def mapped(reading: Reading, value: Any, path: Path) -> Any:
    """Read `{mapper: …}` or `{mapperRef: …}`, and return the expression."""
    return read_object(_MapperObject, reading, value, path).mapper


def or_mapped(shape: Shape) -> Shape:
    """Return a shape that reads an object with a mapper as an expression, and passes any other value to `shape`."""
    return either(lambda value: isinstance(value, dict), mapped, shape)


def inline_mappers(reading: Reading, value: Any, path: Path) -> Any:
    """Return the settings of a task with each `mapperRef` replaced by the mapper that it names."""
    if isinstance(value, list):
        return [inline_mappers(reading, one, (*path, n)) for n, one in enumerate(value)]
    if not isinstance(value, dict):
        return value
    settings = {name: inline_mappers(reading, one, (*path, name)) for name, one in value.items() if name != "mapperRef"}
    if "mapperRef" in value:
        mapper_ = _resolve_mapper_ref(reading, value, path, "mapper")
        settings["mapper"] = {"lang": mapper_.lang, "expr": mapper_.expr}
        if (*path, "mapperRef") in reading.unread:
            reading.unread.add((*path, "mapper"))
    return settings


def expressions(settings: Any, path: Path = ()) -> Iterator[Expression]:
    """Yield each mapper in the settings of a task. A mapper is the expression under a key `mapper`. `path` is the path
    of `settings` in the document."""
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
    """Return whether `value` has the two fields of an expression, `lang` and `expr`, and both are texts."""
    return isinstance(value.get("lang"), str) and isinstance(value.get("expr"), str)
