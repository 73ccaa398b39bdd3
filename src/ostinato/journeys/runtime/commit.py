"""Write the changes of instances to the store.

The caller must have claimed or locked the instance's run. One transaction writes the whole change: the instance, its
timers, its labels and its events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import orjson

from ostinato.engine.context import clean
from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import event_row, timer_row
from ostinato.engine.rows import insert_row as insert_run_row
from ostinato.engine.runs import End, Ended, created_event
from ostinato.journeys.bindings import carry_context
from ostinato.journeys.language import Definition
from ostinato.journeys.language.states import Wait, Webhook
from ostinato.journeys.machine.advance import needed_timers
from ostinato.journeys.machine.decision import Compensate, Decision, JourneyEvent
from ostinato.journeys.machine.model import Instance, Rest, Termination
from ostinato.journeys.rows import KIND, JourneyRecord, insert_row, labels, update_row
from ostinato.journeys.runtime.compensation import compensation_run
from ostinato.journeys.store import statement
from ostinato.journeys.task_kind import TaskProblem
from ostinato.model import Run, Status, Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros

_STATUS = {
    Termination.SUCCESS: Status.SUCCEEDED,
    Termination.FAIL: Status.FAILED,
    Termination.RUNTIME_ERROR: Status.FAILED,
    Termination.TIMEOUT: Status.TIMED_OUT,
    Termination.CANCEL: Status.CANCELLED,
}
# A further write in the transaction of a change. Returns events to write, or the problem that prevents the change.
ExtraWrite = Callable[[Run, Micros, Kinds], Operation["list[Row] | TaskProblem"]]


@dataclass(slots=True)
class InstanceChange:
    """A change from one stored state of an instance to the next.

    - `before`: the stored state before the change, or None if the instance is new
    - `rests`: whether the instance waits or has ended, so that its run leaves the node
    - `extra_writes`: further writes in the same transaction
    - `on_problem`: called if an extra write returns a problem; the returned decision is written instead of this change
    """

    run: Run
    definition: Definition
    before: JourneyRecord | None
    after: JourneyRecord
    events: list[JourneyEvent] = field(default_factory=list)
    rests: bool = False
    compensate: bool = False
    extra_writes: list[ExtraWrite] = field(default_factory=list)
    on_problem: Callable[[TaskProblem], Decision] | None = None
    stamped: bool = False
    # The original decision, if an earlier attempt replaced it with that of `on_problem`.
    intended: tuple[JourneyRecord, list[JourneyEvent], bool] | None = None

    @property
    def instance(self) -> Instance:
        return self.after.instance

    @property
    def ends(self) -> bool:
        return self.instance.over and (self.before is None or not self.before.instance.over)

    def add(self, decision: Decision) -> None:
        """Apply `decision` to the change: replace the instance by the instance of `decision`, and append the events of
        `decision`. If `decision` has a `Compensate` effect, writing the change also starts the compensation."""
        self.after = replace(self.after, instance=decision.instance)
        self.events += decision.events
        self.compensate = self.compensate or any(isinstance(one, Compensate) for one in decision.effects)

    def stamp(self, now: Micros) -> None:
        """Set `updated` to a time after the previous change, so that `updated` identifies one stored state."""
        updated = now if self.before is None else max(now, self.before.updated + 1)
        self.after = replace(self.after, updated=updated, finished=now if self.instance.over else None)
        self.stamped = True


def write_changes(changes: Sequence[InstanceChange], now: Micros, kinds: Kinds) -> Operation[list[Row]]:
    """Write these changes to the store, but not the status of their runs. Return the rows of the events; the caller
    must insert them."""
    events: list[Row] = []
    for change in changes:
        if change.on_problem is not None:  # each attempt starts from the original decision
            change.intended = change.intended or (change.after, change.events, change.compensate)
            change.after, change.events, change.compensate = change.intended
        for extra_write in change.extra_writes:
            done = yield from extra_write(change.run, now, kinds)
            if not isinstance(done, TaskProblem):
                events += done
                continue
            assert change.on_problem is not None
            decision = change.on_problem(done)
            change.events = []
            change.add(decision)
            change.stamp(now)
            break
    fresh = [change for change in changes if change.before is None]
    if fresh:
        yield statement("insert_journeys", [insert_row(change.after) for change in fresh])
    if len(fresh) < len(changes):
        stored = [change for change in changes if change.before is not None]
        yield statement("update_journeys", [update_row(change.after) for change in stored])
    labels_ = [row for change in changes for row in _labels(change)]
    if labels_:
        yield statement("label_journeys", labels_)
    yield from _timers(changes)
    children = [compensation_run(change.run, now) for change in changes if change.compensate]
    if children:
        yield sql("insert_runs", [insert_run_row(run) for run in children])
        yield sql("notify")
    scheduled = [change.after for change in changes if change.ends and change.after.binding is not None]
    if scheduled:
        yield from carry_context(scheduled, now)
    events += [created_event(run, now) for run in children]
    for change in changes:
        events += [_event(change, event, now) for event in change.events]
    return events


def _labels(change: InstanceChange) -> Iterator[Row]:
    after, before = change.instance, None if change.before is None else change.before.instance
    if before is not None and before.attributes == after.attributes:
        return
    for label in labels(after.tags, after.attributes):
        yield (change.run.namespace, label, change.run.id)


def _timers(changes: Sequence[InstanceChange]) -> Operation[None]:
    gone: list[Row] = []
    over: list[Row] = []
    wanted: list[Row] = []
    for change in changes:
        had = {} if change.before is None else needed_timers(change.before.instance)
        have = needed_timers(change.instance)
        if change.instance.over:
            over += [(KIND, change.run.id)] if had else []
            continue
        gone += [(KIND, change.run.id, purpose) for purpose in had.keys() - have.keys()]
        # Existing timers are set again: the beat may have fired one while the run was active.
        wanted += [timer_row(Timer(KIND, change.run.id, p, due, change.run.namespace)) for p, due in have.items()]
    if over:
        yield sql("drop_timers", over)
    if gone:
        yield sql("clear_timers", gone)
    if wanted:
        yield sql("set_timers", wanted)


def run_end(change: InstanceChange) -> End:
    """Return the `End` of the node's work on the run. If the instance waits, the run waits, too. If the instance has
    ended, the run gets the same outcome."""
    ending = change.instance.ending
    if ending is None:
        why = waits_for(change.definition, change.instance)
        return End(change.run, Status.WAITING, why, finished=False, event="run:waiting")
    if ending.succeeded:
        return End(change.run, Status.SUCCEEDED)
    error = orjson.dumps({"type": ending.code, "message": ending.reason, **ending.cause}).decode()
    return End(change.run, _STATUS[ending.kind], None if ending.code is None else clean(ending.code), error=error)


def end_runs(
    changes: Sequence[InstanceChange], now: Micros, status: Status | None = None
) -> Operation[tuple[list[Row], list[Ended]]]:
    """End the locked runs of ended instances. A node that has claimed one of these runs loses its claim. If `status` is
    None, each run gets the status of its instance. Otherwise each run gets `status`. Return (rows of the events, an
    `Ended` for each run). The caller must insert the events."""
    ends = [run_end(change) for change in changes]
    for end in ends:
        end.status = status or end.status
    yield sql("end_anywhere", [(end.run.id, end.status.value, end.reason, end.error) for end in ends], now=now)
    events: list[Row] = []
    for end in ends:
        end.run.status, end.run.claim = end.status, end.run.claim + 1
        why = {} if end.reason is None else {"reason": end.reason}
        events.append(event_row(now, end.run, f"run:{end.status.value}", **why))
    return events, [Ended(end.run, end.status, end.reason, None, end.error) for end in ends]


def waits_for(definition: Definition, instance: Instance) -> str:
    parked = [one for one in instance.frames.values() if one.rest is Rest.PARKED]
    asks = any(isinstance(definition.graph(one.path).states[one.state], Wait | Webhook) for one in parked)
    timed = any(one.due is not None for one in parked)
    return "a timer or an input" if timed and asks else "a timer" if timed else "an input"


def _event(change: InstanceChange, event: JourneyEvent, now: Micros) -> Row:
    body = orjson.dumps({"name": change.run.name, **event.data}).decode()
    return (now, change.run.namespace, event.name, change.run.id, body, change.run.actor)
