"""Hide from a caller what a journey's read guard does not allow.

This concerns runs, steps, occurrences, schedules, bindings, events, and deliveries of events.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ostinato.errors import NotFound
from ostinato.faces.auth import Who
from ostinato.faces.http.journey_request import inbound
from ostinato.faces.related_runs import journeys_of_run, runs_of_event
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


def seen_by(request: Request, who: Who) -> Inbound:
    """Return the request in the form that a read guard checks."""
    return inbound(request, who.app.journeys.settings)


async def visible_runs(request: Request, who: Who, runs: Sequence[RunInfo]) -> list[RunInfo]:
    """Return the runs that the caller may see. Hidden journeys, and deliveries of events about them, are left out."""
    about = [journeys_of_run(run.id, run.kind, run.name, run.input) for run in runs]
    names = {id: name for run_names in about for id, name in run_names.items()}
    if not names:
        return list(runs)
    hidden = await who.app.journeys.hidden(names, seen_by(request, who), names)
    return [run for run, run_names in zip(runs, about, strict=True) if not hidden.intersection(run_names)]


async def visible_run(request: Request, who: Who, id: str) -> RunInfo:
    """Return a run. Raises `NotFound` if there is none, or if the caller may not see it."""
    run = await who.app.get(id)
    if not await visible_runs(request, who, [run]):
        raise NotFound(f"there is no run {id!r} in namespace {who.app.namespace!r}")
    return run


async def visible_steps(request: Request, who: Who, steps: Sequence[StepInfo]) -> list[StepInfo]:
    """Return the steps of a function.

    A step may have started a journey that the caller may not read. Such a step is returned without its child id, result
    and error.
    """
    hidden = await _hidden(request, who, {step.child_id for step in steps if step.child_id is not None})
    return [
        replace(step, child_id=None, result=None, error=None) if step.child_id in hidden else step for step in steps
    ]


async def visible_bindings(request: Request, who: Who, bindings: Sequence[BindingInfo]) -> list[BindingInfo]:
    """Return the bindings that the caller may see. Read guards hide bindings, which name their subject."""
    hidden = await who.app.journeys.hidden_bindings(bindings, seen_by(request, who))
    return [one for one in bindings if one.id not in hidden]


async def visible_binding(request: Request, who: Who, id: str) -> BindingInfo:
    """Return a binding. Raises `NotFound` if there is none, or if the caller may not see it."""
    binding = await who.app.journeys.binding(id)
    if not await visible_bindings(request, who, [binding]):
        raise NotFound(f"there is no binding {id!r} in namespace {who.app.namespace!r}")
    return binding


async def _hidden(request: Request, who: Who, ids: Iterable[str]) -> set[str]:
    wanted = list(ids)
    return await who.app.journeys.hidden(wanted, seen_by(request, who)) if wanted else set()


async def visible_occurrences(
    request: Request, who: Who, occurrences: Sequence[OccurrenceInfo]
) -> list[OccurrenceInfo]:
    """Return the occurrences that the caller may see.

    An occurrence that never ran is always visible. If a hidden run blocked it, the id of that run is left out.
    """
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
    """Return `schedules`, with hidden runs removed from `running` and `last_failure`. A run is hidden if the caller may
    not see it."""
    names: dict[str, str] = {}
    for schedule in schedules:
        name = str(schedule.input.get(JOURNEY, "")) if schedule.job == JOURNEY else ""
        names |= dict.fromkeys((*schedule.running, *_failed(schedule)), name)
    if not names:
        return list(schedules)
    hidden = await who.app.journeys.hidden(
        names, seen_by(request, who), {id: name for id, name in names.items() if name}
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
    """Return a list with the run id of the last failure, or an empty list if there was no failure."""
    return [] if schedule.last_failure is None else [schedule.last_failure["run_id"]]


async def visible_events(who: Who, seen: Inbound, events: Sequence[Event]) -> list[Event]:
    """Return the events that the caller may see.

    Events about a hidden run are left out, whether their subject is the run or its schedule.
    """
    about = [runs_of_event(event.name, event.subject, event.data) for event in events]
    names: dict[str, str] = {}
    for run_names in about:
        for id, name in run_names.items():
            names.setdefault(id, name)
    if not names:
        return list(events)
    hidden = await who.app.journeys.hidden(names, seen, names)
    return [event for event, run_names in zip(events, about, strict=True) if not hidden.intersection(run_names)]
