"""`ostinato schedules …`: look at schedules, make them, change them, one or many."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.errors import OstinatoError
from ostinato.faces.cli.answers import facts, moment, short, status, table, took
from ostinato.faces.cli.bulk import Chosen, Job, Match, State, Tag, change, more
from ostinato.faces.cli.changes import differences, summary
from ostinato.faces.cli.given import (
    known,
    note_unknown_job,
    only_given,
    read_action,
    read_object,
    read_other_when,
    read_when,
    warnings_of,
    zone_of,
)
from ostinato.faces.cli.options import How, Input, Overlap
from ostinato.faces.cli.periods import read_end, read_time
from ostinato.faces.cli.target import Session, command
from ostinato.faces.cli.waiting import backfills_made, became_of
from ostinato.when.zones import Zone

schedules = typer.Typer(help="List, create and change schedules.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="The schedule's name.")]
Limit = Annotated[int, typer.Option(min=1, max=100_000, help="The most to show.")]
At = Annotated[str, typer.Argument(help="One of its times; without an offset, wall-clock time in its zone.")]
First = "From this time on; a day alone is its beginning."
Last = "Up to this time, included; a day alone is the whole day."
Tz = Annotated[str, typer.Option(help="Time zone of the spec. [default: UTC]")]
IfMatch = Annotated[int | None, typer.Option(help="Only if this is still its conflict token.")]
Note = Annotated[str, typer.Option(help="Why; kept with the schedule.")]


@command(schedules, "list")
async def list_schedules(
    session: Session, match: Match = None, tag: Tag = None, state: State = None, job: Job = None, limit: Limit = 1000
) -> None:
    """List schedules by name."""
    found = await session.client.schedules.list(match=match or "*", tag=tag, state=state, job=job, limit=limit)
    session.out.items(
        found,
        ("schedule", "state", "when", "job", "next", "failures"),
        lambda one: (
            one["name"],
            status(one["state"]),
            one["words"],
            one["job"],
            moment(one["next"], zone_of(one)),
            one["failures"] or "",
        ),
        nothing="no schedules",
    )


@command(schedules)
async def show(
    session: Session, name: Name, recent: Annotated[int, typer.Option(min=0, max=1000, help="Past times shown.")] = 10
) -> None:
    """Show a schedule and its recent times."""
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
    """Create a schedule."""
    when, action = read_when(spec, tz), read_action(job)
    answer = await session.client.schedules.create(name, when, action, paused=paused, trigger=trigger, **how.given())
    made = await session.client.schedules.get(name, recent=0)
    session.out.say(answer, f"created {name}{more(answer)}", *summary(made), *warnings_of(when))
    await note_unknown_job(session, action)


@command(schedules)
async def update(
    session: Session,
    name: Name,
    how: How,
    spec: Annotated[str | None, typer.Option(help="Another spec; it keeps the zone, unless --tz is given.")] = None,
    tz: Annotated[str, typer.Option(help="Another time zone, with or without another spec.")] = "",
    job: Annotated[str | None, typer.Option(help="Another job or action.")] = None,
    if_match: IfMatch = None,
) -> None:
    """Change what is given, leave the rest. No time comes twice by it, and none is lost."""
    action = read_action(job)
    changes = {**only_given(action=action), **how.given()}
    if spec is None and not tz and not changes:
        raise OstinatoError("nothing to change; give --spec, --tz, --job, --input, --overlap …")
    before = await known(session.client, name)
    when = read_other_when(before, spec, tz)
    if when is not None:
        changes["spec"] = when
    answer = await session.client.schedules.update(name, if_match=if_match, **changes)
    after = await session.client.schedules.get(name, recent=0)
    session.out.say(answer, f"updated {name}", *differences(before, after), *warnings_of(when))
    await note_unknown_job(session, action)


@command(schedules)
async def pause(
    session: Session,
    chosen: Chosen,
    note: Note = "",
) -> None:
    """Start no run until it is resumed. Runs that have begun go on."""
    calls = session.client.schedules
    await change(session, chosen, "paused", lambda one: calls.pause(one, note))


@command(schedules)
async def resume(
    session: Session,
    chosen: Chosen,
    note: Note = "",
    catchup: Annotated[str | None, typer.Option(help="For times that passed meanwhile: latest, all, 1h.")] = None,
) -> None:
    """Resume a schedule. Times that passed meanwhile are skipped, unless --catchup says otherwise."""
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
    first: Annotated[str, typer.Option(help=First)],
    last: Annotated[str, typer.Option(help=Last)],
    overlap: Overlap = None,
    input: Input = None,
    rate: Annotated[float | None, typer.Option(help="The most runs to start in a second.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until all its times are dealt with.")] = False,
) -> None:
    """Run a range of its times now."""
    calls, given = session.client.schedules, read_object(input, "--input")

    async def fill(one: str) -> Json:
        zone = zone_of(await calls.get(one, recent=0))
        begin, end = read_time(first, "--first", zone), read_end(last, "--last", zone)
        answer = await calls.backfill(one, begin, end, overlap=overlap, input=given, rate=rate)
        begun.append((one, answer["backfill"]))
        return answer

    begun: list[tuple[str, str]] = []
    await change(session, chosen, "backfilling", fill)
    if wait:
        made = await backfills_made(session, begun)
        named = [(name, one) for (name, _), one in zip(begun, made, strict=True)]
        typer.echo(await became_of(session, named), err=True)
        if any(one["state"] != "completed" for one in made):
            raise typer.Exit(1)


@command(schedules)
async def skip(session: Session, name: Name, at: At) -> None:
    """Skip exactly one coming occurrence."""
    zone = zone_of(await known(session.client, name))
    time = read_time(at, "AT", zone)
    answer = await session.client.schedules.skip(name, time)
    session.out.say(answer, f"{name} will skip {moment(time, zone)}")


@command(schedules)
async def move(
    session: Session,
    name: Name,
    at: At,
    to: Annotated[str, typer.Argument(help="When instead, between its neighbours.")],
) -> None:
    """Move exactly one coming occurrence."""
    zone = zone_of(await known(session.client, name))
    time, other = read_time(at, "AT", zone), read_time(to, "TO", zone)
    answer = await session.client.schedules.move(name, time, other)
    session.out.say(answer, f"{name} will run at {moment(other, zone)} instead of {moment(time, zone)}")


@command(schedules)
async def put_back(session: Session, name: Name, at: At) -> None:
    """Undo a skip or a move of one coming occurrence."""
    zone = zone_of(await known(session.client, name))
    time = read_time(at, "AT", zone)
    answer = await session.client.schedules.put_back(name, time)
    session.out.say(answer, f"{name} will run at {moment(time, zone)} as its spec says")


@command(schedules)
async def delete(
    session: Session,
    chosen: Chosen,
    running: Annotated[str, typer.Option(help="Its runs that have begun: leave, cancel or terminate.")] = "leave",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a schedule. Its runs stay on record for as long as runs are kept."""
    calls = session.client.schedules
    await change(session, chosen, "deleted", lambda one: calls.delete(one, running=running), sure=yes)


@command(schedules)
async def history(
    session: Session,
    name: Name,
    first: Annotated[str | None, typer.Option(help=First)] = None,
    last: Annotated[str | None, typer.Option(help=Last)] = None,
    limit: Limit = 100,
) -> None:
    """List what became of its times, the newest first."""
    zone = zone_of(await known(session.client, name))
    found = await session.client.schedules.history(
        name,
        first=None if first is None else read_time(first, "--first", zone),
        last=None if last is None else read_end(last, "--last", zone),
        limit=limit,
    )
    session.out.items(
        found, _OCCURRENCE, lambda one: _occurrence(one, zone), nothing="none of its times has passed yet"
    )


@command(schedules)
async def times(
    session: Session,
    name: Name,
    first: Annotated[str, typer.Argument(help=First)],
    last: Annotated[str, typer.Argument(help=Last)],
    limit: Limit = 1000,
) -> None:
    """List its times in a period, as its spec says them."""
    zone = zone_of(await known(session.client, name))
    begin, end = read_time(first, "FIRST", zone), read_end(last, "LAST", zone)
    found = await session.client.schedules.times(name, begin, end, limit=limit)
    session.out.items(found, ("time",), lambda one: (moment(one, zone),), nothing="no times")


_OCCURRENCE = ("time", "status", "began", "took", "attempt", "why", "run")


def _occurrence(one: Json, zone: Zone) -> tuple[Any, ...]:
    count = f" and {one['count'] - 1} more to {moment(one['last'], zone)}" if one["count"] > 1 else ""
    return (
        moment(one["nominal"], zone) + count,
        status(one["status"]),
        moment(one["started"], zone),
        took(one["started"], one["finished"]),
        one["attempt"],
        short(one["reason"]),
        one["run_id"],
    )


def _page(one: Json) -> RenderableType:
    policies, late, zone = one["policies"], one["lateness"], zone_of(one)
    parts: list[RenderableType] = [
        Text.assemble((one["name"], "bold"), "  ", status(one["state"]), "  ", (one["reason"] or "", "red")),
        facts(
            {
                "when": one["words"],
                "job": one["job"],
                "input": short(one["input"], 200) if one["input"] else None,
                "overlap": policies["overlap"],
                "catch-up": policies["catchup"]["mode"],
                "paused": moment(one["paused"], zone),
                "notes": one["notes"],
                "remaining": one["remaining"],
                "next": ", ".join(moment(at, zone) for at in one["upcoming"][:5]),
                "late": f"{late['late']}, will run {late['will_run']}" if late["late"] else None,
                "running": ", ".join(one["running"]),
                "waiting": one["waiting"] or None,
                "counts": ", ".join(f"{name} {count}" for name, count in one["counts"].items()),
                "last success": moment(one["last_success"], zone),
                "failures in a row": one["failures"] or None,
                "tags": ", ".join(one["tags"]),
                "declared in": one["origin"],
                "created": moment(one["created"]),
                "conflict token": one["token"],
            }
        ),
    ]
    if one["recent"]:
        parts += [Text(""), table(_OCCURRENCE, (_occurrence(past, zone) for past in one["recent"]))]
    return Group(*parts)
