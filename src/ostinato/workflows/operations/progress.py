"""Write the progress of many runs in one transaction: checkpoints, mutations, commits and failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import NamedTuple

import orjson

from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import timer_row
from ostinato.engine.runs import End, end, wake_timer
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros
from ostinato.workflows.decisions.failures import RunFailure, judge
from ostinato.workflows.decisions.triggers import after_commit, clamp_wake, oldest_event
from ostinato.workflows.ids import new_id
from ostinato.workflows.model import (
    EventStatus,
    HandlerRun,
    HandlerType,
    Mutation,
    Outcome,
    OutcomeStatus,
    Phase,
    Publication,
    Publications,
    RunStatus,
    TopicEvent,
)
from ostinato.workflows.operations.start_runs import (
    FIXER,
    Loaded,
    advance,
    begin_run,
    insert_runs,
    lock,
    read_oldest,
    save,
)
from ostinato.workflows.rows import event_row, mutation_row, read_event, run_row, to_json
from ostinato.workflows.store import statement


class NewState(NamedTuple):
    """The state that a handler returned, as JSON. None clears the state."""

    state: str | None


class ProgressResult(Enum):
    DONE = auto()
    REFUSED = auto()  # the run is no longer this node's
    UNKNOWN_EVENT = auto()  # a reservation names an event that does not exist
    TAKEN_EVENT = auto()  # a reservation names an event that is no longer pending


@dataclass(slots=True)
class ProgressWrite:
    """One write about a claimed run.

    - `record`: the run's record after the write
    - `before`: the value that `updated` must have in the stored record; otherwise nothing is written
    - `reserve`: the events to reserve, each as (topic, message id)
    - `wake`: the wake time that `prepare` returned, in a tuple; `(None,)` clears the stored time, and None keeps it
    - `mutation`: the row of the run's effect; None if the row does not change
    - `new_mutation`: whether the row in `mutation` is inserted; otherwise it is updated
    - `state`: the handler's new state; None keeps the stored state
    - `failure`: why the run fails; None if it does not fail
    - `can_fix`: whether the workflow has a fixer
    - `fixed`: whether this is a fixer's run that has deployed a new version
    """

    run: Run
    record: HandlerRun
    before: Micros
    reserve: Sequence[tuple[str, str]] = ()
    wake: tuple[Micros | None] | None = None
    mutation: Mutation | None = None
    new_mutation: bool = False
    publications: Publications | None = None
    state: NewState | None = None
    failure: RunFailure | None = None
    can_fix: bool = False
    fixed: bool = False

    @property
    def commits(self) -> bool:
        return self.record.status is RunStatus.COMMITTED

    @property
    def cancels(self) -> bool:
        return self.record.status is RunStatus.CANCELLED

    @property
    def leaves(self) -> bool:
        """Whether this node stops working on the run after this step, because the run ends or pauses."""
        return self.commits or self.cancels or self.failure is not None


def write(steps: Sequence[ProgressWrite], node: str, now: Micros, kinds: Kinds) -> Operation[list[ProgressResult]]:
    """Write steps of runs that `node` holds. Return one answer for each step. A step was written only if its answer is
    `DONE`."""
    answers = yield from _check_fences(steps, node)
    todo = [step for step, answer in zip(steps, answers, strict=True) if answer is None]
    loaded = yield from lock(step.record.workflow_id for step in todo)
    problems = yield from _reserve(todo, now)
    todo = [step for step in todo if step.run.id not in problems]
    yield from _write_mutations(todo)
    yield from _commit([step for step in todo if step.commits], loaded, now)
    for step in todo:
        if step.wake is not None and not step.commits:
            _set_wake(step, loaded, now)
        if step.failure is None:
            loaded[step.record.workflow_id].unblock(step.run.id)
    ends = [End(step.run, Status.SUCCEEDED, result=step.record.outcome) for step in todo if step.commits]
    ends += yield from _cancel([step for step in todo if step.cancels], loaded, now)
    ends += yield from _fail([step for step in todo if step.failure is not None], loaded, now)
    records = [run_row(step.record) for step in todo]
    if records:
        yield statement("save_workflow_runs", records)
    leaving = [loaded[id] for id in {step.record.workflow_id for step in todo if step.leaves}]
    if ends:
        yield from end(ends, node, now, kinds)
    if leaving:
        yield from read_oldest(leaving)
        _wake_consumers([step for step in todo if step.commits], loaded, now)
        yield from start_fixers(leaving, now)
        yield from advance(leaving, now)
    yield from save([one for one in loaded.values() if one.changed and one not in leaving], now)
    return [
        answer if answer is not None else problems.get(step.run.id, ProgressResult.DONE)
        for step, answer in zip(steps, answers, strict=True)
    ]


def _check_fences(steps: Sequence[ProgressWrite], node: str) -> Operation[list[ProgressResult | None]]:
    """Lock the runs of these steps. Return one of these values for each step:

    - `REFUSED`: this node no longer holds the run.
    - `DONE`: an earlier try has written the step.
    - None: the step can be written.
    """
    rows = yield statement("hold_workflow_runs", [(step.run.id,) for step in steps])
    held = {id: (status, holder, claim, updated) for id, status, holder, claim, updated in rows}
    answers: list[ProgressResult | None] = []
    for step in steps:
        status, holder, claim, updated = held.get(step.run.id, (None, None, None, None))
        if claim == step.run.claim and updated == step.record.updated:
            answers.append(ProgressResult.DONE)
        elif claim == step.run.claim and holder == node and status == "active" and updated == step.before:
            answers.append(None)
        else:
            answers.append(ProgressResult.REFUSED)
    return answers


# Preparing


def _reserve(steps: Sequence[ProgressWrite], now: Micros) -> Operation[dict[str, ProgressResult]]:
    """Reserve the events of each step. If one event of a step cannot be reserved, reserve no events for that step.
    Return a dict with the failed steps. Its keys are the ids of the runs. Its values are the reasons, `UNKNOWN_EVENT`
    or `TAKEN_EVENT`."""
    asked = [
        (step.record.workflow_id, topic, message) for step in steps for topic, message in dict.fromkeys(step.reserve)
    ]
    if not asked:
        return {}
    rows = yield statement("events_by_message", asked)
    events = {(event.workflow_id, event.topic, event.message_id): event for event in map(read_event, rows)}
    problems: dict[str, ProgressResult] = {}
    wanted: list[tuple[TopicEvent, str]] = []
    for step in steps:
        for topic, message in dict.fromkeys(step.reserve):
            event = events.get((step.record.workflow_id, topic, message))
            if event is None:
                problems[step.run.id] = ProgressResult.UNKNOWN_EVENT
            elif event.status is not EventStatus.PENDING:
                problems.setdefault(step.run.id, ProgressResult.TAKEN_EVENT)
            else:
                wanted.append((event, step.run.id))
    granted = [(event.id, run_id) for event, run_id in wanted if run_id not in problems]
    if granted:
        attempts = {id: attempt for id, _, attempt in (yield statement("reserve_events", granted, now=now))}
        yield statement("note_reservations", [(run_id, id, attempts[id]) for id, run_id in granted])
    return problems


def _set_wake(step: ProgressWrite, loaded: dict[str, Loaded], now: Micros) -> None:
    assert step.wake is not None
    workflow = loaded[step.record.workflow_id]
    if step.record.handler in workflow.handlers:
        workflow.handler(step.record.handler).wake_at = clamp_wake(step.wake[0], workflow.definition.policy, now)


def _write_mutations(steps: Sequence[ProgressWrite]) -> Operation[None]:
    new = [mutation_row(step.mutation) for step in steps if step.mutation is not None and step.new_mutation]
    changed = [mutation_row(step.mutation) for step in steps if step.mutation is not None and not step.new_mutation]
    if new:
        yield statement("insert_mutations", new)
    if changed:
        yield statement("save_mutations", changed)


# Committing


def _commit(steps: Sequence[ProgressWrite], loaded: dict[str, Loaded], now: Micros) -> Operation[None]:
    """Commit runs: publish events, mark reserved events as consumed or skipped, and store the handlers' new state."""
    if not steps:
        return
    consumers = [step for step in steps if step.record.type is HandlerType.CONSUMER]
    causes: dict[str, list[str]] = {}
    publishing = [(step.run.id,) for step in consumers if step.publications and step.publications.events]
    if publishing:
        for run_id, input_id in (yield statement("reserved_causes", publishing)):
            causes.setdefault(run_id, []).append(input_id)
    yield from _publish(steps, causes, loaded, now)
    settled = [(step.run.id, _settled_as(step)) for step in consumers]
    if settled:
        yield statement("settle_events", settled, now=now)
    for step in steps:
        workflow = loaded[step.record.workflow_id]
        workflow.workflow.run_id = None
        if step.record.type is HandlerType.FIXER:
            _end_fix(workflow, step.fixed, now)
            continue
        workflow.workflow.logic_failures = 0
        if step.record.handler not in workflow.handlers:
            continue  # it vanished in a new version while it ran
        handler = workflow.handler(step.record.handler)
        if step.state is not None:
            handler.state = step.state.state
        if step.record.type is HandlerType.PRODUCER:
            definition = next((one for one in workflow.definition.producers if one.name == handler.name), None)
            handler.next_run = None if definition is None else definition.schedule.next_after(now)


def _end_fix(loaded: Loaded, fixed: bool, now: Micros) -> None:
    """Record that the fixer of a workflow is no longer at work. If `fixed` is true, the fixer has deployed a new
    version, so the run that blocks the workflow is retried. Otherwise a person must act."""
    blocked = loaded.workflow.blocked
    if blocked is None or not blocked.fixing:
        return
    loaded.workflow.blocked = replace(blocked, fixing=False, retry_at=now if fixed else None)
    if not fixed:
        details = {"run_id": blocked.run_id, "failure": blocked.failure.value, "reason": blocked.reason}
        loaded.tell(now, "workflow:needs_attention", **details)


def _cancel(steps: Sequence[ProgressWrite], loaded: dict[str, Loaded], now: Micros) -> Operation[list[End]]:
    """Cancel runs whose handler no longer exists, and release the events that these runs reserved. Return an `End` for
    each run, which the caller must pass to `end`."""
    if not steps:
        return []
    yield statement("release_events", [(step.run.id,) for step in steps], now=now)
    for step in steps:
        workflow = loaded[step.record.workflow_id]
        workflow.workflow.run_id = None
        workflow.unblock(step.run.id)
    reason = "its handler is gone from the active version"
    return [End(step.run, Status.CANCELLED, reason) for step in steps]


def _settled_as(step: ProgressWrite) -> str:
    outcome = read_outcome(step.record.outcome)
    return EventStatus.SKIPPED if outcome.status is OutcomeStatus.SKIPPED else EventStatus.CONSUMED


def read_outcome(text: str | None) -> Outcome:
    if text is None:
        return Outcome()
    row = orjson.loads(text)
    return Outcome(OutcomeStatus(row["status"]), row.get("result"))


def write_outcome(outcome: Outcome) -> str:
    return to_json({"status": outcome.status, "result": outcome.result})


def _publish(
    steps: Sequence[ProgressWrite], causes: dict[str, list[str]], loaded: dict[str, Loaded], now: Micros
) -> Operation[None]:
    inputs = [
        (new.id, step.record.workflow_id, new.source, new.type, new.external_id, new.title, now, 0)
        for step in steps
        if step.publications is not None
        for new in step.publications.inputs.values()
    ]
    if inputs:
        yield statement("insert_inputs", inputs)
    published: dict[tuple[str, str, str], tuple[ProgressWrite, Publication]] = {}
    for step in steps:
        for publication in step.publications.events if step.publications is not None else ():
            key = step.record.workflow_id, publication.topic, publication.message_id
            if key in published:  # the last write wins on the payload, and the event stems from the inputs of both
                earlier = published[key][1].causes
                publication = replace(publication, causes=tuple(dict.fromkeys((*earlier, *publication.causes))))
            published[key] = step, publication
    if not published:
        return
    existing = {
        (event.workflow_id, event.topic, event.message_id): event
        for event in map(read_event, (yield statement("events_by_message", list(published))))
    }
    all_causes = {key: one.causes or tuple(causes.get(step.run.id, ())) for key, (step, one) in published.items()}
    named = sorted({input_id for ids in all_causes.values() for input_id in ids})
    skipped = {row[0] for row in (yield statement("skipped_inputs", [(id,) for id in named]))} if named else set()
    new: list[Row] = []
    changed: list[Row] = []
    links: list[Row] = []
    for key, (step, publication) in published.items():
        payload = to_json(publication.payload)
        event = existing.get(key)
        if event is None:
            born = (
                EventStatus.SKIPPED if all_causes[key] and skipped.issuperset(all_causes[key]) else EventStatus.PENDING
            )
            event = TopicEvent(new_id(now), *key, payload, born, None, step.run.id, 1, now, now)
            new.append(event_row(event))
            _note_arrival(event, loaded)
        elif event.payload != payload:
            changed.append((event.id, payload, now))
            _note_arrival(event, loaded)
        links += [(event.id, input_id) for input_id in all_causes[key]]
    if new:
        yield statement("insert_workflow_events", new)
    if changed:
        yield statement("change_payloads", changed)
    if links:
        yield statement("add_causes", links)


def _note_arrival(event: TopicEvent, loaded: dict[str, Loaded]) -> None:
    """Make the consumer of a new or changed event due, if the event is pending."""
    workflow = loaded[event.workflow_id]
    consumer = workflow.definition.consumer_of(event.topic)
    if event.status is EventStatus.PENDING and consumer is not None and consumer.name in workflow.handlers:
        workflow.handler(consumer.name).dirty = True


def _wake_consumers(steps: Iterable[ProgressWrite], loaded: dict[str, Loaded], now: Micros) -> None:
    """For each consumer that has committed a run in `steps`, set the time of its next run. The caller must have called
    `read_oldest`."""
    for step in steps:
        workflow = loaded[step.record.workflow_id]
        if step.record.type is not HandlerType.CONSUMER or step.record.handler not in workflow.handlers:
            continue
        handler = workflow.handler(step.record.handler)
        own_topics = next((c.subscribes for c in workflow.definition.consumers if c.name == handler.name), ())
        published = step.publications.events if step.publications is not None else []
        prepared = orjson.loads(step.record.prepared or "{}")
        wake_at = handler.wake_at if step.wake is None else clamp_wake(step.wake[0], workflow.definition.policy, now)
        wake = after_commit(
            wake_at=wake_at,
            reserved=len(prepared.get("reservations", ())),
            events_remain=oldest_event(workflow.definition, handler.name, workflow.oldest) is not None,
            new_events=handler.dirty,
            published_to_itself=any(event.topic in own_topics for event in published),
            policy=workflow.definition.policy,
            now=now,
        )
        handler.wake_at, handler.dirty, handler.not_before = wake


# Failing


def _fail(steps: Sequence[ProgressWrite], loaded: dict[str, Loaded], now: Micros) -> Operation[list[End]]:
    """Block the workflows of failed runs. Return an `End` for each run, which the caller must pass to `end`. The `End`
    has the status `WAITING` if the same run continues later, and otherwise `FAILED`."""
    ends: list[End] = []
    timers: list[Row] = []
    for step in steps:
        assert step.failure is not None
        workflow, record = loaded[step.record.workflow_id], step.record
        checking_at = None if step.mutation is None else step.mutation.next_at
        block(workflow, record, step.failure, now, can_fix=step.can_fix, checking_at=checking_at)
        reason = f"{step.failure.failure.value}: {step.failure.words}"[:500]
        if step.failure.failure.resumes_in_place:
            ends.append(End(step.run, Status.WAITING, reason, finished=False, event="run:waiting"))
            if checking_at is not None:
                timers.append(timer_row(wake_timer(step.run, checking_at)))
        else:
            ends.append(End(step.run, Status.FAILED, reason, error=record.error))
    if timers:
        yield sql("set_timers", timers)
    return ends


def block(
    loaded: Loaded,
    record: HandlerRun,
    failure: RunFailure,
    now: Micros,
    *,
    can_fix: bool = False,
    checking_at: Micros | None = None,
) -> None:
    """Mark a run as failed, and block its workflow until the failure is resolved."""
    workflow = loaded.workflow
    verdict = judge(
        record,
        failure,
        loaded.definition.policy,
        now,
        logic_failures=workflow.logic_failures,
        can_fix=can_fix,
        checking_at=checking_at,
    )
    record.status, record.failures, record.crashes = verdict.status, verdict.failures, verdict.crashes
    record.error = to_json({"class": failure.failure, "message": failure.words})
    workflow.blocked, workflow.logic_failures = verdict.blocked, verdict.logic_failures
    if not failure.failure.resumes_in_place:
        workflow.run_id = None
    details = {"run_id": record.run_id, "failure": failure.failure.value, "reason": failure.words}
    loaded.tell(now, "workflow:needs_attention" if verdict.blocked.needs_person else "workflow:blocked", **details)


def lose_fixer(loaded: Loaded, record: HandlerRun, now: Micros, *, again: bool) -> None:
    """Handle a fixer's run that crashed or was stopped. If `again` is true, the workflow keeps waiting for its fixer,
    and `start_fixers` can start the fixer again. If `again` is false, or if the fixer has crashed too often, a person
    must act."""
    loaded.workflow.run_id, loaded.changed = None, True
    record.crashes += 1
    if not again or record.crashes >= loaded.definition.policy.crash_attempts:
        _end_fix(loaded, False, now)


def start_fixers(workflows: Sequence[Loaded], now: Micros, crashes: Mapping[str, int] | None = None) -> Operation[None]:
    """Start a run of the fixer for each workflow that waits for one (`blocked.fixing`) and has no unfinished run.
    `crashes` says how often the fixer has crashed in a row, by workflow id."""
    runs: list[tuple[Run, HandlerRun]] = []
    for loaded in workflows:
        blocked = loaded.workflow.blocked
        if blocked is None or not blocked.fixing or loaded.workflow.run_id is not None:
            continue
        run, record = begin_run(loaded.workflow, FIXER, HandlerType.FIXER, Phase.EXECUTING, now)
        record.retry_of, record.crashes = blocked.run_id, (crashes or {}).get(loaded.workflow.id, 0)
        runs.append((run, record))
    yield from insert_runs(runs, now)
