"""The text of a journey, read into plain values with the place of each key and value. The subset of YAML 1.2 that JSON
can say: no anchors, aliases, tags, directives, tabs, keys that are not texts, keys that stand twice, nor a second
document. A text that YAML 1.1 would take for something else (`on`, `1:30`, `2026-01-01`, `1_000`) is a text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

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

from ostinato.errors import shown_json as shown
from ostinato.journeys.problems import Problem
from ostinato.schedules.marked import Marked, Path, Place

LARGEST = 128 * 1024  # characters; reading them takes two seconds, so a server reads in a thread
DEEPEST = 64
LEAST, MOST = -(1 << 63), (1 << 64) - 1  # of a whole number: what is written must be read the same everywhere
SUFFIXES = (".journey.yaml", ".journey.yml", ".journey.json")
_TAB = re.compile(r"^[ ]*\t", re.MULTILINE)
# The core schema of YAML 1.2, to the letter.
_WHOLE = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


@dataclass(slots=True)
class Document:
    """What stands in a file. With problems, `value` may be incomplete, and is good for finding more of them; nothing is
    known of what is at the `unread` places."""

    file: str
    text: str
    marked: Marked
    problems: list[Problem] = field(default_factory=list)
    unread: set[Path] = field(default_factory=set)

    @property
    def value(self) -> Any:
        return self.marked.value


def read_document(text: str, file: str = "journey.yaml") -> Document:
    """The document in a text. Nothing is raised: what is wrong is among its problems."""
    document = Document(file, text, Marked(file))
    reading = _Reading(document)
    try:
        if len(text) > LARGEST:
            reading.stop("document-too-large", Place(1, 1), f"the document has {len(text):,} characters",
                         f"at most {LARGEST:,} are read; move what can be shared into another journey")  # fmt: skip
        whole = _json(reading, text) if file.endswith(".json") else None
        if whole is None and (tab := _TAB.search(text)):
            line = text.count("\n", 0, tab.start()) + 1
            reading.stop("document-tab", Place(line, tab.end() - tab.start()), "a tab indents this line", "use spaces")
        document.marked.value = reading.document()
        if whole is not None:
            document.marked.value = whole[0]
    except _Unreadable:
        document.marked.value = None
    return document


def _json(reading: _Reading, text: str) -> tuple[Any]:
    """A file that says it is JSON must be JSON; its places are then found as in YAML."""

    def constant(word: str) -> NoReturn:
        reading.stop("document-number", Place(1, 1), f"{word} is not a number that JSON knows", "leave it out")

    try:
        return (json.loads(text, parse_constant=constant, parse_int=_whole),)
    except json.JSONDecodeError as wrong:
        reading.stop("document-syntax", Place(wrong.lineno, wrong.colno), f"this is not JSON: {wrong.msg}")
    except RecursionError:
        reading.stop("document-too-deep", Place(1, 1), "it is nested too deeply", f"at most {DEEPEST} levels are read")


def _whole(word: str) -> int:
    """One that is too large is told with its place, when that is read."""
    return int(word) if len(word) <= 20 else 0


class _Unreadable(Exception):
    """The rest of the document cannot be read; why is among the problems."""


class _Reading:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._marked = document.marked
        self._events: Iterator[Event] = iter(())

    def stop(self, code: str, place: Place, message: str, suggestion: str = "") -> NoReturn:
        self._document.problems.append(Problem(code, (), place.line, place.column, message, suggestion))
        raise _Unreadable

    def document(self) -> Any:
        self._events = YAML(typ="safe", pure=True).parse(self._document.text)
        try:
            value, documents = None, 0
            for event in self._events:
                if isinstance(event, DocumentStartEvent):
                    documents += 1
                    if documents > 1:
                        self.stop("document-several", _place(event), "a second document begins", "write one a file")
                    if event.version or event.tags:
                        self._wrong("document-directive", (), event, "a directive stands here", "leave it out")
                elif isinstance(event, ScalarEvent | MappingStartEvent | SequenceStartEvent | AliasEvent):
                    value = self._value(event, (), 0)
            return value
        except MarkedYAMLError as wrong:
            mark = wrong.problem_mark or wrong.context_mark
            place = Place(1, 1) if mark is None else Place(mark.line + 1, mark.column + 1)
            about = f"{wrong.context}: " if wrong.context else ""
            self.stop("document-syntax", place, f"this is not YAML: {about}{wrong.problem}")
        except (YAMLError, ValueError) as wrong:
            self.stop("document-syntax", Place(1, 1), f"this is not YAML: {str(wrong).splitlines()[0]}")

    def _value(self, event: Event, path: Path, depth: int) -> Any:
        if depth > DEEPEST:
            self.stop("document-too-deep", _place(event), "it is nested too deeply", f"at most {DEEPEST} levels")
        self._marked.values.setdefault(path, _place(event))
        if isinstance(event, AliasEvent):
            self._wrong("document-alias", path, event, f"'*{event.anchor}' repeats another part", "write it out")
            self._document.unread.add(path)
            return None
        if getattr(event, "anchor", None):
            name = getattr(event, "anchor", "")
            self._wrong("document-anchor", path, event, f"'&{name}' names this part", "leave the name out")
        if (tag := getattr(event, "tag", None)) is not None:
            self._wrong("document-tag", path, event, f"the tag {shown(str(tag))} stands here", "leave it out")
        if isinstance(event, MappingStartEvent):
            return self._object(path, depth)
        if isinstance(event, SequenceStartEvent):
            return [self._value(one, (*path, n), depth + 1) for n, one in enumerate(self._until(SequenceEndEvent))]
        assert isinstance(event, ScalarEvent)
        return self._scalar(event, path)

    def _until(self, end: type[Event]) -> Iterator[Event]:
        for event in self._events:
            if isinstance(event, end):
                return
            yield event

    def _object(self, path: Path, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key in self._until(MappingEndEvent):
            name = self._key(key, path, depth)
            value = next(self._events)
            where = (*path, name) if name is not None else path
            if name is not None and name in found:
                first = self._marked.keys[where].line
                self._wrong("document-key-twice", where, key, f"{shown(name)} stands here twice, first in line {first}",
                            "leave one out")  # fmt: skip
                name = None
            if name is None:
                self._value(value, where, depth + 1)
                continue
            self._marked.keys[where] = _place(key)
            if isinstance(value, ScalarEvent) and value.value == "" and not value.style:
                self._marked.values[where] = _place(key)  # nothing stands nowhere, but its key does
            found[name] = self._value(value, where, depth + 1)
        return found

    def _key(self, event: Event, path: Path, depth: int) -> str | None:
        if not isinstance(event, ScalarEvent):
            self._wrong("document-key", path, event, "a key is a text, not a list, an object or an alias")
            self._value(event, path, depth + 1)
            return None
        if event.anchor:
            self._wrong("document-anchor", path, event, f"'&{event.anchor}' names this key", "leave the name out")
        if not isinstance(self._scalar(event, path), str):
            self._wrong("document-key", path, event, f"the key {event.value} is not a text",
                        f'put it in quotes: "{event.value}"')  # fmt: skip
        return str(event.value)

    def _scalar(self, event: ScalarEvent, path: Path) -> Any:
        text = str(event.value)
        if event.style:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _WHOLE.fullmatch(text) and len(text) <= 400:
            number = int(text, 0 if text[:2] in ("0o", "0x") else 10)
            if LEAST <= number <= MOST:
                return number
            self._wrong("document-number", path, event, f"{shown(number)} is not within 64 bits",
                        f"a whole number is {LEAST} to {MOST}; put a text in quotes")  # fmt: skip
            self._document.unread.add(path)
            return None
        if _NOT_FINITE.fullmatch(text) or (_REAL.fullmatch(text) and not math.isfinite(float(text))):
            self._wrong("document-number", path, event, f"{shown(text)} is not a number that JSON knows",
                        "put a text in quotes")  # fmt: skip
            self._document.unread.add(path)
            return None
        return float(text) if _REAL.fullmatch(text) else text

    def _wrong(self, code: str, path: Path, event: Event, message: str, suggestion: str = "") -> None:
        place = _place(event)
        self._document.problems.append(Problem(code, path, place.line, place.column, message, suggestion))


def _place(event: Event) -> Place:
    return Place(event.start_mark.line + 1, event.start_mark.column + 1)
