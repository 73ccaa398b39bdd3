"""The Scheduler: everything that changes a schedule from outside. Each call is one operation on its locked row, done
once however often it is asked for with the same request id, and refused where its conflict token is not current.

Before a spec is changed, what is due by now is dealt with by the rules that were in force until now: an edit never
refires a time and never loses one. Everything else leaves what is due to the beat, and to its pace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ostinato.engine import requests
from ostinato.engine.rows import timer_row
from ostinato.engine.runs import stop_chain
from ostinato.errors import Conflict, NotFound, OstinatoError
from ostinato.model import Status
from ostinato.schedules import backfiller
from ostinato.schedules.backfiller import Backfill, read_backfill
from ostinato.schedules.carrying import carry_out, live_of, next_timer, stopped
from ostinato.schedules.decide import Decision, Live, advance, decide, give_up, idle, pass_over
from ostinato.schedules.finding import relabel
from ostinato.schedules.generator import generate, next_time, nominal_of, occurrence, pending
from ostinato.schedules.making import JOURNEY, Maker
from ostinato.schedules.model import GRACE, CatchUp, Occurrence, Overlap, Reason, Schedule, State
from ostinato.schedules.rows import advance_row, event_row, insert_schedule_row, not_found, read_anyway, read_schedule
from ostinato.store.contract import Operation, Row, Store, sql
from ostinato.when import rules_in_force
from ostinato.when.instants import SECOND, Micros, on_clock

Answer: TypeAlias = dict[str, Any]
_MOST_AT_ONCE = 1_000_000
_BITE = 200


@dataclass(frozen=True, slots=True)
class Call:
    """Who asks for what, when. `request` makes it the same call however often it comes; `token` is what the caller
    knows of the schedule, if it minds."""

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
    """Someone else has changed the schedule. `current` is the token to go on with, after another look at it."""

    def __init__(self, name: str, given: int, current: int) -> None:
        super().__init__(
            f"schedule {name!r} has changed: the conflict token given is {given}, the current one is {current}; "
            "read it again and decide anew"
        )
        self.current = current


def once(call: Call, work: Operation[Answer]) -> Operation[Answer]:
    """Do it once for each request id."""
    what = f"{call.verb} {call.name} {call.asked}"
    return requests.once(call.namespace, call.request, what, call.now, work)


def create(call: Call, schedules: Sequence[Schedule], *, trigger: bool = False) -> Operation[Answer]:
    """New schedules, all or none. Where a name is taken, nothing happens."""
    rules = rules_in_force().version
    made = []
    for given in schedules:
        one = replace(given, reached=call.now, updated=call.now, created=call.now, zone_rules=rules, actor=call.actor)
        one = replace(one, next=None if one.paused else next_time(one))
        made.append(replace(one, state=State.COMPLETED) if idle(one) else one)
    events = yield from put_on_record(made, call.now, call.actor)
    answer: Answer = {"ids": [one.id for one in made], "token": made[0].token if made else 1}
    if trigger:
        after, told, run = yield from _trigger(call, made[0], [], None, None)
        yield sql("replace_schedules", [insert_schedule_row(after)])
        events += told
        answer |= {"token": after.token, "run": run}
    yield sql("notify")
    yield sql("insert_events", events)
    return answer


def put_on_record(made: Sequence[Schedule], now: Micros, actor: str | None) -> Operation[list[Row]]:
    """New schedules with their timers. Returns events to write."""
    inserted = {row[0] for row in (yield sql("insert_schedules", [insert_schedule_row(one) for one in made]))}
    taken = [one.name for one in made if one.id not in inserted]
    if taken:
        raise AlreadyExists(taken[0])
    labels = [row for one in made for row in relabel(None, one)[1]]
    if labels:
        yield sql("label_schedules", labels)
    timers = [timer_row(next_timer(one, one.next)) for one in made if one.next is not None]
    if timers:
        yield sql("set_timers", timers)
    events = [event_row(now, one, "created", actor, spec=one.spec.to_json()) for one in made]
    return events + [event_row(now, one, "completed", actor) for one in made if one.state is State.COMPLETED]


class AlreadyExists(Conflict):
    def __init__(self, name: str) -> None:
        super().__init__(f"schedule {name!r} exists already; update it instead, or take another name")
        self.name = name


Edit: TypeAlias = Callable[[Schedule, list[Live]], Operation[tuple[Schedule, list[Row], Answer]]]


def change(call: Call, edit: Edit, *, mends: bool = False) -> Operation[Answer]:
    """Change one schedule. `mends`: it may be one that cannot be read, because the change puts something readable in
    its place."""
    schedule = yield from load_locked(call, mends)
    live = (yield from live_of([schedule.id], hold=True))[schedule.id]
    after, told, answer = yield from edit(schedule, live)
    if schedule.state is State.PARKED and after.state is State.RUNNING:
        after, more = yield from _take_up(call, after)
        told += more
    if idle(after) and not (yield from live_of([after.id]))[after.id]:
        after = replace(after, state=State.COMPLETED)
        if schedule.state is not State.COMPLETED:
            told.append(event_row(call.now, after, "completed", call.actor))
    after = replace(after, token=max(after.token, schedule.token) + 1)
    yield from save(after)
    gone, come = relabel(schedule, after)
    if gone:
        yield sql("unlabel_schedules", gone)
    if come:
        yield sql("label_schedules", come)
    yield sql("notify")
    yield sql("insert_events", told)
    return {"id": after.id, "token": after.token, **answer}


def _take_up(call: Call, schedule: Schedule) -> Operation[tuple[Schedule, list[Row]]]:
    """It was parked, and is not any more: who waited for a run that ended meanwhile goes, and backfills go on."""
    live = (yield from live_of([schedule.id], hold=True))[schedule.id]
    decision = decide(schedule, live, [], call.now, call.new_id)
    events = yield from carry_out([decision], call.now, call.maker, save=False)
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


def load_locked(call: Call, mends: bool) -> Operation[Schedule]:
    """The schedule of a call, locked; with the token the caller knows it by. One that cannot be read is left as it
    is: to write back what could be read of it would lose the rest."""
    while True:
        found = yield sql("schedule_by_name", namespace=call.namespace, name=call.name)
        if not found:
            raise not_found(call.name, call.namespace)
        rows = yield sql("lock_schedules", [(found[0][0],)])
        if rows and rows[0][23] is None:  # nobody has closed it while its lock was waited for
            break
    try:
        schedule = read_schedule(rows[0])
    except Exception as problem:
        if not mends:
            raise Conflict(
                f"schedule {call.name!r} cannot be read: {problem}; mend what it needs, or give it a new spec and "
                "action (upsert), or delete it"
            ) from None
        schedule = read_anyway(rows[0])
    if call.token is not None and call.token != schedule.token:
        raise TokenMismatch(call.name, call.token, schedule.token)
    return schedule


Settled: TypeAlias = tuple[Schedule, list[Live], list[Row]]


def _settle(call: Call, schedule: Schedule, live: list[Live], *, late: Reason | None = None) -> Operation[Settled]:
    """Deal with what is due by now, by the rules in force until now. With `late`, what has come too late to be on time
    is passed over for that reason: who stops a schedule does not want its backlog started."""
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
        decision = advance(schedule, live, call.now, call.new_id, batch=_MOST_AT_ONCE)
        if decision.schedule.next is not None and decision.schedule.next <= call.now:
            raise Conflict(
                f"schedule {schedule.name!r} has more than {_MOST_AT_ONCE:,} times to catch up with; "
                "try again when it has"
            )
    if not _busy(decision):
        return decision.schedule, live, []
    events = yield from carry_out([decision], call.now, call.maker, save=False)
    live = (yield from live_of([schedule.id], hold=True))[schedule.id]
    return decision.schedule, live, events


def _busy(one: Decision) -> bool:
    return bool(one.start or one.hold or one.release or one.drop or one.passed or one.stop or one.completed)


def together(edits: Sequence[Edit]) -> Edit:
    """Several changes as one: all or none of them, one after the other, under one token."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        events: list[Row] = []
        answer: Answer = {}
        for number, one in enumerate(edits):
            if number:
                live = (yield from live_of([schedule.id], hold=True))[schedule.id]
            schedule, told, more = yield from one(schedule, live)
            events += told
            answer |= more
        return schedule, events, answer

    return edit


def update(call: Call, redefine: Callable[[Schedule], Schedule], *, mends: bool = False) -> Operation[Answer]:
    return change(call, updating(call, redefine), mends=mends)


def updating(call: Call, redefine: Callable[[Schedule], Schedule]) -> Edit:
    """Change what a schedule is. Its place in time stays: no time comes twice, and none is lost. Only a new spec begins
    anew; whatever else is changed holds for what is late as for what is to come."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        events: list[Row] = []
        new = redefine(schedule)
        if new.spec != schedule.spec:
            schedule, live, events = yield from _settle(call, schedule, live)
            new = _respecified(redefine(schedule), schedule, call.now)
        elif new.remaining != schedule.remaining and schedule.exhausted:
            new = replace(new, updated=call.now)  # without actions it had no times
        new = with_next(replace(new, state=State.RUNNING, reason=None, actor=call.actor), call.now)
        events.append(event_row(call.now, new, "updated", call.actor, spec=new.spec.to_json(), paused=bool(new.paused)))
        return new, events, {}

    return edit


def _respecified(new: Schedule, before: Schedule, now: Micros) -> Schedule:
    """The schedule with its new spec, from now on. What was pending by the old one, between its nominal time and the
    moment that jitter or someone has moved it to, is kept; wishes for single times hold where they still make sense."""
    waits = {one.nominal: one.actual for one in pending(before, now) if one.reason is None}
    reached = max([new.reached, *waits])
    ahead = {*new.memory.ahead, *before.spec.compiled.between(now + 1, reached)}  # they do not come again
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
    """Its next time worked out anew; none while it is paused or over. One that catches up keeps its pace."""
    rules = rules_in_force().version
    if schedule.paused or schedule.state is not State.RUNNING:
        return replace(schedule, next=None, zone_rules=rules)
    following, before = next_time(schedule), schedule.next
    if following is not None and before is not None and following <= now < before <= now + SECOND:
        following = before
    return replace(schedule, next=following, zone_rules=rules)


def pause(call: Call, note: str) -> Operation[Answer]:
    return change(call, pausing(call, note))


def pausing(call: Call, note: str) -> Edit:
    """What is late then waits for the resume like everything that comes in the pause."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        events: list[Row] = []
        due = next_time(schedule)
        if not schedule.paused and due is not None and call.now - due <= GRACE:
            schedule, live, events = yield from _settle(call, schedule, live)
        after = replace(schedule, paused=schedule.paused or call.now, notes=note, next=None)
        return after, [*events, event_row(call.now, after, "paused", call.actor, notes=note)], {}

    return edit


def resume(call: Call, note: str, catchup: CatchUp | None) -> Operation[Answer]:
    return change(call, resuming(call, note, catchup))


def resuming(call: Call, note: str, catchup: CatchUp | None = None) -> Edit:
    """Let it run again. What passed while it was paused, or parked, is passed over, unless a catch-up is asked for."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        events: list[Row] = []
        late = will_run = 0
        stood = schedule.paused or schedule.state is State.PARKED
        if stood and schedule.state in (State.RUNNING, State.PARKED) and not schedule.exhausted:
            decision = _after_standing(call, schedule, live, catchup)
            late = sum(one.added for one in decision.passed) + len(decision.start) + len(decision.hold)
            will_run = len(decision.start) + len(decision.hold)
            decision.late = 0  # the event of resuming says it
            events = yield from carry_out([decision], call.now, call.maker, save=False)
            schedule = replace(decision.schedule, policies=schedule.policies)
        afresh = replace(schedule.outcomes, failures=0)  # failures before do not count against it any more
        after = replace(schedule, paused=None, notes=note, reason=None, outcomes=afresh)
        if schedule.state is State.PARKED:
            after = replace(after, state=State.RUNNING)
        after = with_next(after, call.now)
        events.append(event_row(call.now, after, "resumed", call.actor, notes=note, late=late, will_run=will_run))
        return after, events, {"late": late, "will_run": will_run}

    return edit


def _after_standing(call: Call, schedule: Schedule, live: Sequence[Live], catchup: CatchUp | None) -> Decision:
    """What becomes of the times that passed while a schedule stood still."""
    if catchup is None:
        reason = Reason.PAUSED if schedule.paused else Reason.PARKED
        return pass_over(schedule, call.now, reason, call.new_id)
    then = replace(schedule, paused=None, policies=replace(schedule.policies, catchup=catchup))
    found = generate(then, call.now, _MOST_AT_ONCE)
    asked = tuple(replace(one, asked=True) if one.reason is None else one for one in found.occurrences)
    return decide(then, live, asked, call.now, call.new_id, found)


def trigger(call: Call, overlap: Overlap | None, input: Mapping[str, Any] | None) -> Operation[Answer]:
    return change(call, triggering(call, overlap, input))


def triggering(call: Call, overlap: Overlap | None, input: Mapping[str, Any] | None = None) -> Edit:
    """Run it now, whatever its spec says."""

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
    if input is not None and schedule.action.job == JOURNEY and "binding" in schedule.action.input:
        raise OstinatoError(
            f"schedule {schedule.name!r} was made by a journey: each run begins with what the last one left, "
            "so a trigger takes no input"
        )
    origin = f"trigger-{call.new_id()}"
    if schedule.state is State.COMPLETED:
        schedule = replace(schedule, state=State.RUNNING)
    one = Occurrence(call.now, call.now, origin=origin, overlap=overlap)
    # The run and its events name who asked for it, not who made the schedule.
    asking = replace(schedule, actor=call.actor or schedule.actor)
    decision = decide(asking, live, [one], call.now, call.new_id)
    inputs = None if input is None else {origin: input}
    events = yield from carry_out([decision], call.now, call.maker, inputs=inputs, save=False)
    run: Answer = {"origin": origin}
    if decision.start:
        run |= {"id": decision.start[0].id, "status": "started"}
    elif decision.hold:
        run |= {"id": decision.hold[0].id, "status": "buffered"}
    else:
        (passed,) = decision.passed
        run |= {"id": passed.id, "status": "skipped", "reason": passed.reason, "blocked_by": passed.blocked_by}
    return replace(decision.schedule, actor=schedule.actor), events, run


def backfill(call: Call, one: Backfill) -> Operation[Answer]:
    return change(call, filling(call, one))


def filling(call: Call, one: Backfill, batch: int = 0) -> Edit:
    """Run a range of its times now, as an object of its own. With a `batch`, its first step is part of this."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        own = replace(one, schedule_id=schedule.id)
        after, events = yield from backfiller.begin(own, schedule, call.now)
        if batch:
            after, told = yield from backfiller.advance(
                own, after, call.now, call.maker, lambda _: call.new_id(), batch, save=False
            )
            events += told
        return after, events, {"backfill": one.id}

    return edit


def turn_backfill(call: Call, id: str, state: str, reason: str | None) -> Operation[Answer]:
    """Pause, resume or cancel a backfill."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        rows = yield sql("backfill", id=id)
        if not rows or rows[0][2] != schedule.id:
            raise NotFound(f"schedule {schedule.name!r} has no backfill {id!r}")
        found = read_backfill(rows[0])
        if found.state in ("completed", "cancelled"):
            raise Conflict(f"backfill {id!r} is {found.state}; start another")
        if found.state == state:
            return schedule, [], {"state": state}
        after, events = yield from backfiller.turn(found, schedule, state, call.now, reason)
        return after, [(*row[:5], call.actor or row[5]) for row in events], {"state": state}

    return change(call, edit)


def leave_out(call: Call, at: Micros) -> Operation[Answer]:
    """Skip exactly one coming occurrence, by its nominal time or the one that it was moved to."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        yield from ()
        nominal = nominal_of(schedule, at)
        _coming(schedule, nominal, call.now)
        memory = replace(schedule.memory, left_out=schedule.memory.left_out | {nominal})
        after = with_next(replace(schedule, memory=memory), call.now)
        return after, [event_row(call.now, after, "updated", call.actor, skip=nominal)], {}

    return change(call, edit)


def move(call: Call, at: Micros, to: Micros) -> Operation[Answer]:
    """Move exactly one coming occurrence, perhaps once more, between its neighbours; its nominal time stays its own."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        yield from ()
        nominal, zone = nominal_of(schedule, at), schedule.spec.tzinfo
        _coming(schedule, nominal, call.now)
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
    """Take back that a coming occurrence, by its nominal time or the one it was moved to, is skipped or moved."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        yield from ()
        memory = schedule.memory
        nominal, zone = nominal_of(schedule, at), schedule.spec.tzinfo
        if nominal not in memory.left_out and nominal not in memory.moved:
            raise OstinatoError(f"{on_clock(nominal, zone)} of schedule {schedule.name!r} is neither skipped nor moved")
        _coming(schedule, nominal, call.now)
        moved = {one: to for one, to in memory.moved.items() if one != nominal}
        memory = replace(memory, left_out=memory.left_out - {nominal}, moved=moved)
        back = replace(schedule, memory=memory)
        actual = occurrence(back, nominal).actual
        if actual <= call.now:
            raise OstinatoError(f"{on_clock(nominal, zone)} has passed; it cannot be put back")
        low, high = _neighbours(back, nominal)
        if actual <= low or (high is not None and actual >= high):
            raise OstinatoError(
                f"{on_clock(nominal, zone)} cannot be put back: its neighbour was moved past it, to "
                f"{on_clock(low if actual <= low or high is None else high, zone)}; put that one back first"
            )
        after = with_next(back, call.now)
        return after, [event_row(call.now, after, "updated", call.actor, put_back=nominal)], {}

    return change(call, edit)


def _neighbours(schedule: Schedule, nominal: Micros) -> tuple[Micros, Micros | None]:
    """The moments between which an occurrence must stay: one that overtook another would have to wait for it."""
    compiled = schedule.spec.compiled
    before, following = compiled.previous(nominal), compiled.next(nominal)
    low = 0 if before is None or before <= schedule.reached else occurrence(schedule, before).actual
    return low, None if following is None else occurrence(schedule, following).actual


def _coming(schedule: Schedule, nominal: Micros, now: Micros) -> None:
    come = nominal <= schedule.reached or nominal in schedule.memory.ahead
    if come or not schedule.spec.compiled.matches(nominal):
        zone = schedule.spec.tzinfo
        following = schedule.spec.compiled.next(max(schedule.reached, now))
        hint = "it has no more times" if following is None else f"its next one is {on_clock(following, zone)}"
        raise OstinatoError(f"{on_clock(nominal, zone)} is not a coming time of schedule {schedule.name!r}; {hint}")


def delete(call: Call, running: str) -> Operation[Answer]:
    """Close it. What waits is given up; what runs is left alone, or stopped on request."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        events: list[Row] = []
        schedule, live, events = yield from _settle(call, schedule, live, late=Reason.CLOSED)
        for row in (yield sql("backfills_of", schedule=schedule.id, before="~", limit=1000)):
            found = read_backfill(row)
            if found.state in ("running", "paused"):
                schedule, told = yield from backfiller.turn(found, schedule, "cancelled", call.now, "schedule deleted")
                events += told
        live = (yield from live_of([schedule.id], hold=True))[schedule.id]
        decision = Decision(replace(schedule, memory=replace(schedule.memory, waiting=0)))
        if waiting := [one for one in live if one.waiting]:
            give_up(decision, waiting, Reason.CLOSED)
        events += yield from carry_out([decision], call.now, call.maker, save=False)
        schedule = decision.schedule
        if running != "leave":
            status = Status.TERMINATED if running == "terminate" else Status.CANCELLED
            for one in live:
                if not one.waiting:
                    reason = "its schedule was deleted"
                    _, told, ended = yield from stop_chain(
                        one.root_id, status, reason, call.now, running == "terminate"
                    )
                    events += told
                    events += [stopped(call.now, over.run, reason, status) for over in ended]
        after = replace(schedule, state=State.CLOSED, closed=call.now, next=None)
        events.append(event_row(call.now, after, "deleted", call.actor))
        return after, events, {}

    return change(call, edit, mends=True)


async def recompute_zones(store: Store) -> int:
    """Next times that were worked out with older zone rules, worked out anew, a bite at a time."""
    rules = rules_in_force().version

    def bite(_: int) -> Operation[int]:
        rows = yield sql("stale_schedules", rules=rules, limit=_BITE)
        if rows:
            yield from recompute([row[0] for row in rows], rules)
        return len(rows)

    done = 0
    while found := await store.run(bite):
        done += found
    return done


def recompute(ids: Sequence[str], rules: str) -> Operation[None]:
    rows = yield sql("lock_schedules", [(id,) for id in ids])
    timers: list[Row] = []
    moved: list[Row] = []
    for row in rows:
        if row[7] != State.RUNNING or row[9] is not None:
            continue
        try:
            schedule = with_next(read_schedule(row))
        except Exception:  # the beat parks it when its time comes
            continue
        moved.append(advance_row(schedule))
        if schedule.next is not None:
            timers.append(timer_row(next_timer(schedule, schedule.next)))
    yield sql("stamp_rules", [(id, rules) for id in ids])
    if moved:
        yield sql("advance_schedules", moved)
    if timers:
        yield sql("set_timers", timers)
