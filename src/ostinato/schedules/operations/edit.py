"""Edit schedules: every change that a user's call makes. Each call is one transaction on the locked row of a schedule.
A repeated request id returns the stored answer, and an outdated conflict token is refused.

Before a new spec takes effect, the due times are processed by the old spec, so that an edit neither repeats nor loses a
time. All other edits leave due times to the beat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ostinato.engine import idempotency
from ostinato.engine.rows import timer_row
from ostinato.engine.runs import stop_chain
from ostinato.errors import Conflict, NotFound, OstinatoError
from ostinato.model import Status
from ostinato.schedules.actions import Maker
from ostinato.schedules.decisions.decide import Decision, Live, advance, decide, give_up, idle, pass_over
from ostinato.schedules.decisions.due_times import generate, next_time, nominal_of, occurrence, pending
from ostinato.schedules.model import GRACE, CatchUp, Occurrence, Overlap, Reason, Schedule, State
from ostinato.schedules.operations import backfills
from ostinato.schedules.operations.backfills import Backfill, read_backfill
from ostinato.schedules.operations.load import load_live_runs
from ostinato.schedules.operations.search import relabel
from ostinato.schedules.operations.write import next_timer, stopped_event, write_decisions
from ostinato.schedules.rows import (
    advance_row,
    closed_of,
    event_row,
    id_of,
    insert_schedule_row,
    not_found,
    read_anyway,
    read_schedule,
)
from ostinato.store.contract import PAUSE, Operation, Row, Store, sql, with_pauses
from ostinato.when import rules_in_force
from ostinato.when.instants import SECOND, Micros, on_clock

Answer: TypeAlias = dict[str, Any]
_MAX_TIMES = 1_000_000
_BATCH = 200


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a user. Calls with the same `request` id are done once. With a `token`, the call is refused unless it
    is the schedule's conflict token. `asked` identifies the arguments, so that a request id cannot be used again for
    others."""

    namespace: str
    name: str
    verb: str
    request: str
    now: Micros
    maker: Maker
    new_id: Callable[[], str]
    token: int | None = None
    actor: str | None = None
    asked: str = ""


class TokenMismatch(Conflict):
    """Raised if the schedule has changed since the caller read it. `current` is its present token."""

    def __init__(self, name: str, expected: int, current: int) -> None:
        super().__init__(
            f"schedule {name!r} has changed: the conflict token given is {expected}, the current one is {current}; "
            "read it again and decide again"
        )
        self.current = current


async def run_once(store: Store, call: Call, work: Callable[[], Operation[Answer]]) -> Answer:
    """Run a call's change once per request id."""
    return await idempotency.run_once(store, call.namespace, call.request, _summary(call), call.now, work)


async def find_answer(store: Store, call: Call) -> Answer | None:
    """Return the answer of an earlier call with the same request id, or None. Raises Conflict if that was another
    call."""
    answer: Answer | None = await store.read(
        lambda _: idempotency.find_answer(call.namespace, call.request, _summary(call))
    )
    return answer


def _summary(call: Call) -> str:
    return f"{call.verb} {call.name} {call.asked}"


def create(call: Call, schedules: Sequence[Schedule], *, trigger: bool = False) -> Operation[Answer]:
    """Create schedules, all or none. With `trigger`, run the first one now. Raises AlreadyExists if a name is taken."""
    rules = rules_in_force().version

    def initial(draft: Schedule) -> Schedule:
        schedule = replace(
            draft, reached=call.now, updated=call.now, created=call.now, zone_rules=rules, actor=call.actor
        )
        schedule = replace(schedule, next=None if schedule.paused else next_time(schedule))
        return replace(schedule, state=State.COMPLETED) if idle(schedule) else schedule

    created = yield from with_pauses(map(initial, schedules))
    events = yield from insert_schedules(created, call.now, call.actor)
    answer: Answer = {"ids": [one.id for one in created], "token": created[0].token if created else 1}
    if trigger:
        after, trigger_events, run = yield from _trigger(call, created[0], [], None, None)
        yield sql("replace_schedules", [insert_schedule_row(after)])
        events += trigger_events
        answer |= {"token": after.token, "run": run}
    yield sql("notify")
    yield sql("insert_events", events)
    return answer


def insert_schedules(schedules: Sequence[Schedule], now: Micros, actor: str | None) -> Operation[list[Row]]:
    """Insert new schedules, their labels and timers. Returns events to write; raises AlreadyExists."""
    rows = yield from with_pauses(map(insert_schedule_row, schedules))
    inserted = {id for (id,) in (yield sql("insert_schedules", rows))}
    taken = [one.name for one in schedules if one.id not in inserted]
    if taken:
        raise AlreadyExists(taken[0])
    labels = [row for one in schedules for row in relabel(None, one)[1]]
    if labels:
        yield sql("label_schedules", labels)
    timers = [timer_row(next_timer(one, one.next)) for one in schedules if one.next is not None]
    if timers:
        yield sql("set_timers", timers)
    events = yield from with_pauses(event_row(now, one, "created", actor, spec=one.spec.to_json()) for one in schedules)
    return events + [event_row(now, one, "completed", actor) for one in schedules if one.state is State.COMPLETED]


class AlreadyExists(Conflict):
    def __init__(self, name: str) -> None:
        super().__init__(f"schedule {name!r} exists already; update it instead, or take another name")
        self.name = name


Edit: TypeAlias = Callable[[Schedule, list[Live]], Operation[tuple[Schedule, list[Row], Answer]]]


def change(call: Call, edit: Edit, *, repairs: bool = False) -> Operation[Answer]:
    """Apply an edit to one schedule. With `repairs`, the schedule may be unreadable, because the edit replaces the part
    that cannot be read."""
    schedule = yield from load_locked(call, repairs)
    live = (yield from load_live_runs([schedule.id], hold=True))[schedule.id]
    after, events, answer = yield from edit(schedule, live)
    yield PAUSE
    if schedule.state is State.PARKED and after.state is State.RUNNING:
        after, unpark_events = yield from _unpark(call, after)
        events += unpark_events
    if idle(after) and not (yield from load_live_runs([after.id]))[after.id]:
        after = replace(after, state=State.COMPLETED)
        if schedule.state is not State.COMPLETED:
            events.append(event_row(call.now, after, "completed", call.actor))
    after = replace(after, token=max(after.token, schedule.token) + 1)
    yield from save(after)
    gone, come = relabel(schedule, after)
    if gone:
        yield sql("unlabel_schedules", gone)
    if come:
        yield sql("label_schedules", come)
    yield sql("notify")
    yield sql("insert_events", events)
    return {"id": after.id, "token": after.token, **answer}


def _unpark(call: Call, schedule: Schedule) -> Operation[tuple[Schedule, list[Row]]]:
    """Resume a schedule that was parked: start its backfills, and the runs that waited for a run that has ended.
    Returns the schedule afterwards, and events to write."""
    live = (yield from load_live_runs([schedule.id], hold=True))[schedule.id]
    decision = decide(schedule, live, [], call.now, call.new_id)
    events = yield from write_decisions([decision], call.now, call.maker, save=False)
    rows = yield sql("running_backfills", schedule=schedule.id)
    if rows:
        yield sql("set_timers", [timer_row(read_backfill(row).timer._replace(due=call.now)) for row in rows])
    return decision.schedule, events


def save(schedule: Schedule) -> Operation[None]:
    yield sql("replace_schedules", [insert_schedule_row(schedule)])
    if schedule.next is not None:
        yield sql("set_timers", [timer_row(next_timer(schedule, schedule.next))])
    else:
        yield sql("drop_timers", [("schedule", schedule.id)])


def load_locked(call: Call, repairs: bool) -> Operation[Schedule]:
    """Lock and return the schedule of a call. Raises NotFound and TokenMismatch. Raises Conflict if the schedule cannot
    be read, unless `repairs` is set: writing back only the readable parts would lose the others."""
    while True:
        named = yield sql("schedule_by_name", namespace=call.namespace, name=call.name)
        if not named:
            raise (yield from not_found(call.name, call.namespace))
        rows = yield sql("lock_schedules", [(id_of(named[0]),)])
        if rows and closed_of(rows[0]) is None:  # not closed while this waited for its lock
            break
    try:
        schedule = read_schedule(rows[0])
    except Exception as problem:
        if not repairs:
            raise Conflict(
                f"schedule {call.name!r} cannot be read: {problem}; repair the cause, or give it a new spec and "
                "action (upsert), or delete it"
            ) from None
        schedule = read_anyway(rows[0])
    if call.token is not None and call.token != schedule.token:
        raise TokenMismatch(call.name, call.token, schedule.token)
    return schedule


Processed: TypeAlias = tuple[Schedule, list[Live], list[Row]]


def _process_due(
    call: Call, schedule: Schedule, live: list[Live], *, late: Reason | None = None
) -> Operation[Processed]:
    """Process the due times by the spec and the policies before the edit. With a reason `late`, late times are passed
    over for that reason, because a schedule that is being closed should not start its backlog."""
    if schedule.state is not State.RUNNING or schedule.exhausted:
        return schedule, live, []
    due = next_time(replace(schedule, paused=None))
    if due is None or due > call.now:
        return schedule, live, []
    if schedule.paused:
        decision = pass_over(schedule, call.now, Reason.PAUSED, call.new_id)
    elif late is not None and call.now - due > GRACE:
        decision = pass_over(schedule, call.now, late, call.new_id)
    else:
        decision = advance(schedule, live, call.now, call.new_id, batch=_MAX_TIMES)
        if decision.schedule.next is not None and decision.schedule.next <= call.now:
            raise Conflict(
                f"schedule {schedule.name!r} has more than {_MAX_TIMES:,} times to catch up with; try again when it has"
            )
    if not _has_work(decision):
        return decision.schedule, live, []
    events = yield from write_decisions([decision], call.now, call.maker, save=False)
    live = (yield from load_live_runs([schedule.id], hold=True))[schedule.id]
    return decision.schedule, live, events


def _has_work(decision: Decision) -> bool:
    return bool(
        decision.start
        or decision.hold
        or decision.release
        or decision.drop
        or decision.passed
        or decision.stop
        or decision.completed
    )


def combine_edits(edits: Sequence[Edit]) -> Edit:
    """Combine edits into one. They run in order, all or none, and count as one change of the token."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        events: list[Row] = []
        answer: Answer = {}
        for number, single in enumerate(edits):
            if number:
                live = (yield from load_live_runs([schedule.id], hold=True))[schedule.id]
            schedule, single_events, single_answer = yield from single(schedule, live)
            events += single_events
            answer |= single_answer
        return schedule, events, answer

    return edit


def update(call: Call, redefine: Callable[[Schedule], Schedule], *, repairs: bool = False) -> Operation[Answer]:
    return change(call, update_edit(call, redefine), repairs=repairs)


def update_edit(call: Call, redefine: Callable[[Schedule], Schedule]) -> Edit:
    """Return an edit that changes a schedule's definition. It neither repeats nor loses a time. A new spec applies to
    times from now on; other changes also apply to times that are late."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        events: list[Row] = []
        new = redefine(schedule)
        yield PAUSE  # reading, comparing and searching a large spec takes a while
        if new.spec != schedule.spec:
            schedule, live, events = yield from _process_due(call, schedule, live)
            yield PAUSE
            new = _with_new_spec(redefine(schedule), schedule, call.now)
            yield PAUSE
        elif new.remaining != schedule.remaining and schedule.exhausted:
            new = replace(new, updated=call.now)  # times before were not due: no actions remained
        new = with_next(replace(new, state=State.RUNNING, reason=None, actor=call.actor), call.now)
        yield PAUSE
        events.append(event_row(call.now, new, "updated", call.actor, spec=new.spec.to_json(), paused=bool(new.paused)))
        return new, events, {}

    return edit


def _with_new_spec(new: Schedule, before: Schedule, now: Micros) -> Schedule:
    """Return the schedule with its new spec, valid from now on.

    Keeps occurrences of the old spec whose nominal time has passed, but which jitter or a move has delayed. Also keeps
    skips and moves of single times that the new spec still has."""
    waits = {one.nominal: one.actual for one in pending(before, now) if one.reason is None}
    reached = max([new.reached, *waits])
    ahead = {*new.memory.ahead, *before.spec.compiled.between(now + 1, reached)}  # these have run already
    new = replace(new, reached=min(reached, now), updated=now)
    compiled = new.spec.compiled
    moved: dict[Micros, Micros] = {}
    for nominal, at in sorted(new.memory.moved.items()):
        if compiled.matches(nominal):
            low, high = _neighbours(replace(new, memory=replace(new.memory, moved=moved)), nominal)
            if low < at and (high is None or at < high):
                moved[nominal] = at
    left_out = {nominal for nominal in new.memory.left_out if compiled.matches(nominal)}
    memory = replace(
        new.memory,
        kept={**new.memory.kept, **waits},
        moved=moved,
        left_out=frozenset(left_out),
        ahead=frozenset(ahead),
    )
    return replace(new, memory=memory)


def with_next(schedule: Schedule, now: Micros = 0) -> Schedule:
    """Return the schedule with its next time computed again; None if it is paused or over. A catch-up keeps its
    pace."""
    rules = rules_in_force().version
    if schedule.paused or schedule.state is not State.RUNNING:
        return replace(schedule, next=None, zone_rules=rules)
    following, before = next_time(schedule), schedule.next
    if following is not None and before is not None and following <= now < before <= now + SECOND:
        following = before
    return replace(schedule, next=following, zone_rules=rules)


def pause(call: Call, note: str) -> Operation[Answer]:
    return change(call, pause_edit(call, note))


def pause_edit(call: Call, note: str) -> Edit:
    """Return an edit that pauses a schedule. Times that are late by then are decided at the resume, like times within
    the pause."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        events: list[Row] = []
        due = next_time(schedule)
        if not schedule.paused and due is not None and call.now - due <= GRACE:
            schedule, live, events = yield from _process_due(call, schedule, live)
        after = replace(schedule, paused=schedule.paused or call.now, notes=note, next=None)
        return after, [*events, event_row(call.now, after, "paused", call.actor, notes=note)], {}

    return edit


def resume(call: Call, note: str, catchup: CatchUp | None) -> Operation[Answer]:
    return change(call, resume_edit(call, note, catchup))


def resume_edit(call: Call, note: str, catchup: CatchUp | None = None) -> Edit:
    """Return an edit that resumes a schedule. Times that passed while it was paused or parked do not run unless
    `catchup` is given."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        events: list[Row] = []
        late = will_run = 0
        stopped = schedule.paused or schedule.state is State.PARKED
        if stopped and schedule.state in (State.RUNNING, State.PARKED) and not schedule.exhausted:
            decision = _decide_after_stop(call, schedule, live, catchup)
            late = sum(one.added for one in decision.passed) + len(decision.start) + len(decision.hold)
            will_run = len(decision.start) + len(decision.hold)
            decision.late = 0  # the event `resumed` has the number
            events = yield from write_decisions([decision], call.now, call.maker, save=False)
            schedule = replace(decision.schedule, policies=schedule.policies)
        outcomes = replace(schedule.outcomes, failures=0)  # earlier failures no longer count
        after = replace(schedule, paused=None, notes=note, reason=None, outcomes=outcomes)
        if schedule.state is State.PARKED:
            after = replace(after, state=State.RUNNING)
        after = with_next(after, call.now)
        events.append(event_row(call.now, after, "resumed", call.actor, notes=note, late=late, will_run=will_run))
        return after, events, {"late": late, "will_run": will_run}

    return edit


def _decide_after_stop(call: Call, schedule: Schedule, live: Sequence[Live], catchup: CatchUp | None) -> Decision:
    """Decide about the times that passed while a schedule was paused or parked."""
    if catchup is None:
        reason = Reason.PAUSED if schedule.paused else Reason.PARKED
        return pass_over(schedule, call.now, reason, call.new_id)
    resumed = replace(schedule, paused=None, policies=replace(schedule.policies, catchup=catchup))
    generated = generate(resumed, call.now, _MAX_TIMES)
    occurrences = tuple(replace(one, asked=True) if one.reason is None else one for one in generated.occurrences)
    return decide(resumed, live, occurrences, call.now, call.new_id, generated)


def trigger(call: Call, overlap: Overlap | None, input: Mapping[str, Any] | None) -> Operation[Answer]:
    return change(call, trigger_edit(call, overlap, input))


def trigger_edit(call: Call, overlap: Overlap | None, input: Mapping[str, Any] | None = None) -> Edit:
    """Return an edit that runs the action now, whatever the spec says."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        if input is not None:
            call.maker.check_input(schedule, input)
        after, events, run = yield from _trigger(call, schedule, live, overlap, input)
        return after, events, {"run": run}

    return edit


def _trigger(
    call: Call,
    schedule: Schedule,
    live: Sequence[Live],
    overlap: Overlap | None,
    input: Mapping[str, Any] | None,
) -> Operation[tuple[Schedule, list[Row], Answer]]:
    origin = f"trigger-{call.new_id()}"
    if schedule.state is State.COMPLETED:
        schedule = replace(schedule, state=State.RUNNING)
    due = Occurrence(call.now, call.now, origin=origin, overlap=overlap)
    # The actor of the run and its events is the caller, not the creator of the schedule.
    as_caller = replace(schedule, actor=call.actor or schedule.actor)
    decision = decide(as_caller, live, [due], call.now, call.new_id)
    inputs = None if input is None else {origin: input}
    not_started: dict[str, str] = {}
    events = yield from write_decisions(
        [decision], call.now, call.maker, inputs=inputs, save=False, not_started=not_started
    )
    run: Answer = {"origin": origin}
    if decision.start:
        id = decision.start[0].id
        run |= (
            {"id": id, "status": "waiting", "reason": not_started[id]}
            if id in not_started
            else {"id": id, "status": "started"}
        )
    elif decision.hold:
        run |= {"id": decision.hold[0].id, "status": "buffered"}
    else:
        (passed,) = decision.passed
        run |= {"id": passed.id, "status": "skipped", "reason": passed.reason, "blocked_by": passed.blocked_by}
    return replace(decision.schedule, actor=schedule.actor), events, run


def backfill(call: Call, wanted: Backfill) -> Operation[Answer]:
    return change(call, backfill_edit(call, wanted))


def backfill_edit(call: Call, wanted: Backfill, batch: int = 0) -> Edit:
    """Return an edit that starts a backfill. With a `batch`, the edit also runs its first step."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        backfill = replace(wanted, schedule_id=schedule.id)
        after, events = yield from backfills.start(backfill, schedule, call.now)
        if batch:
            after, step_events = yield from backfills.advance(
                backfill, after, call.now, call.maker, lambda _: call.new_id(), batch, save=False
            )
            events += step_events
        return after, events, {"backfill": wanted.id}

    return edit


def set_backfill_state(call: Call, id: str, state: str, reason: str | None) -> Operation[Answer]:
    """Pause, resume or cancel a backfill."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        rows = yield sql("backfill", id=id)
        backfill = read_backfill(rows[0]) if rows else None
        if backfill is None or backfill.schedule_id != schedule.id:
            raise NotFound(f"schedule {schedule.name!r} has no backfill {id!r}")
        if backfill.state in ("completed", "cancelled"):
            raise Conflict(f"backfill {id!r} is {backfill.state}; start another")
        if backfill.state == state:
            return schedule, [], {"state": state}
        after, events = yield from backfills.set_state(backfill, schedule, state, call.now, call.maker, reason)
        return after, [(*fact, call.actor or actor) for *fact, actor in events], {"state": state}

    return change(call, edit)


def leave_out(call: Call, at: Micros) -> Operation[Answer]:
    """Skip one coming occurrence. `at` is its nominal time, or the time that it was moved to."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        yield from ()
        nominal = nominal_of(schedule, at)
        _check_coming(schedule, nominal, call.now)
        memory = replace(schedule.memory, left_out=schedule.memory.left_out | {nominal})
        after = with_next(replace(schedule, memory=memory), call.now)
        return after, [event_row(call.now, after, "updated", call.actor, skip=nominal)], {}

    return change(call, edit)


def move(call: Call, at: Micros, to: Micros) -> Operation[Answer]:
    """Move one coming occurrence to another time between its neighbours. Its nominal time does not change."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        yield from ()
        nominal, zone = nominal_of(schedule, at), schedule.spec.tzinfo
        _check_coming(schedule, nominal, call.now)
        low, high = _neighbours(schedule, nominal)
        low = max(low, call.now)
        if to <= low or (high is not None and to >= high):
            until = "" if high is None else f" and before {on_clock(high, zone)}"
            raise OstinatoError(
                f"to {on_clock(to, zone)} does not lie between the neighbours of {on_clock(nominal, zone)}: "
                f"choose a time after {on_clock(low, zone)}{until}"
            )
        memory = replace(schedule.memory, moved={**schedule.memory.moved, nominal: to})
        after = with_next(replace(schedule, memory=memory), call.now)
        return after, [event_row(call.now, after, "updated", call.actor, move=nominal, to=to)], {}

    return change(call, edit)


def put_back(call: Call, at: Micros) -> Operation[Answer]:
    """Undo the skip or the move of a coming occurrence. `at` is its nominal time, or the time that it was moved to."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        yield from ()
        memory = schedule.memory
        nominal, zone = nominal_of(schedule, at), schedule.spec.tzinfo
        if nominal not in memory.left_out and nominal not in memory.moved:
            raise OstinatoError(f"{on_clock(nominal, zone)} of schedule {schedule.name!r} is neither skipped nor moved")
        _check_coming(schedule, nominal, call.now)
        moved = {one: to for one, to in memory.moved.items() if one != nominal}
        memory = replace(memory, left_out=memory.left_out - {nominal}, moved=moved)
        restored = replace(schedule, memory=memory)
        actual = occurrence(restored, nominal).actual
        if actual <= call.now:
            raise OstinatoError(f"{on_clock(nominal, zone)} has passed; it cannot be put back")
        low, high = _neighbours(restored, nominal)
        if actual <= low or (high is not None and actual >= high):
            raise OstinatoError(
                f"{on_clock(nominal, zone)} cannot be put back: its neighbour was moved past it, to "
                f"{on_clock(low if actual <= low or high is None else high, zone)}; put that one back first"
            )
        after = with_next(restored, call.now)
        return after, [event_row(call.now, after, "updated", call.actor, put_back=nominal)], {}

    return change(call, edit)


def _neighbours(schedule: Schedule, nominal: Micros) -> tuple[Micros, Micros | None]:
    """Return the times between which an occurrence can be moved: those of the occurrences before and after it."""
    compiled = schedule.spec.compiled
    before, following = compiled.previous(nominal), compiled.next(nominal)
    low = 0 if before is None or before <= schedule.reached else occurrence(schedule, before).actual
    return low, None if following is None else occurrence(schedule, following).actual


def _check_coming(schedule: Schedule, nominal: Micros, now: Micros) -> None:
    come = nominal <= schedule.reached or nominal in schedule.memory.ahead
    if come or not schedule.spec.compiled.matches(nominal):
        zone = schedule.spec.tzinfo
        following = schedule.spec.compiled.next(max(schedule.reached, now))
        hint = "it has no more times" if following is None else f"its next one is {on_clock(following, zone)}"
        raise OstinatoError(f"{on_clock(nominal, zone)} is not a coming time of schedule {schedule.name!r}; {hint}")


def delete(call: Call, running: str) -> Operation[Answer]:
    """Close a schedule. Waiting runs are dropped. `running` is "leave", "cancel" or "terminate", for active runs."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        events: list[Row] = []
        schedule, live, events = yield from _process_due(call, schedule, live, late=Reason.CLOSED)
        for row in (yield sql("backfills_of", schedule=schedule.id, before="~", limit=1000)):
            backfill = read_backfill(row)
            if backfill.state in ("running", "paused"):
                schedule, stop_events = yield from backfills.set_state(
                    backfill, schedule, "cancelled", call.now, call.maker, "schedule deleted"
                )
                events += stop_events
        live = (yield from load_live_runs([schedule.id], hold=True))[schedule.id]
        decision = Decision(replace(schedule, memory=replace(schedule.memory, waiting=0)))
        if waiting := [one for one in live if one.waiting]:
            give_up(decision, waiting, Reason.CLOSED)
        events += yield from write_decisions([decision], call.now, call.maker, save=False)
        schedule = decision.schedule
        if running != "leave":
            status = Status.TERMINATED if running == "terminate" else Status.CANCELLED
            for run in live:
                if not run.waiting:
                    reason = "its schedule was deleted"
                    _, stop_events, ended = yield from stop_chain(
                        run.root_id, status, reason, call.now, running == "terminate", call.maker.run_kinds
                    )
                    events += stop_events
                    events += [stopped_event(call.now, over.run, reason, status) for over in ended]
        after = replace(schedule, state=State.CLOSED, closed=call.now, next=None)
        events.append(event_row(call.now, after, "deleted", call.actor))
        return after, events, {"origin": schedule.origin}

    return change(call, edit, repairs=True)


async def recompute_zones(store: Store) -> int:
    """Compute next times again if older time zone rules gave them, in batches. Returns how many schedules were read."""
    rules = rules_in_force().version

    def recompute_batch(_: int) -> Operation[int]:
        rows = yield sql("stale_schedules", rules=rules, limit=_BATCH)
        if rows:
            yield from recompute([id for (id,) in rows], rules)
        return len(rows)

    done = 0
    while count := await store.run(recompute_batch):
        done += count
    return done


def recompute(ids: Sequence[str], rules: str) -> Operation[None]:
    rows = yield sql("lock_schedules", [(id,) for id in ids])
    timers: list[Row] = []
    moved: list[Row] = []
    for row in rows:
        try:
            schedule = read_schedule(row)
            if schedule.state is not State.RUNNING or schedule.paused is not None:
                continue
            schedule = with_next(schedule)
        except Exception:  # the beat parks it when it is due
            continue
        moved.append(advance_row(schedule))
        if schedule.next is not None:
            timers.append(timer_row(next_timer(schedule, schedule.next)))
    yield sql("stamp_rules", [(id, rules) for id in ids])
    if moved:
        yield sql("advance_schedules", moved)
    if timers:
        yield sql("set_timers", timers)
