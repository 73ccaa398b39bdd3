"""The calls about schedules."""

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
from ostinato.engine.requests import digest
from ostinato.errors import OstinatoError, TooManyExclusions
from ostinato.faces.temporal.attributes import OF_SCHEDULES, custom
from ostinato.faces.temporal.calls import Call, Calls, call, read_id, read_request_id
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
from ostinato.schedules import model
from ostinato.schedules.define import read_name
from ostinato.schedules.forms import Forms, Patch, Seen
from ostinato.schedules.making import JOURNEY
from ostinato.when.instants import SECOND, Micros

_SCHEDULE_ID = 1000 - 23  # bytes: a nominal time must fit behind it
_PAGE = 1000
_SCAN = 500
_MATCHING = 1000


class ScheduleCalls(Calls):
    @call(Role.OPERATOR)
    async def CreateSchedule(self, request: Any, call: Call) -> CreateScheduleResponse:
        name = _new_id(request.schedule_id)
        found = read_definition(request, call.app.engine.known, await call.attributes(), new=True)
        patch = read_patch(request.initial_patch, "initial_patch")
        made = call.app.schedules.draft(name, paused=found.paused, **found.given())
        token = await call.forms.create_as(
            made, found.kept(), patch, asked=asked_by(request), request_id=read_request_id(request.request_id)
        )
        return CreateScheduleResponse(conflict_token=write_token(token))

    @call(Role.READER)
    async def DescribeSchedule(self, request: Any, call: Call) -> DescribeScheduleResponse:
        (seen,) = await _shown(call, [await call.forms.see(read_id(request.schedule_id, "schedule_id"), RECENT)])
        memo, search = write_about(seen, seen.types)
        return DescribeScheduleResponse(
            schedule=write_schedule(seen, seen.types),
            info=write_info(seen, call.app.engine.clock.now()),
            memo=memo,
            search_attributes=search,
            conflict_token=write_token(seen.schedule.token),
        )

    @call(Role.OPERATOR)
    async def UpdateSchedule(self, request: Any, call: Call) -> UpdateScheduleResponse:
        name = read_id(request.schedule_id, "schedule_id")
        found = read_definition(request, call.app.engine.known, await call.attributes(), new=False)
        await call.forms.replace_as(
            name,
            found.given_to,
            found.kept,
            paused=found.paused,
            note=found.notes,
            asked=asked_by(request),
            token=read_token(request.conflict_token),
            request_id=read_request_id(request.request_id),
        )
        return UpdateScheduleResponse()

    @call(Role.OPERATOR)
    async def PatchSchedule(self, request: Any, call: Call) -> PatchScheduleResponse:
        name = read_id(request.schedule_id, "schedule_id")
        patch = read_patch(request.patch, "patch")
        if patch == Patch():
            raise Wrong("patch", "asks for nothing; give pause, unpause, trigger_immediately or backfill_request")
        request_id = read_request_id(request.request_id)
        await call.forms.patch(name, patch, asked=asked_by(request), request_id=request_id)
        return PatchScheduleResponse()

    @call(Role.OPERATOR)
    async def DeleteSchedule(self, request: Any, call: Call) -> DeleteScheduleResponse:
        await call.app.schedules.delete(read_id(request.schedule_id, "schedule_id"))
        return DeleteScheduleResponse()

    @call(Role.READER)
    async def ListSchedules(self, request: Any, call: Call) -> ListSchedulesResponse:
        known = await call.attributes()
        query = read_query(request.query, {**OF_SCHEDULES, **known})
        size = read_page_size(request.maximum_page_size, "maximum_page_size")
        page = Page("schedules", call.app.namespace)
        after = page.read(request.next_page_token)
        found: list[model.Schedule] = []
        more = False
        async for schedule in matching(call.forms, query, known, after, _SCAN if query.names else size + 1):
            if len(found) == size:
                more = True
                break
            found.append(schedule)
        now = call.app.engine.clock.now()
        answer = ListSchedulesResponse(next_page_token=page.write(found[-1].name) if more else b"")
        for begin in range(0, len(found), 100):
            closer = await _shown(call, await call.forms.closer(found[begin : begin + 100], LISTED))
            answer.schedules.extend(await call.each(write_entry(seen, known, now) for seen in closer))
        return answer

    @call(Role.READER)
    async def CountSchedules(self, request: Any, call: Call) -> CountSchedulesResponse:
        known = await call.attributes()
        query = read_query(request.query, {**OF_SCHEDULES, **known})
        if not query.names:
            return CountSchedulesResponse(count=await call.forms.count())
        return CountSchedulesResponse(count=len([one async for one in matching(call.forms, query, known)]))

    @call(Role.READER)
    async def ListScheduleMatchingTimes(self, request: Any, call: Call) -> ListScheduleMatchingTimesResponse:
        """Moments with their jitter, after the start and up to the end, whatever the schedule's state."""
        for name in ("start_time", "end_time"):
            if not request.HasField(name):
                raise Wrong(name, "is missing")
        first = read_timestamp(request.start_time, "start_time")
        last = read_timestamp(request.end_time, "end_time")
        seen = await call.forms.see(read_id(request.schedule_id, "schedule_id"), 1)
        try:
            found = await call.each(_moments(seen.schedule, first // SECOND * SECOND, last))
        except TooManyExclusions:
            raise Wrong("schedule.spec", "too many exclusions") from None
        return ListScheduleMatchingTimesResponse(start_time=[write_timestamp(at) for at in found])


async def _shown(call: Call, schedules: Sequence[Seen]) -> list[Seen]:
    """These schedules, without the runs of journeys whose read guard does not let the caller see them. What waits is
    only counted."""
    recent = {run.root_id for seen in schedules for run in seen.recent if run.kind == JOURNEY}
    hidden = await call.hidden(recent | {one.root_id for seen in schedules for one in seen.live if not one.waiting})
    if not hidden:
        return list(schedules)
    return [
        replace(
            seen,
            live=[one for one in seen.live if one.waiting or one.root_id not in hidden],
            recent=[run for run in seen.recent if run.root_id not in hidden],
        )
        for seen in schedules
    ]


def _new_id(given: str) -> str:
    try:
        return read_name(read_id(given, "schedule_id", most=_SCHEDULE_ID))
    except Wrong:
        raise
    except OstinatoError as problem:
        raise Wrong("schedule_id", str(problem)) from None


def _moments(schedule: model.Schedule, first: Micros, last: Micros) -> Iterator[Micros]:
    compiled = schedule.spec.compiled
    nominal = islice(compiled.between(first + 1, last), _MATCHING)
    return (at for at in (compiled.jittered(one, schedule.seed) for one in nominal) if at <= last)


async def matching(
    forms: Forms, query: Query, known: Mapping[str, str], after: str = "", scan: int = _SCAN
) -> AsyncIterator[model.Schedule]:
    """Open schedules that a query finds, by name."""
    counting = "ScheduleRunningWorkflowCount" in query.names
    while True:
        page = await forms.page(after, scan)
        running: dict[str, int] = {}
        if counting:
            for seen in await forms.closer(page, 1):
                running[seen.schedule.id] = sum(not one.waiting for one in seen.live)
        for one in page:
            if query(values_of(one, running.get(one.id, 0), known)):
                yield one
        if len(page) < scan:
            return
        after = page[-1].name


def values_of(schedule: model.Schedule, running: int, known: Mapping[str, str]) -> Callable[[str], Any]:
    """What a query sees of a schedule."""

    def value(name: str) -> Any:
        match name:
            case "ScheduleId" | "TemporalScheduleId":
                return schedule.name
            case "TemporalSchedulePaused":
                return schedule.paused is not None
            case "ScheduleNextActionTime":
                return schedule.next
            case "ScheduleIdleCloseTime":
                return None  # nothing is closed by itself
            case "ScheduleRunningWorkflowCount":
                return running
            case "ScheduleBufferedStartsCount":
                return schedule.memory.waiting
            case _:
                return custom(schedule.attributes, name, known)

    return value


def read_page_size(given: int, field: str) -> int:
    if given < 0:
        raise Wrong(field, f"{given} is negative")
    return min(given or _PAGE, _PAGE)


def write_token(token: int) -> bytes:
    return token.to_bytes(8, "little")


def read_token(given: bytes) -> int | None:
    if not given:
        return None
    if len(given) != 8:
        raise Wrong("conflict_token", f"has {len(given)} bytes; a conflict token has 8")
    return int.from_bytes(given, "little", signed=True)


def asked_by(request: Any) -> str:
    """What a call asks for, whoever sends it from wherever."""
    told = type(request)()
    told.CopyFrom(request)
    told.ClearField("identity")
    return digest(told.SerializeToString(deterministic=True).hex())
