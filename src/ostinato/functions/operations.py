"""Write the steps, waits, ends and messages of durable functions. One transaction writes for many runs.

Every transaction takes its locks in the same order: first schedules and parent runs, then the runs themselves.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from enum import Enum, auto

from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import audit, timer_row, whole_run
from ostinato.engine.runs import End, Started, end, lock_owners, start, wake
from ostinato.errors import NotFound
from ostinato.functions.errors import FunctionOver, MailboxFull
from ostinato.functions.model import CHILDREN, GRACE, KIND, MOST_MESSAGES, WAKE, FunctionRecord, Message
from ostinato.functions.store import function_row, message_row, statement
from ostinato.model import Run, Status, Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros, format_instant


class WriteResult(Enum):
    DONE = auto()
    REFUSED = auto()  # the run is no longer this node's
    ARRIVED = auto()  # what it waits for has come; it was not parked


@dataclass(slots=True)
class Wanted:
    """What a run waits for: messages with these names, the ends of these children, or the time `due`."""

    names: Sequence[str] = ()
    children: Sequence[str] = ()
    due: Micros | None = None


@dataclass(slots=True)
class Child:
    """A child run to start. `policy` says whether the child is cancelled or terminated when its parent ends. If
    `policy` is None, the child continues."""

    run: Run
    deadline: Timer | None
    policy: str | None


@dataclass(slots=True)
class Write:
    """The changes to write for one claimed run.

    - `steps`: the rows of new and changed steps
    - `function`: the run's record, or None if it has not changed
    - `taken`: the received messages, as (message id, position of the `receive`)
    - `children`: the child runs to start
    - `lines`: the new log lines
    - `parks`: what the run will wait for, or None if the run does not park
    - `end`: how the run ends or is handed back, or None if neither happens
    - `continues`: whether the run begins again with a new input; if so, its old steps are deleted
    - `grace`: when the clean-up of a cancelled run must be finished, or None if no clean-up begins
    """

    run: Run
    steps: Sequence[Row] = ()
    function: FunctionRecord | None = None
    taken: Sequence[tuple[str, str]] = ()
    children: Sequence[Child] = ()
    lines: Sequence[Row] = ()
    parks: Wanted | None = None
    end: End | None = None
    continues: bool = False
    grace: Micros | None = None


def write(writes: Sequence[Write], node: str, now: Micros, kinds: Kinds) -> Operation[list[WriteResult]]:
    """Write the progress of runs that `node` holds. Return one answer for each write:

    - `DONE`: the changes are written.
    - `ARRIVED`: the changes are written, but the run is not parked. A message or an ended child that the run waits for
      has arrived, or a request to cancel the run.
    - `REFUSED`: the node no longer holds the run, and nothing was changed.
    """
    leaving = [written.run for written in writes if written.parks is not None or written.end is not None]
    if leaving:
        yield from lock_owners(leaving, kinds)
    rows = yield statement("hold_functions", [(written.run.id, written.run.claim) for written in writes], node=node)
    held = {(id, claim) for id, claim in rows}
    repeated: set[tuple[str, int]] = set()
    if len(held) < len(writes):
        repeated = yield from _already_written([written for written in writes if _claim(written) not in held], node)
    todo = [written for written in writes if _claim(written) in held]
    yield from _write_rows(todo, now)
    ending = {written.run.root_id for written in todo if written.end is not None and written.end.finished}
    arrived = yield from _arrived([written for written in todo if written.parks is not None], ending)
    parking = [written for written in todo if written.parks is not None and written.run.id not in arrived]
    yield from _set_wakes(parking)
    ends = [_park_end(written) for written in parking]
    ends += [replace(written.end) for written in todo if written.end is not None]
    if ends:
        finished = [ending.run for ending in ends if ending.finished]
        if finished:
            yield from close_runs(finished, now)
        yield from end(ends, node, now, kinds)
    return [
        WriteResult.ARRIVED
        if _claim(written) in held and written.run.id in arrived
        else WriteResult.DONE
        if _claim(written) in held or _claim(written) in repeated
        else WriteResult.REFUSED
        for written in writes
    ]


def _claim(written: Write) -> tuple[str, int]:
    return written.run.id, written.run.claim


def _already_written(writes: Sequence[Write], node: str) -> Operation[set[tuple[str, int]]]:
    """Return (run id, claim) for each write that was committed before. A node repeats a write if the answer to the
    first attempt was lost. The repeated write then finds that the node no longer holds the run, because the first
    attempt has released it. Only writes that park, end or hand back a run are checked."""
    leaving = [written for written in writes if written.parks is not None or written.end is not None]
    if not leaving:
        return set()
    states = {id: state for id, *state in (yield sql("states_of", [(written.run.id,) for written in leaving]))}
    return {
        _claim(written)
        for written in leaving
        if states.get(written.run.id)
        == [(_park_end(written) if written.end is None else written.end).status.value, node, written.run.claim]
    }


def _write_rows(writes: Sequence[Write], now: Micros) -> Operation[None]:
    dropped = [(written.run.id,) for written in writes if written.continues]
    if dropped:
        yield statement("drop_steps", dropped)
    steps = [row for written in writes for row in written.steps]
    if steps:
        yield statement("put_steps", steps)
    functions = [function_row(written.function) for written in writes if written.function is not None]
    if functions:
        yield statement("put_functions", functions)
    taken = [(written.run.id, id, position) for written in writes for id, position in written.taken]
    if taken:
        yield statement("take_messages", taken)
    children = [child for written in writes for child in written.children]
    if children:
        yield from start(
            [replace(child.run) for child in children],
            now,
            [child.deadline for child in children if child.deadline is not None],
        )
        policies = [(child.run.parent_id, child.run.id, child.policy) for child in children if child.policy is not None]
        if policies:
            yield statement("put_children", policies)
    lines = [line for written in writes for line in written.lines]
    if lines:
        yield statement("add_function_lines", lines)
    recovered = [(written.run.id,) for written in writes if written.run.crashes and written.steps]
    if recovered:
        yield statement("reset_crashes", recovered)
    graces = [
        timer_row(Timer(KIND, written.run.id, GRACE, written.grace, written.run.namespace))
        for written in writes
        if written.grace is not None
    ]
    if graces:
        yield sql("set_timers", graces)


def _arrived(writes: Sequence[Write], ending: Set[str]) -> Operation[set[str]]:
    """Return the ids of the runs that must not park. `ending` are the ids of the runs that end in this transaction. The
    caller must have locked the runs. A run must not park in these cases:

    - A message that the run waits for has arrived.
    - A child that the run waits for has ended.
    - The cancellation of the run is requested.
    """
    if not writes:
        return set()
    names = [(written.run.id, name) for written in writes if written.parks is not None for name in written.parks.names]
    arrived = {row[0] for row in (yield statement("waiting_messages", names))} if names else set()
    parents = {
        child: written.run.id for written in writes if written.parks is not None for child in written.parks.children
    }
    arrived |= {parent for child, parent in parents.items() if child in ending}
    if parents:
        arrived |= {parents[row[0]] for row in (yield sql("chains_ended", [(child,) for child in parents]))}
    rows = yield statement("cancels_of", [(written.run.id,) for written in writes])
    return arrived | {row[0] for row in rows}


def _set_wakes(parking: Sequence[Write]) -> Operation[None]:
    timed = [
        timer_row(Timer(KIND, written.run.id, WAKE, written.parks.due, written.run.namespace))
        for written in parking
        if written.parks is not None and written.parks.due is not None
    ]
    if timed:
        yield sql("set_timers", timed)


def _park_end(written: Write) -> End:
    assert written.parks is not None
    return End(written.run, Status.WAITING, _reason(written.parks), finished=False, event="run:waiting")


def _reason(wanted: Wanted) -> str:
    parts = [f"a message {name!r}" for name in dict.fromkeys(wanted.names)]
    if wanted.children:
        parts.append("a child" if len(wanted.children) == 1 else f"{len(wanted.children)} children")
    words = " or ".join(parts)[:160]
    if wanted.due is not None:
        moment = f"the time {_moment(wanted.due)}"
        words = f"{words} or {moment}" if words else moment
    return words or "nothing"


def _moment(due: Micros) -> str:
    try:
        return format_instant(due - due % SECOND)
    except (OverflowError, ValueError):
        return "after the year 9999"


def close_runs(runs: Sequence[Run], now: Micros) -> Operation[None]:
    """Delete the timers of runs that end. If a run has children, set a new timer that is due at once. When this timer
    fires, `stop_children` stops the children."""
    ids = [(run.id,) for run in runs]
    yield sql("drop_timers", [(KIND, run.id) for run in runs])
    parents = {row[0] for row in (yield statement("have_children", ids))}
    timers = [timer_row(Timer(KIND, run.id, CHILDREN, now, run.namespace)) for run in runs if run.id in parents]
    if timers:
        yield sql("set_timers", timers)


# From outside


@dataclass(frozen=True, slots=True)
class Sending:
    """A message to send to a run. `namespace` is the sender's namespace, and the run must be in it."""

    message: Message
    namespace: str


def send(sendings: Sequence[Sending], now: Micros) -> Operation[list[str]]:
    """Put messages into mailboxes, and wake the runs that wait. A run receives its messages in the order of arrival.

    Return one answer for each message:

    - `not_found`: the namespace has no such run.
    - the run's status, such as `failed`: the run has ended.
    - `full`: the mailbox is full.
    - '': the message is in the mailbox, or the run already had a message with this id.
    """
    ids = sorted({sending.message.run_id for sending in sendings})
    runs = {run.id: run for run in map(whole_run, (yield sql("runs_for_update", [(id,) for id in ids])))}
    rows = (yield statement("unread_messages", [(id,) for id in runs])) if runs else []
    unread = {id: int(count) for id, count, _ in rows}
    last = {id: int(sent) for id, _, sent in rows}
    answers: list[str] = []
    good: list[Sending] = []
    for sending in sendings:
        run = runs.get(sending.message.run_id)
        problem = ""
        if run is None or run.kind != KIND or run.namespace != sending.namespace:
            problem = "not_found"
        elif run.status.over:
            problem = run.status.value
        elif unread[run.id] >= MOST_MESSAGES:
            problem = "full"
        else:
            unread[run.id] += 1
            last[run.id] = max(sending.message.sent, last[run.id] + 1)
            good.append(replace(sending, message=replace(sending.message, sent=last[run.id])))
        answers.append(problem)
    if any(answers):
        answers = yield from _without_repeated(sendings, answers)
    if good:
        rows = yield statement("insert_messages", [message_row(sending.message) for sending in good])
        new = {(run_id, id) for run_id, id in rows}
        events = [
            audit(
                now,
                sending.namespace,
                "function:message",
                sending.message.run_id,
                sending.message.actor,
                message=sending.message.name,
            )
            for sending in good
            if (sending.message.run_id, sending.message.id) in new
        ]
        waiting = sorted({id for id, _ in new if runs[id].status is Status.WAITING and not is_delayed(runs[id], now)})
        if waiting:
            yield from wake(waiting, now)
        if events:
            yield sql("notify")
            yield sql("insert_events", events)
    return answers


def _without_repeated(sendings: Sequence[Sending], answers: Sequence[str]) -> Operation[list[str]]:
    """Return a copy of `answers` in which each repeated message has the answer '', which means accepted. A message is
    repeated if its run already has a stored message with the same id. The answer `not_found` never changes."""
    refused = [(s.message.run_id, s.message.id) for s, answer in zip(sendings, answers, strict=True) if answer]
    existing = {tuple(row) for row in (yield statement("existing_messages", refused))}
    return [
        "" if answer != "not_found" and (sending.message.run_id, sending.message.id) in existing else answer
        for sending, answer in zip(sendings, answers, strict=True)
    ]


def is_delayed(run: Run, now: Micros) -> bool:
    """Return whether a run waits for its start time."""
    return run.claim == 0 and run.due > now


def refusal(id: str, answer: str) -> Exception:
    """Return the exception to raise if `send` refused a message to the run `id`. `answer` is the answer of `send`:
    `not_found`, `full`, or the status of the ended run."""
    if answer == "not_found":
        return NotFound(f"there is no function run {id!r}")
    if answer == "full":
        return MailboxFull(f"function run {id!r} has {MOST_MESSAGES:,} messages that it has not received")
    return FunctionOver(f"function run {id!r} is {answer}; nothing receives messages any more")


def start_with_messages(
    run: Run, deadline: Timer | None, messages: Sequence[Message], now: Micros
) -> Operation[Started]:
    """Start a run, and put `messages` into its mailbox. If a run with the same key exists, change nothing, and return
    the id of the existing run. In that case, `new` is false in the returned `Started`."""
    (started,) = yield from start([run], now, [] if deadline is None else [deadline])
    if messages and started.new:
        yield statement("insert_messages", [message_row(replace(sending, run_id=started.id)) for sending in messages])
    return started
