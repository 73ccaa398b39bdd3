"""Handle one call by which a user changes a schedule. Calls with the same request id make the change once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ostinato.engine import idempotency
from ostinato.errors import Conflict
from ostinato.schedules.actions import Maker
from ostinato.schedules.model import Schedule
from ostinato.schedules.operations.edit.conflict_token import check_token
from ostinato.schedules.rows import closed_of, id_of, not_found, read_anyway, read_schedule
from ostinato.store.contract import Operation, Store, sql
from ostinato.when.instants import Micros

Answer: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One call by which a user changes a schedule.

    - `request`: the request id; if several calls have the same id, the change is made once
    - `token`: the conflict token that the schedule must still have, or None if any token is accepted
    - `asked`: a text that identifies the arguments; a call with the same request id but other arguments is refused
    """

    namespace: str
    name: str
    verb: str
    request: str
    now: Micros
    maker: Maker
    new_id: Callable[[], str]
    token: int | None = None
    actor: str | None = None
    asked: str = ""


async def run_once(store: Store, call: Call, work: Callable[[], Operation[Answer]]) -> Answer:
    """Run the operation that `work` returns, and return its answer. If there was an earlier call with the same request
    id, change nothing, and return the answer of the earlier call. Raises Conflict if the earlier call had another verb,
    another schedule or other arguments."""
    return await idempotency.run_once(store, call.namespace, call.request, _summary(call), call.now, work)


async def find_answer(store: Store, call: Call) -> Answer | None:
    """Return the answer of an earlier call with the same request id, or None if there was no such call. Raises Conflict
    if the earlier call had another verb, another schedule or other arguments."""
    answer: Answer | None = await store.read(
        lambda _: idempotency.find_answer(call.namespace, call.request, _summary(call))
    )
    return answer


def _summary(call: Call) -> str:
    return f"{call.verb} {call.name} {call.asked}"


def load_locked(call: Call, repairs: bool) -> Operation[Schedule]:
    """Lock and return the schedule of a call. If `repairs` is true, the unreadable parts of the schedule get default
    values. Raises NotFound if there is no such schedule, and TokenMismatch if the schedule no longer has the call's
    token. Raises Conflict if the schedule cannot be read and `repairs` is false."""
    while True:
        named = yield sql("schedule_by_name", namespace=call.namespace, name=call.name)
        if not named:
            raise (yield from not_found(call.name, call.namespace))
        rows = yield sql("lock_schedules", [(id_of(named[0]),)])
        if rows and closed_of(rows[0]) is None:  # not closed while this waited for its lock
            break
    try:
        schedule = read_schedule(rows[0])
    except Exception as problem:
        if not repairs:
            raise Conflict(
                f"schedule {call.name!r} cannot be read: {problem}; repair the cause, or give it a new spec and "
                "action (upsert), or delete it"
            ) from None
        schedule = read_anyway(rows[0])
    check_token(call.name, call.token, schedule)
    return schedule
