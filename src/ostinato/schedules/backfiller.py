"""The Backfiller: a range of times run now, as an object of its own, in steps that leave room for what is live."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import orjson

from ostinato.engine.rows import timer_row
from ostinato.model import Timer
from ostinato.schedules.carrying import carry_out
from ostinato.schedules.decide import BACKFILL, decide, give_up, settled
from ostinato.schedules.holding import free_schedules, park
from ostinato.schedules.live import live_of
from ostinato.schedules.making import Maker
from ostinato.schedules.model import Occurrence, Overlap, Reason, Schedule, State
from ostinato.schedules.rows import event_row, read_schedule
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros


@dataclass(frozen=True, slots=True)
class Backfill:
    """`first` to `last`, both included; everything up to `reached` is made. `rate`: so many in a second. `state`:
    running, paused, completed or cancelled."""

    id: str
    namespace: str
    schedule_id: str
    first: Micros
    last: Micros
    reached: Micros
    overlap: Overlap | None
    input: str | None
    rate: float | None
    state: str
    total: int
    made: int
    created: Micros
    finished: Micros | None = None
    reason: str | None = None
    actor: str | None = None

    @property
    def origin(self) -> str:
        return f"{BACKFILL}{self.id}"

    @property
    def timer(self) -> Timer:
        return Timer("schedule", self.id, "backfill", self.created, self.namespace)


def read_backfill(row: Row) -> Backfill:
    found = list(row)
    found[6] = None if found[6] is None else Overlap(found[6])
    return Backfill(*found)


def backfill_row(one: Backfill) -> Row:
    return (
        one.id,
        one.namespace,
        one.schedule_id,
        one.first,
        one.last,
        one.reached,
        None if one.overlap is None else one.overlap.value,
        one.input,
        one.rate,
        one.state,
        one.total,
        one.made,
        one.created,
        one.finished,
        one.reason,
        one.actor,
    )


def saved_row(one: Backfill) -> Row:
    return (one.id, one.reached, one.state, one.made, one.finished, one.reason)


def step(
    backfill: Backfill, schedule: Schedule, outstanding: int, now: Micros, batch: int
) -> tuple[Backfill, list[Occurrence], Micros | None]:
    """The next occurrences of a backfill, as far as there is room; the backfill after it; when to look again. Pure.

    No more than `batch` of its runs are outstanding at a time, so that what the clock brings finds free workers."""
    room = max(0, batch - outstanding)
    if backfill.rate is not None:
        room = min(room, max(1, int(backfill.rate)))
    times = schedule.spec.compiled.between(max(backfill.first, backfill.reached + 1), backfill.last)
    nominals = list(islice(times, room))
    found = [Occurrence(nominal, nominal, origin=backfill.origin, overlap=backfill.overlap) for nominal in nominals]
    after = replace(
        backfill, reached=nominals[-1] if nominals else backfill.reached, made=backfill.made + len(nominals)
    )
    if next(times, None) is None:
        return replace(after, state="completed", finished=now), found, None
    if backfill.rate is not None:
        return after, found, now + max(SECOND // 100, int(SECOND * max(1, len(nominals)) / backfill.rate))
    # The end of one of its runs wakes it; that it looks by itself too is for the case that nothing ever ends.
    return after, found, now + 60 * SECOND if outstanding + len(nominals) >= batch else now


def fire(
    timers: Sequence[Timer], now: Micros, maker: Maker, new_id: Callable[[Micros], str], batch: int
) -> Operation[list[Row]]:
    """One step of each of these backfills."""
    events: list[Row] = []
    for timer in timers:
        rows = yield sql("backfill", id=timer.owner)
        if not rows:
            continue
        owners = yield from free_schedules([timer], [rows[0][2]], now)
        if not owners:
            continue
        (row,) = yield sql("backfill", id=timer.owner)  # as it is now that its schedule is held
        backfill = read_backfill(row)
        if backfill.state != "running":
            continue
        try:
            schedule = read_schedule(owners[0])
        except Exception as problem:
            events += yield from park([(owners[0], str(problem))], now)
            continue
        events += yield from _one(backfill, schedule, now, maker, new_id, batch)
    return events


def _one(
    backfill: Backfill, schedule: Schedule, now: Micros, maker: Maker, new_id: Callable[[Micros], str], batch: int
) -> Operation[list[Row]]:
    _, events = yield from advance(backfill, schedule, now, maker, new_id, batch)
    return events


def advance(
    backfill: Backfill,
    schedule: Schedule,
    now: Micros,
    maker: Maker,
    new_id: Callable[[Micros], str],
    batch: int,
    *,
    save: bool = True,
) -> Operation[tuple[Schedule, list[Row]]]:
    """The next step of a backfill whose schedule is held. Not `save`: who calls writes the schedule's own row."""
    live = (yield from live_of([schedule.id], hold=True))[schedule.id]
    outstanding = sum(one.detail.get("origin") == backfill.origin for one in live)
    after, occurrences, again = step(backfill, schedule, outstanding, now, batch)
    done = after.state == "completed"
    if done:
        memory = replace(schedule.memory, backfills=max(0, schedule.memory.backfills - 1))
        schedule = replace(schedule, memory=memory)
    decision = settled(decide(schedule, live, occurrences, now, lambda: new_id(now)), live)
    given = None if backfill.input is None else {backfill.origin: orjson.loads(backfill.input)}
    events = yield from carry_out([decision], now, maker, inputs=given, save=save)
    yield sql("save_backfill", [saved_row(after)])
    if again is not None:
        yield sql("set_timers", [timer_row(backfill.timer._replace(due=again))])
    tenths = (10 * backfill.made // max(1, backfill.total), 10 * after.made // max(1, after.total))
    if occurrences and tenths[0] != tenths[1] and not done:
        events.append(_told(now, schedule, "backfill_progressed", after))
    if done:
        events.append(_told(now, schedule, "backfill_completed", after))
    return decision.schedule, events


def _told(now: Micros, schedule: Schedule, name: str, one: Backfill) -> Row:
    return event_row(
        now,
        schedule,
        name,
        one.actor,
        backfill_id=one.id,
        first=one.first,
        last=one.last,
        made=one.made,
        total=one.total,
    )


def begin(backfill: Backfill, schedule: Schedule, now: Micros) -> Operation[tuple[Schedule, list[Row]]]:
    """Put a backfill on record; its first step is the beat's."""
    yield sql("insert_backfill", [backfill_row(backfill)])
    yield sql("set_timers", [timer_row(backfill.timer)])
    memory = replace(schedule.memory, backfills=schedule.memory.backfills + 1)
    state = State.RUNNING if schedule.state is State.COMPLETED else schedule.state
    return replace(schedule, memory=memory, state=state), [_told(now, schedule, "backfill_started", backfill)]


def turn(
    backfill: Backfill, schedule: Schedule, state: str, now: Micros, reason: str | None
) -> Operation[tuple[Schedule, list[Row]]]:
    """Pause, resume or cancel a backfill whose schedule is held. What of it waits is given up with it."""
    events: list[Row] = []
    if state == "running":
        yield sql("set_timers", [timer_row(backfill.timer._replace(due=now))])
        yield sql("save_backfill", [saved_row(replace(backfill, state=state, reason=reason))])
        return schedule, [_told(now, schedule, "backfill_resumed", backfill)]
    yield sql("drop_timers", [("schedule", backfill.id)])
    if state == "paused":
        yield sql("save_backfill", [saved_row(replace(backfill, state=state, reason=reason))])
        return schedule, [_told(now, schedule, "backfill_paused", backfill)]
    after = replace(backfill, state="cancelled", finished=now, reason=reason)
    yield sql("save_backfill", [saved_row(after)])
    memory = replace(schedule.memory, backfills=max(0, schedule.memory.backfills - 1))
    schedule = replace(schedule, memory=memory)
    live = (yield from live_of([schedule.id], hold=True))[schedule.id]
    waiting = [one for one in live if one.waiting and one.detail.get("origin") == backfill.origin]
    if waiting:
        decision = decide(schedule, [one for one in live if one not in waiting], [], now, lambda: "")
        give_up(decision, waiting, Reason.CLOSED)
        events += yield from carry_out([decision], now, Maker(lambda name: None), save=False)
        schedule = decision.schedule
    events.append(_told(now, schedule, "backfill_cancelled", after))
    return schedule, events
