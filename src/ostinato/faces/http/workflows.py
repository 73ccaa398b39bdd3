"""Answer the HTTP calls that watch workflows, control them and resolve their problems.

Workflows are code, so they cannot be deployed here.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from ostinato.engine.access import Role
from ostinato.faces.http.authentication import Operator, Reader, requires
from ostinato.faces.http.idempotency import Key
from ostinato.faces.http.pagination import After, Before, Limit, list_after, list_before
from ostinato.faces.http.routing import SVG, HttpAnswer, Path, Query, Router, svg_answer
from ostinato.faces.http.shapes.common import NO_NUL, EmptyBody
from ostinato.faces.http.shapes.workflows import (
    HandlerRunShown,
    HandlerRunsShown,
    InputShown,
    InputsShown,
    OutputShown,
    OutputsShown,
    Resolve,
    RunDetailShown,
    SkipEvent,
    WorkflowEventShown,
    WorkflowEventsShown,
    WorkflowGlance,
    WorkflowShown,
    WorkflowsShown,
)

router = Router(tags=["workflows"])
READ, WRITE = requires(Role.READER), requires(Role.OPERATOR)
Name = Annotated[str, Path(min_length=1, max_length=200, pattern=NO_NUL)]
Id = Annotated[str, Path(min_length=1, max_length=64, pattern=NO_NUL)]
Topic = Annotated[str | None, Query(max_length=200, pattern=NO_NUL, description="Events of this topic.")]
Handler = Annotated[
    str | None, Query(max_length=200, pattern=NO_NUL, description="Attempts of this producer or consumer.")
]


@router.get("/workflows", **READ)
async def list_workflows(who: Reader, after: After = None, limit: Limit = 100) -> WorkflowsShown:
    """List the workflows of the namespace, ordered by name."""
    workflows = await who.app.workflows.list(after=after or "", limit=limit)
    more = workflows[-1].name if len(workflows) == limit else None
    return WorkflowsShown(items=[WorkflowGlance.model_validate(one) for one in workflows], next=more)


@router.get("/workflows/{name}", **READ)
async def read_workflow(
    who: Reader,
    name: Name,
    recent: Annotated[int, Query(ge=0, le=100, description="How many lines of activity to show.")] = 5,
) -> WorkflowShown:
    """Read a workflow: its status, its timing, its inputs, and its latest activity."""
    return WorkflowShown.model_validate(await who.app.workflows.get(name, recent=recent))


@router.get("/workflows/{name}/diagram.svg", **SVG, **READ)
async def draw_workflow(who: Reader, name: Name) -> HttpAnswer:
    """Draw the producers, topics and consumers of a workflow, with pending events and the active run."""
    return svg_answer(await who.app.workflows.draw(name))


@router.get("/workflows/{name}/runs", response_model=HandlerRunsShown, **READ)
async def list_handler_runs(
    who: Reader, name: Name, handler: Handler = None, before: Before = None, limit: Limit = 100
) -> HttpAnswer:
    """List the attempts of a workflow's handlers, the newest first."""
    fetch = partial(who.app.workflows.runs, name, handler=handler)
    return await list_before(who, before, limit, fetch, lambda run: run.id, HandlerRunShown.model_validate)


@router.get("/workflows/{name}/runs/{id}", **READ)
async def read_handler_run(who: Reader, name: Name, id: Id) -> RunDetailShown:
    """Read a run with all its attempts, the events that it reserved, and its effect."""
    return RunDetailShown.model_validate(await who.app.workflows.run(name, id))


@router.get("/workflows/{name}/events", response_model=WorkflowEventsShown, **READ)
async def list_workflow_events(
    who: Reader,
    name: Name,
    topic: Topic = None,
    status: Literal["pending", "reserved", "consumed", "skipped"] | None = None,
    after: After = None,
    limit: Limit = 100,
) -> HttpAnswer:
    """List the events of a workflow's topics, the oldest first."""
    fetch = partial(who.app.workflows.events, name, topic=topic, status=status)
    return await list_after(who, after, limit, fetch, lambda event: event.id, WorkflowEventShown.model_validate)


@router.get("/workflows/{name}/inputs", response_model=InputsShown, **READ)
async def list_inputs(
    who: Reader,
    name: Name,
    status: Literal["pending", "done", "skipped"] | None = None,
    before: Before = None,
    limit: Limit = 100,
) -> HttpAnswer:
    """List the inputs of a workflow and their results, the newest first."""
    fetch = partial(who.app.workflows.inputs, name, status=status)
    return await list_before(who, before, limit, fetch, lambda input: input.id, InputShown.model_validate)


@router.get("/workflows/{name}/outputs", response_model=OutputsShown, **READ)
async def list_outputs(
    who: Reader,
    name: Name,
    status: Literal["applied", "unconfirmed"] | None = None,
    before: Before = None,
    limit: Limit = 100,
) -> HttpAnswer:
    """List the effects of a workflow on other systems, the newest first, with the inputs that caused each."""
    fetch = partial(who.app.workflows.outputs, name, status=status)
    return await list_before(who, before, limit, fetch, lambda output: output.id, OutputShown.model_validate)


@router.post("/workflows/{name}/pause", **WRITE)
async def pause_workflow(who: Operator, name: Name, body: EmptyBody, key: Key = None) -> WorkflowGlance:
    """Pause a workflow: start no more runs. A run that is under way completes."""
    return WorkflowGlance.model_validate(await who.app.workflows.pause(name, request_id=key))


@router.post("/workflows/{name}/resume", **WRITE)
async def resume_workflow(who: Operator, name: Name, body: EmptyBody, key: Key = None) -> WorkflowGlance:
    """Resume a paused workflow."""
    return WorkflowGlance.model_validate(await who.app.workflows.resume(name, request_id=key))


@router.post("/workflows/{name}/stop", **WRITE)
async def stop_workflow(who: Operator, name: Name, body: EmptyBody, key: Key = None) -> WorkflowGlance:
    """Stop a workflow for good. Its records stay."""
    return WorkflowGlance.model_validate(await who.app.workflows.stop(name, request_id=key))


@router.post("/workflows/{name}/run-now", **WRITE)
async def run_workflow_now(who: Operator, name: Name, body: EmptyBody, key: Key = None) -> WorkflowGlance:
    """Run all producers of a workflow now. Fails with a conflict if a run is under way or the workflow is blocked."""
    return WorkflowGlance.model_validate(await who.app.workflows.run_now(name, request_id=key))


@router.post("/workflows/{name}/resolve", **WRITE)
async def resolve_workflow(who: Operator, name: Name, body: Resolve, key: Key = None) -> WorkflowGlance:
    """Resolve the problem that blocks a workflow, by one of the workflow's `choices`."""
    info = await who.app.workflows.resolve(name, body.choice, run_id=body.run_id, request_id=key)
    return WorkflowGlance.model_validate(info)


@router.post("/workflows/{name}/events/skip", **WRITE)
async def skip_workflow_event(who: Operator, name: Name, body: SkipEvent, key: Key = None) -> WorkflowGlance:
    """Skip an event that is not consumed yet."""
    info = await who.app.workflows.skip_event(name, body.topic, body.message_id, request_id=key)
    return WorkflowGlance.model_validate(info)


@router.post("/workflows/{name}/inputs/{id}/skip", **WRITE)
async def skip_workflow_input(who: Operator, name: Name, id: Id, body: EmptyBody, key: Key = None) -> WorkflowGlance:
    """Skip an input: skip all its events, including those that arrive later."""
    return WorkflowGlance.model_validate(await who.app.workflows.skip_input(name, id, request_id=key))
