"""What clients and jobs of Temporal's say is passed on: delays, details, types of errors, and tokens of pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import RetryState, TaskQueueKind
from temporalio.api.workflowservice.v1 import (
    GetWorkflowExecutionHistoryRequest,
    ListSchedulesRequest,
    ListWorkflowExecutionsRequest,
)
from temporalio.client import WorkflowFailureError
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError, TerminatedError
from temporalio.service import RPCStatusCode

from ostinato import Fatal, OstinatoError
from ostinato.testing import World
from tests.wire import Wired, refused, wired

QUEUE: dict[str, Any] = {"task_queue": "default"}


async def started(wire: Wired, workflow_id: str) -> Any:
    history = await wire.client.get_workflow_handle(workflow_id).fetch_history()
    return history.events[0].workflow_execution_started_event_attributes


async def test_a_delayed_start_says_how_long_it_is_put_off(world: World) -> None:
    @world.app.job()
    async def work() -> None: ...

    async with wired(world) as wire:
        await wire.client.start_workflow("work", id="later", start_delay=timedelta(minutes=5), **QUEUE)
        await wire.client.start_workflow("work", id="now", **QUEUE)
        told = await started(wire, "later")
        assert told.first_workflow_task_backoff.ToTimedelta() == timedelta(minutes=5)
        assert told.task_queue.kind == TaskQueueKind.TASK_QUEUE_KIND_NORMAL
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


@pytest.mark.parametrize("kind", ["application", "fatal", "other"])
async def test_what_a_job_raises_comes_back_as_it_was(world: World, kind: str) -> None:
    attempts = []

    @world.app.job()
    async def work() -> None:
        attempts.append(1)
        if kind == "application":
            raise ApplicationError("no such account", {"account": 7}, "x", type="NoAccount", non_retryable=True)
        raise Fatal("never") if kind == "fatal" else ValueError("perhaps")

    async with wired(world) as wire:
        retry = RetryPolicy(maximum_attempts=3, initial_interval=timedelta(seconds=1))
        handle = await wire.client.start_workflow("work", id="w", retry_policy=retry, **QUEUE)
        await wire.advance("1m")
        with pytest.raises(WorkflowFailureError) as failed:
            await handle.result()
        cause = failed.value.cause
        assert isinstance(cause, ApplicationError)
        end = (await handle.fetch_history()).events[-1].workflow_execution_failed_event_attributes
        if kind == "application":
            assert (cause.message, cause.type, list(cause.details)) == (
                "no such account",
                "NoAccount",
                [{"account": 7}, "x"],
            )
        assert cause.non_retryable == (kind != "other")
        assert len(attempts) == (3 if kind == "other" else 1)
        final = RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE
        assert (end.retry_state == final) == (kind != "other")


async def test_an_application_error_says_when_to_try_again(world: World) -> None:
    at = []

    @world.app.job(retry=2)
    async def work() -> None:
        at.append(world.app.engine.clock.now())
        raise ApplicationError("later", next_retry_delay=timedelta(minutes=10))

    await world.start("work")
    await world.advance("20m")
    assert [(later - first) // 1_000_000 for first, later in [at]] == [600]


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


async def test_notes_have_one_measure(world: World) -> None:
    @world.app.job()
    async def work() -> None: ...

    async with wired(world) as wire:
        await wire.app.schedules.create("s", "0 9 * * *", "work")
        handle = wire.client.get_schedule_handle("s")
        await handle.pause(note="ü" * 1000)
        assert (await wire.app.schedules.get("s")).notes == "ü" * 1000
        with refused(RPCStatusCode.INVALID_ARGUMENT, "patch.pause", "at most 1,000 characters"):
            await handle.pause(note="u" * 1001)
        for call in (wire.app.schedules.pause, wire.app.schedules.resume):
            with pytest.raises(OstinatoError, match="at most 1,000 characters"):
                await call("s", "u" * 1001)
