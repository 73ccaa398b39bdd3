"""Read and change schedules for Temporal's calls. One transaction can make several changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ostinato.engine.idempotency import digest
from ostinato.engine.rows import whole_run
from ostinato.errors import Conflict
from ostinato.model import Run
from ostinato.schedules.api.changes import Schedules
from ostinato.schedules.api.queries import newest_attempts
from ostinato.schedules.decisions.decide import Live
from ostinato.schedules.model import Overlap, Schedule
from ostinato.schedules.operations import edit
from ostinato.schedules.operations.backfills import Backfill
from ostinato.schedules.operations.edit import Call, Edit
from ostinato.schedules.operations.load import load_live_runs
from ostinato.schedules.rows import dump, key_range, not_found, read_anyway, write_action
from ostinato.schedules.validation import define
from ostinato.store.contract import Operation, Row, sql
from ostinato.temporal_workflow_ids import NAME as COMPANION
from ostinato.temporal_workflow_ids.store import statement
from ostinato.when.instants import Micros

MOST_BACKFILLS = 100
_FIRST_STEP = 50  # times that a backfill runs in the transaction that creates it


@dataclass(frozen=True, slots=True)
class Form:
    """What a Temporal client sent with a schedule. `action` and `about` are Temporal messages, which `pack` has turned
    into text."""

    workflow_id: str  # the workflow id of each run begins with it
    keep: bool  # the workflow id of each run is exactly `workflow_id`
    action: str | None  # the message of the action; None if another interface has changed the action since
    about: str | None  # the memo and search attributes; None if another interface has changed them since
    updated: Micros | None = None  # when a Temporal client last updated the schedule


@dataclass(frozen=True, slots=True)
class Patch:
    """Changes to a schedule. They are made in this order: pause or resume, triggers, backfills.

    `pause` is the note of a pause, and `resume` is the note of a resume. None means that the patch does not pause or
    resume the schedule. If both are given, the schedule is resumed.
    """

    pause: str | None = None
    resume: str | None = None
    triggers: tuple[Overlap | None, ...] = ()
    backfills: tuple[tuple[Micros, Micros, Overlap | None], ...] = ()


@dataclass(frozen=True, slots=True)
class WireSchedule:
    """A schedule, with the other data that Temporal's messages show."""

    schedule: Schedule
    live: Sequence[Live] = ()  # its unfinished runs
    recent: Sequence[Run] = ()  # its last runs, the oldest first
    workflow_ids: Mapping[str, str] = field(default_factory=dict)  # by run id
    form: Form | None = None
    types: Mapping[str, str] = field(default_factory=dict)  # of all search attributes of the namespace, by name


class WireSchedules(Schedules):
    """The operations behind Temporal's calls.

    Each change is one transaction. Repeated requests with the same `request_id` make the change once. `asked` is a text
    that identifies the arguments of a request. A request with the same `request_id` but another `asked` is refused.
    """

    @classmethod
    def of(cls, schedules: Schedules) -> WireSchedules:
        return cls(schedules._context)

    async def create_with_form(
        self, schedule: Schedule, form: Form, patch: Patch, *, asked: str, request_id: str | None = None
    ) -> int:
        """Create a schedule, store `form`, and apply `patch`. Return the schedule's conflict token."""
        schedule = replace(schedule, companion=COMPANION)
        call = self._call(schedule.name, "create", request_id, asked=asked)
        backfills = await self._new_backfills(schedule, patch)

        def work() -> Operation[edit.Answer]:
            answer = yield from edit.create(call, [schedule])
            yield from _store_form(schedule, form)
            edits = _edits(call, patch, backfills)
            if edits:
                answer = yield from edit.change(call, edit.combine_edits(edits))
            return answer

        return int((await self._run(work, call))["token"])

    async def replace_with_form(
        self,
        name: str,
        definition: Callable[[Schedule], Mapping[str, Any]],
        form: Callable[[Form | None], Form],
        *,
        paused: bool,
        note: str,
        asked: str,
        token: int | None = None,
        request_id: str | None = None,
        seed: str | None = None,
    ) -> int:
        """Replace a schedule's definition and its `Form`. Return the schedule's conflict token.

        A `Form` has what a Temporal client sent with the schedule, such as the message of the action.

        - `definition`: gets the schedule, and returns the fields to change
        - `form`: gets the stored `Form`, or None if none is stored, and returns the new `Form`
        - `paused`: whether the schedule is paused after the change
        - `note`: if the change pauses or resumes the schedule, the note that is stored with the pause or resume
        - `token`: the conflict token that the schedule must have, or None, if any token will do
        - `seed`: the new seed of the jitter, or None, if the seed stays the same

        Raises `TokenMismatch` if the schedule has another conflict token.
        """
        call = self._call(name, "update", request_id, token, asked)
        before: Form | None = None

        def pause_or_resume(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], edit.Answer]]:
            nonlocal before
            rows = yield statement("forms_of", [(schedule.id,)])
            before = _read_form(rows[0], schedule) if rows else None
            if paused == bool(schedule.paused):
                return schedule, [], {}
            change = edit.pause_edit(call, note) if paused else edit.resume_edit(call, note)
            return (yield from change(schedule, live))

        def redefine(schedule: Schedule) -> Schedule:
            after = define(schedule, definition(schedule), self._context.checks)
            return replace(after, own_seed=seed or schedule.own_seed, companion=COMPANION)

        def store_form(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], edit.Answer]]:
            yield from _store_form(schedule, form(before), call.now)
            return schedule, [], {}

        edits = [pause_or_resume, edit.update_edit(call, redefine), store_form]
        answer = await self._run(lambda: edit.change(call, edit.combine_edits(edits), repairs=True), call)
        return int(answer["token"])

    async def patch(self, name: str, patch: Patch, *, asked: str, request_id: str | None = None) -> int:
        """Apply a patch to a schedule. Return the schedule's conflict token."""
        call = self._call(name, "patch", request_id, asked=asked)

        async def prepare() -> Callable[[], Operation[edit.Answer]]:
            backfills = await self._new_backfills(await self._get(name), patch) if patch.backfills else []
            edits = _edits(call, patch, backfills)
            return lambda: edit.change(call, edit.combine_edits(edits))

        return int((await self._prepare_and_run(prepare, call))["token"])

    async def describe(self, name: str, recent: int) -> WireSchedule:
        """Return a schedule with at most `recent` of its last runs. Raises `NotFound` if there is no such schedule."""
        namespace = self._context.namespace

        def read(_: int) -> Operation[list[WireSchedule]]:
            rows = yield sql("schedule_by_name", namespace=namespace, name=name)
            if not rows:
                raise (yield from not_found(name, namespace))
            return (yield from _with_runs([read_anyway(row) for row in rows], recent))

        return (await self._context.store.read(read))[0]

    async def describe_all(self, schedules: Sequence[Schedule], recent: int) -> list[WireSchedule]:
        """Return the schedules with the data that Temporal's messages show, and at most `recent` last runs of each."""
        return await self._context.store.read(lambda _: _with_runs(schedules, recent)) if schedules else []

    async def page(self, after: str, limit: int) -> list[Schedule]:
        """Return at most `limit` open schedules, ordered by name. Only schedules whose names come after the name
        `after` are returned."""
        namespace = self._context.namespace

        def read(_: int) -> Operation[list[Row]]:
            bounds = {"after": after, "low": after, "high": "\U0010ffff"}
            return (yield sql("list_schedules", namespace=namespace, limit=limit, **bounds))

        return list(await self._each(map(read_anyway, await self._context.store.read(read))))

    async def count(self) -> int:
        """Return the number of open schedules."""
        namespace = self._context.namespace

        def read(_: int) -> Operation[int]:
            return int((yield sql("count_schedules", namespace=namespace))[0][0])

        return await self._context.store.read(read)

    async def _new_backfills(self, schedule: Schedule, patch: Patch) -> list[Backfill]:
        return [await self._backfill(schedule, first, last, overlap) for first, last, overlap in patch.backfills]


def mark_schedules() -> Operation[None]:
    """Mark the schedules that have a stored `Form` but no mark. An earlier version of Ostinato stored the `Form`
    without the mark.

    A `Form` has what a Temporal client sent with the schedule. The mark is the schedule's field `companion`. Only the
    runs of marked schedules get workflow ids.
    """
    yield statement("mark_forms")


def _store_form(schedule: Schedule, form: Form, updated: Micros | None = None) -> Operation[None]:
    action, about = _digests(schedule)
    ids = (schedule.id, schedule.namespace, form.workflow_id, int(form.keep))
    yield statement("put_forms", [(*ids, form.action, action, form.about, about, updated)])


def _digests(schedule: Schedule) -> tuple[str, str]:
    """Return two digests: one of the schedule's action, and one of the schedule's memo and search attributes."""
    return digest(write_action(schedule.action)), digest(dump([schedule.memo, dict(schedule.attributes)]))


def _read_form(row: Row, schedule: Schedule) -> Form:
    """Return the `Form` in `row`, a row of the query `forms_of`. It is what a Temporal client sent with `schedule`.

    - If the schedule's action has changed since the form was stored, the form's `action` is None.
    - If the schedule's memo or search attributes have changed since then, the form's `about` is None.
    """
    _, _, workflow_id, keep, action, action_digest, about, about_digest, updated = row
    action_now, about_now = _digests(schedule)
    kept_action = action if action_digest == action_now else None
    kept_about = about if about_digest == about_now else None
    return Form(workflow_id, bool(keep), kept_action, kept_about, updated)


def _edits(call: Call, patch: Patch, backfills: Sequence[Backfill]) -> list[Edit]:
    edits: list[Edit] = []
    if patch.resume is not None:
        edits.append(edit.resume_edit(call, patch.resume))
    elif patch.pause is not None:
        edits.append(edit.pause_edit(call, patch.pause))
    edits += [edit.trigger_edit(call, overlap) for overlap in patch.triggers]
    if backfills:
        edits.append(_check_backfills(len(backfills)))
    edits += [edit.backfill_edit(call, backfill, _FIRST_STEP) for backfill in backfills]
    return edits


def _check_backfills(count: int) -> Edit:
    """Return an edit that raises `Conflict` if `count` new backfills would be too many for the schedule."""

    def check(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], edit.Answer]]:
        yield from ()
        running = schedule.memory.backfills
        if running + count > MOST_BACKFILLS:
            raise Conflict(f"too many concurrent backfillers: {running} are under way, at most {MOST_BACKFILLS} may be")
        return schedule, [], {}

    return check


def newest(runs: Sequence[Run], count: int) -> list[Run]:
    """Return the `count` runs that started last, the oldest first. For a run that has not started, its creation time is
    used."""
    return sorted(runs, key=lambda run: (run.started or run.created, run.root_id))[-count:]


def _with_runs(schedules: Sequence[Schedule], recent: int) -> Operation[list[WireSchedule]]:
    if not schedules:
        return []
    ids = [(schedule.id,) for schedule in schedules]
    live = yield from load_live_runs([schedule.id for schedule in schedules])
    by_id = {schedule.id: schedule for schedule in schedules}
    forms = {row[0]: _read_form(row, by_id[row[0]]) for row in (yield statement("forms_of", ids))}
    ranges = [(schedule.namespace, *key_range(schedule.id)) for schedule in schedules]
    rows = yield statement("recent_actions", ranges, limit=2 * recent)
    by_schedule: dict[str, list[Run]] = {schedule.id: [] for schedule in schedules}
    for run in (yield from newest_attempts([whole_run(row) for row in rows])):
        by_schedule[run.schedule_id or ""].append(run)
    by_schedule = {id: newest(runs, recent) for id, runs in by_schedule.items()}
    roots = {run.root_id for runs in by_schedule.values() for run in runs}
    roots |= {run.root_id for runs in live.values() for run in runs}
    workflow_ids = {}
    if roots:
        rows = yield statement("temporal_executions_of", [(root,) for root in sorted(roots)])
        workflow_ids = {run_id: workflow_id for run_id, workflow_id, _, _ in rows}
    types = {row[0]: row[1] for row in (yield statement("search_attributes", namespace=schedules[0].namespace))}
    return [
        WireSchedule(schedule, live[schedule.id], by_schedule[schedule.id], workflow_ids, forms.get(schedule.id), types)
        for schedule in schedules
    ]
