"""Pages of lists over the wire."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import (
    CreateScheduleRequest,
    GetWorkflowExecutionHistoryRequest,
    ListNamespacesRequest,
    ListSchedulesRequest,
    ListWorkflowExecutionsRequest,
)
from temporalio.client import Schedule, ScheduleActionStartWorkflow, ScheduleOverlapPolicy, SchedulePolicy
from temporalio.common import RetryPolicy
from temporalio.service import RPCStatusCode

from ostinato.testing import World
from tests.support.wire import HOURLY, QUEUE, refused, wired


async def test_a_page_token_that_was_not_given_out_is_refused(world: World) -> None:
    @world.app.job()
    async def work() -> None: ...

    async with wired(world) as wire:
        for n in range(3):
            await wire.app.schedules.create(f"s{n}", "0 9 * * *", "work")
            await wire.client.start_workflow("work", id=f"w{n}", start_delay=timedelta(hours=1), **QUEUE)
        service = wire.client.workflow_service
        runs = await service.list_workflow_executions(ListWorkflowExecutionsRequest(namespace="default", page_size=1))
        schedules = await service.list_schedules(ListSchedulesRequest(namespace="default", maximum_page_size=1))
        for token in (runs.next_page_token, b"s1", b"\xff\x00", schedules.next_page_token[:-1]):
            request = ListSchedulesRequest(namespace="default", maximum_page_size=1, next_page_token=token)
            with refused(RPCStatusCode.INVALID_ARGUMENT, "next_page_token"):
                await service.list_schedules(request)
        for token in (schedules.next_page_token, b"01", b""[:0] + b"x"):
            listed = ListWorkflowExecutionsRequest(namespace="default", page_size=1, next_page_token=token)
            with refused(RPCStatusCode.INVALID_ARGUMENT, "next_page_token"):
                await service.list_workflow_executions(listed)
            asked = GetWorkflowExecutionHistoryRequest(
                namespace="default", execution=WorkflowExecution(workflow_id="w0"), next_page_token=token
            )
            with refused(RPCStatusCode.INVALID_ARGUMENT, "next_page_token"):
                await service.get_workflow_execution_history(asked)
        following = ListSchedulesRequest(
            namespace="default", maximum_page_size=1, next_page_token=schedules.next_page_token
        )
        assert [one.schedule_id for one in (await service.list_schedules(following)).schedules] == ["s1"]
        with refused(RPCStatusCode.INVALID_ARGUMENT, "next_page_token"):
            await service.list_namespaces(ListNamespacesRequest(next_page_token=b"abc"))


async def test_a_page_token_belongs_to_its_query(world: World) -> None:
    @world.app.job()
    async def work() -> None: ...

    async with wired(world) as wire:
        for n in range(3):
            await wire.app.schedules.create(f"s{n}", "0 9 * * *", "work")
            await wire.client.start_workflow("work", id=f"w{n}", start_delay=timedelta(hours=1), **QUEUE)
        service = wire.client.workflow_service
        schedules = ListSchedulesRequest(namespace="default", maximum_page_size=1)
        schedules.next_page_token = (await service.list_schedules(schedules)).next_page_token
        schedules.query = "TemporalSchedulePaused = false"
        with refused(RPCStatusCode.INVALID_ARGUMENT, "next_page_token"):
            await service.list_schedules(schedules)
        runs = ListWorkflowExecutionsRequest(namespace="default", page_size=1, query='WorkflowType = "work"')
        runs.next_page_token = (await service.list_workflow_executions(runs)).next_page_token
        assert [one.execution.workflow_id for one in (await service.list_workflow_executions(runs)).executions] == [
            "w1"
        ]
        runs.query = ""
        with refused(RPCStatusCode.INVALID_ARGUMENT, "next_page_token"):
            await service.list_workflow_executions(runs)


async def test_pages_of_one_workflow_id_have_each_execution_once(world: World) -> None:
    """The older of two executions is retried after the newer one has begun, so its last attempt is the newest run."""

    @world.app.job()
    async def fail_late() -> None:
        await asyncio.sleep(90 * 60)
        raise ValueError("not today")

    async with wired(world) as wire:
        retry = RetryPolicy(initial_interval=timedelta(hours=10), maximum_attempts=2)
        action = ScheduleActionStartWorkflow("fail_late", id="kept", task_queue="default", retry_policy=retry)
        policy = SchedulePolicy(overlap=ScheduleOverlapPolicy.ALLOW_ALL)
        request = CreateScheduleRequest(namespace="default", schedule_id="hourly", request_id="r")
        request.schedule.CopyFrom(await Schedule(action, spec=HOURLY, policy=policy)._to_proto(wire.client))
        request.schedule.policies.keep_original_workflow_id = True
        service = wire.client.workflow_service
        await service.create_schedule(request)
        await wire.advance("2h35m")  # the first one began after 1 h and failed after 2.5 h, the second is running
        whole = ListWorkflowExecutionsRequest(namespace="default", query="WorkflowId = 'kept'")
        newest_first = [one.execution.run_id for one in (await service.list_workflow_executions(whole)).executions]
        assert len(newest_first) == 2
        page = ListWorkflowExecutionsRequest(namespace="default", query="WorkflowId = 'kept'", page_size=1)
        listed = []
        while True:
            answer = await service.list_workflow_executions(page)
            listed += [one.execution.run_id for one in answer.executions]
            if not answer.next_page_token or len(listed) > 2:
                break
            page.next_page_token = answer.next_page_token
        assert listed == newest_first == sorted(newest_first, reverse=True)
