"""One schedule at one moment: what its due times become, given what is running and waiting. Pure.

Everything that moves a schedule goes through here: the beat, a trigger, a backfill's step, the end of a run, and the
simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ostinato.model import Status
from ostinato.schedules.generator import BATCH, Generated, count_due, generate, next_time, occurrence
from ostinato.schedules.invoker import Verdict, Waiting, process_buffer
from ostinato.schedules.model import ROWS, Memory, Occurrence, Overlap, Reason, Schedule, State, Stretch
from ostinato.when.instants import Micros

BACKFILL = "backfill-"  # what the origin of a backfill's occurrences begins with


@dataclass(frozen=True, slots=True)
class Live:
    """A chain of a schedule that is not over. `waiting`: the overlap policy has not let it go yet."""

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
        own = self.detail.get("overlap")
        return None if own is None else Overlap(own)

    @property
    def filling(self) -> bool:
        """It is a backfill's, and stands behind what the clock brings."""
        return str(self.detail.get("origin", "")).startswith(BACKFILL)

    @property
    def aside(self) -> bool:
        """It is a backfill's that may run beside others: it is in nobody's way."""
        return self.filling and self.detail.get("overlap") == Overlap.ALLOW_ALL


@dataclass(frozen=True, slots=True)
class Fresh:
    """A new occurrence with the id its run gets, and the nominal time its data window begins at."""

    id: str
    occurrence: Occurrence
    previous: Micros | None


@dataclass(frozen=True, slots=True)
class Passed:
    """One row for times that do not run: one, or with a `count` a stretch that ends at `last`. `added` of them, from
    `since` on, are new: a row that is not `new` stood for the others before. `overlap`: the occurrence's own policy."""

    id: str
    nominal: Micros
    actual: Micros
    origin: str
    reason: Reason
    blocked_by: str | None = None
    count: int = 1
    last: Micros = 0
    new: bool = True
    added: int = 1
    since: Micros = 0
    overlap: Overlap | None = None


@dataclass(slots=True)
class Decision:
    """What is to be done about one schedule, and the schedule as it is then."""

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
) -> Decision:
    """Everything that is due by now, decided; the schedule moves on to its next time."""
    found = generate(schedule, now, batch)
    decision = decide(schedule, live, found.occurrences, now, new_id, found)
    decision.late = 0 if schedule.paused else found.late  # what passes in a pause is not late
    return settled(decision, live)


def pass_over(schedule: Schedule, now: Micros, reason: Reason, new_id: Callable[[], str]) -> Decision:
    """Everything that is due by now and was not dealt with does not run, for one reason, but for what someone had left
    out anyway. However many they are, no more is made of them than a row. Those that wait go on waiting: their turn has
    not come."""
    memory = schedule.memory
    still = replace(schedule, paused=schedule.paused or now, remaining=None)
    found = generate(still, now, ROWS + 1 + len(memory.left_out) + len(memory.kept))
    compiled = schedule.spec.compiled
    if not found.more:
        judged = (replace(one, reason=reason) if one.reason is Reason.PAUSED else one for one in found.occurrences)
        passed = replace(found, occurrences=tuple(judged))
        decision = decide(schedule, [], passed.occurrences, now, new_id, passed)
        after = decision.schedule
        waits = replace(after.memory, waiting=memory.waiting, alike=memory.alike)
        decision.schedule = replace(after, memory=waits)
        return decision
    first = next(one for one in found.occurrences if one.reason is Reason.PAUSED and not one.apart)
    count, last = count_due(schedule, first, now)
    # What was kept by an edit, left out, or moved ahead of its time has a row of its own.
    kept = [Occurrence(n, at, reason) for n, at in memory.kept.items() if at <= now]
    wishes = [occurrence(schedule, n) for n in sorted({*memory.left_out, *memory.moved}) if n > schedule.reached]
    wishes = [one for one in wishes if schedule.updated <= one.actual <= now and (one.reason or one.nominal > last)]
    apart = [*kept, *(replace(one, reason=one.reason or reason) for one in wishes)]
    count -= sum(first.nominal <= one.nominal <= last for one in wishes)
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
    rows = [row, *(_row(Fresh("", one, None), one.reason or reason, None, new_id) for one in apart)]
    counts = dict(memory.counts)
    for one in rows:
        counts[one.reason.value] = counts.get(one.reason.value, 0) + one.added
    reached = max([last, *(one.nominal for one in wishes)])
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
    return Decision(replace(after, next=next_time(after)), passed=rows)


def settled(decision: Decision, live: Sequence[Live]) -> Decision:
    """Nothing to come and nothing going on: it is completed, and stays readable. One without a spec never is: it was
    made to be triggered."""
    schedule = decision.schedule
    if decision.start or decision.hold or decision.release or not idle(schedule):
        return decision
    if len(live) <= len(decision.drop):
        decision.schedule = replace(schedule, state=State.COMPLETED)
        decision.completed = True
    return decision


def idle(schedule: Schedule) -> bool:
    """Nothing is to come by itself; it is over as soon as nothing is going on."""
    over = schedule.next is None and not schedule.paused and not schedule.spec.manual
    return over and not schedule.memory.backfills and schedule.state is State.RUNNING


def give_up(decision: Decision, waiting: Sequence[Live], reason: Reason) -> None:
    """These, which the decision does not know of, wait no longer."""
    decision.drop += [(one, reason, None) for one in waiting]
    memory = decision.schedule.memory
    counts = {**memory.counts, reason.value: memory.counts.get(reason.value, 0) + len(waiting)}
    decision.schedule = replace(decision.schedule, memory=replace(memory, counts=counts))


def decide(
    schedule: Schedule,
    live: Sequence[Live],
    occurrences: Sequence[Occurrence],
    now: Micros,
    new_id: Callable[[], str],
    found: Generated | None = None,
) -> Decision:
    """What becomes of these occurrences, and of those that wait. `found`: they are what time has brought, and the
    schedule moves on past them."""
    decision = Decision(schedule)
    waiting = sorted((one for one in live if one.waiting), key=lambda one: (one.due, one.id))
    running = sorted((one for one in live if not one.waiting and not one.aside), key=lambda one: (one.due, one.id))
    fresh, previous = _with_windows(schedule, occurrences, new_id)
    line = [
        (one.filling, Waiting(one.id, one.due, one.manual, one.overlap, bool(one.detail.get("asked"))))
        for one in waiting
    ]
    line += [
        (was.origin.startswith(BACKFILL), Waiting(one.id, was.actual, was.manual, was.overlap, was.asked))
        for one in fresh
        if (was := one.occurrence).reason is None
    ]
    line.sort(key=lambda one: one[0])  # those of a backfill stand behind what the clock, or someone, brings
    special = {one.id for filling, one in line if filling or one.asked or one.overlap is not None}
    verdict, stops = _judged(schedule, [one for _, one in line], running, now)
    decision.stop, decision.terminate = stops
    by_id = {one.id: one for one in waiting}
    new = {one.id: one for one in fresh}
    decision.release = [by_id[id] for id in verdict.start if id in by_id]
    decision.start = [new[id] for id in verdict.start if id in new]
    decision.hold = [new[id] for id in verdict.keep if id in new]
    decision.drop = [(by_id[id], *why) for id, why in verdict.dropped.items() if id in by_id]
    memory = _remembered(schedule.memory, decision, verdict, fresh, previous, new_id, found)
    memory = replace(memory, alike=bool(verdict.keep) and special.isdisjoint(verdict.keep))
    decision.schedule = _after(schedule, memory, verdict, found)
    return decision


def first_ones_tell(schedule: Schedule) -> bool:
    """Of those that wait one goes at the most, the first, and the others wait on, however many they are."""
    policies, memory = schedule.policies, schedule.memory
    return (
        memory.alike
        and policies.overlap is Overlap.BUFFER_ALL
        and not schedule.paused
        and (schedule.remaining is None or schedule.remaining > 1)
        and (policies.max_buffer is None or memory.waiting <= policies.max_buffer)
    )


def decide_by_the_first(schedule: Schedule, live: Sequence[Live], now: Micros) -> Decision | None:
    """`decide` after the end of a run, where only the first ones that wait are known, two at least. Not if one of them
    has waited too long, or none of them could have: others may, too. Whoever stands behind one that has not is younger
    than that."""
    decision = decide(schedule, live, [], now, lambda: "")
    never = schedule.policies.catchup.window is not None and all(one.manual for one in live if one.waiting)
    if decision.drop or never:
        return None
    after = decision.schedule
    waiting = max(after.memory.waiting, schedule.memory.waiting - len(decision.release))
    decision.schedule = replace(after, memory=replace(after.memory, waiting=waiting))
    return decision


def _judged(
    schedule: Schedule, line: Sequence[Waiting], running: Sequence[Live], now: Micros
) -> tuple[Verdict, tuple[list[Live], bool]]:
    """The verdict, and what is to be cancelled or terminated for it. Where all of that ends at once, who waits for it
    goes now."""
    verdict = process_buffer(schedule, line, [one.root_id for one in running], now)
    if not verdict.cancel and not verdict.terminate:
        return verdict, ([], False)
    stops = list(running), verdict.terminate
    if verdict.terminate or all(one.status is not Status.ACTIVE for one in running):
        verdict = process_buffer(schedule, line, [], now)
    return verdict, stops


def _with_windows(
    schedule: Schedule, occurrences: Sequence[Occurrence], new_id: Callable[[], str]
) -> tuple[list[Fresh], Micros | None]:
    """Each with where its data window begins: the nominal time before it, or before the first it stands for."""
    previous = schedule.memory.previous
    fresh: list[Fresh] = []
    compiled = schedule.spec.compiled
    for one in occurrences:
        if one.manual:
            fresh.append(Fresh(new_id(), one, compiled.previous(one.nominal)))
            continue
        if previous is None:
            previous = compiled.previous(one.nominal)
        fresh.append(Fresh(new_id() if one.reason is None else "", one, previous))
        if one.reason is not Reason.COALESCED:
            previous = one.nominal
    return fresh, previous


def _after(schedule: Schedule, memory: Memory, verdict: Verdict, found: Generated | None) -> Schedule:
    remaining, token = verdict.remaining, schedule.token
    if remaining != schedule.remaining:
        token += 1
    reached, following = (schedule.reached, schedule.next) if found is None else (found.reached, found.wake)
    if remaining is not None and remaining <= 0:
        following = None  # no actions are left, so no time is to come
    return replace(schedule, remaining=remaining, token=token, memory=memory, reached=reached, next=following)


def _remembered(
    memory: Memory,
    decision: Decision,
    verdict: Verdict,
    fresh: Sequence[Fresh],
    previous: Micros | None,
    new_id: Callable[[], str],
    found: Generated | None,
) -> Memory:
    counts = dict(memory.counts)
    started = len(decision.start) + len(decision.release)
    if started:
        counts["actions"] = counts.get("actions", 0) + started
    for _, why, _ in decision.drop:
        counts[why.value] = counts.get(why.value, 0) + 1
    stretch = memory.stretch
    group: list[tuple[Fresh, str | None]] = []
    group_reason: Reason | None = None
    reason: Reason | None
    for one in [*fresh, None]:
        reason, blocker = (None, None) if one is None else _reason(one, verdict)
        if group and group_reason is not None and (reason is not group_reason or one is None):
            stretch = _pass(decision, group, group_reason, stretch, new_id)
            counts[group_reason.value] = counts.get(group_reason.value, 0) + len(group)
            group = []
        if one is None:
            break
        group_reason = reason
        if reason is None:
            stretch = None
        else:
            group.append((one, blocker))
    coalesced, left_out, moved, kept = memory.coalesced, memory.left_out, memory.moved, memory.kept
    ahead = memory.ahead
    if found is not None:
        coalesced = found.coalesced
        if ahead:
            ahead = frozenset(n for n in ahead if n > found.reached)
        if left_out or moved or kept:
            done = {one.nominal for one in found.occurrences}
            left_out = frozenset(n for n in left_out if n > found.reached)
            moved = {n: at for n, at in moved.items() if n > found.reached}
            kept = {n: at for n, at in kept.items() if n not in done}
    waiting = len(verdict.keep)
    return Memory(counts, coalesced, left_out, moved, kept, previous, stretch, waiting, memory.backfills, ahead=ahead)


def _reason(one: Fresh, verdict: Verdict) -> tuple[Reason | None, str | None]:
    if one.occurrence.reason is not None:
        return one.occurrence.reason, None
    found: tuple[Reason | None, str | None] = verdict.dropped.get(one.id, (None, None))
    return found


def _pass(
    decision: Decision,
    group: Sequence[tuple[Fresh, str | None]],
    reason: Reason,
    stretch: Stretch | None,
    new_id: Callable[[], str],
) -> Stretch | None:
    """Rows for times in a row that do not run: each its own, or beyond `ROWS` of them one for all."""
    apart = [(one, blocker) for one, blocker in group if one.occurrence.manual or one.occurrence.apart]
    auto = [(one, blocker) for one, blocker in group if not one.occurrence.manual and not one.occurrence.apart]
    decision.passed += [_row(one, reason, blocker, new_id) for one, blocker in apart]
    if not auto:
        return stretch
    if stretch is not None and stretch.reason is not reason:
        stretch = None
    first, blocker = auto[0]
    last = auto[-1][0].occurrence.nominal
    if stretch is not None and stretch.run is not None:
        count = stretch.count + len(auto)
        since, begin = first.occurrence.nominal, stretch.first
        more = Passed(stretch.run, begin, begin, "auto", reason, blocker, count, last, False, len(auto), since)
        decision.passed.append(more)
        return replace(stretch, count=count)
    rows = (stretch.rows if stretch is not None else 0) + len(auto)
    if rows <= ROWS:
        decision.passed += [_row(one, reason, blocker, new_id) for one, blocker in auto]
        return Stretch(reason, 0, None, 0, rows)
    whole = first.occurrence
    id = new_id()
    count, begin = len(auto), whole.nominal
    decision.passed.append(Passed(id, begin, whole.actual, "auto", reason, blocker, count, last, True, count, begin))
    return Stretch(reason, count, id, begin, rows)


def _row(one: Fresh, reason: Reason, blocker: str | None, new_id: Callable[[], str]) -> Passed:
    was = one.occurrence
    id, at = one.id or new_id(), was.nominal
    return Passed(id, at, was.actual, was.origin, reason, blocker, 1, at, since=at, overlap=was.overlap)
