"""Answer Temporal's calls about workflow executions. In Ostinato, an execution is a run with its retries."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
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
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.query.v1 import QueryRejected
from temporalio.api.workflow.v1 import NewWorkflowExecutionInfo
from temporalio.api.workflowservice.v1 import (
    CountWorkflowExecutionsResponse,
    DescribeWorkflowExecutionResponse,
    GetWorkflowExecutionHistoryResponse,
    GetWorkflowExecutionHistoryReverseResponse,
    ListWorkflowExecutionsResponse,
    QueryWorkflowResponse,
    RequestCancelWorkflowExecutionResponse,
    SignalWithStartWorkflowExecutionResponse,
    SignalWorkflowExecutionResponse,
    StartWorkflowExecutionResponse,
    TerminateWorkflowExecutionResponse,
)

from ostinato.app import Ostinato
from ostinato.engine.access import Role
from ostinato.errors import NotFound
from ostinato.faces.temporal.actions import TemporalStart, read_start
from ostinato.faces.temporal.attributes import OF_RUNS
from ostinato.faces.temporal.calls import ServiceCalls, TemporalCall, call, read_id, read_request_id
from ostinato.faces.temporal.definitions import STATUSES, status_of
from ostinato.faces.temporal.errors import Absent, Wrong
from ostinato.faces.temporal.executions import (
    OVER,
    Execution,
    ExecutionTarget,
    StartRequest,
    not_found,
    read_execution,
    start_by_id,
    stop_by_id,
    takes_no_signals,
)
from ostinato.faces.temporal.functions import (
    answer_query,
    is_rejected,
    make_message,
    message_id,
    read_function_history,
    read_record,
)
from ostinato.faces.temporal.histories import (
    write_config,
    write_description,
    write_extended,
    write_history,
    write_pending,
)
from ostinato.faces.temporal.journeys import prepare_journey, send_signal
from ostinato.faces.temporal.listing import STATUS_NAMES, count_all, find_executions, position_of
from ostinato.faces.temporal.pages import Page
from ostinato.faces.temporal.payloads import pack, payload_of, values_of
from ostinato.faces.temporal.queries import read_query
from ostinato.faces.temporal.schedules import digest_of, read_page_size
from ostinato.faces.temporal.times import read_length
from ostinato.faces.temporal.workflow_types import WorkflowType, find_type
from ostinato.functions.errors import FunctionOver
from ostinato.functions.model import KIND as FUNCTION
from ostinato.functions.model import Message
from ostinato.journeys.rows import KIND as JOURNEY
from ostinato.journeys.runtime.submit import StepNotActive
from ostinato.model import Run, Status, Timer
from ostinato.when.instants import SECOND, Micros, to_datetime

_LONGEST_WAIT = 20.0  # seconds that a call waits for the end of an execution
_PAGE_BYTES = 2 << 20  # bytes of events in one answer
_CLOSE = HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT


class RunCalls(ServiceCalls):
    @call(Role.OPERATOR)
    async def StartWorkflowExecution(self, request: Any, call: TemporalCall) -> StartWorkflowExecutionResponse:
        workflow_type = await find_type(call.app, request.workflow_type.name)
        run_id, new = await _start(call, request, workflow_type, request.workflow_id_conflict_policy)
        return StartWorkflowExecutionResponse(
            run_id=run_id,
            first_execution_run_id=run_id,
            started=new,
            status=WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING,
        )

    @call(Role.OPERATOR)
    async def SignalWithStartWorkflowExecution(
        self, request: Any, call: TemporalCall
    ) -> SignalWithStartWorkflowExecutionResponse:
        """Send a signal to the running execution that has the workflow id. If there is none, start the function, and
        send the signal to the new execution. The policies in the request may instead require that a running execution
        is terminated before the start, or may forbid the start.

        Raises `Absent` if the workflow type is not a function.
        """
        workflow_type = await find_type(call.app, request.workflow_type.name)
        if workflow_type.kind != FUNCTION:
            raise Absent(
                f"workflow type {workflow_type.name!r} is not a function, and only functions take a signal with their "
                "start; nothing was started"
            )
        read_id(request.signal_name, "signal_name")
        request_id = read_request_id(request.request_id)
        message = make_message(call.app, request.signal_name, request.signal_input, request_id, "signal_input")
        conflict = _conflict_of_signal(request)
        run_id, new = await _start(call, request, workflow_type, conflict, message)
        return SignalWithStartWorkflowExecutionResponse(run_id=run_id, first_execution_run_id=run_id, started=new)

    @call(Role.READER)
    async def DescribeWorkflowExecution(self, request: Any, call: TemporalCall) -> DescribeWorkflowExecutionResponse:
        execution = await _read_visible(call, request.execution)
        history = await read_function_history(call.app, execution)
        return DescribeWorkflowExecutionResponse(
            execution_config=write_config(execution),
            workflow_execution_info=write_description(execution, await call.attribute_types(), history),
            pending_activities=write_pending(execution, await _waits_for(call, execution)),
            workflow_extended_info=write_extended(execution, history),
        )

    @call(Role.READER)
    async def QueryWorkflow(self, request: Any, call: TemporalCall) -> QueryWorkflowResponse:
        """Answer a query from the state that a function has set (`ctx.set_state`), even if the function has ended."""
        query = read_id(request.query.query_type, "query.query_type")
        execution = await _read_visible(call, request.execution)
        run = execution.run
        if run.kind != FUNCTION:
            raise Absent(
                f"workflow type {run.name!r} is a {run.kind}, and a {run.kind} takes no queries; look at its "
                "description, or its progress through the HTTP API"
            )
        if is_rejected(execution, request.query_reject_condition):
            return QueryWorkflowResponse(query_rejected=QueryRejected(status=status_of(run)))  # type: ignore[arg-type]
        value = answer_query(execution, await read_record(call.app, execution), query)
        answer = QueryWorkflowResponse()
        answer.query_result.payloads.append(payload_of(value))
        return answer

    @call(Role.READER)
    async def GetWorkflowExecutionHistory(
        self, request: Any, call: TemporalCall
    ) -> GetWorkflowExecutionHistoryResponse:
        """Return a page of the events of an execution, the oldest first. If the request asks only for the end event,
        the page has only this event, or no event while the execution is running. If more events follow, the response
        has a token with which the client gets the next page.

        The field `wait_new_event` of the request has an effect only while the execution is running:

        - A request for the first page is answered at once, with only the start event and a token for the next page.
        - A request for a later page waits until the execution ends, but not longer than `_LONGEST_WAIT` seconds.
        - A request that asks only for the end event waits in the same way, even if it is the first request.
        - If the execution is still running after the wait, the response has no event. It has a token with which the
          client can wait again.
        """
        page = Page("history", call.app.namespace)
        run_id, seen = _read_cursor(page.read(request.next_page_token))
        execution = await _read_visible(call, request.execution, run_id)
        only_end = request.history_event_filter_type == _CLOSE
        if request.wait_new_event and not execution.over and (only_end or request.next_page_token):
            await _wait_for_end(call, execution)
            execution = await read_execution(call.app, execution.id, execution.run_id)
        waits = request.wait_new_event and not execution.over
        events = await _read_history(call, execution, whole=not waits)
        if only_end:
            events, seen = events[-1:] if execution.over else [], 0
        answer = GetWorkflowExecutionHistoryResponse()
        answer.history.events.extend(_one_page(events[seen:], request.maximum_page_size))
        seen += len(answer.history.events)
        if seen < len(events) or waits:
            # The token has the run id, because another run may take the workflow id by then.
            answer.next_page_token = page.write(f"{execution.run_id} {seen}")
        return answer

    @call(Role.READER)
    async def GetWorkflowExecutionHistoryReverse(
        self, request: Any, call: TemporalCall
    ) -> GetWorkflowExecutionHistoryReverseResponse:
        page = Page("reverse history", call.app.namespace)
        run_id, seen = _read_cursor(page.read(request.next_page_token))
        execution = await _read_visible(call, request.execution, run_id)
        events = (await _read_history(call, execution))[::-1]
        answer = GetWorkflowExecutionHistoryReverseResponse()
        answer.history.events.extend(_one_page(events[seen:], request.maximum_page_size))
        seen += len(answer.history.events)
        if seen < len(events):
            answer.next_page_token = page.write(f"{execution.run_id} {seen}")
        return answer

    @call(Role.OPERATOR)
    async def RequestCancelWorkflowExecution(
        self, request: Any, call: TemporalCall
    ) -> RequestCancelWorkflowExecutionResponse:
        request_id = read_request_id(request.request_id)
        await stop_by_id(call.app, _read_target(request), Status.CANCELLED, request.reason, request_id)
        return RequestCancelWorkflowExecutionResponse()

    @call(Role.OPERATOR)
    async def TerminateWorkflowExecution(self, request: Any, call: TemporalCall) -> TerminateWorkflowExecutionResponse:
        details = pack(request.details) if request.details.payloads else None
        await stop_by_id(call.app, _read_target(request), Status.TERMINATED, request.reason, details=details)
        return TerminateWorkflowExecutionResponse()

    @call(Role.OPERATOR)
    async def SignalWorkflowExecution(self, request: Any, call: TemporalCall) -> Any:
        read_id(request.signal_name, "signal_name")
        request_id = read_request_id(request.request_id)
        ids = request.workflow_execution
        workflow_id = read_id(ids.workflow_id, "workflow_execution.workflow_id")
        execution = await read_execution(call.app, workflow_id, ids.run_id)
        # A signal with a request id may be a retry of the signal that ended the execution.
        if execution.over and request_id is None:
            raise NotFound(OVER)
        if execution.run.kind == JOURNEY:
            try:
                await send_signal(call, execution.run, request)
            except StepNotActive:
                if execution.over:
                    raise NotFound(OVER) from None
                raise
            return SignalWorkflowExecutionResponse()
        if execution.run.kind == FUNCTION:
            await _send_message(call, execution, request, request_id)
            return SignalWorkflowExecutionResponse()
        if execution.over:
            raise NotFound(OVER)
        raise takes_no_signals(execution.run, request.signal_name)

    @call(Role.READER)
    async def ListWorkflowExecutions(self, request: Any, call: TemporalCall) -> ListWorkflowExecutionsResponse:
        types = await call.attribute_types()
        query = read_query(request.query, {**OF_RUNS, **types})
        size = read_page_size(request.page_size, "page_size")
        answer = ListWorkflowExecutionsResponse()
        last, page = "", Page("workflows", call.app.namespace, request.query)
        async for execution in find_executions(call, query, types, page.read(request.next_page_token) or None):
            if len(answer.executions) == size:
                answer.next_page_token = page.write(last)
                break
            answer.executions.append(write_description(execution, types))
            last = position_of(execution, query)
        return answer

    @call(Role.READER)
    async def CountWorkflowExecutions(self, request: Any, call: TemporalCall) -> CountWorkflowExecutionsResponse:
        types = await call.attribute_types()
        query = read_query(request.query, {**OF_RUNS, **types}, grouping=True)
        counts: dict[int, int] = {}
        if query.names:
            async for execution in find_executions(call, query, types, None):
                status = status_of(execution.run)
                counts[status] = counts.get(status, 0) + 1
        else:
            running = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING
            for run_status, count in await call.app.store.read(lambda _: count_all(call.app.namespace)):
                status = STATUSES.get(Status(run_status), running)
                counts[status] = counts.get(status, 0) + int(count)
        answer = CountWorkflowExecutionsResponse(count=sum(counts.values()))
        if query.group is not None:
            for status, count in sorted(counts.items()):
                group = answer.groups.add(count=count)
                group.group_values.append(payload_of(STATUS_NAMES[status]))
                group.group_values[0].metadata["type"] = b"Keyword"
        return answer


async def _start(
    call: TemporalCall, request: Any, workflow_type: WorkflowType, conflict: int, message: Message | None = None
) -> tuple[str, bool]:
    """Start an execution. Return the execution's run id, and whether the execution is new. If `message` is not None,
    send it to the execution."""
    app = call.app
    for name, enum in (
        ("workflow_id_reuse_policy", WorkflowIdReusePolicy),
        ("workflow_id_conflict_policy", WorkflowIdConflictPolicy),
    ):
        if getattr(request, name) not in enum.values():
            raise Wrong(name, f"{getattr(request, name)} is not one of the policies")
    terminates = WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_TERMINATE_IF_RUNNING
    if request.workflow_id_reuse_policy == terminates and request.workflow_id_conflict_policy:
        raise Wrong("workflow_id_conflict_policy", "cannot be set together with the reuse policy TERMINATE_IF_RUNNING")
    start = read_start(request, workflow_type, await call.attribute_types(), "")
    at = _read_delay(request.workflow_start_delay, app.engine.clock.now())
    run, deadline = await _prepare(app, start, at)
    start_request = StartRequest(
        workflow_id=request.workflow_id,
        request_id=read_request_id(request.request_id) or secrets.token_hex(16),
        summary=f"{'start' if message is None else 'signal and start'} workflow {digest_of(request)}",
        reuse=request.workflow_id_reuse_policy,
        conflict=conflict,
        form=pack(_make_form(request)),
    )
    return await start_by_id(app, start_request, run, deadline, message)


async def _prepare(app: Ostinato, start: TemporalStart, at: datetime | None) -> tuple[Run, Timer | None]:
    """Return the run that `start` describes, and the timer for the run's deadline. The timer is None if the run needs
    none. Nothing is stored."""
    if start.kind == FUNCTION:
        return await app.functions.prepare(start.name, start.input, at=at, **start.options)
    journey = await prepare_journey(app, start, at)
    return (journey, None) if journey is not None else app.prepare(start.name, start.input, at=at, **start.options)


def _conflict_of_signal(request: Any) -> int:
    """Return the conflict policy for a SignalWithStart request.

    - If the request has the conflict policy FAIL, raise `Wrong`, because SignalWithStart does not allow FAIL.
    - If the request has another conflict policy, return that policy.
    - If the request has no conflict policy, and its reuse policy is TERMINATE_IF_RUNNING, return 0 ("unspecified").
      Then the reuse policy decides.
    - Otherwise return USE_EXISTING: the signal goes to the running execution.
    """
    policies = WorkflowIdConflictPolicy
    if request.workflow_id_conflict_policy == policies.WORKFLOW_ID_CONFLICT_POLICY_FAIL:
        raise Wrong("workflow_id_conflict_policy", "FAIL is not possible for a signal with start")
    terminates = WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_TERMINATE_IF_RUNNING
    if request.workflow_id_conflict_policy or request.workflow_id_reuse_policy == terminates:
        return int(request.workflow_id_conflict_policy)
    return policies.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING


async def _send_message(call: TemporalCall, execution: Execution, request: Any, request_id: str | None) -> None:
    """Send a signal to a function. Raises `NotFound` if the function has ended."""
    payload = values_of(request.input, "input")
    try:
        await call.app.functions.send(execution.run.id, request.signal_name, payload, id=message_id(request_id))
    except FunctionOver:
        raise NotFound(OVER) from None


async def _read_history(call: TemporalCall, execution: Execution, *, whole: bool = True) -> list[HistoryEvent]:
    """Return the events of an execution. If `whole` is false, return only the events of its start and its end."""
    history = await read_function_history(call.app, execution) if whole else None
    return write_history(execution, await call.attribute_types(), history)


def _one_page(events: Sequence[HistoryEvent], most: int) -> list[HistoryEvent]:
    """Return the first events, as many as fit on a page: at most `most`, and at most `_PAGE_BYTES` bytes. The first
    event is on the page even if it alone is larger."""
    page: list[HistoryEvent] = []
    size = 0
    for event in events[: read_page_size(most, "maximum_page_size")]:
        size += event.ByteSize()
        if page and size > _PAGE_BYTES:
            break
        page.append(event)
    return page


def _read_cursor(cursor: str) -> tuple[str, int]:
    """Return the two parts of a cursor: a run id, and the number of events on the previous pages."""
    run_id, _, seen = cursor.partition(" ")
    return run_id, int(seen) if seen.isdecimal() else int(bool(run_id))


def _read_delay(delay: Duration, now: Micros) -> datetime | None:
    """Return when a run with this delay is due, or None if there is no delay. Raises `Wrong` if the delay is invalid,
    or if the run would be due after the year 9999."""
    length = read_length(delay, "workflow_start_delay")
    try:
        return to_datetime(now + length) if length else None
    except OverflowError:
        raise Wrong("workflow_start_delay", f"{length // SECOND:,} s from now is after the year 9999") from None


def _make_form(request: Any) -> NewWorkflowExecutionInfo:
    """Return the start request as a `NewWorkflowExecutionInfo`, which is stored with the run."""
    form = NewWorkflowExecutionInfo()
    request_fields = request.DESCRIPTOR.fields_by_name
    for field in form.DESCRIPTOR.fields:
        if field.name not in request_fields:
            continue
        value = getattr(request, field.name)
        if field.message_type is None:
            setattr(form, field.name, value)
        elif request.HasField(field.name):
            getattr(form, field.name).CopyFrom(value)
    return form


async def _waits_for(call: TemporalCall, execution: Execution) -> str:
    """Return the reason why the execution waits. If its run is ready, but no node serves the queue of the run, return a
    text that says so. Otherwise return the reason that is stored with the run, or "" if none is stored."""
    run = execution.run
    if run.status is Status.READY and not any(run.queue in node.queues for node in await call.app.nodes()):
        return f"no node serves the queue {run.queue!r}; serve it with --queue {run.queue}"
    return run.reason or ""


async def _read_visible(call: TemporalCall, ids: Any, run_id: str = "") -> Execution:
    """Return the execution with these ids. Raises `NotFound` if there is none, or if a read guard hides it."""
    workflow_id = read_id(ids.workflow_id, "execution.workflow_id")
    execution = await read_execution(call.app, workflow_id, ids.run_id or run_id)
    if await call.find_hidden_runs([execution.run]):
        raise not_found(workflow_id, ids.run_id or run_id)
    return execution


def _read_target(request: Any) -> ExecutionTarget:
    ids = request.workflow_execution
    workflow_id = read_id(ids.workflow_id, "workflow_execution.workflow_id")
    return ExecutionTarget(workflow_id, ids.run_id, request.first_execution_run_id)


async def _wait_for_end(call: TemporalCall, execution: Execution) -> None:
    """Wait until the execution ends or the server stops, but no longer than `_LONGEST_WAIT` and the call's deadline."""
    waiting = asyncio.ensure_future(call.app.engine.waiters.wait(execution.run_id))
    stopping = asyncio.ensure_future(call.wire.closing.wait())
    try:
        longest = call.limit_wait(_LONGEST_WAIT)
        await asyncio.wait((waiting, stopping), timeout=longest, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        stopping.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(waiting, stopping, return_exceptions=True)
