"""Call a server about schedules: `client.schedules`, like `app.schedules`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ostinato.client.calling import CallGroup, Json, Moment, path_of, without_none

_path = partial(path_of, "/schedules")


class Schedules(CallGroup):
    """The calls about schedules. `if_match` is a conflict token: the server refuses the change if the schedule has
    changed since the token was read. `key` is an idempotency key; by default, the client generates one."""

    async def get(self, name: str, *, recent: int = 10) -> Json:
        return await self._calling.one("GET", _path(name), recent=recent)

    async def create(
        self,
        /,
        name: str,
        spec: str | Json | None = None,
        action: str | Json | None = None,
        *,
        paused: bool = False,
        trigger: bool = False,
        key: str | None = None,
        **options: Any,
    ) -> Json:
        body = without_none(name=name, spec=spec, action=action, paused=paused, trigger=trigger, **options)
        return await self._calling.one("POST", "/schedules", body, key=key)

    async def put(self, /, name: str, *, key: str | None = None, **definition: Any) -> Json:
        """Create a schedule, or replace its definition. The field `done` of the answer is "created", "updated" or
        "unchanged"."""
        return await self._calling.one("PUT", _path(name), definition, key=key)

    async def update(self, /, name: str, **changes: Any) -> Json:
        """Change the given fields of a schedule. `changes` may also have `key` and `if_match`, which are not fields of
        the schedule. The answer has `token`, the new conflict token."""
        how = {part: changes.pop(part, None) for part in ("key", "if_match")}
        return await self._calling.one("PATCH", _path(name), changes, **how)

    async def pause(self, /, name: str, note: str = "", **how: Any) -> Json:
        return await self._calling.one("POST", _path(name, "pause"), {"note": note}, **how)

    async def resume(self, /, name: str, note: str = "", *, catchup: Any = None, **how: Any) -> Json:
        return await self._calling.one("POST", _path(name, "resume"), without_none(note=note, catchup=catchup), **how)

    async def trigger(
        self, /, name: str, *, input: Mapping[str, Any] | None = None, overlap: str | None = None, **how: Any
    ) -> Json:
        return await self._calling.one(
            "POST", _path(name, "trigger"), without_none(input=input, overlap=overlap), **how
        )

    async def backfill(
        self,
        /,
        name: str,
        first: Moment,
        last: Moment,
        *,
        overlap: str | None = None,
        input: Mapping[str, Any] | None = None,
        rate: float | None = None,
        **how: Any,
    ) -> Json:
        body = without_none(first=first, last=last, overlap=overlap, input=input, rate=rate)
        return await self._calling.one("POST", _path(name, "backfills"), body, **how)

    async def backfills(self, name: str, *, before: str | None = None, limit: int = 100) -> list[Json]:
        """List the backfills of a schedule with their progress, the newest first."""
        return await self._calling.pages(_path(name, "backfills"), "before", before, limit)

    async def turn_backfill(self, name: str, id: str, to: str, reason: str = "") -> Json:
        """Pause, resume or cancel a backfill: `to` is "pause", "resume" or "cancel"."""
        body = {"reason": reason} if to == "cancel" else None
        return await self._calling.one("POST", f"{_path(name, 'backfills', id)}/{to}", body)

    async def skip(self, /, name: str, at: Moment, **how: Any) -> Json:
        return await self._calling.one("POST", _path(name, "skip"), {"at": at}, **how)

    async def move(self, /, name: str, at: Moment, to: Moment, **how: Any) -> Json:
        return await self._calling.one("POST", _path(name, "move"), {"at": at, "to": to}, **how)

    async def put_back(self, /, name: str, at: Moment, **how: Any) -> Json:
        """Undo the skip or the move of an occurrence."""
        return await self._calling.one("POST", _path(name, "put-back"), {"at": at}, **how)

    async def delete(self, /, name: str, *, running: str = "leave", **how: Any) -> Json:
        return await self._calling.one("DELETE", _path(name), running=running, **how)

    async def history(
        self,
        name: str,
        *,
        first: Moment | None = None,
        last: Moment | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[Json]:
        """List past occurrences and their outcomes, the newest first."""
        return await self._calling.pages(_path(name, "history"), "before", before, limit, first=first, last=last)

    async def times(self, name: str, first: Moment, last: Moment, *, limit: int = 1000) -> list[str]:
        """List the nominal times of a schedule's spec in a period, both ends included."""
        return await self._calling.pages(_path(name, "times"), "after", None, limit, first=first, last=last)

    async def explain(self, name: str, at: Moment) -> Json:
        return await self._calling.one("GET", _path(name, "explain"), at=at)

    async def upcoming(self, limit: int = 50, *, each: int | None = None) -> list[Json]:
        """List at most `limit` due times of all schedules, the soonest first. If `each` is given, the list has at most
        `each` due times of any one schedule."""
        return await self._calling.items("/upcoming", limit=limit, each=each)

    async def plan(self, /, document: Json | str, *, prune: bool = False, take: bool = False, **named: Any) -> Json:
        """Return what `apply` would do with a file of schedules, without doing it. Each schedule of the file is stored
        with an origin: the name of the file or the app that declares the schedule.

        - `document`: the text of the file, or a dict `{"schedules": {…}}`
        - `prune`: whether to close schedules that have the same origin and are not in the file
        - `take`: whether to take over schedules that have another origin
        - `named`: may have `name`, the origin to store with the schedules, and `file`, the file name for error messages
        """
        return await self._calling.one("POST", "/schedules:plan", _file(document, prune=prune, take=take, **named))

    async def apply(
        self, /, document: Json | str, *, prune: bool = False, take: bool = False, key: str | None = None, **named: Any
    ) -> Json:
        """Create and update schedules to match a file: either all changes or none. Takes the arguments of `plan`."""
        body = _file(document, prune=prune, take=take, **named)
        return await self._calling.one("POST", "/schedules:apply", body, key=key)

    async def export(self, *, match: str = "*", tag: str | None = None) -> Json:
        """Return schedules as a document `{"schedules": {…}}` that `apply` takes. If a file cannot declare some of the
        schedules, the document has their names and the reasons in `x-left-out`; `apply` ignores this key."""
        schedules: Json = {}
        left_out: Json = {}
        after = None
        while True:
            page = await self._calling.call("GET", "/schedules:export", match=match, tag=tag, after=after)
            schedules |= page["schedules"]
            left_out |= page.get("left_out", {})  # servers of older versions do not send it
            after = page["next"]
            if after is None:
                return {**({"x-left-out": left_out} if left_out else {}), "schedules": schedules}

    async def simulate(self, /, first: Moment, last: Moment, **options: Any) -> Json:
        """Simulate a schedule from `first` to `last`. `options` must have either `schedule`, the name of a stored
        schedule, or `draft`, a definition. `options` may also have run_time, outages, pauses and seed."""
        return await self._calling.one("POST", "/simulate", without_none(first=first, last=last, **options))

    async def draw(self, /, first: Moment, last: Moment, **options: Any) -> str:
        """Return a picture of a simulation as the text of an SVG document. Takes the arguments of `simulate`."""
        body = without_none(first=first, last=last, **options)
        return (await self._calling.ask("POST", "/simulate.svg", body)).text

    async def list(
        self,
        *,
        match: str = "*",
        tag: str | None = None,
        state: str | None = None,
        job: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> list[Json]:
        filters = {"match": match, "tag": tag, "state": state, "job": job}
        return await self._calling.pages("/schedules", "after", after, limit, **filters)


def _file(document: Json | str, **more: Any) -> Json:
    if isinstance(document, str):
        return without_none(text=document, **more)
    parts = {key: part for key, part in document.items() if not key.startswith("x-")}  # as in a file, these are ignored
    return without_none(**parts, **more)
