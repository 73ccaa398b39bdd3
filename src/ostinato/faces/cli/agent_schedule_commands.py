"""`ostinato agents schedules …`: list, create and change the schedules of an agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.errors import OstinatoError
from ostinato.faces.cli.agent_arguments import (
    SEGMENT,
    AgentName,
    Input,
    Metadata,
    OnActiveFlow,
    read_segment,
)
from ostinato.faces.cli.arguments import Limit, only_given, read_object
from ostinato.faces.cli.completion import agent_schedule_statuses, missed_policies, segments, target_kinds
from ostinato.faces.cli.output import facts, moment, printable, short, status, took
from ostinato.faces.cli.session import Session, command, command_group
from ostinato.when.zones import zone as load_zone

schedules = command_group("List, create and change the schedules of an agent.")

ScheduleId = Annotated[str, typer.Argument(metavar="SCHEDULE", help="The schedule's id; `list` shows them.")]
Note = Annotated[str, typer.Option(help="Why; kept with the schedule.")]


@dataclass(frozen=True)
class ScheduleFlags:
    """The options of a schedule: when it runs, for which users, and how. An option that was not given is None."""

    cron: Annotated[str | None, typer.Option(help="Five fields in the agent's zone, such as '0 9 * * 1-5'.")] = None
    at: Annotated[str | None, typer.Option(help="Once, at a time; without an offset, in the agent's zone.")] = None
    user: Annotated[str | None, typer.Option(help="For this user, by external id.")] = None
    session: Annotated[str | None, typer.Option(help="With --user: only in this session.")] = None
    segment: Annotated[str | None, typer.Option(help=SEGMENT, autocompletion=segments)] = None
    campaign_id: Annotated[str | None, typer.Option(help="With --segment: a name of its campaigns.")] = None
    options: Annotated[str | None, typer.Option(help="With --segment: how it is sent, a JSON object.")] = None
    bootstrap: Annotated[
        bool | None, typer.Option("--bootstrap/--no-bootstrap", help="Whether a turn may begin a session.")
    ] = None
    on_missed: Annotated[
        str | None, typer.Option(help="For times that were missed: skip or catch_up.", autocompletion=missed_policies)
    ] = None
    max_runs: Annotated[int | None, typer.Option(help="With catch_up: the newest of the missed times.")] = None
    max_age_seconds: Annotated[int | None, typer.Option(help="With catch_up: how old a missed time may be.")] = None
    input: Input = None
    metadata: Metadata = None
    on_active_flow: OnActiveFlow = None

    def as_fields(self) -> Json:
        """Return the options that were given, as fields of a request. Refuse options that contradict one another."""
        return only_given(
            trigger=self._trigger(),
            target=self._target(),
            allow_session_bootstrap=self.bootstrap,
            on_missed=self._missed(),
            input=read_object(self.input, "--input"),
            metadata=read_object(self.metadata, "--metadata"),
            on_active_flow=self.on_active_flow,
        )

    def _trigger(self) -> Json | None:
        if self.cron is not None and self.at is not None:
            raise OstinatoError("--cron and --at contradict one another; give one")
        if self.cron is not None:
            return {"type": "cron", "expr": self.cron}
        return None if self.at is None else {"type": "once", "run_at": self.at}

    def _target(self) -> Json | None:
        if self.user is not None and self.segment is not None:
            raise OstinatoError("--user and --segment contradict one another; give one")
        if self.user is not None:
            return {"kind": "user", "user_external_id": self.user, **only_given(session_id=self.session)}
        if self.session is not None:
            raise OstinatoError("--session belongs to --user; give it, too")
        if self.segment is None:
            if self.campaign_id is not None or self.options is not None:
                raise OstinatoError("--campaign-id and --options belong to --segment; give it, too")
            return None
        more = only_given(campaign_id=self.campaign_id, options=read_object(self.options, "--options"))
        return {"kind": "segment", "segment": read_segment(self.segment), **more}

    def _missed(self) -> Json | None:
        bounds = only_given(max_runs=self.max_runs, max_age_seconds=self.max_age_seconds)
        if self.on_missed is None and bounds:
            option = next(iter(bounds)).replace("_", "-")
            raise OstinatoError(f"--{option} belongs to --on-missed catch_up; give it, too")
        return None if self.on_missed is None else {"policy": self.on_missed, **bounds}


@command(schedules, "list")
async def list_schedules(
    session: Session,
    agent: AgentName,
    flow: Annotated[str | None, typer.Option(help="Schedules of this flow.")] = None,
    status: Annotated[
        str | None,
        typer.Option(help="active, paused, canceled or completed.", autocompletion=agent_schedule_statuses),
    ] = None,
    kind: Annotated[str | None, typer.Option(help="user or segment.", autocompletion=target_kinds)] = None,
    user: Annotated[str | None, typer.Option(help="Schedules for this user.")] = None,
    campaign_id: Annotated[str | None, typer.Option(help="Schedules of these campaigns.")] = None,
    limit: Limit = 50,
) -> None:
    """List the schedules of an agent. They were created by its code, by the API, or by the agent for a user."""
    listed = await session.client.agents.schedules(agent).list(
        flow=flow, status=status, target_kind=kind, user_external_id=user, campaign_id=campaign_id, limit=limit
    )
    columns = ("schedule", "status", "flow", "when", "for", "next", "last", "from")
    session.out.items(listed, columns, _row, nothing="no schedules")


@command(schedules)
async def show(session: Session, agent: AgentName, id: ScheduleId) -> None:
    """Show a schedule of an agent."""
    session.out.draw(await session.client.agents.schedules(agent).get(id), _page)


@command(schedules)
async def create(
    session: Session,
    agent: AgentName,
    flow: Annotated[str, typer.Argument(metavar="FLOW", help="A flow of the agent, or classic.")],
    flags: ScheduleFlags,
    id: Annotated[str | None, typer.Option(help="The same id is created once, however often you ask.")] = None,
) -> None:
    """Create a schedule. Give --cron or --at, and --user or --segment."""
    fields = flags.as_fields()
    if "trigger" not in fields:
        raise OstinatoError("say when: --cron '0 9 * * 1-5' or --at 2026-03-01T09:00")
    if "target" not in fields:
        raise OstinatoError("say for whom: --user or --segment")
    created = await session.client.agents.schedules(agent).create(flow=flow, id=id, **fields)
    session.out.say(created, f"created {created['schedule_id']}{_next(created['record'])}")
    for warning in created["warnings"]:
        typer.echo(f"note: {warning}", err=True)


@command(schedules)
async def update(
    session: Session,
    agent: AgentName,
    id: ScheduleId,
    flags: ScheduleFlags,
    flow: Annotated[str | None, typer.Option(help="Another flow.")] = None,
    version: Annotated[int | None, typer.Option(help="Only if this is still its version.")] = None,
) -> None:
    """Change the given settings of a schedule. No due time is lost or repeated."""
    changes = {**flags.as_fields(), **only_given(flow=flow)}
    if not changes:
        raise OstinatoError("nothing to change; give --cron, --at, --user, --flow, --input …")
    updated = await session.client.agents.schedules(agent).update(id, version=version, **changes)
    session.out.say(updated, f"updated {id} to version {updated['version']}{_next(updated)}")


@command(schedules)
async def cancel(session: Session, agent: AgentName, id: ScheduleId, reason: Note = "") -> None:
    """Cancel a schedule: it never fires again."""
    session.out.say(await session.client.agents.schedules(agent).cancel(id, reason), f"canceled {id}")


@command(schedules)
async def pause(session: Session, agent: AgentName, id: ScheduleId, note: Note = "") -> None:
    """Pause a schedule: no scheduled run starts until it is resumed."""
    session.out.say(await session.client.agents.schedules(agent).pause(id, note), f"paused {id}")


@command(schedules)
async def resume(session: Session, agent: AgentName, id: ScheduleId, note: Note = "") -> None:
    """Resume a schedule."""
    resumed = await session.client.agents.schedules(agent).resume(id, note)
    session.out.say(resumed, f"resumed {id}{_next(resumed)}")


@command(schedules)
async def trigger(session: Session, agent: AgentName, id: ScheduleId) -> None:
    """Run a schedule now."""
    triggered = await session.client.agents.schedules(agent).trigger(id)
    why = f" ({triggered['reason']})" if triggered["reason"] else ""
    session.out.say(triggered, f"triggered {id}: run {triggered['run_id']}: {triggered['status']}{why}")


@command(schedules)
async def runs(session: Session, agent: AgentName, id: ScheduleId, limit: Limit = 50) -> None:
    """List a schedule's due times and their outcomes, the newest first."""
    session.out.items(
        await session.client.agents.schedules(agent).runs(id, limit=limit),
        ("time", "outcome", "why", "times", "recipients", "turn", "run", "took"),
        lambda run: (
            moment(run["scheduled_for"]),
            status(run["outcome"] or "active"),
            short(run["reason"]),
            run["count"] if run["count"] > 1 else "",
            run["expanded_recipients"],
            run["request_id"],
            run["id"],
            took(run["started_at"], run["finished_at"]),
        ),
        nothing="no runs",
    )


def _when(schedule: Json) -> str:
    return str(schedule["cron_expr"] or f"once at {_local(schedule, schedule['run_at'])}")


def _for(schedule: Json) -> str:
    if schedule["target_kind"] == "user":
        return printable(schedule["target_user_external_id"])
    return f"segment {short(schedule['segment_selector'], 40)}"


def _local(schedule: Json, at: str | None) -> str:
    return moment(at, load_zone(schedule["tz"]))


def _next(schedule: Json) -> str:
    return f"; next at {_local(schedule, schedule['next_run_at'])}" if schedule["next_run_at"] else ""


def _row(schedule: Json) -> tuple[Any, ...]:
    return (
        schedule["id"],
        status(schedule["status"]),
        schedule["flow"],
        _when(schedule),
        _for(schedule),
        _local(schedule, schedule["next_run_at"]),
        _local(schedule, schedule["last_run_at"]),
        schedule["origin"],
    )


def _page(schedule: Json) -> RenderableType:
    missed = {"max_runs": "runs", "max_age_seconds": "seconds"}
    bounds = ", ".join(f"{schedule[name]} {word}" for name, word in missed.items() if schedule[name] is not None)
    policy = schedule["on_missed_policy"]
    values = {
        "flow": schedule["flow"],
        "when": f"{_when(schedule)} ({schedule['tz']})",
        "for": _for(schedule),
        "session": schedule["target_session_id"],
        "campaign": schedule["campaign_id"],
        "next": _local(schedule, schedule["next_run_at"]),
        "last": _local(schedule, schedule["last_run_at"]),
        "begins sessions": "yes" if schedule["allow_session_bootstrap"] else "no",
        "missed times": f"{policy} ({bounds})" if bounds else policy,
        "while a flow waits": schedule["on_active_flow"],
        "input": short(schedule["input"], 1000) if schedule["input"] else None,
        "metadata": short(schedule["metadata"], 1000) if schedule["metadata"] else None,
        "why": schedule["reason"],
        "from": f"{schedule['origin']}, {schedule['actor']}" if schedule["actor"] else schedule["origin"],
        "version": schedule["version"],
        "changed": moment(schedule["updated"]),
        "fired by": schedule["name"],
    }
    return Group(Text.assemble((schedule["id"], "bold"), "  ", status(schedule["status"])), facts(values))
