"""Values against JSON Schema 2020-12. The schema and the value are both somebody else's, so everything here is bounded:

- Nothing is fetched: a schema's references lead within it.
- Regular expressions are matched in time that grows with the text and no faster; those that cannot be (they look
  around or refer back) are refused when the schema is read, and so are those that take much memory together.
- Whether a value fits takes time that grows with the parts of the value times the parts of the schema, and with the
  depth of the value if the schema refers to itself: the validator judges each pair of parts once. Values for which that
  is too much are refused.
- Saying what is wrong can take exponentially longer, since each alternative that failed comes with its own reasons. So
  the work is counted first, and with too much of it only the first mistake is told, or only that there is one.

So a value holds up the event loop for 50 ms at most. The validator keeps the interpreter's lock: a thread would not
help.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any
from urllib.parse import unquote

import orjson
from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError

from ostinato.errors import OstinatoError
from ostinato.errors import shown_json as shown
from ostinato.model import Json
from ostinato.schedules.marked import Path

_LINEAR = RegexOptions(size_limit=4 << 20, dfa_size_limit=4 << 20)
_META: dict[str, Any] = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
_REFERENCES = ("$ref", "$dynamicRef")
_MOST = 100_000
_MOST_WORK = 5_000  # parts of a value, each as often as it is held against a part of the schema, and copied if wrong
_MOST_STEPS = 10_000  # of counting that
_MOST_PAIRS = 5_000_000  # of a part of the value and one of the schema
_MOST_PAIRS_DEEP = 200_000  # the same, times the depth of the value, for a schema that refers to itself
_MANY_FAULTS = 50  # of a value, the outermost
_TOLD = 4  # of them in words, besides the first
_MANY = 2_000  # parts of a schema of which not every mistake is told
_MOST_PATTERNS = 32 << 20  # bytes of all regular expressions of a schema, compiled
_NO_PATTERN = "is not a regular expression, is too large, or looks around or refers back"
_VALUES = frozenset({"const", "enum", "default", "examples"})  # what they hold is no schema
_IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
_OF_FIELDS = ("additionalProperties", "unevaluatedProperties")
_OF_ITEMS = ("items", "contains", "unevaluatedItems")


class NotValid(OstinatoError):
    """A value that its schema does not allow. `place` is where, as a JSON pointer; `faults` are all such places, each
    with what is wrong there, the most telling first; `value` is the whole, where it may be repeated."""

    def __init__(
        self, what: str, place: str, problem: str, more: Sequence[tuple[str, str]] = (), *, value: Any = None
    ) -> None:
        words = [f"{what}{place or ' as a whole'}: {problem}"]
        words += [f"{other or 'as a whole'}: {wrong}" for other, wrong in more[:_TOLD]]
        words += [f"and {len(more) - _TOLD} more"] if len(more) > _TOLD else []
        super().__init__("; ".join(words))
        self.what = what
        self.place = place
        self.problem = problem
        self.faults = ((place, problem), *more)
        self.value = value


def validate(value: Json, schema: Mapping[str, Json], what: str) -> None:
    """Raise `NotValid` with everything that is wrong, the outermost first, as far as that can be told."""
    written = orjson.dumps(schema, option=orjson.OPT_SORT_KEYS).decode()
    known = _known(written)
    try:
        if problem := known.too_much(value):
            raise NotValid(what, "", problem)
        telling = [] if known.validator.is_valid(value) else _telling(known, value)
    except (ValueError, RecursionError) as wrong:
        raise NotValid(what, "", f"it cannot be held against its schema: {wrong}") from None
    if telling:
        raise NotValid(what, *telling[0], telling[1:], value=value)


@dataclass(frozen=True, slots=True)
class _Known:
    """A schema that was read."""

    schema: Any
    validator: Draft202012Validator
    parts: int  # with every reference written out
    recursive: bool

    def too_much(self, value: Any) -> str | None:
        """Why a value is not held against the schema at all."""
        if not self.recursive:
            most = _MOST_PAIRS // self.parts
            return (
                f"it has more than {most:,} parts, which is too many for its schema"
                if _size(value, most) > most
                else None
            )
        depth = _depth(value)
        pairs = _work(self.schema, value).pairs
        if pairs * depth <= _MOST_PAIRS_DEEP:
            return None
        return f"with a depth of {depth} it has too many parts for a schema that refers to itself"


def _telling(known: _Known, value: Json) -> list[tuple[str, str]]:
    """Where a value does not fit, and why; the outermost first."""
    validator, work = known.validator, _work(known.schema, value)
    if work.all <= _MOST_WORK:
        errors = sorted(validator.iter_errors(value), key=lambda one: len(one.instance_path))[:_MANY_FAULTS]
    elif work.most_of_one <= _MOST_WORK:
        first = _first_error(validator, value)
        errors = [] if first is None else [first]
    else:
        return [("", "it does not fit its schema, which has too many alternatives to say where")]
    assert errors
    places = [("".join(f"/{step}" for step in one.instance_path), _short(one.message)) for one in errors]
    return list(dict.fromkeys(places))


def _first_error(validator: Draft202012Validator, value: Any) -> ValidationError | None:
    try:
        validator.validate(value)
    except ValidationError as wrong:
        return wrong
    return None


def problems(schema: Any) -> Iterator[tuple[Path, str]]:
    """What keeps a value from being a schema that can be used here, and where in it."""
    meta = _meta()
    if not meta.is_valid(schema):
        errors = meta.iter_errors(schema) if _size(schema, _MANY) <= _MANY else [_first_error(meta, schema)]
        yield from {tuple(one.instance_path): _meant(one) for one in errors if one is not None}.items()
        return
    if problem := _patterns_too_large(schema):
        yield problem
        return
    try:
        _read(schema)
    except ValidationError as wrong:
        yield tuple(wrong.instance_path), _meant(wrong)
    else:
        if _unfolded(schema)[0] > _MOST:
            yield (), f"with its references written out it has more than {_MOST:,} parts"


def matches(pattern: str, text: str) -> bool:
    """Whether a regular expression is found in a text."""
    return _pattern(pattern).is_valid(text)


@dataclass(frozen=True, slots=True)
class _Work:
    """How many pairs of parts there are, and how much telling a value's mistakes takes at most: of all, and of the
    widest choice between alternatives."""

    pairs: float
    all: float
    most_of_one: float


def _work(schema: Any, value: Any) -> _Work:
    """Count before doing it. Each pair of a part of the schema and one of the value is looked at once, and counts as
    often as it would be come to."""
    counting = _Counting(schema)
    try:
        total = counting.count(schema, value)
        return _Work(counting.pairs, total, counting.widest)
    except (_TooMuch, RecursionError):
        chooses = any(name in node for node in _nodes(schema) if isinstance(node, dict) for name in ("anyOf", "oneOf"))
        return _Work(math.inf, math.inf, math.inf if chooses else 0)


class _TooMuch(Exception):
    pass


class _Counting:
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
            raise _TooMuch
        self._counted[pair] = 0  # a reference that goes round with the same value ends
        total = self._size(value) + sum(self.count(part, of) for part, of in self._within(node, value))
        self._counted[pair] = total
        if "anyOf" in node or "oneOf" in node:
            self.widest = max(self.widest, total)
        return total

    def _within(self, node: dict[str, Any], value: Any) -> Iterator[tuple[Any, Any]]:
        """The parts of a schema that a value is held against, and the parts of the value that they are for."""
        for name in _IN_PLACE:
            parts = node.get(name, ())
            yield from ((part, value) for part in (parts if isinstance(parts, list) else [parts]))
        for name in _REFERENCES:
            if name in node:
                yield _pointed(self._schema, self._named, node[name]), value
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
        """A mistake is told with a copy of the value."""
        if id(value) not in self._sizes:
            within = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            text = len(value) // 1000 if isinstance(value, str) else 0
            if len(self._sizes) > _MOST_STEPS:
                raise _TooMuch
            self._sizes[id(value)] = 1 + text + sum(map(self._size, within))
        return self._sizes[id(value)]


def _nodes(value: Any) -> Iterator[Any]:
    """A value and all that it has within it, without recursion."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level:
        depth += 1
        level = [
            one
            for node in level
            for one in (node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
        ]
    return depth


def _size(value: Any, most: int) -> int:
    """How many parts a value has, counted to a little more than `most`."""
    return sum(1 for _ in islice(_nodes(value), most + 1))


def _patterns_too_large(schema: Any) -> tuple[Path, str] | None:
    """Each regular expression is bounded by itself; together they may still take much."""
    sizes: dict[str, int] = {}
    for path, pattern in _patterns(schema):
        if pattern in sizes:
            continue  # it is compiled once
        size = sizes[pattern] = _compiled_size(pattern)
        if size == 0:
            return path, f"{shown(pattern)} {_NO_PATTERN}"
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
    """In bytes, to the next power of four; 0 for what cannot be compiled."""
    for size in (4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20):
        try:
            Draft202012Validator({"pattern": pattern}, pattern_options=RegexOptions(size_limit=size), offline=True)
        except ValidationError:
            continue
        return size
    return 0


def _short(message: str) -> str:
    """The validator quotes the value; a long one does not make a better message."""
    return message if len(message) <= 300 else f"{message[:300]}…"


def _meant(wrong: ValidationError) -> str:
    match wrong.kind.name:
        case "format":
            return f"{shown(wrong.instance)} {_NO_PATTERN}"
        case "anyOf":
            return f"{shown(wrong.instance)} cannot stand here"
        case _:
            return _short(wrong.message)


def _unfolded(schema: Any) -> tuple[int, bool]:
    """How many parts a schema has with every reference written out, and whether some go round. One that doubles itself
    a few dozen times is short to write and has no end. References that go round count once: those end where the value
    does."""
    named = dict(_anchors(schema))
    sizes: dict[int, int | None] = {}  # None: it is being counted
    recursive = False

    def size(node: Any) -> int:
        nonlocal recursive
        if not isinstance(node, dict | list):
            return 0
        if id(node) not in sizes:
            sizes[id(node)] = None
            within = node.items() if isinstance(node, dict) else enumerate(node)
            parts = [_pointed(schema, named, one) if name in _REFERENCES else one for name, one in within]
            values = len(node) if isinstance(node, list) else 0  # of an enumeration
            sizes[id(node)] = 1 + values + sum(map(size, parts))
        found = sizes[id(node)]
        recursive = recursive or found is None
        return found or 0

    try:
        return size(schema), recursive
    except RecursionError:
        return _MOST + 1, True


def _anchors(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        yield from ((str(node[name]), node) for name in ("$anchor", "$dynamicAnchor") if name in node)
    for one in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _anchors(one)


def _pointed(schema: Any, named: Mapping[str, Any], reference: Any) -> Any:
    """What a reference leads to, by its name or its path."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return reference
    if not reference.startswith("#/"):
        return named.get(reference[1:], schema)
    for step in unquote(reference[2:]).split("/"):
        step = step.replace("~1", "/").replace("~0", "~")
        schema = schema[int(step)] if isinstance(schema, list) else schema[step]
    return schema


@lru_cache(maxsize=1024)
def _known(written: str) -> _Known:
    """What is on record was checked when it came, though perhaps by other rules."""
    schema = orjson.loads(written)
    try:
        parts, recursive = _unfolded(schema)
        return _Known(schema, _read(schema), max(parts, 1), recursive)
    except ValidationError as wrong:
        raise OstinatoError(f"the schema cannot be used: {_meant(wrong)}") from None


@lru_cache(maxsize=1024)
def _pattern(pattern: str) -> Draft202012Validator:
    return _read({"pattern": pattern})


@lru_cache(maxsize=1)
def _meta() -> Draft202012Validator:
    return _read(_META)


def _read(schema: Any) -> Draft202012Validator:
    return Draft202012Validator(schema, pattern_options=_LINEAR, offline=True)
