"""Provide the calls of `app.schedules` that create, change and delete schedules. Operations make the changes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import orjson

from ostinato.engine.idempotency import Unkept, call_id, check_request_id, digest
from ostinato.engine.jobs import check_only_by_position
from ostinato.errors import ArgumentError, OstinatoError, missing_attribute, naming_argument
from ostinato.schedules.api.queries import Moment, ScheduleQueries
from ostinato.schedules.declared.apply import StoreChanged, apply_plan, make_plan
from ostinato.schedules.declared.files import Entry, ScheduleFile, checked_drafts, export_entry, write_entries
from ostinato.schedules.declared.plan import Plan, with_definition
from ostinato.schedules.lateness import Lateness
from ostinato.schedules.model import (
    Overlap,
    OverlapName,
    Schedule,
    State,
    StateName,
    note_declared,
    read_catchup,
    read_overlap,
)
from ostinato.schedules.operations import edit
from ostinato.schedules.operations.backfills import Backfill
from ostinato.schedules.operations.edit.start_backfill import check_order, check_past
from ostinato.schedules.rows import dump, id_of, read_anyway, write_action, write_policies
from ostinato.schedules.validation import (
    ActionLike,
    ScheduleChanges,
    ScheduleOptions,
    SpecLike,
    checked_spec,
    define,
    read_name,
    read_notes,
    same_definition,
)
from ostinato.store.contract import Operation, sql
from ostinato.when import Spec, manual
from ostinato.when.instants import Micros, read_instant
from ostinato.when.size_limits import takes_long

T = TypeVar("T")
_PAGE = 500
_MAX_COUNTED = 1_000_000
_COUNT_HERE = 1_000
_MAX_TRIES = 20


@dataclass(frozen=True, slots=True)
class Changed:
    """The result of a change to a schedule.

    - `token`: the schedule's new conflict token
    - `run`: the triggered run, or None; its keys are `origin`, `id`, `status`, and perhaps `reason` and `blocked_by`
    - `backfill`: the id of the backfill, or None
    - `lateness`: for a resume, how many times were due while the schedule was paused or parked, and how many of these
      get a run; for other changes, both numbers are 0
    - `note`: a warning that code or a file will undo the change, or None
    """

    name: str
    token: int
    run: Mapping[str, Any] | None = None
    backfill: str | None = None
    lateness: Lateness = field(default_factory=Lateness)
    note: str | None = None


class Schedules(ScheduleQueries):
    """Create, read and change schedules. Most changes take a `token` and a `request_id`. A call raises TokenMismatch if
    the schedule no longer has the `token`. If several calls have the same `request_id`, the change is made once."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing_attribute(self, "app.schedules", name)

    # Creating and changing

    async def create(
        self,
        name: str,
        spec: SpecLike | None = None,
        action: ActionLike | None = None,
        input: Mapping[str, Any] | None = None,
        *,
        paused: bool = False,
        trigger: bool = False,
        request_id: str | None = None,
        **options: Unpack[ScheduleOptions],
    ) -> Changed:
        """Create a schedule that starts `action` with `input` at the times of `spec`. If `trigger` is true, the action
        also runs now. Raises AlreadyExists if the name is taken. Options: overlap, catchup, pause_after_failures,
        max_buffer, keep, remaining, notes, memo, tags, attributes, options for the job, and `tz`, the time zone of a
        spec that is written as text."""
        draft = self.draft(name, await self._read_large(spec), action, input, paused=paused, **options)
        call = self._call(draft.name, "create", request_id, asked=digest(_digest(draft), trigger))
        answer = await self._run(lambda: _create(call, [draft], trigger), call)
        return Changed(draft.name, answer["token"], answer.get("run"))

    async def _read_large(self, spec: T) -> T | Spec:
        """Read a large spec in a thread, so that it does not block the event loop. Return a small spec unchanged."""
        if not isinstance(spec, Mapping) or not takes_long(spec):
            return spec
        # `Computing` is not used here: its queue refuses calls when it is full, and a change must not be refused.
        return await asyncio.to_thread(checked_spec, spec, self._context.checks.min_interval)

    async def create_many(self, drafts: Sequence[Schedule], *, request_id: str | None = None) -> int:
        """Create schedules from drafts (see `draft`), and return the number of drafts. Each transaction creates up to
        500 schedules. If the name of a draft is taken, raise AlreadyExists. The transaction with this draft then
        creates nothing. Schedules that earlier transactions created are kept: correct the draft, and repeat the call
        with the same `request_id` and the same number of drafts, to create the others."""
        for begin in range(0, len(drafts), _PAGE):
            part = drafts[begin : begin + _PAGE]
            part_request = None if request_id is None else f"{request_id}/{begin}"
            asked = "" if request_id is None else await asyncio.to_thread(_digest_of_part, part, len(drafts))
            call = self._call(f"{len(part)} schedules", "create_many", part_request, asked=asked)
            await self._run(lambda call=call, part=part: _create(call, part), call)  # type: ignore[misc]
        return len(drafts)

    def draft(
        self,
        /,
        name: str,
        spec: SpecLike | None = None,
        action: ActionLike | None = None,
        input: Mapping[str, Any] | None = None,
        *,
        paused: bool = False,
        origin: str | None = None,
        **options: Any,
    ) -> Schedule:
        """Build a schedule without storing it, for `simulate` or `create_many`. Raises OstinatoError for a mistake."""
        context = self._context
        now = context.now()
        if action is None:
            raise ArgumentError(f"schedule {name!r} has no action; name a job, or give {{'http': …}}", "action")
        base = Schedule(context.new_id(now), read_name(name), manual(), namespace=context.namespace, origin=origin)
        options["action"] = action
        if spec is not None:
            options["spec"] = spec
        if input is not None:
            options["input"] = input
        schedule = define(base, options, context.checks)
        return replace(schedule, paused=now if paused else None, reached=now, updated=now, created=now)

    async def upsert(
        self,
        name: str,
        spec: SpecLike | None = None,
        action: ActionLike | None = None,
        input: Mapping[str, Any] | None = None,
        *,
        origin: str | None = None,
        request_id: str | None = None,
        **options: Unpack[ScheduleOptions],
    ) -> tuple[str, Changed]:
        """Create a schedule, or replace its whole definition. Settings that are not given get their defaults. Return
        (verb, result); the verb is `"created"`, `"updated"` or `"unchanged"`. An existing schedule keeps its counts and
        its pause. Times that have run do not run again."""
        wanted = self.draft(name, await self._read_large(spec), action, input, origin=origin, **options)
        call = self._call(wanted.name, "upsert", request_id, asked=digest(_digest(wanted)))

        def put() -> Operation[edit.Answer]:
            rows = yield sql("schedule_by_name", namespace=call.namespace, name=call.name)
            if not rows:
                try:
                    return {**(yield from edit.create(call, [wanted])), "done": "created"}
                except edit.AlreadyExists:
                    rows = yield sql("schedule_by_name", namespace=call.namespace, name=call.name)
            (row,) = yield sql("lock_schedules", [(id_of(rows[0]),)])  # read again, now that it is locked
            stored = read_anyway(row)
            same = same_definition(stored, wanted) and stored.origin == wanted.origin
            if same and stored.state is not State.PARKED:  # an upsert repairs a parked schedule
                return {"token": stored.token, "done": "unchanged"}
            return {
                **(yield from edit.update(call, lambda one: with_definition(one, wanted), repairs=True)),
                "done": "updated",
            }

        answer = await self._run(put, call)
        return answer["done"], Changed(wanted.name, answer["token"])

    async def update(
        self, name: str, *, token: int | None = None, request_id: str | None = None, **changes: Unpack[ScheduleChanges]
    ) -> Changed:
        """Change only the given settings. No due time is lost, and no due time runs twice.

        If code or a file declares the schedule, the next start of a node or the next `apply` will undo the change. The
        result's `note` then has a warning. Otherwise `note` is None.
        """
        context = self._context
        if not changes:
            raise OstinatoError("update changes nothing; give spec, action, input, overlap, catchup, remaining …")
        if "paused" in changes:
            raise OstinatoError("paused is not changed by an update; use pause() and resume()")
        repairs = "spec" in changes and "action" in changes
        if "spec" in changes:
            changes["spec"] = await self._read_large(changes["spec"])
        call = self._call(name, "update", request_id, token, digest(changes))
        named = []
        if "action" in changes:
            named = [self.draft(name, action=changes["action"], input=changes.get("input"))]

        def put() -> Operation[edit.Answer]:
            yield from context.checks.maker.refuse_unfit(named)
            return (yield from edit.update(call, lambda one: define(one, changes, context.checks), repairs=repairs))

        return _with_note(name, await self._run(put, call), "puts it back as declared there")

    async def pause(
        self, name: str, note: str = "", *, token: int | None = None, request_id: str | None = None
    ) -> Changed:
        """Pause a schedule: no scheduled run starts until it is resumed. Active runs continue."""
        read_notes(note)
        call = self._call(name, "pause", request_id, token, digest(note))
        return Changed(name, (await self._run(lambda: edit.pause(call, note), call))["token"])

    async def resume(
        self, name: str, note: str = "", *, catchup: Any = None, token: int | None = None, request_id: str | None = None
    ) -> Changed:
        """Resume a schedule. Times within the pause run only if `catchup` is `"latest"`, `"all"`, or a window such as
        `"1h"`. The result's `lateness` says how many due times passed during the pause, and how many of these run."""
        read_notes(note)
        with naming_argument("catchup"):
            policy = None if catchup is None else read_catchup(catchup)
        call = self._call(name, "resume", request_id, token, digest(note, catchup))
        answer = await self._run(lambda: edit.resume(call, note, policy), call)
        return Changed(name, answer["token"], lateness=Lateness(answer["late"], answer["will_run"]))

    async def trigger(
        self,
        name: str,
        *,
        input: Mapping[str, Any] | None = None,
        overlap: OverlapName | Overlap | None = None,
        token: int | None = None,
        request_id: str | None = None,
    ) -> Changed:
        """Run the action of a schedule now. For this run, `input` replaces the action's input, and `overlap` replaces
        the schedule's overlap policy. The result's `run` says whether the run started, waits or was skipped."""
        if isinstance(input, Mapping):
            check_only_by_position(name, input, "schedule")
        policy = None if overlap is None else read_overlap(overlap)
        call = self._call(name, "trigger", request_id, token, digest(input, overlap))
        answer = await self._run(lambda: edit.trigger(call, policy, input), call)
        return Changed(name, answer["token"], answer["run"])

    async def backfill(
        self,
        name: str,
        first: Moment,
        last: Moment,
        *,
        overlap: OverlapName | Overlap | None = None,
        input: Mapping[str, Any] | None = None,
        rate: float | None = None,
        token: int | None = None,
        request_id: str | None = None,
    ) -> Changed:
        """Run the schedule's past times from `first` to `last`, both included. The runs start now, at most `rate` per
        second. Raises OstinatoError if one of the times is still to come, because the schedule will run it anyway."""
        if isinstance(input, Mapping):
            check_only_by_position(name, input, "schedule")
        begin, end = read_instant(first, "first"), read_instant(last, "last")
        call = self._call(name, "backfill", request_id, token, digest(begin, end, overlap, input, rate))

        async def prepare() -> Callable[[], Operation[edit.Answer]]:
            schedule = await self._get(name)
            check_past(schedule, begin, end, self._context.now())
            wanted = await self._backfill(schedule, begin, end, overlap, input, rate)
            return lambda: edit.change(call, edit.backfill_edit(call, wanted))

        answer = await self._prepare_and_run(prepare, call)
        return Changed(name, answer["token"], backfill=answer["backfill"])

    async def _backfill(
        self,
        schedule: Schedule,
        first: Micros,
        last: Micros,
        overlap: Any,
        input: Mapping[str, Any] | None = None,
        rate: float | None = None,
    ) -> Backfill:
        context = self._context
        check_order(first, last, schedule.spec.tzinfo)
        if rate is not None and not 0 < rate <= 1_000_000:
            raise ArgumentError(f"rate {rate!r} is not a number of runs in a second, up to 1,000,000", "rate")
        if input is not None:
            context.checks.maker.check_input(schedule, input)
        total = len(await self._each(islice(schedule.spec.compiled.between(first, last), _COUNT_HERE)))
        if total == _COUNT_HERE:
            total = await context.computing.call(context.namespace, _count_times, schedule.spec, first, last)
        now = context.now()
        return Backfill(
            id=context.new_id(now),
            namespace=context.namespace,
            schedule_id=schedule.id,
            first=first,
            last=last,
            reached=first - 1,
            overlap=None if overlap is None else read_overlap(overlap),
            input=None if input is None else orjson.dumps(dict(input)).decode(),
            rate=rate,
            state="running",
            total=total,
            made=0,
            created=now,
            actor=context.actor,
        )

    async def pause_backfill(self, name: str, id: str, *, request_id: str | None = None) -> Changed:
        return await self._set_backfill_state(name, id, "paused", request_id)

    async def resume_backfill(self, name: str, id: str, *, request_id: str | None = None) -> Changed:
        return await self._set_backfill_state(name, id, "running", request_id)

    async def cancel_backfill(self, name: str, id: str, reason: str = "", *, request_id: str | None = None) -> Changed:
        """Cancel a backfill. No more of its times start, its waiting runs are dropped, and its active runs continue."""
        return await self._set_backfill_state(name, id, "cancelled", request_id, reason or "cancelled")

    async def _set_backfill_state(
        self, name: str, id: str, state: str, request: str | None, reason: str | None = None
    ) -> Changed:
        call = self._call(name, f"backfill {state}", request, asked=f"{id} {digest(reason)}")
        answer = await self._run(lambda: edit.set_backfill_state(call, id, state, reason), call)
        return Changed(name, answer["token"], backfill=id)

    async def skip(self, name: str, at: Moment, *, token: int | None = None, request_id: str | None = None) -> Changed:
        """Skip one coming occurrence. `at` is its nominal time, or the time that it was moved to."""
        nominal = read_instant(at, "at")
        call = self._call(name, "skip", request_id, token, str(nominal))
        return Changed(name, (await self._run(lambda: edit.leave_out(call, nominal), call))["token"])

    async def move(
        self, name: str, at: Moment, to: Moment, *, token: int | None = None, request_id: str | None = None
    ) -> Changed:
        """Move one coming occurrence to the time `to`, between the previous and the next occurrence. `at` is the
        occurrence's nominal time, or the time that it was moved to before. The nominal time does not change."""
        nominal, moment = read_instant(at, "at"), read_instant(to, "to")
        call = self._call(name, "move", request_id, token, f"{nominal} {moment}")
        return Changed(name, (await self._run(lambda: edit.move(call, nominal, moment), call))["token"])

    async def put_back(
        self, name: str, at: Moment, *, token: int | None = None, request_id: str | None = None
    ) -> Changed:
        """Undo the skip or the move of a coming occurrence. `at` is its nominal time, or the time it was moved to."""
        nominal = read_instant(at, "at")
        call = self._call(name, "put_back", request_id, token, str(nominal))
        return Changed(name, (await self._run(lambda: edit.put_back(call, nominal), call))["token"])

    async def delete(
        self, name: str, *, running: str = "leave", token: int | None = None, request_id: str | None = None
    ) -> Changed:
        """Close a schedule. Its backfills are cancelled, and the runs that its overlap policy holds back are dropped.
        `running` says what happens to its other unfinished runs: "leave", "cancel" or "terminate". The rows of the
        schedule are deleted later, after the app's `keep_runs`.

        If code or a file declares the schedule, the next start of a node or the next `apply` will create it again. The
        result's `note` then has a warning. Otherwise `note` is None.
        """
        if running not in ("leave", "cancel", "terminate"):
            raise OstinatoError(f"running {running!r} is unknown; use 'leave', 'cancel' or 'terminate'")
        call = self._call(name, "delete", request_id, token, running)
        return _with_note(name, await self._run(lambda: edit.delete(call, running), call), "creates it again")

    # Declared in code and files

    def declared(self) -> list[Schedule]:
        """Return the schedules that this app declares with `@app.schedule`, as drafts."""
        return self._context.declarations.drafts(self.draft)

    async def plan(
        self,
        wanted: Sequence[Schedule] | ScheduleFile | None = None,
        *,
        prune: bool = False,
        take: bool = False,
        origin: str | None = None,
    ) -> Plan:
        """Return the plan that `apply` would carry out, and change nothing. By default, `wanted` has the schedules that
        the app's code declares."""
        drafts, origins = await self._make_drafts(wanted, origin)
        call = self._call(f"{len(drafts)} schedules", "plan", None)
        plan = await self._context.store.read(lambda _: make_plan(call, drafts, origins, prune=prune, take=take))
        return replace(plan, notes=await self._notes(drafts))

    async def apply(
        self,
        wanted: Sequence[Schedule] | ScheduleFile | None = None,
        *,
        prune: bool = False,
        take: bool = False,
        leave_taken: bool = False,
        origin: str | None = None,
    ) -> Plan:
        """Create and update schedules in one transaction, so that the store matches `wanted`. Return the plan. If
        `prune` is true, also close the stored schedules of the same origin that are not in `wanted`. (An origin is a
        file or the code of an app.)

        If another origin declares a wanted schedule differently, the first of these rules that applies is used:

        - If `take` is true, the schedule gets the wanted definition and its origin.
        - If `leave_taken` is true, the schedule stays as it is.
        - Otherwise, DeclaredElsewhere is raised, and nothing is changed.
        """
        drafts, origins = await self._make_drafts(wanted, origin)
        plan: Plan | None = None
        for tries in range(1, _MAX_TRIES + 1):
            call = self._call(f"{len(drafts)} schedules", "apply", None)
            work = partial(apply_plan, call, drafts, origins, prune=prune, take=take, leave_taken=leave_taken)
            unkept: Unkept[Plan] = Unkept(call.namespace, "apply", call.now)
            try:
                plan = await self._context.store.run(lambda _, work=work, unkept=unkept: unkept.once(work()))  # type: ignore[misc]
                break
            except StoreChanged:
                if tries == _MAX_TRIES:
                    raise
        assert plan is not None
        self._context.nudge()
        return replace(plan, notes=await self._notes(drafts))

    async def export(self, *, match: str = "*", tag: str | None = None, form: str = "yaml") -> str:
        """Return the matching schedules as the text of a file that `apply` can read. `form` is `yaml` or `json`.
        Schedules that only an extension can make or change are left out, because a file cannot declare them. The key
        `x-left-out` of the file has their names and the reasons; `apply` ignores it."""
        maker = self._context.checks.maker
        return write_entries(
            [export_entry(one, maker) async for one in self._matching(match, tag, None, None)], form=form
        )

    async def entries(
        self, *, match: str = "*", tag: str | None = None, after: str = "", limit: int = 100
    ) -> Sequence[Entry]:
        """Return what `export` writes for the first `limit` matching schedules whose names sort after `after`."""
        schedules = [one async for one in self._matching(match, tag, None, None, after, limit)]
        return await self._each(export_entry(one, self._context.checks.maker) for one in schedules)

    async def _make_drafts(
        self, wanted: Sequence[Schedule] | ScheduleFile | None, origin: str | None
    ) -> tuple[list[Schedule], set[str]]:
        if wanted is None:
            drafts, origin = self.declared(), origin or self._context.declarations.origin
        elif isinstance(wanted, ScheduleFile):
            results = await self._each(wanted.each_draft(self.draft))
            drafts, origin = checked_drafts(results), origin or wanted.origin
        else:
            drafts = list(wanted)
        twice = [name for name, count in Counter(one.name for one in drafts).items() if count > 1]
        if twice:
            raise OstinatoError(f"schedule {twice[0]!r} is wanted twice; give one of them another name")
        if origin is not None:
            drafts = [replace(one, origin=origin) for one in drafts]
        origins = {one.origin for one in drafts if one.origin is not None} | ({origin} if origin else set())
        return drafts, origins

    async def _notes(self, drafts: Sequence[Schedule]) -> tuple[str, ...]:
        """Return warnings about jobs that no node has declared, actions that cannot start now, and unusual specs."""
        knows = self._context.checks.maker.knows
        jobs = sorted({one.action.job for one in drafts if not knows(one.action)})
        unknown = [f"no node has declared the job {job!r} yet; its runs wait until one does" for job in jobs]
        named = [replace(draft, id=draft.name) for draft in drafts]
        unfit = await self._context.store.read(lambda _: self._context.checks.maker.find_unfit(named))
        unknown += [f"{name}: it cannot start now: {problem}" for name, problem in unfit.items()]
        return (*unknown, *(f"{one.name}: {warning}" for one in drafts for warning in one.spec.check()))

    # Many at once

    async def each(
        self,
        do: Callable[[str], Awaitable[Any]],
        *,
        match: str = "*",
        tag: str | None = None,
        state: StateName | None = None,
        job: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Exception | None]:
        """Call `do` with the name of each matching schedule, one after the other. For example,
        `await app.schedules.each(app.schedules.pause, tag="x")` pauses all schedules with the tag x. Return a dict from
        schedule name to the OstinatoError that the call raised, or None if the call succeeded. An error of another type
        ends the loop and is raised.

        After each call of `do`, call `progress(done, total)`. `done` is the number of schedules so far, and `total` is
        the number of all matching schedules.
        """
        names = [one.name async for one in self._matching(match, tag, state, job)]
        done: dict[str, Exception | None] = {}
        for name in names:
            try:
                await do(name)
                done[name] = None
            except OstinatoError as problem:
                done[name] = problem
            if progress is not None:
                progress(len(done), len(names))
        return done

    # Internal

    def _call(self, name: str, verb: str, request: str | None, token: int | None = None, asked: str = "") -> edit.Call:
        context = self._context
        now = context.now()
        check_request_id(request)
        return edit.Call(
            namespace=context.namespace,
            name=name,
            verb=verb,
            request=request or call_id(),
            now=now,
            maker=context.checks.maker,
            new_id=lambda: context.new_id(now),
            token=token,
            actor=context.actor,
            asked=asked,
        )

    async def _prepare_and_run(
        self, prepare: Callable[[], Awaitable[Callable[[], Operation[edit.Answer]]]], call: edit.Call
    ) -> edit.Answer:
        """Call `prepare`, run the operation that it prepares, and return the answer of the operation. If `prepare`
        raises OstinatoError, this may be a repeated call. If an earlier call had the same request id, return the answer
        of the earlier call. Otherwise raise the error."""
        try:
            make = await prepare()
        except OstinatoError:
            answer = await edit.find_answer(self._context.store, call)
            if answer is None:
                raise
            return answer
        return await self._run(make, call)

    async def _run(self, make: Callable[[], Operation[edit.Answer]], call: edit.Call) -> edit.Answer:
        answer = await edit.run_once(self._context.store, call, make)
        self._context.nudge()
        return answer


def _count_times(spec: Spec, first: Micros, last: Micros) -> int:
    return sum(1 for _ in islice(spec.compiled.between(first, last), _MAX_COUNTED))


def _digest(schedule: Schedule) -> str:
    parts = [
        schedule.spec.to_json(),
        write_action(schedule.action),
        write_policies(schedule.policies),
        schedule.memo,
        schedule.tags,
    ]
    return dump([*parts, dict(schedule.attributes), schedule.remaining, schedule.notes, bool(schedule.paused)])


def _digest_of_part(part: Sequence[Schedule], count: int) -> str:
    """Return a digest of the drafts of one transaction and of how many drafts the whole call has."""
    return digest(count, [(one.name, _digest(one)) for one in part])


def _with_note(name: str, answer: edit.Answer, back: str) -> Changed:
    """Return the result of a change. If the answer has the origin of a declared schedule, the result has a note. `back`
    says in the note what the declaration will do."""
    origin = answer.get("origin")
    return Changed(name, answer["token"], note=None if origin is None else note_declared(origin, back))


def _create(call: edit.Call, drafts: Sequence[Schedule], trigger: bool = False) -> Operation[edit.Answer]:
    yield from call.maker.refuse_unfit(drafts)
    return (yield from edit.create(call, drafts, trigger=trigger))
