"""Answer Temporal's calls about schedules."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from temporalio.api.workflowservice.v1 import (
    CountSchedulesResponse,
    CreateScheduleResponse,
    DeleteScheduleResponse,
    DescribeScheduleResponse,
    ListScheduleMatchingTimesResponse,
    ListSchedulesResponse,
    PatchScheduleResponse,
    UpdateScheduleResponse,
)

from ostinato.engine.access import Role
from ostinato.engine.idempotency import digest
from ostinato.errors import OstinatoError, TooManyExclusions
from ostinato.faces.temporal.attributes import OF_SCHEDULES, attribute_value
from ostinato.faces.temporal.calls import ServiceCalls, TemporalCall, call, read_id, read_request_id
from ostinato.faces.temporal.definitions import (
    LISTED,
    RECENT,
    read_definition,
    read_patch,
    write_about,
    write_entry,
    write_info,
    write_schedule,
)
from ostinato.faces.temporal.errors import Wrong
from ostinato.faces.temporal.pages import Page
from ostinato.faces.temporal.queries import Query, read_query
from ostinato.faces.temporal.times import read_timestamp, write_timestamp
from ostinato.faces.temporal.wire_schedules import Patch, WireSchedule, WireSchedules
from ostinato.faces.temporal.workflow_types import WorkflowType, find_type
from ostinato.journeys.rows import KIND as JOURNEY
from ostinato.schedules import model
from ostinato.schedules.validation import read_name
from ostinato.when.instants import SECOND, Micros

_SCHEDULE_ID = 1000 - 23  # bytes of a schedule's id, so that it fits into an id with a nominal time appended
_PAGE = 1000
_SCAN = 500
_LISTED = 100
_MATCHING = 1000


class ScheduleCalls(ServiceCalls):
    @call(Role.OPERATOR)
    async def CreateSchedule(self, request: Any, call: TemporalCall) -> CreateScheduleResponse:
        name = _new_id(request.schedule_id)
        definition = read_definition(request, await _type_of(call, request), await call.attribute_types(), new=True)
        patch = read_patch(request.initial_patch, "initial_patch")
        draft = call.app.schedules.draft(name, paused=definition.paused, **definition.fields())
        form, request_id = definition.make_form(), read_request_id(request.request_id)
        token = await call.schedules.create_with_form(
            draft, form, patch, asked=digest_of(request), request_id=request_id
        )
        return CreateScheduleResponse(conflict_token=write_token(token))

    @call(Role.READER)
    async def DescribeSchedule(self, request: Any, call: TemporalCall) -> DescribeScheduleResponse:
        stored = await call.schedules.describe(read_id(request.schedule_id, "schedule_id"), RECENT)
        (visible,) = await _without_hidden_runs(call, [stored])
        memo, search = write_about(visible, visible.types)
        return DescribeScheduleResponse(
            schedule=write_schedule(visible, visible.types),
            info=write_info(visible, call.app.engine.clock.now()),
            memo=memo,
            search_attributes=search,
            conflict_token=write_token(visible.schedule.token),
        )

    @call(Role.OPERATOR)
    async def UpdateSchedule(self, request: Any, call: TemporalCall) -> UpdateScheduleResponse:
        name = read_id(request.schedule_id, "schedule_id")
        definition = read_definition(request, await _type_of(call, request), await call.attribute_types(), new=False)
        await call.schedules.replace_with_form(
            name,
            definition.fields_for,
            definition.make_form,
            paused=definition.paused,
            note=definition.notes,
            asked=digest_of(request),
            token=read_token(request.conflict_token),
            request_id=read_request_id(request.request_id),
        )
        return UpdateScheduleResponse()

    @call(Role.OPERATOR)
    async def PatchSchedule(self, request: Any, call: TemporalCall) -> PatchScheduleResponse:
        name = read_id(request.schedule_id, "schedule_id")
        patch = read_patch(request.patch, "patch")
        if patch == Patch():
            raise Wrong("patch", "asks for nothing; give pause, unpause, trigger_immediately or backfill_request")
        request_id = read_request_id(request.request_id)
        await call.schedules.patch(name, patch, asked=digest_of(request), request_id=request_id)
        return PatchScheduleResponse()

    @call(Role.OPERATOR)
    async def DeleteSchedule(self, request: Any, call: TemporalCall) -> DeleteScheduleResponse:
        await call.app.schedules.delete(read_id(request.schedule_id, "schedule_id"))
        return DeleteScheduleResponse()

    @call(Role.READER)
    async def ListSchedules(self, request: Any, call: TemporalCall) -> ListSchedulesResponse:
        types = await call.attribute_types()
        query = read_query(request.query, {**OF_SCHEDULES, **types})
        size = read_page_size(request.maximum_page_size, "maximum_page_size")
        page = Page("schedules", call.app.namespace, request.query)
        after = page.read(request.next_page_token)
        answer = ListSchedulesResponse()
        now = call.app.engine.clock.now()

        async def add(some: list[model.Schedule]) -> None:
            described = await call.schedules.describe_all(some, LISTED)
            visible = await _without_hidden_runs(call, described)
            answer.schedules.extend(await call.each(write_entry(one, types, now) for one in visible))

        # A few at a time, because large specs take much memory, and the garbage collector walks over all of it.
        listed, last, some = 0, after, list[model.Schedule]()
        scan = _SCAN if query.names else min(size + 1, _LISTED)
        async for schedule in find_schedules(call.schedules, query, types, after, scan):
            if listed == size:
                answer.next_page_token = page.write(last)
                break
            some.append(schedule)
            listed, last = listed + 1, schedule.name
            if len(some) == _LISTED:
                await add(some)
                some = []
        if some:
            await add(some)
        return answer

    @call(Role.READER)
    async def CountSchedules(self, request: Any, call: TemporalCall) -> CountSchedulesResponse:
        types = await call.attribute_types()
        query = read_query(request.query, {**OF_SCHEDULES, **types})
        if not query.names:
            return CountSchedulesResponse(count=await call.schedules.count())
        return CountSchedulesResponse(count=len([one async for one in find_schedules(call.schedules, query, types)]))

    @call(Role.READER)
    async def ListScheduleMatchingTimes(self, request: Any, call: TemporalCall) -> ListScheduleMatchingTimesResponse:
        """List the times of a schedule between `start_time` and `end_time`, with jitter. A time must be after
        `start_time` without its jitter, and not after `end_time` with its jitter. The schedule may be paused."""
        for name in ("start_time", "end_time"):
            if not request.HasField(name):
                raise Wrong(name, "is missing")
        first = read_timestamp(request.start_time, "start_time")
        last = read_timestamp(request.end_time, "end_time")
        stored = await call.schedules.describe(read_id(request.schedule_id, "schedule_id"), 1)
        try:
            times = await call.each(_times(stored.schedule, first // SECOND * SECOND, last))
        except TooManyExclusions:
            raise Wrong("schedule.spec", "too many exclusions") from None
        return ListScheduleMatchingTimesResponse(start_time=[write_timestamp(at) for at in times])


async def _type_of(call: TemporalCall, request: Any) -> WorkflowType:
    return await find_type(call.app, request.schedule.action.start_workflow.workflow_type.name)


async def _without_hidden_runs(call: TemporalCall, schedules: Sequence[WireSchedule]) -> list[WireSchedule]:
    """Return the schedules without the runs that a read guard hides from the caller.

    Runs that wait in the buffer are not removed, because Temporal's messages show only the number of these runs.
    """
    roots = {run.root_id for schedule in schedules for run in schedule.recent if run.kind == JOURNEY}
    roots |= {run.root_id for schedule in schedules for run in schedule.live if not run.waiting}
    hidden = await call.find_hidden_journeys(roots)
    if not hidden:
        return list(schedules)
    return [
        replace(
            schedule,
            live=[run for run in schedule.live if run.waiting or run.root_id not in hidden],
            recent=[run for run in schedule.recent if run.root_id not in hidden],
        )
        for schedule in schedules
    ]


def _new_id(id: str) -> str:
    name = read_id(id, "schedule_id", most=_SCHEDULE_ID)
    try:
        return read_name(name)
    except OstinatoError as problem:
        raise Wrong("schedule_id", str(problem)) from None


def _times(schedule: model.Schedule, first: Micros, last: Micros) -> Iterator[Micros]:
    compiled = schedule.spec.compiled
    nominal = islice(compiled.between(first + 1, last), _MATCHING)
    return (at for at in (compiled.jittered(time, schedule.seed) for time in nominal) if at <= last)


async def find_schedules(
    schedules: WireSchedules, query: Query, types: Mapping[str, str], after: str = "", scan: int = _SCAN
) -> AsyncIterator[model.Schedule]:
    """Yield the open schedules that match a query, ordered by name. Only schedules whose names come after the name
    `after` are yielded.

    `scan` is the number of schedules that are read at a time.
    """
    counting = "ScheduleRunningWorkflowCount" in query.names
    while True:
        page = await schedules.page(after, scan)
        running: dict[str, int] = {}
        if counting:
            for described in await schedules.describe_all(page, 1):
                running[described.schedule.id] = sum(not run.waiting for run in described.live)
        for schedule in page:
            if query(values_of(schedule, running.get(schedule.id, 0), types)):
                yield schedule
        if len(page) < scan:
            return
        after = page[-1].name


def values_of(schedule: model.Schedule, running: int, types: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a function that gets the name of an attribute and returns the value that `schedule` has for it. A `Query`
    calls the function to test the schedule. `running` is the number of the schedule's runs in progress."""

    def value(name: str) -> Any:
        match name:
            case "ScheduleId" | "TemporalScheduleId":
                return schedule.name
            case "TemporalSchedulePaused":
                return schedule.paused is not None
            case "ScheduleNextActionTime":
                return schedule.next
            case "ScheduleIdleCloseTime":
                return None  # no schedule is closed for being idle
            case "ScheduleRunningWorkflowCount":
                return running
            case "ScheduleBufferedStartsCount":
                return schedule.memory.waiting
            case _:
                return attribute_value(schedule.attributes, name, types)

    return value


def read_page_size(size: int, field: str) -> int:
    if size < 0:
        raise Wrong(field, f"{size} is negative")
    return min(size or _PAGE, _PAGE)


def write_token(token: int) -> bytes:
    return token.to_bytes(8, "little")


def read_token(token: bytes) -> int | None:
    if not token:
        return None
    if len(token) != 8:
        raise Wrong("conflict_token", f"has {len(token)} bytes; a conflict token has 8")
    return int.from_bytes(token, "little", signed=True)


def digest_of(request: Any) -> str:
    """Return a digest of a request's arguments. The field `identity` is ignored."""
    message = type(request)()
    message.CopyFrom(request)
    message.ClearField("identity")
    return digest(message.SerializeToString(deterministic=True).hex())
