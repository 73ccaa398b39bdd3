"""Answers of the API about a store, without the API: what a command that only looks needs, and nothing else loaded.

Each answer is what `GET` of the same path gives, and is made from the same calls; `test_looking.py` holds the two
together. A path that is not here is answered by the API itself, run in this process.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, TypeAlias
from urllib.parse import unquote

from ostinato.clock import SharedClock, SystemClock
from ostinato.engine import access
from ostinato.engine.computing import Computing
from ostinato.engine.handlers import Declaration
from ostinato.engine.timekeeping import Timekeeper
from ostinato.errors import NotFound
from ostinato.model import DEFAULT_NAMESPACE
from ostinato.reading import Reading
from ostinato.schedules.looks import Looks, Surroundings
from ostinato.schedules.model import Policies
from ostinato.schedules.views import shown_policies
from ostinato.store.contract import Operation, Row, sql
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from ostinato.views import RunInfo
from ostinato.when import Spec
from ostinato.when.instants import Micros, read_instant, to_datetime

Json: TypeAlias = dict[str, Any]
_LIMIT = 100
# Jobs that every app has.
BUILT_IN = {job.name: job for job in (Declaration("http"), Declaration("webhook", priority=-10))}


class AskTheApi(Exception):
    """This answer is the API's to give."""


class Looking(Reading):
    """A store that is open for looking, in one namespace."""

    def __init__(self, url: str, namespace: str | None) -> None:
        self.store = open_url(url)
        if isinstance(self.store, SqliteStore):
            self.store.check_on_open = False  # a look is quick, also at a large store; a damaged page says so when read
        self.namespace = namespace or DEFAULT_NAMESPACE
        self._clock = SharedClock(SystemClock())
        self.computing = Computing(alone=True)
        unused: Any = None  # what only changes need
        around = Surroundings(
            self.store,
            self._clock.now,
            new_id=unused,
            doors=unused,
            nudge=unused,
            namespace=self.namespace,
            declarations=unused,
            computing=self.computing,
        )
        self.schedules = Looks(around)

    async def open(self) -> None:
        await self.store.open()
        await Timekeeper(self.store, self._clock, lambda: None).measure(looking=True)
        if self.namespace != DEFAULT_NAMESPACE:
            known = await self.store.read(lambda _: access.list_namespaces())
            if self.namespace not in {one.name for one in known}:
                raise NotFound(f"there is no namespace {self.namespace!r}")

    async def close(self) -> None:
        await self.store.close()

    def now(self) -> Micros:
        return self._clock.now()


Answer: TypeAlias = Callable[..., Awaitable[Json]]


def answer_for(path: str) -> tuple[Answer, list[str]] | None:
    """What answers `GET` of a path, and the names within it; None where only the API itself does."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    pattern = "/".join("*" if at == 1 else part for at, part in enumerate(parts))
    found = ANSWERS.get(pattern)
    return None if found is None else (found, parts[1:2])


# Schedules


async def _schedules(
    look: Looking,
    match: str = "*",
    tag: str | None = None,
    state: str | None = None,
    job: str | None = None,
    after: str = "",
    limit: int = _LIMIT,
) -> Json:
    found = await look.schedules.list(match=match, tag=tag, state=state, job=job, after=after, limit=limit)
    if any(one.last_failure for one in found):
        await _no_journeys(look)
    return _page(found, limit, lambda last: last.name)


async def _schedule(look: Looking, name: str, recent: int = 10) -> Json:
    found = await look.schedules.get(name, recent=recent)
    if found.recent or found.running or found.last_failure:
        await _no_journeys(look)
    return dict(shown(found))


async def _history(
    look: Looking,
    name: str,
    first: Any = None,
    last: Any = None,
    before: str | None = None,
    limit: int = _LIMIT,
) -> Json:
    found = await look.schedules.history(name, first=first, last=last, before=before, limit=limit)
    if found:
        await _no_journeys(look)
    return _page(found, limit, lambda last: last.cursor)


async def _times(look: Looking, name: str, first: Any, last: Any, after: Any = None, limit: int = 1000) -> Json:
    begin = to_datetime(read_instant(first, "first"))
    if after is not None:
        begin = max(begin, to_datetime(read_instant(after, "after")) + timedelta(microseconds=1))
    found = await look.schedules.times(name, begin, last, limit=limit)
    return _page(found, limit, shown)


async def _explain(look: Looking, name: str, at: Any) -> Json:
    found = await look.schedules.explain(name, at)
    if found.records:
        await _no_journeys(look)
    return {part: shown(getattr(found, part)) for part in ("outcome", "reason", "nominal", "sentences", "records")}


async def _backfills(look: Looking, name: str, before: str | None = None, limit: int = _LIMIT) -> Json:
    found = await look.schedules.backfills(name, before=before, limit=limit)
    return _page(found, limit, lambda last: last.id)


async def _upcoming(look: Looking, limit: int = 50) -> Json:
    return {"items": shown(await look.schedules.upcoming(limit))}


# Runs


async def _runs(
    look: Looking,
    name: str | None = None,
    status: str | None = None,
    parent: str | None = None,
    attempts: bool = False,
    before: str | None = None,
    limit: int = _LIMIT,
) -> Json:
    found = await look.runs(name=name, status=status, parent=parent, attempts=attempts, before=before, limit=limit)
    _only_jobs(found)
    return _page(found, limit, lambda last: last.run_id)


async def _run(look: Looking, id: str) -> Json:
    return dict(shown(_only_jobs([await look.get(id)])[0]))


async def _attempts(look: Looking, id: str, after: int | None = None, limit: int = _LIMIT) -> Json:
    found = [one for one in _only_jobs(await look.attempts(id)) if after is None or one.attempt > after]
    return _first(found, limit, lambda last: last.attempt)


async def _log(look: Looking, id: str, after: int = 0, limit: int = 1000) -> Json:
    _only_jobs([await look.get(id)])
    lines = (await look.logs(id))[after:]
    return {"items": shown(lines[:limit]), "next": after + limit if len(lines) > limit else None}


async def _no_journeys(look: Looking) -> None:
    """The same for occurrences, which do not tell a job's from a journey's."""

    def any_journey(_: int) -> Operation[bool]:
        return bool((yield sql("any_journey")))

    if await look.store.read(any_journey):
        raise AskTheApi


def _only_jobs(runs: list[RunInfo]) -> list[RunInfo]:
    """A journey may have a guard over who sees it, which only the API asks."""
    if any(run.kind != "job" for run in runs):
        raise AskTheApi
    return runs


async def _jobs(look: Looking, after: str | None = None, limit: int = _LIMIT) -> Json:
    def declared(_: int) -> Operation[list[Row]]:
        return (yield sql("declared_jobs"))

    known = {name: Declaration.read(name, text) for name, text in await look.store.read(declared)}
    known |= BUILT_IN
    parts = ("name", "queue", "priority", "serial_key", "at_most_once")
    items = [{**{part: getattr(job, part) for part in parts}, "here": job.name in BUILT_IN} for job in known.values()]
    return _first(_after(items, "name", after), limit, lambda last: last["name"])


# Whom it is for, and who does it


async def _namespaces(look: Looking, after: str | None = None, limit: int = _LIMIT) -> Json:
    found = await look.store.read(lambda _: access.list_namespaces())
    items = [{**shown(one), "created": shown(_moment(one.created or None))} for one in found]
    return _first(_after(items, "name", after), limit, lambda last: last["name"])


async def _tokens(look: Looking, after: str | None = None, limit: int = _LIMIT) -> Json:
    found = await look.store.read(lambda _: access.list_tokens())
    moments = ("created", "expires", "used", "revoked")
    items = [{**shown(one), **{name: shown(_moment(getattr(one, name))) for name in moments}} for one in found]
    for item in items:
        del item["bound"]
    return _first(_after(items, "id", after), limit, lambda last: last["id"])


async def _nodes(look: Looking, after: str | None = None, limit: int = _LIMIT) -> Json:
    items = []
    for node in await look.nodes():
        item = {**shown(node), "alive": node.lease_until >= look.now()}
        item |= {name: shown(_moment(getattr(node, name))) for name in ("started", "lease_until")}
        item["jobs"] = item.pop("handlers")
        items.append(item)
    return _first(_after(items, "id", after), limit, lambda last: last["id"])


ANSWERS: dict[str, Answer] = {
    "schedules": _schedules,
    "schedules/*": _schedule,
    "schedules/*/history": _history,
    "schedules/*/times": _times,
    "schedules/*/explain": _explain,
    "schedules/*/backfills": _backfills,
    "upcoming": _upcoming,
    "runs": _runs,
    "runs/*": _run,
    "runs/*/attempts": _attempts,
    "runs/*/log": _log,
    "jobs": _jobs,
    "namespaces": _namespaces,
    "tokens": _tokens,
    "nodes": _nodes,
}


# Values as JSON


def shown(value: Any) -> Any:
    """A value as the API shows it."""
    match value:
        case Enum():
            return value.value
        case str() | int() | float() | None:
            return value
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case Spec():
            return value.to_json()
        case Policies():
            return shown_policies(value)
        case Mapping():
            return {name: shown(one) for name, one in value.items()}
        case list() | tuple():
            return [shown(one) for one in value]
        case _ if is_dataclass(value):
            return {one.name: shown(getattr(value, one.name)) for one in fields(value)}
        case _:
            raise TypeError(f"{value!r} has no form as JSON")


def _moment(at: Micros | None) -> datetime | None:
    return None if at is None else to_datetime(at)


def _page(found: list[Any], limit: int, cursor: Callable[[Any], Any]) -> Json:
    """A page that was read up to its limit: there may be more behind it."""
    return {"items": shown(found), "next": cursor(found[-1]) if found and len(found) == limit else None}


def _first(found: list[Any], limit: int, cursor: Callable[[Any], Any]) -> Json:
    """A page of what was read whole."""
    return {"items": shown(found[:limit]), "next": cursor(found[limit - 1]) if len(found) > limit else None}


def _after(items: Iterable[Json], key: str, after: str | None) -> list[Json]:
    return sorted((one for one in items if after is None or one[key] > after), key=lambda one: one[key])
