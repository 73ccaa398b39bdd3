"""Leave out of answers what a journey's read guard hides from the caller.

A read guard can hide runs, steps, occurrences, schedules, bindings, events, and deliveries of events.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ostinato.errors import NotFound
from ostinato.faces.auth import Who
from ostinato.faces.http.journey_request import inbound
from ostinato.faces.related_runs import journeys_of_run, merge_names, runs_of_event
from ostinato.functions.views import StepInfo
from ostinato.journeys.bindings import BindingInfo
from ostinato.journeys.rows import KIND as JOURNEY
from ostinato.journeys.task_kind import Request as Inbound
from ostinato.model import Event
from ostinato.run_views import RunInfo
from ostinato.schedules.views import OccurrenceInfo, ScheduleInfo

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request

_NEVER_RAN = ("skipped", "missed")


async def visible_runs(request: Request, who: Who, runs: Sequence[RunInfo]) -> list[RunInfo]:
    """Return those of `runs` that the caller may see. Journeys that a read guard hides are left out. Runs that deliver
    an event about such a journey are left out, too."""
    about = [journeys_of_run(run.id, run.kind, run.name, run.input) for run in runs]
    names = merge_names(about)
    if not names:
        return list(runs)
    hidden = await who.app.journeys.hidden(names, inbound(request, who), names)
    return [run for run, run_names in zip(runs, about, strict=True) if not hidden.intersection(run_names)]


async def visible_run(request: Request, who: Who, id: str) -> RunInfo:
    """Return a run. Raises `NotFound` if the run does not exist, or if the caller may not see it."""
    run = await who.app.get(id)
    if not await visible_runs(request, who, [run]):
        raise NotFound(f"there is no run {id!r} in namespace {who.app.namespace!r}")
    return run


async def visible_steps(request: Request, who: Who, steps: Sequence[StepInfo]) -> list[StepInfo]:
    """Return the steps. If a step started a hidden journey, the step's `child_id`, `result` and `error` become None."""
    hidden = await _hidden(request, who, {step.child_id for step in steps if step.child_id is not None})
    return [
        replace(step, child_id=None, result=None, error=None) if step.child_id in hidden else step for step in steps
    ]


async def visible_bindings(request: Request, who: Who, bindings: Sequence[BindingInfo]) -> list[BindingInfo]:
    """Return those of `bindings` that the caller may see. If the read guard of a binding's journey refuses the caller,
    the binding is left out."""
    hidden = await who.app.journeys.hidden_bindings(bindings, inbound(request, who))
    return [one for one in bindings if one.id not in hidden]


async def visible_binding(request: Request, who: Who, id: str) -> BindingInfo:
    """Return a binding. Raises `NotFound` if the binding does not exist, or if the caller may not see it."""
    binding = await who.app.journeys.binding(id)
    if not await visible_bindings(request, who, [binding]):
        raise NotFound(f"there is no binding {id!r} in namespace {who.app.namespace!r}")
    return binding


async def _hidden(request: Request, who: Who, ids: Iterable[str]) -> set[str]:
    wanted = list(ids)
    return await who.app.journeys.hidden(wanted, inbound(request, who)) if wanted else set()


async def visible_occurrences(
    request: Request, who: Who, occurrences: Sequence[OccurrenceInfo]
) -> list[OccurrenceInfo]:
    """Return `occurrences` without those whose run is hidden from the caller. Occurrences that never ran, because they
    were skipped or missed, are always kept. If the run in `blocked_by` is hidden, `blocked_by` becomes None."""
    ran = {occurrence.run_id for occurrence in occurrences if occurrence.status not in _NEVER_RAN}
    hidden = await _hidden(
        request, who, ran | {occurrence.blocked_by for occurrence in occurrences if occurrence.blocked_by is not None}
    )
    return [
        replace(occurrence, blocked_by=None) if occurrence.blocked_by in hidden else occurrence
        for occurrence in occurrences
        if occurrence.run_id not in hidden or occurrence.run_id not in ran
    ]


async def visible_schedules(request: Request, who: Who, schedules: Sequence[ScheduleInfo]) -> list[ScheduleInfo]:
    """Return all of `schedules`, but without the runs that the caller may not see. These runs are removed from
    `running`. If the last failure is such a run, `last_failure` becomes None."""
    names: dict[str, str] = {}
    for schedule in schedules:
        name = str(schedule.input.get(JOURNEY, "")) if schedule.job == JOURNEY else ""
        names |= dict.fromkeys((*schedule.running, *_failed(schedule)), name)
    if not names:
        return list(schedules)
    hidden = await who.app.journeys.hidden(
        names, inbound(request, who), {id: name for id, name in names.items() if name}
    )
    return [
        replace(
            schedule,
            running=tuple(id for id in schedule.running if id not in hidden),
            last_failure=None if hidden.intersection(_failed(schedule)) else schedule.last_failure,
        )
        for schedule in schedules
    ]


def _failed(schedule: ScheduleInfo) -> list[str]:
    """Return a list with the run id of the schedule's last failure. The list is empty if there was no failure."""
    return [] if schedule.last_failure is None else [schedule.last_failure["run_id"]]


async def visible_events(who: Who, seen: Inbound, events: Sequence[Event]) -> list[Event]:
    """Return the events that the caller may see. An event about a hidden run is left out."""
    about = [runs_of_event(event.name, event.subject, event.data) for event in events]
    names = merge_names(about)
    if not names:
        return list(events)
    hidden = await who.app.journeys.hidden(names, seen, names)
    return [event for event, run_names in zip(events, about, strict=True) if not hidden.intersection(run_names)]
