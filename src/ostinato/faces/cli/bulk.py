"""Make the same change to one schedule, to several, or to all that match a filter."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from ostinato.client import Client, Json
from ostinato.errors import OstinatoError
from ostinato.faces.cli.arguments import say_note
from ostinato.faces.cli.completion import job_names, schedule_names, states
from ostinato.faces.cli.session import Session

_AT_ONCE = 8
_MOST = 1_000_000
Names = Annotated[
    list[str] | None, typer.Argument(help="Schedules by name.", metavar="NAME", autocompletion=schedule_names)
]
Match = Annotated[str | None, typer.Option(help="All whose name fits, such as 'billing-*'.")]
Tag = Annotated[str | None, typer.Option(help="All with this tag.")]
State = Annotated[
    str | None, typer.Option(help="All that are running, paused, completed or parked.", autocompletion=states)
]
Job = Annotated[str | None, typer.Option(help="All that start this job.", autocompletion=job_names)]
Do = Callable[[str], Awaitable[Json]]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The schedules to change, chosen by name or by filters."""

    name: Names = None
    match: Match = None
    tag: Tag = None
    state: State = None
    job: Job = None

    @property
    def single(self) -> str | None:
        """The schedule's name, if exactly one was named and there is no filter. Otherwise None."""
        return self.name[0] if self.name and len(self.name) == 1 and not self._filtered else None

    @property
    def _filtered(self) -> bool:
        return any(part is not None for part in (self.match, self.tag, self.state, self.job))

    async def find(self, client: Client) -> list[str]:
        if not self._filtered:
            if not self.name:
                raise OstinatoError("say which: name schedules, or choose them with --match, --tag, --state or --job")
            return list(dict.fromkeys(self.name))
        if self.name:
            raise OstinatoError("name schedules, or choose them by --match and the like; not both")
        schedules = await client.schedules.list(
            match=self.match or "*", tag=self.tag, state=self.state, job=self.job, limit=_MOST
        )
        return [one["name"] for one in schedules]


async def change(session: Session, chosen: Chosen, done: str, do: Do, *, sure: bool = True) -> None:
    """Call `do` with the name of each chosen schedule, and print the outcome. `do` makes the change, and returns the
    server's answer. `done` names the change in messages, for example "paused".

    If the user chose one schedule by its name, an error of `do` is raised. Otherwise:

    - If `sure` is false, the user must first confirm the change. If the user declines, nothing is changed, and the
      command exits with code 1.
    - An error of `do` does not stop the other calls. At the end, all errors are printed, and the command exits with
      code 1.
    """
    client, out = session.client, session.out
    name = chosen.single
    if name is not None:
        answer = await do(name)
        out.say(answer, f"{done} {name}{more(answer)}")
        say_note(answer)
        return
    names = await chosen.find(client)
    if not sure and names and not typer.confirm(f"{len(names)} schedules will be {done}. Go on?", err=True):
        raise typer.Exit(1)
    failed, notes = await _each(session, names, done, do)
    count = len(names) - len(failed)
    out.say(
        {"done": count, "failed": failed, "notes": notes},
        f"{done} {count} of {len(names)} schedules",
        *(f"  not {one}: {why}" for one, why in failed.items()),
    )
    for schedule, note in notes.items():
        say_note({"note": f"{schedule}: {note}"})
    if failed:
        raise typer.Exit(1)


async def _each(session: Session, names: Sequence[str], done: str, do: Do) -> tuple[dict[str, str], dict[str, str]]:
    """Call `do` with the name of each schedule. Return two dicts. The first maps a name to the error, if the call
    failed. The second maps a name to the `note` in the server's answer, if there is one. `done` is the label of the
    progress bar."""
    failed: dict[str, str] = {}
    notes: dict[str, str] = {}
    count = 0
    room = asyncio.Semaphore(_AT_ONCE)
    with session.out.progress(done, len(names)) as tell:

        async def change_one(name: str) -> None:
            nonlocal count
            async with room:
                try:
                    answer = await do(name)
                    if answer.get("note"):
                        notes[name] = answer["note"]
                except OstinatoError as problem:
                    failed[name] = str(problem)
            count += 1
            tell(count)

        await asyncio.gather(*(change_one(name) for name in names))
    return dict(sorted(failed.items())), dict(sorted(notes.items()))


def more(answer: Json) -> str:
    """Return a text to append to the message about a change, such as ` (backfill 7, 3 late, will run 1)`. The parts of
    the text come from `answer`:

    - the id and the status of the run that was started
    - the id of the backfill
    - how many due times are late, and how many of them will get a run

    A part that `answer` does not have is left out. If `answer` has no part, return "".
    """
    parts = []
    run = answer.get("run")
    if run:
        parts.append(f"run {run.get('id', '?')} {run.get('status', '')}".rstrip())
    if answer.get("backfill"):
        parts.append(f"backfill {answer['backfill']}")
    late = answer["lateness"]
    if late["late"]:
        parts.append(f"{late['late']} late, will run {late['will_run']}")
    return f" ({', '.join(parts)})" if parts else ""
