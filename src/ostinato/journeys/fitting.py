"""Whether schedules that name journeys can start them: the journey is there, has the state, and takes the input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ostinato.errors import OstinatoError, did_you_mean, there_are
from ostinato.journeys.language import Definition
from ostinato.journeys.library import find
from ostinato.journeys.schemas import validate
from ostinato.schedules.model import Schedule
from ostinato.store.contract import Operation


def unfit(schedules: Sequence[Schedule]) -> Operation[dict[str, OstinatoError]]:
    """Why not, by the schedule's id. A definition is read once, however many schedules name it."""
    found: dict[tuple[str, ...], Definition | OstinatoError] = {}
    problems: dict[str, OstinatoError] = {}
    for one in schedules:
        given = one.action.input
        named = one.namespace, str(given.get("journey")), str(given.get("version") or "")
        if named not in found:
            try:
                found[named] = yield from find(named[0], named[1], named[2] or None)
            except OstinatoError as problem:
                found[named] = problem
        definition = found[named]
        try:
            if isinstance(definition, OstinatoError):
                raise definition
            check_start(definition, given.get("start"), given.get("context") or {})
        except OstinatoError as problem:
            problems[one.id] = problem
    return problems


def check_start(definition: Definition, start: Any, context: Mapping[str, Any]) -> None:
    """What begins in its midst has a context of its own, which the input's schema says nothing about."""
    if definition.is_api:
        raise OstinatoError(f"{definition.name!r} is an API, which is called and not started")
    if start is not None and start not in definition.spec.states:
        hint = did_you_mean(str(start), definition.spec.states) or there_are(definition.spec.states)
        raise OstinatoError(f"journey {definition.name!r} has no state {start!r} to start at; {hint}")
    if start is None and definition.spec.input is not None:
        validate(context, definition.spec.input.schema, "the input")
