"""Journeys by the unmodified client: a workflow that is one is started, signalled and waited for."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import RequestCancelWorkflowExecutionRequest, SignalWorkflowExecutionRequest
from temporalio.client import (
    ScheduleActionStartWorkflow,
    ScheduleUpdate,
    ScheduleUpdateInput,
    WorkflowExecutionStatus,
    WorkflowFailureError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCStatusCode

from ostinato.testing import World
from tests.support.journey_parts import Work, plugins, text
from tests.support.wire import refused, wired

QUEUE: dict[str, Any] = {"task_queue": "default"}
APPROVAL = text(
    """
    ask:
      type: wait
      wait: {channel: manual, input: {schema: {type: object, required: [ok], properties: {ok: {type: boolean}}}}}
      next: judge
    judge:
      type: choice
      choices: [{when: {predicate: {lang: py, expr: "context['payload']['ok']"}}, next: rest}]
      default: bad
    rest: {type: timer, timer: {duration: P1D}, next: good}
    good: {type: succeed, outputVar: payload}
    bad: {type: fail, errorCode: REFUSED, reason: no}
    """,
    start="ask",
    spec="input: {schema: {type: object, required: [who]}}",
    name="approval",
)


@pytest.fixture
def world() -> World:
    return World(journey_plugins=plugins(Work()))


async def test_a_journey_is_started_signalled_and_waited_for(world: World) -> None:
    async with wired(world) as wire:
        await wire.app.journeys.deploy(APPROVAL)
        handle = await wire.client.start_workflow("approval", {"who": "ada"}, id="a1", **QUEUE)
        await wire.settle()
        assert (await handle.describe()).status is WorkflowExecutionStatus.RUNNING
        with refused(RPCStatusCode.INVALID_ARGUMENT):
            await handle.signal("ask", {"ok": "yes"})
        with refused(RPCStatusCode.FAILED_PRECONDITION):
            await handle.signal("other", {"ok": True})
        await handle.signal("ask", {"ok": True})
        await wire.advance("25h")
        assert await handle.result() == {"ok": True}
        bad = await wire.client.start_workflow("approval", {"who": "bob"}, id="a2", **QUEUE)
        await wire.settle()
        await bad.signal("ask", {"ok": False})
        await wire.settle()
        with pytest.raises(WorkflowFailureError) as failed:
            await bad.result()
        assert isinstance(failed.value.cause, ApplicationError)
        assert (failed.value.cause.type, failed.value.cause.message) == ("REFUSED", "no")


async def test_a_request_that_took_effect_is_answered_again_and_nobody_elses_is(world: World) -> None:
    """Also where the journey is over by it: the answer was lost, not the signal."""
    async with wired(world) as wire:
        await wire.app.journeys.deploy(APPROVAL)
        service = wire.client.workflow_service
        for id in ("a1", "a2", "a3"):
            await wire.client.start_workflow("approval", {"who": "ada"}, id=id, **QUEUE)
        await wire.settle()

        async def signal(id: str, request_id: str) -> None:
            request = SignalWorkflowExecutionRequest(
                namespace="default",
                signal_name="ask",
                request_id=request_id,
                workflow_execution=WorkflowExecution(workflow_id=id),
            )
            request.input.payloads.add(metadata={"encoding": b"json/plain"}, data=b'{"ok": false}')
            await service.signal_workflow_execution(request)

        async def cancel(id: str, request_id: str) -> None:
            request = RequestCancelWorkflowExecutionRequest(
                namespace="default", request_id=request_id, workflow_execution=WorkflowExecution(workflow_id=id)
            )
            await service.request_cancel_workflow_execution(request)

        await signal("a1", "first")
        await wire.settle()
        await signal("a1", "first")
        with refused(RPCStatusCode.NOT_FOUND, "already completed"):
            await signal("a1", "second")
        await cancel("a2", "mine")
        await cancel("a3", "other")
        await cancel("a2", "mine")
        with refused(RPCStatusCode.NOT_FOUND, "already completed"):
            await cancel("a3", "mine")
        events = await wire.app.events(limit=1000)
        assert [one.name for one in events].count("journey:input_received") == 1


GUARDED = text(
    "hold: {type: wait, wait: {channel: manual, input: {schema: {type: object}}}, next: good}\ngood: {type: succeed}",
    start="hold",
    name="guarded",
    spec="""
    access: {read: {guardRef: owner}}
    subjourneys:
      owner:
        start: look
        states:
          look:
            type: transform
            transform:
              mapper: {lang: py, expr: "{'allowed': context['open']}"}
              target: {kind: var}
              resultVar: said
            next: done
          done: {type: succeed, outputVar: said}
    """,
)


async def test_a_read_guard_hides_a_journey_from_clients(world: World) -> None:
    async with wired(world) as wire:
        await wire.app.journeys.deploy(GUARDED)
        shut = await wire.client.start_workflow("guarded", {"open": False}, id="shut", **QUEUE)
        open = await wire.client.start_workflow("guarded", {"open": True}, id="open", **QUEUE)
        await wire.settle()
        assert (await open.describe()).status is WorkflowExecutionStatus.RUNNING
        with refused(RPCStatusCode.NOT_FOUND, "workflow not found"):
            await shut.describe()
        with refused(RPCStatusCode.NOT_FOUND, "workflow not found"):
            await shut.fetch_history()
        assert [one.id async for one in wire.client.list_workflows()] == ["open"]
        assert [one.id async for one in wire.client.list_workflows("WorkflowId = 'shut'")] == []
        for name, is_open in (("shut", False), ("open", True)):
            action = {"journey": "guarded", "input": {"open": is_open}}
            await wire.app.schedules.create(name, "0 0 * * *", action, trigger=True)
        await wire.settle()
        for name, count in (("shut", 0), ("open", 1)):
            info = (await wire.client.get_schedule_handle(name).describe()).info
            assert (len(info.running_actions), len(info.recent_actions)) == (count, count)
        listed = {one.id: one.info async for one in await wire.client.list_schedules()}
        assert {name: info and len(info.recent_actions) for name, info in listed.items()} == {"shut": 0, "open": 1}
        hook = await wire.app.webhooks.create("https://hooks.example/in", ["journey:completed"])
        for client in (shut, open):
            await client.signal("hold", {})
        await wire.settle()
        assert [run.status for run in await wire.app.runs(name="guarded")][-2:] == ["succeeded", "succeeded"]
        deliveries = {one.input["event"]["subject"]: one.id for one in await wire.app.webhooks.deliveries(hook.id)}
        assert (deliveries.keys()) == {shut.first_execution_run_id, open.first_execution_run_id}
        runs = [one.run_id async for one in wire.client.list_workflows("WorkflowType = 'webhook'")]
        assert runs == [deliveries[open.first_execution_run_id]]
        (about,) = [one for one in deliveries.values() if one not in runs]
        with refused(RPCStatusCode.NOT_FOUND, "workflow not found"):
            await wire.client.get_workflow_handle(about).describe()


async def test_a_journey_is_started_with_an_input_that_it_takes(world: World) -> None:
    async with wired(world) as wire:
        await wire.app.journeys.deploy(APPROVAL)
        with refused(RPCStatusCode.INVALID_ARGUMENT):
            await wire.client.start_workflow("approval", {"whom": "ada"}, id="a1", **QUEUE)
        with refused(RPCStatusCode.INVALID_ARGUMENT):
            await wire.client.start_workflow("approval", args=[{"who": "a"}, 2], id="a1", **QUEUE)
        assert await wire.app.journeys.list() == []
        cancelled = await wire.client.start_workflow("approval", {"who": "ada"}, id="a1", **QUEUE)
        await wire.settle()
        await cancelled.cancel()
        await wire.settle()
        assert (await cancelled.describe()).status is WorkflowExecutionStatus.CANCELED


async def test_a_schedule_of_a_journey_stays_one_when_it_is_updated(world: World) -> None:
    async with wired(world) as wire:
        await wire.app.journeys.deploy(APPROVAL)
        action = {"journey": "approval", "input": {"who": "ada"}}
        await wire.app.schedules.create("daily", "0 0 * * *", action)
        handle = wire.client.get_schedule_handle("daily")

        def change(input: ScheduleUpdateInput) -> ScheduleUpdate:
            schedule = input.description.schedule
            assert isinstance(schedule.action, ScheduleActionStartWorkflow)
            assert schedule.action.workflow == "approval"
            schedule.state.note = "looked at"
            return ScheduleUpdate(schedule)

        await handle.update(change)
        info = await wire.app.schedules.get("daily")
        assert (info.starts, info.notes) == ("journey approval", "looked at")
        assert info.input == {"journey": "approval", "context": {"who": "ada"}}


async def test_a_journey_that_is_put_off_begins_at_its_time(world: World) -> None:
    async with wired(world) as wire:
        await wire.app.journeys.deploy(APPROVAL)
        later = timedelta(hours=2)
        handle = await wire.client.start_workflow("approval", {"who": "ada"}, id="a1", start_delay=later, **QUEUE)
        await wire.advance("1h")
        assert (await handle.describe()).status is WorkflowExecutionStatus.RUNNING
        seen = await wire.app.journeys.status(str(handle.first_execution_run_id))
        assert (seen.phase, seen.current_state, seen.steps) == ("RUNNING", "ask", ())
        with refused(RPCStatusCode.FAILED_PRECONDITION):
            await handle.signal("ask", {"ok": True})
        await wire.advance("1h")
        await handle.signal("ask", {"ok": True})
        await wire.advance("25h")
        assert await handle.result() == {"ok": True}
        put_off = await wire.client.start_workflow("approval", {"who": "b"}, id="a2", start_delay=later, **QUEUE)
        await put_off.cancel()
        await wire.advance("3h")
        assert (await put_off.describe()).status is WorkflowExecutionStatus.CANCELED


@pytest.mark.parametrize(
    ("options", "hours"),
    [
        ({"execution_timeout": timedelta(hours=3)}, 3),
        ({"run_timeout": timedelta(hours=2), "execution_timeout": timedelta(hours=3)}, 2),
        ({"execution_timeout": timedelta(hours=30)}, 10),
        ({"execution_timeout": timedelta(hours=2), "start_delay": timedelta(hours=4)}, 6),
    ],
    ids=["execution", "run", "its own", "delayed"],
)
async def test_a_journey_may_take_as_long_as_the_shortest_of_what_is_said(
    world: World, options: dict[str, Any], hours: int
) -> None:
    limit = "execution: {maxDurationSec: 36000, onTimeout: {errorCode: LATE, reason: too late}}"
    async with wired(world) as wire:
        await wire.app.journeys.deploy(APPROVAL.replace("spec:\n", f"spec:\n  {limit}\n", 1))
        handle = await wire.client.start_workflow("approval", {"who": "ada"}, id="a1", **QUEUE, **options)
        await wire.advance(f"{hours * 60 - 1}m")
        assert (await handle.describe()).status is WorkflowExecutionStatus.RUNNING
        await wire.advance("2m")
        assert (await handle.describe()).status is WorkflowExecutionStatus.TIMED_OUT
        outcome = await wire.app.journeys.result(str(handle.first_execution_run_id))
        assert outcome.error == {"code": "LATE", "reason": "too late"}


async def test_a_journey_without_a_limit_of_its_own_has_the_caller_s(world: World) -> None:
    async with wired(world) as wire:
        await wire.app.journeys.deploy(APPROVAL)
        limit = timedelta(minutes=5)
        handle = await wire.client.start_workflow("approval", {"who": "a"}, id="a", execution_timeout=limit, **QUEUE)
        await wire.advance("6m")
        outcome = await wire.app.journeys.result(str(handle.first_execution_run_id))
        assert outcome.error == {"code": "TIMEOUT", "reason": "it exceeded its time limit"}
