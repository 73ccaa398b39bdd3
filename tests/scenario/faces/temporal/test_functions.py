"""Durable functions by the unmodified client: started, signalled, queried, stopped, looked at, and scheduled."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import (
    GetWorkflowExecutionHistoryRequest,
    GetWorkflowExecutionHistoryReverseRequest,
    SignalWithStartWorkflowExecutionRequest,
    SignalWorkflowExecutionRequest,
)
from temporalio.client import (
    Schedule,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleUpdate,
    ScheduleUpdateInput,
    WithStartWorkflowOperation,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowQueryFailedError,
    WorkflowQueryRejectedError,
)
from temporalio.common import (
    QueryRejectCondition,
    RetryPolicy,
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

from ostinato import every
from ostinato.functions import Cancelled, FunctionContext
from ostinato.testing import World
from tests.support.wire import HOURLY, QUEUE, Wired, refused, wired


async def double(n: int) -> int:
    return 2 * n


async def broken() -> None:
    raise ValueError("not today")


def declare(world: World) -> list[str]:
    effects: list[str] = []

    async def clean_up() -> None:
        effects.append("cleaned up")

    @world.app.job()
    async def charge(user: str) -> str:
        return f"charged {user}"

    @world.app.function()
    async def add(ctx: FunctionContext, a: int, b: int = 10) -> int:
        return a + b

    @world.app.function()
    async def fails(ctx: FunctionContext) -> None:
        await ctx.step(broken)

    @world.app.function()
    async def onboard(ctx: FunctionContext, user: str) -> dict[str, Any]:
        ctx.set_state({"phase": "creating", "user": user})
        account = await ctx.step(double, 21)
        await ctx.sleep("3d")
        ctx.set_state({"phase": "asking", "user": user})
        answer = await ctx.receive("reply", timeout="2d")
        child = await ctx.start("charge", {"user": user})
        ctx.set_state({"phase": "done", "user": user})
        return {"account": account, "answer": answer, "child": await child.result()}

    @world.app.function()
    async def collect(ctx: FunctionContext, count: int) -> list[Any]:
        items: list[Any] = []
        try:
            while len(items) < count:
                items.append(await ctx.receive("item"))
                ctx.set_state(len(items))
        except Cancelled:
            await ctx.step(clean_up)
            raise
        return items

    return effects


async def cause_of(handle: WorkflowHandle[Any, Any]) -> BaseException:
    with pytest.raises(WorkflowFailureError) as error:
        await handle.result()
    return error.value.cause


async def collecting(wire: Wired, id: str, count: int, **options: Any) -> WorkflowHandle[Any, Any]:
    return await wire.client.start_workflow("collect", count, id=id, **{**QUEUE, **options})


async def names_of(handle: WorkflowHandle[Any, Any]) -> list[str]:
    events = (await handle.fetch_history()).events
    assert [event.event_id for event in events] == list(range(1, len(events) + 1))
    return [EventType.Name(event.event_type).removeprefix("EVENT_TYPE_").lower() for event in events]


async def test_arguments_and_results(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        client = wire.client
        assert await client.execute_workflow("add", 1, id="one", **QUEUE) == 11
        assert await client.execute_workflow("add", args=[1, 2], id="two", **QUEUE) == 3
        assert await client.execute_workflow("add", {"a": 4, "b": 5}, id="by-name", **QUEUE) == 9
        assert {info.name for info in await wire.app.functions.list()} == {"add"}
        with refused(RPCStatusCode.INVALID_ARGUMENT, "function 'add': 3 arguments were given; it takes a, b"):
            await client.execute_workflow("add", args=[1, 2, 3], id="many", **QUEUE)
        with refused(RPCStatusCode.INVALID_ARGUMENT, "input: function 'add': a: input should be a valid integer"):
            await client.execute_workflow("add", "x", id="text", **QUEUE)
        with refused(RPCStatusCode.INVALID_ARGUMENT, "retry_policy", "@step(retry=3)"):
            await client.start_workflow("add", 1, id="retried", retry_policy=RetryPolicy(maximum_attempts=2), **QUEUE)
        once = RetryPolicy(maximum_attempts=1)
        assert await client.execute_workflow("add", 1, id="once", retry_policy=once, **QUEUE) == 11
        failed = await client.start_workflow("fails", id="fails", **QUEUE)
        cause = await cause_of(failed)
        assert isinstance(cause, ApplicationError)
        assert (cause.type, cause.message) == ("StepFailed", "step 'broken' failed: ValueError: not today")


async def test_a_function_is_signalled_queried_and_waited_for(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        handle = await wire.client.start_workflow("onboard", "ada", id="ada", **QUEUE)
        await wire.settle()
        assert await handle.query("phase") == "creating"
        await wire.advance("3d")
        assert await handle.query("state") == {"phase": "asking", "user": "ada"}
        (waits,) = (await handle.describe()).raw_description.pending_activities
        assert waits.last_failure.message.startswith("a message 'reply' or the time 2")
        await handle.signal("reply", {"ok": True})
        await wire.settle()
        assert await handle.result() == {"account": 42, "answer": {"ok": True}, "child": "charged ada"}
        assert await handle.query("phase") == "done"  # also when it is over
        assert await names_of(handle) == [
            "workflow_execution_started",
            "activity_task_scheduled",
            "activity_task_started",
            "activity_task_completed",
            "timer_started",
            "timer_fired",
            "timer_started",
            "workflow_execution_signaled",
            "timer_canceled",
            "start_child_workflow_execution_initiated",
            "child_workflow_execution_started",
            "child_workflow_execution_completed",
            "workflow_execution_completed",
        ]
        events = (await handle.fetch_history()).events
        scheduled, started, completed = events[1:4]
        assert scheduled.activity_task_scheduled_event_attributes.activity_type.name == "double"
        assert started.activity_task_started_event_attributes.scheduled_event_id == 2
        ended = completed.activity_task_completed_event_attributes
        assert (ended.scheduled_event_id, ended.started_event_id, ended.result.payloads[0].data) == (2, 3, b"42")
        (signal,) = [event for event in events if event.HasField("workflow_execution_signaled_event_attributes")]
        attributes = signal.workflow_execution_signaled_event_attributes
        assert (attributes.signal_name, attributes.input.payloads[0].data) == ("reply", b'{"ok":true}')
        description = (await handle.describe()).raw_description.workflow_execution_info
        assert description.history_length == len(events)


async def test_signals(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        service = wire.client.workflow_service
        handle = await collecting(wire, "c", 5)
        await handle.signal("item")
        await handle.signal("item", {"n": 1})
        await handle.signal("item", args=[2, "three"])

        async def signal(request_id: str, id: str = "c", data: bytes = b"4") -> None:
            request = SignalWorkflowExecutionRequest(
                namespace="default",
                signal_name="item",
                request_id=request_id,
                workflow_execution=WorkflowExecution(workflow_id=id),
            )
            request.input.payloads.add(metadata={"encoding": b"json/plain"}, data=data)
            await service.signal_workflow_execution(request)

        for _ in range(3):
            await signal("again")
        await wire.settle()
        assert await handle.query("state") == 4
        with refused(RPCStatusCode.INVALID_ARGUMENT, "input[0]", "is not JSON"):
            await signal("not json", data=b"{")
        await asyncio.gather(*(signal("x" * 500, data=b"5") for _ in range(3)))
        await wire.settle()
        assert await handle.result() == [None, {"n": 1}, [2, "three"], 4, 5]
        for request_id in ("again", "x" * 500):
            await signal(request_id)  # the answer was lost, not the signal
        with refused(RPCStatusCode.NOT_FOUND, "already completed"):
            await signal("late")
        with refused(RPCStatusCode.NOT_FOUND, "already completed"):
            await handle.signal("item", 6)
        with refused(RPCStatusCode.NOT_FOUND, "nobody"):
            await signal("first", "nobody")
        with refused(RPCStatusCode.NOT_FOUND):
            await wire.client.get_workflow_handle("c", run_id="another").signal("item")


async def test_a_function_that_was_started_elsewhere_is_signalled_and_queried(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        native = await wire.app.functions.start("collect", {"count": 1}, id="native")
        handle = wire.client.get_workflow_handle("native")
        await handle.signal("item", "x")
        await wire.settle()
        assert await native.result() == ["x"]
        assert await handle.result() == ["x"]
        assert await handle.query("state") == 1


async def test_a_signal_starts_a_function_or_goes_to_the_one_that_runs(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        client = wire.client
        reuse, conflict = WorkflowIDReusePolicy, WorkflowIDConflictPolicy

        async def signal(item: Any, count: int = 3, **options: Any) -> WorkflowHandle[Any, Any]:
            return await client.start_workflow(
                "collect", count, id="c", start_signal="item", start_signal_args=[item], **QUEUE, **options
            )

        first = await signal(1)
        await wire.settle()
        second = await signal(2)
        assert first.result_run_id == second.result_run_id
        await wire.settle()
        assert await first.query("state") == 2
        await signal(3)
        await wire.settle()
        await signal(4)
        (done, after) = [one async for one in client.list_workflows("WorkflowId = 'c'")][::-1]
        assert done.status is WorkflowExecutionStatus.COMPLETED
        assert await client.get_workflow_handle("c", run_id=done.run_id).result() == [1, 2, 3]
        assert after.status is WorkflowExecutionStatus.RUNNING
        replaced = await signal(5, id_conflict_policy=conflict.TERMINATE_EXISTING, count=2)
        assert replaced.result_run_id != after.run_id
        again = await signal(6, id_reuse_policy=reuse.TERMINATE_IF_RUNNING, count=1)
        assert isinstance(await cause_of(replaced), TerminatedError)
        assert await again.result() == [6]
        with pytest.raises(WorkflowAlreadyStartedError):
            await signal(7, id_reuse_policy=reuse.REJECT_DUPLICATE)
        with refused(RPCStatusCode.INVALID_ARGUMENT, "workflow_id_conflict_policy"):
            await signal(8, id_conflict_policy=conflict.FAIL)
        with refused(RPCStatusCode.UNIMPLEMENTED, "'charge' is not a function", "nothing was started"):
            await client.start_workflow("charge", "ada", id="job", start_signal="item", **QUEUE)
        await client.start_workflow("charge", "ada", id="job", start_delay=timedelta(hours=1), **QUEUE)
        with refused(RPCStatusCode.FAILED_PRECONDITION, "is a job", "was not delivered"):
            await client.start_workflow("collect", 1, id="job", start_signal="item", **QUEUE)


async def test_a_signal_with_start_that_comes_again_is_done_once(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        service = wire.client.workflow_service

        async def ask(request_id: str, item: bytes = b"1") -> str:
            request = SignalWithStartWorkflowExecutionRequest(
                namespace="default", workflow_id="once", request_id=request_id, signal_name="item"
            )
            request.workflow_type.name = "collect"
            request.input.payloads.add(metadata={"encoding": b"json/plain"}, data=b"2")
            request.signal_input.payloads.add(metadata={"encoding": b"json/plain"}, data=item)
            answer = await service.signal_with_start_workflow_execution(request)
            return answer.run_id

        assert len(set(await asyncio.gather(*(ask("r") for _ in range(10))))) == 1
        await wire.settle()
        handle = wire.client.get_workflow_handle("once")
        assert await handle.query("state") == 1
        with refused(RPCStatusCode.FAILED_PRECONDITION, "'r' was used for another call"):
            await ask("r", b"2")
        run_id = await ask("s", b"2")
        await wire.settle()
        assert await handle.result() == [1, 2]
        assert await ask("s", b"2") == run_id  # also when it is over


async def test_queries(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        handle = await wire.client.start_workflow("onboard", "ada", id="ada", start_delay=timedelta(hours=1), **QUEUE)
        assert await handle.query("state") is None
        with pytest.raises(WorkflowQueryFailedError, match="'phase': function 'onboard' has shown no state yet"):
            await handle.query("phase")
        await wire.advance("2h")
        with pytest.raises(WorkflowQueryFailedError, match="has no such key; there are state, phase, user"):
            await handle.query("mood")
        with pytest.raises(WorkflowQueryFailedError, match="no query of Temporal's own; there are state, phase"):
            await handle.query("__stack_trace")
        with refused(RPCStatusCode.NOT_FOUND):
            await wire.client.get_workflow_handle("nobody").query("state")
        not_open, cleanly = QueryRejectCondition.NOT_OPEN, QueryRejectCondition.NOT_COMPLETED_CLEANLY
        assert await handle.query("phase", reject_condition=not_open) == "creating"
        await handle.terminate()
        for condition in (not_open, cleanly):
            with pytest.raises(WorkflowQueryRejectedError) as rejected:
                await handle.query("phase", reject_condition=condition)
            assert rejected.value.status is WorkflowExecutionStatus.TERMINATED
        assert await handle.query("phase") == "creating"
        done = await wire.client.start_workflow("add", 1, id="add", **QUEUE)
        await done.result()
        assert await done.query("state", reject_condition=cleanly) is None
        job = await wire.client.start_workflow("charge", "ada", id="job", **QUEUE)
        with refused(RPCStatusCode.UNIMPLEMENTED, "'charge' is a job, and a job takes no queries"):
            await job.query("state")


async def test_cancel_lets_a_function_clean_up_and_terminate_does_not(world: World) -> None:
    effects = declare(world)
    async with wired(world) as wire:
        handle = await collecting(wire, "cancelled", 1)
        await wire.settle()
        await handle.cancel(reason="enough")
        assert (await handle.describe()).raw_description.workflow_extended_info.cancel_requested
        await wire.settle()
        assert isinstance(await cause_of(handle), CancelledError)
        assert (await handle.describe()).status is WorkflowExecutionStatus.CANCELED
        assert effects == ["cleaned up"]
        assert await names_of(handle) == [
            "workflow_execution_started",
            "workflow_execution_cancel_requested",
            "activity_task_scheduled",
            "activity_task_started",
            "activity_task_completed",
            "workflow_execution_canceled",
        ]
        for call in (handle.cancel, handle.terminate):
            with refused(RPCStatusCode.NOT_FOUND, "already completed"):
                await call()
        handle = await collecting(wire, "terminated", 1)
        await wire.settle()
        await handle.terminate("by ada", {"because": 7}, reason="at once")
        cause = await cause_of(handle)
        assert isinstance(cause, TerminatedError)
        assert (cause.message, list(cause.details)) == ("at once", ["by ada", {"because": 7}])
        assert effects == ["cleaned up"]
        assert await names_of(handle) == ["workflow_execution_started", "workflow_execution_terminated"]
        early = await collecting(wire, "early", 1, start_delay=timedelta(hours=1))
        await early.cancel()
        assert isinstance(await cause_of(early), CancelledError)


async def test_a_function_at_work_is_cancelled_and_terminated(world: World) -> None:
    effects: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            effects.append("stopped")

    async def clean_up() -> None:
        effects.append("cleaned up")

    @world.app.function()
    async def long(ctx: FunctionContext) -> None:
        try:
            await ctx.step(work)
        finally:
            await ctx.step(clean_up)

    async with wired(world) as wire:
        handle = await wire.client.start_workflow("long", id="cancelled", **QUEUE)
        await wire.advance("1s")
        await handle.cancel()
        await wire.advance("2s")
        assert isinstance(await cause_of(handle), CancelledError)
        assert effects == ["stopped", "cleaned up"]
        handle = await wire.client.start_workflow("long", id="terminated", **QUEUE)
        await wire.advance("1s")
        await handle.terminate()
        await wire.settle()
        assert isinstance(await cause_of(handle), TerminatedError)
        assert effects == ["stopped", "cleaned up", "stopped"]


@pytest.mark.parametrize(
    "options",
    [
        {"execution_timeout": timedelta(hours=2)},
        {"run_timeout": timedelta(hours=2), "execution_timeout": timedelta(hours=3)},
    ],
    ids=["execution", "run"],
)
async def test_a_function_may_take_as_long_as_the_shorter_timeout(world: World, options: dict[str, Any]) -> None:
    declare(world)
    async with wired(world) as wire:
        handle = await collecting(wire, "c", 1, **options)
        await wire.advance("119m")
        assert (await handle.describe()).status is WorkflowExecutionStatus.RUNNING
        await wire.advance("2m")
        assert isinstance(await cause_of(handle), TimeoutError)


async def test_what_an_id_may_be_used_for_again(world: World) -> None:
    declare(world)
    reuse, conflict = WorkflowIDReusePolicy, WorkflowIDConflictPolicy
    async with wired(world) as wire:
        first = await collecting(wire, "id", 1)
        with pytest.raises(WorkflowAlreadyStartedError):
            await collecting(wire, "id", 1)
        same = await collecting(wire, "id", 1, id_conflict_policy=conflict.USE_EXISTING)
        assert same.result_run_id == first.result_run_id
        second = await collecting(wire, "id", 1, id_conflict_policy=conflict.TERMINATE_EXISTING)
        assert isinstance(await cause_of(first), TerminatedError)
        await second.signal("item", 1)
        assert await second.result() == [1]
        with pytest.raises(WorkflowAlreadyStartedError):
            await collecting(wire, "id", 1, id_reuse_policy=reuse.REJECT_DUPLICATE)
        third = await collecting(wire, "id", 1)
        runs = [one.run_id async for one in wire.client.list_workflows("WorkflowType = 'collect'")]
        assert runs == [handle.result_run_id for handle in (third, second, first)]
        assert (await wire.client.count_workflows("ExecutionStatus = 'Running'")).count == 1


async def test_long_histories_come_in_pages(world: World) -> None:
    async def much(n: int) -> str:
        return "x" * 100_000

    @world.app.function()
    async def many(ctx: FunctionContext) -> int:
        for n in range(30):
            await ctx.step(much, n)
        await ctx.receive("go")
        return 30

    async with wired(world) as wire:
        service = wire.client.workflow_service
        handle = await wire.client.start_workflow("many", id="many", **QUEUE)
        await wire.settle()
        assert len(await names_of(handle)) == 1 + 30 * 3  # several pages: each answer has at most 2 MiB
        execution = WorkflowExecution(workflow_id="many")
        waiting = GetWorkflowExecutionHistoryRequest(namespace="default", execution=execution, wait_new_event=True)
        answer = await service.get_workflow_execution_history(waiting)
        assert [event.event_id for event in answer.history.events] == [1]
        await handle.signal("go")
        await wire.settle()
        seen = [event.event_id for event in answer.history.events]
        while answer.next_page_token:
            waiting.next_page_token = answer.next_page_token
            answer = await service.get_workflow_execution_history(waiting)
            seen += [event.event_id for event in answer.history.events]
        assert seen == list(range(1, 1 + 30 * 3 + 1 + 1 + 1))
        assert await handle.result() == 30
        request = GetWorkflowExecutionHistoryReverseRequest(
            namespace="default", execution=execution, maximum_page_size=40
        )
        pages = []
        while True:
            backwards = await service.get_workflow_execution_history_reverse(request)
            pages.append([event.event_id for event in backwards.history.events])
            request.next_page_token = backwards.next_page_token
            if not request.next_page_token:
                break
        assert [id for page in pages for id in page] == seen[::-1]
        assert all(len(page) <= 40 for page in pages)


async def test_every_kind_of_step_has_its_event(world: World) -> None:
    @world.app.function()
    async def child(ctx: FunctionContext) -> None:
        await ctx.step(broken)

    @world.app.function()
    async def parent(ctx: FunctionContext) -> str:
        ctx.now()
        ctx.version("change", 2)
        await ctx.receive("never", timeout="1h", default=None)
        handle = await ctx.start("child")
        try:
            await handle.result()
        except Exception as problem:
            return str(problem)
        return ""

    async with wired(world) as wire:
        handle = await wire.client.start_workflow("parent", id="p", **QUEUE)
        await wire.settle()
        assert await names_of(handle) == ["workflow_execution_started", *["marker_recorded"] * 2, "timer_started"]
        await wire.advance("2h")
        assert "ValueError: not today" in await handle.result()
        names = await names_of(handle)
        assert names[4:] == [
            "timer_fired",
            "start_child_workflow_execution_initiated",
            "child_workflow_execution_started",
            "child_workflow_execution_failed",
            "workflow_execution_completed",
        ]
        failed = (await handle.fetch_history()).events[-2].child_workflow_execution_failed_event_attributes
        assert (failed.initiated_event_id, failed.started_event_id) == (6, 7)
        inner = wire.client.get_workflow_handle(failed.workflow_execution.workflow_id)
        assert await names_of(inner) == [
            "workflow_execution_started",
            "activity_task_scheduled",
            "activity_task_started",
            "activity_task_failed",
            "workflow_execution_failed",
        ]


async def test_schedules_start_functions(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        client = wire.client
        action = ScheduleActionStartWorkflow(
            "add", args=[1, 2], id="sum", execution_timeout=timedelta(hours=1), **QUEUE
        )
        handle = await client.create_schedule("sums", Schedule(action=action, spec=HOURLY), trigger_immediately=True)
        await wire.settle()
        description = await handle.describe()
        (recent,) = description.info.recent_actions
        assert isinstance(recent.action, ScheduleActionExecutionStartWorkflow)
        assert await client.get_workflow_handle(recent.action.workflow_id).result() == 3
        native = await wire.app.schedules.get("sums")
        assert native.starts == "function add"
        assert native.options == {"queue": "default", "deadline": "3600.000000s"}
        described = description.raw_description.schedule.action.start_workflow
        assert described.workflow_type.name == "add"
        (listed,) = [one.raw_entry async for one in await client.list_schedules()]
        assert listed.info.workflow_type.name == "add"
        await wire.advance("1h")
        scheduled = client.get_workflow_handle("sum-2026-01-01T01:00:00Z")
        assert await scheduled.result() == 3
        assert (await scheduled.describe()).workflow_type == "add"

        def change(input: ScheduleUpdateInput) -> ScheduleUpdate:
            schedule = input.description.schedule
            assert isinstance(schedule.action, ScheduleActionStartWorkflow)
            schedule.action.args = [5]
            return ScheduleUpdate(schedule)

        await handle.update(change)
        await wire.advance("1h")
        assert await client.get_workflow_handle("sum-2026-01-01T02:00:00Z").result() == 15
        with refused(RPCStatusCode.INVALID_ARGUMENT, "schedule.action.start_workflow.input", "function 'add'"):
            bad = ScheduleActionStartWorkflow("add", args=[1, 2, 3], id="bad", **QUEUE)
            await client.create_schedule("bad", Schedule(action=bad, spec=HOURLY))


async def test_overlap_policies_stop_functions(world: World) -> None:
    effects = declare(world)
    async with wired(world) as wire:
        action = ScheduleActionStartWorkflow("collect", 1, id="c", **QUEUE)
        policy = SchedulePolicy(overlap=ScheduleOverlapPolicy.CANCEL_OTHER)
        await wire.client.create_schedule("s", Schedule(action=action, spec=HOURLY, policy=policy))
        await wire.advance("121m")
        statuses = [one.status async for one in wire.client.list_workflows("WorkflowType = 'collect'")]
        assert statuses == [WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.CANCELED]
        assert effects == ["cleaned up"]


async def test_a_schedule_that_was_made_elsewhere_is_described_and_stays_what_it_is(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        await wire.app.schedules.create("native", every("1h"), {"function": "add", "input": {"a": 1}})
        handle = wire.client.get_schedule_handle("native")
        await handle.update(lambda input: ScheduleUpdate(input.description.schedule))
        await handle.trigger()
        await wire.settle()
        (info,) = await wire.app.functions.list()
        assert (info.name, info.status, info.result) == ("add", "succeeded", 11)


async def test_a_function_of_another_node_is_known_by_its_declaration(world: World) -> None:
    """A process that serves the wire and has no code: arguments by position are named by the node that runs them."""
    declare(world)
    async with wired(world) as wire:
        wire.app.functions.codes._by_name.pop("add")
        handle = await wire.client.start_workflow("add", args=[1, 2], id="elsewhere", **QUEUE)
        (info,) = await wire.app.functions.list()
        assert (info.name, info.input) == ("add", {"*": [1, 2]})
        with refused(RPCStatusCode.INVALID_ARGUMENT, "3 arguments were given"):
            await wire.client.start_workflow("add", args=[1, 2, 3], id="many", **QUEUE)
        await handle.terminate()


async def test_a_function_takes_no_updates(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        handle = await collecting(wire, "c", 1)
        with refused(RPCStatusCode.UNIMPLEMENTED, "take no updates"):
            await handle.execute_update("more")
        start: WithStartWorkflowOperation[Any, Any] = WithStartWorkflowOperation(
            "collect", 1, id="d", id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING, **QUEUE
        )
        with refused(RPCStatusCode.UNIMPLEMENTED, "nothing was started"):
            await wire.client.execute_update_with_start_workflow("more", start_workflow_operation=start)
