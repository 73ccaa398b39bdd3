"""A process of somebody who knows Temporal and nothing of Ostinato: `python temporal_client.py HOST:PORT PREFIX`. It
imports the client and the standard library alone, and ends with "all of it worked" if all of it did."""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from datetime import UTC, datetime, timedelta

import temporalio.api.enums.v1 as enums
import temporalio.api.schedule.v1 as schedule_api
import temporalio.api.workflowservice.v1 as service_api
from google.protobuf.duration_pb2 import Duration
from temporalio import workflow
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleBackfill,
    ScheduleHandle,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleState,
    ScheduleUpdate,
    ScheduleUpdateInput,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowQueryFailedError,
)
from temporalio.exceptions import ApplicationError, CancelledError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

QUEUE = "reports"


@workflow.defn
class Idle:
    @workflow.run
    async def run(self) -> None: ...


async def eventually(handle: ScheduleHandle, actions: int) -> None:
    for _ in range(500):
        if (await handle.describe()).info.num_actions >= actions:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{handle.id} has no {actions} actions")


async def usage_examples(client: Client, prefix: str) -> None:
    """The three examples of the scheduler's own README, in Python, through the raw service."""
    schedule_id = f"{prefix}-my-schedule"
    schedule = schedule_api.Schedule(
        spec=schedule_api.ScheduleSpec(cron_string=["0 0 * * *"]),  # daily at midnight
        policies=schedule_api.SchedulePolicies(
            overlap_policy=enums.ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_SKIP,
            catchup_window=Duration(seconds=3600),
        ),
    )
    schedule.action.start_workflow.workflow_id = f"{prefix}-scheduled-workflow"
    schedule.action.start_workflow.workflow_type.name = "MyWorkflow"
    service = client.workflow_service
    created = await service.create_schedule(
        service_api.CreateScheduleRequest(namespace="default", schedule_id=schedule_id, schedule=schedule)
    )
    assert len(created.conflict_token) == 8
    await service.patch_schedule(
        service_api.PatchScheduleRequest(
            schedule_id=schedule_id,
            patch=schedule_api.SchedulePatch(
                trigger_immediately=schedule_api.TriggerImmediatelyRequest(
                    overlap_policy=enums.ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL
                )
            ),
        )
    )
    request = schedule_api.BackfillRequest(
        overlap_policy=enums.ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_BUFFER_ALL
    )
    request.start_time.FromJsonString("2024-01-01T00:00:00Z")
    request.end_time.FromJsonString("2024-01-03T00:00:00Z")
    await service.patch_schedule(
        service_api.PatchScheduleRequest(
            schedule_id=schedule_id, patch=schedule_api.SchedulePatch(backfill_request=[request])
        )
    )
    await eventually(client.get_schedule_handle(schedule_id), 4)
    for day in ("01", "02", "03"):
        handle = client.get_workflow_handle(f"{prefix}-scheduled-workflow-2024-01-{day}T00:00:00Z")
        assert await handle.result() == "mine"


async def every_schedule_method(client: Client, prefix: str) -> None:
    action = ScheduleActionStartWorkflow("report", args=["north", 2], id=f"{prefix}-report", task_queue=QUEUE)
    spec = ScheduleSpec(
        intervals=[ScheduleIntervalSpec(timedelta(hours=1))], cron_expressions=["30 9 * * MON-FRI"], jitter=timedelta(1)
    )
    schedule = Schedule(action, spec=spec, policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.ALLOW_ALL))
    handle = await client.create_schedule(f"{prefix}-s", schedule, memo={"team": "x"}, trigger_immediately=True)
    try:
        await client.create_schedule(f"{prefix}-s", schedule)
        raise AssertionError("it was there already")
    except ScheduleAlreadyRunningError:
        pass
    described = await handle.describe()
    assert described.info.num_actions == 1
    assert described.schedule.spec.jitter == timedelta(1)
    assert await described.memo_value("team") == "x"
    await handle.trigger()
    await handle.pause(note="wait")
    assert (await handle.describe()).schedule.state.paused
    past = datetime(2024, 5, 1, tzinfo=UTC)
    await handle.backfill(ScheduleBackfill(past, past + timedelta(hours=3), overlap=ScheduleOverlapPolicy.ALLOW_ALL))
    await eventually(handle, 6)
    await handle.unpause(note="go")
    assert (await handle.describe()).schedule.state == ScheduleState(note="go")

    async def change(update: ScheduleUpdateInput) -> ScheduleUpdate:
        update.description.schedule.spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(timedelta(days=1))])
        return ScheduleUpdate(update.description.schedule)

    await handle.update(change)
    assert (await handle.describe()).schedule.spec.intervals[0].every == timedelta(days=1)
    listed = [one.id async for one in await client.list_schedules(f"ScheduleId STARTS_WITH '{prefix}-s'")]
    assert listed == [f"{prefix}-s"]
    await handle.delete()
    try:
        await handle.describe()
        raise AssertionError("it was deleted")
    except RPCError as problem:
        assert problem.status == RPCStatusCode.NOT_FOUND


async def runs(client: Client, prefix: str) -> None:
    assert await client.execute_workflow("report", "south", id=f"{prefix}-r1", task_queue=QUEUE) == "south 1"
    try:
        await client.execute_workflow("broken", id=f"{prefix}-r2", task_queue=QUEUE)
        raise AssertionError("it was to fail")
    except WorkflowFailureError as problem:
        assert isinstance(problem.cause, ApplicationError)
        assert problem.cause.type == "ValueError"
    handle = await client.start_workflow("nap", id=f"{prefix}-r3", task_queue=QUEUE)
    try:
        await client.start_workflow("nap", id=f"{prefix}-r3", task_queue=QUEUE)
        raise AssertionError("it runs already")
    except WorkflowAlreadyStartedError:
        pass
    await handle.cancel()
    try:
        await handle.result()
        raise AssertionError("it was cancelled")
    except WorkflowFailureError as problem:
        assert isinstance(problem.cause, CancelledError)
    assert (await handle.describe()).status == WorkflowExecutionStatus.CANCELED
    await (await client.start_workflow("nap", id=f"{prefix}-r4", task_queue=QUEUE)).terminate()
    ids = [one.id async for one in client.list_workflows(f"WorkflowId = '{prefix}-r4'")]
    assert ids == [f"{prefix}-r4"]
    assert (await client.count_workflows("WorkflowType = 'nap'")).count >= 2


async def functions(client: Client, prefix: str) -> None:
    """Signals, queries and signal-with-start."""
    handle = await client.start_workflow("collect", 3, id=f"{prefix}-f", task_queue=QUEUE)
    await handle.signal("item", {"n": 1})
    same = await client.start_workflow(
        "collect", 3, id=f"{prefix}-f", task_queue=QUEUE, start_signal="item", start_signal_args=["two"]
    )
    assert same.result_run_id == handle.result_run_id
    for _ in range(100):
        if await handle.query("state") == {"items": 2}:
            break
        await asyncio.sleep(0.1)
    assert await handle.query("items") == 2
    try:
        await handle.query("other")
        raise AssertionError("there is no such query")
    except WorkflowQueryFailedError as problem:
        assert "there are state, items" in str(problem)
    await handle.signal("item", args=[3, None])
    assert await handle.result() == [{"n": 1}, "two", [3, None]]
    history = await handle.fetch_history()
    assert sum(event.HasField("workflow_execution_signaled_event_attributes") for event in history.events) == 3
    try:
        await handle.signal("item")
        raise AssertionError("it is over")
    except RPCError as problem:
        assert problem.status == RPCStatusCode.NOT_FOUND
    for stop in ("cancel", "terminate"):
        handle = await client.start_workflow("collect", 1, id=f"{prefix}-{stop}", task_queue=QUEUE)
        await getattr(handle, stop)()
        try:
            await handle.result()
            raise AssertionError("it was stopped")
        except WorkflowFailureError:
            pass
    action = ScheduleActionStartWorkflow("collect", 0, id=f"{prefix}-fs", task_queue=QUEUE)
    spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(timedelta(days=1))])
    scheduled = await client.create_schedule(f"{prefix}-f", Schedule(action, spec=spec), trigger_immediately=True)
    await eventually(scheduled, 1)
    first = (await scheduled.describe()).info.recent_actions[0].action
    assert isinstance(first, ScheduleActionExecutionStartWorkflow)
    assert await client.get_workflow_handle(first.workflow_id).result() == []


async def beside_a_worker(client: Client, prefix: str) -> None:
    """A worker in the same process gets nothing to do, and does not get in the way."""
    async with Worker(client, task_queue=QUEUE, workflows=[Idle], identity=f"worker-{uuid.uuid4()}") as worker:
        assert await client.execute_workflow("report", "west", id=f"{prefix}-w", task_queue=QUEUE) == "west 1"
        assert worker.is_running


async def main(address: str, prefix: str) -> None:
    client = await Client.connect(address)
    await usage_examples(client, prefix)
    await every_schedule_method(client, prefix)
    await runs(client, prefix)
    await functions(client, prefix)
    await beside_a_worker(client, prefix)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    print("all of it worked", flush=True)
    os._exit(0)  # the client's own threads may outlive the interpreter
