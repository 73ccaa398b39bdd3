"""Store the answer to a submit under the key that the caller gave. A repeated submit with this key returns the first
answer."""

from __future__ import annotations

from ostinato.engine.kinds import Kinds
from ostinato.errors import Conflict
from ostinato.journeys.runtime.commit import ExtraWrite
from ostinato.journeys.task_kind import TaskProblem
from ostinato.model import Run
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros


class StepAnswered(Conflict):
    """Raised if an earlier submit to the same step used the same key with another input."""


class Outdated(Exception):
    """Raised if the run has changed since it was read. The caller reads it again."""


def keep_answer(run: str, step: str, key: str, digest: str, *, only: bool = False) -> ExtraWrite:
    """Return an `ExtraWrite` that reserves a row for the answer to a step's input. The write belongs to the transaction
    that applies the input. With `only`, the write raises `Outdated` if the row exists already."""

    def perform(_: Run, now: Micros, kinds: Kinds) -> Operation[list[Row] | TaskProblem]:
        record = yield sql("keep_step_answer", run_id=run, step=step, key=key, digest=digest, answer="", at=now)
        if only and not record:
            raise Outdated
        return []

    return perform


def input_taken(run: str, call: str) -> Operation[bool]:
    """Return whether the instance has accepted the input of this call. A caller that has lost the answer checks this
    before it tries again."""
    return bool((yield sql("input_taken", subject=run, call=f'%"call":"{call}"%')))


def find_answer(run: str, step: str, key: str, digest: str) -> Operation[str | None]:
    """Return the stored answer to an earlier submit with this key. It is an empty text while that submit is in
    progress, and None if there was no such submit. Raise `StepAnswered` if the earlier submit had another input."""
    rows = yield sql("step_answer", run_id=run, step=step, key=key)
    if not rows:
        return None
    if rows[0][0] != digest:
        raise StepAnswered(f"the key {key!r} came to step {step!r} of journey {run!r} with another input")
    return str(rows[0][1])


def fill_answer(run: str, step: str, key: str, answer: str) -> Operation[None]:
    """Store the answer in the row that `keep_answer` has reserved."""
    yield sql("fill_step_answer", run_id=run, step=step, key=key, answer=answer)
