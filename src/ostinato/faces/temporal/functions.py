"""Let Temporal's clients signal and query durable functions.

A signal is a message that `ctx.receive` returns. A query reads the state that the code passed to `ctx.set_state`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson
from temporalio.api.common.v1 import Payloads
from temporalio.api.enums.v1 import QueryRejectCondition

from ostinato.app import Ostinato
from ostinato.engine.context import to_json
from ostinato.engine.idempotency import call_id, digest
from ostinato.engine.rows import whole_run
from ostinato.errors import OstinatoError, list_choices, short_repr
from ostinato.faces.temporal.errors import QueryFailed, Wrong
from ostinato.faces.temporal.executions import Execution, executions_of
from ostinato.faces.temporal.payloads import values_of
from ostinato.functions.model import KIND as FUNCTION
from ostinato.functions.model import FunctionRecord, Message, StepRecord
from ostinato.functions.store import read_function, read_message, read_step, statement
from ostinato.model import Status
from ostinato.schedules.api.queries import newest_attempts
from ostinato.store.contract import Operation, sql

STATE = "state"  # the query type that returns all of the state
_LONGEST_ID = 200  # characters of a message's id
_MESSAGES = 100_000  # the most messages that a history shows
_REJECT = QueryRejectCondition


def message_id(request_id: str | None) -> str | None:
    """Return the id of the message that a request sends: `request_id`, or its digest if it is too long. A repeated
    request has the same id, so its message is not sent again."""
    return digest(request_id) if request_id is not None and len(request_id) > _LONGEST_ID else request_id


def make_message(app: Ostinato, name: str, arguments: Payloads, request_id: str | None, field: str) -> Message:
    """Return the message for a signal. Its `run_id` is still empty; the operation that sends the message sets it.
    Raises `Wrong` if an argument is not JSON or is too large."""
    value = values_of(arguments, field)
    try:
        payload = None if value is None else to_json(value, "the signal")
    except OstinatoError as problem:
        raise Wrong(field, str(problem)) from None
    return Message("", message_id(request_id) or call_id(), name, payload, app.engine.clock.now(), app.actor)


@dataclass(frozen=True, slots=True)
class FunctionHistory:
    """The stored history of a function's run. `function` is None until the run has begun."""

    function: FunctionRecord | None
    steps: list[StepRecord]
    messages: list[Message]
    workflow_ids: dict[str, str]  # from the run id of a child to its workflow id


async def read_record(app: Ostinato, execution: Execution) -> FunctionRecord | None:
    """Return the record of a function's run, or None if the run is not a function or has not begun."""
    if execution.run.kind != FUNCTION:
        return None

    def read(_: int) -> Operation[FunctionRecord | None]:
        rows = yield statement("functions_by_ids", [(execution.run.id,)])
        return read_function(rows[0]) if rows else None

    return await app.store.read(read)


async def read_function_history(app: Ostinato, execution: Execution) -> FunctionHistory | None:
    """Return the history of a function's run. Return None if the run is not a function."""
    if execution.run.kind != FUNCTION:
        return None
    id = execution.run.id

    def read(_: int) -> Operation[FunctionHistory]:
        rows = yield statement("functions_by_ids", [(id,)])
        steps = [read_step(row) for row in (yield statement("steps_of", run=id))]
        messages = [read_message(row) for row in (yield statement("messages_of", run=id, limit=_MESSAGES))]
        ids = sorted({step.child_id for step in steps if step.child_id is not None})
        first = [whole_run(row) for row in (yield sql("runs_by_ids", [(child,) for child in ids]))] if ids else []
        children = yield from executions_of((yield from newest_attempts(first)) if first else [])
        workflow_ids = {child.run_id: child.id for child in children}
        return FunctionHistory(read_function(rows[0]) if rows else None, steps, messages, workflow_ids)

    return await app.store.read(read)


def is_rejected(execution: Execution, condition: int) -> bool:
    """Return whether a query must be rejected because of the execution's status.

    `condition` is the caller's `QueryRejectCondition`. Raises `Wrong` if there is no such condition.
    """
    if condition not in _REJECT.values():
        raise Wrong("query_reject_condition", f"{condition} is not one of the conditions")
    if condition == _REJECT.QUERY_REJECT_CONDITION_NOT_OPEN:
        return execution.over
    cleanly = _REJECT.QUERY_REJECT_CONDITION_NOT_COMPLETED_CLEANLY
    return condition == cleanly and execution.over and execution.run.status is not Status.SUCCEEDED


def answer_query(execution: Execution, function: FunctionRecord | None, query: str) -> Any:
    """Return the answer to a query of the type `query`. The type `state` returns all of the state that the function has
    set. Any other type is a key of the state, and returns the value of this key. Raises `QueryFailed` if there is no
    such key."""
    state = None if function is None or function.state is None else orjson.loads(function.state)
    if query == STATE:
        return state
    values = state if isinstance(state, dict) else {}
    if query in values:
        return values[query]
    name = execution.run.name
    if query.startswith("__"):
        why = "Ostinato answers no query of Temporal's own"
    elif state is None:
        why = f"function {name!r} has shown no state yet (ctx.set_state)"
    else:
        why = f"the state of function {name!r} has no such key"
    raise QueryFailed(f"unknown query type {short_repr(query)}: {why}; {list_choices([STATE, *sorted(values)])}")
