"""Update a schedule in the transaction that ends one of its runs. Store the outcome, start the next waiting run, and
pause the schedule after repeated failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from ostinato.engine import rows as engine_rows
from ostinato.engine.kinds import Kinds
from ostinato.engine.log import log
from ostinato.engine.rows import timer_row
from ostinato.engine.runs import After, Ended
from ostinato.model import Status, Timer
from ostinato.schedules.actions import Maker
from ostinato.schedules.companions import NO_COMPANIONS, Companions, RunVerdict
from ostinato.schedules.decisions.decide import (
    ScheduleDecision,
    complete_if_idle,
    decide,
    decide_by_oldest,
    oldest_suffice,
)
from ostinato.schedules.model import Outcomes, Schedule
from ostinato.schedules.operations.fast_path import plain_success
from ostinato.schedules.operations.load import load_live_runs
from ostinato.schedules.operations.write import write_decisions
from ostinato.schedules.rows import event_row, name_of, outcome_row, read_schedule
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros

FIRST = 20  # how many waiting runs are read if the oldest ones suffice to decide
_FAILURES = (Status.FAILED, Status.TIMED_OUT)
PAUSED_BY_FAILURES = "paused after "  # begins the notes of a schedule that its failures have paused


def remember(
    schedule: Schedule, ended: Ended, now: Micros, companions: Companions = NO_COMPANIONS
) -> tuple[Schedule, list[Row]]:
    """Return (schedule, events) after the end of one run. The caller writes both. The schedule has the outcome of the
    run. If runs of the schedule have failed too often in a row (`Policies.pause_after_failures`), it is paused. This
    function is pure."""
    before = schedule.outcomes
    data: dict[str, Any] = {} if ended.reason is None else {"reason": ended.reason}
    failed = ended.status in _FAILURES
    verdict = _read_verdict(schedule, ended, companions)
    if verdict is not None:
        after, event_name = _after_verdict(before, verdict, ended, now), verdict.event
        failed = verdict.succeeded is False
        data |= verdict.data
        if failed:
            data["status"] = Status.FAILED.value
    elif ended.status is Status.SUCCEEDED:
        result = None if ended.result is None else orjson.loads(ended.result)
        after = Outcomes(result, None, 0, now, now)
        event_name = "run_completed"
    elif failed:
        failure = {"run_id": ended.run.root_id, "status": ended.status.value, "reason": ended.reason}
        after = replace(before, failure=failure, failures=before.failures + 1, ended_at=now)
        event_name = "run_failed"
        data["status"] = ended.status.value
    else:
        after = replace(before, ended_at=now)
        event_name = "canceled"
        data["status"] = ended.status.value
    schedule = replace(schedule, outcomes=after)
    events = [engine_rows.of_schedule(now, ended.run, f"schedule:{event_name}", **data)]
    most = schedule.policies.pause_after_failures
    open = not schedule.paused and not schedule.closed
    if most is not None and after.failures >= most and failed and open:
        times = "a failure" if after.failures == 1 else f"{after.failures} failures in a row"
        # Runs of other kinds may be guarded: a reader of the schedule may not be allowed to see them.
        name = f", {ended.run.root_id}" if ended.run.kind == "job" else ""
        notes = f"{PAUSED_BY_FAILURES}{times}: {ended.status.value.replace('_', ' ')}{name}"
        schedule = replace(schedule, paused=now, next=None, notes=notes, token=schedule.token + 1)
        events.append(event_row(now, schedule, "paused", notes=notes, by="pause_after_failures"))
    return schedule, events


def has_facts(ended: Ended) -> bool:
    return '"facts"' in (ended.run.detail or "") and "facts" in orjson.loads(ended.run.detail or "{}")


def _read_verdict(schedule: Schedule, ended: Ended, companions: Companions) -> RunVerdict | None:
    companion = companions.get(schedule.companion or "")
    if companion is None or companion.read_verdict is None or not has_facts(ended):
        return None
    return companion.read_verdict(ended)


def _after_verdict(before: Outcomes, verdict: RunVerdict, ended: Ended, now: Micros) -> Outcomes:
    if verdict.succeeded is None:
        return replace(before, ended_at=now)
    if verdict.succeeded:
        return Outcomes(dict(verdict.data), None, 0, now, now)
    failure = {"run_id": ended.run.root_id, "status": "failed", "reason": verdict.data.get("reason")}
    return replace(before, failure=failure, failures=before.failures + 1, ended_at=now)


def conclude(
    owners: Sequence[Row], ended: Sequence[Ended], now: Micros, kinds: Kinds, *, companions: Companions
) -> Operation[After]:
    """Update schedules after some of their runs have ended. `owners` are the rows of the schedules, with the columns of
    the statement `lock_owners`. The schedules must be locked. Return an `After` with the `events`, which the caller
    writes, and with `stirs`, which is true if other runs may start now."""
    by_schedule: dict[str, list[Ended]] = {}
    for end in ended:
        by_schedule.setdefault(end.run.schedule_id or "", []).append(end)
    events: list[Row] = []
    plain: list[Row] = []
    others: list[str] = []
    for owner in owners:
        ends = by_schedule.get(owner[0], [])
        outcome = None
        if ends and all(end.status is Status.SUCCEEDED and not has_facts(end) for end in ends):
            outcome = plain_success(owner, ends[-1].result, now)
        if outcome is not None:
            plain.append(outcome)
            events += [engine_rows.of_schedule(now, end.run, "schedule:run_completed") for end in ends]
        elif ends:
            others.append(owner[0])
    if plain:
        yield sql("note_outcomes", plain)
    if others:
        events += yield from _conclude_whole(others, by_schedule, now, kinds, companions)
    return After(events, stirs=bool(others))


def _conclude_whole(
    ids: Sequence[str], ended: Mapping[str, Sequence[Ended]], now: Micros, kinds: Kinds, companions: Companions
) -> Operation[list[Row]]:
    """Update the schedules `ids` after some of their runs have ended, without the fast path. `ended` is a dict from
    schedule id to the ended runs. Return the events, which the caller writes."""
    events: list[Row] = []
    schedules: list[Schedule] = []
    coming: set[str] = set()  # schedules that had a next time
    for row in (yield sql("schedules_by_ids", [(id,) for id in ids])):
        try:
            schedule = read_schedule(row)
            if schedule.next is not None:
                coming.add(schedule.id)
            for end in ended[schedule.id]:
                running = not schedule.paused
                schedule, more = remember(schedule, end, now, companions)
                events += more
                if running and schedule.paused:
                    log.warning(
                        f"schedule {schedule.name!r} is {schedule.notes}",
                        action="schedule_paused",
                        schedule=schedule.name,
                        failures=schedule.outcomes.failures,
                        run=end.run.root_id,
                    )
            schedules.append(schedule)
        except Exception as problem:  # the beat parks it; the run still ends
            log.error(
                "a schedule cannot be read", action="schedule_unreadable", schedule=name_of(row), problem=str(problem)
            )
    if not schedules:
        return events
    decisions = yield from decide_waiting(schedules, now)
    maker = Maker(
        lambda _: None, run_kinds=kinds, companions=companions
    )  # the end of a run builds no new runs, so it needs no jobs
    events += yield from write_decisions(decisions, now, maker, save=False)
    yield sql("conclude_schedules", [outcome_row(d.schedule) for d in decisions])
    over = [("schedule", d.schedule.id) for d in decisions if d.schedule.next is None and d.schedule.id in coming]
    if over:  # paused, or out of actions
        yield sql("drop_timers", over)
    filling = [(s.id,) for s in schedules if s.memory.backfills]
    if filling:
        backfills = yield sql("open_backfills", filling)
        wake = [timer_row(Timer("schedule", id, "backfill", now, namespace)) for id, _, namespace in backfills]
        if wake:
            yield sql("set_timers", wake)
    return events


def decide_waiting(schedules: Sequence[Schedule], now: Micros) -> Operation[list[ScheduleDecision]]:
    """Return a decision for each schedule, in order: which waiting runs start, and whether the schedule completes. The
    schedules must be locked. If `decide.oldest_suffice` allows it, only the oldest waiting runs are read."""
    looked = [s for s in schedules if not s.closed and (s.memory.waiting or s.memory.backfills or s.next is None)]
    decided = {s.id: ScheduleDecision(s) for s in schedules}
    short = [s for s in looked if s.memory.waiting > FIRST and oldest_suffice(s)]
    live = yield from load_live_runs([s.id for s in short], hold=True, first=FIRST)
    done: set[str] = set()
    for schedule in short:
        if sum(run.waiting for run in live[schedule.id]) < FIRST:
            continue  # all of them were read
        by_the_first = decide_by_oldest(schedule, live.pop(schedule.id), now)
        if by_the_first is not None:
            decided[schedule.id] = by_the_first
            done.add(schedule.id)
    rest = [s for s in looked if s.id not in done]
    live |= yield from load_live_runs([s.id for s in rest if s.id not in live], hold=True)
    for schedule in rest:
        decision = decide(schedule, live[schedule.id], [], now, lambda: "")
        decided[schedule.id] = complete_if_idle(decision, live[schedule.id])
    return [decided[s.id] for s in schedules]
