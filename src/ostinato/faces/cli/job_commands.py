"""`ostinato jobs …`: which jobs are known, and starting one."""

from __future__ import annotations

from typing import Annotated

import typer

from ostinato.faces.cli.given import note_unknown_job, only_given, read_object
from ostinato.faces.cli.periods import read_time
from ostinato.faces.cli.run_commands import page
from ostinato.faces.cli.target import Session, command
from ostinato.faces.cli.waiting import run_over

jobs = typer.Typer(help="List the known jobs, and start one.", no_args_is_help=True, rich_markup_mode=None)


@command(jobs, "list")
async def list_jobs(session: Session) -> None:
    """List the jobs that any node has declared."""
    session.out.items(
        await session.client.jobs(),
        ("job", "queue", "priority", "serial key", "at most once"),
        lambda one: (
            one["name"],
            one["queue"],
            one["priority"],
            one["serial_key"],
            "yes" if one["at_most_once"] else "",
        ),
    )


@command(jobs, creates=True)
async def start(
    session: Session,
    job: Annotated[str, typer.Argument(help="The job's name.")],
    input: Annotated[str | None, typer.Option(help="Its input, a JSON object.")] = None,
    id: Annotated[str | None, typer.Option(help="Started once under this id, however often it is asked for.")] = None,
    at: Annotated[str | None, typer.Option(help="Not before this time; without an offset, UTC.")] = None,
    queue: Annotated[str | None, typer.Option()] = None,
    priority: Annotated[int | None, typer.Option()] = None,
    retry: Annotated[int | None, typer.Option(help="Attempts in all.")] = None,
    timeout: Annotated[str | None, typer.Option(help="How long an attempt may take.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Until it is over; exit code 1 if it did not succeed.")] = False,
) -> None:
    """Start a run, now or later. A job that no node knows waits until one does."""
    options = only_given(queue=queue, priority=priority, retry=retry, timeout=timeout)
    moment = None if at is None else read_time(at, "--at")
    answer = await session.client.start(job, read_object(input, "--input"), id=id, at=moment, **options)
    words = f"started {answer['id']}" if answer["new"] else f"{answer['id']} was started before"
    if not wait:
        session.out.say(answer, words)
    await note_unknown_job(session, job)
    if not wait:
        return
    found = await run_over(session, answer["id"])
    session.out.draw(found, lambda: page(found))
    if found["status"] != "succeeded":
        raise typer.Exit(1)
