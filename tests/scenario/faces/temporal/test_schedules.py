"""Every call about schedules, by the unmodified client."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.common.v1 import Payload
from temporalio.api.schedule.v1 import SchedulePatch
from temporalio.api.workflowservice.v1 import (
    CountSchedulesRequest,
    CreateScheduleRequest,
    DescribeScheduleRequest,
    DescribeScheduleResponse,
    ListScheduleMatchingTimesRequest,
    PatchScheduleRequest,
    UpdateScheduleRequest,
)
from temporalio.client import (
    Schedule,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleBackfill,
    ScheduleCalendarSpec,
    ScheduleHandle,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleRange,
    ScheduleSpec,
    ScheduleState,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.common import (
    Priority,
    RetryPolicy,
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
)
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCStatusCode

from ostinato import OstinatoError, cron
from ostinato.faces.auth import Door
from ostinato.faces.http.server import Listening
from ostinato.faces.temporal.server import WireServer
from ostinato.faces.temporal.wire_schedules import WireSchedules
from ostinato.schedules.operations.edit import save
from ostinato.testing import World
from tests.support.wire import HOURLY, Wired, declare, greeting, refused, register, wired

COLOUR = SearchAttributeKey.for_keyword("Colour")
SIZE = SearchAttributeKey.for_int("Size")
WHEN = SearchAttributeKey.for_datetime("When")
LABELS = SearchAttributeKey.for_keyword_list("Labels")


async def raw(wire: Wired, id: str) -> DescribeScheduleResponse:
    return await wire.client.workflow_service.describe_schedule(
        DescribeScheduleRequest(namespace="default", schedule_id=id)
    )


def ids(page: Any) -> list[str]:
    return [one.action.workflow_id for one in page]


async def test_a_schedule_runs_at_its_times_and_tells_of_it(world: World) -> None:
    calls = declare(world)
    async with wired(world) as wire:
        handle = await wire.client.create_schedule("hourly", Schedule(greeting("Ann", 2), spec=HOURLY))
        await wire.advance("3h")
        description = await handle.describe()
        assert calls == ["AnnAnn"] * 3
        assert description.info.num_actions == 3
        assert ids(description.info.recent_actions) == [f"greeting-2026-01-01T0{n}:00:00Z" for n in (1, 2, 3)]
        assert description.info.next_action_times[0] == datetime(2026, 1, 1, 4, tzinfo=UTC)
        assert len(description.info.next_action_times) == 10
        assert description.info.created_at == datetime(2026, 1, 1, tzinfo=UTC)
        assert description.info.last_updated_at is None
        last = description.info.recent_actions[-1]
        assert last.scheduled_at == last.started_at == datetime(2026, 1, 1, 3, tzinfo=UTC)
        assert isinstance(last.action, ScheduleActionExecutionStartWorkflow)
        run = wire.client.get_workflow_handle(last.action.workflow_id, run_id=last.action.first_execution_run_id)
        assert await run.result() == "AnnAnn"
        told_of = (await run.describe()).typed_search_attributes
        assert told_of[SearchAttributeKey.for_keyword("TemporalScheduledById")] == "hourly"
        assert told_of[SearchAttributeKey.for_datetime("TemporalScheduledStartTime")] == last.scheduled_at


async def test_everything_of_a_definition_comes_back_as_it_was_given(world: World) -> None:
    declare(world)
    action = greeting(
        execution_timeout=timedelta(hours=1),
        run_timeout=timedelta(minutes=10),
        task_timeout=timedelta(seconds=5),
        retry_policy=RetryPolicy(
            initial_interval=timedelta(seconds=2),
            backoff_coefficient=3.0,
            maximum_interval=timedelta(minutes=1),
            maximum_attempts=4,
            non_retryable_error_types=["ValueError"],
        ),
        memo={"of": "the action"},
        typed_search_attributes=TypedSearchAttributes([SearchAttributePair(COLOUR, "red")]),
        static_summary="a greeting",
        static_details="to Ann",
        priority=Priority(priority_key=1, fairness_key="ann", fairness_weight=2.0),
    )
    spec = ScheduleSpec(
        calendars=[ScheduleCalendarSpec(hour=[ScheduleRange(9, 17, 2)], comment="office hours")],
        intervals=[ScheduleIntervalSpec(timedelta(days=10), offset=timedelta(days=2))],
        cron_expressions=["0 12 * * MON"],
        skip=[ScheduleCalendarSpec(month=[ScheduleRange(12)], day_of_month=[ScheduleRange(25)])],
        start_at=datetime(2026, 1, 2, tzinfo=UTC),
        end_at=datetime(2027, 1, 2, tzinfo=UTC),
        jitter=timedelta(seconds=80),
        time_zone_name="America/New_York",
    )
    policy = SchedulePolicy(
        overlap=ScheduleOverlapPolicy.BUFFER_ONE, catchup_window=timedelta(minutes=5), pause_on_failure=True
    )
    state = ScheduleState(note="a note", paused=True, limited_actions=True, remaining_actions=30)
    async with wired(world) as wire:
        await register(wire)
        handle = await wire.client.create_schedule(
            "whole",
            Schedule(action, spec=spec, policy=policy, state=state),
            memo={"about": "the schedule", "n": [1, {"deep": None}]},
            search_attributes=TypedSearchAttributes(
                [
                    SearchAttributePair(COLOUR, "blue"),
                    SearchAttributePair(SIZE, 7),
                    SearchAttributePair(WHEN, datetime(2026, 5, 1, 12, tzinfo=UTC)),
                    SearchAttributePair(LABELS, ["a", "b"]),
                ]
            ),
        )
        description = await handle.describe()
        schedule = description.schedule
        everyday = (ScheduleRange(1, 31, 1),)
        noon = ScheduleCalendarSpec(
            second=(ScheduleRange(0, 0, 1),),
            minute=(ScheduleRange(0, 0, 1),),
            hour=(ScheduleRange(12, 12, 1),),
            day_of_month=everyday,
            month=(ScheduleRange(1, 12, 1),),
            day_of_week=(ScheduleRange(1, 1, 1),),
        )
        assert schedule.spec.calendars[0].comment == "office hours"
        assert schedule.spec.calendars[0].hour == (ScheduleRange(9, 17, 2),)
        assert schedule.spec.calendars[1] == noon  # what was a cron string is a calendar, written out
        assert schedule.spec.cron_expressions == []
        assert schedule.spec.skip[0].month == (ScheduleRange(12, 12, 1),)
        assert dataclasses.replace(schedule.spec, calendars=[], skip=[]) == dataclasses.replace(
            spec, calendars=[], skip=[], cron_expressions=[]
        )
        assert schedule.policy == policy
        assert schedule.state == state
        assert await description.memo() == {"about": "the schedule", "n": [1, {"deep": None}]}
        assert description.typed_search_attributes[SIZE] == 7
        assert description.typed_search_attributes[LABELS] == ["a", "b"]
        got = schedule.action
        assert isinstance(got, ScheduleActionStartWorkflow)
        assert (got.workflow, got.id, got.task_queue) == ("greet", "greeting", "default")
        assert (got.execution_timeout, got.run_timeout, got.task_timeout) == (
            timedelta(hours=1),
            timedelta(minutes=10),
            timedelta(seconds=5),
        )
        assert got.retry_policy == action.retry_policy
        assert got.typed_search_attributes[COLOUR] == "red"
        assert got.priority == action.priority
        sent = await action._to_proto(wire.client)
        kept = (await raw(wire, "whole")).schedule.action
        assert kept.start_workflow.input == sent.start_workflow.input
        assert kept.start_workflow.memo == sent.start_workflow.memo
        assert kept.start_workflow.user_metadata == sent.start_workflow.user_metadata
        # Sending back what was described changes nothing but the token and the moment.
        before = await raw(wire, "whole")
        await handle.update(lambda given: ScheduleUpdate(given.description.schedule))
        after = await raw(wire, "whole")
        assert after.schedule == before.schedule
        assert after.memo == before.memo
        assert after.search_attributes == before.search_attributes
        assert after.conflict_token != before.conflict_token
        assert (await handle.describe()).info.last_updated_at is not None


async def test_payloads_are_kept_byte_for_byte(world: World) -> None:
    """Also where they are not what our own JSON would look like, or not JSON at all."""
    declare(world)
    strange = Payload(metadata={"encoding": b"binary/encrypted", "key": b"\x00\xff"}, data=b"\x00\x01\xfe")
    spaced = Payload(metadata={"encoding": b"json/plain", "extra": b"1"}, data=b'{ "b": 1.50, "a":"\\u00e4" }')
    async with wired(world) as wire:
        request = CreateScheduleRequest(namespace="default", schedule_id="bytes", request_id="r1")
        start = request.schedule.action.start_workflow
        start.workflow_id, start.workflow_type.name, start.task_queue.name = "w", "unknown-here", "default"
        start.input.payloads.append(spaced)
        start.header.fields["trace"].CopyFrom(strange)
        start.memo.fields["memo"].CopyFrom(strange)
        start.versioning_override.pinned.version.build_id = "build-1"
        request.memo.fields["strange"].CopyFrom(strange)
        request.memo.fields["spaced"].CopyFrom(spaced)
        answer = await wire.client.workflow_service.create_schedule(request)
        assert answer.conflict_token == bytes.fromhex("0100000000000000")
        response = await raw(wire, "bytes")
        assert response.schedule.action.start_workflow == start
        assert response.memo == request.memo
        assert response.conflict_token == answer.conflict_token
        handle = wire.client.get_schedule_handle("bytes")
        await handle.trigger()
        (description,) = ids((await handle.describe()).info.recent_actions)
        started = (await wire.client.get_workflow_handle(description).fetch_history()).events[0]
        attributes = started.workflow_execution_started_event_attributes
        assert (attributes.input, attributes.header, attributes.memo) == (start.input, start.header, start.memo)
        # A change elsewhere goes over what came by the wire; the rest of it stays.
        await wire.app.schedules.update("bytes", input={"name": "Bob"})
        changed = (await raw(wire, "bytes")).schedule.action.start_workflow
        assert changed.workflow_id == "w"
        assert [one.data for one in changed.input.payloads] == [b'{"name":"Bob"}']
        assert (await raw(wire, "bytes")).memo == request.memo


async def test_pause_trigger_backfill_and_delete(world: World) -> None:
    calls = declare(world)
    async with wired(world) as wire:
        client = wire.client
        handle = await client.create_schedule("hourly", Schedule(greeting(), spec=HOURLY))
        await handle.pause(note="for the weekend")
        state = (await handle.describe()).schedule.state
        assert (state.paused, state.note) == (True, "for the weekend")
        await wire.advance("3h")
        assert calls == []
        await handle.trigger()  # a start is on record before the call returns, also in a pause
        found_info = (await handle.describe()).info
        assert found_info.num_actions == 1
        assert ids(found_info.recent_actions) == ["greeting-2026-01-01T03:00:00Z"]
        await wire.settle()
        await handle.trigger(overlap=ScheduleOverlapPolicy.ALLOW_ALL)
        await handle.trigger(overlap=ScheduleOverlapPolicy.ALLOW_ALL)
        several = ids((await handle.describe()).info.recent_actions)
        assert len(set(several)) == 3  # in one second
        assert all(one.startswith("greeting-2026-01-01T03:00:00Z") for one in several)
        await wire.settle()
        day = datetime(2025, 12, 24, tzinfo=UTC)
        await handle.backfill(
            ScheduleBackfill(day, day + timedelta(hours=2), overlap=ScheduleOverlapPolicy.ALLOW_ALL),
            ScheduleBackfill(day + timedelta(days=1), day + timedelta(days=1), overlap=ScheduleOverlapPolicy.ALLOW_ALL),
        )
        assert (await handle.describe()).info.num_actions == 7
        await wire.settle()
        assert len(calls) == 7
        for moment in ("2025-12-24T00:00:00Z", "2025-12-24T02:00:00Z", "2025-12-25T00:00:00Z"):
            assert await client.get_workflow_handle(f"greeting-{moment}").result() == "Ann"
        await handle.unpause()
        assert (await handle.describe()).schedule.state.note == "Unpaused via Python SDK"
        await wire.advance("1h")
        assert len(calls) == 8  # what passed in the pause does not run
        await handle.delete()
        with refused(RPCStatusCode.NOT_FOUND):
            await handle.describe()
        with refused(RPCStatusCode.NOT_FOUND):
            await handle.delete()
        await client.create_schedule("hourly", Schedule(greeting(), spec=HOURLY))  # its id is free again


async def test_create_with_what_is_to_happen_at_once(world: World) -> None:
    calls = declare(world)
    async with wired(world) as wire:
        day = datetime(2025, 12, 24, tzinfo=UTC)
        handle = await wire.client.create_schedule(
            "hourly",
            Schedule(greeting(), spec=HOURLY, policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.ALLOW_ALL)),
            trigger_immediately=True,
            backfill=[ScheduleBackfill(day, day + timedelta(hours=1), overlap=ScheduleOverlapPolicy.ALLOW_ALL)],
        )
        assert (await handle.describe()).info.num_actions == 3
        await wire.settle()
        assert calls == ["Ann"] * 3
        with pytest.raises(ScheduleAlreadyRunningError):
            await wire.client.create_schedule("hourly", Schedule(greeting(), spec=HOURLY))


async def test_an_update_puts_another_definition_in_place(world: World) -> None:
    calls = declare(world)
    async with wired(world) as wire:
        await register(wire)
        handle = await wire.client.create_schedule(
            "hourly",
            Schedule(greeting(), spec=HOURLY),
            memo={"kept": True},
            search_attributes=TypedSearchAttributes([SearchAttributePair(COLOUR, "red")]),
        )
        await wire.advance("1h")

        async def change(schedule_update_input: ScheduleUpdateInput) -> ScheduleUpdate:
            schedule = schedule_update_input.description.schedule
            schedule.action = greeting("Bob", id="other")
            schedule.spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(timedelta(minutes=10))])
            schedule.policy.overlap = ScheduleOverlapPolicy.BUFFER_ALL
            schedule.state.note = "changed"
            schedule.state.limited_actions, schedule.state.remaining_actions = True, 2
            return ScheduleUpdate(
                schedule, search_attributes=TypedSearchAttributes([SearchAttributePair(COLOUR, "blue")])
            )

        await handle.update(change)
        description = await handle.describe()
        assert description.schedule.state.note == "changed"
        assert description.typed_search_attributes[COLOUR] == "blue"
        assert await description.memo() == {"kept": True}
        assert description.info.num_actions == 1
        assert len(description.info.next_action_times) == 2
        await wire.advance("1h")
        assert calls == ["Ann", "Bob", "Bob"]
        description = await handle.describe()
        assert ids(description.info.recent_actions)[-1] == "other-2026-01-01T01:20:00Z"
        assert description.schedule.state.remaining_actions == 0

        def pause(schedule_update_input: ScheduleUpdateInput) -> ScheduleUpdate:
            schedule_update_input.description.schedule.state.paused = True
            schedule_update_input.description.schedule.state.remaining_actions = 5
            return ScheduleUpdate(schedule_update_input.description.schedule)

        await handle.update(pause)
        await wire.advance("1h")
        assert len(calls) == 3

        def resume(schedule_update_input: ScheduleUpdateInput) -> ScheduleUpdate:
            schedule_update_input.description.schedule.state.paused = False
            return ScheduleUpdate(schedule_update_input.description.schedule)

        await handle.update(resume)
        assert len(calls) == 3  # what passed in the pause does not run
        await wire.advance("10m")
        assert len(calls) == 4
        await handle.update(lambda _: None)


async def test_the_conflict_token_fences_an_update(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        handle = await wire.client.create_schedule("hourly", Schedule(greeting(), spec=HOURLY))
        before = await raw(wire, "hourly")
        await handle.trigger()
        service = wire.client.workflow_service
        update = UpdateScheduleRequest(
            namespace="default",
            schedule_id="hourly",
            schedule=before.schedule,
            conflict_token=before.conflict_token,
            request_id="u1",
        )
        with refused(RPCStatusCode.FAILED_PRECONDITION, "mismatched conflict token"):
            await service.update_schedule(update)
        update.conflict_token = (await raw(wire, "hourly")).conflict_token
        await service.update_schedule(update)
        update.conflict_token = b"xyz"
        with refused(RPCStatusCode.INVALID_ARGUMENT, "conflict_token"):
            await service.update_schedule(update)


async def test_a_request_that_comes_again_is_done_once(world: World) -> None:
    calls = declare(world)
    async with wired(world) as wire:
        service = wire.client.workflow_service
        handle = await wire.client.create_schedule("hourly", Schedule(greeting(), spec=HOURLY))
        patch = PatchScheduleRequest(namespace="default", schedule_id="hourly", request_id="p1")
        patch.patch.trigger_immediately.overlap_policy = 6  # type: ignore[assignment]
        patch.patch.backfill_request.add(
            start_time=Timestamp(seconds=0),
            end_time=Timestamp(seconds=3600),
            overlap_policy=6,
        )
        for _ in range(3):
            await service.patch_schedule(patch)
        await wire.settle()
        assert calls == ["Ann"] * 3
        patch.patch.Clear()
        patch.patch.pause = "stop"
        with refused(RPCStatusCode.FAILED_PRECONDITION, "p1"):
            await service.patch_schedule(patch)
        assert not (await handle.describe()).schedule.state.paused
        create = CreateScheduleRequest(namespace="default", schedule_id="again", request_id="c1")
        create.schedule.CopyFrom((await raw(wire, "hourly")).schedule)
        tokens = [(await service.create_schedule(create)).conflict_token for _ in range(2)]
        assert tokens[0] == tokens[1]
        create.request_id = "c2"
        with refused(RPCStatusCode.ALREADY_EXISTS, 'schedule "again" is already registered'):
            await service.create_schedule(create)


async def test_a_patch_that_comes_again_is_answered_after_the_schedule_is_gone(world: World) -> None:
    calls = declare(world)
    async with wired(world) as wire:
        service = wire.client.workflow_service
        handle = await wire.client.create_schedule("hourly", Schedule(greeting(), spec=HOURLY))
        patch = PatchScheduleRequest(namespace="default", schedule_id="hourly", request_id="p1")
        patch.patch.backfill_request.add(start_time=Timestamp(seconds=0), end_time=Timestamp(seconds=3600))
        await service.patch_schedule(patch)
        await wire.settle()
        await handle.delete()
        done = list(calls)
        await service.patch_schedule(patch)
        await wire.settle()
        assert calls == done
        patch.request_id = "p2"
        with refused(RPCStatusCode.NOT_FOUND, "hourly"):
            await service.patch_schedule(patch)


async def test_ids_are_kept_where_that_is_asked_for(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        request = CreateScheduleRequest(namespace="default", schedule_id="kept", request_id="r")
        schedule = await Schedule(greeting(), spec=HOURLY)._to_proto(wire.client)
        request.schedule.CopyFrom(schedule)
        request.schedule.policies.keep_original_workflow_id = True
        await wire.client.workflow_service.create_schedule(request)
        await wire.advance("2h")
        description = await wire.client.get_schedule_handle("kept").describe()
        assert ids(description.info.recent_actions) == ["greeting", "greeting"]
        runs = [one async for one in wire.client.list_workflows("WorkflowId = 'greeting'")]
        assert len({one.run_id for one in runs}) == 2
        assert (await raw(wire, "kept")).schedule.policies.keep_original_workflow_id


async def test_an_id_that_is_kept_is_the_running_ones_while_the_next_waits(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        action = ScheduleActionStartWorkflow("nap", id="napping", task_queue="default")
        policy = SchedulePolicy(overlap=ScheduleOverlapPolicy.BUFFER_ALL)
        request = CreateScheduleRequest(namespace="default", schedule_id="naps", request_id="r")
        request.schedule.CopyFrom(await Schedule(action, spec=HOURLY, policy=policy)._to_proto(wire.client))
        request.schedule.policies.keep_original_workflow_id = True
        await wire.client.workflow_service.create_schedule(request)
        schedule, workflow = wire.client.get_schedule_handle("naps"), wire.client.get_workflow_handle("napping")
        await schedule.trigger()
        await schedule.trigger()
        info = (await raw(wire, "naps")).info
        assert info.buffer_size == 1
        (first,) = info.running_workflows
        assert (await workflow.describe()).run_id == first.run_id
        with pytest.raises(WorkflowAlreadyStartedError):
            await wire.client.start_workflow("nap", id="napping", task_queue="default")
        await workflow.terminate()
        await wire.settle()
        assert (await workflow.describe()).run_id != first.run_id


async def test_lists_pages_and_queries(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        await register(wire)
        client = wire.client
        for n in range(7):
            await client.create_schedule(
                f"s-{n}",
                Schedule(greeting(), spec=HOURLY, state=ScheduleState(paused=n % 2 == 0, note=f"n{n}")),
                memo={"n": n},
                search_attributes=TypedSearchAttributes(
                    [SearchAttributePair(COLOUR, "red" if n < 3 else "blue"), SearchAttributePair(SIZE, n)]
                ),
            )
        await client.create_schedule("other", Schedule(greeting(), spec=ScheduleSpec()))

        async def list_ids(query: str | None = None, page_size: int = 1000) -> list[str]:
            return [one.id async for one in await client.list_schedules(query=query, page_size=page_size)]

        everything = [*(f"s-{n}" for n in range(7)), "other"]
        assert sorted(await list_ids()) == sorted(everything)
        assert sorted(await list_ids(page_size=3)) == sorted(everything)
        assert await list_ids("TemporalSchedulePaused = true AND Colour = 'red'") == ["s-0", "s-2"]
        assert await list_ids("(Colour = 'red' AND Size = 1) OR Size >= 6") == ["s-1", "s-6"]
        assert await list_ids("ScheduleId STARTS_WITH 'oth'") == ["other"]
        assert await list_ids("`TemporalScheduleId` IN ('s-1', 's-2', 'none')") == ["s-1", "s-2"]
        assert await list_ids("ScheduleId NOT STARTS_WITH 's-'") == ["other"]
        assert await list_ids("ScheduleNextActionTime IS NULL AND TemporalSchedulePaused = false") == ["other"]
        assert await list_ids("ScheduleNextActionTime < '2026-01-01T02:00:00Z' AND Size BETWEEN 2 AND 4") == ["s-3"]
        with refused(RPCStatusCode.INVALID_ARGUMENT, "invalid query"):
            await list_ids("Colour = red")
        with refused(RPCStatusCode.INVALID_ARGUMENT, 'cannot filter on "WorkflowType"'):
            await list_ids("WorkflowType = 'greet'")
        counted = await client.workflow_service.count_schedules(
            CountSchedulesRequest(namespace="default", query="Colour = 'blue'")
        )
        assert counted.count == 4
        everything_counted = await client.workflow_service.count_schedules(CountSchedulesRequest(namespace="default"))
        assert everything_counted.count == 8
        await wire.advance("6h")
        (entry,) = [one async for one in await client.list_schedules(query="ScheduleId = 's-1'")]
        assert entry.info is not None
        assert entry.schedule is not None
        assert len(entry.info.recent_actions) == 5
        assert ids(entry.info.recent_actions)[-1] == "greeting-2026-01-01T06:00:00Z"
        assert len(entry.info.next_action_times) == 10
        assert entry.schedule.state.note == "n1"
        assert entry.schedule.spec.intervals == HOURLY.intervals
        assert await entry.memo() == {"n": 1}
        assert entry.typed_search_attributes[SIZE] == 1


async def test_what_runs_and_what_waits_can_be_counted(world: World, case: dict[str, Any]) -> None:
    """The cases of Temporal's own tests: queries answer how many run and how many wait."""
    declare(world)
    waiting, running = case["starts"].count("waiting"), case["starts"].count("running")
    async with wired(world) as wire:
        action = ScheduleActionStartWorkflow("nap", id="nap", task_queue="default")
        handle = await wire.client.create_schedule("naps", Schedule(action, spec=ScheduleSpec()))
        for _ in range(running):
            await handle.trigger(overlap=ScheduleOverlapPolicy.ALLOW_ALL)
        for _ in range(waiting):
            await handle.trigger(overlap=ScheduleOverlapPolicy.BUFFER_ALL)
        query = f"ScheduleRunningWorkflowCount = {case['running_count']} AND "
        query += f"ScheduleBufferedStartsCount = {case['buffered_count']}"
        assert [one.id async for one in await wire.client.list_schedules(query=query)] == ["naps"]
        response = await raw(wire, "naps")
        assert response.info.buffer_size == waiting
        assert len(response.info.running_workflows) == running
        assert len(response.info.recent_actions) == running


async def test_matching_times(world: World) -> None:
    """After the start and up to the end, with their jitter, whatever the state."""
    declare(world)
    async with wired(world) as wire:
        await wire.client.create_schedule("hourly", Schedule(greeting(), spec=HOURLY, state=ScheduleState(paused=True)))
        first = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())
        request = ListScheduleMatchingTimesRequest(
            namespace="default",
            schedule_id="hourly",
            start_time=Timestamp(seconds=first),
            end_time=Timestamp(seconds=first + 3 * 3600),
        )
        response = await wire.client.workflow_service.list_schedule_matching_times(request)
        assert [one.seconds for one in response.start_time] == [first + n * 3600 for n in (1, 2, 3)]
        request.end_time.seconds = first + 86_400 * 365
        response = await wire.client.workflow_service.list_schedule_matching_times(request)
        assert len(response.start_time) == 1000
        request.ClearField("start_time")
        with refused(RPCStatusCode.INVALID_ARGUMENT, "start_time"):
            await wire.client.workflow_service.list_schedule_matching_times(request)


async def test_jitter_is_what_temporal_makes_of_these_ids(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(timedelta(hours=1))], jitter=timedelta(minutes=30))
        handle = await wire.client.create_schedule("jittered", Schedule(greeting(), spec=spec))
        compiled = (await wire.app.schedules.get("jittered")).spec.compiled
        nominal = compiled.next(wire.world.clock.now())
        assert nominal is not None
        next_times = (await handle.describe()).info.next_action_times
        assert next_times[0].timestamp() * 1_000_000 == compiled.jittered(nominal, "default-jittered")
        await wire.advance("2h")
        (first, *_) = (await handle.describe()).info.recent_actions
        assert isinstance(first.action, ScheduleActionExecutionStartWorkflow)
        assert first.action.workflow_id == "greeting-2026-01-01T01:00:00Z"  # the nominal time, not the jittered
        assert first.scheduled_at == next_times[0]


async def test_schedules_made_elsewhere_are_there_too(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        await wire.app.schedules.create("native", cron("0 9 * * *"), "greet", input={"name": "Eve"}, tags=["x"])
        await wire.app.schedules.create("beyond", cron("0 9 L * *", tz="Europe/Berlin"), "greet", input={"name": "E"})
        handle: ScheduleHandle = wire.client.get_schedule_handle("native")
        description = await handle.describe()
        action = description.schedule.action
        assert isinstance(action, ScheduleActionStartWorkflow)
        assert (action.workflow, action.id) == ("greet", "native")
        await handle.update(lambda given: ScheduleUpdate(given.description.schedule))
        after = await wire.app.schedules.get("native")
        assert after.spec == cron("0 9 * * *")  # in its own words still
        assert after.policies.catchup.mode == "latest"
        assert after.input == {"name": "Eve"}
        assert after.tags == ("x",)
        short = {"window": "5s", "most": 3, "pace": 1}
        await wire.app.schedules.create("short", cron("0 9 * * *"), "greet", input={"name": "E"}, catchup=short)
        before = (await wire.app.schedules.get("short")).policies.catchup
        handle = wire.client.get_schedule_handle("short")
        await handle.update(lambda given: ScheduleUpdate(given.description.schedule))
        assert (await wire.app.schedules.get("short")).policies.catchup == before
        with refused(RPCStatusCode.FAILED_PRECONDITION, "beyond", "the day rules L, W and #"):
            await wire.client.get_schedule_handle("beyond").describe()
        assert {one.id async for one in await wire.client.list_schedules()} == {"native", "beyond", "short"}


async def test_a_patch_is_all_or_nothing(world: World) -> None:
    calls = declare(world)
    async with wired(world) as wire:
        handle = await wire.client.create_schedule("hourly", Schedule(greeting(), spec=HOURLY))
        patch = SchedulePatch(pause="all of it")
        patch.trigger_immediately.SetInParent()
        for _ in range(101):
            patch.backfill_request.add(start_time=Timestamp(seconds=0), end_time=Timestamp(seconds=3600))
        request = PatchScheduleRequest(namespace="default", schedule_id="hourly", patch=patch, request_id="p")
        with refused(RPCStatusCode.FAILED_PRECONDITION, "too many concurrent backfillers"):
            await wire.client.workflow_service.patch_schedule(request)
        await wire.settle()
        description = await handle.describe()
        assert (calls, description.schedule.state.paused, description.info.num_actions) == ([], False, 0)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        from tests.support.temporal_cases import CASES

        metafunc.parametrize("case", CASES["search_attribute_counts"])


async def test_a_server_that_starts_marks_schedules_that_an_older_node_has_created(world: World) -> None:
    declare(world)
    async with wired(world) as wire:
        handle = await wire.client.create_schedule("s", Schedule(greeting(), HOURLY))
        stored = (await WireSchedules.of(world.app.schedules).describe("s", 1)).schedule
        assert stored.companion == "temporal"
        unmarked = dataclasses.replace(stored, companion=None)
        await world.app.store.run(lambda _: save(unmarked))
        async with WireServer(Door(world.app, open_on_loopback=True), Listening(port=0)).serving():
            await wire.advance("61m")
        (action,) = (await handle.describe()).info.recent_actions
        assert isinstance(action.action, ScheduleActionExecutionStartWorkflow)
        assert action.action.workflow_id.startswith("greeting-20")


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
