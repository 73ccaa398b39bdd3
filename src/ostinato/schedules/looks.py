"""Looking at schedules: what they are, what became of their times, what is to come, and why. Nothing is changed."""

from __future__ import annotations

import asyncio
import heapq
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Self, TypeAlias, TypeVar

from ostinato.engine.computing import Computing
from ostinato.engine.rows import whole_run
from ostinato.model import DEFAULT_NAMESPACE, Run, read_length
from ostinato.schedules.decide import Live
from ostinato.schedules.finding import Filter, page
from ostinato.schedules.generator import coming_up, nominal_of
from ostinato.schedules.live import live_of
from ostinato.schedules.model import Schedule
from ostinato.schedules.rows import key_range, not_found, read_anyway
from ostinato.schedules.views import (
    BackfillInfo,
    Coming,
    Lateness,
    OccurrenceInfo,
    ScheduleInfo,
    Staleness,
    backfill_info,
    lateness,
    occurrence_info,
    schedule_info,
    staleness,
)
from ostinato.store.contract import Operation, Row, Store, sql
from ostinato.when.durations import Length
from ostinato.when.instants import Micros, from_datetime, read_instant, to_datetime

# What only some calls need is loaded when they are made: a command that looks at schedules is there to be quick.
if TYPE_CHECKING:
    from ostinato.schedules.declaring import Declarations
    from ostinato.schedules.define import Doors
    from ostinato.schedules.explain import Explanation
    from ostinato.schedules.simulate import RunTime, Simulation, Span

T = TypeVar("T")
Moment = datetime | str
Visible = Callable[[Sequence[OccurrenceInfo]], Awaitable[Sequence[OccurrenceInfo]]]
RunTimeLike = Length | Sequence[Length] | Callable[[random.Random], Length]
_PAGE = 100  # rows at once, each of which may hold some MiB
_BEYOND = "~"  # after every id
_SHOWN = 50  # of what was triggered at one moment
_STRETCHES = 10  # a stretch may have single rows within it, of times that came out of order


def _no_declarations() -> Declarations:
    from ostinato.schedules.declaring import Declarations

    return Declarations()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the calls need of the app they belong to."""

    store: Store
    now: Callable[[], Micros]
    new_id: Callable[[Micros], str]
    doors: Doors
    nudge: Callable[[], None]
    namespace: str = DEFAULT_NAMESPACE
    actor: str | None = None
    declarations: Declarations = field(default_factory=_no_declarations)
    computing: Computing = field(default_factory=Computing)


class Looks:
    def __init__(self, around: Surroundings) -> None:
        self._around = around

    def within(self, namespace: str, actor: str | None) -> Self:
        """The same calls in another namespace, under another name."""
        return type(self)(replace(self._around, namespace=namespace, actor=actor))

    async def get(self, name: str, *, recent: int = 10) -> ScheduleInfo:
        schedule, live, rows = await self._look(name, recent)
        return schedule_info(schedule, live, [occurrence_info(run) for run in rows], self._around.now())

    async def history(
        self,
        name: str,
        *,
        first: Moment | None = None,
        last: Moment | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[OccurrenceInfo]:
        """What became of its times, the newest first. `before` is the `cursor` of the last one of the page before."""
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
        """The nominal times of its spec in a period, both ends included, whatever its state."""
        schedule = await self._get(name)
        found = schedule.spec.compiled.between(read_instant(first, "first"), read_instant(last, "last"))
        return list(await self._each(map(to_datetime, islice(found, limit))))

    async def upcoming(self, limit: int = 50) -> list[Coming]:
        """What is to come, of all schedules, soonest first; what is late stands first, with what will become of it."""
        now, namespace = self._around.now(), self._around.namespace

        def soonest(_: int) -> Operation[tuple[list[Row], dict[str, list[Live]]]]:
            rows = yield sql("next_schedules", namespace=namespace, limit=limit)
            live = yield from live_of([row[0] for row in rows if row[13] is not None and row[13] <= now])
            return rows, live

        rows, live = await self._around.store.read(soonest)
        begun = await self._each(_coming_of(read_anyway(row), live.get(row[0], []), now) for row in rows)
        heads = await self._each((next(one, None), number, one) for number, one in enumerate(begun))
        return list(await self._each(islice(_soonest(heads), limit)))

    async def late(self, limit: int = 1000) -> dict[str, Lateness]:
        """Schedules with times that passed while nobody was there, and what will become of them."""
        now, namespace = self._around.now(), self._around.namespace

        def found(_: int) -> Operation[tuple[list[Row], dict[str, list[Live]]]]:
            rows = yield sql("late_schedules", before=now, namespace=namespace, limit=limit)
            return rows, (yield from live_of([row[0] for row in rows]))

        rows, live = await self._around.store.read(found)
        known = (read_anyway(row) for row in rows)
        late = await self._each((one.name, lateness(one, live[one.id], now)) for one in known)
        return {name: one for name, one in late if one.late}

    async def staleness(self, *, match: str = "*", tag: str | None = None, limit: int = 10_000) -> list[Staleness]:
        """How long each schedule has not succeeded, and how overdue it is: what an alert should look at."""
        now = self._around.now()
        found: list[Staleness] = []
        async for one in self._matching(match, tag, None, None):
            found.append(staleness(one, now))
            if len(found) == limit:
                break
        return found

    async def backfills(self, name: str, *, before: str | None = None, limit: int = 100) -> list[BackfillInfo]:
        """Its backfills, newest first; those that are done stay on record. `before` is the id of the last one of the
        page before."""
        from ostinato.schedules.backfiller import read_backfill

        schedule = await self._get(name)

        def found(_: int) -> Operation[list[Row]]:
            return (yield sql("backfills_of", schedule=schedule.id, before=before or _BEYOND, limit=limit))

        return [backfill_info(read_backfill(row)) for row in await self._around.store.read(found)]

    async def explain(self, name: str, at: Moment, *, visible: Visible | None = None) -> Explanation:
        """Why it ran at a moment, why it did not, or whether it will. `visible` gives those of the records that the
        caller may see."""
        from ostinato.schedules.explain import HIDDEN, explain

        schedule = await self._get(name)
        nominal = await self._nominal(schedule, read_instant(at, "at"))
        # Those of this very time; and the newest that the clock brought up to it, one of which may be a stretch.
        runs = await self._occurrences(*key_range(schedule.id, nominal, nominal), _SHOWN)
        before = await self._occurrences(*key_range(schedule.id, None, nominal - 1), _STRETCHES, "clock_history")
        runs += before
        records = [one for one in map(occurrence_info, runs) if one.nominal <= to_datetime(nominal) <= one.last]
        seen = records if visible is None else await visible(records)
        if records and not seen:
            return replace(HIDDEN, nominal=to_datetime(nominal))
        return explain(schedule, nominal, seen, self._around.now())

    async def _nominal(self, schedule: Schedule, at: Micros) -> Micros:
        """The nominal time of what is to run at a moment, or ran there because it was moved. A moved one stays between
        its neighbours, so it is the time before or after."""
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
        """What would happen: a schedule by name, or a draft, played through a period by the engine's own decisions.
        `run_time` is a length such as `"20m"`, several to draw from, or a function of a `random.Random` that returns
        one; numbers are seconds."""
        play = await self._play(schedule, first, last, run_time, outages, pauses, seed)
        # In a thread: a long period takes seconds of thinking, and the node in this loop has a lease to keep.
        return await asyncio.to_thread(play)

    async def simulated(
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
        """The same for strangers: played in a process that can be ended, and shown there by a function of a module."""
        play = await self._play(schedule, first, last, run_time, outages, pauses, seed)
        return await self._around.computing.call(self._around.namespace, _shown, show, play)

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
        return (await self._look(name, 0))[0]

    async def _look(self, name: str, recent: int) -> tuple[Schedule, list[Live], list[Run]]:
        namespace = self._around.namespace

        def found(_: int) -> Operation[tuple[Row, list[Live], list[Run]]]:
            rows = yield sql("schedule_by_name", namespace=namespace, name=name)
            if not rows:
                raise not_found(name, namespace)
            id = rows[0][0]
            live = yield from live_of([id])
            return rows[0], live[id], (yield from _occurred(namespace, *key_range(id), recent)) if recent else []

        row, live, runs = await self._around.store.read(found)
        return read_anyway(row), live, runs

    async def _occurrences(self, low: str, high: str, limit: int, query: str = "history") -> list[Run]:
        return await self._around.store.read(lambda _: _occurred(self._around.namespace, low, high, limit, query))

    async def _matching(
        self, match: str, tag: str | None, state: str | None, job: str | None, after: str = "", most: int = _PAGE
    ) -> AsyncIterator[Schedule]:
        """Those that fit, by name. No more is read than is wanted where the store alone can say which they are."""
        wanted = Filter(match, tag, state, job)
        wanted.check()
        size = max(1, min(_PAGE, most)) if wanted.whole else _PAGE
        following: str | None = after
        while following is not None:
            at = following

            def one_page(_: int, at: str = at) -> Operation[tuple[Sequence[Row], str | None]]:
                return page(self._around.namespace, wanted, at, size)

            rows, following = await self._around.store.read(one_page)
            for one in await self._each(map(read_anyway, rows)):
                if wanted.fits(one):
                    yield one

    async def _each(self, items: Iterable[T]) -> Sequence[T]:
        """What is worked out for a caller, with pauses for everyone else."""
        return await self._around.computing.each(self._around.namespace, items)

    async def list(
        self,
        *,
        match: str = "*",
        tag: str | None = None,
        state: str | None = None,
        job: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> list[ScheduleInfo]:
        """Schedules by name, from the one after `after` on; `match` is a pattern such as `"billing-*"`."""
        now = self._around.now()
        found: list[Schedule] = []
        async for one in self._matching(match, tag, state, job, after, limit):
            found.append(one)
            if len(found) == limit:
                break
        return list(await self._each(schedule_info(one, [], [], now) for one in found))


Head: TypeAlias = tuple[tuple[Micros, Coming] | None, int, Iterator[tuple[Micros, Coming]]]


def _coming_of(schedule: Schedule, live: Sequence[Live], now: Micros) -> Iterator[tuple[Micros, Coming]]:
    """What is to come of one schedule, the soonest first; what is late before all."""
    late = lateness(schedule, live, now)
    job = schedule.action.job
    if late.late and schedule.next is not None:
        moment = to_datetime(schedule.next)
        yield schedule.next, Coming(moment, moment, schedule.name, job, late)
    for one in coming_up(schedule, now):
        yield one.actual, Coming(to_datetime(one.actual), to_datetime(one.nominal), schedule.name, job, Lateness())


def _soonest(heads: Sequence[Head]) -> Iterator[Coming]:
    """What is to come of all schedules, the soonest first. Nothing is worked out before it is asked for."""
    heap = [(first[0], number, first[1], rest) for first, number, rest in heads if first is not None]
    heapq.heapify(heap)
    while heap:
        _, number, coming, rest = heap[0]
        yield coming
        following = next(rest, None)
        if following is None:
            heapq.heappop(heap)
        else:
            heapq.heapreplace(heap, (following[0], number, following[1], rest))


def _occurred(namespace: str, low: str, high: str, limit: int, query: str = "history") -> Operation[list[Run]]:
    """Occurrences between two keys, newest first, each with the last of its attempts."""
    rows = yield sql(query, namespace=namespace, low=low, high=high, limit=limit)
    return (yield from newest_of([whole_run(row) for row in rows]))


def newest_of(runs: Sequence[Run]) -> Operation[list[Run]]:
    """For the first attempts of chains the last ones, due when the first was."""
    tried = [(run.id,) for run in runs if run.superseded]
    newest = {}
    if tried:
        newest = {run.root_id: run for run in map(whole_run, (yield sql("newest_attempts", tried)))}
    return [replace(newest[run.id], due=run.due) if run.id in newest else run for run in runs]


def _shown(show: Callable[[Simulation], T], play: Callable[[], Simulation]) -> T:
    return show(play())


def _read_run_time(given: RunTimeLike) -> RunTime:
    if callable(given):
        return lambda dice: read_length(given(dice), "run_time")
    if isinstance(given, str | int | float | timedelta):
        return read_length(given, "run_time")
    return [read_length(length, "run_time") for length in given]


def _spans(given: Sequence[tuple[Moment, Moment]], field: str) -> list[Span]:
    return [(read_instant(one, field), read_instant(other, field)) for one, other in given]
