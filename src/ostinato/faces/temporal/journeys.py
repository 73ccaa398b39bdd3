"""Let Temporal's clients use journeys.

If a workflow type is the name of a journey, and no job or function has the same name, a start of this workflow type
starts the journey. A signal to a journey submits the step with the signal's name.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson

from ostinato.app import Ostinato
from ostinato.engine.jobs import BY_POSITION
from ostinato.errors import NotFound
from ostinato.faces.temporal.actions import TemporalStart
from ostinato.faces.temporal.calls import TemporalCall
from ostinato.faces.temporal.errors import Wrong
from ostinato.faces.temporal.payloads import value_of
from ostinato.journeys.action_kind import journey_run
from ostinato.journeys.rows import KIND as JOURNEY
from ostinato.journeys.runtime.requests import read_start_request
from ostinato.model import Run, Status
from ostinato.schedules.model import ScheduleAction


async def prepare_journey(app: Ostinato, start: TemporalStart, at: datetime | None) -> Run | None:
    """Return a new run of the journey `start.name`. The run is due at `at`, or now if `at` is None. The run is not
    stored.

    Return None if no journey has this name. Also return None if a job has the same name, because the job has
    precedence. Raises `Wrong` if `start` has more than one argument. Also raises `Wrong` if the journey is an API,
    because an API is called and not started.
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
    template = journey_run(ScheduleAction(JOURNEY, stored, start.options, JOURNEY), app.namespace)
    run, _ = app.prepare(start.name, None, at=at, queue=template.queue, priority=template.priority)
    return replace(run, kind=template.kind, input=template.input)


async def send_signal(call: TemporalCall, run: Run, request: Any) -> None:
    """Submit a step of the journey `run`. The name of the signal in `request` is the name of the step.

    The step's input is the argument of the signal, or {} if the signal has no argument. Raises `Wrong` if the signal
    has more than one argument.
    """
    values = [value_of(payload, f"input[{n}]") for n, payload in enumerate(request.input.payloads)]
    if len(values) > 1:
        raise Wrong("input", f"has {len(values)} arguments; a step takes one")
    body = values[0] if values else {}
    await call.app.journeys.submit(run.root_id, request.signal_name, body, key=request.request_id or None, wait=0)


async def with_output(app: Ostinato, run: Run) -> Run:
    """Return `run` with the output of its journey. If `run` is a journey that has succeeded, return a copy whose field
    `result` is the journey's output, as JSON. Otherwise return `run` itself."""
    if run.kind != JOURNEY or run.status is not Status.SUCCEEDED:
        return run
    return replace(run, result=orjson.dumps((await app.journeys.result(run.root_id)).output).decode())
