"""`client.schedules`: the calls of `app.schedules`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ostinato.client.calling import Calling, Json, Moment, part, without_none


class Schedules:
    """Changes take `if_match`, the token that they depend on, and
    `key`, the idempotency key, where the caller would rather make it."""

    def __init__(self, calling: Calling) -> None:
        self._calling = calling

    async def get(self, name: str, *, recent: int = 10) -> Json:
        return await self._calling.one("GET", _path(name), recent=recent)

    async def create(
        self,
        name: str,
        spec: str | Json | None = None,
        action: str | Json | None = None,
        *,
        paused: bool = False,
        trigger: bool = False,
        key: str | None = None,
        **given: Any,
    ) -> Json:
        body = without_none(name=name, spec=spec, action=action, paused=paused, trigger=trigger, **given)
        return await self._calling.one("POST", "/schedules", body, key=key)

    async def put(self, name: str, *, key: str | None = None, **given: Any) -> Json:
        """Create it, or make it as given; `done` in the answer says which."""
        return await self._calling.one("PUT", _path(name), given, key=key)

    async def update(self, name: str, **given: Any) -> Json:
        """Change what is given, leave the rest."""
        how = {part: given.pop(part, None) for part in ("key", "if_match")}
        return await self._calling.one("PATCH", _path(name), given, **how)

    async def pause(self, name: str, note: str = "", **how: Any) -> Json:
        return await self._calling.one("POST", _path(name, "pause"), {"note": note}, **how)

    async def resume(self, name: str, note: str = "", *, catchup: Any = None, **how: Any) -> Json:
        return await self._calling.one("POST", _path(name, "resume"), without_none(note=note, catchup=catchup), **how)

    async def trigger(
        self, name: str, *, input: Mapping[str, Any] | None = None, overlap: str | None = None, **how: Any
    ) -> Json:
        return await self._calling.one(
            "POST", _path(name, "trigger"), without_none(input=input, overlap=overlap), **how
        )

    async def backfill(
        self,
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
        """Its backfills with their progress, newest first."""
        return await self._calling.pages(_path(name, "backfills"), "before", before, limit)

    async def turn_backfill(self, name: str, id: str, to: str, reason: str = "") -> Json:
        """`to`: pause, resume or cancel."""
        body = {"reason": reason} if to == "cancel" else None
        return await self._calling.one("POST", f"{_path(name, 'backfills')}/{part(id)}/{to}", body)

    async def skip(self, name: str, at: Moment, **how: Any) -> Json:
        return await self._calling.one("POST", _path(name, "skip"), {"at": at}, **how)

    async def move(self, name: str, at: Moment, to: Moment, **how: Any) -> Json:
        return await self._calling.one("POST", _path(name, "move"), {"at": at, "to": to}, **how)

    async def put_back(self, name: str, at: Moment, **how: Any) -> Json:
        """Take back a skip or a move."""
        return await self._calling.one("POST", _path(name, "put-back"), {"at": at}, **how)

    async def delete(self, name: str, *, running: str = "leave", **how: Any) -> Json:
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
        """What became of its times, the newest first."""
        return await self._calling.pages(_path(name, "history"), "before", before, limit, first=first, last=last)

    async def times(self, name: str, first: Moment, last: Moment, *, limit: int = 1000) -> list[str]:
        """The nominal times of its spec in a period, both ends included."""
        return await self._calling.pages(_path(name, "times"), "after", None, limit, first=first, last=last)

    async def explain(self, name: str, at: Moment) -> Json:
        return await self._calling.one("GET", _path(name, "explain"), at=at)

    async def upcoming(self, limit: int = 50) -> list[Json]:
        return await self._calling.items("/upcoming", limit=limit)

    async def plan(self, document: Json | str, *, prune: bool = False, take: bool = False, **named: Any) -> Json:
        """What applying a file of schedules would do: its text, or `{"schedules": {…}}`. `name` is what they are known
        to come from, `file` what errors call it."""
        return await self._calling.one("POST", "/schedules:plan", _file(document, prune=prune, take=take, **named))

    async def apply(
        self, document: Json | str, *, prune: bool = False, take: bool = False, key: str | None = None, **named: Any
    ) -> Json:
        """Make the schedules say what a file says, all of it or nothing."""
        body = _file(document, prune=prune, take=take, **named)
        return await self._calling.one("POST", "/schedules:apply", body, key=key)

    async def export(self, *, match: str = "*", tag: str | None = None) -> Json:
        """Schedules as a file that `apply` takes."""
        found: Json = {}
        after = None
        while True:
            page = await self._calling.call("GET", "/schedules:export", match=match, tag=tag, after=after)
            found |= page["schedules"]
            after = page["next"]
            if after is None:
                return {"schedules": found}

    async def simulate(self, first: Moment, last: Moment, **given: Any) -> Json:
        """`schedule` or `draft`; run_time, outages, pauses, seed."""
        return await self._calling.one("POST", "/simulate", without_none(first=first, last=last, **given))

    async def draw(self, first: Moment, last: Moment, **given: Any) -> str:
        """The same as an SVG picture."""
        body = without_none(first=first, last=last, **given)
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


def _path(name: str, *more: str) -> str:
    return "/".join(["/schedules", part(name), *more])


def _file(document: Json | str, **more: Any) -> Json:
    return without_none(**({"text": document} if isinstance(document, str) else document), **more)
