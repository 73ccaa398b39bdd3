"""YAML and JSON read into plain values, each with its place in the file, so that whatever is wrong with one later can
be said as `file:line:column`. Nothing is constructed but texts, numbers, booleans, lists and objects."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ostinato.errors import OstinatoError, shown

Path: TypeAlias = tuple[str | int, ...]
_TAG = "tag:yaml.org,2002:"
# Aliases of aliases grow without end; no document that people write comes near.
_MOST = 1_000_000
_DEEPEST = 100


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Counted from 1, as editors do."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a file, and where."""

    file: str
    place: Place
    message: str
    schedule: str | None = None

    def __str__(self) -> str:
        who = "" if self.schedule is None else f"schedule {self.schedule!r}: "
        return f"{self.file}:{self.place.line}:{self.place.column}  {who}{self.message}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "line": self.place.line,
            "column": self.place.column,
            "schedule": self.schedule,
            "message": self.message,
        }


class FileError(OstinatoError):
    """Everything that is wrong with a file, in the order of its lines."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda one: one.place))
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(slots=True)
class Marked:
    """A document's value; where each part of it stands, by its path; and what is wrong with its text."""

    file: str
    value: Any = None
    values: dict[Path, Place] = field(default_factory=dict)
    keys: dict[Path, Place] = field(default_factory=dict)
    problems: list[tuple[Path, Place, str]] = field(default_factory=list)

    def place(self, path: Path, *, key: bool = False) -> Place:
        """Where a part stands, or else the nearest part around it; with `key`, where its name stands."""
        if key and path in self.keys:
            return self.keys[path]
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, Place(1, 1))


def read_marked(text: str, file: str) -> Marked:
    """What stands in a text. What cannot be read at all is raised; what can be passed over is among its problems."""
    found = Marked(file)
    whole: Any = None
    if file.endswith(".json"):
        whole = _json(text, file)
        text = text.translate(_NOT_IN_YAML)
    yaml = YAML(typ="safe", pure=True)
    try:
        node = yaml.compose(text)
    except MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        place = Place(1, 1) if mark is None else Place(mark.line + 1, mark.column + 1)
        about = f"{problem.context}: " if problem.context else ""
        raise FileError([Problem(file, place, f"this is not YAML: {about}{problem.problem}")]) from None
    except (YAMLError, ValueError) as problem:
        first = str(problem).splitlines()[0]
        raise FileError([Problem(file, Place(1, 1), f"this is not YAML: {first}")]) from None
    except RecursionError:
        raise FileError([Problem(file, Place(1, 1), "it is nested too deeply")]) from None
    if node is not None:
        found.value = _Reading(found).read(node, (), ())
    if whole is not None:
        found.value = whole
    return found


# JSON is YAML but for these characters. They stand aside while places are looked for.
_NOT_IN_YAML = {one: one + 0xE000 for one in range(0x7F, 0xA0)} | {0xFFFE: 0xE0FE, 0xFFFF: 0xE0FF}


def _json(text: str, file: str) -> Any:
    """A file that says it is JSON must be JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        place = Place(problem.lineno, problem.colno)
        raise FileError([Problem(file, place, f"this is not JSON: {problem.msg}")]) from None
    except RecursionError:
        raise FileError([Problem(file, Place(1, 1), "it is nested too deeply")]) from None


class _Reading:
    def __init__(self, found: Marked) -> None:
        self._found = found
        self._count = 0

    def read(self, node: Node, path: Path, above: tuple[int, ...]) -> Any:
        self._count += 1
        place = _place(node)
        if self._count > _MOST or len(above) > _DEEPEST or id(node) in above:
            raise FileError([Problem(self._found.file, place, "its aliases or its depth have no end")])
        self._found.values.setdefault(path, place)
        above = (*above, id(node))
        if isinstance(node, MappingNode):
            return self._object(node, path, above)
        if isinstance(node, SequenceNode):
            return [self.read(one, (*path, n), above) for n, one in enumerate(node.value)]
        assert isinstance(node, ScalarNode)
        return self._scalar(node, path)

    def _object(self, node: MappingNode, path: Path, above: tuple[int, ...]) -> dict[str, Any]:
        """What is said here comes before what is merged in, so that its place is here."""
        own: dict[str, Any] = {}
        first: dict[str, Place] = {}
        merges: list[Node] = []
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                self._wrong(path, key, "a key is a text, not a list or an object")
                continue
            if key.tag == f"{_TAG}merge":
                merges.append(value)
                continue
            name = self._text(key, path)
            if name in own:
                self._wrong(
                    path, key, f"{shown(name)} stands here twice, first in line {first[name].line}; leave one out"
                )
                continue
            first[name] = _place(key)
            self._found.keys.setdefault((*path, name), first[name])
            if isinstance(value, ScalarNode) and value.value == "" and value.style is None:
                self._found.values.setdefault((*path, name), first[name])  # nothing stands nowhere, but its key does
            own[name] = self.read(value, (*path, name), above)
        for merge in merges:
            own = {**self._merged(merge, path, above), **own}
        return own

    def _merged(self, node: Node, path: Path, above: tuple[int, ...]) -> dict[str, Any]:
        """What `<<: *defaults` brings; of several the first has the say."""
        found: dict[str, Any] = {}
        for one in node.value if isinstance(node, SequenceNode) else [node]:
            if isinstance(one, MappingNode):
                found = {**self.read(one, path, above), **found}
            else:
                self._wrong(path, one, "'<<' takes an object, such as *defaults")
        return found

    def _scalar(self, node: ScalarNode, path: Path) -> Any:
        kind = str(node.tag).removeprefix(_TAG)
        if kind in _TEXTS:
            return self._text(node, path)
        if kind not in _SCALARS:
            self._wrong(path, node, f"the tag {node.tag} is unknown; leave it out")
            return None
        try:
            return _SCALARS[kind](node.value)
        except ValueError:
            self._wrong(path, node, f"{shown(node.value)} is not a number that JSON knows; put a text in quotes")
            return None

    def _text(self, node: ScalarNode, path: Path) -> str:
        """A text whose surrogates, which JSON writes in pairs, are joined."""
        text = str(node.value)
        if text.isascii():
            return text
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeError:
            self._wrong(path, node, f"{shown(text)} holds half of a character; a surrogate stands only in a pair")
            return ""

    def _wrong(self, path: Path, node: Node, message: str) -> None:
        self._found.problems.append((path, _place(node), message))


def _place(node: Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)


def _whole_number(text: str) -> int:
    digits = text.lower().lstrip("+-")
    base = {"0x": 16, "0o": 8, "0b": 2}.get(digits[:2], 10)
    return (-1 if text.startswith("-") else 1) * int(digits[2:] if base != 10 else digits, base)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


# A date is a text here: JSON has no other, and who needs an instant reads one.
_TEXTS = frozenset({"str", "timestamp", "value", "merge"})
_SCALARS: Mapping[str, Callable[[str], Any]] = {
    "null": lambda _: None,
    "bool": lambda text: text.lower() == "true",
    "int": _whole_number,
    "float": _finite,
}


def parts(path: str) -> Iterator[str | int]:
    """`exclude.dates[1]` as the steps that lead there."""
    for step in path.replace("[", ".[").split("."):
        yield int(step[1:-1]) if step.startswith("[") and step[1:-1].isdigit() else step
