"""From a document to a definition: the structural part. What needs to look at more than one place is in `checks`."""

from __future__ import annotations

from typing import Any

from ostinato.errors import did_you_mean, shown
from ostinato.journeys.documents import Document
from ostinato.journeys.language.definition import Definition
from ostinato.journeys.language.shapes import (
    INVALID,
    Expression,
    Reading,
    expression,
    inlined,
    not_a,
    read_object,
    refuse_unknown,
    text,
)
from ostinato.journeys.language.states import STATES, TASK_KIND, Task
from ostinato.journeys.problems import Problem, errors, in_order
from ostinato.schedules.marked import Path

_BY_TYPE = {str(one.type): one for one in STATES}
_TASK = ("type", "task", "next")
# Blocks that earlier drafts of the language had, and what to write instead.
_REMOVED = {
    "apply": "map the payload in a transform after this state",
    "on": "decide in a choice after this state",
    "security": "validate the caller in a task after this state",
}


def read(document: Document) -> tuple[Definition | None, list[Problem]]:
    """The definition, or None, and everything that is wrong with the document's shape."""
    if document.problems:
        return None, in_order(document.problems)
    reading = Reading(document.marked)
    value = document.value
    if not isinstance(value, dict):
        not_a(reading, value, (), "an object", "a journey begins with apiVersion: v1")
        return None, reading.problems
    spec = value.get("spec")
    if isinstance(spec, dict):
        if "resources" in spec:
            message = "'resources' is no longer part of the language and is ignored"
            reading.wrong("spec-resources", ("spec", "resources"), message, "leave it out", key=True, warning=True)
            spec = {name: one for name, one in spec.items() if name != "resources"}
            value = {**value, "spec": spec}
        reading.mappers = _mappers(document, spec.get("mappers"))
    found = read_object(Definition, reading, value, ())
    problems = in_order(reading.problems)
    return (None if found is INVALID or errors(problems) else found), problems


def _mappers(document: Document, given: Any) -> dict[str, Expression]:
    """The shared mappers, read first, since any other part may name one. What is wrong with one is said when its turn
    comes; who names it is not to blame."""
    quiet = Reading(document.marked)
    found = {}
    for name, one in given.items() if isinstance(given, dict) else ():
        path = ("spec", "mappers", name)
        made = expression(quiet, one, path)
        found[name] = Expression("", "", path) if made is INVALID else Expression(made.lang, made.expr, path)
    return found


def read_state(reading: Reading, value: Any, path: Path) -> Any:
    if not isinstance(value, dict):
        return not_a(reading, value, path, "a state", "write type: … and what belongs to it")
    if "type" not in value:
        return reading.wrong("shape-missing", path, "'type' is missing", f"there are {', '.join(_BY_TYPE)}")
    cls = _BY_TYPE.get(value["type"]) if isinstance(value["type"], str) else None
    if cls is None:
        hint = did_you_mean(str(value["type"]), _BY_TYPE) or f"there are {', '.join(_BY_TYPE)}"
        return reading.wrong("state-type", (*path, "type"), f"the type {shown(value['type'])} is not known", hint)
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
        reading.wrong("external-default", where, "'default' stands for 'next'", "write next", key=True, warning=True)
        value = {("next" if name == "default" else name): one for name, one in value.items()}
    return value


def _task(reading: Reading, value: dict[str, Any], path: Path) -> Any:
    refuse_unknown(reading, value, path, _TASK)
    block = value.get("task")
    here = (*path, "task")
    whole = True
    for name in ("task", "next"):
        if name not in value:
            whole = False
            reading.wrong("shape-missing", path, f"{name!r} is missing")
    if "next" in value and text()(reading, value["next"], (*path, "next")) is INVALID:
        whole = False
    if "task" not in value:
        return INVALID
    if not isinstance(block, dict):
        return not_a(reading, block, here, "an object", "write kind: httpCall:v1 and what belongs to it")
    kind = block.get("kind")
    if not isinstance(kind, str) or not TASK_KIND.fullmatch(kind):
        hint = f"write {kind}:v1" if isinstance(kind, str) and kind.isalnum() else "write something like httpCall:v1"
        return reading.wrong("task-kind", (*here, "kind"), f"the kind {shown(kind)} names no plugin and version", hint)
    settings = inlined(reading, {name: one for name, one in block.items() if name != "kind"}, here)
    if settings is INVALID or not whole:
        return INVALID
    return Task(kind=kind, settings=settings, next=value["next"], path=here)
