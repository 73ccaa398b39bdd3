"""What a journey has scheduled: a binding is a schedule whose action is the journey at a state, one run at a time, so
many runs at the most, each beginning with the context that the one before has left. Its context may hold tokens, so it
is in its own row alone: not in the schedule, not in a run's input, not in an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

import orjson

from ostinato.engine.runs import stop_chain
from ostinato.errors import Conflict, NotFound
from ostinato.journeys.language import Definition
from ostinato.journeys.library import load
from ostinato.journeys.machine.advance import begin
from ostinato.journeys.machine.decision import Decision
from ostinato.journeys.plugins import Problem
from ostinato.journeys.rows import Kept, dump
from ostinato.journeys.settings import Limits
from ostinato.model import Json, Run, Status
from ostinato.schedules.carrying import carry_out, live_of, stopped
from ostinato.schedules.decide import Decision as Decided
from ostinato.schedules.decide import give_up
from ostinato.schedules.making import JOURNEY, Maker
from ostinato.schedules.model import Action, CatchUp, Memory, Overlap, Policies, Reason, Schedule, State
from ostinato.schedules.rows import event_row, read_anyway
from ostinato.schedules.scheduler import Answer, Call, delete, put_on_record, save, with_next
from ostinato.store.contract import Operation, Row, sql
from ostinato.when import Spec, every
from ostinato.when.instants import Micros, to_datetime

EXISTS = "SCHEDULE_EXISTS"
TOO_MANY = "SCHEDULE_LIMIT"
# A time that comes while a run is going waits for its end; what comes besides is passed over, and says so.
POLICIES = Policies(Overlap.BUFFER_ONE, CatchUp("latest"), manual_counts=True)
MAKER = Maker(lambda name: None)


@dataclass(frozen=True, slots=True)
class Binding:
    """As it is on record."""

    id: str
    namespace: str
    definition: str
    version: str
    start: str
    subject: str | None
    start_at: Micros
    period: str
    max_runs: int
    runs_executed: int
    last_context: str
    generation: int
    state: str
    made_by: str | None
    created: Micros
    updated: Micros
    actor: str | None

    def changed(self) -> Row:
        """For `change_bindings`."""
        return (
            self.id, self.subject, self.start_at, self.period, self.max_runs, self.runs_executed, self.last_context,
            self.generation, self.state, self.updated,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class BindingInfo:
    """What people see of a binding; its context is not among it. `schedule` is the name of its schedule."""

    id: str
    schedule: str
    journey: str
    version: str
    start: str
    subject: str | None
    start_at: datetime
    interval: str
    max_runs: int
    runs_executed: int
    state: str
    made_by: str | None
    created: datetime
    updated: datetime
    next: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a task asks for, checked."""

    id: str
    definition: Definition
    start: str
    start_at: Micros | None
    period: str
    max_runs: int
    subject: str | None
    context: Mapping[str, Json]
    on_existing: str
    limits: Limits

    @property
    def identity(self) -> dict[str, str]:
        made = self.definition
        return {"definition": made.name, "version": made.version, "start": self.start, "subject": self.subject or ""}

    def __call__(self, run: Run, now: Micros) -> Operation[list[Row] | Problem]:
        """Part of the transaction that moves the run on."""
        namespace = run.namespace
        yield sql("lock_identity", identity=dump([namespace, *self.identity.values()]))
        there = yield from _open_bindings(namespace, self.identity)
        if any(one.id == self.id for one, _ in there):
            return []  # an earlier try of this very call
        if there and self.on_existing == "fail":
            detail = f"journey {self.definition.name!r} has a schedule at {self.start!r} for this subject already"
            return Problem(EXISTS, "The schedule exists already", detail)
        if there and self.on_existing == "upsert":
            return (yield from _renew(self, *there[0], now))
        problem = yield from self._beyond(namespace)
        return problem or (yield from _make(self, run, now))

    def _beyond(self, namespace: str) -> Operation[Problem | None]:
        rows = yield sql(
            "count_bindings", namespace=namespace, definition=self.definition.name, subject=self.subject or ""
        )
        of_journey, of_subject = map(int, rows[0])
        if of_journey < self.limits.bindings_of_journey and of_subject < self.limits.bindings_of_subject:
            return None
        many, whose = (
            (of_subject, "subject") if of_subject >= self.limits.bindings_of_subject else (of_journey, "journey")
        )
        return Problem(TOO_MANY, "There are too many schedules", f"this {whose} has {many} already")


def _open_bindings(namespace: str, identity: Mapping[str, str]) -> Operation[list[tuple[Binding, Schedule]]]:
    """The active ones of an identity with their schedules, which are locked, latest made first."""
    rows = yield sql("same_bindings", namespace=namespace, **identity)
    found = [Binding(*row) for row in rows]
    if not found:
        return []
    schedules = {row[0]: read_anyway(row) for row in (yield sql("lock_schedules", [(one.id,) for one in found]))}
    pairs = [(one, schedules[one.id]) for one in found if one.id in schedules]
    return [(one, schedule) for one, schedule in pairs if schedule.state not in (State.CLOSED, State.COMPLETED)]


def _spec(period: str, start_at: Micros) -> Spec:
    return every(period, anchor=to_datetime(start_at))


def _begun(schedule: Schedule, wanted: Wanted, start_at: Micros, now: Micros) -> Schedule:
    """The schedule from its beginning on. One that lies in the past begins with its latest time, at once: the times
    before that were never due, since nobody had asked for them."""
    spec = _spec(wanted.period, start_at)
    first = start_at if start_at > now else spec.compiled.previous(now + 1) or now
    begun = replace(
        schedule,
        spec=spec,
        remaining=wanted.max_runs,
        reached=min(first - 1, now),
        updated=min(first, now),
        state=State.RUNNING,
        reason=None,
    )
    return with_next(begun)


def _make(wanted: Wanted, run: Run, now: Micros) -> Operation[list[Row]]:
    made = wanted.definition
    action = Action(JOURNEY, {JOURNEY: made.name, "binding": wanted.id, "generation": 1})
    start_at = now if wanted.start_at is None else wanted.start_at
    schedule = Schedule(
        wanted.id,
        f"{made.name}.{wanted.id}",
        _spec(wanted.period, start_at),
        POLICIES,
        action,
        run.namespace,
        created=now,
        tags=("journey",),
        actor=run.actor,
    )
    schedule = _begun(schedule, wanted, start_at, now)
    binding = Binding(
        wanted.id, run.namespace, made.name, made.version, wanted.start, wanted.subject, start_at, wanted.period,
        wanted.max_runs, 0, dump(wanted.context), 1, "active", run.id, now, now, run.actor,
    )  # fmt: skip
    yield sql("insert_bindings", [tuple(getattr(binding, name) for name in Binding.__slots__)])
    yield sql("notify")
    return (yield from put_on_record([schedule], now, run.actor))


def _renew(wanted: Wanted, binding: Binding, schedule: Schedule, now: Micros) -> Operation[list[Row]]:
    """The binding as it is wanted now: it counts its runs anew, and what a run that is going leaves is not carried."""
    start_at = now if wanted.start_at is None else wanted.start_at
    live = (yield from live_of([schedule.id], hold=True))[schedule.id]
    decision = Decided(replace(schedule, memory=replace(schedule.memory, waiting=0)))
    if waiting := [one for one in live if one.waiting]:
        give_up(decision, waiting, Reason.REPLACED)
    events = yield from carry_out([decision], now, MAKER, save=False)
    fired = [one for one in live if not one.waiting and one.status is not Status.ACTIVE]
    begun = {row[0] for row in (yield sql("journeys_by_ids", [(one.root_id,) for one in fired]))} if fired else set()
    for one in fired:
        if one.root_id not in begun:  # no node has it, and none takes it before this is committed
            _, told, ended = yield from stop_chain(one.root_id, Status.CANCELLED, Reason.REPLACED, now, False)
            events += told
            events += [stopped(now, over.run, Reason.REPLACED, Status.CANCELLED) for over in ended]
    memory = Memory(decision.schedule.memory.counts, backfills=schedule.memory.backfills)
    after = _begun(replace(decision.schedule, memory=memory), wanted, start_at, now)
    generation = binding.generation + 1
    action = replace(after.action, input={**after.action.input, "generation": generation})
    after = replace(after, action=action, token=after.token + 1)
    yield from save(after)
    renewed = replace(
        binding,
        start_at=start_at,
        period=wanted.period,
        max_runs=wanted.max_runs,
        runs_executed=0,
        last_context=dump(wanted.context),
        generation=generation,
        updated=now,
    )
    yield sql("change_bindings", [renewed.changed()])
    yield sql("notify")
    return [*events, event_row(now, after, "updated", spec=after.spec.to_json(), paused=bool(after.paused))]


class Replaced(Conflict):
    """The binding was renewed after this run was fired and before it began: it belongs to what is no more."""


def first_run(
    run: Run, id: str, now: Micros, fired_for: int | None = None
) -> Operation[tuple[Definition, Decision, int]]:
    """What a binding's run begins with, and the generation of that. `fired_for` is the generation that it was fired
    for, where that is known; raises `Replaced` if the binding has another by now, which counts its own runs."""
    rows = yield sql("bindings_by_ids", [(id,)])
    if not rows:
        raise NotFound(f"there is no binding {id!r}")
    binding = Binding(*rows[0])
    if fired_for not in (None, binding.generation):
        raise Replaced(f"binding {id!r} was renewed before this run of it began; the renewed one has runs of its own")
    definition = yield from load(binding.namespace, binding.definition, binding.version)
    decided = begin(
        definition,
        run.id,
        orjson.loads(binding.last_context),
        now,
        accepted=run.created,
        start=binding.start,
        tags=definition.metadata.tags,
        attributes={} if binding.subject is None else {"subjectId": binding.subject},
        scheduled=True,
    )
    return definition, decided, binding.generation


def carry(ended: Sequence[Kept], now: Micros) -> Operation[None]:
    """Runs of bindings are over, however: each counts, and the next begins with what it leaves; unless the binding was
    renewed or cancelled since it began."""
    left = {one.binding: one for one in ended}
    bindings = [Binding(*row) for row in (yield sql("lock_bindings", [(id,) for id in left]))]
    going = [one for one in bindings if one.state == "active" and one.generation == left[one.id].generation]
    if not going:
        return
    rows = yield sql("schedules_by_ids", [(one.id,) for one in going])
    open = {row[0] for row in rows if row[23] is None}
    after = []
    for one in going:
        if one.id not in open:
            after.append(replace(one, state="cancelled", updated=now))
            continue
        done, context = one.runs_executed + 1, dump(left[one.id].instance.context)
        state = "exhausted" if done >= one.max_runs else "active"
        after.append(replace(one, runs_executed=done, last_context=context, state=state, updated=now))
    yield sql("change_bindings", [one.changed() for one in after])


def listed(namespace: str, given: Mapping[str, Json]) -> Operation[list[BindingInfo]]:
    return (yield from _seen((yield sql("list_bindings", namespace=namespace, **given))))


def bindings_of(ids: Sequence[str], namespace: str) -> Operation[list[BindingInfo]]:
    rows = yield sql("bindings_by_ids", [(id,) for id in ids])
    # Without the context, as a list has them.
    return (yield from _seen([(*row[:10], *row[11:]) for row in rows if row[1] == namespace]))


def _seen(rows: Sequence[Row]) -> Operation[list[BindingInfo]]:
    if not rows:
        return []
    there = {row[0]: read_anyway(row) for row in (yield sql("schedules_by_ids", [(row[0],) for row in rows]))}
    return [binding_info(row, there.get(row[0])) for row in rows]


def cancel(call: Call, id: str) -> Operation[Answer]:
    """No more runs; one that is going finishes, and leaves nothing. One that is cancelled stays so."""
    answer: Answer = {}
    with suppress(NotFound):
        answer = yield from delete(call, "leave")
    rows = yield sql("lock_bindings", [(id,)])
    if rows and (binding := Binding(*rows[0])).state == "active":
        yield sql("change_bindings", [replace(binding, state="cancelled", updated=call.now).changed()])
    return answer


def binding_info(row: Row, schedule: Schedule | None) -> BindingInfo:
    """From `list_bindings`, and the schedule of it."""
    id, _, journey, version, start, subject, start_at, period, most, done, _, state, made_by, created, updated, _ = row
    if schedule is not None and state == "active" and schedule.standing is not State.RUNNING:
        state = "cancelled" if schedule.closed is not None else schedule.standing.value
    following = None if schedule is None or schedule.next is None else to_datetime(schedule.next)
    return BindingInfo(
        id, f"{journey}.{id}", journey, version, start, subject, to_datetime(start_at), period, most, done,
        state, made_by, to_datetime(created), to_datetime(updated), following,
    )  # fmt: skip
