"""Create, renew, list and cancel bindings. A binding is a schedule that a journey makes with the task `schedule:v1`.

A binding starts its journey at a given state. Each run begins with the final context of the previous run. The context
may contain secrets, so it is stored only in the binding's row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

import orjson

from ostinato.engine.kinds import Kinds
from ostinato.engine.runs import stop_chain
from ostinato.errors import Conflict, NotFound
from ostinato.journeys.definitions import load_definition
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.advance import begin
from ostinato.journeys.machine.decision import Decision
from ostinato.journeys.rows import KIND, JourneyRecord, dump, run_id_of
from ostinato.journeys.settings import JourneyLimits
from ostinato.journeys.store import TABLES, statement
from ostinato.journeys.task_kind import TaskProblem
from ostinato.model import Json, Run, Status
from ostinato.schedules.actions import Maker
from ostinato.schedules.decisions.decide import ScheduleDecision, give_up
from ostinato.schedules.model import CatchUp, Memory, Overlap, Policies, Reason, Schedule, ScheduleAction, State
from ostinato.schedules.operations.edit import Answer, Call, delete, insert_schedules, save, with_next
from ostinato.schedules.operations.load import load_live_runs
from ostinato.schedules.operations.write import stopped_event, write_decisions
from ostinato.schedules.rows import closed_of, event_row, id_of, read_anyway
from ostinato.store.columns import writer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when import Spec, every
from ostinato.when.instants import Micros, to_datetime

EXISTS = "SCHEDULE_EXISTS"
TOO_MANY = "SCHEDULE_LIMIT"
# A due time that comes during a run waits until the run ends. Further due times are skipped, with a reason.
POLICIES = Policies(Overlap.BUFFER_ONE, CatchUp("latest"), manual_counts=True)


def maker(kinds: Kinds) -> Maker:
    """Return a `Maker` that knows no jobs. Use it only to change schedules, not to create runs."""
    return Maker(lambda name: None, run_kinds=kinds)


@dataclass(frozen=True, slots=True)
class Binding:
    """A row of the table of bindings.

    `last_context` is the context with which the next run begins, as JSON. It is the final context of the run that ended
    last. If no run has ended since the binding was created or renewed, it is the context that the task `schedule:v1`
    set. If the binding was read for a listing, `last_context` is empty.
    """

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
    generation: int
    state: str
    made_by: str | None
    created: Micros
    updated: Micros
    actor: str | None
    last_context: str = ""


# The row of a binding for `insert_bindings` and `change_bindings`.
binding_row = writer("id" if name == "schedule_id" else name for name in TABLES["binding"].columns)


@dataclass(frozen=True, slots=True)
class BindingInfo:
    """A binding as callers see it, without its context. `schedule` is the name of the schedule that starts the
    binding's runs."""

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
class BindingRequest:
    """The checked settings of a `schedule:v1` task. Calling this object creates or renews the binding."""

    id: str
    definition: Definition
    start: str
    start_at: Micros | None
    period: str
    max_runs: int
    subject: str | None
    context: Mapping[str, Json]
    on_existing: str
    limits: JourneyLimits

    @property
    def identity(self) -> dict[str, str]:
        name, version = self.definition.name, self.definition.version
        return {"definition": name, "version": version, "start": self.start, "subject": self.subject or ""}

    def __call__(self, run: Run, now: Micros, kinds: Kinds) -> Operation[list[Row] | TaskProblem]:
        """Create or renew the binding, in the transaction that advances `run`. Return the rows of the new events; the
        caller must insert them. If the binding cannot be created, for example because it would exceed a limit, return a
        `TaskProblem` instead. If an earlier attempt has created the binding, change nothing.

        If there are active bindings with the same identity (journey, version, start state and subject), `on_existing`
        decides:

        - `fail`: return a problem
        - `upsert`: renew the newest of the existing bindings
        - `addAnother`: create another binding
        """
        namespace = run.namespace
        yield statement("lock_identity", identity=dump([namespace, *self.identity.values()]))
        existing = yield from _open_bindings(namespace, self.identity)
        if any(one.id == self.id for one, _ in existing):
            return []  # an earlier attempt of this call created it
        if existing and self.on_existing == "fail":
            detail = f"journey {self.definition.name!r} has a schedule at {self.start!r} for this subject already"
            return TaskProblem(EXISTS, "The schedule exists already", detail)
        if existing and self.on_existing == "upsert":
            return (yield from _renew(self, *existing[0], now, kinds))
        problem = yield from self._limit_problem(namespace)
        return problem or (yield from _create(self, run, now))

    def _limit_problem(self, namespace: str) -> Operation[TaskProblem | None]:
        name, subject = self.definition.name, self.subject or ""
        rows = yield statement("count_bindings", namespace=namespace, definition=name, subject=subject)
        of_journey, of_subject = map(int, rows[0])
        if of_subject >= self.limits.bindings_of_subject:
            return _too_many("subject", of_subject)
        return _too_many("journey", of_journey) if of_journey >= self.limits.bindings_of_journey else None


def _too_many(whose: str, count: int) -> TaskProblem:
    return TaskProblem(TOO_MANY, "There are too many schedules", f"this {whose} has {count} already")


def _open_bindings(namespace: str, identity: Mapping[str, str]) -> Operation[list[tuple[Binding, Schedule]]]:
    """Lock and return the active bindings with this identity, each with its schedule, newest first."""
    rows = yield statement("same_bindings", namespace=namespace, **identity)
    bindings = [Binding(*row) for row in rows]
    if not bindings:
        return []
    rows = yield sql("lock_schedules", [(one.id,) for one in bindings])
    schedules = {schedule.id: schedule for schedule in map(read_anyway, rows)}
    pairs = [(one, schedules[one.id]) for one in bindings if one.id in schedules]
    return [(one, schedule) for one, schedule in pairs if schedule.state not in (State.CLOSED, State.COMPLETED)]


def _spec(period: str, start_at: Micros) -> Spec:
    return every(period, anchor=to_datetime(start_at))


def _restarted(schedule: Schedule, request: BindingRequest, start_at: Micros, now: Micros) -> Schedule:
    """Return a copy of `schedule` that runs with the period of `request`, and has `request.max_runs` runs left. If
    `start_at` is in the past, the copy runs at once for its latest due time, and skips the earlier due times."""
    spec = _spec(request.period, start_at)
    first = start_at if start_at > now else spec.compiled.previous(now + 1) or now
    begun = replace(
        schedule,
        spec=spec,
        remaining=request.max_runs,
        reached=min(first - 1, now),
        updated=min(first, now),
        state=State.RUNNING,
        reason=None,
    )
    return with_next(begun)


def _create(request: BindingRequest, run: Run, now: Micros) -> Operation[list[Row]]:
    definition = request.definition
    action = ScheduleAction(KIND, {KIND: definition.name, "binding": request.id, "generation": 1}, kind=KIND)
    start_at = now if request.start_at is None else request.start_at
    schedule = Schedule(
        request.id,
        f"{definition.name}.{request.id}",
        _spec(request.period, start_at),
        POLICIES,
        action,
        run.namespace,
        created=now,
        tags=("journey",),
        actor=run.actor,
    )
    schedule = _restarted(schedule, request, start_at, now)
    binding = Binding(
        request.id, run.namespace, definition.name, definition.version, request.start, request.subject, start_at,
        request.period, request.max_runs, 0, 1, "active", run.id, now, now, run.actor, dump(request.context),
    )  # fmt: skip
    yield statement("insert_bindings", [binding_row(binding)])
    yield sql("notify")
    return (yield from insert_schedules([schedule], now, run.actor))


def _renew(
    request: BindingRequest, binding: Binding, schedule: Schedule, now: Micros, kinds: Kinds
) -> Operation[list[Row]]:
    """Change a binding to the settings of the request. The count of runs restarts at 0, and the next run begins with
    the context of the request. Return the rows of the new events; the caller must insert them.

    - A run that has begun continues. The binding's next run does not get the final context of this run.
    - A run that has not begun is cancelled. If a node has already claimed this run, `begin_run` refuses to begin it.
    """
    start_at = now if request.start_at is None else request.start_at
    live = (yield from load_live_runs([schedule.id], hold=True))[schedule.id]
    decision = ScheduleDecision(replace(schedule, memory=replace(schedule.memory, waiting=0)))
    if waiting := [run for run in live if run.waiting]:
        give_up(decision, waiting, Reason.REPLACED)
    events = yield from write_decisions([decision], now, maker(kinds), save=False)
    fired = [run for run in live if not run.waiting and run.status is not Status.ACTIVE]
    rows = (yield statement("journeys_by_ids", [(run.root_id,) for run in fired])) if fired else []
    begun = set(map(run_id_of, rows))
    for run in fired:
        if run.root_id not in begun:  # no node holds it, and none can claim it before this commits
            stopped = yield from stop_chain(run.root_id, Status.CANCELLED, Reason.REPLACED, now, False, kinds)
            _, stop_events, ended = stopped
            events += stop_events
            events += [stopped_event(now, over.run, Reason.REPLACED, Status.CANCELLED) for over in ended]
    memory = Memory(decision.schedule.memory.counts, backfills=schedule.memory.backfills)
    after = _restarted(replace(decision.schedule, memory=memory), request, start_at, now)
    generation = binding.generation + 1
    action = replace(after.action, input={**after.action.input, "generation": generation})
    after = replace(after, action=action, token=after.token + 1)
    yield from save(after)
    renewed = replace(
        binding,
        start_at=start_at,
        period=request.period,
        max_runs=request.max_runs,
        runs_executed=0,
        last_context=dump(request.context),
        generation=generation,
        updated=now,
    )
    yield statement("change_bindings", [binding_row(renewed)])
    yield sql("notify")
    return [*events, event_row(now, after, "updated", spec=after.spec.to_json(), paused=bool(after.paused))]


class BindingReplaced(Conflict):
    """Raised if a run must not begin, because the binding that fired the run has been renewed since then."""


def begin_run(
    run: Run, id: str, now: Micros, fired_for: int | None = None
) -> Operation[tuple[Definition, Decision, int]]:
    """Begin the instance of `run`, which was fired by the binding whose id is `id`. Return (definition, first decision
    of the instance, generation of the binding). Each renewal of a binding increases its generation.

    `fired_for` is the generation that the binding had when it fired the run. If `fired_for` is None, the generation is
    not checked.

    Raise `NotFound` if the binding does not exist. Raise `BindingReplaced` if the binding no longer has the generation
    `fired_for`.
    """
    rows = yield statement("bindings_by_ids", [(id,)])
    if not rows:
        raise NotFound(f"there is no binding {id!r}")
    binding = Binding(*rows[0])
    if fired_for not in (None, binding.generation):
        raise BindingReplaced(f"binding {id!r} was renewed before this run began")
    definition = yield from load_definition(binding.namespace, binding.definition, binding.version)
    decision = begin(
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
    return definition, decision, binding.generation


def carry_context(ended: Sequence[JourneyRecord], now: Micros) -> Operation[None]:
    """Update the bindings that started the instances in `ended`. For each binding, count the ended runs, and store the
    final context of the run that ended last. The binding's next run begins with this context.

    - If the binding was renewed after a run began, this run is ignored.
    - If the binding is not active, all its runs are ignored.
    - If the schedule of the binding was deleted, the binding is only marked as cancelled.
    """
    runs: defaultdict[str | None, list[JourneyRecord]] = defaultdict(list)  # by binding, those that ended first first
    for record in sorted(ended, key=lambda record: record.finished or now):
        runs[record.binding].append(record)
    going: list[tuple[Binding, list[JourneyRecord]]] = []
    for row in (yield statement("lock_bindings", [(id,) for id in runs])):
        binding = Binding(*row)
        counted = [record for record in runs[binding.id] if record.generation == binding.generation]
        if binding.state == "active" and counted:
            going.append((binding, counted))
    if not going:
        return
    rows = yield sql("schedules_by_ids", [(binding.id,) for binding, _ in going])
    open = {id_of(row) for row in rows if closed_of(row) is None}
    after = [
        _count_runs(binding, counted, now) if binding.id in open else replace(binding, state="cancelled", updated=now)
        for binding, counted in going
    ]
    yield statement("change_bindings", list(map(binding_row, after)))


def _count_runs(binding: Binding, ended: Sequence[JourneyRecord], now: Micros) -> Binding:
    """Return a copy of the binding with the ended runs added to its count, and with the final context of the last of
    these runs. `ended` is sorted by the time at which the runs ended. If the count reaches `max_runs`, the state of the
    copy is `exhausted`."""
    done, context = binding.runs_executed + len(ended), dump(ended[-1].instance.context)
    state = "exhausted" if done >= binding.max_runs else "active"
    return replace(binding, runs_executed=done, last_context=context, state=state, updated=now)


def list_bindings(namespace: str, filters: Mapping[str, Json]) -> Operation[list[BindingInfo]]:
    rows = yield statement("list_bindings", namespace=namespace, **filters)
    return (yield from _infos([Binding(*row) for row in rows]))


def bindings_by_ids(ids: Sequence[str], namespace: str) -> Operation[list[BindingInfo]]:
    bindings = [Binding(*row) for row in (yield statement("bindings_by_ids", [(id,) for id in ids]))]
    return (yield from _infos([binding for binding in bindings if binding.namespace == namespace]))


def _infos(bindings: Sequence[Binding]) -> Operation[list[BindingInfo]]:
    if not bindings:
        return []
    rows = yield sql("schedules_by_ids", [(binding.id,) for binding in bindings])
    schedules = {schedule.id: schedule for schedule in map(read_anyway, rows)}
    return [binding_info(binding, schedules.get(binding.id)) for binding in bindings]


def cancel_binding(call: Call, id: str) -> Operation[Answer]:
    """Cancel a binding: delete its schedule and, if the binding is active, mark it as cancelled. An active run
    finishes, but its final context is not stored in the binding. Return the answer of the function `delete`, or an
    empty answer if the schedule does not exist."""
    answer: Answer = {}
    with suppress(NotFound):
        answer = yield from delete(call, "leave")
    rows = yield statement("lock_bindings", [(id,)])
    if rows and (binding := Binding(*rows[0])).state == "active":
        yield statement("change_bindings", [binding_row(replace(binding, state="cancelled", updated=call.now))])
    return answer


def binding_info(binding: Binding, schedule: Schedule | None) -> BindingInfo:
    """Return a binding as callers see it. `schedule` is None if the binding's schedule was deleted."""
    state = binding.state
    if schedule is not None and state == "active" and schedule.shown_state is not State.RUNNING:
        state = "cancelled" if schedule.closed is not None else schedule.shown_state.value
    return BindingInfo(
        id=binding.id,
        schedule=f"{binding.definition}.{binding.id}",
        journey=binding.definition,
        version=binding.version,
        start=binding.start,
        subject=binding.subject,
        start_at=to_datetime(binding.start_at),
        interval=binding.period,
        max_runs=binding.max_runs,
        runs_executed=binding.runs_executed,
        state=state,
        made_by=binding.made_by,
        created=to_datetime(binding.created),
        updated=to_datetime(binding.updated),
        next=None if schedule is None or schedule.next is None else to_datetime(schedule.next),
    )
