"""Run backfills in steps, so that workers stay free for scheduled runs. A backfill runs a range of past times now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import orjson

from ostinato.engine.rows import timer_row
from ostinato.model import Timer
from ostinato.schedules.actions import Maker
from ostinato.schedules.decisions.decide import BACKFILL, complete_if_idle, decide, give_up
from ostinato.schedules.model import Occurrence, Overlap, Reason, Schedule, State
from ostinato.schedules.operations.load import load_live_runs, lock_free
from ostinato.schedules.operations.park import park
from ostinato.schedules.operations.write import write_decisions
from ostinato.schedules.rows import event_row, read_anyway, read_schedule
from ostinato.store.columns import BACKFILL_COLUMNS, reader, writer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros


@dataclass(frozen=True, slots=True)
class Backfill:
    """A range of a schedule's nominal times that get runs now.

    - `first`, `last`: the range, both ends included
    - `reached`: the last nominal time that has a row; at the beginning, a microsecond before `first`
    - `rate`: the largest number of new runs per second, or None for no limit
    - `state`: `running`, `paused`, `completed` or `cancelled`
    - `total`: the number of nominal times in the range
    - `made`: the number of nominal times that have a row
    """

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


def _read_overlap(text: str | None) -> Overlap | None:
    return None if text is None else Overlap(text)


def _write_overlap(overlap: Overlap | None) -> str | None:
    return None if overlap is None else overlap.value


read_backfill = reader(Backfill, BACKFILL_COLUMNS, overlap=_read_overlap)
backfill_row = writer(BACKFILL_COLUMNS, overlap=_write_overlap)
progress_row = writer("id reached state made finished reason".split())  # for `save_backfill`


def step(
    backfill: Backfill, schedule: Schedule, outstanding: int, now: Micros, batch: int
) -> tuple[Backfill, list[Occurrence], Micros | None]:
    """Compute the next step of a backfill. Return (backfill after the step, occurrences of the step, time of the
    following step). The time is None if the backfill is complete. This function is pure.

    - `outstanding`: the number of unfinished runs that the backfill has
    - `batch`: the largest number of unfinished runs that the backfill may have after the step; the limit keeps workers
      free for scheduled runs

    If the backfill has a `rate`, the step has at most `rate` occurrences. If the rate is below 1, the step has at most
    one occurrence.
    """
    room = max(0, batch - outstanding)
    if backfill.rate is not None:
        room = min(room, max(1, int(backfill.rate)))
    times = schedule.spec.compiled.between(max(backfill.first, backfill.reached + 1), backfill.last)
    nominals = list(islice(times, room))
    occurrences = [
        Occurrence(nominal, nominal, origin=backfill.origin, overlap=backfill.overlap) for nominal in nominals
    ]
    after = replace(
        backfill, reached=nominals[-1] if nominals else backfill.reached, made=backfill.made + len(nominals)
    )
    if next(times, None) is None:
        return replace(after, state="completed", finished=now), occurrences, None
    if backfill.rate is not None:
        return after, occurrences, now + max(SECOND // 100, int(SECOND * max(1, len(nominals)) / backfill.rate))
    # The end of one of its runs starts the next step at once. The minute is for runs that never end.
    return after, occurrences, now + 60 * SECOND if outstanding + len(nominals) >= batch else now


def fire(
    timers: Sequence[Timer], now: Micros, maker: Maker, new_id: Callable[[Micros], str], batch: int
) -> Operation[list[Row]]:
    """Run the next step of each backfill that has a timer in `timers`. Return the events, which the caller writes.

    - If the backfill does not exist or is not running, ignore its timer.
    - If another transaction has locked the backfill's schedule, postpone the timer.
    - If the schedule cannot be read, park the schedule.
    """
    events: list[Row] = []
    for timer in timers:
        rows = yield sql("backfill", id=timer.owner)
        if not rows:
            continue
        owners = yield from lock_free([timer], [read_backfill(rows[0]).schedule_id], now)
        if not owners:
            continue
        (row,) = yield sql("backfill", id=timer.owner)  # read again, now that its schedule is locked
        backfill = read_backfill(row)
        if backfill.state != "running":
            continue
        try:
            schedule = read_schedule(owners[0])
        except Exception as problem:
            events += yield from park([(read_anyway(owners[0]), str(problem))], now)
            continue
        _, step_events = yield from advance(backfill, schedule, now, maker, new_id, batch)
        events += step_events
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
    """Run the next step of a backfill, and write the runs and the backfill's progress. The schedule must be locked.
    Return (schedule after the step, events). The caller writes the events. If `save` is false, the caller also writes
    the schedule's row."""
    live = (yield from load_live_runs([schedule.id], hold=True))[schedule.id]
    outstanding = sum(one.detail.get("origin") == backfill.origin for one in live)
    after, occurrences, again = step(backfill, schedule, outstanding, now, batch)
    done = after.state == "completed"
    if done:
        memory = replace(schedule.memory, backfills=max(0, schedule.memory.backfills - 1))
        schedule = replace(schedule, memory=memory)
    decision = complete_if_idle(decide(schedule, live, occurrences, now, lambda: new_id(now)), live)
    inputs = None if backfill.input is None else {backfill.origin: orjson.loads(backfill.input)}
    events = yield from write_decisions([decision], now, maker, inputs=inputs, save=save)
    yield sql("save_backfill", [progress_row(after)])
    if again is not None:
        yield sql("set_timers", [timer_row(backfill.timer._replace(due=again))])
    tenths = (10 * backfill.made // max(1, backfill.total), 10 * after.made // max(1, after.total))
    if occurrences and tenths[0] != tenths[1] and not done:
        events.append(_backfill_event(now, schedule, "backfill_progressed", after))
    if done:
        events.append(_backfill_event(now, schedule, "backfill_completed", after))
    return decision.schedule, events


def _backfill_event(now: Micros, schedule: Schedule, name: str, backfill: Backfill) -> Row:
    return event_row(
        now,
        schedule,
        name,
        backfill.actor,
        backfill_id=backfill.id,
        first=backfill.first,
        last=backfill.last,
        made=backfill.made,
        total=backfill.total,
    )


def start(backfill: Backfill, schedule: Schedule, now: Micros) -> Operation[tuple[Schedule, list[Row]]]:
    """Store a new backfill, and set the timer of its first step. Return (changed schedule, events). The caller writes
    both."""
    yield sql("insert_backfill", [backfill_row(backfill)])
    yield sql("set_timers", [timer_row(backfill.timer)])
    memory = replace(schedule.memory, backfills=schedule.memory.backfills + 1)
    state = State.RUNNING if schedule.state is State.COMPLETED else schedule.state
    return replace(schedule, memory=memory, state=state), [_backfill_event(now, schedule, "backfill_started", backfill)]


def set_state(
    backfill: Backfill, schedule: Schedule, state: str, now: Micros, maker: Maker, reason: str | None
) -> Operation[tuple[Schedule, list[Row]]]:
    """Set the state of a backfill to `paused`, `running` or `cancelled`. Cancelling also drops the backfill's waiting
    runs. The schedule must be locked. Return (changed schedule, events). The caller writes both."""
    resumed, cancelled = state == "running", state == "cancelled"
    if resumed:
        yield sql("set_timers", [timer_row(backfill.timer._replace(due=now))])
    else:
        yield sql("drop_timers", [("schedule", backfill.id)])
    after = replace(backfill, state=state, reason=reason, finished=now if cancelled else backfill.finished)
    yield sql("save_backfill", [progress_row(after)])
    if not cancelled:
        return schedule, [_backfill_event(now, schedule, f"backfill_{'resumed' if resumed else 'paused'}", backfill)]
    memory = replace(schedule.memory, backfills=max(0, schedule.memory.backfills - 1))
    schedule = replace(schedule, memory=memory)
    live = (yield from load_live_runs([schedule.id], hold=True))[schedule.id]
    waiting = [one for one in live if one.waiting and one.detail.get("origin") == backfill.origin]
    events: list[Row] = []
    if waiting:
        decision = decide(schedule, [one for one in live if one not in waiting], [], now, lambda: "")
        give_up(decision, waiting, Reason.CLOSED)
        events += yield from write_decisions([decision], now, maker, save=False)
        schedule = decision.schedule
    events.append(_backfill_event(now, schedule, "backfill_cancelled", after))
    return schedule, events
