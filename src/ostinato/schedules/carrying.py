"""Carrying out decisions: what was decided about many schedules becomes rows, in one transaction, in batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from ostinato.engine import rows as engine_rows
from ostinato.engine.gates import let_in
from ostinato.engine.reporting import report_failure
from ostinato.engine.rows import insert_row, timer_row, whole_run
from ostinato.engine.runs import created, hold, stop_chain, to_the_gates
from ostinato.errors import OstinatoError
from ostinato.model import Run, Status, Timer
from ostinato.schedules.decide import BACKFILL, Decision, Fresh, Live, Passed
from ostinato.schedules.live import live_of as live_of
from ostinato.schedules.making import BEHIND, Maker, kind_of, named
from ostinato.schedules.model import Occurrence, Overlap, Reason, Schedule
from ostinato.schedules.rows import advance_row, dump, event_row, occurrence_key
from ostinato.schedules.targets import unfit
from ostinato.schedules.workflow_ids import workflow_row
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros

NewId = Callable[[], str]
_DETAIL = 13  # where the detail stands in a row of `insert_outcomes`
Inputs = Mapping[str, Mapping[str, Any] | None]  # other arguments than the action's, by origin


def next_timer(schedule: Schedule, due: Micros) -> Timer:
    return Timer("schedule", schedule.id, "next", due, schedule.namespace)


def carry_out(
    decisions: Sequence[Decision],
    now: Micros,
    maker: Maker,
    *,
    inputs: Inputs | None = None,
    save: bool = True,
    refused: list[tuple[Decision, Exception]] | None = None,
) -> Operation[list[Row]]:
    """Write what was decided. Returns events to write. Not `save`: who calls writes the schedules' own rows. With
    `refused`, a decision that cannot be put into rows is left out, and told there."""
    unmakeable = yield from unfit(maker, (one.schedule for one in decisions if one.start or one.hold))
    works = _Works(now, maker, inputs or {}, save, unmakeable)
    for decision in decisions:
        try:
            works.take(decision)
        except Exception as problem:
            if refused is None:
                raise
            refused.append((decision, problem))
    events: list[Row] = []
    for decision in works.taken:
        if decision.stop:
            events += yield from _stop(decision, now)
    yield from works.write()
    return events + works.events + works.told


def _stop(decision: Decision, now: Micros) -> Operation[list[Row]]:
    """What runs makes place: asked to stop, or ended at once."""
    events: list[Row] = []
    word = "terminated" if decision.terminate else "cancelled"
    status = Status.TERMINATED if decision.terminate else Status.CANCELLED
    reason = f"{word} by its schedule's overlap policy"
    for one in decision.stop:
        _, told, ended = yield from stop_chain(one.root_id, status, reason, now, decision.terminate)
        events += told
        for over in ended:
            events.append(stopped(now, over.run, reason, status))
    return events


def stopped(now: Micros, run: Run, reason: str, status: Status) -> Row:
    """The schedule's own word for one of its runs that was made to end."""
    return engine_rows.of_schedule(now, run, "schedule:canceled", reason=reason, status=status.value)


class _Works:
    """The rows of many decisions, gathered."""

    def __init__(
        self, now: Micros, maker: Maker, inputs: Inputs, save: bool, unfit: Mapping[str, OstinatoError]
    ) -> None:
        self.now = now
        self.maker = maker
        self.inputs = inputs
        self.save = save
        self.unfit = unfit
        self.taken: list[Decision] = []
        self.runs: list[Run] = []
        self.named: list[tuple[Run, Schedule, Occurrence]] = []
        self.gated: list[Run] = []
        self.outcomes: list[Row] = []
        self.extended: list[Row] = []
        self.released: list[tuple[Live, str]] = []
        self.dropped: list[Row] = []
        self.schedules: list[Row] = []
        self.completed: list[Row] = []
        self.timers: list[Row] = []
        self.events: list[Row] = []
        self.told: list[Row] = []
        self._lists: list[list[Any]] = [one for one in vars(self).values() if isinstance(one, list)]

    def take(self, decision: Decision) -> None:
        """All the rows of a decision, or none of them if it raises."""
        before = [len(one) for one in self._lists]
        try:
            self._take(decision)
        except Exception:
            for rows, length in zip(self._lists, before, strict=True):
                del rows[length:]
            raise

    def _take(self, decision: Decision) -> None:
        schedule = decision.schedule
        for fresh in decision.start:
            run = self._run(schedule, fresh)
            if run.status is Status.WAITING:
                self.timers.append(timer_row(remake_timer(run, self.now + SECOND)))
                continue
            if run.serial_key is None and run.concurrency_key is None:
                run.status, run.ready_at = Status.READY, self.now
            else:
                hold(run)
                self.gated.append(run)
        for fresh in decision.hold:
            run = self._run(schedule, fresh)
            run.status, run.hold, run.reason = Status.BUFFERED, "overlap", "overlap"
        for passed in decision.passed:
            self._pass(schedule, passed)
        for one in decision.release:
            self.released.append((one, dump({**one.detail, **lessons(schedule)})))
        for one, why, by in decision.drop:
            told = _passed_over(schedule, one, why, by)
            self.dropped.append((one.id, why.status.value, why.value, dump(told)))
        if self.save:
            self.schedules.append(advance_row(schedule))
            if decision.completed:
                self.completed.append((schedule.id,))
            if schedule.next is not None:
                self.timers.append(timer_row(next_timer(schedule, schedule.next)))
        _tell(decision, self.now, self.told)
        self.taken.append(decision)

    def _run(self, schedule: Schedule, fresh: Fresh) -> Run:
        one = fresh.occurrence
        detail: dict[str, Any] = {"schedule": schedule.name, "nominal": one.nominal, "origin": one.origin}
        if fresh.previous is not None:
            detail["previous"] = fresh.previous
        if one.stands_for:
            detail["coalesced"] = one.stands_for
        if one.overlap is not None:
            detail["overlap"] = one.overlap.value
        if one.asked:
            detail["asked"] = True
        detail |= lessons(schedule)
        try:
            if schedule.id in self.unfit:
                raise self.unfit[schedule.id]
            run, deadline = self.maker.run(
                schedule, fresh.id, one.actual, self.now, detail, self.inputs.get(one.origin)
            )
        except Exception as problem:
            run, deadline = self._unmade(schedule, fresh, detail, problem), None
        if deadline is not None:
            self.timers.append(timer_row(deadline))
        step_back(run, one.origin)
        self.runs.append(run)
        self.named.append((run, schedule, one))
        return run

    def _unmade(self, schedule: Schedule, fresh: Fresh, detail: dict[str, Any], problem: Exception) -> Run:
        """It is tried again in a while, and until then counts as running; or when its turn comes, if it has to wait."""
        one = fresh.occurrence
        given = self.inputs.get(one.origin)
        if given is not None:
            detail["input"] = given
        run = self.maker.unmade(schedule, fresh.id, one.actual, self.now, {**detail, "tries": 1})
        run.status, run.reason = Status.WAITING, f"cannot start: {problem}"[:500]
        report_failure(run, Status.FAILED, run.reason, "tried again")
        return run

    def _pass(self, schedule: Schedule, one: Passed) -> None:
        detail: dict[str, Any] = {"schedule": schedule.name, "nominal": one.nominal, "origin": one.origin}
        if one.blocked_by is not None:
            detail["blocked_by"] = one.blocked_by
        policy = _policy(schedule, one.reason, one.overlap)
        if policy is not None:
            detail["policy"] = policy
        if one.count > 1 or not one.new:
            detail |= {"count": one.count, "last": one.last}
        text = orjson.dumps(detail).decode()
        row = (
            one.id,
            schedule.namespace,
            kind_of(schedule.action),
            named(schedule.action),
            occurrence_key(schedule.id, one.nominal, one.origin),
            one.reason.status.value,
            one.reason.value,
            "default",
            one.actual,
            self.now,
            self.now,
            one.id,
            schedule.id,
            text,
            schedule.actor,
        )
        if one.new:
            self.outcomes.append(row)
        else:
            self.extended.append(row)

    def write(self) -> Operation[None]:
        if self.runs:
            yield sql("insert_runs", [insert_row(run) for run in self.runs])
            if (yield sql("any_form")):
                yield sql("name_workflows", [workflow_row(*one) for one in self.named])
        if self.outcomes:
            yield sql("insert_outcomes", self.outcomes)
        if self.extended:
            grown = {row[0]: row for row in self.extended}
            texts = [(id, row[_DETAIL]) for id, row in grown.items()]
            there = {row[0] for row in (yield sql("extend_outcomes", texts, now=self.now))}
            # A stretch that did not grow for longer than rows are kept has lost its row.
            gone = [row for id, row in grown.items() if id not in there]
            if gone:
                yield sql("insert_outcomes", gone)
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
        self.events += [created(run, self.now) for run in self.runs]


def lessons(schedule: Schedule) -> dict[str, Any]:
    """What earlier runs leave to the next."""
    found: dict[str, Any] = {}
    if schedule.outcomes.result is not None:
        found["last_result"] = schedule.outcomes.result
    if schedule.outcomes.failure is not None:
        found["last_failure"] = schedule.outcomes.failure
    return found


def step_back(run: Run, origin: str) -> None:
    """What a backfill brings stands behind what the clock does."""
    if origin.startswith(BACKFILL):
        run.priority -= BEHIND


def remake_timer(run: Run, due: Micros) -> Timer:
    return Timer("schedule", run.id, "make", due, run.namespace)


def _release(released: Sequence[tuple[Live, str]], now: Micros) -> Operation[None]:
    """Buffered runs that may go: told what has happened since, then through their gates. Those whose actions could not
    be made are tried again first."""
    yield sql("set_details", [(one.id, detail) for one, detail in released])
    rows = yield sql("runs_by_ids", [(one.id,) for one, _ in released])
    unmade = {one.id for one, _ in released if "tries" in one.detail}
    runs = [run for run in map(whole_run, rows) if run.id not in unmade]
    if unmade:
        again = [run for run in map(whole_run, rows) if run.id in unmade]
        yield sql("wait_to_be_made", [(run.id, "cannot start: it is tried again") for run in again])
        yield sql("set_timers", [timer_row(remake_timer(run, now)) for run in again])
    free = [run for run in runs if run.serial_key is None and run.concurrency_key is None]
    if free:
        yield sql("set_ready", [(run.id, now) for run in free])
    yield from to_the_gates([r for r in runs if r.serial_key is not None or r.concurrency_key is not None], now)


def _passed_over(schedule: Schedule, one: Live, why: Reason, by: str | None) -> dict[str, Any]:
    told = dict(one.detail)
    if by is not None:
        told["blocked_by"] = by
    policy = _policy(schedule, why, one.overlap)
    if policy is not None:
        told["policy"] = policy
    return told


def _policy(schedule: Schedule, why: Reason, overlap: Overlap | None) -> str | None:
    """The policy that decided so, as it was then."""
    match why:
        case Reason.OVERLAP | Reason.REPLACED:
            return (overlap or schedule.policies.overlap).value
        case Reason.CATCHUP_WINDOW | Reason.COALESCED:
            return schedule.policies.catchup.mode
        case Reason.BUFFER_FULL:
            return str(schedule.policies.max_buffer)
        case _:
            return None


def _tell(decision: Decision, now: Micros, events: list[Row]) -> None:
    """What happened, as the schedule's own events."""
    schedule = decision.schedule
    if decision.late:
        will = len(decision.start) + len(decision.hold)
        events.append(event_row(now, schedule, "late", late=decision.late, will_run=will))
    for fresh in decision.start:
        one = fresh.occurrence
        events.append(event_row(now, schedule, "triggered", run_id=fresh.id, nominal=one.nominal, origin=one.origin))
    for live in decision.release:
        detail = live.detail
        events.append(
            event_row(
                now, schedule, "triggered", run_id=live.root_id, nominal=detail["nominal"], origin=detail["origin"]
            )
        )
    for row in decision.passed:
        events.append(_passed(now, schedule, row.reason, row.since, row.origin, row.blocked_by, row.added, row.last))
    for waiting, reason, by in decision.drop:
        told = waiting.detail
        events.append(_passed(now, schedule, reason, told["nominal"], told["origin"], by, 1, told["nominal"]))
    if decision.completed:
        events.append(event_row(now, schedule, "completed"))


def _passed(
    now: Micros,
    schedule: Schedule,
    reason: Reason,
    nominal: Micros,
    origin: str,
    by: str | None,
    count: int,
    last: Micros,
) -> Row:
    data: dict[str, Any] = {"reason": reason.value, "nominal": nominal, "origin": origin}
    if by is not None:
        data["blocked_by"] = by
    if count > 1:
        data |= {"count": count, "last": last}
    return event_row(now, schedule, reason.status.value, **data)
