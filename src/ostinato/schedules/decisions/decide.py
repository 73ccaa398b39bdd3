"""Decide which occurrences of a schedule start, wait or do not run. The functions are pure. Callers use them when a
schedule fires, when a user triggers a schedule, when a backfill runs a step, when a run ends, and in simulations. The
most common firings and ends of runs use the module `fast_path` instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from ostinato.model import Status
from ostinato.schedules.decisions.catchup import BATCH, Generated, generate
from ostinato.schedules.decisions.due_times import count_due, next_time, occurrence
from ostinato.schedules.decisions.overlap import BufferDecision, Waiting, process_buffer
from ostinato.schedules.decisions.times_not_run import Fresh, Passed, add_rows, row_of
from ostinato.schedules.model import ROWS, Memory, Occurrence, Overlap, Reason, Schedule, State, Stretch
from ostinato.when.instants import Micros

BACKFILL = "backfill-"  # what the origin of a backfill's occurrences begins with


@dataclass(frozen=True, slots=True)
class Live:
    """An unfinished run of a schedule. The fields are those of its newest attempt. `waiting` is true if the overlap
    policy holds the run back."""

    id: str
    root_id: str
    status: Status
    waiting: bool
    due: Micros
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def manual(self) -> bool:
        return bool(self.detail.get("origin", "auto") != "auto")

    @property
    def overlap(self) -> Overlap | None:
        overlap = self.detail.get("overlap")
        return None if overlap is None else Overlap(overlap)

    @property
    def filling(self) -> bool:
        """Whether the run belongs to a backfill. The waiting runs of backfills come after all other waiting runs."""
        return str(self.detail.get("origin", "")).startswith(BACKFILL)

    @property
    def aside(self) -> bool:
        """Whether the run belongs to a backfill with the overlap policy ALLOW_ALL. Such a run blocks no other run."""
        return self.filling and self.detail.get("overlap") == Overlap.ALLOW_ALL


@dataclass(slots=True)
class ScheduleDecision:
    """The decision about one schedule at one moment.

    - `schedule`: the schedule after the decision
    - `start`: new runs that start
    - `hold`: new runs that wait
    - `release`: waiting runs that start now
    - `drop`: waiting runs that never start, each as (run, reason, id of the run that blocks it or None)
    - `passed`: rows for due times that get no run
    - `stop`: runs to cancel or, with `terminate`, to terminate
    - `late`: the number of late times
    - `completed`: whether the schedule completes now
    """

    schedule: Schedule
    start: list[Fresh] = field(default_factory=list)
    hold: list[Fresh] = field(default_factory=list)
    release: list[Live] = field(default_factory=list)
    drop: list[tuple[Live, Reason, str | None]] = field(default_factory=list)
    passed: list[Passed] = field(default_factory=list)
    stop: list[Live] = field(default_factory=list)
    terminate: bool = False
    late: int = 0
    completed: bool = False


def advance(
    schedule: Schedule, live: Sequence[Live], now: Micros, new_id: Callable[[], str], *, batch: int = BATCH
) -> ScheduleDecision:
    """Decide which due times of a schedule get a run, and which waiting runs start, keep waiting or are dropped. Write
    nothing: the caller can pass the returned decision to `write_decisions`. The schedule in the decision has its new
    `reached` and `next`. If more than `batch` times are due, the next call decides about the others."""
    generated = generate(schedule, now, batch)
    decision = decide(schedule, live, generated.occurrences, now, new_id, generated)
    decision.late = 0 if schedule.paused else generated.late  # times within a pause are not late
    return complete_if_idle(decision, live)


def pass_over(schedule: Schedule, now: Micros, reason: Reason, new_id: Callable[[], str]) -> ScheduleDecision:
    """Decide that no due time gets a run. `reason` says why. A time that a user skipped keeps the reason ASKED. Waiting
    runs keep waiting.

    If no more than about `ROWS` times are due, the rules of `add_rows` say which times share a row. If more times are
    due, they all share one row, except the following times, which get separate rows:

    - times that a user skipped
    - times after `now` that a user moved to `now` or earlier
    - times of an earlier spec
    """
    memory = schedule.memory
    still = replace(schedule, paused=schedule.paused or now, remaining=None)
    generated = generate(still, now, ROWS + 1 + len(memory.left_out) + len(memory.kept))
    compiled = schedule.spec.compiled
    if not generated.more:
        judged = [replace(due, reason=reason) if due.reason is Reason.PAUSED else due for due in generated.occurrences]
        passed = replace(generated, occurrences=tuple(judged))
        decision = decide(schedule, [], passed.occurrences, now, new_id, passed)
        after = decision.schedule
        waits = replace(after.memory, waiting=memory.waiting, alike=memory.alike)
        decision.schedule = replace(after, memory=waits)
        return decision
    first = next(due for due in generated.occurrences if due.reason is Reason.PAUSED and not due.apart)
    count, last = count_due(schedule, first, now)
    # A time that an edit kept, or that a user skipped or moved ahead, has its own row.
    kept = [Occurrence(n, at, reason) for n, at in memory.kept.items() if at <= now]
    wishes = [occurrence(schedule, n) for n in sorted({*memory.left_out, *memory.moved}) if n > schedule.reached]
    wishes = [due for due in wishes if schedule.updated <= due.actual <= now and (due.reason or due.nominal > last)]
    apart = [*kept, *(replace(due, reason=due.reason or reason) for due in wishes)]
    count -= sum(first.nominal <= due.nominal <= last for due in wishes)
    count -= sum(first.nominal <= n <= last and compiled.matches(n) for n in memory.ahead)
    stretch = memory.stretch
    if stretch is not None and stretch.reason is reason and stretch.run is not None:
        whole, begin = stretch.count + count, stretch.first
        row = Passed(stretch.run, begin, begin, "auto", reason, None, whole, last, False, count, first.nominal)
        stretch = replace(stretch, count=stretch.count + count)
    else:
        begin = first.nominal
        row = Passed(new_id(), begin, first.actual, "auto", reason, None, count, last, True, count, begin)
        stretch = Stretch(reason, count, row.id, first.nominal, ROWS)
    rows = [row, *(row_of(Fresh("", due, None), due.reason or reason, None, new_id) for due in apart)]
    counts = dict(memory.counts)
    for row in rows:
        counts[row.reason.value] = counts.get(row.reason.value, 0) + row.added
    reached = max([last, *(due.nominal for due in wishes)])
    after = replace(
        schedule,
        reached=reached,
        memory=replace(
            memory,
            counts=counts,
            stretch=stretch,
            kept={n: at for n, at in memory.kept.items() if at > now},
            moved={n: at for n, at in memory.moved.items() if n > reached},
            left_out=frozenset(n for n in memory.left_out if n > reached),
            ahead=frozenset(n for n in memory.ahead if n > reached),
            coalesced=0,
            previous=last,
        ),
    )
    return ScheduleDecision(replace(after, next=next_time(after)), passed=rows)


def complete_if_idle(decision: ScheduleDecision, live: Sequence[Live]) -> ScheduleDecision:
    """Complete the schedule of a decision, if `idle` is true for the schedule and no run is unfinished after the
    decision. This sets the schedule's state to COMPLETED, and `decision.completed` to true. Return the same decision.
    `live` has the runs that were unfinished before the decision."""
    schedule = decision.schedule
    if decision.start or decision.hold or decision.release or not idle(schedule):
        return decision
    if len(live) <= len(decision.drop):
        decision.schedule = replace(schedule, state=State.COMPLETED)
        decision.completed = True
    return decision


def idle(schedule: Schedule) -> bool:
    """Return whether the schedule completes when its last run ends. It does if all these conditions hold:

    - The state of the schedule is RUNNING, and the schedule is not paused.
    - The spec has sources, but the schedule has no next time.
    - The schedule has no unfinished backfill.
    """
    over = schedule.next is None and not schedule.paused and not schedule.spec.manual
    return over and not schedule.memory.backfills and schedule.state is State.RUNNING


def give_up(decision: ScheduleDecision, waiting: Sequence[Live], reason: Reason) -> None:
    """Drop all runs in `waiting`, which the overlap policy holds back. Add them to `decision.drop`, and count them
    under `reason` in the schedule's memory. None of them may be in `decision.drop` already."""
    decision.drop += [(run, reason, None) for run in waiting]
    memory = decision.schedule.memory
    counts = {**memory.counts, reason.value: memory.counts.get(reason.value, 0) + len(waiting)}
    decision.schedule = replace(decision.schedule, memory=replace(memory, counts=counts))


def decide(
    schedule: Schedule,
    live: Sequence[Live],
    occurrences: Sequence[Occurrence],
    now: Micros,
    new_id: Callable[[], str],
    generated: Generated | None = None,
) -> ScheduleDecision:
    """Decide which of the new `occurrences` and of the waiting runs of a schedule start, wait or never run.

    - If `generated` is set, `occurrences` are times of the spec. In the returned decision, the schedule has the values
      `reached` and `next` from `generated`.
    - If `generated` is None, `occurrences` come from a trigger or a backfill, or are empty. `reached` and `next` do not
      change.
    - In both cases, `next` becomes None if no actions remain.
    """
    decision = ScheduleDecision(schedule)
    waiting = sorted((run for run in live if run.waiting), key=lambda run: (run.due, run.id))
    running = sorted((run for run in live if not run.waiting and not run.aside), key=lambda run: (run.due, run.id))
    fresh, previous = _with_windows(schedule, occurrences, new_id)
    queue = [
        (run.filling, Waiting(run.id, run.due, run.manual, run.overlap, bool(run.detail.get("asked"))))
        for run in waiting
    ]
    queue += [
        (due.origin.startswith(BACKFILL), Waiting(new_run.id, due.actual, due.manual, due.overlap, due.asked))
        for new_run in fresh
        if (due := new_run.occurrence).reason is None
    ]
    queue.sort(key=lambda entry: entry[0])  # runs of a backfill come after all others
    special = {item.id for filling, item in queue if filling or item.asked or item.overlap is not None}
    verdict, stops = _judge(schedule, [item for _, item in queue], running, now)
    decision.stop, decision.terminate = stops
    by_id = {run.id: run for run in waiting}
    new = {new_run.id: new_run for new_run in fresh}
    decision.release = [by_id[id] for id in verdict.start if id in by_id]
    decision.start = [new[id] for id in verdict.start if id in new]
    decision.hold = [new[id] for id in verdict.keep if id in new]
    decision.drop = [(by_id[id], *why) for id, why in verdict.dropped.items() if id in by_id]
    memory = _next_memory(schedule.memory, decision, verdict, fresh, previous, new_id, generated)
    memory = replace(memory, alike=bool(verdict.keep) and special.isdisjoint(verdict.keep))
    decision.schedule = _after(schedule, memory, verdict, generated)
    return decision


def oldest_suffice(schedule: Schedule) -> bool:
    """Return whether the caller should try `decide_by_oldest`, which needs only the oldest waiting runs of the
    schedule. If the result is False, the caller must call `decide` with all waiting runs. The result is True if all
    these conditions hold:

    - The overlap policy is BUFFER_ALL, and all waiting runs follow only the policies of the schedule.
    - The schedule is not paused.
    - At least two actions remain, or the number of actions is not limited.
    - At most `max_buffer` runs wait, or the buffer is not limited.
    """
    policies, memory = schedule.policies, schedule.memory
    return (
        memory.alike
        and policies.overlap is Overlap.BUFFER_ALL
        and not schedule.paused
        and (schedule.remaining is None or schedule.remaining > 1)
        and (policies.max_buffer is None or memory.waiting <= policies.max_buffer)
    )


def decide_by_oldest(schedule: Schedule, live: Sequence[Live], now: Micros) -> ScheduleDecision | None:
    """Decide which waiting runs start after the end of a run. `live` has all running runs, and at least the two oldest
    waiting runs. Return None if the decision may depend on further waiting runs. The caller must then call `decide`
    with all waiting runs."""
    decision = decide(schedule, live, [], now, lambda: "")
    never = schedule.policies.catchup.window is not None and all(run.manual for run in live if run.waiting)
    if decision.drop or never:
        return None
    after = decision.schedule
    waiting = max(after.memory.waiting, schedule.memory.waiting - len(decision.release))
    decision.schedule = replace(after, memory=replace(after.memory, waiting=waiting))
    return decision


def _judge(
    schedule: Schedule, queue: Sequence[Waiting], running: Sequence[Live], now: Micros
) -> tuple[BufferDecision, tuple[list[Live], bool]]:
    """Apply the overlap policy to `queue`. Return (verdict, (runs to stop, whether to terminate them)).

    If the policy stops no runs, the list of runs to stop is empty. Otherwise the list has all runs in `running`, and
    there are two cases:

    - These runs end at once, because they are terminated, or because none of them is active. The verdict is then made
      as if no run were running, so that a run in `queue` can start now.
    - These runs are cancelled, and at least one of them is active. An active run ends later, so the verdict still
      counts all of them as running.
    """
    verdict = process_buffer(schedule, queue, [run.root_id for run in running], now)
    if not verdict.cancel and not verdict.terminate:
        return verdict, ([], False)
    stops = list(running), verdict.terminate
    if verdict.terminate or all(run.status is not Status.ACTIVE for run in running):
        verdict = process_buffer(schedule, queue, [], now)
    return verdict, stops


def _with_windows(
    schedule: Schedule, occurrences: Sequence[Occurrence], new_id: Callable[[], str]
) -> tuple[list[Fresh], Micros | None]:
    """Return (a `Fresh` for each occurrence, start of the next data window). The data window of an occurrence ends at
    its nominal time. It begins at the nominal time of the previous occurrence that is neither coalesced nor manual. The
    window of a manual occurrence begins at the previous time of the spec."""
    previous = schedule.memory.previous
    fresh: list[Fresh] = []
    compiled = schedule.spec.compiled
    for due in occurrences:
        if due.manual:
            fresh.append(Fresh(new_id(), due, compiled.previous(due.nominal)))
            continue
        if previous is None:
            previous = compiled.previous(due.nominal)
        fresh.append(Fresh(new_id() if due.reason is None else "", due, previous))
        if due.reason is not Reason.COALESCED:
            previous = due.nominal
    return fresh, previous


def _after(schedule: Schedule, memory: Memory, verdict: BufferDecision, generated: Generated | None) -> Schedule:
    remaining, token = verdict.remaining, schedule.token
    if remaining != schedule.remaining:
        token += 1
    reached, following = (schedule.reached, schedule.next) if generated is None else (generated.reached, generated.wake)
    if remaining is not None and remaining <= 0:
        following = None  # no actions remain, so there is no next time
    return replace(schedule, remaining=remaining, token=token, memory=memory, reached=reached, next=following)


def _next_memory(
    memory: Memory,
    decision: ScheduleDecision,
    verdict: BufferDecision,
    fresh: Sequence[Fresh],
    previous: Micros | None,
    new_id: Callable[[], str],
    generated: Generated | None,
) -> Memory:
    """Return the memory of the schedule after a decision. As a side effect, add rows to `decision.passed` for the due
    times in `fresh` that get no run. Several of these times may share a row."""
    counts = dict(memory.counts)
    started = len(decision.start) + len(decision.release)
    if started:
        counts["actions"] = counts.get("actions", 0) + started
    for _, why, _ in decision.drop:
        counts[why.value] = counts.get(why.value, 0) + 1
    stretch = memory.stretch
    judged = [(new_run, *_reason(new_run, verdict)) for new_run in fresh]
    for reason, alike in groupby(judged, key=lambda entry: entry[1]):
        if reason is None:
            stretch = None
            continue
        group = [(new_run, blocker) for new_run, _, blocker in alike]
        stretch = add_rows(decision.passed, decision.schedule, group, reason, stretch, new_id)
        counts[reason.value] = counts.get(reason.value, 0) + len(group)
    coalesced, left_out, moved, kept = memory.coalesced, memory.left_out, memory.moved, memory.kept
    ahead = memory.ahead
    if generated is not None:
        coalesced = generated.coalesced
        if ahead:
            ahead = frozenset(n for n in ahead if n > generated.reached)
        if left_out or moved or kept:
            done = {due.nominal for due in generated.occurrences}
            left_out = frozenset(n for n in left_out if n > generated.reached)
            moved = {n: at for n, at in moved.items() if n > generated.reached}
            kept = {n: at for n, at in kept.items() if n not in done}
    waiting = len(verdict.keep)
    return Memory(counts, coalesced, left_out, moved, kept, previous, stretch, waiting, memory.backfills, ahead=ahead)


def _reason(fresh: Fresh, verdict: BufferDecision) -> tuple[Reason | None, str | None]:
    """Return (reason, blocker): why an occurrence does not run, and the id of the run that blocks it. The reason is
    None if the occurrence starts or waits. The blocker is None if no run blocks the occurrence."""
    if fresh.occurrence.reason is not None:
        return fresh.occurrence.reason, None
    dropped: tuple[Reason | None, str | None] = verdict.dropped.get(fresh.id, (None, None))
    return dropped
