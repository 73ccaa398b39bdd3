"""Read a document into a definition, and check its shape. The package `checks` then checks all other rules."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from ostinato.documents import Path
from ostinato.errors import nearest, short_json
from ostinato.journeys.documents import JourneyDocument
from ostinato.journeys.language.definition import Definition
from ostinato.journeys.language.shapes import (
    Expression,
    Reading,
    expression,
    inline_mappers,
    is_unread,
    read_object,
    refuse_unknown,
    text,
    wrong_type,
)
from ostinato.journeys.language.states import STATES, TASK_KIND, Succeed, Task
from ostinato.journeys.problems import JourneyProblem, only_errors, sort_problems

_BY_TYPE = {str(one.type): one for one in STATES}
_UNREAD = "unread:v1"  # substitute for an unreadable task kind
# Blocks of earlier drafts of the language, and what to write instead.
_REMOVED = {
    "apply": "map the payload in a transform after this state",
    "on": "decide in a choice after this state",
    "security": "validate the caller in a task after this state",
}


@dataclass(frozen=True, slots=True)
class Draft:
    """The result of reading a document that may have mistakes.

    - `definition`: the definition, or None if nothing could be read
    - `unread`: the paths of values that could not be read; the definition has substitute values there

    If `unread` is not empty, use the definition only to find more problems.
    """

    definition: Definition | None
    problems: list[JourneyProblem]
    unread: Set[Path]


def read(document: JourneyDocument) -> tuple[Definition | None, list[JourneyProblem]]:
    """Return the definition, and all problems of the text and its shape. If one of the problems is an error, the
    definition is None."""
    drafted = draft(document)
    return (None if only_errors(drafted.problems) else drafted.definition), drafted.problems


def draft(document: JourneyDocument) -> Draft:
    """Read as much of a document as possible. The draft lists all problems of the text and its shape."""
    reading = Reading(document.positions)
    value = document.value
    if isinstance(value, dict):
        definition = _definition(reading, document, value)
    elif not document.problems:
        wrong_type(reading, value, (), "an object", "a journey begins with apiVersion: v1")
    shape_problems = [one for one in reading.problems if not is_unread(document.unread, one.path)]
    problems = sort_problems([*document.problems, *shape_problems])
    return Draft(definition if isinstance(value, dict) else None, problems, reading.unread | document.unread)


def _definition(reading: Reading, document: JourneyDocument, value: dict[str, Any]) -> Definition:
    spec = value.get("spec")
    if isinstance(spec, dict):
        if "resources" in spec:
            message = "'resources' is no longer part of the language and is ignored"
            reading.add_warning("spec-resources", ("spec", "resources"), message, "leave it out")
            spec = {name: one for name, one in spec.items() if name != "resources"}
            value = {**value, "spec": spec}
        reading.mappers = _mappers(document, spec.get("mappers"))
    definition: Definition = read_object(Definition, reading, value, ())
    return definition


def _mappers(document: JourneyDocument, mappers: Any) -> dict[str, Expression]:
    """Return a dict from name to shared mapper. Report no problems: they are reported when `spec.mappers` is read
    later."""
    quiet = Reading(document.positions)
    named = mappers.items() if isinstance(mappers, dict) else ()
    return {name: expression(quiet, one, ("spec", "mappers", name)) for name, one in named}


def read_state(reading: Reading, value: Any, path: Path) -> Any:
    """Read a state by its `type`. A misspelt type is read as the type that was probably meant. A value that is no
    state, or has an unknown type, becomes a `Succeed`, and its path is marked as unread."""
    if not isinstance(value, dict):
        wrong_type(reading, value, path, "a state", "write type: … and what belongs to it")
        return Succeed()
    if "type" not in value:
        reading.add_error("shape-missing", path, "'type' is missing", f"there are {', '.join(_BY_TYPE)}")
        return Succeed()
    cls = _BY_TYPE.get(value["type"]) if isinstance(value["type"], str) else None
    if cls is None:
        near = nearest(str(value["type"]), _BY_TYPE)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(_BY_TYPE)}"
        message = f"the type {short_json(value['type'])} is not known"
        reading.add_error("state-type", (*path, "type"), message, hint, unread=None if near else path)
        if near is None:
            return Succeed()
        value, cls = {**value, "type": near}, _BY_TYPE[near]  # continue, to report its other mistakes, too
    if cls is Task:
        return _task(reading, value, path)
    if value["type"] in ("wait", "webhook"):
        value = _without_removed(reading, value, path)
    return read_object(cls, reading, value, path, also=("type",))


def _without_removed(reading: Reading, value: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return a copy of a wait or webhook state without old fields, and report these fields. Fields that the language no
    longer has are removed. The old field `default` is renamed to `next`."""
    block = value.get(value["type"])
    if isinstance(block, dict):
        for name in block.keys() & _REMOVED:
            where = (*path, value["type"], name)
            message = f"{name!r} is no longer part of this state"
            reading.add_error("external-removed", where, message, _REMOVED[name], key=True)
        value = {**value, value["type"]: {name: one for name, one in block.items() if name not in _REMOVED}}
    if "default" in value and "next" not in value:
        where = (*path, "default")
        reading.add_warning("external-default", where, "'default' is an old name of 'next'", "write next")
        value = {("next" if name == "default" else name): one for name, one in value.items()}
    block = value.get(value["type"])
    if isinstance(block, dict) and "default" in block:
        where, hint = (*path, value["type"], "default"), f"write next beside {value['type']!r}, not within it"
        within = {name: one for name, one in block.items() if name != "default"}
        if "next" in value:
            reading.add_error("external-removed", where, "'default' and 'next' are both set", hint)
        else:
            reading.add_warning("external-default", where, "'default' is an old name of 'next'", hint)
        value = {"next": block["default"], **value, value["type"]: within}
    return value


def _task(reading: Reading, value: dict[str, Any], path: Path) -> Task:
    keys = ("type", "task", "next")
    meant = refuse_unknown(reading, value, path, keys)
    for name in ("task", "next"):
        if name not in value and name not in meant:
            reading.add_error("shape-missing", path, f"{name!r} is missing", unread=(*path, name))
    next = text()(reading, value["next"], (*path, "next")) if "next" in value else ""
    block, here = value.get("task"), (*path, "task")
    if not isinstance(block, dict):
        if "task" in value:
            wrong_type(reading, block, here, "an object", "write kind: httpCall:v1 and what belongs to it")
        return Task(kind=_UNREAD, settings={}, next=next, path=here)
    kind = block.get("kind")
    if not isinstance(kind, str) or not TASK_KIND.fullmatch(kind):
        hint = f"write {kind}:v1" if isinstance(kind, str) and kind.isalnum() else "write something like httpCall:v1"
        message = f"the kind {short_json(kind)} names no plugin and version"
        reading.add_error("task-kind", (*here, "kind"), message, hint)
        kind = _UNREAD
    settings = inline_mappers(reading, {name: one for name, one in block.items() if name != "kind"}, here)
    return Task(kind=kind, settings=settings, next=next, path=here)
