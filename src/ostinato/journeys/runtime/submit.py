"""Submit an input to an instance in one transaction.

The node that handles the request claims the run in the same transaction. So the request stays in the memory of that
node and is never stored. The answer is stored under the caller's key. A repeated submit with this key gets the stored
answer.
"""

from __future__ import annotations

from collections.abc import Collection

from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import whole_run
from ostinato.engine.runs import after_chains, lock_owners
from ostinato.errors import Conflict, did_you_mean
from ostinato.journeys.machine.advance import advance
from ostinato.journeys.machine.decision import Submitted
from ostinato.journeys.rows import read_record
from ostinato.journeys.runtime.commit import ExtraWrite, InstanceChange, end_runs, run_end, write_changes
from ostinato.journeys.runtime.load import LoadedInstance
from ostinato.journeys.runtime.snapshot import InstanceSnapshot
from ostinato.journeys.runtime.start import InstanceChanged, claim_runs, is_done
from ostinato.journeys.store import statement
from ostinato.journeys.task_kind import TaskProblem
from ostinato.model import Run
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros


class StepNotActive(Conflict):
    """Raised if the journey does not wait for this step: it was answered, has timed out, or was not reached yet."""

    def __init__(self, journey: str, step: str, waiting: Collection[str] = ()) -> None:
        hint = did_you_mean(step, waiting) or (f"it waits for {', '.join(map(repr, waiting))}" if waiting else "")
        words = f"journey {journey!r} does not wait for an input of step {step!r}"
        super().__init__(f"{words}; {hint}" if hint else words)


class StepAnswered(Conflict):
    """Raised if an earlier submit to the same step used the same key with another input."""


class Outdated(Exception):
    """Raised if the run has changed since the caller read it. The caller must read the run again."""


def submit(
    snapshot: InstanceSnapshot,
    submitted: Submitted,
    extra_write: ExtraWrite | None,
    node: str | None,
    now: Micros,
    kinds: Kinds,
    actor: str | None = None,
    tries: int = 0,
) -> Operation[InstanceChanged]:
    """Apply an input to an instance that does not run on this node, and return the result. `extra_write` makes further
    writes in the same transaction. If the run does not end, claim it for `node`. If it cannot be claimed for `node`,
    any node may claim it later. If another node has claimed the run, that node loses its claim, and the effects in
    progress there are repeated under the same keys.

    Raise `StepNotActive` if the instance does not wait for the input, and `Outdated` if the run has changed since the
    snapshot. `tries` counts earlier attempts of this call. If an earlier attempt was committed, the input is not
    applied again.
    """
    owners = yield from lock_owners([snapshot.run], kinds)
    (row,) = yield sql("runs_for_update", [(snapshot.run.id,)])
    run = whole_run(row)
    run.actor = actor or run.actor
    (journey_row,) = yield statement("journeys_by_ids", [(run.id,)])
    record = read_record(journey_row)
    if tries and submitted.call is not None and (yield from input_taken(run.id, submitted.call)):
        return InstanceChanged(run, LoadedInstance(snapshot.definition, record))
    if run.claim != snapshot.run.claim or run.status.over:
        raise Outdated
    decision = advance(snapshot.definition, record.instance, [submitted], now)
    if decision.refused:
        raise StepNotActive(run.id, submitted.step)
    change = InstanceChange(run, snapshot.definition, record, record)
    change.add(decision)
    change.stamp(now)
    if extra_write is not None:
        change.extra_writes = [extra_write]
    if is_done(change):
        events, ended = yield from end_runs([change], now)
        events += yield from write_changes([change], now, kinds)
        events += (yield from after_chains(owners, ended, now, kinds)).events
    else:
        events = yield from claim_runs([(run, node)], now)
        if not events:
            yield sql("release_runs", [(run.id, run.claim)], now=now)
        events += yield from write_changes([change], now, kinds)
    yield sql("notify")
    yield sql("insert_events", events)
    end = run_end(change) if is_done(change) else None
    return InstanceChanged(run, LoadedInstance(snapshot.definition, change.after), end)


# Answers that are kept under the caller's key


def keep_answer(run: str, step: str, key: str, digest: str, *, only: bool = False) -> ExtraWrite:
    """Return an `ExtraWrite` that inserts a row for the answer to the submit with this `key`. The answer is empty until
    `fill_answer` stores it. If the row exists already, the write changes nothing, or raises `Outdated` if `only` is
    true."""

    def perform(_: Run, now: Micros, kinds: Kinds) -> Operation[list[Row] | TaskProblem]:
        record = yield statement("keep_step_answer", run_id=run, step=step, key=key, digest=digest, answer="", at=now)
        if only and not record:
            raise Outdated
        return []

    return perform


def input_taken(run: str, call: str) -> Operation[bool]:
    """Return whether the instance of `run` has accepted the input of the call with the id `call`."""
    return bool((yield statement("input_taken", subject=run, call=f'%"call":"{call}"%')))


def find_answer(run: str, step: str, key: str, digest: str) -> Operation[str | None]:
    """Find the answer to an earlier submit with the same key, and return one of these values:

    - None, if there was no such submit
    - an empty text, if the submit is still in progress
    - otherwise the stored answer

    `digest` is the hash of the caller's input. Raise `StepAnswered` if the earlier submit had another input.
    """
    rows = yield statement("step_answer", run_id=run, step=step, key=key)
    if not rows:
        return None
    if rows[0][0] != digest:
        raise StepAnswered(f"the key {key!r} came to step {step!r} of journey {run!r} with another input")
    return str(rows[0][1])


def fill_answer(run: str, step: str, key: str, answer: str) -> Operation[None]:
    """Store the answer in the row that `keep_answer` has reserved."""
    yield statement("fill_step_answer", run_id=run, step=step, key=key, answer=answer)
