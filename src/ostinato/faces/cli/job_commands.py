"""`ostinato jobs …`: list the known jobs, and start one."""

from __future__ import annotations

from typing import Annotated

import typer

from ostinato.faces.cli.arguments import read_object, say_note
from ostinato.faces.cli.completion import job_names
from ostinato.faces.cli.options import RunOptions
from ostinato.faces.cli.periods import read_time
from ostinato.faces.cli.run_commands import page
from ostinato.faces.cli.session import Session, command, command_group
from ostinato.faces.cli.waiting import wait_for_run

jobs = command_group("List the known jobs, and start one.")


@command(jobs, "list")
async def list_jobs(session: Session) -> None:
    """List the jobs that any node has declared."""
    session.out.items(
        await session.client.jobs(),
        ("job", "queue", "priority", "serial key", "at most once"),
        lambda job: (
            job["name"],
            job["queue"],
            job["priority"],
            job["serial_key"],
            "yes" if job["at_most_once"] else "",
        ),
    )


@command(jobs, creates=True)
async def start(
    session: Session,
    job: Annotated[str, typer.Argument(help="The job's name.", autocompletion=job_names)],
    options: RunOptions,
    input: Annotated[str | None, typer.Option(help="Its input, a JSON object.")] = None,
    id: Annotated[str | None, typer.Option(help="Start it once under this id, however often you ask.")] = None,
    at: Annotated[str | None, typer.Option(help="Not before this time; without an offset, UTC.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for its end; exit code 1 if it did not succeed.")] = False,
) -> None:
    """Start a run, now or later. If no node knows the job, the run waits until one does."""
    moment = None if at is None else read_time(at, "--at")
    answer = await session.client.start(job, read_object(input, "--input"), id=id, at=moment, **options.as_fields())
    if not wait:
        session.out.say(answer, f"started {answer['id']}" if answer["new"] else f"{answer['id']} was started before")
    say_note(answer)
    if not wait:
        return
    run = await wait_for_run(session, answer["id"])
    session.out.draw(run, page)
    if run["status"] != "succeeded":
        raise typer.Exit(1)
