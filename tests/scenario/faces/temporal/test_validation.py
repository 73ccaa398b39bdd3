"""A wrong value in any field is refused by the name of the field, and nothing of the call is on record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.api.workflowservice.v1 import (
    CreateScheduleRequest,
    ListSchedulesRequest,
    ListWorkflowExecutionsRequest,
    PatchScheduleRequest,
    StartWorkflowExecutionRequest,
    UpdateScheduleRequest,
)
from temporalio.client import Schedule, ScheduleSpec
from temporalio.service import RPCStatusCode

from ostinato.testing import World
from tests.support.wire import greeting, refused, register, wired

Spoil = Callable[[Any], object]
LONG = "x" * 1001
NOT_JSON = Payload(metadata={"encoding": b"json/plain"}, data=b"{nope")
FEW = Payload(metadata={"encoding": b"json/plain"}, data=b'"few"')
ACTION = "schedule.action.start_workflow"


@pytest.fixture
def world() -> World:
    """What is wrong is found before any store is asked."""
    return World()


def within(path: str, spoil: Spoil) -> Spoil:
    """The same, of a part."""

    def spoil_part(request: Any) -> None:
        for name in path.split("."):
            request = getattr(request, name)
        spoil(request)

    return spoil_part


def put(path: str, value: Any) -> Spoil:
    """Set a field by its path."""

    def spoil(request: Any) -> None:
        *way, last = path.split(".")
        for name in way:
            request = getattr(request, name)
        setattr(request, last, value)

    return spoil


def added(path: str, **values: Any) -> Spoil:
    """Add an element to a list by its path."""

    def spoil(request: Any) -> None:
        for name in path.split("."):
            request = getattr(request, name)
        request.add(**values)

    return spoil


def calendar(kind: str, field: str, **options: int) -> Spoil:
    return lambda one: getattr(getattr(one.schedule.spec, kind).add(), field).add(**options)


# Mistakes in an action, both in a schedule and in a start.
STARTS: dict[str, Spoil] = {
    "workflow_id": put("workflow_id", LONG),
    "workflow_type.name": put("workflow_type.name", ""),
    "task_queue.name": put("task_queue.name", LONG),
    "input[0]": lambda one: one.input.payloads.append(NOT_JSON),
    "input[1]": lambda one: one.input.payloads.extend([FEW, Payload(data=b"?")]),
    "input": lambda one: one.input.payloads.extend([FEW] * 3),
    "workflow_execution_timeout": put("workflow_execution_timeout.seconds", -1),
    "workflow_execution_timeout: 1e+11 s is longer": put("workflow_execution_timeout.seconds", 10**11),
    "workflow_run_timeout": put("workflow_run_timeout.nanos", -5000),
    "workflow_task_timeout": put("workflow_task_timeout.seconds", -1),
    "retry_policy.initial_interval": put("retry_policy.initial_interval.seconds", -1),
    "retry_policy.backoff_coefficient": put("retry_policy.backoff_coefficient", 0.5),
    "retry_policy.maximum_interval": put("retry_policy.maximum_interval.nanos", 1000),
    "retry_policy.maximum_attempts": put("retry_policy.maximum_attempts", -1),
    "cron_schedule": put("cron_schedule", "0 9 * * *"),
    "search_attributes.Unknown": lambda one: one.search_attributes.indexed_fields["Unknown"].CopyFrom(FEW),
    "search_attributes.Size": lambda one: one.search_attributes.indexed_fields["Size"].CopyFrom(FEW),
    "search_attributes.Colour": lambda one: one.search_attributes.indexed_fields["Colour"].CopyFrom(NOT_JSON),
    "search_attributes.TemporalScheduledById": lambda request: request.search_attributes.indexed_fields[
        "TemporalScheduledById"
    ].CopyFrom(FEW),
    "priority.priority_key": put("priority.priority_key", 9),
    "priority.fairness_weight": put("priority.fairness_weight", -1.0),
    "priority.fairness_key": put("priority.fairness_key", "k" * 65),
}

DEFINITIONS: dict[str, Spoil] = {
    "schedule:": lambda one: one.ClearField("schedule"),
    "schedule.action": lambda one: one.schedule.ClearField("action"),
    f"{ACTION}.workflow_id_reuse_policy": put(f"{ACTION}.workflow_id_reuse_policy", 3),
    "structured_calendar[0]: hour": calendar("structured_calendar", "hour", start=24),
    "exclude_structured_calendar[0]: minute": calendar("exclude_structured_calendar", "minute", start=5, end=2),
    "structured_calendar[0]: second[0]: Second has invalid Step": calendar("structured_calendar", "second", step=-1),
    "calendar[0]: Month": added("schedule.spec.calendar", month="smarch"),
    "exclude_calendar[0]: DayOfWeek": added("schedule.spec.exclude_calendar", day_of_week="9"),
    "CronString": lambda one: one.schedule.spec.cron_string.append("often"),
    "DayOfMonth": lambda one: one.schedule.spec.cron_string.extend(["0 0 1 * *", "0 0 32 * *"]),
    "schedule.spec.interval[0].interval": lambda one: one.schedule.spec.interval.add().interval.FromSeconds(10**15),
    "interval": lambda one: one.schedule.spec.interval.add().interval.FromMilliseconds(10),
    "phase": lambda one: one.schedule.spec.interval.add(interval={"seconds": 5}, phase={"seconds": 5}),
    "schedule.spec.start_time": put("schedule.spec.start_time.seconds", 10**15),
    "schedule.spec.end_time": put("schedule.spec.end_time.nanos", -5),
    "jitter": put("schedule.spec.jitter.seconds", -1),
    "timezone_name": put("schedule.spec.timezone_name", "Mars/Olympus"),
    "timezone_data": put("schedule.spec.timezone_data", b"not a zone"),
    "comment": added("schedule.spec.calendar", comment="c" * 201),
    "schedule.policies.overlap_policy": put("schedule.policies.overlap_policy", 7),
    "schedule.policies.catchup_window": put("schedule.policies.catchup_window.nanos", 2 * 10**9),
    "schedule.state.notes": put("schedule.state.notes", LONG),
    "schedule.state.remaining_actions": put("schedule.state.remaining_actions", -1),
    "search_attributes.Labels": lambda one: one.search_attributes.indexed_fields["Labels"].CopyFrom(FEW),
}

PATCHES: dict[str, Spoil] = {
    "trigger_immediately.overlap_policy": put("trigger_immediately.overlap_policy", 9),
    "backfill_request[0].start_time": added("backfill_request", end_time={"seconds": 1}),
    "backfill_request[0].end_time": added("backfill_request", start_time={"seconds": 1}),
    "backfill_request[0].overlap_policy": added(
        "backfill_request", start_time={"seconds": 1}, end_time={"seconds": 2}, overlap_policy=8
    ),
    "backfill_request[0].end_time: is before": added(
        "backfill_request", start_time={"seconds": 2}, end_time={"seconds": 1}
    ),
    "pause": put("pause", LONG),
    "unpause": put("unpause", LONG),
}

CREATES: dict[str, Spoil] = {
    "schedule_id": put("schedule_id", LONG),
    "schedule_id: is missing": put("schedule_id", ""),
    "schedule_id: the schedule's name": put("schedule_id", " padded "),
    "request_id": put("request_id", LONG),
}


def definition(request: Any) -> Any:
    request.namespace, request.schedule_id, request.request_id = "default", "s", "r"
    action = request.schedule.action.start_workflow
    action.workflow_id, action.workflow_type.name, action.task_queue.name = "w", "greet", "default"
    return request


async def test_a_wrong_definition(world: World) -> None:
    @world.app.job()
    async def greet(a: str = "", b: str = "") -> None: ...

    wrong = {**DEFINITIONS, **CREATES}
    wrong |= {f"{ACTION}.{field}": within(ACTION, spoil) for field, spoil in STARTS.items()}
    wrong |= {f"initial_patch.{field}": within("initial_patch", spoil) for field, spoil in PATCHES.items()}
    async with wired(world) as wire:
        await register(wire)
        service = wire.client.workflow_service
        for field, spoil in wrong.items():
            request = definition(CreateScheduleRequest())
            spoil(request)
            with refused(RPCStatusCode.INVALID_ARGUMENT, field):
                await service.create_schedule(request)
        assert await wire.app.schedules.list() == []
        await service.create_schedule(definition(CreateScheduleRequest()))  # nothing else was wrong with it
        before = await wire.app.schedules.get("s")
        updates = {field: spoil for field, spoil in wrong.items() if field not in CREATES and "initial" not in field}
        for field, spoil in updates.items():
            update = definition(UpdateScheduleRequest())
            update.schedule.state.notes = "changed"
            spoil(update)
            if "Temporal" in field:
                continue
            with refused(RPCStatusCode.INVALID_ARGUMENT, field):
                await service.update_schedule(update)
        for field, spoil in PATCHES.items():
            patch = PatchScheduleRequest(namespace="default", schedule_id="s", request_id="p")
            patch.patch.trigger_immediately.SetInParent()
            spoil(patch.patch)
            with refused(RPCStatusCode.INVALID_ARGUMENT, f"patch.{field}"):
                await service.patch_schedule(patch)
        with refused(RPCStatusCode.INVALID_ARGUMENT, "patch: asks for nothing"):
            await service.patch_schedule(PatchScheduleRequest(namespace="default", schedule_id="s"))
        assert await wire.app.schedules.get("s") == before
        assert await wire.app.runs() == []


def _huge(request: StartWorkflowExecutionRequest) -> None:
    request.input.payloads.add(data=b"x" * (5 << 20))


async def test_a_wrong_start(world: World) -> None:
    @world.app.job()
    async def greet(a: str = "", b: str = "") -> None: ...

    wrong = {
        **STARTS,
        "request_id": put("request_id", LONG),
        "workflow_id_reuse_policy": put("workflow_id_reuse_policy", 77),
        "workflow_id_conflict_policy": put("workflow_id_conflict_policy", 77),
        "workflow_start_delay": put("workflow_start_delay.seconds", -1),
        "workflow_start_delay: 2.83": put("workflow_start_delay.seconds", 283_824_000_000),
        "input: makes a message of": _huge,
    }
    async with wired(world) as wire:
        await register(wire)
        for field, spoil in wrong.items():
            request = StartWorkflowExecutionRequest(namespace="default", workflow_id="w", request_id="r")
            request.workflow_type.name, request.task_queue.name = "greet", "default"
            spoil(request)
            with refused(RPCStatusCode.INVALID_ARGUMENT, field):
                await wire.client.workflow_service.start_workflow_execution(request)
        request = StartWorkflowExecutionRequest(workflow_id="w")
        request.workflow_type.name = "greet"
        put("workflow_id_reuse_policy", 4)(request)
        put("workflow_id_conflict_policy", 2)(request)
        with refused(RPCStatusCode.INVALID_ARGUMENT, "workflow_id_conflict_policy"):
            await wire.client.workflow_service.start_workflow_execution(request)
        assert await wire.app.runs() == []


async def test_no_text_has_a_nul_in_it(world: World) -> None:
    """One of the stores cannot hold it; clients would try again what never succeeds."""
    async with wired(world) as wire:
        client = wire.client
        handle = await client.create_schedule("there", Schedule(greeting(), spec=ScheduleSpec()))
        known_workflow = await client.start_workflow("greet", id="known", task_queue="default")
        calls: dict[str, Callable[[], Awaitable[Any]]] = {
            "patch.pause": lambda: handle.pause(note="a\x00b"),
            "reason": lambda: known_workflow.terminate(reason="a\x00b"),
            "execution.run_id": lambda: client.get_workflow_handle("known", run_id="a\x00b").describe(),
            "query": lambda: client.count_workflows("WorkflowId = 'a\x00b'"),
            "next_page_token": lambda: client.workflow_service.list_schedules(
                ListSchedulesRequest(namespace="default", next_page_token=b"a\x00b")
            ),
        }
        for field, call in calls.items():
            with refused(RPCStatusCode.INVALID_ARGUMENT, field):
                await call()
        await known_workflow.terminate()


async def test_wrong_pages_and_queries(world: World) -> None:
    async with wired(world) as wire:
        service = wire.client.workflow_service
        schedules: dict[str, dict[str, Any]] = {
            "maximum_page_size": {"maximum_page_size": -1},
            "next_page_token": {"next_page_token": b"\xff\xfe"},
            "invalid query": {"query": "ScheduleId = "},
            "no order": {"query": "TemporalSchedulePaused > true"},
            "is not a value for ScheduleNextActionTime": {"query": "ScheduleNextActionTime > 'tomorrow'"},
            "nested more than": {"query": "(" * 60 + "ScheduleId = 'x'" + ")" * 60},
            "characters": {"query": "ScheduleId = 'x' OR " * 1000},
            "the number at character 32": {"query": f"ScheduleRunningWorkflowCount = {'9' * 5000}"},
        }
        for words, request in schedules.items():
            with refused(RPCStatusCode.INVALID_ARGUMENT, words):
                await service.list_schedules(ListSchedulesRequest(namespace="default", **request))
        runs: dict[str, dict[str, Any]] = {"page_size": {"page_size": -1}, "cannot filter": {"query": "Nothing = 1"}}
        for words, request in runs.items():
            with refused(RPCStatusCode.INVALID_ARGUMENT, words):
                await service.list_workflow_executions(ListWorkflowExecutionsRequest(namespace="default", **request))
