"""`ostinato schedules …`: list, create and change schedules, one or many."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.errors import OstinatoError
from ostinato.faces.cli.arguments import (
    Limit,
    only_given,
    read_action,
    read_object,
    read_other_when,
    read_when,
    say_note,
    schedule_zone,
    warnings_of,
    zone_of,
)
from ostinato.faces.cli.bulk import Chosen, Job, Match, State, Tag, change, more
from ostinato.faces.cli.changes import differences, summary
from ostinato.faces.cli.completion import catchups, endings, job_names, schedule_names
from ostinato.faces.cli.options import Input, Overlap, ScheduleOptions, Unset, changed_options
from ostinato.faces.cli.output import facts, moment, short, status, table, took
from ostinato.faces.cli.periods import read_end, read_time
from ostinato.faces.cli.session import Session, command, command_group
from ostinato.faces.cli.waiting import count_outcomes, wait_for_backfills
from ostinato.when.zones import Zone

schedules = command_group("List, create and change schedules.")

Name = Annotated[str, typer.Argument(help="The schedule's name.", autocompletion=schedule_names)]
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
    """List schedules, ordered by name."""
    listed = await session.client.schedules.list(match=match or "*", tag=tag, state=state, job=job, limit=limit)
    session.out.items(
        listed,
        ("schedule", "state", "when", "starts", "next", "failures"),
        lambda schedule: (
            schedule["name"],
            status(schedule["state"]),
            schedule["words"],
            schedule["starts"],
            moment(schedule["next"], zone_of(schedule)),
            schedule["failures"] or "",
        ),
        nothing="no schedules",
    )


@command(schedules)
async def show(
    session: Session,
    name: Name,
    recent: Annotated[int, typer.Option(min=0, max=1000, help="How many past times to show.")] = 10,
) -> None:
    """Show a schedule and its recent times."""
    session.out.draw(await session.client.schedules.get(name, recent=recent), _page)


@command(schedules, creates=True)
async def create(
    session: Session,
    name: Name,
    spec: Annotated[str, typer.Argument(help="'0 9 * * 1-5', 'every 15m', a time, JSON, or manual.")],
    job: Annotated[str, typer.Argument(help='A job, or \'{"http": {"url": …}}\'.', autocompletion=job_names)],
    options: ScheduleOptions,
    tz: Tz = "",
    paused: Annotated[bool, typer.Option("--paused", help="Create it paused.")] = False,
    trigger: Annotated[bool, typer.Option("--trigger", help="Run it now, too.")] = False,
) -> None:
    """Create a schedule."""
    when, action = read_when(spec, tz), read_action(job)
    answer = await session.client.schedules.create(
        name, when, action, paused=paused, trigger=trigger, **options.as_fields()
    )
    schedule = await session.client.schedules.get(name, recent=0)
    session.out.say(answer, f"created {name}{more(answer)}", *summary(schedule), *warnings_of(when))
    say_note(answer)


@command(schedules)
async def update(
    session: Session,
    name: Name,
    options: ScheduleOptions,
    spec: Annotated[str | None, typer.Option(help="Another spec; it keeps the zone, unless --tz is given.")] = None,
    tz: Annotated[str, typer.Option(help="Another time zone, with or without another spec.")] = "",
    job: Annotated[str | None, typer.Option(help="Another job or action.", autocompletion=job_names)] = None,
    unset: Unset = None,
    if_match: IfMatch = None,
) -> None:
    """Change the given settings of a schedule. No due time is lost or repeated."""
    changes = {**only_given(action=read_action(job)), **changed_options(options, unset)}
    if spec is None and not tz and not changes:
        raise OstinatoError("nothing to change; give --spec, --tz, --job, --input, --overlap, --unset …")
    before = await session.client.schedules.get(name, recent=0)
    when = read_other_when(before, spec, tz)
    if when is not None:
        changes["spec"] = when
    answer = await session.client.schedules.update(name, if_match=if_match, **changes)
    after = await session.client.schedules.get(name, recent=0)
    session.out.say(answer, f"updated {name}", *differences(before, after), *warnings_of(when))
    say_note(answer)


@command(schedules)
async def pause(session: Session, chosen: Chosen, note: Note = "") -> None:
    """Pause a schedule: it starts no runs until it is resumed. Active runs continue."""
    calls = session.client.schedules
    await change(session, chosen, "paused", lambda one: calls.pause(one, note))


@command(schedules)
async def resume(
    session: Session,
    chosen: Chosen,
    note: Note = "",
    catchup: Annotated[
        str | None, typer.Option(help="For times that passed meanwhile: latest, all, 1h.", autocompletion=catchups)
    ] = None,
) -> None:
    """Resume a schedule. Times that passed meanwhile are skipped, unless --catchup says otherwise."""
    calls = session.client.schedules
    await change(session, chosen, "resumed", lambda one: calls.resume(one, note, catchup=catchup))


@command(schedules)
async def trigger(session: Session, chosen: Chosen, input: Input = None, overlap: Overlap = None) -> None:
    """Run a schedule now."""
    calls, parsed = session.client.schedules, read_object(input, "--input")
    await change(session, chosen, "triggered", lambda one: calls.trigger(one, input=parsed, overlap=overlap))


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
    """Start runs now for a range of a schedule's times."""
    calls, parsed = session.client.schedules, read_object(input, "--input")

    async def fill(name: str) -> Json:
        zone = zone_of(await calls.get(name, recent=0))
        begin, end = read_time(first, "--first", zone), read_end(last, "--last", zone)
        answer = await calls.backfill(name, begin, end, overlap=overlap, input=parsed, rate=rate)
        begun.append((name, answer["backfill"]))
        return answer

    begun: list[tuple[str, str]] = []
    await change(session, chosen, "backfilling", fill)
    if wait:
        ended = await wait_for_backfills(session, begun)
        results = [(name, filled) for (name, _), filled in zip(begun, ended, strict=True)]
        typer.echo(await count_outcomes(session, results), err=True)
        if any(filled["state"] != "completed" for filled in ended):
            raise typer.Exit(1)


@command(schedules)
async def skip(session: Session, name: Name, at: At) -> None:
    """Skip one coming occurrence."""
    zone = await schedule_zone(session.client, name)
    time = read_time(at, "AT", zone)
    answer = await session.client.schedules.skip(name, time)
    session.out.say(answer, f"{name} will skip {moment(time, zone)}")


@command(schedules)
async def move(
    session: Session,
    name: Name,
    at: At,
    to: Annotated[str, typer.Argument(help="The new time, between its neighbours.")],
) -> None:
    """Move one coming occurrence."""
    zone = await schedule_zone(session.client, name)
    time, other = read_time(at, "AT", zone), read_time(to, "TO", zone)
    answer = await session.client.schedules.move(name, time, other)
    session.out.say(answer, f"{name} will run at {moment(other, zone)} instead of {moment(time, zone)}")


@command(schedules)
async def put_back(session: Session, name: Name, at: At) -> None:
    """Undo a skip or a move of one coming occurrence."""
    zone = await schedule_zone(session.client, name)
    time = read_time(at, "AT", zone)
    answer = await session.client.schedules.put_back(name, time)
    session.out.say(answer, f"{name} will run at {moment(time, zone)} as its spec says")


@command(schedules)
async def delete(
    session: Session,
    chosen: Chosen,
    running: Annotated[
        str, typer.Option(help="Its runs that have begun: leave, cancel or terminate.", autocompletion=endings)
    ] = "leave",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a schedule. The records of its runs are kept as long as those of other runs."""
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
    """List a schedule's past occurrences, the newest first."""
    zone = await schedule_zone(session.client, name)
    occurrences = await session.client.schedules.history(
        name,
        first=None if first is None else read_time(first, "--first", zone),
        last=None if last is None else read_end(last, "--last", zone),
        limit=limit,
    )
    nothing = "none of its times has passed yet"
    session.out.items(occurrences, _OCCURRENCE, lambda occurrence: _occurrence(occurrence, zone), nothing=nothing)


@command(schedules)
async def times(
    session: Session,
    name: Name,
    first: Annotated[str, typer.Argument(help=First)],
    last: Annotated[str, typer.Argument(help=Last)],
    limit: Limit = 1000,
) -> None:
    """List the times of a schedule's spec in a period."""
    zone = await schedule_zone(session.client, name)
    begin, end = read_time(first, "FIRST", zone), read_end(last, "LAST", zone)
    listed = await session.client.schedules.times(name, begin, end, limit=limit)
    session.out.items(listed, ("time",), lambda time: (moment(time, zone),), nothing="no times")


_OCCURRENCE = ("time", "status", "began", "took", "attempt", "why", "run")


def _occurrence(occurrence: Json, zone: Zone) -> tuple[Any, ...]:
    more = f" and {occurrence['count'] - 1} more to {moment(occurrence['last'], zone)}"
    return (
        moment(occurrence["nominal"], zone) + (more if occurrence["count"] > 1 else ""),
        status(occurrence["status"]),
        moment(occurrence["started"], zone),
        took(occurrence["started"], occurrence["finished"]),
        occurrence["attempt"],
        short(occurrence["reason"]),
        occurrence["run_id"],
    )


def _page(schedule: Json) -> RenderableType:
    policies, late, zone = schedule["policies"], schedule["lateness"], zone_of(schedule)
    reason = (schedule["reason"] or "", "red")
    values = {
        "when": schedule["words"],
        "starts": schedule["starts"],
        "input": short(schedule["input"], 200) if schedule["input"] else None,
        "options": short(schedule["options"], 200) if schedule["options"] else None,
        "overlap": policies["overlap"],
        "catch-up": policies["catchup"]["mode"],
        "paused": moment(schedule["paused"], zone),
        "notes": schedule["notes"],
        "memo": short(schedule["memo"], 200),
        "attributes": short(schedule["attributes"], 200) if schedule["attributes"] else None,
        "remaining": schedule["remaining"],
        "next": ", ".join(moment(at, zone) for at in schedule["upcoming"][:5]),
        "late": f"{late['late']}, will run {late['will_run']}" if late["late"] else None,
        "running": ", ".join(schedule["running"]),
        "waiting": schedule["waiting"] or None,
        "counts": ", ".join(f"{name} {count}" for name, count in schedule["counts"].items()),
        "last success": moment(schedule["last_success"], zone),
        "failures in a row": schedule["failures"] or None,
        "tags": ", ".join(schedule["tags"]),
        "declared in": schedule["origin"],
        "created": moment(schedule["created"]),
        "conflict token": schedule["token"],
    }
    head = Text.assemble((schedule["name"], "bold"), "  ", status(schedule["state"]), "  ", reason)
    parts: list[RenderableType] = [head, facts(values)]
    if schedule["recent"]:
        parts += [Text(""), table(_OCCURRENCE, (_occurrence(past, zone) for past in schedule["recent"]))]
    return Group(*parts)
