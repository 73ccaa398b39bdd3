"""Let Temporal's clients use journeys.

A workflow type stands for a journey if no job or function has its name. A signal submits the journey's step of the same
name. The result of the workflow is the journey's output.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson

from ostinato.app import Ostinato
from ostinato.engine.jobs import BY_POSITION
from ostinato.errors import NotFound
from ostinato.faces.temporal.actions import Start
from ostinato.faces.temporal.calls import Call
from ostinato.faces.temporal.errors import Wrong
from ostinato.faces.temporal.payloads import value_of
from ostinato.journeys.action_kind import journey_run
from ostinato.journeys.rows import KIND as JOURNEY
from ostinato.journeys.runtime.requests import read_start_request
from ostinato.model import Run, Status
from ostinato.schedules.model import Action


async def prepare_journey(app: Ostinato, start: Start, at: datetime | None) -> Run | None:
    """Return a run of the journey that `start` names, due at `at` or now. Nothing is stored.

    Return None if a job has that name, or if no journey has it. Raises `Wrong` if the definition is of the kind `Api`,
    which can be called but not started. Raises `Wrong` if `start` has more than one argument.
    """
    if app.engine.find_job(start.name) is not None:
        return None
    try:
        definition = await app.journeys.read_definition(start.name)
    except NotFound:
        return None
    if definition.is_api:
        raise Wrong("workflow_type.name", f"{start.name!r} is an API; call it instead of starting it")
    values = start.input.get(BY_POSITION, [start.input])
    if len(values) > 1:
        raise Wrong("input", f"has {len(values)} arguments; a journey takes one, its first context")
    asked = read_start_request(definition, values[0], None)
    stored = {JOURNEY: definition.name, "version": definition.version, "context": dict(asked.context)}
    template = journey_run(Action(JOURNEY, stored, start.options, JOURNEY), app.namespace)
    run, _ = app.prepare(start.name, None, at=at, queue=template.queue, priority=template.priority)
    return replace(run, kind=template.kind, input=template.input)


async def send_signal(call: Call, run: Run, request: Any) -> None:
    """Submit the step that a signal names. Raises `Wrong` if the signal has several arguments.

    The argument of the signal is the input of the step. Without an argument, the input is an empty object.
    """
    values = [value_of(payload, f"input[{n}]") for n, payload in enumerate(request.input.payloads)]
    if len(values) > 1:
        raise Wrong("input", f"has {len(values)} arguments; a step takes one")
    body = values[0] if values else {}
    await call.app.journeys.submit(run.root_id, request.signal_name, body, key=request.request_id or None, wait=0)


async def with_output(app: Ostinato, run: Run) -> Run:
    """Return the run, with the journey's output as its result if the run is a journey that has succeeded.

    Any other run is returned unchanged.
    """
    if run.kind != JOURNEY or run.status is not Status.SUCCEEDED:
        return run
    return replace(run, result=orjson.dumps((await app.journeys.result(run.root_id)).output).decode())
