"""What a journey's read guard hides, wherever the journey shows: among runs, events and schedules, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fastapi import Request

from ostinato.errors import NotFound
from ostinato.faces.door import Who
from ostinato.faces.http.inbound import inbound
from ostinato.journeys.plugins import Request as Inbound
from ostinato.model import Event
from ostinato.schedules.making import JOURNEY
from ostinato.schedules.views import OccurrenceInfo, ScheduleInfo
from ostinato.views import RunInfo

_NEVER_RAN = ("skipped", "missed")


def seen_by(request: Request, who: Who) -> Inbound:
    """What a guard sees of this request."""
    return inbound(request, who.app.journeys.settings)


async def shown_runs(request: Request, who: Who, runs: Sequence[RunInfo]) -> list[RunInfo]:
    """Of these runs, those that the caller may see."""
    hidden = await _hidden(request, who, (run.id for run in runs if run.kind != "job"))
    return [run for run in runs if run.id not in hidden]


async def shown_run(request: Request, who: Who, id: str) -> RunInfo:
    """A run that the caller may see; any other is not there."""
    run = await who.app.get(id)
    if run.kind != "job" and await _hidden(request, who, [run.id]):
        raise NotFound(f"there is no run {id!r} in namespace {who.app.namespace!r}")
    return run


async def _hidden(request: Request, who: Who, ids: Iterable[str]) -> set[str]:
    wanted = list(ids)
    return await who.app.journeys.hidden(wanted, seen_by(request, who)) if wanted else set()


async def shown_occurrences(request: Request, who: Who, found: Sequence[OccurrenceInfo]) -> list[OccurrenceInfo]:
    """Of these occurrences, those that the caller may see. One that never ran is the schedule's own affair; which run
    was in its way may not be."""
    ran = {one.run_id for one in found if one.status not in _NEVER_RAN}
    hidden = await _hidden(request, who, ran | {one.blocked_by for one in found if one.blocked_by is not None})
    return [
        replace(one, blocked_by=None) if one.blocked_by in hidden else one
        for one in found
        if one.run_id not in hidden or one.run_id not in ran
    ]


async def shown_schedules(request: Request, who: Who, schedules: Sequence[ScheduleInfo]) -> list[ScheduleInfo]:
    """These schedules, without what they tell of runs that the caller may not see."""
    names: dict[str, str] = {}
    for one in schedules:
        name = str(one.input.get(JOURNEY, "")) if one.job == JOURNEY else ""
        names |= dict.fromkeys((*one.running, *_failed(one)), name)
    if not names:
        return list(schedules)
    hidden = await who.app.journeys.hidden(
        names, seen_by(request, who), {id: name for id, name in names.items() if name}
    )
    return [
        replace(
            one,
            running=tuple(id for id in one.running if id not in hidden),
            last_failure=None if hidden.intersection(_failed(one)) else one.last_failure,
        )
        for one in schedules
    ]


def _failed(schedule: ScheduleInfo) -> list[str]:
    """The run of its last failure, if there is one."""
    return [] if schedule.last_failure is None else [schedule.last_failure["run_id"]]


async def shown_events(who: Who, seen: Inbound, events: Sequence[Event]) -> list[Event]:
    """Of these events, those that the caller may see: not those about a run that is hidden from them, whether the run
    or its schedule is the subject."""
    names: dict[str, str] = {}
    for event in events:
        for id in _about(event):
            names.setdefault(id, str(event.data.get("name", "")))
    if not names:
        return list(events)
    hidden = await who.app.journeys.hidden(names, seen, names)
    return [event for event in events if not any(id in hidden for id in _about(event))]


def _about(event: Event) -> set[str]:
    """The runs that an event tells of."""
    if event.name.startswith("run:") or (event.name.startswith("journey:") and event.name != "journey:deployed"):
        return {event.subject}
    run = event.data.get("run_id")
    return {run} if isinstance(run, str) else set()
