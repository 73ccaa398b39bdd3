"""Start, wake, end and stop runs. Each function is one operation, which is one transaction or a part of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple, TypeAlias

from ostinato.engine.kinds import Kinds
from ostinato.engine.limits import let_in, let_out
from ostinato.engine.rows import event_row, insert_row, start_row, timer_row, whole_run
from ostinato.engine.run_logging import FAILURES, report_failure
from ostinato.errors import Conflict, NotFound
from ostinato.model import Run, Status, Timer
from ostinato.store.contract import Operation, Row, alone, sql
from ostinato.when.instants import SECOND, Micros

FOR_OTHERS: Micros = 5 * SECOND  # a timer that this node cannot handle is due again after this time, for other nodes


def wake_timer(run: Run, due: Micros) -> Timer:
    return Timer("run", run.id, "wake", due, run.namespace)


def deadline_timer(run: Run, due: Micros) -> Timer:
    return Timer("run", run.root_id, "deadline", due, run.namespace)


def has_deadline(run: Run) -> bool:
    return run.options is not None and '"deadline"' in run.options


class UnknownKind(Conflict):
    """Raised for a run of a kind that this process does not know."""


class Started(NamedTuple):
    """The result of starting a run. A chain is a run with its retries, and `id` is the id of a chain. If the run was
    inserted, `new` is true, and `id` is the id of the run's new chain. If another chain already had the key of the run,
    `new` is false, and `id` is the id of that other chain."""

    id: str
    new: bool


class Ended(NamedTuple):
    """A chain of attempts that has ended. `run` is the last attempt."""

    run: Run
    status: Status
    reason: str | None
    result: str | None = None
    error: str | None = None


class After(NamedTuple):
    """The consequences of ended runs. The caller must write the rows in `events`. If `stirs` is true, other runs may
    have become ready."""

    events: list[Row]
    stirs: bool = False


class Owners(NamedTuple):
    """The owners of ended runs, with their rows locked. `schedules` are the schedules that started the runs. `parents`
    are those parent runs that act on the end of a child."""

    schedules: Sequence[Row] = ()
    parents: Sequence[Run] = ()


def start(
    runs: Sequence[Run], now: Micros, deadlines: Sequence[Timer] = (), *, borrowed: bool = False
) -> Operation[list[Started]]:
    """Insert new runs, and return a `Started` for each. If an earlier run has the same key, the new run is not
    inserted. `deadlines` are the timers for the deadlines of the runs.

    If `borrowed` is true, the caller's code has opened the transaction and will commit it. So that this transaction
    cannot block others, `start` does not lock serial keys and limits. A run with a serial key or a limit waits until
    the transaction is committed. Then its timer fires, and the run joins the queue of its key or limit.
    """
    if not borrowed and not deadlines and all(map(_can_start_at_once, runs, repeat(now))):
        return (yield from _start_at_once(runs, now))
    rows = []
    gated: list[Run] = []
    for run in runs:
        keyed = run.serial_key is not None or run.concurrency_key is not None
        if run.due > now or (keyed and borrowed):
            # A caller's transaction may be long: it must not wait for the row of a key, nor lock that row. So the run
            # waits. When the caller has committed, the timer of the run fires, and the run queues for its key.
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
        yield sql("draft_events" if borrowed else "insert_events", [created_event(r, now) for r in new])
    return (yield from _started(runs, inserted))


def _can_start_at_once(run: Run, now: Micros) -> bool:
    """Return whether a run is due and has neither a serial key nor a limit (`concurrency_key`). Such a run needs no
    timer, and does not wait for other runs."""
    return run.due <= now and run.serial_key is None and run.concurrency_key is None


def _start_at_once(runs: Sequence[Run], now: Micros) -> Operation[list[Started]]:
    rows = yield alone("start_runs", [start_row(run) for run in runs], now=now)
    if rows:
        yield sql("created_events", rows, now=now)
    return (yield from _started(runs, {row[0] for row in rows}))


def _started(runs: Sequence[Run], inserted: Set[str]) -> Operation[list[Started]]:
    """Return a `Started` for each run. A chain is a run with its retries, and each new run begins a chain. `inserted`
    has the ids of the runs that this try of the transaction inserted. For each run:

    - If this try or an earlier try inserted the run, `new` is true, and `id` is the id of the run's chain.
    - If the run was not inserted, because an older chain has the same key, `new` is false, and `id` is the id of the
      older chain.
    """
    if len(inserted) == len(runs):
        return [Started(run.root_id, True) for run in runs]
    roots: dict[str, str] = {}  # from the id of a run that was not inserted to the id of the chain with its key
    keyed = [r for r in runs if r.key is not None and r.id not in inserted]
    if keyed:
        rows = yield sql("runs_by_keys", [(r.namespace, r.key) for r in keyed])
        by_key = {(namespace, key): id for namespace, key, id, _ in rows}
        for run in keyed:
            roots[run.id] = by_key[run.namespace, run.key]
    return [Started(roots.get(run.id, run.root_id), roots.get(run.id, run.root_id) == run.root_id) for run in runs]


def hold(run: Run) -> None:
    """Set the status of a run to `buffered`, and choose the queue in which it waits, without storing the run. If the
    run has a serial key, it waits in the queue of this key. Otherwise it waits in the queue of its limit."""
    run.status = Status.BUFFERED
    run.hold = "serial" if run.serial_key is not None else "limit"
    run.reason = f"serial {run.serial_key}" if run.serial_key is not None else f"limit {run.concurrency_key}"


def created_event(run: Run, now: Micros) -> Row:
    """Return the row of the event `run:created`."""
    if run.status is Status.WAITING:
        return event_row(now, run, "run:created", due=run.due)
    return event_row(now, run, "run:created")


def wake(ids: Sequence[str], now: Micros) -> Operation[list[Row]]:
    """Make waiting runs ready. A run with a serial key or a limit joins the queue of the key or the limit, and becomes
    ready only if there is room. Always returns an empty list, because waking a run needs no events."""
    woken = {row[0] for row in (yield sql("wake_runs", [(id,) for id in sorted(ids)], now=now))}
    if len(woken) == len(ids):
        return []
    rows = yield sql("runs_for_update", [(id,) for id in ids if id not in woken])
    yield from to_the_gates([r for r in map(whole_run, rows) if r.status is Status.WAITING], now)
    return []


def to_the_gates(runs: Sequence[Run], now: Micros) -> Operation[None]:
    """Put waiting runs into the queues of their serial keys or limits. A run becomes ready if there is room for it. The
    caller has locked the rows of the runs."""
    if runs:
        for run in runs:
            hold(run)
        yield sql("set_buffered", [(r.id, r.hold, r.reason) for r in runs])
        yield from let_in(runs, now)


@dataclass(slots=True)
class End:
    """The new state of a run, to be written when the node that claimed the run releases it.

    - `finished`: whether the attempt has ended; if false, the run waits, or is ready again
    - `following`: the next attempt; None if no attempt follows
    - `event`: the name of the event to write; if empty, the name consists of `run:` and the status, as in `run:failed`
    - `lines`: log lines to store
    - `stirs`: whether other runs may become ready because of this end
    """

    run: Run
    status: Status
    reason: str | None = None
    result: str | None = None
    error: str | None = None
    finished: bool = True
    following: Run | None = None
    event: str = ""
    lines: Sequence[Row] = ()
    stirs: bool = True


# Write more rows in the transaction that writes ends. It is called if at least one end was accepted. Returns the events
# to write.
Also: TypeAlias = Callable[[], Operation[list[Row]]]


def end(ends: Sequence[End], node: str, now: Micros, kinds: Kinds, also: Also | None = None) -> Operation[list[End]]:
    """Write the outcomes of runs that `node` has claimed, together with the next attempts, the freed keys and the
    events. Returns the outcomes that were refused, because the node has lost its claim. If at least one outcome was
    accepted, `also` is called to write more rows in the same transaction."""
    # Three paths write the same rows and events. Two are shortcuts for the common batches, and all ends of a batch must
    # qualify:
    #  - `_succeed`, for successes of schedules' runs. It sends three columns for each run instead of ten, and gets back
    #    a count instead of a row for each run.
    #  - `_finish`, for final outcomes of runs that have neither a schedule nor a parent. It locks no owners, and builds
    #    the events in SQL. On PostgreSQL the whole batch is one statement without BEGIN and COMMIT.
    #  - the code below, for everything else: next attempts, keys, deadlines, log lines, runs that only leave the node.
    # tests/scenario/engine/test_ends.py runs the same ends through a shortcut and through the code below, and compares.
    if not ends:
        return []
    if also is None and all(map(_is_final_and_plain, ends)):
        if all(map(_is_success_of_schedule, ends)):
            return (yield from _succeed(ends, node, now, kinds))
        if all(map(_has_no_owner if kinds.parents else _has_no_schedule, ends)):
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
    owners = yield from lock_owners([e.run for e in ends], kinds)
    accepted = yield sql("end_runs", rows, node=node)
    refused: list[End] = []
    written: Sequence[End] = ends
    if len(accepted) < len(ends):
        ids = {row[0] for row in accepted}
        written = [e for e in ends if e.run.id in ids]
        refused = yield from _find_refused([e for e in ends if e.run.id not in ids], node)
    if not written:
        return refused
    reasons = {id: reason for id, cancel_requested, reason in accepted if cancel_requested is not None}
    if reasons:
        yield from _cancel_instead([e for e in written if e.run.id in reasons], reasons, now)
    yield from _write_consequences(written, now)
    events = [_end_event(e, now) for e in written]
    if also is not None:
        events += yield from also()
    chains = [Ended(e.run, e.status, e.reason, e.result, e.error) for e in written if e.finished and not e.following]
    events += (yield from after_chains(owners, chains, now, kinds)).events
    yield sql("insert_events", events)
    return refused


def lock_owners(runs: Sequence[Run], kinds: Kinds) -> Operation[Owners]:
    """Lock the schedules and the parent runs of `runs`. Call this before `runs` are locked, to avoid deadlocks."""
    schedules: Sequence[Row] = ()
    parents: Sequence[Run] = ()
    ids = {run.schedule_id for run in runs if run.schedule_id is not None}
    if ids:
        schedules = yield sql("lock_owners", [(id,) for id in sorted(ids)])
    parent_ids = {run.parent_id for run in runs if run.parent_id is not None} if kinds.parents else set()
    if parent_ids:
        rows = yield sql("lock_parents", [(id,) for id in sorted(parent_ids)], kinds=kinds.parents)
        parents = [whole_run(row) for row in rows]
    return Owners(schedules, parents)


def after_chains(owners: Owners, ended: Sequence[Ended], now: Micros, kinds: Kinds) -> Operation[After]:
    """Notify schedules and parent runs that chains of attempts have ended. `owners` has these schedules and parent
    runs. The caller must have locked their rows, and must write the events in the returned `After`."""
    events: list[Row] = []
    stirs = False
    of_schedules = [chain for chain in ended if chain.run.schedule_id is not None]
    if owners.schedules and of_schedules and kinds.schedule_ended is not None:
        after = yield from kinds.schedule_ended(owners.schedules, of_schedules, now, kinds)
        events, stirs = after.events, after.stirs
    for name, kind in kinds.runs.items() if owners.parents else ():
        parents = {run.id: run for run in owners.parents if run.kind == name}
        children = [chain for chain in ended if chain.run.parent_id in parents]
        if children and kind.child_ended is not None:
            after = yield from kind.child_ended(list(parents.values()), children, now, kinds)
            events, stirs = events + after.events, stirs or after.stirs
    return After(events, stirs)


def _is_final_and_plain(e: End) -> bool:
    """Return whether `e` ends its chain without further work: there is no key to free, no deadline timer to delete, no
    log line to store, and no special event to write."""
    return (
        e.finished
        and e.following is None
        and not e.lines
        and not e.event
        and e.run.serial_key is None
        and e.run.concurrency_key is None
        and not has_deadline(e.run)
    )


def _has_no_schedule(e: End) -> bool:
    return e.run.schedule_id is None


def _has_no_owner(e: End) -> bool:
    return e.run.schedule_id is None and e.run.parent_id is None


def _is_success_of_schedule(e: End) -> bool:
    return e.run.schedule_id is not None and e.status is Status.SUCCEEDED


def _succeed(ends: Sequence[End], node: str, now: Micros, kinds: Kinds) -> Operation[list[End]]:
    """Write the outcomes of runs that schedules have started and that have succeeded. Returns the outcomes that were
    refused, because `node` has lost its claim. This is a fast path of `end`."""
    owners = yield from lock_owners([e.run for e in ends], kinds)
    ((count,),) = yield sql("succeed_runs", [(e.run.id, e.run.claim, e.result) for e in ends], node=node, now=now)
    refused: list[End] = []
    written = ends
    if count < len(ends):
        refused = yield from _find_refused(list(ends), node)
        if not count:  # all were refused, or an earlier try has written them with their events
            return refused
        refused_ids = {e.run.id for e in refused}
        written = [e for e in ends if e.run.id not in refused_ids]
    events = [_end_event(e, now) for e in written]
    chains = [Ended(e.run, e.status, e.reason, e.result, e.error) for e in written]
    after = yield from after_chains(owners, chains, now, kinds)
    for e in written:
        e.stirs = after.stirs
    yield sql("insert_events", events + after.events)
    return refused


def _finish(ends: Sequence[End], node: str, now: Micros) -> Operation[list[End]]:
    """Write outcomes after which no attempt follows. The runs have no schedule and no parent to notify. Returns the
    outcomes that were refused, because `node` has lost its claim. This is a fast path of `end`."""
    rows = [(e.run.id, e.run.claim, e.status.value, e.reason, e.result, e.error) for e in ends]
    accepted = yield alone("finish_runs", rows, node=node, now=now)
    if accepted:
        yield sql("finished_events", accepted, now=now)
    if len(accepted) == len(ends):
        return []
    ids = {row[0] for row in accepted}
    return (yield from _find_refused([e for e in ends if e.run.id not in ids], node))


def _cancel_instead(ends: Sequence[End], reasons: Mapping[str, str | None], now: Micros) -> Operation[None]:
    """Cancel runs that would otherwise continue or be retried. An `End` is the new state of a run that its node
    releases. The caller passes only ends of runs whose cancellation was requested, and in `reasons` the reason of each
    request by the run's id.

    - If the run would wait, become ready again or be retried, change its `End` to a cancellation, and store the
      cancellation.
    - Otherwise, leave the `End` unchanged.
    """
    stopping = [e for e in ends if e.following is not None or not e.finished]
    for e in stopping:
        e.status, e.finished, e.following, e.event = Status.CANCELLED, True, None, ""
        e.reason = reasons[e.run.id] or "cancelled"
    if stopping:
        yield sql("end_as_cancelled", [(e.run.id, e.reason) for e in stopping], now=now)


def _write_consequences(ends: Sequence[End], now: Micros) -> Operation[None]:
    """Store log lines, free keys and limits, insert next attempts, and delete deadline timers. Keys are freed before
    next attempts are inserted. So a run that already waits for a key gets it first."""
    lines = [line for e in ends for line in e.lines]
    if lines:
        yield sql("insert_logs", lines)
    leaving = [e for e in ends if e.status is not Status.READY]
    serials = [e.run for e in leaving if e.run.serial_key is not None and _frees_serial(e)]
    limits = [e.run for e in leaving if e.run.concurrency_key is not None]
    if serials or limits:
        yield from let_out(serials, limits, now)
    following = [e.following for e in ends if e.following is not None]
    if following:
        yield from _insert_attempts(following, now)
    timers = [("run", e.run.root_id) for e in leaving if e.finished and e.following is None and has_deadline(e.run)]
    if timers:
        yield sql("drop_timers", timers)
    if following or serials or limits or len(leaving) < len(ends):
        yield sql("notify")


def _frees_serial(end: End) -> bool:
    """Return whether `end` frees the serial key of its run. If `serial_hold` is "active", every end frees the key.
    Otherwise only the end of the whole chain frees it."""
    if end.run.serial_hold == "active":
        return True
    return end.finished and end.following is None


def _find_refused(ends: list[End], node: str) -> Operation[list[End]]:
    """Return the ends that were refused, because `node` has lost its claim. `ends` may also contain ends that an
    earlier try of this transaction has written. These ends are left out."""
    states = {id: state for id, *state in (yield sql("states_of", [(e.run.id,) for e in ends]))}
    return [e for e in ends if states.get(e.run.id) != [e.status.value, node, e.run.claim]]


def _insert_attempts(runs: list[Run], now: Micros) -> Operation[None]:
    """Insert next attempts. An attempt that is not due waits for its timer. A due attempt becomes ready, or joins the
    queue of its serial key or limit."""
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


def _end_event(e: End, now: Micros) -> Row:
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
    root: str,
    status: Status,
    reason: str | None,
    now: Micros,
    kinds: Kinds,
    *,
    force: bool = False,
    actor: str | None = None,
) -> Operation[tuple[Status, bool]]:
    """Stop a chain, which is a run with its retries. What happens depends on the chain's newest attempt:

    - If the attempt is over, nothing changes.
    - If the attempt is not a job, the `stop` function of its kind decides. `force` has no effect.
    - If a node is executing the attempt and `force` is false, the node gets a request to stop the attempt.
    - In all other cases, the attempt ends at once with `status` and `reason`.

    Returns (the status of the newest attempt afterwards, whether anything was changed). Raises `NotFound` if the chain
    does not exist. Raises `UnknownKind` if the attempt is not over and this process does not know its kind.
    """
    newest = yield sql("run_of_chain", root=root)
    owners = yield from lock_owners(list(map(whole_run, newest)), kinds)
    status_after, events, ended = yield from stop_chain(root, status, reason, now, force, kinds)
    events += (yield from after_chains(owners, ended, now, kinds)).events
    if events:
        yield sql("notify")
        # The events name the actor that stopped the run, or else the one that started it.
        yield sql("insert_events", [(*event, actor or starter) for *event, starter in events])
    return status_after, bool(events)


def stop_chain(
    root: str, status: Status, reason: str | None, now: Micros, force: bool, kinds: Kinds
) -> Operation[tuple[Status, list[Row], list[Ended]]]:
    """Stop a chain, which is a run with its retries, as `stop` does. Two things are left to the caller: to write the
    events, and to notify the owners of the chain. Owners are the schedule that started the chain, and a parent run. The
    caller must have locked them with `lock_owners`.

    Returns (the status of the newest attempt afterwards, events to write, ended chains). Raises the same errors as
    `stop`.
    """
    run = yield from _newest_locked(root)
    if run.status.over:
        return run.status, [], []
    if not kinds.knows(run.kind):
        raise UnknownKind(
            f"run {root} is a {run.kind}, which this process does not know; stop it through one that does"
        )
    if run.kind in kinds.runs:
        return (yield from kinds.runs[run.kind].stop(run, status, reason, now, kinds))
    if run.status is Status.ACTIVE and not force:
        requested = yield sql("request_cancel", [(run.id, reason)], now=now)
        return run.status, [event_row(now, run, "run:cancel_requested", reason=reason)] if requested else [], []
    before = run.status
    yield sql("terminate_runs" if before is Status.ACTIVE else "stop_runs", [(run.id, status.value, reason)], now=now)
    yield sql("drop_timers", [("run", run.id), ("run", run.root_id)])
    held_limit = [run] if run.concurrency_key is not None and before in (Status.READY, Status.ACTIVE) else []
    held_serial = [run] if run.serial_key is not None else []
    yield from let_out(held_serial, held_limit, now)
    return status, [event_row(now, run, f"run:{status.value}", reason=reason)], [Ended(run, status, reason)]


def stop_anywhere(
    run: Run, status: Status, reason: str | None, now: Micros
) -> Operation[tuple[Status, list[Row], list[Ended]]]:
    """End a run that is not a job, even while a node executes it. The caller has locked the run. Returns (the new
    status of the run, events, ended chains), as `stop_chain` does. The caller must write the events. The only ended
    chain is the run with its retries."""
    yield sql("end_anywhere", [(run.id, status.value, reason, None)], now=now)
    return status, [event_row(now, run, f"run:{status.value}", reason=reason)], [Ended(run, status, reason)]


def resume(runs: Sequence[Run], node: str, now: Micros, kinds: Kinds) -> Operation[None]:
    """Make runs of the dead node `node` ready again. Each run keeps its id and its attempt number. If the cancellation
    of a run was requested, the run is cancelled instead. `runs` must not contain runs of jobs."""
    yield from end([End(run, Status.READY, finished=False, event="run:resumed") for run in runs], node, now, kinds)


def _newest_locked(root: str) -> Operation[Run]:
    """Lock the newest attempt of a chain and return it. Raises `NotFound` if there is no such chain."""
    while True:  # while this transaction waits for the lock, another one may insert a newer attempt
        newest = yield sql("run_of_chain", root=root)
        if not newest:
            raise NotFound(f"there is no run {root!r}")
        (row,) = yield sql("runs_for_update", [(newest[0][0],)])
        run = whole_run(row)
        if not run.superseded:
            return run


def expire(roots: Sequence[str], now: Micros, kinds: Kinds) -> Operation[list[Row]]:
    """End chains whose deadline has passed. Returns events that the caller must write. If this process does not know
    the kind of a run, set the deadline timer again, so that another node can end the chain."""
    events: list[Row] = []
    ended: list[Ended] = []
    newest: list[Run] = []
    for root in roots:
        newest += map(whole_run, (yield sql("run_of_chain", root=root)))
    for_others = [timer_row(deadline_timer(run, now + FOR_OTHERS)) for run in newest if not kinds.knows(run.kind)]
    if for_others:
        yield sql("set_timers", for_others)
        newest = [run for run in newest if kinds.knows(run.kind)]
    owners = yield from lock_owners(newest, kinds)
    for run in newest:
        _, more_events, chains = yield from stop_chain(run.root_id, Status.TIMED_OUT, "deadline", now, True, kinds)
        events += more_events
        ended += chains
    for chain in ended:
        if chain.status in FAILURES:  # a kind of run may end its chain with another status
            report_failure(chain.run, chain.status, chain.reason)
    return events + (yield from after_chains(owners, ended, now, kinds)).events
