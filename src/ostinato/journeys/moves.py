"""Moves on record: what a decision about an instance is in rows. Whoever moves an instance holds its run, by a claim or
by a lock, and writes everything of a move in one transaction: the instance, its timers, what it is found by, the run of
its compensation, what its tasks had to say, and the facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import orjson

from ostinato.engine.rows import event_row, timer_row
from ostinato.engine.rows import insert_row as insert_run_row
from ostinato.engine.runs import End, Ended, created
from ostinato.journeys.bindings import carry
from ostinato.journeys.language import Definition
from ostinato.journeys.language.states import Wait, Webhook
from ostinato.journeys.machine.advance import timers
from ostinato.journeys.machine.decision import Compensate, Decision, Fact
from ostinato.journeys.machine.model import Instance, Rest, Termination
from ostinato.journeys.plugins import Problem
from ostinato.journeys.rows import Kept, insert_row, labels, move_row
from ostinato.model import Run, Status, Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros

KIND = "journey"
_STATUS = {
    Termination.SUCCESS: Status.SUCCEEDED,
    Termination.FAIL: Status.FAILED,
    Termination.RUNTIME_ERROR: Status.FAILED,
    Termination.TIMEOUT: Status.TIMED_OUT,
    Termination.CANCEL: Status.CANCELLED,
}
# What a task's effect does in the transaction that moves the run on: the events of it, or why it cannot be.
Perform = Callable[[Run, Micros], Operation["list[Row] | Problem"]]


@dataclass(slots=True)
class Move:
    """From one state of an instance on record to the next. Not `before`: it begins here. `perform` is what tasks want
    done; where that cannot be, `instead` says what is decided then."""

    run: Run
    definition: Definition
    before: Kept | None
    after: Kept
    facts: list[Fact] = field(default_factory=list)
    rests: bool = False
    compensate: bool = False
    perform: list[Perform] = field(default_factory=list)
    instead: Callable[[Problem], Decision] | None = None
    stamped: bool = False
    intended: tuple[Kept, list[Fact]] | None = None  # what it was before `instead` took its place, in an earlier try

    @property
    def instance(self) -> Instance:
        return self.after.instance

    @property
    def ends(self) -> bool:
        """It is over with this move, and was not before."""
        return self.instance.over and (self.before is None or not self.before.instance.over)

    def take(self, decision: Decision) -> None:
        """Add what was decided."""
        self.after = replace(self.after, instance=decision.instance)
        self.facts += decision.events
        self.compensate = self.compensate or any(isinstance(one, Compensate) for one in decision.effects)

    def stamp(self, now: Micros) -> None:
        """When it is moved: later than before, so that each state of it has a time of its own."""
        updated = now if self.before is None else max(now, self.before.updated + 1)
        self.after = replace(self.after, updated=updated, finished=now if self.instance.over else None)
        self.stamped = True


def write(moves: Sequence[Move], now: Micros) -> Operation[list[Row]]:
    """Everything about these but where their runs stand. Returns events to write."""
    events: list[Row] = []
    for move in moves:
        if move.instead is not None:  # each try decides for itself whether what the task wants can be done
            move.intended = move.intended or (move.after, move.facts)
            move.after, move.facts = move.intended
        for perform in move.perform:
            done = yield from perform(move.run, now)
            if not isinstance(done, Problem):
                events += done
                continue
            assert move.instead is not None
            decision = move.instead(done)
            move.facts = []
            move.take(decision)
            move.stamp(now)
            break
    fresh = [move for move in moves if move.before is None]
    if fresh:
        yield sql("insert_journeys", [insert_row(move.after) for move in fresh])
    if len(fresh) < len(moves):
        yield sql("move_journeys", [move_row(move.after) for move in moves if move.before is not None])
    found = [row for move in moves for row in _labels(move)]
    if found:
        yield sql("label_journeys", found)
    yield from _timers(moves)
    children = [compensation(move, now) for move in moves if move.compensate]
    if children:
        yield sql("insert_runs", [insert_run_row(run) for run in children])
        yield sql("notify")
    scheduled = [move.after for move in moves if move.ends and move.after.binding is not None]
    if scheduled:
        yield from carry(scheduled, now)
    events += [created(run, now) for run in children]
    for move in moves:
        events += [_event(move, fact, now) for fact in move.facts]
    return events


def _labels(move: Move) -> Iterator[Row]:
    after, before = move.instance, None if move.before is None else move.before.instance
    if before is not None and before.attributes == after.attributes:
        return
    for label in labels(after.tags, after.attributes):
        yield (move.run.namespace, label, move.run.id)


def _timers(moves: Sequence[Move]) -> Operation[None]:
    gone: list[Row] = []
    over: list[Row] = []
    wanted: list[Row] = []
    for move in moves:
        had = {} if move.before is None else timers(move.before.instance)
        have = timers(move.instance)
        if move.instance.over:
            over += [(KIND, move.run.id)] if had else []
            continue
        gone += [(KIND, move.run.id, purpose) for purpose in had.keys() - have.keys()]
        # Those that were there are set again: one may have been taken by a beat that found the run at work.
        wanted += [timer_row(Timer(KIND, move.run.id, p, due, move.run.namespace)) for p, due in have.items()]
    if over:
        yield sql("drop_timers", over)
    if gone:
        yield sql("clear_timers", gone)
    if wanted:
        yield sql("set_timers", wanted)


def compensation(move: Move, now: Micros) -> Run:
    """The run that compensates: it begins with what this one leaves. Its key keeps it the only one."""
    run, id = move.run, f"{move.run.id}c"
    return Run(
        id=id,
        root_id=id,
        name=run.name,
        kind=KIND,
        namespace=run.namespace,
        key=f"{KIND}/{run.id}/compensation",
        status=Status.READY,
        queue=run.queue,
        priority=run.priority,
        due=now,
        ready_at=now,
        created=now,
        parent_id=run.id,
        input=orjson.dumps({"compensates": run.id}).decode(),
        actor=run.actor,
    )


def end_of(move: Move) -> End:
    """What becomes of the run: it waits for what its instance waits for, or is over as the instance is."""
    ending = move.instance.ending
    if ending is None:
        return End(
            move.run, Status.WAITING, waits_for(move.definition, move.instance), finished=False, event="run:waiting"
        )
    if ending.succeeded:
        return End(move.run, Status.SUCCEEDED)
    error = orjson.dumps({"type": ending.code, "message": ending.reason, **ending.cause}).decode()
    return End(move.run, _STATUS[ending.kind], ending.code, error=error)


def end_runs(
    moves: Sequence[Move], now: Micros, status: Status | None = None
) -> Operation[tuple[list[Row], list[Ended]]]:
    """End the runs of instances that are over, whatever state the runs are in. The caller has locked them. Their claims
    are counted up, so that a node that holds one is refused. Returns the events to write, and the ends.

    `status` replaces the one that follows from the instance: a terminated journey is cancelled in its own terms."""
    ends = [end_of(move) for move in moves]
    rows = [(end.run.id, (status or end.status).value, end.reason, end.error) for end in ends]
    yield sql("end_anywhere", rows, now=now)
    for end in ends:
        end.run.status, end.run.claim = status or end.status, end.run.claim + 1
    told = [{} if end.reason is None else {"reason": end.reason} for end in ends]
    events = [
        event_row(now, e.run, f"run:{(status or e.status).value}", **why) for e, why in zip(ends, told, strict=True)
    ]
    return events, [Ended(end.run, status or end.status, end.reason, None, end.error) for end in ends]


def waits_for(definition: Definition, instance: Instance) -> str:
    """In a word, for who looks at the run. An input that has a timeout waits for either."""
    parked = [one for one in instance.frames.values() if one.rest is Rest.PARKED]
    asks = any(isinstance(definition.graph(one.path).states[one.state], Wait | Webhook) for one in parked)
    timed = any(one.due is not None for one in parked)
    return "a timer or an input" if timed and asks else "a timer" if timed else "an input"


def _event(move: Move, fact: Fact, now: Micros) -> Row:
    body = orjson.dumps({"name": move.run.name, **fact.data}).decode()
    return (now, move.run.namespace, fact.name, move.run.id, body, move.run.actor)
