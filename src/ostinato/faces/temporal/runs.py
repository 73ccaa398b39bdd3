"""The calls about runs: Temporal's workflow executions."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from datetime import datetime
from typing import Any

from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import (
    HistoryEventFilterType,
    WorkflowExecutionStatus,
    WorkflowIdConflictPolicy,
    WorkflowIdReusePolicy,
)
from temporalio.api.workflow.v1 import NewWorkflowExecutionInfo
from temporalio.api.workflowservice.v1 import (
    CountWorkflowExecutionsResponse,
    DescribeWorkflowExecutionResponse,
    GetWorkflowExecutionHistoryResponse,
    GetWorkflowExecutionHistoryReverseResponse,
    ListWorkflowExecutionsResponse,
    RequestCancelWorkflowExecutionResponse,
    SignalWorkflowExecutionResponse,
    StartWorkflowExecutionResponse,
    TerminateWorkflowExecutionResponse,
)

from ostinato.engine.access import Role
from ostinato.engine.listeners import wait_for_event
from ostinato.errors import Conflict, NotFound
from ostinato.faces.temporal.actions import read_start
from ostinato.faces.temporal.attributes import OF_RUNS
from ostinato.faces.temporal.calls import Call, Calls, call, read_id, read_request_id
from ostinato.faces.temporal.definitions import STATUSES, status_of
from ostinato.faces.temporal.errors import Wrong
from ostinato.faces.temporal.histories import closed, configure, describe, extend, history, pending
from ostinato.faces.temporal.journeys import journey_start, signal
from ostinato.faces.temporal.listing import NAMES, count_all, matching
from ostinato.faces.temporal.pages import Page
from ostinato.faces.temporal.payloads import pack, payload_of
from ostinato.faces.temporal.queries import read_query
from ostinato.faces.temporal.schedules import asked_by, read_page_size
from ostinato.faces.temporal.times import read_length
from ostinato.faces.temporal.workflows import OVER, Asked, Meant, Workflow, look, not_found, start_by_id, stop_by_id
from ostinato.journeys.steps import StepNotActive
from ostinato.model import Status
from ostinato.schedules.making import JOURNEY
from ostinato.when.instants import SECOND, Micros, to_datetime

_PATIENCE = 20.0  # seconds until a call that waits for an end is answered without one
_CLOSE = HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT


class RunCalls(Calls):
    @call(Role.OPERATOR)
    async def StartWorkflowExecution(self, request: Any, call: Call) -> StartWorkflowExecutionResponse:
        app = call.app
        for name, enum in (
            ("workflow_id_reuse_policy", WorkflowIdReusePolicy),
            ("workflow_id_conflict_policy", WorkflowIdConflictPolicy),
        ):
            if getattr(request, name) not in enum.values():
                raise Wrong(name, f"{getattr(request, name)} is not one of the policies")
        _check_policies(request)
        found = read_start(request, app.engine.known, await call.attributes(), "")
        at = _begins(request.workflow_start_delay, app.engine.clock.now())
        journey = await journey_start(app, found, at)
        if journey is not None:
            run, deadline = journey, None
        else:
            run, deadline = app.prepare(found.job, found.input, at=at, **found.options)
        asked = Asked(
            workflow_id=request.workflow_id,
            request=read_request_id(request.request_id) or secrets.token_hex(16),
            what=f"start workflow {asked_by(request)}",
            reuse=request.workflow_id_reuse_policy,
            conflict=request.workflow_id_conflict_policy,
            form=pack(_form(request)),
        )
        run_id, new = await start_by_id(app, asked, run, deadline)
        return StartWorkflowExecutionResponse(
            run_id=run_id,
            first_execution_run_id=run_id,
            started=new,
            status=WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING,
        )

    @call(Role.READER)
    async def DescribeWorkflowExecution(self, request: Any, call: Call) -> DescribeWorkflowExecutionResponse:
        workflow = await _named(call, request.execution)
        return DescribeWorkflowExecutionResponse(
            execution_config=configure(workflow),
            workflow_execution_info=describe(workflow, await call.attributes()),
            pending_activities=pending(workflow, await _waits_for(call, workflow)),
            workflow_extended_info=extend(workflow),
        )

    @call(Role.READER)
    async def GetWorkflowExecutionHistory(self, request: Any, call: Call) -> GetWorkflowExecutionHistoryResponse:
        """With `wait_new_event`, answered when there is an end, or after a while without one, to be asked again."""
        page = Page("history", call.app.namespace)
        workflow = await _named(call, request.execution, page.read(request.next_page_token))
        waits = request.wait_new_event and not workflow.over
        if waits and (request.history_event_filter_type == _CLOSE or request.next_page_token):
            await _until_over(call, workflow)
            workflow = await look(call.app, workflow.id, workflow.run_id)
        answer = GetWorkflowExecutionHistoryResponse()
        if request.history_event_filter_type == _CLOSE:
            answer.history.events.extend([closed(workflow)] if workflow.over else [])
        else:
            events = history(workflow, await call.attributes())
            answer.history.events.extend(events[1:] if request.next_page_token else events)
        if request.wait_new_event and not workflow.over:
            answer.next_page_token = page.write(workflow.run_id)  # also if another has taken its id by then
        return answer

    @call(Role.READER)
    async def GetWorkflowExecutionHistoryReverse(
        self, request: Any, call: Call
    ) -> GetWorkflowExecutionHistoryReverseResponse:
        workflow = await _named(call, request.execution)
        answer = GetWorkflowExecutionHistoryReverseResponse()
        answer.history.events.extend(reversed(history(workflow, await call.attributes())))
        return answer

    @call(Role.OPERATOR)
    async def RequestCancelWorkflowExecution(self, request: Any, call: Call) -> RequestCancelWorkflowExecutionResponse:
        request_id = read_request_id(request.request_id)
        await stop_by_id(call.app, _meant(request), Status.CANCELLED, request.reason, request_id)
        return RequestCancelWorkflowExecutionResponse()

    @call(Role.OPERATOR)
    async def TerminateWorkflowExecution(self, request: Any, call: Call) -> TerminateWorkflowExecutionResponse:
        details = pack(request.details) if request.details.payloads else None
        await stop_by_id(call.app, _meant(request), Status.TERMINATED, request.reason, details=details)
        return TerminateWorkflowExecutionResponse()

    @call(Role.OPERATOR)
    async def SignalWorkflowExecution(self, request: Any, call: Call) -> Any:
        read_id(request.signal_name, "signal_name")
        request_id = read_request_id(request.request_id)
        # By its id a signal that was taken is known, also when the journey is over by it.
        workflow = await (_going(call, request) if request_id is None else _there(call, request))
        if workflow.run.kind == JOURNEY:
            try:
                await signal(call, workflow.run, request)
            except StepNotActive:
                if workflow.over:
                    raise NotFound(OVER) from None
                raise
            return SignalWorkflowExecutionResponse()
        if workflow.over:
            raise NotFound(OVER)
        raise Conflict(
            f"workflow type {workflow.run.name!r} is a job, and a job takes no signals; signal {request.signal_name!r} "
            "was not delivered"
        )

    @call(Role.READER)
    async def ListWorkflowExecutions(self, request: Any, call: Call) -> ListWorkflowExecutionsResponse:
        known = await call.attributes()
        query = read_query(request.query, {**OF_RUNS, **known})
        size = read_page_size(request.page_size, "page_size")
        answer = ListWorkflowExecutionsResponse()
        last, page = "", Page("workflows", call.app.namespace)
        async for one in matching(call, query, known, page.read(request.next_page_token) or None):
            if len(answer.executions) == size:
                answer.next_page_token = page.write(last)
                break
            answer.executions.append(describe(one, known))
            last = one.run.id
        return answer

    @call(Role.READER)
    async def CountWorkflowExecutions(self, request: Any, call: Call) -> CountWorkflowExecutionsResponse:
        known = await call.attributes()
        query = read_query(request.query, {**OF_RUNS, **known}, grouping=True)
        counts: dict[int, int] = {}
        if query.names:
            async for one in matching(call, query, known, None):
                status = status_of(one.run)
                counts[status] = counts.get(status, 0) + 1
        else:
            running = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING
            for stands, count in await call.app.store.read(lambda _: count_all(call.app.namespace)):
                status = STATUSES.get(Status(stands), running)
                counts[status] = counts.get(status, 0) + int(count)
        answer = CountWorkflowExecutionsResponse(count=sum(counts.values()))
        if query.group is not None:
            for status, count in sorted(counts.items()):
                group = answer.groups.add(count=count)
                group.group_values.append(payload_of(NAMES[status]))
                group.group_values[0].metadata["type"] = b"Keyword"
        return answer


def _begins(delay: Duration, now: Micros) -> datetime | None:
    """The moment until which a start is put off, if it is."""
    length = read_length(delay, "workflow_start_delay")
    try:
        return to_datetime(now + length) if length else None
    except OverflowError:
        raise Wrong("workflow_start_delay", f"{length // SECOND:,} s from now is after the year 9999") from None


def _check_policies(request: Any) -> None:
    terminates = WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_TERMINATE_IF_RUNNING
    if request.workflow_id_reuse_policy == terminates and request.workflow_id_conflict_policy:
        raise Wrong("workflow_id_conflict_policy", "cannot be set together with the reuse policy TERMINATE_IF_RUNNING")


def _form(request: Any) -> NewWorkflowExecutionInfo:
    """What is kept of a start: the fields that it has in common with a schedule's action."""
    found = NewWorkflowExecutionInfo()
    theirs = request.DESCRIPTOR.fields_by_name
    for field in found.DESCRIPTOR.fields:
        if field.name not in theirs:
            continue
        value = getattr(request, field.name)
        if field.message_type is None:
            setattr(found, field.name, value)
        elif request.HasField(field.name):
            getattr(found, field.name).CopyFrom(value)
    return found


async def _waits_for(call: Call, workflow: Workflow) -> str:
    """Why it waits, if it does: what it says itself, or that nobody is there to take it."""
    run = workflow.run
    if run.status is Status.READY and not any(run.queue in node.queues for node in await call.app.nodes()):
        return f"no node serves the queue {run.queue!r}; serve it with --queue {run.queue}"
    return run.reason or ""


async def _named(call: Call, execution: Any, run_id: str = "") -> Workflow:
    id = read_id(execution.workflow_id, "execution.workflow_id")
    workflow = await look(call.app, id, execution.run_id or run_id)
    if workflow.run.kind == JOURNEY and await call.hidden([workflow.run_id]):
        raise not_found(id, execution.run_id or run_id)
    return workflow


async def _going(call: Call, request: Any) -> Workflow:
    """The one that a call is about, if it is not over."""
    workflow = await _there(call, request)
    if workflow.over:
        raise NotFound(OVER)
    return workflow


async def _there(call: Call, request: Any) -> Workflow:
    """The one that a call is about."""
    execution = request.workflow_execution
    read_id(execution.workflow_id, "workflow_execution.workflow_id")
    return await look(call.app, execution.workflow_id, execution.run_id)


def _meant(request: Any) -> Meant:
    """Which run a call wants to stop."""
    execution = request.workflow_execution
    read_id(execution.workflow_id, "workflow_execution.workflow_id")
    return Meant(execution.workflow_id, execution.run_id, request.first_execution_run_id)


async def _until_over(call: Call, workflow: Workflow) -> None:
    """Until it is, the patience is at its end, or the server is about to stop."""
    waiting = asyncio.ensure_future(call.app.engine.waiters.wait(workflow.run_id))
    done = asyncio.Event()
    waiting.add_done_callback(lambda _: done.set())
    stopping = asyncio.ensure_future(call.wire.closing.wait())
    stopping.add_done_callback(lambda _: done.set())
    try:
        await wait_for_event(done, call.remaining(_PATIENCE))
    finally:
        waiting.cancel()
        stopping.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(waiting, stopping, return_exceptions=True)
