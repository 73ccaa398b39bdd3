"""Find executions by a query, the newest first, and count executions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from temporalio.api.enums.v1 import WorkflowExecutionStatus

from ostinato.engine.rows import whole_run
from ostinato.engine.run_queries import list_runs
from ostinato.faces.temporal.attributes import attribute_value
from ostinato.faces.temporal.calls import TemporalCall
from ostinato.faces.temporal.definitions import scheduled_by, status_of
from ostinato.faces.temporal.executions import Execution, executions_of, find_all, is_execution
from ostinato.faces.temporal.payloads import value_of
from ostinato.faces.temporal.queries import Query
from ostinato.store.contract import Operation, Row
from ostinato.temporal_workflow_ids.store import statement

_SCAN = 500
STATUS_NAMES: dict[int, str] = {
    number: "".join(word.capitalize() for word in name.removeprefix("WORKFLOW_EXECUTION_STATUS_").split("_"))
    for name, number in WorkflowExecutionStatus.items()
}


def count_all(namespace: str) -> Operation[list[Row]]:
    """Count the executions of a namespace by status. Each row is a status and a count."""
    return (yield statement("count_temporal_executions", namespace=namespace))


async def find_executions(
    call: TemporalCall, query: Query, types: Mapping[str, str], before: str | None
) -> AsyncIterator[Execution]:
    """Yield the executions that match `query` and that the caller may see, the newest first.

    `before` is None for the first page. For a later page, `before` is the position of the last execution on the
    previous page, as `position_of` returns it. The page then begins with the next older execution.
    """
    app = call.app
    workflow_id = query.exactly.get("WorkflowId")
    if workflow_id is not None:
        executions = await app.store.read(lambda _: find_all(app.namespace, workflow_id))
        for execution in await _visible(call, executions):
            if (before is None or position_of(execution, query) < before) and query(values_of(execution, types)):
                yield execution
        return
    while True:

        def page(_: int, before: str | None = before) -> Operation[tuple[list[Execution], str | None]]:
            name = query.exactly.get("WorkflowType")
            rows = yield from list_runs(app.namespace, name=name, before=before, limit=_SCAN)
            runs = [whole_run(row) for row in rows]
            executions = yield from executions_of([run for run in runs if is_execution(run)])
            return executions, runs[-1].id if len(runs) == _SCAN else None

        executions, before = await app.store.read(page)
        for execution in await _visible(call, executions):
            if query(values_of(execution, types)):
                yield execution
        if before is None:
            return


def position_of(execution: Execution, query: Query) -> str:
    """Return the id by which `find_executions` sorts `execution` among the results of `query`.

    - If `query` asks for one workflow id, this is the id of the execution's first attempt.
    - Otherwise it is the id of the execution's newest attempt.
    """
    return execution.run.id if query.exactly.get("WorkflowId") is None else execution.run_id


async def _visible(call: TemporalCall, executions: Sequence[Execution]) -> list[Execution]:
    """Return the executions that no read guard hides from the caller."""
    hidden = await call.find_hidden_runs(execution.run for execution in executions)
    return [execution for execution in executions if execution.run_id not in hidden]


def values_of(execution: Execution, types: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a function that gets the name of an attribute and returns the value that `execution` has for it. A `Query`
    calls the function to test the execution. `types` is a dict from search attribute to type."""
    first, run = execution.first, execution.run

    def value(name: str) -> Any:
        match name:
            case "WorkflowId":
                return execution.id
            case "RunId":
                return execution.run_id
            case "WorkflowType":
                return run.name
            case "TaskQueue":
                return run.queue
            case "ExecutionStatus":
                return STATUS_NAMES[status_of(run)]
            case "StartTime":
                return first.created
            case "ExecutionTime":
                return max(first.due, first.created)
            case "CloseTime":
                return run.finished if execution.over else None
            case "ExecutionDuration":
                return (run.finished - first.created) * 1000 if execution.over and run.finished is not None else None
            case "TemporalScheduledById" | "TemporalScheduledStartTime":
                return scheduled_by(run).get(name)
            case _:
                return attribute_value(_started_with(execution, name), name, types)

    return value


def _started_with(execution: Execution, name: str) -> dict[str, Any]:
    """Return `{name: value}` if the execution was started with the search attribute `name`. Otherwise return {}."""
    form = execution.form
    if form is None or name not in form.search_attributes.indexed_fields:
        return {}
    # The value is JSON, because it was checked at the start of the execution.
    return {name: value_of(form.search_attributes.indexed_fields[name], name)}
