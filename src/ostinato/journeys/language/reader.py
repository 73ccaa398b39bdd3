"""From a document to a definition: the structural part. What needs to look at more than one place is in `checks`, which
looks at a draft: the definition as far as it could be read."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from ostinato.errors import nearest
from ostinato.errors import shown_json as shown
from ostinato.journeys.documents import Document
from ostinato.journeys.language.definition import Definition
from ostinato.journeys.language.shapes import (
    Expression,
    Reading,
    explained,
    expression,
    inlined,
    not_a,
    read_object,
    refuse_unknown,
    text,
)
from ostinato.journeys.language.states import STATES, TASK_KIND, Succeed, Task
from ostinato.journeys.problems import Problem, errors, in_order
from ostinato.schedules.marked import Path

_BY_TYPE = {str(one.type): one for one in STATES}
_UNREAD = "unread:v1"  # the kind of a task whose kind cannot be read
# Blocks that earlier drafts of the language had, and what to write instead.
_REMOVED = {
    "apply": "map the payload in a transform after this state",
    "on": "decide in a choice after this state",
    "security": "validate the caller in a task after this state",
}


@dataclass(frozen=True, slots=True)
class Draft:
    """What could be read of a document, for rules to look at and for nothing else: at the `unread` places something
    else stands in. None: nothing could be read."""

    definition: Definition | None
    problems: list[Problem]
    unread: Set[Path]


def read(document: Document) -> tuple[Definition | None, list[Problem]]:
    """The definition, or None, and everything that is wrong with the document's shape."""
    found = draft(document)
    return (None if errors(found.problems) else found.definition), found.problems


def draft(document: Document) -> Draft:
    """Everything that can be read, and everything that is wrong with the text and its shape."""
    reading = Reading(document.marked)
    value = document.value
    if isinstance(value, dict):
        definition = _definition(reading, document, value)
    elif not document.problems:
        not_a(reading, value, (), "an object", "a journey begins with apiVersion: v1")
    told = [one for one in reading.problems if not explained(document.unread, one.path)]
    problems = in_order([*document.problems, *told])
    return Draft(definition if isinstance(value, dict) else None, problems, reading.unread | document.unread)


def _definition(reading: Reading, document: Document, value: dict[str, Any]) -> Definition:
    spec = value.get("spec")
    if isinstance(spec, dict):
        if "resources" in spec:
            message = "'resources' is no longer part of the language and is ignored"
            reading.warn("spec-resources", ("spec", "resources"), message, "leave it out")
            spec = {name: one for name, one in spec.items() if name != "resources"}
            value = {**value, "spec": spec}
        reading.mappers = _mappers(document, spec.get("mappers"))
    found: Definition = read_object(Definition, reading, value, ())
    return found


def _mappers(document: Document, given: Any) -> dict[str, Expression]:
    """The shared mappers, read first, since any other part may name one. What is wrong with one is said when its turn
    comes; who names it is not to blame."""
    quiet = Reading(document.marked)
    named = given.items() if isinstance(given, dict) else ()
    return {name: expression(quiet, one, ("spec", "mappers", name)) for name, one in named}


def read_state(reading: Reading, value: Any, path: Path) -> Any:
    """What has no type that is known is an end to the reader: nothing of it is known, and it is unread as a whole."""
    if not isinstance(value, dict):
        not_a(reading, value, path, "a state", "write type: … and what belongs to it")
        return Succeed()
    if "type" not in value:
        reading.wrong("shape-missing", path, "'type' is missing", f"there are {', '.join(_BY_TYPE)}")
        return Succeed()
    cls = _BY_TYPE.get(value["type"]) if isinstance(value["type"], str) else None
    if cls is None:
        near = nearest(str(value["type"]), _BY_TYPE)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(_BY_TYPE)}"
        message = f"the type {shown(value['type'])} is not known"
        reading.wrong("state-type", (*path, "type"), message, hint, unread=None if near else path)
        if near is None:
            return Succeed()
        value, cls = {**value, "type": near}, _BY_TYPE[near]  # so that what else is wrong with it is said, too
    if cls is Task:
        return _task(reading, value, path)
    if value["type"] in ("wait", "webhook"):
        value = _without_removed(reading, value, path)
    return read_object(cls, reading, value, path, also=("type",))


def _without_removed(reading: Reading, value: dict[str, Any], path: Path) -> dict[str, Any]:
    """`default` stood for `next` once; what was removed says what took its place."""
    block = value.get(value["type"])
    if isinstance(block, dict):
        for name in block.keys() & _REMOVED:
            where = (*path, value["type"], name)
            reading.wrong(
                "external-removed", where, f"{name!r} is no longer part of this state", _REMOVED[name], key=True
            )
        value = {**value, value["type"]: {name: one for name, one in block.items() if name not in _REMOVED}}
    if "default" in value and "next" not in value:
        where = (*path, "default")
        reading.warn("external-default", where, "'default' stands for 'next'", "write next")
        value = {("next" if name == "default" else name): one for name, one in value.items()}
    block = value.get(value["type"])
    if isinstance(block, dict) and "default" in block:
        where, hint = (*path, value["type"], "default"), f"write next beside {value['type']!r}, not within it"
        within = {name: one for name, one in block.items() if name != "default"}
        if "next" in value:
            reading.wrong("external-removed", where, "'default' stands beside 'next', and one of them leads on", hint)
        else:
            reading.warn("external-default", where, "'default' stands for 'next'", hint)
        value = {"next": block["default"], **value, value["type"]: within}
    return value


def _task(reading: Reading, value: dict[str, Any], path: Path) -> Task:
    known = ("type", "task", "next")
    meant = refuse_unknown(reading, value, path, known)
    for name in ("task", "next"):
        if name not in value and name not in meant:
            reading.wrong("shape-missing", path, f"{name!r} is missing", unread=(*path, name))
    next = text()(reading, value["next"], (*path, "next")) if "next" in value else ""
    block, here = value.get("task"), (*path, "task")
    if not isinstance(block, dict):
        if "task" in value:
            not_a(reading, block, here, "an object", "write kind: httpCall:v1 and what belongs to it")
        return Task(kind=_UNREAD, settings={}, next=next, path=here)
    kind = block.get("kind")
    if not isinstance(kind, str) or not TASK_KIND.fullmatch(kind):
        hint = f"write {kind}:v1" if isinstance(kind, str) and kind.isalnum() else "write something like httpCall:v1"
        reading.wrong("task-kind", (*here, "kind"), f"the kind {shown(kind)} names no plugin and version", hint)
        kind = _UNREAD
    settings = inlined(reading, {name: one for name, one in block.items() if name != "kind"}, here)
    return Task(kind=kind, settings=settings, next=next, path=here)
