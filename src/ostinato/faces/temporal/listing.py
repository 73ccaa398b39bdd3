"""Finding runs by a query, newest first, and counting them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from temporalio.api.enums.v1 import WorkflowExecutionStatus

from ostinato.engine.listing import list_runs
from ostinato.engine.rows import whole_run
from ostinato.faces.temporal.attributes import custom
from ostinato.faces.temporal.calls import Call
from ostinato.faces.temporal.definitions import scheduled_by, status_of
from ostinato.faces.temporal.payloads import value_of
from ostinato.faces.temporal.queries import Query
from ostinato.faces.temporal.workflows import Workflow, find_all, shown, workflows_of
from ostinato.schedules.making import JOURNEY
from ostinato.store.contract import Operation, Row, sql

_SCAN = 500
NAMES: dict[int, str] = {
    number: "".join(word.capitalize() for word in name.removeprefix("WORKFLOW_EXECUTION_STATUS_").split("_"))
    for name, number in WorkflowExecutionStatus.items()
}


def count_all(namespace: str) -> Operation[list[Row]]:
    return (yield sql("count_workflows", namespace=namespace))


async def matching(call: Call, query: Query, known: Mapping[str, str], before: str | None) -> AsyncIterator[Workflow]:
    """Workflows that a query finds, newest first."""
    app = call.app
    wanted = query.exactly.get("WorkflowId")
    if wanted is not None:
        for one in await _visible(call, await app.store.read(lambda _: find_all(app.namespace, wanted))):
            if (before is None or one.run.id < before) and query(values_of(one, known)):
                yield one
        return
    while True:

        def page(_: int, before: str | None = before) -> Operation[tuple[list[Workflow], str | None]]:
            name = query.exactly.get("WorkflowType")
            rows = yield from list_runs(app.namespace, name=name, before=before, limit=_SCAN)
            runs = [whole_run(row) for row in rows]
            found = yield from workflows_of([run for run in runs if shown(run)])
            return found, runs[-1].id if len(runs) == _SCAN else None

        found, before = await app.store.read(page)
        for one in await _visible(call, found):
            if query(values_of(one, known)):
                yield one
        if before is None:
            return


async def _visible(call: Call, found: Sequence[Workflow]) -> list[Workflow]:
    """Those that no read guard hides from the caller."""
    hidden = await call.hidden(one.run_id for one in found if one.run.kind == JOURNEY)
    return [one for one in found if one.run_id not in hidden]


def values_of(workflow: Workflow, known: Mapping[str, str]) -> Callable[[str], Any]:
    """What a query sees of a run."""
    first, run = workflow.first, workflow.run

    def value(name: str) -> Any:
        match name:
            case "WorkflowId":
                return workflow.id
            case "RunId":
                return workflow.run_id
            case "WorkflowType":
                return run.name
            case "TaskQueue":
                return run.queue
            case "ExecutionStatus":
                return NAMES[status_of(run)]
            case "StartTime":
                return first.created
            case "ExecutionTime":
                return max(first.due, first.created)
            case "CloseTime":
                return run.finished if workflow.over else None
            case "ExecutionDuration":
                return (run.finished - first.created) * 1000 if workflow.over and run.finished is not None else None
            case "TemporalScheduledById" | "TemporalScheduledStartTime":
                return scheduled_by(run).get(name)
            case _:
                return custom(_own(workflow, name), name, known)

    return value


def _own(workflow: Workflow, name: str) -> dict[str, Any]:
    """The attribute it was started with; as it was checked then, it is JSON."""
    form = workflow.form
    if form is None or name not in form.search_attributes.indexed_fields:
        return {}
    return {name: value_of(form.search_attributes.indexed_fields[name], name)}
