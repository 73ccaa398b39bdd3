"""`ostinato schedules …`: look at schedules, make them, change them, one or many."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.errors import OstinatoError
from ostinato.faces.cli.answers import facts, moment, short, status, table, took
from ostinato.faces.cli.bulk import Chosen, Job, Match, State, Tag, change
from ostinato.faces.cli.given import known, only_given, read_action, read_object, read_time, read_when, zone_of
from ostinato.faces.cli.options import How, Input, Overlap
from ostinato.faces.cli.target import Session, command
from ostinato.faces.cli.waiting import backfills_made

schedules = typer.Typer(help="Schedules: look, make, change.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="The schedule's name.")]
Limit = Annotated[int, typer.Option(min=1, max=100_000, help="At most so many.")]
Tz = Annotated[str, typer.Option(help="Time zone of the spec. [default: UTC]")]
IfMatch = Annotated[int | None, typer.Option(help="Only if this is still its conflict token.")]
Note = Annotated[str, typer.Option(help="Why, for whoever looks.")]


@command(schedules, "list")
async def list_schedules(
    session: Session, match: Match = None, tag: Tag = None, state: State = None, job: Job = None, limit: Limit = 1000
) -> None:
    """Schedules by name."""
    found = await session.client.schedules.list(match=match or "*", tag=tag, state=state, job=job, limit=limit)
    session.out.items(
        found,
        ("schedule", "state", "when", "job", "next", "failures"),
        lambda one: (
            one["name"],
            status(one["state"]),
            one["words"],
            one["job"],
            moment(one["next"]),
            one["failures"] or "",
        ),
        nothing="no schedules",
    )


@command(schedules)
async def show(
    session: Session, name: Name, recent: Annotated[int, typer.Option(min=0, max=1000, help="Past times shown.")] = 10
) -> None:
    """A schedule as it stands."""
    found = await known(session.client, name, recent)
    session.out.draw(found, lambda: _page(found))


@command(schedules, creates=True)
async def create(
    session: Session,
    name: Name,
    spec: Annotated[str, typer.Argument(help="'0 9 * * 1-5', 'every 15m', a time, JSON, or manual.")],
    job: Annotated[str, typer.Argument(help='A job, or \'{"http": {"url": …}}\'.')],
    how: How,
    tz: Tz = "",
    paused: Annotated[bool, typer.Option("--paused", help="Make it paused.")] = False,
    trigger: Annotated[bool, typer.Option("--trigger", help="Run it now, too.")] = False,
) -> None:
    """Make a schedule."""
    when, action = read_when(spec, tz), read_action(job)
    answer = await session.client.schedules.create(name, when, action, paused=paused, trigger=trigger, **how.given())
    session.out.say(answer, f"created {name}")


@command(schedules)
async def update(
    session: Session,
    name: Name,
    how: How,
    spec: Annotated[str | None, typer.Option(help="Another spec.")] = None,
    tz: Tz = "",
    job: Annotated[str | None, typer.Option(help="Another job or action.")] = None,
    if_match: IfMatch = None,
) -> None:
    """Change what is given, leave the rest. No time comes twice by it, and none is lost."""
    given = {**only_given(spec=read_when(spec, tz), action=read_action(job)), **how.given()}
    if not given:
        raise OstinatoError("nothing to change; give --spec, --job, --input, --overlap …")
    await known(session.client, name)
    answer = await session.client.schedules.update(name, if_match=if_match, **given)
    session.out.say(answer, f"updated {name}")


@command(schedules)
async def pause(
    session: Session,
    chosen: Chosen,
    note: Note = "",
) -> None:
    """No automatic run until it is resumed. What runs, runs on."""
    calls = session.client.schedules
    await change(session, chosen, "paused", lambda one: calls.pause(one, note))


@command(schedules)
async def resume(
    session: Session,
    chosen: Chosen,
    note: Note = "",
    catchup: Annotated[str | None, typer.Option(help="For times that passed meanwhile: latest, all, 1h.")] = None,
) -> None:
    """Let it run again. Times that passed meanwhile are passed over, unless --catchup says otherwise."""
    calls = session.client.schedules
    await change(session, chosen, "resumed", lambda one: calls.resume(one, note, catchup=catchup))


@command(schedules)
async def trigger(
    session: Session,
    chosen: Chosen,
    input: Input = None,
    overlap: Overlap = None,
) -> None:
    """Run it now."""
    calls, given = session.client.schedules, read_object(input, "--input")
    await change(session, chosen, "triggered", lambda one: calls.trigger(one, input=given, overlap=overlap))


@command(schedules)
async def backfill(
    session: Session,
    chosen: Chosen,
    first: Annotated[str, typer.Option(help="From this time.")],
    last: Annotated[str, typer.Option(help="To this time, included.")],
    overlap: Overlap = None,
    input: Input = None,
    rate: Annotated[float | None, typer.Option(help="At most so many in a second.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Until all the times are made, with a bar.")] = False,
) -> None:
    """Run a range of its times now."""
    calls, given = session.client.schedules, read_object(input, "--input")

    async def fill(one: str) -> Json:
        zone = zone_of(await calls.get(one, recent=0))
        begin, end = read_time(first, "--first", zone), read_time(last, "--last", zone)
        answer = await calls.backfill(one, begin, end, overlap=overlap, input=given, rate=rate)
        begun.append((one, answer["backfill"]))
        return answer

    begun: list[tuple[str, str]] = []
    await change(session, chosen, "backfilling", fill)
    if wait:
        made = await backfills_made(session, begun)
        counted = f"{sum(one['made'] for one in made)} of {sum(one['total'] for one in made)}"
        typer.echo(f"{counted} times are made", err=True)
        if any(one["state"] != "completed" for one in made):
            raise typer.Exit(1)


@command(schedules)
async def skip(session: Session, name: Name, at: Annotated[str, typer.Argument(help="Its nominal time.")]) -> None:
    """Leave out exactly one coming occurrence."""
    zone = zone_of(await known(session.client, name))
    answer = await session.client.schedules.skip(name, read_time(at, "AT", zone))
    session.out.say(answer, f"{name} will leave out {at}")


@command(schedules)
async def move(
    session: Session,
    name: Name,
    at: Annotated[str, typer.Argument(help="Its nominal time.")],
    to: Annotated[str, typer.Argument(help="When instead, between its neighbours.")],
) -> None:
    """Move exactly one coming occurrence."""
    zone = zone_of(await known(session.client, name))
    answer = await session.client.schedules.move(name, read_time(at, "AT", zone), read_time(to, "TO", zone))
    session.out.say(answer, f"{name} will run at {to} instead of {at}")


@command(schedules)
async def put_back(session: Session, name: Name, at: Annotated[str, typer.Argument(help="Its nominal time.")]) -> None:
    """Take back a skip or a move of one coming occurrence."""
    zone = zone_of(await known(session.client, name))
    answer = await session.client.schedules.put_back(name, read_time(at, "AT", zone))
    session.out.say(answer, f"{name} will run at {at} as it would have")


@command(schedules)
async def delete(
    session: Session,
    chosen: Chosen,
    running: Annotated[str, typer.Option(help="What runs: leave, cancel or terminate.")] = "leave",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Close it; its record stays for as long as runs are kept."""
    calls = session.client.schedules
    await change(session, chosen, "deleted", lambda one: calls.delete(one, running=running), sure=yes)


@command(schedules)
async def history(
    session: Session,
    name: Name,
    first: Annotated[str | None, typer.Option(help="From this time.")] = None,
    last: Annotated[str | None, typer.Option(help="To this time.")] = None,
    limit: Limit = 100,
) -> None:
    """What became of its times, the newest first."""
    zone = zone_of(await known(session.client, name))
    found = await session.client.schedules.history(
        name,
        first=None if first is None else read_time(first, "--first", zone),
        last=None if last is None else read_time(last, "--last", zone),
        limit=limit,
    )
    session.out.items(found, _OCCURRENCE, _occurrence, nothing="no time of it has passed yet")


@command(schedules)
async def times(
    session: Session,
    name: Name,
    first: Annotated[str, typer.Argument(help="From this time.")],
    last: Annotated[str, typer.Argument(help="To this time, included.")],
    limit: Limit = 1000,
) -> None:
    """The nominal times of its spec in a period."""
    zone = zone_of(await known(session.client, name))
    begin, end = read_time(first, "FIRST", zone), read_time(last, "LAST", zone)
    found = await session.client.schedules.times(name, begin, end, limit=limit)
    session.out.items(found, ("UTC",), lambda one: (moment(one),), nothing="no times")


_OCCURRENCE = ("time", "status", "began", "took", "attempt", "why", "run")


def _occurrence(one: Json) -> tuple[Any, ...]:
    count = f" and {one['count'] - 1} more to {moment(one['last'])}" if one["count"] > 1 else ""
    return (
        moment(one["nominal"]) + count,
        status(one["status"]),
        moment(one["started"]),
        took(one["started"], one["finished"]),
        one["attempt"],
        short(one["reason"]),
        one["run_id"],
    )


def _page(one: Json) -> RenderableType:
    policies, late = one["policies"], one["lateness"]
    parts: list[RenderableType] = [
        Text.assemble((one["name"], "bold"), "  ", status(one["state"]), "  ", (one["reason"] or "", "red")),
        facts(
            {
                "when": one["words"],
                "job": one["job"],
                "input": short(one["input"], 200) if one["input"] else None,
                "overlap": policies["overlap"],
                "catch-up": policies["catchup"]["mode"],
                "paused": moment(one["paused"]),
                "notes": one["notes"],
                "remaining": one["remaining"],
                "next": ", ".join(moment(at) for at in one["upcoming"][:5]),
                "late": f"{late['late']}, will run {late['will_run']}" if late["late"] else None,
                "running": ", ".join(one["running"]),
                "waiting": one["waiting"] or None,
                "counts": ", ".join(f"{name} {count}" for name, count in one["counts"].items()),
                "last success": moment(one["last_success"]),
                "failures in a row": one["failures"] or None,
                "tags": ", ".join(one["tags"]),
                "declared in": one["origin"],
                "created": moment(one["created"]),
                "conflict token": one["token"],
            }
        ),
    ]
    if one["recent"]:
        parts += [Text(""), table(_OCCURRENCE, map(_occurrence, one["recent"]))]
    return Group(*parts)
