"""Pages of lists over the wire."""

from __future__ import annotations

from datetime import timedelta

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import (
    GetWorkflowExecutionHistoryRequest,
    ListSchedulesRequest,
    ListWorkflowExecutionsRequest,
)
from temporalio.service import RPCStatusCode

from ostinato.testing import World
from tests.support.wire import QUEUE, refused, wired


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
