"""Workflows by the unmodified client: starting, waiting, looking, stopping."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload, WorkflowExecution
from temporalio.api.enums.v1 import TaskQueueKind
from temporalio.api.workflow.v1 import NewWorkflowExecutionInfo
from temporalio.api.workflowservice.v1 import (
    GetWorkflowExecutionHistoryRequest,
    RequestCancelWorkflowExecutionRequest,
    SignalWithStartWorkflowExecutionRequest,
    StartWorkflowExecutionRequest,
    StartWorkflowExecutionResponse,
)
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleSpec,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowHistoryEventFilterType,
)
from temporalio.common import (
    RetryPolicy,
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import (
    ApplicationError,
    CancelledError,
    TerminatedError,
    TimeoutError,
    WorkflowAlreadyStartedError,
)
from temporalio.service import RPCStatusCode

from ostinato.faces.temporal.executions import StartRequest, start_by_id
from ostinato.faces.temporal.payloads import pack
from ostinato.store.contract import Operation
from ostinato.temporal_workflow_ids.store import statement
from ostinato.testing import World
from tests.support.wire import QUEUE, Wired, refused, register, wired

COLOUR = SearchAttributeKey.for_keyword("Colour")


def declare(world: World) -> list[Any]:
    calls: list[Any] = []

    @world.app.job()
    async def add(a: int, b: int = 10) -> int:
        calls.append((a, b))
        return a + b

    @world.app.job()
    async def order(customer: str, items: list[str]) -> dict[str, Any]:
        return {"customer": customer, "count": len(items)}

    @world.app.job()
    async def nothing() -> None: ...

    @world.app.job()
    async def broken() -> None:
        calls.append("tried")
        raise ValueError("not today")

    @world.app.job()
    async def nap(seconds: float = 600) -> str:
        await asyncio.sleep(seconds)
        return "rested"

    return calls


async def cause_of(handle: WorkflowHandle[Any, Any]) -> BaseException:
    with pytest.raises(WorkflowFailureError) as error:
        await handle.result()
    return error.value.cause


async def start(client: Client, id: str, **options: Any) -> WorkflowHandle[Any, Any]:
    return await client.start_workflow("nap", id=id, **{**QUEUE, **options})


async def test_arguments_and_results(world: World) -> None:
    calls = declare(world)
    async with wired(world) as wire:
        client = wire.client
        assert await client.execute_workflow("add", 1, id="one", **QUEUE) == 11
        assert await client.execute_workflow("add", args=[1, 2], id="two", **QUEUE) == 3
        assert await client.execute_workflow("add", {"a": 4, "b": 5}, id="by-name", **QUEUE) == 9
        result = await client.execute_workflow("order", {"customer": "x", "items": ["y"]}, id="object", **QUEUE)
        assert result == {"customer": "x", "count": 1}
        assert await client.execute_workflow("nothing", id="nothing", **QUEUE) is None
        assert calls == [(1, 10), (1, 2), (4, 5)]
        with refused(RPCStatusCode.INVALID_ARGUMENT, "input", "3 arguments were given; it takes a, b"):
            await client.execute_workflow("add", args=[1, 2, 3], id="many", **QUEUE)
        with refused(RPCStatusCode.INVALID_ARGUMENT, "input[0]", "binary/plain"):
            await client.execute_workflow("add", b"bytes", id="bytes", **QUEUE)
        with refused(RPCStatusCode.NOT_FOUND):
            await client.get_workflow_handle("many").describe()


async def test_failures_are_the_clients_own(world: World) -> None:
    calls = declare(world)
    async with wired(world) as wire:
        client = wire.client
        handle = await client.start_workflow("broken", id="broken", **QUEUE)
        cause = await cause_of(handle)
        assert isinstance(cause, ApplicationError)
        assert (cause.message, cause.type) == ("not today", "ValueError")
        assert (await handle.describe()).status is WorkflowExecutionStatus.FAILED
        retry = RetryPolicy(initial_interval=timedelta(seconds=10), maximum_attempts=3)
        again = await client.start_workflow("broken", id="again", retry_policy=retry, **QUEUE)
        await wire.settle()
        assert (await again.describe()).status is WorkflowExecutionStatus.RUNNING  # between two attempts
        await wire.advance("40s")
        assert isinstance(await cause_of(again), ApplicationError)
        assert calls == ["tried"] * 4
        timed = await start(client, "timed", run_timeout=timedelta(seconds=5))
        await wire.advance("6s")
        assert isinstance(await cause_of(timed), TimeoutError)
        late = await start(client, "late", execution_timeout=timedelta(seconds=7))
        await wire.advance("8s")
        assert isinstance(await cause_of(late), TimeoutError)


async def test_cancel_terminate_and_signal(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        client = wire.client
        handle = await start(client, "cancelled")
        await wire.settle()
        await handle.cancel(reason="enough")
        await wire.settle()
        assert isinstance(await cause_of(handle), CancelledError)
        assert (await handle.describe()).status is WorkflowExecutionStatus.CANCELED
        for call in (handle.cancel, handle.terminate):
            with refused(RPCStatusCode.NOT_FOUND, "already completed"):
                await call()
        handle = await start(client, "terminated")
        await wire.settle()
        with refused(RPCStatusCode.FAILED_PRECONDITION, "'nap' is a job, and a job takes no signals"):
            await handle.signal("wake")
        await handle.terminate(reason="at once")
        cause = await cause_of(handle)
        assert isinstance(cause, TerminatedError)
        assert cause.message == "at once"
        with refused(RPCStatusCode.NOT_FOUND, "nobody"):
            await client.get_workflow_handle("nobody").terminate()
        with refused(RPCStatusCode.UNIMPLEMENTED, "takes no queries"):
            await handle.query("state")
        request = SignalWithStartWorkflowExecutionRequest(namespace="default", workflow_id="signalled")
        with refused(RPCStatusCode.UNIMPLEMENTED, "nothing was started"):
            await client.workflow_service.signal_with_start_workflow_execution(request)
        with refused(RPCStatusCode.NOT_FOUND):
            await client.get_workflow_handle("terminated", first_execution_run_id="another").cancel()


async def test_a_cancel_that_comes_again_is_one(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        await start(wire.client, "twice")
        await wire.settle()
        request = RequestCancelWorkflowExecutionRequest(namespace="default", request_id="c")
        request.workflow_execution.workflow_id = "twice"
        for _ in range(3):
            await wire.client.workflow_service.request_cancel_workflow_execution(request)
            await wire.settle()
        request.request_id = "d"
        with refused(RPCStatusCode.NOT_FOUND, "already completed"):
            await wire.client.workflow_service.request_cancel_workflow_execution(request)


async def test_a_workflow_with_the_longest_id_is_cancelled_and_terminated(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        for letter, stop in (("c", "cancel"), ("t", "terminate")):
            handle = await start(wire.client, letter * 1000)
            await wire.settle()
            await getattr(handle, stop)()
            await wire.settle()
            assert isinstance(await cause_of(handle), CancelledError if stop == "cancel" else TerminatedError)


async def test_what_is_old_is_forgotten_by_its_id_too(world: World) -> None:
    declare(world)
    world.app.configure(keep_runs="1h")
    async with wired(world) as wire:
        await wire.client.execute_workflow("nothing", id="old", **QUEUE)
        handle = await wire.client.create_schedule(
            "old", Schedule(ScheduleActionStartWorkflow("nothing", id="n", task_queue="default"), spec=ScheduleSpec())
        )
        await handle.trigger()
        schedule_id = (await wire.app.schedules.get("old")).id
        await handle.delete()
        await wire.advance("8h")

        def left(_: int) -> Operation[list[Any]]:
            runs = yield statement("temporal_executions_by_id", namespace="default", id="old", limit=10)
            return [*runs, *(yield statement("forms_of", [(schedule_id,)]))]

        assert await wire.app.store.read(left) == []
        with refused(RPCStatusCode.NOT_FOUND):
            await wire.client.get_workflow_handle("old").describe()


async def test_what_an_id_may_be_used_for_again(world: World) -> None:
    declare(world)
    reuse, conflict = WorkflowIDReusePolicy, WorkflowIDConflictPolicy
    async with wired(world) as wire:
        client = wire.client
        first = await start(client, "id", args=[5])
        with pytest.raises(WorkflowAlreadyStartedError) as error:
            await start(client, "id")
        assert error.value.run_id == first.result_run_id
        same = await start(client, "id", id_conflict_policy=conflict.USE_EXISTING)
        assert same.result_run_id == first.result_run_id
        second = await start(client, "id", id_conflict_policy=conflict.TERMINATE_EXISTING, args=[5])
        assert second.result_run_id != first.result_run_id
        assert isinstance(await cause_of(first), TerminatedError)
        third = await start(client, "id", id_reuse_policy=reuse.TERMINATE_IF_RUNNING, args=[5])
        assert isinstance(await cause_of(second), TerminatedError)
        await wire.advance("6s")
        assert await third.result() == "rested"
        for policy in (reuse.REJECT_DUPLICATE, reuse.ALLOW_DUPLICATE_FAILED_ONLY):
            with pytest.raises(WorkflowAlreadyStartedError):
                await start(client, "id", id_reuse_policy=policy)
        fourth = await start(client, "id", args=[5])
        await fourth.terminate()
        fifth = await start(client, "id", id_reuse_policy=reuse.ALLOW_DUPLICATE_FAILED_ONLY, args=[5])
        runs = [one.run_id async for one in client.list_workflows("WorkflowId = 'id'")]
        handles = [fifth, fourth, third, second, first]
        assert runs == [one.result_run_id for one in handles]
        assert (await client.get_workflow_handle("id").describe()).run_id == fifth.result_run_id
        older = client.get_workflow_handle("id", run_id=third.result_run_id)
        assert await older.result() == "rested"


async def test_the_run_that_came_through_last_has_the_id(world: World) -> None:
    """Runs get their ids before their starts have their turn. One that was made first and came through second sorted
    before the run whose place it took: nobody could reach it, and another was started beside it."""
    declare(world)
    async with wired(world) as wire:
        app = wire.app
        run, deadline = app.prepare("nap", {"seconds": 600}, deadline="1h")
        first = await start(wire.client, "id")
        policy = int(WorkflowIDConflictPolicy.TERMINATE_EXISTING)
        request = StartRequest("id", "late", "start", 0, policy, pack(NewWorkflowExecutionInfo()))
        second, new = await start_by_id(app, request, run, deadline)
        assert new
        assert second > str(first.result_run_id) > run.id
        current = wire.client.get_workflow_handle("id")
        assert (await current.describe()).run_id == second
        with pytest.raises(WorkflowAlreadyStartedError):
            await start(wire.client, "id")
        await current.terminate()
        assert [one.status for one in await app.runs()] == ["terminated", "terminated"]
        assert [one for one in await app.upcoming() if one.kind == "run"] == []


async def test_a_cancel_is_known_by_its_id_whichever_run_has_the_workflows(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        service = wire.client.workflow_service

        async def cancel(run_id: str = "") -> None:
            request = RequestCancelWorkflowExecutionRequest(namespace="default", request_id="mine")
            request.workflow_execution.workflow_id = "id"
            request.workflow_execution.run_id = run_id
            await service.request_cancel_workflow_execution(request)

        first = await start(wire.client, "id")
        await cancel()
        await wire.settle()
        assert isinstance(await cause_of(first), CancelledError)
        second = await start(wire.client, "id")
        await cancel()  # the answer was lost, not the cancel
        await wire.settle()
        assert (await second.describe()).status is WorkflowExecutionStatus.RUNNING
        with refused(RPCStatusCode.FAILED_PRECONDITION, "was used for another call"):
            await cancel(str(second.result_run_id))


async def test_a_start_that_comes_again_is_done_once(world: World) -> None:
    calls = declare(world)
    async with wired(world) as wire:
        service = wire.client.workflow_service

        async def ask(**more: Any) -> StartWorkflowExecutionResponse:
            request = StartWorkflowExecutionRequest(namespace="default", workflow_id="once", request_id="r", **more)
            request.workflow_type.name = "add"
            request.input.payloads.add(metadata={"encoding": b"json/plain"}, data=b"1")
            return await service.start_workflow_execution(request)

        responses = await asyncio.gather(*(ask() for _ in range(20)))
        assert len({one.run_id for one in responses}) == 1
        await wire.settle()
        assert (await ask()).run_id == responses[0].run_id  # also when it is over
        assert calls == [(1, 10)]
        with refused(RPCStatusCode.FAILED_PRECONDITION, "'r' was used for another call"):
            await ask(workflow_id_reuse_policy=3)
        many = await asyncio.gather(*(start(wire.client, "one") for _ in range(20)), return_exceptions=True)
        assert sum(isinstance(one, WorkflowAlreadyStartedError) for one in many) == 19


async def test_waiting_for_a_result_goes_on_over_many_polls(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        handle = await start(wire.client, "long", args=[100])
        waiting = asyncio.ensure_future(handle.result())
        for _ in range(12):
            await wire.advance("10s")  # longer than one poll is held
        assert await waiting == "rested"
        request = GetWorkflowExecutionHistoryRequest(
            namespace="default", execution=WorkflowExecution(workflow_id="long"), wait_new_event=True
        )
        response = await wire.client.workflow_service.get_workflow_execution_history(request)
        assert [one.event_id for one in response.history.events] == [1, 2]
        assert not response.next_page_token
        history = await handle.fetch_history()
        assert history.events[0].workflow_execution_started_event_attributes.workflow_type.name == "nap"
        close = WorkflowHistoryEventFilterType.CLOSE_EVENT
        assert len([one async for one in handle.fetch_history_events(event_filter_type=close)]) == 1


async def test_who_waits_for_a_run_waits_for_that_one(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        first = await start(wire.client, "taken", args=[100])
        request = GetWorkflowExecutionHistoryRequest(
            namespace="default", execution=WorkflowExecution(workflow_id="taken"), wait_new_event=True
        )
        service = wire.client.workflow_service
        request.next_page_token = (await service.get_workflow_execution_history(request)).next_page_token
        await first.terminate()
        await start(wire.client, "taken", args=[100])
        (end,) = (await service.get_workflow_execution_history(request)).history.events
        assert end.HasField("workflow_execution_terminated_event_attributes")


async def test_every_field_of_a_start_is_kept(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        request = StartWorkflowExecutionRequest(namespace="default", workflow_id="kept", request_id="the-request")
        request.workflow_type.name, request.task_queue.name = "nothing", "default"
        for name in ("workflow_execution_timeout", "workflow_run_timeout", "workflow_task_timeout"):
            getattr(request, name).seconds = 60
        request.retry_policy.non_retryable_error_types.append("ValueError")
        request.priority.fairness_key = "ann"
        request.versioning_override.auto_upgrade = True
        strange = {"metadata": {"encoding": b"binary/other"}, "data": b"\x00\xff"}
        for fields in (request.header.fields, request.memo.fields):
            fields["strange"].CopyFrom(Payload(**strange))  # type: ignore[arg-type]
        request.user_metadata.summary.CopyFrom(Payload(**strange))  # type: ignore[arg-type]
        await wire.client.workflow_service.start_workflow_execution(request)
        handle = wire.client.get_workflow_handle("kept")
        (started, *_) = (await handle.fetch_history()).events
        attributes = started.workflow_execution_started_event_attributes
        for name in (
            "workflow_execution_timeout workflow_run_timeout workflow_task_timeout retry_policy priority "
            "versioning_override header memo"
        ).split():
            assert getattr(attributes, name) == getattr(request, name), name
        assert started.user_metadata == request.user_metadata
        description = (await handle.describe()).raw_description
        assert description.workflow_execution_info.memo == request.memo
        assert description.execution_config.user_metadata == request.user_metadata
        assert list(description.workflow_extended_info.request_id_infos) == ["the-request"]


async def test_a_name_that_nobody_knows_is_parked_until_someone_does(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        handle = await wire.client.start_workflow("later", args=[3, 4], id="later", **QUEUE)
        await wire.settle()
        description = await handle.describe()
        assert description.status is WorkflowExecutionStatus.RUNNING
        (waits,) = description.raw_description.pending_activities
        assert "no_handler" in waits.last_failure.message
    await world.down()

    @world.app.job()
    async def later(a: int, b: int) -> int:
        return a * b

    async with wired(world) as wire:
        await wire.advance("10s")
        assert await wire.client.get_workflow_handle("later").result() == 12


async def test_looking_at_runs(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        await register(wire)
        client = wire.client
        handle = await client.start_workflow(
            "add",
            1,
            id="looked-at",
            memo={"m": [1]},
            search_attributes=TypedSearchAttributes([SearchAttributePair(COLOUR, "red")]),
            static_summary="sum",
            start_delay=timedelta(minutes=5),
            **QUEUE,
        )
        description = await handle.describe()
        assert description.execution_time is not None
        assert description.execution_time - description.start_time == timedelta(minutes=5)
        assert (description.workflow_type, description.task_queue, description.close_time) == ("add", "default", None)
        assert await description.memo() == {"m": [1]}
        assert description.typed_search_attributes[COLOUR] == "red"
        assert await description.static_summary() == "sum"
        await wire.advance("6m")
        assert (await handle.describe()).close_time is not None
        for n in range(5):
            await client.start_workflow("nothing", id=f"n-{n}", **QUEUE)
        broken = await client.start_workflow("broken", id="broken", **QUEUE)
        await cause_of(broken)
        elsewhere = await client.start_workflow("nothing", id="elsewhere", task_queue="elsewhere")
        (waits,) = (await elsewhere.describe()).raw_description.pending_activities
        assert "no node serves the queue 'elsewhere'" in waits.last_failure.message
        native = await wire.app.start("add", {"a": 7}, id="native")
        await wire.settle()

        async def ids(query: str) -> list[str]:
            return [one.id async for one in client.list_workflows(query, page_size=2)]

        assert await ids("WorkflowType = 'nothing' AND ExecutionStatus = 'Completed'") == [
            f"n-{n}" for n in (4, 3, 2, 1, 0)
        ]
        assert await ids("ExecutionStatus = 'Failed'") == ["broken"]
        assert await ids("TaskQueue = 'elsewhere' AND CloseTime IS NULL") == ["elsewhere"]
        assert await ids("Colour = 'red'") == ["looked-at"]
        assert await ids("StartTime <= '2026-01-01T00:00:00Z'") == ["looked-at"]
        assert await ids(f"RunId = '{native.id}'") == ["native"]
        assert await client.get_workflow_handle("native").result() == 17
        assert (await client.count_workflows()).count == 9
        assert (await client.count_workflows("WorkflowType = 'nothing'")).count == 6
        counted = await client.count_workflows("GROUP BY ExecutionStatus")
        assert {one.group_values[0]: one.count for one in counted.groups} == {"Running": 1, "Completed": 7, "Failed": 1}
        with refused(RPCStatusCode.INVALID_ARGUMENT, "ORDER BY"):
            await ids("ORDER BY StartTime")


async def started(wire: Wired, workflow_id: str) -> Any:
    history = await wire.client.get_workflow_handle(workflow_id).fetch_history()
    return history.events[0].workflow_execution_started_event_attributes


async def test_a_delayed_start_says_how_long_it_is_put_off(world: World) -> None:
    @world.app.job()
    async def work() -> None: ...

    async with wired(world) as wire:
        await wire.client.start_workflow("work", id="later", start_delay=timedelta(minutes=5), **QUEUE)
        await wire.client.start_workflow("work", id="now", **QUEUE)
        attributes = await started(wire, "later")
        assert attributes.first_workflow_task_backoff.ToTimedelta() == timedelta(minutes=5)
        assert attributes.task_queue.kind == TaskQueueKind.TASK_QUEUE_KIND_NORMAL
        assert not (await started(wire, "now")).HasField("first_workflow_task_backoff")
        described = await wire.client.get_workflow_handle("now").describe()
        assert described.raw_description.execution_config.task_queue.kind == TaskQueueKind.TASK_QUEUE_KIND_NORMAL


async def test_the_details_of_a_terminate_are_kept(world: World) -> None:
    @world.app.job()
    async def work() -> None: ...

    async with wired(world) as wire:
        handle = await wire.client.start_workflow("work", id="w", start_delay=timedelta(hours=1), **QUEUE)
        await handle.terminate("by ada", {"because": 7}, reason="enough")
        with pytest.raises(WorkflowFailureError) as failed:
            await handle.result()
        cause = failed.value.cause
        assert isinstance(cause, TerminatedError)
        assert list(cause.details) == ["by ada", {"because": 7}]
        assert str(cause) == "enough"
