"""Schedules as Temporal's wire sees them: with what came over it kept beside them, byte for byte, and several changes
done as one. Nothing here knows that wire's messages: a form is text to this layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ostinato.engine.requests import digest
from ostinato.engine.rows import whole_run
from ostinato.errors import Conflict
from ostinato.model import Run
from ostinato.schedules import scheduler
from ostinato.schedules.backfiller import Backfill
from ostinato.schedules.calls import Schedules
from ostinato.schedules.carrying import live_of
from ostinato.schedules.decide import Live
from ostinato.schedules.define import define
from ostinato.schedules.looks import newest_of
from ostinato.schedules.model import Overlap, Schedule
from ostinato.schedules.rows import dump, key_range, not_found, read_anyway, write_action
from ostinato.schedules.scheduler import Call, Edit
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros

MOST_BACKFILLS = 100
_FIRST_STEP = 50


@dataclass(frozen=True, slots=True)
class Form:
    """What a schedule's workflows are called, and what it was defined by: `action` what it starts, `about` its memo and
    attributes. None: the schedule has been changed elsewhere since, and says something else now."""

    workflow_id: str
    keep: bool
    action: str | None
    about: str | None
    updated: Micros | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """What is to be done to a schedule, in this order. A text is the note; None: not asked for."""

    pause: str | None = None
    resume: str | None = None
    triggers: tuple[Overlap | None, ...] = ()
    backfills: tuple[tuple[Micros, Micros, Overlap | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """A schedule with what is live and recent of it, what its runs are called, and the types of search attributes."""

    schedule: Schedule
    live: Sequence[Live] = ()
    recent: Sequence[Run] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    form: Form | None = None
    types: Mapping[str, str] = field(default_factory=dict)


class Forms(Schedules):
    """The calls of the wire. Each change is one transaction, once for each request id."""

    @classmethod
    def of(cls, schedules: Schedules) -> Forms:
        return cls(schedules._around)

    async def create_as(
        self, made: Schedule, form: Form, patch: Patch, *, asked: str, request_id: str | None = None
    ) -> int:
        """A new schedule with its form, patched at once. Returns its token."""
        call = self._call(made.name, "create", request_id, asked=asked)
        filling = await self._fillings(made, patch)

        def work() -> Operation[scheduler.Answer]:
            answer = yield from scheduler.create(call, [made])
            yield from _keep(made, form)
            edits = _edits(call, patch, filling)
            if edits:
                answer = yield from scheduler.change(call, scheduler.together(edits))
            return answer

        return int((await self._run(work, call))["token"])

    async def replace_as(
        self,
        name: str,
        given: Callable[[Schedule], Mapping[str, Any]],
        form: Callable[[Form | None], Form],
        *,
        paused: bool,
        note: str,
        asked: str,
        token: int | None = None,
        request_id: str | None = None,
        seed: str | None = None,
    ) -> int:
        """Put another definition in place of the one it has. `given` says, of what is there, what is to be defined;
        `form` what is to be kept, of what was. `seed`: of its jitter, from where it comes from."""
        doors = self._around.doors
        call = self._call(name, "update", request_id, token, asked)

        before: Form | None = None

        def turn(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], scheduler.Answer]]:
            nonlocal before
            rows = yield sql("forms_of", [(schedule.id,)])
            before = _form(rows[0], schedule) if rows else None
            if paused == bool(schedule.paused):
                return schedule, [], {}
            edit = scheduler.pausing(call, note) if paused else scheduler.resuming(call, note)
            return (yield from edit(schedule, live))

        def keep(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], scheduler.Answer]]:
            yield from _keep(schedule, form(before), call.now)
            return schedule, [], {}

        def defined(one: Schedule) -> Schedule:
            return replace(define(one, given(one), doors), own_seed=seed or one.own_seed)

        redefine = scheduler.updating(call, defined)
        edits = [turn, redefine, keep]
        answer = await self._run(lambda: scheduler.change(call, scheduler.together(edits), mends=True), call)
        return int(answer["token"])

    async def patch(self, name: str, patch: Patch, *, asked: str, request_id: str | None = None) -> int:
        call = self._call(name, "patch", request_id, asked=asked)
        filling = await self._fillings(await self._get(name), patch) if patch.backfills else []
        edits = _edits(call, patch, filling)
        return int((await self._run(lambda: scheduler.change(call, scheduler.together(edits)), call))["token"])

    async def see(self, name: str, recent: int) -> Seen:
        """One of them, as it stands."""
        namespace = self._around.namespace

        def found(_: int) -> Operation[list[Seen]]:
            rows = yield sql("schedule_by_name", namespace=namespace, name=name)
            return (yield from _seen(rows, recent))

        seen = await self._around.store.read(found)
        if not seen:
            raise not_found(name, namespace)
        return seen[0]

    async def page(self, after: str, limit: int) -> list[Schedule]:
        """Open schedules by name, from the one after `after` on."""
        namespace = self._around.namespace

        def found(_: int) -> Operation[list[Row]]:
            bounds = {"after": after, "low": after, "high": "\U0010ffff"}
            return (yield sql("list_schedules", namespace=namespace, limit=limit, **bounds))

        return list(await self._each(map(read_anyway, await self._around.store.read(found))))

    async def count(self) -> int:
        """How many are open."""
        namespace = self._around.namespace

        def counted(_: int) -> Operation[int]:
            return int((yield sql("count_schedules", namespace=namespace))[0][0])

        return await self._around.store.read(counted)

    async def closer(self, schedules: Sequence[Schedule], recent: int) -> list[Seen]:
        """These, with what belongs to them."""

        def found(_: int) -> Operation[list[Seen]]:
            return (yield from _around_of(schedules, recent))

        return await self._around.store.read(found) if schedules else []

    async def _fillings(self, schedule: Schedule, patch: Patch) -> list[Backfill]:
        return [await self._backfill(schedule, first, last, overlap) for first, last, overlap in patch.backfills]


def _keep(schedule: Schedule, form: Form, updated: Micros | None = None) -> Operation[None]:
    action, about = said(schedule)
    called = (schedule.id, schedule.namespace, form.workflow_id, int(form.keep))
    yield sql("put_forms", [(*called, form.action, action, form.about, about, updated)])


def said(schedule: Schedule) -> tuple[str, str]:
    """What a schedule says of its action, and about itself, short."""
    return digest(write_action(schedule.action)), digest(dump([schedule.memo, dict(schedule.attributes)]))


def _form(row: Row, schedule: Schedule) -> Form:
    _, workflow_id, keep, action, action_said, about, about_said, updated = row
    now = said(schedule)
    return Form(
        workflow_id,
        bool(keep),
        action if action_said == now[0] else None,
        about if about_said == now[1] else None,
        updated,
    )


def _edits(call: Call, patch: Patch, filling: Sequence[Backfill]) -> list[Edit]:
    edits: list[Edit] = []
    if patch.resume is not None:
        edits.append(scheduler.resuming(call, patch.resume))
    elif patch.pause is not None:
        edits.append(scheduler.pausing(call, patch.pause))
    edits += [scheduler.triggering(call, overlap) for overlap in patch.triggers]
    if filling:
        edits.append(_room_for(len(filling)))
    edits += [scheduler.filling(call, one, _FIRST_STEP) for one in filling]
    return edits


def _room_for(count: int) -> Edit:
    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], scheduler.Answer]]:
        yield from ()
        there = schedule.memory.backfills
        if there + count > MOST_BACKFILLS:
            raise Conflict(f"too many concurrent backfillers: {there} are under way, at most {MOST_BACKFILLS} may be")
        return schedule, [], {}

    return edit


def _seen(rows: Sequence[Row], recent: int) -> Operation[list[Seen]]:
    return (yield from _around_of([read_anyway(row) for row in rows], recent))


def newest(runs: Sequence[Run], count: int) -> list[Run]:
    """The last of them by when they started, in that order."""
    return sorted(runs, key=lambda run: (run.started or run.created, run.root_id))[-count:]


def _around_of(schedules: Sequence[Schedule], recent: int) -> Operation[list[Seen]]:
    if not schedules:
        return []
    ids = [(one.id,) for one in schedules]
    live = yield from live_of([one.id for one in schedules])
    by_id = {one.id: one for one in schedules}
    forms = {row[0]: _form(row, by_id[row[0]]) for row in (yield sql("forms_of", ids))}
    ranges = [(one.namespace, *key_range(one.id)) for one in schedules]
    rows = yield sql("recent_actions", ranges, limit=2 * recent)
    runs = yield from newest_of([whole_run(row) for row in rows])
    by_schedule: dict[str, list[Run]] = {one.id: [] for one in schedules}
    for run in runs:
        by_schedule[run.schedule_id or ""].append(run)
    by_schedule = {id: newest(found, recent) for id, found in by_schedule.items()}
    roots = {run.root_id for found in by_schedule.values() for run in found}
    roots |= {one.root_id for found in live.values() for one in found}
    names = {}
    if roots:
        names = {row[0]: row[1] for row in (yield sql("workflows_of", [(root,) for root in sorted(roots)]))}
    types = {row[0]: row[1] for row in (yield sql("search_attributes", namespace=schedules[0].namespace))}
    return [Seen(one, live[one.id], by_schedule[one.id], names, forms.get(one.id), types) for one in schedules]
