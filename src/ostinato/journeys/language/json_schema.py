"""Validate values against JSON Schema 2020-12. Neither the schema nor the value is trusted, so all work is limited:

- Nothing is fetched. A reference must lead to a part of the same schema.
- Regular expressions match in linear time. Look-around and back-references would take longer, so they are refused when
  the schema is read. A schema is also refused if its regular expressions together take too much memory.
- Validation checks each part of the value at most once against each part of the schema. If the schema is recursive, the
  time also grows with the depth of the value. Values that would take too long are refused.
- Listing all mistakes can take exponential time, because every alternative that fails has its own mistakes. So the work
  is estimated first. If it is too much, the report has only the first mistake, or only says that the value is invalid.

Validating a value blocks the event loop for 50 ms at most. A thread would not help, because the validator holds the
interpreter's lock.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any
from urllib.parse import unquote

import orjson
from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError

from ostinato.documents import Path
from ostinato.errors import OstinatoError, may_be_secret, short_json
from ostinato.model import Json

_NAMING = ("required", "additionalProperties", "unevaluatedProperties")  # their messages have names, and no values
_LINEAR = RegexOptions(size_limit=4 << 20, dfa_size_limit=4 << 20)
_META: dict[str, Any] = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
_REFERENCES = ("$ref", "$dynamicRef")
_MOST = 100_000
_MOST_WORK = 5_000  # most parts of a value, each counted once for each part of the schema that applies to it
_MOST_STEPS = 10_000  # most steps of the estimate
_MOST_PAIRS = 5_000_000  # pairs of a part of the value and one of the schema
_MOST_PAIRS_DEEP = 200_000  # the same, times the depth of the value, for a recursive schema
_MANY_FAULTS = 50  # mistakes to collect, outermost first
_REPORTED = 4  # mistakes in the message after the first
_MANY = 2_000  # parts of a schema; in a larger one only the first mistake is reported
_MOST_PATTERNS = 32 << 20  # bytes of all compiled regular expressions of a schema
# Checking these takes more than a few milliseconds for a long text.
_UNCHECKED_FORMATS: dict[str, Any] = {name: lambda text: True for name in ("regex", "idn-hostname")}
_NO_PATTERN = "is not a regular expression, is too large, or uses look-around or back-references"
_VALUES = frozenset({"const", "enum", "default", "examples"})  # their content is not a schema
_IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
_OF_FIELDS = ("additionalProperties", "unevaluatedProperties")
_OF_ITEMS = ("items", "contains", "unevaluatedItems")


class NotValid(OstinatoError):
    """Raised if a value does not match its schema. `place` is the JSON pointer of the first mistake. `faults` lists all
    reported mistakes as (JSON pointer, message). `value` is the invalid value, or None if it must not be shown."""

    def __init__(
        self, what: str, place: str, problem: str, more: Sequence[tuple[str, str]] = (), *, value: Any = None
    ) -> None:
        words = [f"{what}{place or ' as a whole'}: {problem}"]
        words += [f"{other or 'as a whole'}: {wrong}" for other, wrong in more[:_REPORTED]]
        words += [f"and {len(more) - _REPORTED} more"] if len(more) > _REPORTED else []
        super().__init__("; ".join(words))
        self.what = what
        self.place = place
        self.problem = problem
        self.faults = ((place, problem), *more)
        self.value = value

    def problem_members(self) -> dict[str, Any]:
        """Return the extra members of an HTTP problem: the field of the first mistake, and a list of all mistakes."""
        problems = [_problem(self.value, place, words) for place, words in self.faults]
        return {"field": self.place or None, "problems": problems}


def _problem(value: Any, place: str, words: str) -> dict[str, Any]:
    problem = {"field": place, "message": words}
    try:
        for step in place.split("/")[1:]:
            value = value[int(step)] if isinstance(value, list) else value[step]
    except (KeyError, ValueError, IndexError, TypeError):  # a name that has a slash in it
        return problem
    return problem if value is None else {**problem, "value": value}


def validate(value: Json, schema: Mapping[str, Json], what: str) -> None:
    """Raise `NotValid` if the value does not match the schema, or is too large to be validated. The error lists the
    mistakes, outermost first. If listing all of them would take too long, it lists fewer. `what` names the value in the
    message. Raise `OstinatoError` if the schema itself cannot be used."""
    written = orjson.dumps(schema, option=orjson.OPT_SORT_KEYS).decode()
    compiled = _compile(written)
    try:
        if problem := compiled.too_much(value):
            raise NotValid(what, "", problem)
        telling = [] if compiled.validator.is_valid(value) else _describe_mistakes(compiled, value)
    except (ValueError, RecursionError) as wrong:
        raise NotValid(what, "", f"it cannot be validated: {wrong}") from None
    if telling:
        raise NotValid(what, *telling[0], telling[1:], value=value)


@dataclass(frozen=True, slots=True)
class _CompiledSchema:
    schema: Any
    validator: Draft202012Validator
    parts: int  # with all references expanded
    recursive: bool

    def too_much(self, value: Any) -> str | None:
        """Return a message if the value is too large to be validated, else None."""
        if not self.recursive:
            most = _MOST_PAIRS // self.parts
            too_many = f"it has more than {most:,} parts, which is too many for its schema"
            return too_many if _size(value, most) > most else None
        depth = _depth(value)
        pairs = _estimate_cost(self.schema, value).pairs
        if pairs * depth <= _MOST_PAIRS_DEEP:
            return None
        return f"with a depth of {depth} it has too many parts for a schema that refers to itself"


def _describe_mistakes(compiled: _CompiledSchema, value: Json) -> list[tuple[str, str]]:
    """Return (JSON pointer, message) for up to 50 mistakes in an invalid value, outermost first. If listing all
    mistakes would take too long, return a list with one pair: the first mistake, or only the message that the value
    does not match its schema."""
    validator, work = compiled.validator, _estimate_cost(compiled.schema, value)
    if work.all <= _MOST_WORK:
        errors = sorted(validator.iter_errors(value), key=lambda one: len(one.instance_path))[:_MANY_FAULTS]
    elif work.most_of_one <= _MOST_WORK:
        first = _first_error(validator, value)
        errors = [] if first is None else [first]
    else:
        return [("", "it does not match its schema, which has too many alternatives to say where")]
    assert errors
    places = [("".join(f"/{step}" for step in one.instance_path), _say(one)) for one in errors]
    return list(dict.fromkeys(places))


def _say(error: ValidationError) -> str:
    """Return the message of a mistake, without the value if the value may be a secret."""
    keyword = str(error.schema_path[-1]) if error.schema_path else ""
    if keyword not in _NAMING and may_be_secret(error.instance_path, error.instance):
        return f"it does not match {keyword!r} of its schema"
    return _shorten(error.message)


def _first_error(validator: Draft202012Validator, value: Any) -> ValidationError | None:
    try:
        validator.validate(value)
    except ValidationError as wrong:
        return wrong
    return None


def schema_problems(schema: Any) -> Iterator[tuple[Path, str]]:
    """Yield (path, message) for each mistake that makes a schema unusable."""
    meta = _meta_schema()
    if not meta.is_valid(schema):
        errors = meta.iter_errors(schema) if _size(schema, _MANY) <= _MANY else [_first_error(meta, schema)]
        yield from {tuple(one.instance_path): _explain(one) for one in errors if one is not None}.items()
        return
    if problem := _patterns_too_large(schema):
        yield problem
        return
    try:
        _validator(schema)
    except ValidationError as wrong:
        yield tuple(wrong.instance_path), _explain(wrong)
    else:
        if _expanded_size(schema)[0] > _MOST:
            yield (), f"with all references expanded it has more than {_MOST:,} parts"


def matches(pattern: str, text: str) -> bool:
    """Return whether a regular expression matches anywhere in a text."""
    return _pattern(pattern).is_valid(text)


@dataclass(frozen=True, slots=True)
class _Cost:
    """The estimated cost of validating a value. Work is counted in parts of the value.

    - `pairs`: how many pairs of a schema part and a value part must be checked
    - `all`: the work to list all mistakes
    - `most_of_one`: the work to list the mistakes of one schema part that has `anyOf` or `oneOf`; if several parts have
      them, the largest number; if no part has them, 0
    """

    pairs: float
    all: float
    most_of_one: float


def _estimate_cost(schema: Any, value: Any) -> _Cost:
    """Estimate the cost of validating a value. If the estimate itself would take too long, all numbers of the cost are
    infinite. There is one exception: `most_of_one` is 0 if the schema has no `anyOf` and no `oneOf`."""
    counting = _CostCounter(schema)
    try:
        total = counting.count(schema, value)
        return _Cost(counting.pairs, total, counting.widest)
    except (_TooManySteps, RecursionError):
        chooses = any(name in node for node in _nodes(schema) if isinstance(node, dict) for name in ("anyOf", "oneOf"))
        return _Cost(math.inf, math.inf, math.inf if chooses else 0)


class _TooManySteps(Exception):
    pass


class _CostCounter:
    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._named = dict(_anchors(schema))
        self._counted: dict[tuple[int, int], int] = {}
        self._sizes: dict[int, int] = {}
        self.widest = 0

    @property
    def pairs(self) -> int:
        return len(self._counted)

    def count(self, node: Any, value: Any) -> int:
        if not isinstance(node, dict):
            return 1
        pair = id(node), id(value)
        if pair in self._counted:
            return self._counted[pair]
        if len(self._counted) > _MOST_STEPS:
            raise _TooManySteps
        self._counted[pair] = 0  # ends a reference cycle over the same value
        total = self._size(value) + sum(self.count(part, of) for part, of in self._within(node, value))
        self._counted[pair] = total
        if "anyOf" in node or "oneOf" in node:
            self.widest = max(self.widest, total)
        return total

    def _within(self, node: dict[str, Any], value: Any) -> Iterator[tuple[Any, Any]]:
        """Yield (part, target) for each part of the schema `node` that applies to `value`, or to a field or an item of
        `value`. The target is the value, field or item that the part applies to."""
        for name in _IN_PLACE:
            parts = node.get(name, ())
            yield from ((part, value) for part in (parts if isinstance(parts, list) else [parts]))
        for name in _REFERENCES:
            if name in node:
                yield _resolve(self._schema, self._named, node[name]), value
        if isinstance(value, dict):
            yield from ((part, value) for part in node.get("dependentSchemas", {}).values())
            fields = node.get("properties", {})
            yield from ((fields[name], value[name]) for name in fields if name in value)
            of_all = [*node.get("patternProperties", {}).values(), *(node[name] for name in _OF_FIELDS if name in node)]
            yield from ((part, one) for part in of_all for one in value.values())
        elif isinstance(value, list):
            yield from zip(node.get("prefixItems", ()), value, strict=False)
            yield from ((node[name], one) for name in _OF_ITEMS if name in node for one in value)

    def _size(self, value: Any) -> int:
        """Return the cost of one reported mistake in `value`. The validator copies `value` into each mistake, so the
        cost is the number of values in `value`, including `value`. Each 1000 characters of a text add 1."""
        if id(value) not in self._sizes:
            text = len(value) // 1000 if isinstance(value, str) else 0
            if len(self._sizes) > _MOST_STEPS:
                raise _TooManySteps
            self._sizes[id(value)] = 1 + text + sum(map(self._size, _parts(value)))
        return self._sizes[id(value)]


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _nodes(value: Any) -> Iterator[Any]:
    """Yield a value and everything in it, without recursion."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += _parts(node)


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level:
        depth += 1
        level = [part for node in level for part in _parts(node)]
    return depth


def _size(value: Any, most: int) -> int:
    """Return the number of parts of a value, but at most `most` + 1."""
    return sum(1 for _ in islice(_nodes(value), most + 1))


def _patterns_too_large(schema: Any) -> tuple[Path, str] | None:
    """Return (path, message) for the first regular expression that cannot be used: it cannot be compiled, or it takes
    too much memory together with the regular expressions before it. Return None if all of them can be used."""
    sizes: dict[str, int] = {}
    for path, pattern in _patterns(schema):
        if pattern in sizes:
            continue  # it is compiled once
        size = sizes[pattern] = _compiled_size(pattern)
        if size == 0:
            return path, f"{short_json(pattern)} {_NO_PATTERN}"
        if sum(sizes.values()) > _MOST_PATTERNS:
            most = f"{_MOST_PATTERNS >> 20} MiB"
            return path, f"with it, the schema's regular expressions take more than {most}; repeat less in them"
    return None


def _patterns(schema: Any) -> Iterator[tuple[Path, str]]:
    waiting: list[tuple[Path, Any]] = [((), schema)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, dict):
            if isinstance(pattern := node.get("pattern"), str):
                yield (*path, "pattern"), pattern
            if isinstance(named := node.get("patternProperties"), dict):
                yield from (((*path, "patternProperties", name), name) for name in named)
            waiting += [((*path, name), one) for name, one in node.items() if name not in _VALUES]
        elif isinstance(node, list):
            waiting += [((*path, n), one) for n, one in enumerate(node)]


@lru_cache(maxsize=4096)
def _compiled_size(pattern: str) -> int:
    """Return an upper bound of the size of a compiled regular expression, in bytes. Return 0 if the expression is
    invalid, or larger than 4 MiB."""
    for size in (4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20):
        try:
            Draft202012Validator({"pattern": pattern}, pattern_options=RegexOptions(size_limit=size), offline=True)
        except ValidationError:
            continue
        return size
    return 0


def _shorten(message: str) -> str:
    """Cut a message of the validator to 300 characters. It may be long, because it contains the invalid value."""
    return message if len(message) <= 300 else f"{message[:300]}…"


def _explain(wrong: ValidationError) -> str:
    match wrong.kind.name:
        case "format":
            return f"{short_json(wrong.instance)} {_NO_PATTERN}"
        case "anyOf":
            return f"{short_json(wrong.instance)} is not allowed here"
        case _:
            return _shorten(wrong.message)


def _expanded_size(schema: Any) -> tuple[int, bool]:
    """Return the number of parts of a schema with each reference replaced by its target, and whether the schema is
    recursive. Recursive references are not expanded."""
    named = dict(_anchors(schema))
    sizes: dict[int, int | None] = {}  # None while it is being counted
    recursive = False

    def size(node: Any) -> int:
        nonlocal recursive
        if not isinstance(node, dict | list):
            return 0
        if id(node) not in sizes:
            sizes[id(node)] = None
            within = node.items() if isinstance(node, dict) else enumerate(node)
            parts = [_resolve(schema, named, one) if name in _REFERENCES else one for name, one in within]
            values = len(node) if isinstance(node, list) else 0  # of an enumeration
            sizes[id(node)] = 1 + values + sum(map(size, parts))
        size_ = sizes[id(node)]
        recursive = recursive or size_ is None
        return size_ or 0

    try:
        return size(schema), recursive
    except RecursionError:
        return _MOST + 1, True


def _anchors(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        yield from ((str(node[name]), node) for name in ("$anchor", "$dynamicAnchor") if name in node)
    for part in _parts(node):
        yield from _anchors(part)


def _resolve(schema: Any, named: Mapping[str, Any], reference: Any) -> Any:
    """Return the part of the schema that a reference leads to. A reference is an anchor such as `#name`, or a path such
    as `#/$defs/name`. `named` maps each anchor to its part. An unknown anchor leads to the whole schema. If `reference`
    is not a text that begins with `#`, return it unchanged."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return reference
    if not reference.startswith("#/"):
        return named.get(reference[1:], schema)
    for step in unquote(reference[2:]).split("/"):
        step = step.replace("~1", "/").replace("~0", "~")
        schema = schema[int(step)] if isinstance(schema, list) else schema[step]
    return schema


@lru_cache(maxsize=1024)
def _compile(written: str) -> _CompiledSchema:
    """Compile a schema, which is passed as JSON. Raise `OstinatoError` if the schema cannot be used. This can happen if
    the schema was stored when other rules applied."""
    schema = orjson.loads(written)
    try:
        parts, recursive = _expanded_size(schema)
        return _CompiledSchema(schema, _validator(schema), max(parts, 1), recursive)
    except ValidationError as wrong:
        raise OstinatoError(f"the schema cannot be used: {_explain(wrong)}") from None


@lru_cache(maxsize=1024)
def _pattern(pattern: str) -> Draft202012Validator:
    return _validator({"pattern": pattern})


@lru_cache(maxsize=1)
def _meta_schema() -> Draft202012Validator:
    return Draft202012Validator(_META, pattern_options=_LINEAR, offline=True)


def _validator(schema: Any) -> Draft202012Validator:
    return Draft202012Validator(
        schema, pattern_options=_LINEAR, offline=True, validate_formats=True, formats=_UNCHECKED_FORMATS
    )
