"""The same change for one schedule, for several, or for all that fit a pattern: with a bar while it lasts, and what
failed named at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from ostinato.client import Client, Json
from ostinato.errors import NotFound, OstinatoError
from ostinato.faces.cli.given import suggesting
from ostinato.faces.cli.target import Session

_AT_ONCE = 8
_MOST = 1_000_000
Names = Annotated[list[str] | None, typer.Argument(help="Schedules by name.", metavar="NAME")]
Match = Annotated[str | None, typer.Option(help="All whose name fits, such as 'billing-*'.")]
Tag = Annotated[str | None, typer.Option(help="All with this tag.")]
State = Annotated[str | None, typer.Option(help="All that are running, paused, completed or parked.")]
Job = Annotated[str | None, typer.Option(help="All that start this job.")]
Do = Callable[[str], Awaitable[Json]]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which schedules: by name, or by what they have in common."""

    name: Names = None
    match: Match = None
    tag: Tag = None
    state: State = None
    job: Job = None

    @property
    def one(self) -> str | None:
        """The only one, where one was named and nothing else said."""
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
        found = await client.schedules.list(
            match=self.match or "*", tag=self.tag, state=self.state, job=self.job, limit=_MOST
        )
        return [one["name"] for one in found]


async def change(session: Session, chosen: Chosen, done: str, do: Do, *, sure: bool = True) -> None:
    """Do it to all of them. Exit code 1 if any could not be done. Unless `sure`, ask before it is done to many."""
    client, out = session.client, session.out
    name = chosen.one
    if name is not None:
        try:
            answer = await do(name)
        except NotFound as problem:
            raise await suggesting(client, name, problem) from None
        out.say(answer, f"{done} {name}{more(answer)}")
        return
    names = await chosen.find(client)
    if not sure and names and not typer.confirm(f"{len(names)} schedules will be {done}. Go on?", err=True):
        raise typer.Exit(1)
    failed = await _each(session, names, done, do)
    count = len(names) - len(failed)
    out.say(
        {"done": count, "failed": failed},
        f"{done} {count} of {len(names)} schedules",
        *(f"  not {one}: {why}" for one, why in failed.items()),
    )
    if failed:
        raise typer.Exit(1)


async def _each(session: Session, names: Sequence[str], done: str, do: Do) -> dict[str, str]:
    failed: dict[str, str] = {}
    count = 0
    room = asyncio.Semaphore(_AT_ONCE)
    with session.out.progress(done, len(names)) as tell:

        async def one(name: str) -> None:
            nonlocal count
            async with room:
                try:
                    await do(name)
                except OstinatoError as problem:
                    failed[name] = str(problem)
            count += 1
            tell(count)

        await asyncio.gather(*(one(name) for name in names))
    return dict(sorted(failed.items()))


def more(answer: Json) -> str:
    """What an answer says beside that it was done."""
    told = []
    run = answer.get("run")
    if run:
        told.append(f"run {run.get('id', '?')} {run.get('status', '')}".rstrip())
    if answer.get("backfill"):
        told.append(f"backfill {answer['backfill']}")
    late = answer["lateness"]
    if late["late"]:
        told.append(f"{late['late']} late, will run {late['will_run']}")
    return f" ({', '.join(told)})" if told else ""
