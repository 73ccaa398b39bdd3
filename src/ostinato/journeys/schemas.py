"""Values against JSON Schema 2020-12. Nothing is fetched: a schema's references lead within it. Regular expressions are
matched in time that grows with the text and no faster, since the pattern and the value are both somebody else's; what
cannot be (looking around, referring back) is refused when the schema is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any
from urllib.parse import unquote

import orjson
from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError

from ostinato.errors import OstinatoError, shown
from ostinato.model import Json
from ostinato.schedules.marked import Path

_LINEAR = RegexOptions(size_limit=4 << 20, dfa_size_limit=4 << 20)
_META: dict[str, Any] = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
_REFERENCES = ("$ref", "$dynamicRef")
_MOST = 100_000
_LOOKED_AT = 100  # problems of one value, of which the most telling is told


class NotValid(OstinatoError):
    """A value that its schema does not allow. `place` is where, as a JSON pointer."""

    def __init__(self, what: str, place: str, problem: str) -> None:
        super().__init__(f"{what}{place or ' as a whole'}: {problem}")
        self.what = what
        self.place = place
        self.problem = problem


def validate(value: Json, schema: Mapping[str, Json], what: str) -> None:
    """Raise `NotValid` with the most telling of what is wrong: the outermost, the first of those."""
    written = orjson.dumps(schema, option=orjson.OPT_SORT_KEYS).decode()
    found = min(
        islice(_validator(written).iter_errors(value), _LOOKED_AT), key=lambda one: len(one.instance_path), default=None
    )
    if found is not None:
        raise NotValid(what, "".join(f"/{step}" for step in found.instance_path), _short(found.message))


def problems(schema: Any) -> Iterator[tuple[Path, str]]:
    """What keeps a value from being a schema that can be used here, and where in it."""
    found = {tuple(one.instance_path): _meant(one) for one in _read(_META).iter_errors(schema)}
    yield from found.items()
    if not found:
        try:
            _read(schema)
        except ValidationError as wrong:
            yield tuple(wrong.instance_path), _meant(wrong)
        else:
            if _unfolded(schema) > _MOST:
                yield (), f"with its references written out it has more than {_MOST:,} parts"


def matches(pattern: str, text: str) -> bool:
    """Whether a regular expression is found in a text."""
    return _pattern(pattern).is_valid(text)


def _short(message: str) -> str:
    """The validator quotes the value; a long one does not make a better message."""
    return message if len(message) <= 300 else f"{message[:300]}…"


def _meant(wrong: ValidationError) -> str:
    match wrong.kind.name:
        case "format":
            return f"{shown(wrong.instance)} is not a regular expression, or it looks around or refers back"
        case "anyOf":
            return f"{shown(wrong.instance)} cannot stand here"
        case _:
            return _short(wrong.message)


def _unfolded(schema: Any) -> int:
    """How many parts a schema has with every reference written out. One that doubles itself a few dozen times is short
    to write and has no end. References that go round count once: those end where the value does."""
    named = dict(_anchors(schema))
    sizes: dict[int, int] = {}

    def size(node: Any) -> int:
        if not isinstance(node, dict | list):
            return 0
        if id(node) not in sizes:
            sizes[id(node)] = 0
            within = node.items() if isinstance(node, dict) else enumerate(node)
            parts = [_pointed(schema, named, one) if name in _REFERENCES else one for name, one in within]
            sizes[id(node)] = 1 + sum(map(size, parts))
        return sizes[id(node)]

    try:
        return size(schema)
    except RecursionError:
        return _MOST + 1


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
def _validator(schema: str) -> Draft202012Validator:
    """What is on record was checked when it came, though perhaps by other rules."""
    try:
        return _read(orjson.loads(schema))
    except ValidationError as wrong:
        raise OstinatoError(f"the schema cannot be used: {_meant(wrong)}") from None


@lru_cache(maxsize=1024)
def _pattern(pattern: str) -> Draft202012Validator:
    return _read({"pattern": pattern})


def _read(schema: Any) -> Draft202012Validator:
    return Draft202012Validator(schema, pattern_options=_LINEAR, offline=True)
