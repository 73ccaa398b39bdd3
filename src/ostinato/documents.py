"""Read YAML and JSON into plain values, and record the place of every key and value.

There are two dialects:

- The usual dialect is YAML 1.2 with anchors, aliases, merge keys (`<<`) and the tags of JSON's types.
- The strict dialect is the part of YAML 1.2 that JSON can express. It has no anchors, aliases, tags, directives or
  tabs, and every key is a text. YAML 1.1 reads `on`, `1:30`, `2026-01-01` and `1_000` as booleans, numbers or dates. In
  the strict dialect, they are texts.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.nodes import ScalarNode

from ostinato.errors import short_json

Path: TypeAlias = tuple[str | int, ...]
LEAST, MOST = -(1 << 63), (1 << 64) - 1  # whole numbers of the strict dialect: every JSON library can read them
MAX_DEPTH = 100
_MAX_VALUES = 1_000_000
# Aliases of aliases multiply the number of values. All aliases together may repeat this many values, and ten more for
# each value that is written out. A file of ten thousand schedules with shared defaults repeats far fewer.
_MAX_REPEATED = 20_000
_MAX_DIGITS = 4000  # Python refuses to convert longer numbers
_TAG = "tag:yaml.org,2002:"
_TAB = re.compile(r"^[ ]*\t", re.MULTILINE)
# JSON may contain these characters, but YAML may not. They are replaced when JSON is read as YAML to find the places.
_NOT_IN_YAML = {code: code + 0xE000 for code in range(0x7F, 0xA0)} | {0xFFFE: 0xE0FE, 0xFFFF: 0xE0FF}
_NOT_IN_JSON = ("NaN", "Infinity", "-Infinity")


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A line and a column, both counted from 1, as in editors."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """One mistake in a text. `code` never changes between versions, but `message` and `suggestion` may change."""

    code: str
    path: Path
    place: Place
    message: str
    suggestion: str = ""


@dataclass(slots=True)
class Positions:
    """The places of a document's keys and values. A path is the keys and indexes that lead to a value."""

    values: dict[Path, Place] = field(default_factory=dict)
    keys: dict[Path, Place] = field(default_factory=dict)

    def place(self, path: Path, *, key: bool = False) -> Place:
        """Return the place of the value at `path`. If `path` leads to no value, return the place of the nearest
        enclosing value. If `key` is true and there is a key at `path`, return the place of this key instead."""
        if key and path in self.keys:
            return self.keys[path]
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, Place(1, 1))


@dataclass(slots=True)
class Document:
    """The content of a text, with the problems that were found while reading the text.

    - `unread`: the paths of the values that could not be read
    - `readable`: whether the text could be read to its end. If not, `value` is None, and the last item of `problems`
      gives the reason.
    """

    value: Any = None
    positions: Positions = field(default_factory=Positions)
    problems: list[DocumentProblem] = field(default_factory=list)
    unread: set[Path] = field(default_factory=set)
    readable: bool = True


def read_document(text: str, file: str, *, strict: bool = False, max_depth: int = MAX_DEPTH) -> Document:
    """Read `text` as JSON if `file` ends with `.json`, and otherwise as YAML. Returns a document. Mistakes in the text
    raise no error, but are listed in the `problems` of the document. `strict` selects the strict dialect."""
    reader = _Reader(strict, max_depth)
    document = reader.document
    try:
        if file.endswith(".json"):
            value = reader.json(text)
            reader.yaml(text.translate(_NOT_IN_YAML))
            document.value = value
        else:
            document.value = reader.yaml(text)
    except _Unreadable:
        document.value, document.readable = None, False
    return document


class _Unreadable(Exception):
    """Raised if the rest of the document cannot be read. The reason is the last item in the document's `problems`."""


@dataclass(slots=True)
class _Repeat:
    """An alias such as `*defaults`, with the parser's events of the value that has the anchor `&defaults`."""

    alias: Event
    events: list[_Part]


_Part: TypeAlias = Event | _Repeat


class _Reader:
    def __init__(self, strict: bool, max_depth: int) -> None:
        self.document = Document()
        self._strict = strict
        self._max_depth = max_depth
        self._is_json = False
        self._yaml = YAML(typ="safe", pure=True)
        self._events: Iterator[_Part] = iter(())
        self._count = 0
        self._repeated = 0  # values that were read through an alias
        self._in_alias = False

    def json(self, text: str) -> Any:
        self._is_json = True
        try:
            # A number with too many digits is read as 0 here. Its problem is added later, when its place is known.
            return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) <= _MAX_DIGITS else 0)
        except json.JSONDecodeError as error:
            self._stop("document-syntax", Place(error.lineno, error.colno), f"this is not JSON: {error.msg}")
        except RecursionError:
            levels = f"at most {self._max_depth} levels are read" if self._strict else ""
            self._stop("document-too-deep", Place(1, 1), "it is nested too deeply", levels)

    def yaml(self, text: str) -> Any:
        if self._strict and not self._is_json and (tab := _TAB.search(text)):
            line = text.count("\n", 0, tab.start()) + 1
            self._stop("document-tab", Place(line, tab.end() - tab.start()), "a tab indents this line", "use spaces")
        try:
            self._events = self._resolve_aliases(self._yaml.parse(text))
            return self._only_document()
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = Place(1, 1) if mark is None else Place(mark.line + 1, mark.column + 1)
            context = f"{error.context}: " if error.context else ""
            self._stop("document-syntax", place, f"this is not YAML: {context}{error.problem}")
        except (YAMLError, ValueError) as error:
            self._stop("document-syntax", Place(1, 1), f"this is not YAML: {str(error).splitlines()[0]}")

    def _resolve_aliases(self, events: Iterator[Event]) -> Iterator[_Part]:
        """Yield the events, with each alias replaced by a `_Repeat`. In strict mode, aliases are not replaced."""
        anchors: dict[str, list[_Part]] = {}
        recordings: list[tuple[int, list[_Part]]] = []  # (depth, events) of values with an anchor that are not complete
        depth = 0
        for event in events:
            part: _Part = event
            if isinstance(event, DocumentStartEvent):
                anchors.clear()
            if isinstance(event, AliasEvent) and not self._strict:
                if event.anchor not in anchors:
                    message = f"this is not YAML: found undefined alias {event.anchor!r}"
                    self._stop("document-syntax", _place(event), message)
                part = _Repeat(event, anchors[event.anchor])
            elif isinstance(event, ScalarEvent | MappingStartEvent | SequenceStartEvent) and event.anchor:
                recording: list[_Part] = []
                anchors[event.anchor] = recording
                recordings.append((depth, recording))
            for _, recording in recordings:
                recording.append(part)
            depth += isinstance(event, MappingStartEvent | SequenceStartEvent)
            depth -= isinstance(event, MappingEndEvent | SequenceEndEvent)
            while recordings and recordings[-1][0] == depth:
                recordings.pop()
            yield part

    def _only_document(self) -> Any:
        value, documents = None, 0
        for event in self._events:
            if isinstance(event, DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse_second_document(event)
                if self._strict and (event.version or event.tags):
                    self._add("document-directive", (), event, "directives are not allowed", "leave it out")
            elif isinstance(event, ScalarEvent | MappingStartEvent | SequenceStartEvent | AliasEvent | _Repeat):
                value = self._value(event, (), ())
        return value

    def _refuse_second_document(self, event: Event) -> NoReturn:
        if self._strict:
            self._stop("document-several", _place(event), "a second document begins", "write one a file")
        message = "this is not YAML: expected a single document in the stream: but found another document"
        self._stop("document-several", _place(event), message)

    def _value(self, event: _Part, path: Path, ancestors: tuple[int, ...]) -> Any:
        """Read one value from the events of the YAML parser, and return the value. `event` is the first event of the
        value. The other events of the value are consumed. `path` leads to the value. `ancestors` identifies the
        enclosing values: it has the `id()` of the first event of each enclosing value."""
        if isinstance(event, _Repeat):
            after, self._events = self._events, iter(event.events)
            in_alias, self._in_alias = self._in_alias, True
            value = self._value(next(self._events), path, ancestors)
            self._events, self._in_alias = after, in_alias
            return value
        self._limit(event, ancestors)
        self.document.positions.values.setdefault(path, _place(event))
        if isinstance(event, AliasEvent):
            self._add("document-alias", path, event, f"'*{event.anchor}' repeats another part", "write it out")
            self.document.unread.add(path)
            return None
        if self._strict:
            self._refuse_anchor_and_tag(event, path)
        ancestors = (*ancestors, id(event))
        if isinstance(event, MappingStartEvent):
            return self._object(path, ancestors)
        if isinstance(event, SequenceStartEvent):
            items = enumerate(self._until(SequenceEndEvent))
            return [self._value(item, (*path, number), ancestors) for number, item in items]
        assert isinstance(event, ScalarEvent)
        return self._scalar(event, path)

    def _limit(self, event: Event, ancestors: tuple[int, ...]) -> None:
        self._count += 1
        self._repeated += self._in_alias
        if self._strict and len(ancestors) > self._max_depth:
            self._stop(
                "document-too-deep", _place(event), "it is nested too deeply", f"at most {self._max_depth} levels"
            )
        too_many = self._count > _MAX_VALUES or self._repeated > _MAX_REPEATED + 10 * (self._count - self._repeated)
        if too_many or len(ancestors) > self._max_depth or id(event) in ancestors:
            self._stop("document-too-deep", _place(event), "its aliases or its depth have no end")

    def _refuse_anchor_and_tag(self, event: Event, path: Path) -> None:
        if anchor := getattr(event, "anchor", None):
            self._add("document-anchor", path, event, f"'&{anchor}' names this part", "leave the name out")
        if (tag := getattr(event, "tag", None)) is not None:
            self._add("document-tag", path, event, f"the tag {short_json(str(tag))} is not allowed", "leave it out")

    def _until(self, end: type[Event]) -> Iterator[_Part]:
        for event in self._events:
            if isinstance(event, end):
                return
            yield event

    def _object(self, path: Path, ancestors: tuple[int, ...]) -> dict[str, Any]:
        """Read the keys and values of an object from the events of the YAML parser, and return them as a dict. The dict
        includes the keys that a merge (`<<`) adds. If the object itself has such a key, too, the object's own value is
        used."""
        members: dict[str, Any] = {}
        merges: list[list[_Part]] = []
        lines: dict[str, int] = {}
        positions = self.document.positions
        for key in self._until(MappingEndEvent):
            if self._is_merge(key):
                merges.append(self._subtree())
                continue
            name = self._key(key, path, ancestors)
            value = next(self._events)
            inner = path if name is None else (*path, name)
            if name is not None and name in members:
                about = inner if self._strict else path
                message = f"{short_json(name)} occurs twice, first in line {lines[name]}"
                self._add("document-key-twice", about, key, message, "leave one out")
                name = None
            if name is None:
                self._value(value, inner, ancestors)  # only for its problems
                continue
            lines[name] = _place(key).line
            positions.keys.setdefault(inner, _place(key))
            if _is_empty(value):
                positions.values.setdefault(inner, _place(key))  # an empty value has no place, but its key has
            members[name] = self._value(value, inner, ancestors)
        for merge in merges:
            members = {**self._merged(merge, path, ancestors), **members}
        return members

    def _key(self, key: _Part, path: Path, ancestors: tuple[int, ...]) -> str | None:
        event = key.events[0] if isinstance(key, _Repeat) else key
        if not isinstance(event, ScalarEvent):
            kinds = "a list, an object or an alias" if self._strict else "a list or an object"
            self._add("document-key", path, event, f"a key is a text, not {kinds}")
            self._value(key, path, ancestors)
            return None
        if not self._strict:
            return self._text(event, path)
        if event.anchor:
            self._add("document-anchor", path, event, f"'&{event.anchor}' names this key", "leave the name out")
        if not isinstance(self._scalar(event, path), str):
            self._add("document-key", path, event, f"the key {event.value} is not a text",
                      f'put it in quotes: "{event.value}"')  # fmt: skip
        return str(event.value)

    def _is_merge(self, key: _Part) -> bool:
        return not self._strict and isinstance(key, ScalarEvent) and self._tag(key) == "merge"

    def _subtree(self) -> list[_Part]:
        """Consume the next value of the document, and return its parts. A part is an event of the YAML parser, or a
        `_Repeat` for an alias."""
        parts, depth = [], 0
        for part in self._events:
            parts.append(part)
            depth += isinstance(part, MappingStartEvent | SequenceStartEvent)
            depth -= isinstance(part, MappingEndEvent | SequenceEndEvent)
            if depth == 0:
                break
        return parts

    def _merged(self, parts: list[_Part], path: Path, ancestors: tuple[int, ...]) -> dict[str, Any]:
        """Return the members that a merge such as `<<: *defaults` adds. If several objects are merged and have the same
        key, the first object has precedence."""
        while isinstance(parts[0], _Repeat):
            parts = parts[0].events
        after, self._events = self._events, iter(parts)
        in_alias, self._in_alias = self._in_alias, True
        first = next(self._events)
        merged: dict[str, Any] = {}
        for item in self._until(SequenceEndEvent) if isinstance(first, SequenceStartEvent) else [first]:
            event = item.events[0] if isinstance(item, _Repeat) else item
            value = self._value(item, path, ancestors)
            if isinstance(event, MappingStartEvent):
                merged = {**value, **merged}
            else:
                self._add("document-merge", path, event, "'<<' takes an object, such as *defaults")
        self._events, self._in_alias = after, in_alias
        return merged

    def _scalar(self, event: ScalarEvent, path: Path) -> Any:
        text = str(event.value)
        if self._is_json and not event.style and text in _NOT_IN_JSON:
            return self._not_a_number(event, path, f"{text} is not a number that JSON knows", "leave it out")
        if self._strict:
            return self._text(event, path) if event.style else self._strict_scalar(event, path)
        kind = self._tag(event)
        if kind in _TEXTS:
            return self._text(event, path)
        if kind not in _SCALARS:
            self._add("document-tag", path, event, f"the tag {event.ctag} is unknown", "leave it out")
            return None
        try:
            return _SCALARS[kind](text)
        except ValueError:
            message = f"{short_json(text)} is not a number that JSON knows"
            return self._not_a_number(event, path, message, "put a text in quotes")

    def _strict_scalar(self, event: ScalarEvent, path: Path) -> Any:
        """Return the value of a scalar without quotes, by the core schema of YAML 1.2."""
        text = str(event.value)
        if text in _WORDS:
            return _WORDS[text]
        if _WHOLE.fullmatch(text) and len(text) <= 400:
            number = int(text, 0 if text[:2] in ("0o", "0x") else 10)
            if LEAST <= number <= MOST:
                return number
            limits = f"a whole number is {LEAST} to {MOST}; put a text in quotes"
            return self._not_a_number(event, path, f"{short_json(number)} is not within 64 bits", limits)
        if _NOT_FINITE.fullmatch(text) or (_REAL.fullmatch(text) and not math.isfinite(float(text))):
            message = f"{short_json(text)} is not a number that JSON knows"
            return self._not_a_number(event, path, message, "put a text in quotes")
        return float(text) if _REAL.fullmatch(text) else self._text(event, path)

    def _not_a_number(self, event: Event, path: Path, message: str, suggestion: str) -> None:
        self._add("document-number", path, event, message, suggestion)
        self.document.unread.add(path)

    def _text(self, event: ScalarEvent, path: Path) -> str:
        """Return the text of a scalar. A surrogate pair (two escapes in JSON) becomes one character. If half of a pair
        is missing, records a problem and returns an empty text."""
        text = str(event.value)
        if text.isascii():
            return text
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeError:
            message = f"{short_json(text)} has half of a character"
            self._add("document-syntax", path, event, message, "write both surrogates of the pair")
            return ""

    def _tag(self, event: ScalarEvent) -> str:
        """Return the name of a scalar's type, such as "int". If the scalar has a tag, such as `!!int`, the tag names
        the type. Otherwise the rules of YAML determine the type."""
        tag = event.ctag
        if tag is None or str(tag) == "!":
            tag = self._yaml.resolver.resolve(ScalarNode, event.value, event.implicit)
        return str(tag).removeprefix(_TAG)

    def _add(self, code: str, path: Path, event: _Part, message: str, suggestion: str = "") -> None:
        self.document.problems.append(DocumentProblem(code, path, _place(event), message, suggestion))

    def _stop(self, code: str, place: Place, message: str, suggestion: str = "") -> NoReturn:
        self.document.problems.append(DocumentProblem(code, (), place, message, suggestion))
        raise _Unreadable


def _is_empty(part: _Part) -> bool:
    event = part.events[0] if isinstance(part, _Repeat) else part
    return isinstance(event, ScalarEvent) and event.value == "" and not event.style


def _place(event: _Part) -> Place:
    mark = (event.alias if isinstance(event, _Repeat) else event).start_mark
    return Place(mark.line + 1, mark.column + 1)


# The core schema of YAML 1.2.
_WHOLE = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def _whole_number(text: str) -> int:
    digits = text.lower().lstrip("+-")
    base = {"0x": 16, "0o": 8, "0b": 2}.get(digits[:2], 10)
    return (-1 if text.startswith("-") else 1) * int(digits[2:] if base != 10 else digits, base)


def _finite_number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


# A date is a text: JSON has no type for it.
_TEXTS = frozenset({"str", "timestamp", "value", "merge"})
_SCALARS: Mapping[str, Any] = {
    "null": lambda _: None,
    "bool": lambda text: text.lower() == "true",
    "int": _whole_number,
    "float": _finite_number,
}
