"""What a journey's read guard hides, wherever the journey shows: among runs and events, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fastapi import Request

from ostinato.errors import NotFound
from ostinato.faces.door import Who
from ostinato.faces.http.inbound import inbound
from ostinato.journeys.plugins import Request as Inbound
from ostinato.model import Event
from ostinato.views import RunInfo


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
