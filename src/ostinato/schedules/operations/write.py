"""Write decisions about many schedules in one transaction, with one statement for all new rows of one kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from ostinato.engine import rows as engine_rows
from ostinato.engine.kinds import Kinds
from ostinato.engine.limits import let_in
from ostinato.engine.rows import insert_row, timer_row, whole_run
from ostinato.engine.run_logging import report_failure
from ostinato.engine.runs import created_event, hold, stop_chain, to_the_gates
from ostinato.errors import OstinatoError
from ostinato.model import Run, Status, Timer
from ostinato.schedules.actions import BEHIND, Maker
from ostinato.schedules.companions import Companions, InsertedRun, PassedEvent
from ostinato.schedules.decisions.decide import BACKFILL, Live, ScheduleDecision
from ostinato.schedules.decisions.times_not_run import Fresh, Passed
from ostinato.schedules.model import Overlap, Reason, Schedule, run_name
from ostinato.schedules.rows import advance_row, dump, event_row, facts_of_occurrence, occurrence_key
from ostinato.store.columns import writer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros

_outcome_row = writer(  # for `insert_outcomes`
    """id namespace kind name key status.value reason queue due created finished root_id schedule_id detail
    actor""".split()
)
Inputs = Mapping[str, Mapping[str, Any] | None]  # by origin: the input that replaces the action's


def next_timer(schedule: Schedule, due: Micros) -> Timer:
    return Timer("schedule", schedule.id, "next", due, schedule.namespace)


def write_decisions(
    decisions: Sequence[ScheduleDecision],
    now: Micros,
    maker: Maker,
    *,
    inputs: Inputs | None = None,
    save: bool = True,
    refused: list[tuple[ScheduleDecision, Exception]] | None = None,
    not_started: dict[str, str] | None = None,
) -> Operation[list[Row]]:
    """Write decisions to the store. Return the events, which the caller writes.

    - `inputs`: the inputs that replace the action's input, as a dict from the origin of a trigger or a backfill to the
      input of its runs
    - `save`: whether to write the rows of the schedules, too; if false, the caller writes them
    - `refused`: a list that gets (decision, error) for each decision that cannot be written; None to raise the error
    - `not_started`: a dict that gets an entry from run id to reason for each new run that cannot start now
    """
    unfit = yield from maker.find_unfit(one.schedule for one in decisions if one.start or one.hold)
    batch = _DecisionRows(now, maker, inputs or {}, save, unfit)
    for decision in decisions:
        try:
            batch.add(decision)
        except Exception as problem:
            if refused is None:
                raise
            refused.append((decision, problem))
    if not_started is not None:
        not_started.update(batch.not_started)
    events: list[Row] = []
    for decision in batch.decisions:
        if decision.stop:
            events += yield from _stop(decision, now, maker.run_kinds)
    yield from batch.write()
    return events + batch.events + batch.schedule_events


def _stop(decision: ScheduleDecision, now: Micros, kinds: Kinds) -> Operation[list[Row]]:
    """Cancel or terminate the runs in `decision.stop`, because the overlap policy stops them. Return the events, which
    the caller writes."""
    events: list[Row] = []
    word = "terminated" if decision.terminate else "cancelled"
    status = Status.TERMINATED if decision.terminate else Status.CANCELLED
    reason = f"{word} by its schedule's overlap policy"
    for run in decision.stop:
        _, stop_events, ended = yield from stop_chain(run.root_id, status, reason, now, decision.terminate, kinds)
        events += stop_events
        for over in ended:
            events.append(stopped_event(now, over.run, reason, status))
    return events


def stopped_event(now: Micros, run: Run, reason: str, status: Status) -> Row:
    """Return the row of the event `schedule:canceled` for a run that was stopped."""
    return engine_rows.of_schedule(now, run, "schedule:canceled", reason=reason, status=status.value)


@dataclass
class _DecisionRows:
    now: Micros
    maker: Maker
    inputs: Inputs
    save: bool
    unfit: Mapping[str, OstinatoError]
    decisions: list[ScheduleDecision] = field(default_factory=list)
    not_started: list[tuple[str, str]] = field(default_factory=list)  # (a run's id, the reason)
    runs: list[Run] = field(default_factory=list)
    accompanied: list[InsertedRun] = field(default_factory=list)
    gated: list[Run] = field(default_factory=list)
    outcomes: list[Run] = field(default_factory=list)
    extended: list[Run] = field(default_factory=list)
    released: list[tuple[Live, str]] = field(default_factory=list)
    dropped: list[Row] = field(default_factory=list)
    schedules: list[Row] = field(default_factory=list)
    completed: list[Row] = field(default_factory=list)
    timers: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)
    schedule_events: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lists: list[list[Any]] = [one for one in vars(self).values() if isinstance(one, list)]

    def add(self, decision: ScheduleDecision) -> None:
        """Add all rows of a decision. If there is an error, add none of them, and raise the error."""
        before = [len(one) for one in self._lists]
        try:
            self._add(decision)
        except Exception:
            for rows, length in zip(self._lists, before, strict=True):
                del rows[length:]
            raise

    def _add(self, decision: ScheduleDecision) -> None:
        schedule = decision.schedule
        for fresh in decision.start:
            run = self._add_run(schedule, fresh)
            if run.status is Status.WAITING:
                self.timers.append(timer_row(remake_timer(run, self.now + SECOND)))
                continue
            if run.serial_key is None and run.concurrency_key is None:
                run.status, run.ready_at = Status.READY, self.now
            else:
                hold(run)
                self.gated.append(run)
        for fresh in decision.hold:
            run = self._add_run(schedule, fresh)
            run.status, run.hold, run.reason = Status.BUFFERED, "overlap", "overlap"
        for passed in decision.passed:
            self._add_passed(schedule, passed)
        for waiting in decision.release:
            self.released.append((waiting, dump({**waiting.detail, **last_outcome(schedule)})))
        for waiting, why, by in decision.drop:
            detail = {**waiting.detail, **_obstacle(schedule, why, waiting.overlap, by)}
            self.dropped.append((waiting.id, why.status.value, why.value, dump(detail)))
        if self.save:
            self.schedules.append(advance_row(schedule))
            if decision.completed:
                self.completed.append((schedule.id,))
            if schedule.next is not None:
                self.timers.append(timer_row(next_timer(schedule, schedule.next)))
        _add_schedule_events(decision, self.now, self.maker.companions, self.schedule_events)
        self.decisions.append(decision)

    def _add_run(self, schedule: Schedule, fresh: Fresh) -> Run:
        due = fresh.occurrence
        detail: dict[str, Any] = {"schedule": schedule.name, "nominal": due.nominal, "origin": due.origin}
        if fresh.previous is not None:
            detail["previous"] = fresh.previous
        if due.stands_for:
            detail["coalesced"] = due.stands_for
        if due.overlap is not None:
            detail["overlap"] = due.overlap.value
        if due.asked:
            detail["asked"] = True
        if schedule.action.facts:
            detail["facts"] = facts_of_occurrence(schedule, due.nominal)
        detail |= last_outcome(schedule)
        try:
            if schedule.id in self.unfit:
                raise self.unfit[schedule.id]
            run, deadline = self.maker.run(
                schedule, fresh.id, due.actual, self.now, detail, self.inputs.get(due.origin)
            )
        except Exception as problem:
            run, deadline = self._placeholder(schedule, fresh, detail, problem), None
        if deadline is not None:
            self.timers.append(timer_row(deadline))
        lower_priority(run, due.origin)
        self.runs.append(run)
        if schedule.companion is not None:
            self.accompanied.append(InsertedRun(run, schedule, due))
        return run

    def _placeholder(self, schedule: Schedule, fresh: Fresh, detail: dict[str, Any], problem: Exception) -> Run:
        """Return a run for an occurrence whose action cannot be built now, because of `problem`. Once the overlap
        policy lets the run start, the run counts as running, and a timer tries again to build its action."""
        due = fresh.occurrence
        input = self.inputs.get(due.origin)
        if input is not None:
            detail["input"] = input
        run = self.maker.placeholder(schedule, fresh.id, due.actual, self.now, {**detail, "tries": 1})
        run.status, run.reason = Status.WAITING, f"cannot start: {problem}"[:500]
        self.not_started.append((run.id, run.reason))
        report_failure(run, Status.FAILED, run.reason, "tried again")
        return run

    def _add_passed(self, schedule: Schedule, passed: Passed) -> None:
        detail: dict[str, Any] = {"schedule": schedule.name, "nominal": passed.nominal, "origin": passed.origin}
        detail |= _obstacle(schedule, passed.reason, passed.overlap, passed.blocked_by)
        if passed.count > 1 or not passed.new:
            detail |= {"count": passed.count, "last": passed.last}
        run = Run(
            id=passed.id,
            name=run_name(schedule.action),
            kind=schedule.action.kind,
            namespace=schedule.namespace,
            key=occurrence_key(schedule.id, passed.nominal, passed.origin),
            status=passed.reason.status,
            reason=passed.reason.value,
            due=passed.actual,
            created=self.now,
            finished=self.now,
            root_id=passed.id,
            actor=schedule.actor,
            schedule_id=schedule.id,
            detail=orjson.dumps(detail).decode(),
        )
        if passed.new:
            self.outcomes.append(run)
        else:
            self.extended.append(run)

    def write(self) -> Operation[None]:
        if self.runs:
            yield sql("insert_runs", [insert_row(run) for run in self.runs])
        for name, companion in self.maker.companions.items():
            inserted = [one for one in self.accompanied if one.schedule.companion == name]
            if inserted:
                yield from companion.runs_inserted(inserted)
        if self.outcomes:
            yield sql("insert_outcomes", list(map(_outcome_row, self.outcomes)))
        if self.extended:
            grown = {run.id: run for run in self.extended}
            details = [(run.id, run.detail) for run in grown.values()]
            existing = {id for (id,) in (yield sql("extend_outcomes", details, now=self.now))}
            # Retention deletes the row of a range that has not grown for a long time.
            gone = [run for run in grown.values() if run.id not in existing]
            if gone:
                yield sql("insert_outcomes", list(map(_outcome_row, gone)))
        if self.gated:
            yield from let_in(self.gated, self.now)
        if self.released:
            yield from _release(self.released, self.now)
        if self.dropped:
            yield sql("pass_over", self.dropped, now=self.now)
        if self.schedules:
            yield sql("advance_schedules", self.schedules)
        if self.completed:
            yield sql("complete_schedules", self.completed)
        if self.timers:
            yield sql("set_timers", self.timers)
        self.events += [created_event(run, self.now) for run in self.runs]


def last_outcome(schedule: Schedule) -> dict[str, Any]:
    """Return the schedule's `last_result` and `last_failure` for the next run's detail."""
    detail: dict[str, Any] = {}
    if schedule.outcomes.result is not None:
        detail["last_result"] = schedule.outcomes.result
    if schedule.outcomes.failure is not None:
        detail["last_failure"] = schedule.outcomes.failure
    return detail


def lower_priority(run: Run, origin: str) -> None:
    """If `origin` is that of a backfill, lower the priority of `run`, so that scheduled runs come first. Otherwise
    change nothing."""
    if origin.startswith(BACKFILL):
        run.priority -= BEHIND


def remake_timer(run: Run, due: Micros) -> Timer:
    return Timer("schedule", run.id, "make", due, run.namespace)


def _release(released: Sequence[tuple[Live, str]], now: Micros) -> Operation[None]:
    """Let runs start that the overlap policy has held back. `released` has a pair (run, new detail) for each run. If
    the run could not be built before, set a timer that tries again. Any other run becomes ready, or waits for its
    serial key or concurrency limit."""
    yield sql("set_details", [(one.id, detail) for one, detail in released])
    rows = yield sql("runs_by_ids", [(one.id,) for one, _ in released])
    not_started = {one.id for one, _ in released if "tries" in one.detail}
    runs = [run for run in map(whole_run, rows) if run.id not in not_started]
    if not_started:
        again = [run for run in map(whole_run, rows) if run.id in not_started]
        yield sql("wait_to_be_made", [(run.id, "cannot start: it is tried again") for run in again])
        yield sql("set_timers", [timer_row(remake_timer(run, now)) for run in again])
    free = [run for run in runs if run.serial_key is None and run.concurrency_key is None]
    if free:
        yield sql("set_ready", [(run.id, now) for run in free])
    yield from to_the_gates([r for r in runs if r.serial_key is not None or r.concurrency_key is not None], now)


def _obstacle(schedule: Schedule, why: Reason, overlap: Overlap | None, by: str | None) -> dict[str, str]:
    """Return why a due time gets no run, as a dict for the `detail` of its row:

    - `blocked_by`: the id of another run that blocked the due time (`by`); missing if no run did
    - `policy`: the value of the policy that prevented the run, such as `skip`; missing if no policy did
    """
    obstacle = {"blocked_by": by, "policy": _policy(schedule, why, overlap)}
    return {name: value for name, value in obstacle.items() if value is not None}


def _policy(schedule: Schedule, why: Reason, overlap: Overlap | None) -> str | None:
    """Return the setting of the policy that prevented a run, such as `skip`, or None if no policy did."""
    match why:
        case Reason.OVERLAP | Reason.REPLACED:
            return (overlap or schedule.policies.overlap).value
        case Reason.CATCHUP_WINDOW | Reason.COALESCED:
            return schedule.policies.catchup.mode
        case Reason.BUFFER_FULL:
            return str(schedule.policies.max_buffer)
        case _:
            return None


def _add_schedule_events(decision: ScheduleDecision, now: Micros, companions: Companions, events: list[Row]) -> None:
    schedule = decision.schedule
    companion = companions.get(schedule.companion or "")
    word = _word_passed if companion is None else companion.word_passed or _word_passed
    if decision.late:
        will = len(decision.start) + len(decision.hold)
        events.append(event_row(now, schedule, "late", late=decision.late, will_run=will))
    for fresh in decision.start:
        due = fresh.occurrence
        events.append(event_row(now, schedule, "triggered", run_id=fresh.id, nominal=due.nominal, origin=due.origin))
    for live in decision.release:
        detail = live.detail
        events.append(
            event_row(
                now, schedule, "triggered", run_id=live.root_id, nominal=detail["nominal"], origin=detail["origin"]
            )
        )
    for row in decision.passed:
        events.append(
            _passed_event(now, schedule, word(row.reason), row.since, row.origin, row.blocked_by, row.added, row.last)
        )
    for waiting, reason, by in decision.drop:
        nominal, origin = waiting.detail["nominal"], waiting.detail["origin"]
        events.append(_passed_event(now, schedule, word(reason), nominal, origin, by, 1, nominal))
    if decision.completed:
        events.append(event_row(now, schedule, "completed"))


def _word_passed(reason: Reason) -> PassedEvent:
    return PassedEvent(reason.status.value, {"reason": reason.value})


def _passed_event(
    now: Micros,
    schedule: Schedule,
    passed: PassedEvent,
    nominal: Micros,
    origin: str,
    by: str | None,
    count: int,
    last: Micros,
) -> Row:
    data: dict[str, Any] = {**passed.data, "nominal": nominal, "origin": origin}
    if by is not None:
        data["blocked_by"] = by
    if count > 1:
        data |= {"count": count, "last": last}
    return event_row(now, schedule, passed.event, **data)
