"""Read and change schedules as Temporal's calls need it.

Several changes can be one transaction. The client's messages are stored as a `Form`, without being read.
"""

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
from ostinato.when.instants import Micros

MOST_BACKFILLS = 100
_FIRST_STEP = 50  # times that a backfill runs in the transaction that creates it


@dataclass(frozen=True, slots=True)
class Form:
    """The messages that a Temporal client sent with a schedule.

    - `workflow_id`: the text with which the workflow id of each run begins
    - `keep`: whether the workflow id of each run is exactly `workflow_id`
    - `action`: the message of the action, or None, if another interface has changed the action since
    - `about`: the message of the memo and search attributes, or None, if another interface has changed them since
    - `updated`: when a Temporal client last updated the schedule, in microseconds since 1970, or None, if none did
    """

    workflow_id: str
    keep: bool
    action: str | None
    about: str | None
    updated: Micros | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """Changes to a schedule: first pause or resume, then the triggers, then the backfills.

    `pause` is the note of a pause, or None for no pause. `resume` is the note of a resumption, or None for no
    resumption. If both are given, the schedule is resumed.
    """

    pause: str | None = None
    resume: str | None = None
    triggers: tuple[Overlap | None, ...] = ()
    backfills: tuple[tuple[Micros, Micros, Overlap | None], ...] = ()


@dataclass(frozen=True, slots=True)
class WireSchedule:
    """A schedule, with the other data that Temporal's messages show.

    - `live`: the unfinished runs of the schedule
    - `recent`: the last runs of the schedule, the oldest first
    - `workflow_ids`: a dict from run id to workflow id
    - `types`: a dict from search attribute to type, for all search attributes of the namespace
    """

    schedule: Schedule
    live: Sequence[Live] = ()
    recent: Sequence[Run] = ()
    workflow_ids: Mapping[str, str] = field(default_factory=dict)
    form: Form | None = None
    types: Mapping[str, str] = field(default_factory=dict)


class WireSchedules(Schedules):
    """The operations behind Temporal's calls. Each change is one transaction, and is made once for each request id."""

    @classmethod
    def of(cls, schedules: Schedules) -> WireSchedules:
        return cls(schedules._around)

    async def create_with_form(
        self, schedule: Schedule, form: Form, patch: Patch, *, asked: str, request_id: str | None = None
    ) -> int:
        """Create a schedule, store the client's messages from `form`, and apply the changes in `patch`. Return the
        schedule's conflict token."""
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
        """Replace a schedule's definition and its form. Return the schedule's conflict token.

        `definition` takes the stored schedule and returns the fields to change. `form` takes the stored form, or None,
        and returns the new one. `seed` replaces the seed of the jitter. Raises `TokenMismatch` if `token` is given and
        the schedule has another token.
        """
        doors = self._around.doors
        call = self._call(name, "update", request_id, token, asked)

        before: Form | None = None

        def pause_or_resume(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], edit.Answer]]:
            nonlocal before
            rows = yield sql("forms_of", [(schedule.id,)])
            before = _read_form(rows[0], schedule) if rows else None
            if paused == bool(schedule.paused):
                return schedule, [], {}
            change = edit.pause_edit(call, note) if paused else edit.resume_edit(call, note)
            return (yield from change(schedule, live))

        def redefine(schedule: Schedule) -> Schedule:
            after = define(schedule, definition(schedule), doors)
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
        """Return a schedule with at most `recent` recent runs. Raises `NotFound` if there is no such schedule."""
        namespace = self._around.namespace

        def read(_: int) -> Operation[list[WireSchedule]]:
            rows = yield sql("schedule_by_name", namespace=namespace, name=name)
            if not rows:
                raise (yield from not_found(name, namespace))
            return (yield from _with_runs([read_anyway(row) for row in rows], recent))

        return (await self._around.store.read(read))[0]

    async def describe_all(self, schedules: Sequence[Schedule], recent: int) -> list[WireSchedule]:
        """Return `schedules` as `WireSchedule` objects, each with at most `recent` of its last runs."""

        def read(_: int) -> Operation[list[WireSchedule]]:
            return (yield from _with_runs(schedules, recent))

        return await self._around.store.read(read) if schedules else []

    async def page(self, after: str, limit: int) -> list[Schedule]:
        """Return open schedules ordered by name, beginning after the name `after`."""
        namespace = self._around.namespace

        def read(_: int) -> Operation[list[Row]]:
            bounds = {"after": after, "low": after, "high": "\U0010ffff"}
            return (yield sql("list_schedules", namespace=namespace, limit=limit, **bounds))

        return list(await self._each(map(read_anyway, await self._around.store.read(read))))

    async def count(self) -> int:
        """Return the number of open schedules."""
        namespace = self._around.namespace

        def read(_: int) -> Operation[int]:
            return int((yield sql("count_schedules", namespace=namespace))[0][0])

        return await self._around.store.read(read)

    async def _new_backfills(self, schedule: Schedule, patch: Patch) -> list[Backfill]:
        return [await self._backfill(schedule, first, last, overlap) for first, last, overlap in patch.backfills]


def mark_schedules() -> Operation[None]:
    """Mark the schedules that a node of an earlier version created for a Temporal client.

    The runs of marked schedules get workflow ids.
    """
    yield sql("mark_forms")


def _store_form(schedule: Schedule, form: Form, updated: Micros | None = None) -> Operation[None]:
    action, about = _digests(schedule)
    ids = (schedule.id, schedule.namespace, form.workflow_id, int(form.keep))
    yield sql("put_forms", [(*ids, form.action, action, form.about, about, updated)])


def _digests(schedule: Schedule) -> tuple[str, str]:
    """Return a digest of a schedule's action, and a digest of its memo and attributes."""
    return digest(write_action(schedule.action)), digest(dump([schedule.memo, dict(schedule.attributes)]))


def _read_form(row: Row, schedule: Schedule) -> Form:
    """Read the `Form` of a schedule from a row with `{form_columns}`.

    If the schedule's action has changed since the row was written, `action` of the form is None. If the memo or the
    attributes have changed, `about` is None.
    """
    _, _, workflow_id, keep, action, action_digest, about, about_digest, updated = row
    now = _digests(schedule)
    return Form(
        workflow_id,
        bool(keep),
        action if action_digest == now[0] else None,
        about if about_digest == now[1] else None,
        updated,
    )


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
    """Return an edit that only checks: it raises `Conflict` if the schedule would have too many backfills.

    `count` is the number of backfills to add.
    """

    def check(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], edit.Answer]]:
        yield from ()
        running = schedule.memory.backfills
        if running + count > MOST_BACKFILLS:
            raise Conflict(f"too many concurrent backfillers: {running} are under way, at most {MOST_BACKFILLS} may be")
        return schedule, [], {}

    return check


def newest(runs: Sequence[Run], count: int) -> list[Run]:
    """Return the last `count` runs, ordered by the time of their start."""
    return sorted(runs, key=lambda run: (run.started or run.created, run.root_id))[-count:]


def _with_runs(schedules: Sequence[Schedule], recent: int) -> Operation[list[WireSchedule]]:
    if not schedules:
        return []
    ids = [(schedule.id,) for schedule in schedules]
    live = yield from load_live_runs([schedule.id for schedule in schedules])
    by_id = {schedule.id: schedule for schedule in schedules}
    forms = {row[0]: _read_form(row, by_id[row[0]]) for row in (yield sql("forms_of", ids))}
    ranges = [(schedule.namespace, *key_range(schedule.id)) for schedule in schedules]
    rows = yield sql("recent_actions", ranges, limit=2 * recent)
    by_schedule: dict[str, list[Run]] = {schedule.id: [] for schedule in schedules}
    for run in (yield from newest_attempts([whole_run(row) for row in rows])):
        by_schedule[run.schedule_id or ""].append(run)
    by_schedule = {id: newest(runs, recent) for id, runs in by_schedule.items()}
    roots = {run.root_id for runs in by_schedule.values() for run in runs}
    roots |= {run.root_id for runs in live.values() for run in runs}
    workflow_ids = {}
    if roots:
        rows = yield sql("temporal_executions_of", [(root,) for root in sorted(roots)])
        workflow_ids = {run_id: workflow_id for run_id, workflow_id, _, _ in rows}
    types = {row[0]: row[1] for row in (yield sql("search_attributes", namespace=schedules[0].namespace))}
    return [
        WireSchedule(schedule, live[schedule.id], by_schedule[schedule.id], workflow_ids, forms.get(schedule.id), types)
        for schedule in schedules
    ]
