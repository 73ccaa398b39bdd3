"""Doing a plan: everything that a file or the code wants, in one transaction, or nothing of it. However many processes
do it at once, one of them makes each change and the others find it made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from ostinato.errors import Conflict, NotFound
from ostinato.schedules import scheduler
from ostinato.schedules.declared import DeclaredElsewhere, Plan, as_wanted, compare
from ostinato.schedules.model import Schedule
from ostinato.schedules.rows import read_anyway
from ostinato.store.contract import Operation, Row, sql

T = TypeVar("T")
_BITE = 500
CLOSED = 23  # the column of `SELECT *`


class Moved(Conflict):
    """Someone else has made or closed a schedule between the look and the change; look again."""


def planned(
    call: scheduler.Call,
    wanted: Sequence[Schedule],
    origins: Iterable[str],
    *,
    prune: bool = False,
    take: bool = False,
) -> Operation[Plan]:
    """What would have to be done."""
    there: dict[str, Schedule] = {}
    for begin in range(0, len(wanted), _BITE):
        names = [(call.namespace, one.name) for one in wanted[begin : begin + _BITE]]
        rows = yield sql("schedules_by_name", names)
        there |= {row[2]: read_anyway(row) for row in rows}
    owned: list[Schedule] = []
    for origin in sorted(origins):
        rows = yield sql("schedules_of_origin", namespace=call.namespace, origin=origin)
        owned += map(read_anyway, rows)
    return compare(wanted, there, owned, call.now, prune=prune, take=take)


def applied(
    call: scheduler.Call,
    wanted: Sequence[Schedule],
    origins: Iterable[str],
    *,
    prune: bool = False,
    take: bool = False,
    leave_taken: bool = False,
) -> Operation[Plan]:
    """Do it. With `leave_taken`, what is declared elsewhere is left as it is; else it is a reason to do nothing."""
    origins = list(origins)
    # Everyone takes them in one order, so that nobody waits for who waits for him.
    wanted = sorted(wanted, key=lambda one: one.name)
    plan = yield from planned(call, wanted, origins, prune=prune, take=take)
    touched = [step.there for step in (*plan.update, *(plan.missing if prune else ())) if step.there is not None]
    if touched:
        rows = yield sql("lock_schedules", [(one.id,) for one in sorted(touched, key=lambda one: one.id)])
        if len(rows) < len(touched) or any(row[CLOSED] is not None for row in rows):
            raise Moved("a schedule was closed meanwhile")
        # Who waited for a lock may find that it is done.
        plan = yield from planned(call, wanted, origins, prune=prune, take=take)
    if plan.taken and not leave_taken:
        raise DeclaredElsewhere(plan)
    events: list[Row] = []
    new = [step.wanted for step in plan.create if step.wanted is not None]
    for begin in range(0, len(new), _BITE):
        try:
            yield from events_kept(scheduler.create(call, new[begin : begin + _BITE]), events)
        except scheduler.AlreadyExists as problem:
            raise Moved(str(problem)) from problem
    try:
        for step in plan.update:
            assert step.wanted is not None
            yield from events_kept(_updated(replace(call, name=step.name), step.wanted), events)
        for step in plan.missing if prune else ():
            yield from events_kept(scheduler.delete(replace(call, name=step.name), "leave"), events)
    except NotFound as problem:
        raise Moved(str(problem)) from problem
    if events:
        yield sql("insert_events", events)
    return plan


def _updated(call: scheduler.Call, wanted: Schedule) -> Operation[scheduler.Answer]:
    return scheduler.update(call, lambda one: as_wanted(one, wanted), mends=True)


def events_kept(work: Operation[T], events: list[Row]) -> Operation[T]:
    """An operation that is part of a larger one. Its events wait for the end: writing one holds up every other writer
    of events until the commit, and nothing that may have to wait itself should come after it."""
    try:
        statement = next(work)
        while True:
            if statement.name == "insert_events":
                events += statement.rows or ()
                statement = work.send([])
                continue
            try:
                rows = yield statement
            except Exception as problem:
                statement = work.throw(problem)
            else:
                statement = work.send(rows)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
