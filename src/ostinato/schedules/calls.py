"""`app.schedules`: every call that users make about schedules. It checks what is given, makes the operation, and says
what came of it; what the operations do is decided in the modules beside this one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Unpack

import orjson

from ostinato.engine.requests import Unkept, call_id, digest
from ostinato.errors import OstinatoError, missing_attribute
from ostinato.schedules import scheduler
from ostinato.schedules.applying import Moved, applied, planned
from ostinato.schedules.backfiller import Backfill
from ostinato.schedules.declared import Plan, as_wanted
from ostinato.schedules.define import (
    ActionLike,
    ScheduleChanges,
    ScheduleOptions,
    SpecLike,
    define,
    read_name,
    read_notes,
    same_definition,
)
from ostinato.schedules.files import Document, checked_drafts, dump_schedules, entry
from ostinato.schedules.looks import Looks, Moment
from ostinato.schedules.model import Overlap, OverlapName, Schedule, State, read_catchup, read_overlap
from ostinato.schedules.rows import dump, read_anyway, write_action, write_policies
from ostinato.schedules.targets import refuse_unfit
from ostinato.schedules.views import (
    Lateness,
)
from ostinato.store.contract import Operation, sql
from ostinato.when import Spec, manual
from ostinato.when.instants import Micros, on_clock, read_instant

_PAGE = 500
_COUNTED = 1_000_000
_COUNTED_HERE = 1_000
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Changed:
    """The answer to a change: the conflict token to go on with. Some calls say more."""

    name: str
    token: int
    run: Mapping[str, Any] | None = None
    backfill: str | None = None
    lateness: Lateness = field(default_factory=Lateness)


class Schedules(Looks):
    """Create, read, change and watch schedules. Every change takes `token`, to be refused if the schedule is not as the
    caller knows it, and `request_id`, to be done once however often it is called."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing_attribute(self, "app.schedules", name)

    # Creating and changing

    async def create(
        self,
        name: str,
        spec: SpecLike | None = None,
        action: ActionLike | None = None,
        *,
        paused: bool = False,
        trigger: bool = False,
        request_id: str | None = None,
        **given: Unpack[ScheduleOptions],
    ) -> Changed:
        """A new schedule: when (`spec`), what (`action`), and how: overlap, catchup, pause_after_failures, max_buffer,
        keep, remaining, notes, memo, tags, attributes; input and options for the job. With `trigger` it runs now."""
        made = self.draft(name, spec, action, paused=paused, **given)
        call = self._call(made.name, "create", request_id, asked=digest(_digest(made), trigger))
        answer = await self._run(lambda: _create(call, [made], trigger), call)
        return Changed(made.name, answer["token"], answer.get("run"))

    async def create_many(self, drafts: Sequence[Schedule], *, request_id: str | None = None) -> int:
        """Many schedules, made with `draft`, in as few transactions as may be. Each transaction is all or nothing."""
        for begin in range(0, len(drafts), _PAGE):
            part = drafts[begin : begin + _PAGE]
            own = None if request_id is None else f"{request_id}/{begin}"
            call = self._call(f"{len(part)} schedules", "create_many", own, asked=digest([one.name for one in part]))
            await self._run(lambda call=call, part=part: _create(call, part), call)  # type: ignore[misc]
        return len(drafts)

    def draft(
        self,
        name: str,
        spec: SpecLike | None = None,
        action: ActionLike | None = None,
        *,
        paused: bool = False,
        origin: str | None = None,
        **given: Any,
    ) -> Schedule:
        """A schedule that is not on record: to be simulated, or created with others."""
        around = self._around
        now = around.now()
        if action is None and "action" not in given:
            raise OstinatoError(f"schedule {name!r} has no action; name a job, or give {{'http': …}}")
        base = Schedule(around.new_id(now), read_name(name), manual(), namespace=around.namespace, origin=origin)
        whole = {**given, **({} if spec is None else {"spec": spec}), **({} if action is None else {"action": action})}
        made = define(base, whole, around.doors)
        return replace(made, paused=now if paused else None, reached=now, updated=now, created=now)

    async def upsert(
        self,
        name: str,
        spec: SpecLike | None = None,
        action: ActionLike | None = None,
        *,
        origin: str | None = None,
        request_id: str | None = None,
        **given: Unpack[ScheduleOptions],
    ) -> tuple[str, Changed]:
        """Create it, or make it as given: what is not given is as it would be for a new one. Returns what was done,
        `created`, `updated` or `unchanged`. Its place in time, its counts and whether it is paused stay."""
        wanted = self.draft(name, spec, action, origin=origin, **given)
        call = self._call(wanted.name, "upsert", request_id, asked=digest(_digest(wanted)))

        def put() -> Operation[scheduler.Answer]:
            found = yield sql("schedule_by_name", namespace=call.namespace, name=call.name)
            if not found:
                try:
                    return {**(yield from scheduler.create(call, [wanted])), "done": "created"}
                except scheduler.AlreadyExists:
                    found = yield sql("schedule_by_name", namespace=call.namespace, name=call.name)
            (row,) = yield sql("lock_schedules", [(found[0][0],)])  # compared with what it is, not with what it was
            there = read_anyway(row)
            same = same_definition(there, wanted) and there.origin == wanted.origin
            if same and there.state is not State.PARKED:  # one that is parked is mended by it
                return {"token": there.token, "done": "unchanged"}
            return {
                **(yield from scheduler.update(call, lambda one: as_wanted(one, wanted), mends=True)),
                "done": "updated",
            }

        answer = await self._run(put, call)
        return answer["done"], Changed(wanted.name, answer["token"])

    async def update(
        self, name: str, *, token: int | None = None, request_id: str | None = None, **given: Unpack[ScheduleChanges]
    ) -> Changed:
        """Change what is given, leave the rest. No time comes twice by it, and none is lost."""
        around = self._around
        if not given:
            raise OstinatoError("update changes nothing; give spec, action, input, overlap, catchup, remaining …")
        if "paused" in given:
            raise OstinatoError("paused is not changed by an update; use pause() and resume()")
        mends = "spec" in given and "action" in given
        call = self._call(name, "update", request_id, token, digest(given))
        named = []
        if "action" in given:
            input: ScheduleOptions = {"input": given["input"]} if "input" in given else {}
            named = [self.draft(name, action=given["action"], **input)]

        def put() -> Operation[scheduler.Answer]:
            yield from refuse_unfit(around.doors.maker, named)
            return (yield from scheduler.update(call, lambda one: define(one, given, around.doors), mends=mends))

        return Changed(name, (await self._run(put, call))["token"])

    async def pause(
        self, name: str, note: str = "", *, token: int | None = None, request_id: str | None = None
    ) -> Changed:
        """No automatic run until it is resumed. What runs, runs on."""
        read_notes(note)
        call = self._call(name, "pause", request_id, token, digest(note))
        return Changed(name, (await self._run(lambda: scheduler.pause(call, note), call))["token"])

    async def resume(
        self,
        name: str,
        note: str = "",
        *,
        catchup: Any = None,
        token: int | None = None,
        request_id: str | None = None,
    ) -> Changed:
        """Let it run again. Times that passed meanwhile are passed over, unless `catchup` says otherwise: `"latest"`,
        `"all"`, a window such as `"1h"`. The answer's `lateness` says how many there were and how many run."""
        read_notes(note)
        policy = None if catchup is None else read_catchup(catchup)
        call = self._call(name, "resume", request_id, token, digest(note, catchup))
        answer = await self._run(lambda: scheduler.resume(call, note, policy), call)
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
        """Run it now, perhaps with another input. The answer's `run` says whether it started, waits or was skipped."""
        policy = None if overlap is None else read_overlap(overlap)
        call = self._call(name, "trigger", request_id, token, digest(input, overlap))
        answer = await self._run(lambda: scheduler.trigger(call, policy, input), call)
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
        """Run its times from `first` to `last`, both included, now; at most `rate` in a second. A time that is still
        to come is refused: the clock brings it anyway."""
        begin, end = read_instant(first, "first"), read_instant(last, "last")
        schedule = await self._get(name)
        _check_past(schedule, begin, end, self._around.now())
        one = await self._backfill(schedule, begin, end, overlap, input, rate)
        call = self._call(name, "backfill", request_id, token, digest(begin, end, overlap, input, rate))
        answer = await self._run(lambda: scheduler.backfill(call, one), call)
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
        around = self._around
        if last < first:
            zone = schedule.spec.tzinfo
            raise OstinatoError(f"a backfill from {on_clock(first, zone)} cannot end at {on_clock(last, zone)}")
        if rate is not None and not 0 < rate <= 1_000_000:
            raise OstinatoError(f"rate {rate!r} is not a number of occurrences in a second")
        if input is not None:
            around.doors.maker.check_input(schedule, input)
        total = len(await self._each(islice(schedule.spec.compiled.between(first, last), _COUNTED_HERE)))
        if total == _COUNTED_HERE:
            total = await around.computing.call(around.namespace, _count_times, schedule.spec, first, last)
        now = around.now()
        return Backfill(
            id=around.new_id(now),
            namespace=around.namespace,
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
            actor=around.actor,
        )

    async def pause_backfill(self, name: str, id: str, *, request_id: str | None = None) -> Changed:
        return await self._turn(name, id, "paused", request_id)

    async def resume_backfill(self, name: str, id: str, *, request_id: str | None = None) -> Changed:
        return await self._turn(name, id, "running", request_id)

    async def cancel_backfill(self, name: str, id: str, reason: str = "", *, request_id: str | None = None) -> Changed:
        """Make no more of its times; those that wait are given up, those that run run on."""
        return await self._turn(name, id, "cancelled", request_id, reason or "cancelled")

    async def _turn(self, name: str, id: str, state: str, request: str | None, reason: str | None = None) -> Changed:
        call = self._call(name, f"backfill {state}", request, asked=f"{id} {digest(reason)}")
        answer = await self._run(lambda: scheduler.turn_backfill(call, id, state, reason), call)
        return Changed(name, answer["token"], backfill=id)

    async def skip(self, name: str, at: Moment, *, token: int | None = None, request_id: str | None = None) -> Changed:
        """Leave out exactly one coming occurrence, by its nominal time."""
        nominal = read_instant(at, "at")
        call = self._call(name, "skip", request_id, token, str(nominal))
        return Changed(name, (await self._run(lambda: scheduler.leave_out(call, nominal), call))["token"])

    async def move(
        self, name: str, at: Moment, to: Moment, *, token: int | None = None, request_id: str | None = None
    ) -> Changed:
        """Move exactly one coming occurrence, between its neighbours. Its nominal time stays `at`."""
        nominal, moment = read_instant(at, "at"), read_instant(to, "to")
        call = self._call(name, "move", request_id, token, f"{nominal} {moment}")
        return Changed(name, (await self._run(lambda: scheduler.move(call, nominal, moment), call))["token"])

    async def put_back(
        self, name: str, at: Moment, *, token: int | None = None, request_id: str | None = None
    ) -> Changed:
        """Take back a skip or a move of one coming occurrence, by its nominal time."""
        nominal = read_instant(at, "at")
        call = self._call(name, "put_back", request_id, token, str(nominal))
        return Changed(name, (await self._run(lambda: scheduler.put_back(call, nominal), call))["token"])

    async def delete(
        self, name: str, *, running: str = "leave", token: int | None = None, request_id: str | None = None
    ) -> Changed:
        """Close it; its record stays for as long as runs are kept. `running`: leave, cancel or terminate."""
        if running not in ("leave", "cancel", "terminate"):
            raise OstinatoError(f"running {running!r} is unknown; use 'leave', 'cancel' or 'terminate'")
        call = self._call(name, "delete", request_id, token, running)
        return Changed(name, (await self._run(lambda: scheduler.delete(call, running), call))["token"])

    # Declared as a whole

    def declared(self) -> list[Schedule]:
        """What the code of this app declares with `@app.schedule`, as drafts."""
        return self._around.declarations.drafts(self.draft)

    async def plan(
        self,
        wanted: Sequence[Schedule] | Document | None = None,
        *,
        prune: bool = False,
        take: bool = False,
        origin: str | None = None,
    ) -> Plan:
        """What `apply` would do. `wanted` is a file that was read, a list of drafts, or else what the code declares."""
        drafts, origins = await self._wanted(wanted, origin)
        call = self._call(f"{len(drafts)} schedules", "plan", None)
        plan = await self._around.store.read(lambda _: planned(call, drafts, origins, prune=prune, take=take))
        return replace(plan, notes=self._odd(drafts))

    async def apply(
        self,
        wanted: Sequence[Schedule] | Document | None = None,
        *,
        prune: bool = False,
        take: bool = False,
        leave_taken: bool = False,
        origin: str | None = None,
    ) -> Plan:
        """Make the store say what is wanted, in one transaction; returns what was done. With `prune`, what the same
        origin declared before and declares no longer is closed. What another origin declares is a reason to do nothing,
        unless `take` makes it ours or `leave_taken` passes it over."""
        drafts, origins = await self._wanted(wanted, origin)
        plan: Plan | None = None
        for tries in range(1, _TRIES + 1):
            call = self._call(f"{len(drafts)} schedules", "apply", None)
            work = partial(applied, call, drafts, origins, prune=prune, take=take, leave_taken=leave_taken)
            unkept: Unkept[Plan] = Unkept(call.namespace, "apply", call.now)
            try:
                plan = await self._around.store.run(lambda _, work=work, unkept=unkept: unkept.once(work()))  # type: ignore[misc]
                break
            except Moved:
                if tries == _TRIES:
                    raise
        assert plan is not None
        self._around.nudge()
        return replace(plan, notes=self._odd(drafts))

    async def export(self, *, match: str = "*", tag: str | None = None, form: str = "yaml") -> str:
        """Schedules as a file that `apply` takes, `yaml` or `json`: their definitions, what remains of them, and which
        are paused."""
        return dump_schedules([one async for one in self._matching(match, tag, None, None)], form=form)

    async def entries(
        self, *, match: str = "*", tag: str | None = None, after: str = "", limit: int = 100
    ) -> dict[str, dict[str, Any]]:
        """A page of what such a file says: by name, from the one after `after` on."""
        found: list[Schedule] = []
        async for one in self._matching(match, tag, None, None, after, limit):
            found.append(one)
            if len(found) == limit:
                break
        return dict(await self._each((one.name, entry(one)) for one in found))

    async def _wanted(
        self, wanted: Sequence[Schedule] | Document | None, origin: str | None
    ) -> tuple[list[Schedule], set[str]]:
        if wanted is None:
            drafts, origin = self.declared(), origin or self._around.declarations.origin
        elif isinstance(wanted, Document):
            drafts, origin = await self._drafts(wanted), origin or wanted.origin
        else:
            drafts = list(wanted)
        twice = [name for name, count in Counter(one.name for one in drafts).items() if count > 1]
        if twice:
            raise OstinatoError(f"schedule {twice[0]!r} is wanted twice; give one of them another name")
        if origin is not None:
            drafts = [replace(one, origin=origin) for one in drafts]
        origins = {one.origin for one in drafts if one.origin is not None} | ({origin} if origin else set())
        return drafts, origins

    async def _drafts(self, document: Document) -> list[Schedule]:
        return checked_drafts(await self._each(document.each_draft(self.draft)))

    def _odd(self, drafts: Sequence[Schedule]) -> tuple[str, ...]:
        knows = self._around.doors.maker.knows
        jobs = sorted({one.action.job for one in drafts if not knows(one.action.job)})
        unknown = [f"no node has declared the job {job!r} yet; its runs wait until one does" for job in jobs]
        return (*unknown, *(f"{one.name}: {warning}" for one in drafts for warning in one.spec.check()))

    # Many at once

    async def each(
        self,
        do: Callable[[str], Awaitable[Any]],
        *,
        match: str = "*",
        tag: str | None = None,
        state: str | None = None,
        job: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Exception | None]:
        """Do something with every schedule that fits: `await app.schedules.each(app.schedules.pause, tag="billing")`.
        Returns, by name, what went wrong, or None."""
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

    # Inside

    def _call(
        self, name: str, verb: str, request: str | None, token: int | None = None, asked: str = ""
    ) -> scheduler.Call:
        around = self._around
        now = around.now()
        if request is not None and not 0 < len(request) <= 1000:
            raise OstinatoError(f"the request id {request!r} is not a text of 1 to 1000 characters")
        return scheduler.Call(
            namespace=around.namespace,
            name=name,
            verb=verb,
            request=request or call_id(),
            now=now,
            maker=around.doors.maker,
            new_id=lambda: around.new_id(now),
            token=token,
            actor=around.actor,
            asked=asked,
        )

    async def _run(self, make: Callable[[], Operation[scheduler.Answer]], call: scheduler.Call) -> scheduler.Answer:
        answer = await self._around.store.run(lambda _: scheduler.once(call, make()))
        self._around.nudge()
        return answer


def _check_past(schedule: Schedule, first: Micros, last: Micros, now: Micros) -> None:
    coming = next(iter(schedule.spec.compiled.between(max(first, now + 1), last)), None)
    if coming is not None:
        zone = schedule.spec.tzinfo
        raise OstinatoError(
            f"a backfill to {on_clock(last, zone)} has times that are still to come, from {on_clock(coming, zone)} on: "
            f"the schedule runs those itself; end it at {on_clock(now, zone)} or before, or trigger the schedule"
        )


def _count_times(spec: Spec, first: Micros, last: Micros) -> int:
    return sum(1 for _ in islice(spec.compiled.between(first, last), _COUNTED))


def _digest(one: Schedule) -> str:
    said = [one.spec.to_json(), write_action(one.action), write_policies(one.policies), one.memo, one.tags]
    return dump([*said, dict(one.attributes), one.remaining, one.notes, bool(one.paused)])


def _create(call: scheduler.Call, made: Sequence[Schedule], trigger: bool = False) -> Operation[scheduler.Answer]:
    yield from refuse_unfit(call.maker, made)
    return (yield from scheduler.create(call, made, trigger=trigger))
