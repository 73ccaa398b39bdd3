"""Journeys as Temporal's clients see them: a workflow type that no job has is a journey's name, a signal is the input
of the step with its name, and the result is the journey's output."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson

from ostinato.app import Ostinato
from ostinato.engine.handlers import BY_POSITION
from ostinato.errors import NotFound
from ostinato.faces.temporal.actions import Start
from ostinato.faces.temporal.calls import Call
from ostinato.faces.temporal.errors import Wrong
from ostinato.faces.temporal.payloads import value_of
from ostinato.journeys.asking import Limits, asked_to_start
from ostinato.model import Run, Status
from ostinato.schedules.making import JOURNEY, journey_run
from ostinato.schedules.model import Action


async def journey_start(app: Ostinato, found: Start, at: datetime | None) -> Run | None:
    """The run of a journey of this name, checked and not on record, for now or for later; None where there is no such
    journey."""
    if app.engine.known(found.job) is not None:
        return None
    try:
        definition = await app.journeys.read_definition(found.job)
    except NotFound:
        return None
    if definition.is_api:
        raise Wrong("workflow_type.name", f"{found.job!r} is an API, which is called and not started")
    values = found.input.get(BY_POSITION, [found.input])
    if len(values) > 1:
        raise Wrong("input", f"has {len(values)} arguments; a journey takes one, its first context")
    asked = asked_to_start(definition, values[0], None, Limits())
    given = {JOURNEY: definition.name, "version": definition.version, "context": dict(asked.context)}
    made = journey_run(Action(JOURNEY, given, found.options), app.namespace)
    run, _ = app.prepare(found.job, None, at=at, queue=made.queue, priority=made.priority)
    return replace(run, kind=made.kind, input=made.input)


async def signal(call: Call, run: Run, request: Any) -> None:
    """The first argument of a signal is the step's input; without one it is an empty object."""
    values = [value_of(one, f"input[{n}]") for n, one in enumerate(request.input.payloads)]
    if len(values) > 1:
        raise Wrong("input", f"has {len(values)} arguments; a step takes one")
    body = values[0] if values else {}
    await call.app.journeys.submit(run.root_id, request.signal_name, body, key=request.request_id or None, wait=0)


async def with_output(app: Ostinato, run: Run) -> Run:
    """A run of a journey that has succeeded, with what came of it."""
    if run.kind != JOURNEY or run.status is not Status.SUCCEEDED:
        return run
    return replace(run, result=orjson.dumps((await app.journeys.result(run.root_id)).output).decode())
