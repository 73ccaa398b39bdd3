"""Provide the calls of `app.schedules` that only read, such as `get`, `history`, `explain` and `simulate`."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Self, TypeVar

from ostinato.engine.computing import Computing
from ostinato.engine.rows import whole_run
from ostinato.errors import OstinatoError, check_limit
from ostinato.model import DEFAULT_NAMESPACE, Run, read_length
from ostinato.schedules.decisions.decide import Live
from ostinato.schedules.decisions.due_times import nominal_of
from ostinato.schedules.lateness import Lateness, Staleness, lateness, staleness
from ostinato.schedules.model import Schedule, StateName
from ostinato.schedules.operations.load import load_live_runs
from ostinato.schedules.operations.search import Filter, page
from ostinato.schedules.rows import id_of, key_range, next_of, not_found, read_anyway
from ostinato.schedules.views import (
    BackfillInfo,
    Coming,
    OccurrenceInfo,
    ScheduleInfo,
    backfill_info,
    occurrence_info,
    schedule_info,
)
from ostinato.store.contract import Operation, Row, Store, sql
from ostinato.when.durations import Length
from ostinato.when.instants import Micros, from_datetime, read_instant, to_datetime

# Modules that only some calls need are imported by those calls, so that commands which only read start fast.
if TYPE_CHECKING:
    from ostinato.schedules.declared.decorators import Declarations
    from ostinato.schedules.explain import Explanation
    from ostinato.schedules.simulate import RunTime, Simulation, Span
    from ostinato.schedules.validation import DefinitionChecks
from ostinato.schedules.upcoming import coming_of, soonest_first

T = TypeVar("T")
Moment = datetime | str
Visible = Callable[[Sequence[OccurrenceInfo]], Awaitable[Sequence[OccurrenceInfo]]]
RunTimeLike = Length | Sequence[Length] | Callable[[random.Random], Length]
_PAGE = 100  # rows at once, each of which may hold some MiB
_BEYOND = "~"  # after every id
_SHOWN = 50  # occurrences of one nominal time
_STRETCHES = 10  # rows before a time, one of which may be a stretch that contains it


def _no_declarations() -> Declarations:
    from ostinato.schedules.declared.decorators import Declarations

    return Declarations()


@dataclass(frozen=True, slots=True)
class ScheduleApiContext:
    """The parts of the app that the methods of `app.schedules` use.

    - `now`: returns the current time
    - `new_id`: takes a time, and returns a new id
    - `checks`: checks the definitions of schedules
    - `nudge`: wakes the loops of this process's node, after a method has changed the store
    - `namespace`: the namespace of the schedules
    - `actor`: the name of the caller, which is stored with each change, or None
    - `declarations`: the schedules that the app's code declares
    - `computing`: runs long computations, such as simulations
    """

    store: Store
    now: Callable[[], Micros]
    new_id: Callable[[Micros], str]
    checks: DefinitionChecks
    nudge: Callable[[], None]
    namespace: str = DEFAULT_NAMESPACE
    actor: str | None = None
    declarations: Declarations = field(default_factory=_no_declarations)
    computing: Computing = field(default_factory=Computing)


class ScheduleQueries:
    def __init__(self, context: ScheduleApiContext) -> None:
        self._context = context

    def within(self, namespace: str, actor: str | None) -> Self:
        """Return a copy of this object for another namespace and another actor."""
        return type(self)(replace(self._context, namespace=namespace, actor=actor))

    async def get(self, name: str, *, recent: int = 10) -> ScheduleInfo:
        schedule, live, rows = await self._load(name, recent)
        return schedule_info(schedule, live, [occurrence_info(run) for run in rows], self._context.now())

    async def history(
        self,
        name: str,
        *,
        first: Moment | None = None,
        last: Moment | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[OccurrenceInfo]:
        """Return the occurrences of a schedule, newest first. To get the next page, pass the `cursor` of the last
        occurrence of this page as `before`."""
        check_limit(limit)
        schedule = await self._get(name)
        low, high = key_range(
            schedule.id,
            None if first is None else read_instant(first, "first"),
            None if last is None else read_instant(last, "last"),
        )
        if before is not None:
            high = min(high, f"{schedule.id}/{before}")
        return [occurrence_info(run) for run in await self._occurrences(low, high, limit)]

    async def times(self, name: str, first: Moment, last: Moment, *, limit: int = 1000) -> list[datetime]:
        """Return up to `limit` times of a schedule's spec, from `first` to `last`, even if the schedule is paused."""
        check_limit(limit)
        schedule = await self._get(name)
        times = schedule.spec.compiled.between(read_instant(first, "first"), read_instant(last, "last"))
        return list(await self._each(map(to_datetime, islice(times, limit))))

    async def upcoming(self, limit: int = 50, *, each: int | None = None) -> list[Coming]:
        """Return up to `limit` coming times of all schedules, soonest first. All late times of a schedule are one
        entry. `each` limits the entries of one schedule, so that a frequent schedule does not fill the list."""
        check_limit(limit)
        if each is not None and each < 1:
            raise OstinatoError(f"each {each!r} is not a whole number from 1")
        now, namespace = self._context.now(), self._context.namespace

        def soonest(_: int) -> Operation[tuple[list[Row], dict[str, list[Live]]]]:
            rows = yield sql("next_schedules", namespace=namespace, limit=limit)
            due = [row for row in rows if (moment := next_of(row)) is not None and moment <= now]
            live = yield from load_live_runs([id_of(row) for row in due])
            return rows, live

        rows, live = await self._context.store.read(soonest)
        schedules = map(read_anyway, rows)
        coming = (coming_of(schedule, live.get(schedule.id, []), now) for schedule in schedules)
        begun = await self._each(islice(one, each) for one in coming)
        heads = await self._each((next(one, None), number, one) for number, one in enumerate(begun))
        return list(await self._each(islice(soonest_first(heads), limit)))

    async def late(self, limit: int = 1000) -> dict[str, Lateness]:
        """Return a dict from schedule name to lateness. Schedules without late times are left out."""
        now, namespace = self._context.now(), self._context.namespace

        def read(_: int) -> Operation[tuple[list[Row], dict[str, list[Live]]]]:
            rows = yield sql("late_schedules", before=now, namespace=namespace, limit=limit)
            return rows, (yield from load_live_runs([id_of(row) for row in rows]))

        rows, live = await self._context.store.read(read)
        schedules = (read_anyway(row) for row in rows)
        late = await self._each((one.name, lateness(one, live[one.id], now)) for one in schedules)
        return {name: one for name, one in late if one.late}

    async def staleness(self, *, match: str = "*", tag: str | None = None, limit: int = 10_000) -> list[Staleness]:
        """Return for each matching schedule how long ago it last succeeded, and how overdue it is. Meant for alerts."""
        now = self._context.now()
        return [staleness(one, now) async for one in self._matching(match, tag, None, None, most=limit)]

    async def backfills(self, name: str, *, before: str | None = None, limit: int = 100) -> list[BackfillInfo]:
        """Return the backfills of a schedule, newest first. `before` is the id of the previous page's last backfill."""
        from ostinato.schedules.operations.backfills import read_backfill

        schedule = await self._get(name)

        def read(_: int) -> Operation[list[Row]]:
            return (yield sql("backfills_of", schedule=schedule.id, before=before or _BEYOND, limit=limit))

        return [backfill_info(read_backfill(row)) for row in await self._context.store.read(read)]

    async def explain(self, name: str, at: Moment, *, visible: Visible | None = None) -> Explanation:
        """Explain why a schedule ran at the time `at`, why it did not, or whether it will. `visible` is a function that
        takes the stored occurrences of that time, and returns those that the caller may see. None means that the caller
        may see all. If there are stored occurrences, but the caller may see none, the outcome is `hidden`."""
        from ostinato.schedules.explain import HIDDEN, explain

        schedule = await self._get(name)
        nominal = await self._nominal(schedule, read_instant(at, "at"))
        # The rows of this nominal time, and the newest scheduled ones before it, one of which may be a stretch.
        runs = await self._occurrences(*key_range(schedule.id, nominal, nominal), _SHOWN)
        runs += await self._occurrences(*key_range(schedule.id, None, nominal - 1), _STRETCHES, "clock_history")
        records = [one for one in map(occurrence_info, runs) if one.nominal <= to_datetime(nominal) <= one.last]
        seen = records if visible is None else await visible(records)
        if records and not seen:
            return replace(HIDDEN, nominal=to_datetime(nominal))
        return explain(schedule, nominal, seen, self._context.now())

    async def _nominal(self, schedule: Schedule, at: Micros) -> Micros:
        """Return the nominal time of the occurrence that is or was due at `at`. Return `at` if no occurrence is or was
        due then."""
        nominal, compiled = nominal_of(schedule, at), schedule.spec.compiled
        if nominal != at or compiled.matches(at):
            return nominal
        between = key_range(schedule.id, compiled.previous(at), compiled.next(at))
        runs = map(occurrence_info, await self._occurrences(*between, _SHOWN, "clock_history"))
        return next((from_datetime(one.nominal) for one in runs if one.due == to_datetime(at)), at)

    async def simulate(
        self,
        schedule: str | Schedule,
        first: Moment,
        last: Moment,
        *,
        run_time: RunTimeLike = 0,
        outages: Sequence[tuple[Moment, Moment]] = (),
        pauses: Sequence[tuple[Moment, Moment]] = (),
        seed: int = 0,
    ) -> Simulation:
        """Simulate a schedule from `first` to `last`, with the same decisions as on a node. Raises OstinatoError if a
        period ends before it begins, or if the simulation is too large.

        - `schedule`: the name of a stored schedule, or a draft
        - `run_time`: how long the runs take: a length such as `"20m"`, a list of lengths to draw from, or a function
          that takes a `random.Random` and returns a length; a number means seconds
        - `outages`: the periods in which no node is up, each as (start, end)
        - `pauses`: the periods in which the schedule is paused, each as (start, end)
        - `seed`: the seed of the random draws; the same seed gives the same draws
        """
        play = await self._play(schedule, first, last, run_time, outages, pauses, seed)
        # In a thread: a long period takes seconds, and a node in this event loop has to renew its lease.
        return await asyncio.to_thread(play)

    async def simulate_in_process(
        self,
        show: Callable[[Simulation], T],
        schedule: str | Schedule,
        first: Moment,
        last: Moment,
        *,
        run_time: Length | Sequence[Length] = 0,
        outages: Sequence[tuple[Moment, Moment]] = (),
        pauses: Sequence[tuple[Moment, Moment]] = (),
        seed: int = 0,
    ) -> T:
        """Simulate a schedule as `simulate` does, but in a child process, and return `show(simulation)`. `show` is also
        called in the child process, so it must be a module-level function. Raises `TooMuch` if the work takes too long
        or needs too much memory, and `Busy` if too many other computations are waiting."""
        play = await self._play(schedule, first, last, run_time, outages, pauses, seed)
        return await self._context.computing.call(self._context.namespace, _play_and_show, show, play)

    async def _play(
        self,
        schedule: str | Schedule,
        first: Moment,
        last: Moment,
        run_time: RunTimeLike,
        outages: Sequence[tuple[Moment, Moment]],
        pauses: Sequence[tuple[Moment, Moment]],
        seed: int,
    ) -> Callable[[], Simulation]:
        from ostinato.schedules.simulate import simulate

        return partial(
            simulate,
            await self._get(schedule) if isinstance(schedule, str) else schedule,
            read_instant(first, "first"),
            read_instant(last, "last"),
            run_time=_read_run_time(run_time),
            outages=_spans(outages, "outages"),
            pauses=_spans(pauses, "pauses"),
            seed=seed,
        )

    async def _get(self, name: str) -> Schedule:
        return (await self._load(name, 0))[0]

    async def _load(self, name: str, recent: int) -> tuple[Schedule, list[Live], list[Run]]:
        namespace = self._context.namespace

        def read(_: int) -> Operation[tuple[Row, list[Live], list[Run]]]:
            rows = yield sql("schedule_by_name", namespace=namespace, name=name)
            if not rows:
                raise (yield from not_found(name, namespace))
            id = id_of(rows[0])
            live = yield from load_live_runs([id])
            return (
                rows[0],
                live[id],
                (yield from _read_occurrences(namespace, *key_range(id), recent)) if recent else [],
            )

        row, live, runs = await self._context.store.read(read)
        return read_anyway(row), live, runs

    async def _occurrences(self, low: str, high: str, limit: int, query: str = "history") -> list[Run]:
        return await self._context.store.read(
            lambda _: _read_occurrences(self._context.namespace, low, high, limit, query)
        )

    async def _matching(
        self, match: str, tag: str | None, state: str | None, job: str | None, after: str = "", most: int | None = None
    ) -> AsyncIterator[Schedule]:
        """Yield the matching schedules, at most `most`, sorted by name. They are read in pages."""
        wanted = Filter(match, tag, state, job)
        wanted.check()
        size = max(1, min(_PAGE, most)) if wanted.whole and most is not None else _PAGE
        yielded = 0
        following: str | None = after
        while following is not None:
            at = following

            def one_page(_: int, at: str = at) -> Operation[tuple[Sequence[Row], str | None]]:
                return page(self._context.namespace, wanted, at, size)

            rows, following = await self._context.store.read(one_page)
            for schedule in await self._each(map(read_anyway, rows)):
                if wanted.fits(schedule):
                    yield schedule
                    yielded += 1
                    if yielded == most:
                        return

    async def _each(self, items: Iterable[T]) -> Sequence[T]:
        """Return the items as a sequence. While they are computed, other tasks of the event loop run in between."""
        return await self._context.computing.each(self._context.namespace, items)

    async def list(
        self,
        *,
        match: str = "*",
        tag: str | None = None,
        state: StateName | None = None,
        job: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> list[ScheduleInfo]:
        """Return up to `limit` matching schedules, sorted by name, after the name `after`. `match` is a pattern such as
        `"billing-*"`."""
        now = self._context.now()
        schedules = [one async for one in self._matching(match, tag, state, job, after, limit)]
        return list(await self._each(schedule_info(one, [], [], now) for one in schedules))


def _read_occurrences(namespace: str, low: str, high: str, limit: int, query: str = "history") -> Operation[list[Run]]:
    """Return the last attempts of the occurrences between two keys, newest first. `query` is the name of the statement
    that reads the occurrences."""
    rows = yield sql(query, namespace=namespace, low=low, high=high, limit=limit)
    return (yield from newest_attempts([whole_run(row) for row in rows]))


def newest_attempts(runs: Sequence[Run]) -> Operation[list[Run]]:
    """Return a copy of the list `runs`. If a run was retried, a copy of its last attempt takes its place in the list.
    This copy gets the due time of the replaced run."""
    tried = [(run.id,) for run in runs if run.superseded]
    newest = {}
    if tried:
        newest = {run.root_id: run for run in map(whole_run, (yield sql("newest_attempts", tried)))}
    return [replace(newest[run.id], due=run.due) if run.id in newest else run for run in runs]


def _play_and_show(show: Callable[[Simulation], T], play: Callable[[], Simulation]) -> T:
    return show(play())


def _read_run_time(value: RunTimeLike) -> RunTime:
    if callable(value):
        return lambda dice: read_length(value(dice), "run_time")
    if isinstance(value, str | int | float | timedelta):
        return _read_one_run_time(value)
    return [_read_one_run_time(length) for length in value]


def _read_one_run_time(value: Length) -> Micros:
    length = read_length(value, "run_time")
    if length < 0:
        raise OstinatoError(f"run_time {value!r} is negative; write 0 or a positive length")
    return length


def _spans(pairs: Sequence[tuple[Moment, Moment]], field: str) -> list[Span]:
    return [(read_instant(one, field), read_instant(other, field)) for one, other in pairs]
