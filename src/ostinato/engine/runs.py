"""What happens to runs: starting, waking, ending, stopping. Each is one operation, one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple, TypeAlias

from ostinato.engine.gates import let_in, let_out
from ostinato.engine.kinds import RULES
from ostinato.engine.reporting import report_failure
from ostinato.engine.rows import event_row, insert_row, start_row, timer_row, whole_run
from ostinato.errors import NotFound
from ostinato.model import Run, Status, Timer
from ostinato.store.contract import Operation, Row, alone, sql
from ostinato.when.instants import Micros


def wake_timer(run: Run, due: Micros) -> Timer:
    return Timer("run", run.id, "wake", due, run.namespace)


def deadline_timer(run: Run, due: Micros) -> Timer:
    return Timer("run", run.root_id, "deadline", due, run.namespace)


def has_deadline(run: Run) -> bool:
    return run.options is not None and '"deadline"' in run.options


class Started(NamedTuple):
    """`id` is the chain's; `new` is false where the key was taken before."""

    id: str
    new: bool


class Ended(NamedTuple):
    """A chain that is over, and how."""

    run: Run
    status: Status
    reason: str | None
    result: str | None = None
    error: str | None = None


class After(NamedTuple):
    """Events to write, and whether anything else may go now."""

    events: list[Row]
    stirs: bool = False


# What else happens, in the same transaction, when chains end that belong to something: given what they belong to, as
# rows that are locked, and the ends. The layers above say what that is.
AfterEnd: TypeAlias = Callable[[Sequence[Row], Sequence[Ended], Micros], Operation[After]]
AFTER_END: dict[str, AfterEnd] = {}


def start(
    runs: Sequence[Run], now: Micros, deadlines: Sequence[Timer] = (), *, borrowed: bool = False
) -> Operation[list[Started]]:
    """Put runs on record. Those with a key that is taken are not started again; their chain's id comes back."""
    if not borrowed and not deadlines and all(map(_goes_at_once, runs, repeat(now))):
        return (yield from _start_at_once(runs, now))
    rows = []
    gated: list[Run] = []
    for run in runs:
        keyed = run.serial_key is not None or run.concurrency_key is not None
        if run.due > now or (keyed and borrowed):
            # Within a caller's transaction nothing may wait for a key's row, nor keep others waiting: the beat lets
            # it in when the caller has committed.
            run.status, run.ready_at = Status.WAITING, None
        elif not keyed:
            run.status, run.ready_at = Status.READY, run.due
        else:
            hold(run)
            gated.append(run)
        rows.append(insert_row(run))
    inserted = {row[0] for row in (yield sql("insert_runs", rows))}
    new = runs if len(inserted) == len(runs) else [r for r in runs if r.id in inserted]
    if gated:
        yield from let_in([r for r in gated if r.id in inserted], now)
    timers = [timer_row(wake_timer(r, r.due)) for r in new if r.status is Status.WAITING]
    timers += [timer_row(t) for t in deadlines if t.owner in inserted]
    if timers:
        yield sql("set_timers", timers)
    if new:
        yield sql("notify")
        yield sql("draft_events" if borrowed else "insert_events", [created(r, now) for r in new])
    return (yield from _started(runs, inserted))


def _goes_at_once(run: Run, now: Micros) -> bool:
    """Nothing but the row and its event is to be written for it."""
    return run.due <= now and run.serial_key is None and run.concurrency_key is None


def _start_at_once(runs: Sequence[Run], now: Micros) -> Operation[list[Started]]:
    rows = yield alone("start_runs", [start_row(run) for run in runs], now=now)
    if rows:
        yield sql("created_events", rows, now=now)
    return (yield from _started(runs, {row[0] for row in rows}))


def _started(runs: Sequence[Run], inserted: Set[str]) -> Operation[list[Started]]:
    """Each run's chain. One that was not inserted, and whose key is not another's, was inserted by an earlier try of
    this very call whose answer was lost: it is as new as the others."""
    if len(inserted) == len(runs):
        return [Started(run.root_id, True) for run in runs]
    roots: dict[str, str] = {}  # of those whose key was taken
    known = [r for r in runs if r.key is not None and r.id not in inserted]
    if known:
        found = yield sql("runs_by_keys", [(r.namespace, r.key) for r in known])
        by_key = {(namespace, key): id for namespace, key, id, _ in found}
        for run in known:
            roots[run.id] = by_key[run.namespace, run.key]
    return [Started(roots.get(run.id, run.root_id), roots.get(run.id, run.root_id) == run.root_id) for run in runs]


def hold(run: Run) -> None:
    """It stands at its first gate, and says which."""
    run.status = Status.BUFFERED
    run.hold = "serial" if run.serial_key is not None else "limit"
    run.reason = f"serial {run.serial_key}" if run.serial_key is not None else f"limit {run.concurrency_key}"


def created(run: Run, now: Micros) -> Row:
    if run.status is Status.WAITING:
        return event_row(now, run, "run:created", due=run.due)
    return event_row(now, run, "run:created")


def wake(ids: Sequence[str], now: Micros) -> Operation[list[Row]]:
    """Waiting runs whose time has come, or whose handler has: through their gates. Returns events to write."""
    woken = {row[0] for row in (yield sql("wake_runs", [(id,) for id in sorted(ids)], now=now))}
    if len(woken) == len(ids):
        return []
    rows = yield sql("runs_for_update", [(id,) for id in ids if id not in woken])
    yield from to_the_gates([r for r in map(whole_run, rows) if r.status is Status.WAITING], now)
    return []


def to_the_gates(runs: Sequence[Run], now: Micros) -> Operation[None]:
    """Runs with keys that waited for something else: they stand in line now."""
    if runs:
        for run in runs:
            hold(run)
        yield sql("set_buffered", [(r.id, r.hold, r.reason) for r in runs])
        yield from let_in(runs, now)


@dataclass(slots=True)
class End:
    """What becomes of a claimed run. Not `finished`: it only leaves its worker (waiting, or ready again)."""

    run: Run
    status: Status
    reason: str | None = None
    result: str | None = None
    error: str | None = None
    finished: bool = True
    following: Run | None = None
    event: str = ""
    lines: Sequence[Row] = ()
    stirs: bool = True  # written, it may let others go


# What else is written with ends that were accepted; returns events to write.
Also: TypeAlias = Callable[[], Operation[list[Row]]]


def end(ends: Sequence[End], node: str, now: Micros, also: Also | None = None) -> Operation[list[End]]:
    """The outcomes of claimed runs, those still fenced to `node` only. Returns the ends that were refused."""
    if not ends:
        return []
    if also is None and all(map(_is_all, ends)):
        if all(map(_ended_well, ends)):
            return (yield from _succeed(ends, node, now))
        if all(map(_is_nobodys, ends)):
            return (yield from _finish(ends, node, now))
    rows = [
        (
            e.run.id,
            e.run.claim,
            e.status.value,
            e.reason,
            e.result,
            e.error,
            now if e.finished else None,
            1 if e.following is not None else 0,
            now if e.status is Status.READY else None,
            None,
        )
        for e in ends
    ]
    owners = yield from lock_owners(e.run for e in ends)
    accepted = yield sql("end_runs", rows, node=node)
    refused: list[End] = []
    taken: Sequence[End] = ends
    if len(accepted) < len(ends):
        ids = {row[0] for row in accepted}
        taken = [e for e in ends if e.run.id in ids]
        refused = yield from _refused([e for e in ends if e.run.id not in ids], node)
    if not taken:
        return refused
    asked = {row[0] for row in accepted if row[1] is not None}
    if asked:
        yield from _cancel_instead([e for e in taken if e.run.id in asked], now)
    yield from _after(taken, now)
    events = [_ended(e, now) for e in taken]
    if also is not None:
        events += yield from also()
    over = [Ended(e.run, e.status, e.reason, e.result, e.error) for e in taken if e.finished and e.following is None]
    events += (yield from after_chains(owners, over, now)).events
    yield sql("insert_events", events)
    return refused


def lock_owners(runs: Iterable[Run]) -> Operation[list[Row]]:
    """The schedules of these runs, locked. Always before the runs themselves: who fires a schedule does it so too."""
    ids = {run.schedule_id for run in runs if run.schedule_id is not None}
    if not ids:
        return []
    return (yield sql("lock_owners", [(id,) for id in sorted(ids)]))


def after_chains(owners: Sequence[Row], ended: Sequence[Ended], now: Micros) -> Operation[After]:
    """What ended chains bring about in their schedules, which `lock_owners` has locked before."""
    owned = [one for one in ended if one.run.schedule_id is not None]
    if not owners or not owned or "schedule" not in AFTER_END:
        return After([])
    return (yield from AFTER_END["schedule"](owners, owned, now))


def _is_all(e: End) -> bool:
    """Nothing but the outcome and its event is to be written for it: no gate to pass on, no timer, no other attempt."""
    return (
        e.finished
        and e.following is None
        and not e.lines
        and not e.event
        and e.run.serial_key is None
        and e.run.concurrency_key is None
        and not has_deadline(e.run)
    )


def _is_nobodys(e: End) -> bool:
    return e.run.schedule_id is None


def _ended_well(e: End) -> bool:
    return e.run.schedule_id is not None and e.status is Status.SUCCEEDED


def _succeed(ends: Sequence[End], node: str, now: Micros) -> Operation[list[End]]:
    """Successes that only their schedules are to be told of."""
    owners = yield from lock_owners(e.run for e in ends)
    written = yield sql("succeed_runs", [(e.run.id, e.run.claim, e.result) for e in ends], node=node, now=now)
    refused: list[End] = []
    taken = ends
    if written[0][0] < len(ends):
        refused = yield from _refused(list(ends), node)
        if not written[0][0]:  # an earlier try has written what was to be written
            return refused
        lost = {e.run.id for e in refused}
        taken = [e for e in ends if e.run.id not in lost]
    events = [_ended(e, now) for e in taken]
    over = [Ended(e.run, e.status, e.reason, e.result, e.error) for e in taken]
    after = yield from after_chains(owners, over, now)
    for e in taken:
        e.stirs = after.stirs
    yield sql("insert_events", events + after.events)
    return refused


def _finish(ends: Sequence[End], node: str, now: Micros) -> Operation[list[End]]:
    rows = [(e.run.id, e.run.claim, e.status.value, e.reason, e.result, e.error) for e in ends]
    accepted = yield alone("finish_runs", rows, node=node, now=now)
    if accepted:
        yield sql("finished_events", accepted, now=now)
    if len(accepted) == len(ends):
        return []
    ids = {row[0] for row in accepted}
    return (yield from _refused([e for e in ends if e.run.id not in ids], node))


def _cancel_instead(ends: Sequence[End], now: Micros) -> Operation[None]:
    """Someone has asked for these to stop: where another attempt would follow, or the run go on later, it ends."""
    stopping = [e for e in ends if e.following is not None or not e.finished]
    for e in stopping:
        e.status, e.finished, e.following, e.event = Status.CANCELLED, True, None, ""
        e.reason = "cancelled"
    if stopping:
        yield sql("end_as_cancelled", [(e.run.id, e.reason) for e in stopping], now=now)


def _after(taken: Sequence[End], now: Micros) -> Operation[None]:
    """What an end brings about: lines kept, keys and limits passed on, next attempts, timers dropped. Keys are let
    out before the next attempt asks for them again, so that it stands in line like everyone else."""
    lines = [line for e in taken for line in e.lines]
    if lines:
        yield sql("insert_logs", lines)
    leaving = [e for e in taken if e.status is not Status.READY]
    serials = [e.run for e in leaving if e.run.serial_key is not None and _frees_serial(e)]
    limits = [e.run for e in leaving if e.run.concurrency_key is not None]
    if serials or limits:
        yield from let_out(serials, limits, now)
    following = [e.following for e in taken if e.following is not None]
    if following:
        yield from _follow(following, now)
    timed = [("run", e.run.root_id) for e in leaving if e.finished and e.following is None and has_deadline(e.run)]
    if timed:
        yield sql("drop_timers", timed)
    if following or serials or limits or len(leaving) < len(taken):
        yield sql("notify")


def _frees_serial(end: End) -> bool:
    if end.run.serial_hold == "active":
        return True
    return end.finished and end.following is None


def _refused(ends: list[End], node: str) -> Operation[list[End]]:
    """Tell what an earlier try of this very write has done from what the fence keeps out."""
    states = {row[0]: row for row in (yield sql("states_of", [(e.run.id,) for e in ends]))}

    def repeated(e: End) -> bool:
        row = states.get(e.run.id)
        return row is not None and row[1] == e.status.value and row[2] == node and row[3] == e.run.claim

    return [e for e in ends if not repeated(e)]


def _follow(runs: list[Run], now: Micros) -> Operation[None]:
    """Next attempts: waiting until their time, or through their gates at once."""
    gated: list[Run] = []
    timers: list[Row] = []
    for run in runs:
        if run.due > now:
            run.status = Status.WAITING
            timers.append(timer_row(wake_timer(run, run.due)))
        elif run.serial_key is None and run.concurrency_key is None:
            run.status, run.ready_at = Status.READY, now
        else:
            hold(run)
            gated.append(run)
    yield sql("insert_runs", [insert_row(r) for r in runs])
    if gated:
        yield from let_in(gated, now)
    if timers:
        yield sql("set_timers", timers)


def _ended(e: End, now: Micros) -> Row:
    if e.reason is None and e.following is None:
        return event_row(now, e.run, e.event or f"run:{e.status.value}")
    data: dict[str, object] = {}
    if e.reason:
        data["reason"] = e.reason
    if e.following is not None:
        data["next_attempt"] = e.following.id
        data["due"] = e.following.due
    return event_row(now, e.run, e.event or f"run:{e.status.value}", **data)


def stop(
    root: str, status: Status, reason: str | None, now: Micros, *, force: bool = False, actor: str | None = None
) -> Operation[tuple[Status, bool]]:
    """Cancel or terminate a chain. A run that a node holds is asked to stop, or with `force` ended at once.
    Returns where it stands then, and whether this changed it."""
    newest = yield sql("run_of_chain", root=root)
    owners = yield from lock_owners(map(whole_run, newest))
    found, events, ended = yield from stop_chain(root, status, reason, now, force)
    events += (yield from after_chains(owners, ended, now)).events
    if events:
        yield sql("notify")
        # Who stopped it is on record, where that is known; else who started it.
        yield sql("insert_events", [(*row[:5], actor or row[5]) for row in events])
    return found, bool(events)


def stop_chain(
    root: str, status: Status, reason: str | None, now: Micros, force: bool
) -> Operation[tuple[Status, list[Row], list[Ended]]]:
    """The same, for who has locked its schedule already: where it stands, events to write, and whether it is over."""
    run = yield from _newest_locked(root)
    if run.status.over:
        return run.status, [], []
    if run.kind in RULES:
        return (yield from RULES[run.kind].stop(run, status, reason, now))
    if run.status is Status.ACTIVE and not force:
        asked = yield sql("request_cancel", [(run.id, reason)], now=now)
        return run.status, [event_row(now, run, "run:cancel_requested", reason=reason)] if asked else [], []
    was = run.status
    yield sql("terminate_runs" if was is Status.ACTIVE else "stop_runs", [(run.id, status.value, reason)], now=now)
    yield sql("drop_timers", [("run", run.id), ("run", run.root_id)])
    held_limit = [run] if run.concurrency_key is not None and was in (Status.READY, Status.ACTIVE) else []
    held_serial = [run] if run.serial_key is not None else []
    yield from let_out(held_serial, held_limit, now)
    return status, [event_row(now, run, f"run:{status.value}", reason=reason)], [Ended(run, status, reason)]


def _newest_locked(root: str) -> Operation[Run]:
    """The newest attempt of a chain, locked. While its lock was waited for, another may have followed it."""
    while True:
        newest = yield sql("run_of_chain", root=root)
        if not newest:
            raise NotFound(f"there is no run {root!r}")
        (row,) = yield sql("runs_for_update", [(newest[0][0],)])
        run = whole_run(row)
        if not run.superseded:
            return run


def expire(roots: Sequence[str], now: Micros) -> Operation[list[Row]]:
    """Chains whose deadline has come, wherever they stand. Returns events to write."""
    events: list[Row] = []
    ended: list[Ended] = []
    newest: list[Run] = []
    for root in roots:
        newest += map(whole_run, (yield sql("run_of_chain", root=root)))
    owners = yield from lock_owners(newest)
    for run in newest:
        _, more, over = yield from stop_chain(run.root_id, Status.TIMED_OUT, "deadline", now, True)
        events += more
        ended += over
    for one in ended:
        report_failure(one.run, one.status, one.reason)
    return events + (yield from after_chains(owners, ended, now)).events
