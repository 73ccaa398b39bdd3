"""Answer `GET` requests of the API from a store, without loading the API, so that commands start faster.

Each answer equals the API's answer to the same path; `test_store_reads.py` compares the two.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, TypeAlias
from urllib.parse import unquote

from ostinato.app_queries import AppQueries
from ostinato.clock import SharedClock, SystemClock
from ostinato.engine import access
from ostinato.engine.computing import Computing
from ostinato.engine.timekeeping import Timekeeper
from ostinato.errors import NotFound
from ostinato.faces.related_runs import journeys_of_run
from ostinato.journeys.store import statement
from ostinato.model import DEFAULT_NAMESPACE
from ostinato.run_views import RunInfo
from ostinato.schedules.api.queries import ScheduleApiContext, ScheduleQueries
from ostinato.schedules.model import Policies
from ostinato.schedules.views import policies_json
from ostinato.store.contract import Operation, Row, sql
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from ostinato.when import Spec
from ostinato.when.instants import read_instant, to_datetime

Json: TypeAlias = dict[str, Any]
_LIMIT = 100


class NeedsApi(Exception):
    """Raised if the API's own functions must answer, because a journey's read guard may hide a part of the answer."""


class StoreReader(AppQueries):
    """A store that is open for reading one namespace."""

    def __init__(self, url: str, namespace: str | None) -> None:
        self.store = open_url(url)
        if isinstance(self.store, SqliteStore):
            self.store.check_on_open = False  # too slow for a large store; reading a damaged page fails anyway
        self.namespace = namespace or DEFAULT_NAMESPACE
        self.clock = SharedClock(SystemClock())
        self.computing = Computing(alone=True)
        unused: Any = None  # only changes need these arguments
        context = ScheduleApiContext(
            self.store,
            self.clock.now,
            new_id=unused,
            checks=unused,
            nudge=unused,
            namespace=self.namespace,
            declarations=unused,
            computing=self.computing,
        )
        self.schedules = ScheduleQueries(context)

    async def open(self) -> None:
        """Open the store. Raises `NotFound` if it does not have the namespace."""
        await self.store.open()
        await Timekeeper(self.store, self.clock, lambda: None).measure(looking=True)
        if self.namespace != DEFAULT_NAMESPACE:
            namespaces = await self.store.read(lambda _: access.list_namespaces())
            if self.namespace not in {one.name for one in namespaces}:
                raise NotFound(f"there is no namespace {self.namespace!r}")

    async def close(self) -> None:
        await self.store.close()


AnswerFunction: TypeAlias = Callable[..., Awaitable[Json]]


def answer_for(path: str) -> tuple[AnswerFunction, list[str]] | None:
    """Return the function that answers `GET` of a path, and the path's parameters. Returns None if only the API can
    answer."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    answer = ANSWERS.get("/".join("*" if at == 1 else part for at, part in enumerate(parts)))
    return None if answer is None else (answer, parts[1:2])


# Schedules. Filters and cursors of the query are passed on unchanged.


async def _schedules(reader: StoreReader, limit: int = _LIMIT, **filters: Any) -> Json:
    schedules = await reader.schedules.list(limit=limit, **filters)
    if any(one.last_failure or one.running for one in schedules):
        await _check_no_journeys(reader)
    return _page(schedules, limit, lambda last: last.name)


async def _schedule(reader: StoreReader, name: str, recent: int = 10) -> Json:
    schedule = await reader.schedules.get(name, recent=recent)
    if schedule.recent or schedule.running or schedule.last_failure:
        await _check_no_journeys(reader)
    return dict(as_json(schedule))


async def _history(reader: StoreReader, name: str, limit: int = _LIMIT, **filters: Any) -> Json:
    occurrences = await reader.schedules.history(name, limit=limit, **filters)
    if occurrences:
        await _check_no_journeys(reader)
    return _page(occurrences, limit, lambda last: last.cursor)


async def _times(reader: StoreReader, name: str, first: Any, last: Any, after: Any = None, limit: int = 1000) -> Json:
    begin = to_datetime(read_instant(first, "first"))
    if after is not None:
        begin = max(begin, to_datetime(read_instant(after, "after")) + timedelta(microseconds=1))
    return _page(await reader.schedules.times(name, begin, last, limit=limit), limit, as_json)


async def _explain(reader: StoreReader, name: str, at: Any) -> Json:
    explanation = await reader.schedules.explain(name, at)
    if explanation.records:
        await _check_no_journeys(reader)
    names = ("outcome", "reason", "nominal", "sentences", "records")
    return {name: as_json(getattr(explanation, name)) for name in names}


async def _backfills(reader: StoreReader, name: str, limit: int = _LIMIT, **filters: Any) -> Json:
    return _page(await reader.schedules.backfills(name, limit=limit, **filters), limit, lambda last: last.id)


async def _upcoming(reader: StoreReader, limit: int = 50, each: int | None = None) -> Json:
    return {"items": as_json(await reader.schedules.upcoming(limit, each=each))}


# Runs


async def _runs(reader: StoreReader, limit: int = _LIMIT, **filters: Any) -> Json:
    runs = await _check_jobs(reader, await reader.runs(limit=limit, **filters))
    return _page(runs, limit, lambda last: last.run_id)


async def _run(reader: StoreReader, id: str) -> Json:
    (run,) = await _check_jobs(reader, [await reader.get(id)])
    return dict(as_json(run))


async def _attempts(reader: StoreReader, id: str, after: int | None = None, limit: int = _LIMIT) -> Json:
    attempts = await _check_jobs(reader, await reader.attempts(id))
    return _first(map(as_json, attempts), "attempt", after, limit)


async def _log(reader: StoreReader, id: str, after: int = 0, limit: int = 1000) -> Json:
    await _check_jobs(reader, [await reader.get(id)])
    lines = (await reader.logs(id))[after:]
    return {"items": as_json(lines[:limit]), "next": after + limit if len(lines) > limit else None}


async def _check_no_journeys(reader: StoreReader) -> None:
    """Raise `NeedsApi` if the store has a journey, because only the API checks the read guards of journeys."""

    def any_journey(_: int) -> Operation[bool]:
        return bool((yield statement("any_journey")))

    if await reader.store.read(any_journey):
        raise NeedsApi


async def _check_jobs(reader: StoreReader, runs: list[RunInfo]) -> list[RunInfo]:
    """Return `runs` unchanged if the command line may show them without asking the API. Otherwise raise `NeedsApi`.

    - If one of `runs` is a run of something else than a job, such as a journey, raise `NeedsApi`.
    - If one of `runs` delivers an event about another run, and the store has a journey, raise `NeedsApi`. The other run
      may be a journey with a read guard, and only the API checks read guards.
    """
    if any(run.kind != "job" for run in runs):
        raise NeedsApi
    if any(journeys_of_run(run.id, run.kind, run.name, run.input) for run in runs):
        await _check_no_journeys(reader)
    return runs


async def _jobs(reader: StoreReader, after: str | None = None, limit: int = _LIMIT) -> Json:
    def read_declared(_: int) -> Operation[list[Row]]:
        return (yield sql("declared_jobs"))

    from ostinato.engine.jobs import Declaration

    built_in = {job.name: job for job in (Declaration("http"), Declaration("webhook", priority=-10))}
    jobs = {name: Declaration.read(name, text) for name, text in await reader.store.read(read_declared)} | built_in
    names = ("name", "queue", "priority", "serial_key", "at_most_once")
    items = [{**{name: getattr(job, name) for name in names}, "here": job.name in built_in} for job in jobs.values()]
    return _first(items, "name", after, limit)


# Namespaces, tokens, nodes


async def _namespaces(reader: StoreReader, after: str | None = None, limit: int = _LIMIT) -> Json:
    namespaces = await reader.store.read(lambda _: access.list_namespaces())
    return _first((_with_times(one, "created") for one in namespaces), "name", after, limit)


async def _tokens(reader: StoreReader, after: str | None = None, limit: int = _LIMIT) -> Json:
    tokens = await reader.store.read(lambda _: access.list_tokens())
    items = [_with_times(token, "created", "expires", "used", "revoked") for token in tokens]
    for item in items:
        del item["bound"]
    return _first(items, "id", after, limit)


async def _nodes(reader: StoreReader, after: str | None = None, limit: int = _LIMIT) -> Json:
    items = []
    for node in await reader.nodes():
        item = {**_with_times(node, "started", "lease_until"), "alive": node.lease_until >= reader.clock.now()}
        item["jobs"] = item.pop("handlers")
        items.append(item)
    return _first(items, "id", after, limit)


ANSWERS: dict[str, AnswerFunction] = {
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


def as_json(value: Any) -> Any:
    """Return a value in the JSON form of the API."""
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
            return policies_json(value)
        case Mapping():
            return {name: as_json(part) for name, part in value.items()}
        case list() | tuple():
            return [as_json(part) for part in value]
        case _ if is_dataclass(value):
            return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
        case _:
            raise TypeError(f"{value!r} has no form as JSON")


def _with_times(value: Any, *names: str) -> Json:
    """Return a dataclass object as JSON. `names` are the fields that contain a time in microseconds. In the result,
    they are times in the API's format, or None if the field is 0 or None."""
    times = {name: getattr(value, name) for name in names}
    return {**as_json(value), **{name: as_json(to_datetime(at)) if at else None for name, at in times.items()}}


def _page(items: list[Any], limit: int, cursor: Callable[[Any], Any]) -> Json:
    """Return a page as JSON. `items` were read with `limit`. If there are `limit` items, more may follow, so `next` is
    the `cursor` of the last item. Otherwise `next` is None."""
    return {"items": as_json(items), "next": cursor(items[-1]) if items and len(items) == limit else None}


def _first(items: Iterable[Json], key: str, after: Any, limit: int) -> Json:
    """Return a page of `items` as JSON. The page has the first `limit` items whose value of the field `key` is greater
    than `after`, ordered by this value. If `after` is None, the page begins with the first item. `next` is the value in
    the last item of the page, or None if no items follow."""
    rest = sorted((one for one in items if after is None or one[key] > after), key=lambda one: one[key])
    return {"items": rest[:limit], "next": rest[limit - 1][key] if len(rest) > limit else None}
