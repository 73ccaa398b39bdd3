"""Apply the schedules of a file or of the code in one transaction, all or none. Several processes may apply the same
schedules at once; each change is made once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from ostinato.errors import Conflict, NotFound
from ostinato.schedules.declared.plan import DeclaredElsewhere, Plan, steps, with_definition
from ostinato.schedules.model import Schedule
from ostinato.schedules.operations import edit
from ostinato.schedules.rows import closed_of, read_anyway
from ostinato.store.contract import Operation, Row, sql, with_pauses

T = TypeVar("T")
_BATCH = 500


class StoreChanged(Conflict):
    """Raised if another process created or closed a schedule after the plan was made. The caller must make a new
    plan."""


def make_plan(
    call: edit.Call, wanted: Sequence[Schedule], origins: Iterable[str], *, prune: bool = False, take: bool = False
) -> Operation[Plan]:
    """Return the plan that makes the store match `wanted`. Nothing is changed.

    - `origins`: the code or files that declare schedules; if a stored schedule has one of these origins, but is not
      wanted, its step has the verb `missing`
    - `prune`: whether `apply_plan` closes the schedules whose step has the verb `missing`
    - `take`: whether to change even those schedules that another origin declares
    """
    stored: dict[str, Schedule] = {}
    for begin in range(0, len(wanted), _BATCH):
        names = [(call.namespace, one.name) for one in wanted[begin : begin + _BATCH]]
        rows = yield sql("schedules_by_name", names)
        stored |= {schedule.name: schedule for schedule in (yield from with_pauses(map(read_anyway, rows)))}
    owned: list[Schedule] = []
    for origin in sorted(origins):
        rows = yield sql("schedules_of_origin", namespace=call.namespace, origin=origin)
        owned += yield from with_pauses(map(read_anyway, rows))
    sequence = yield from with_pauses(steps(wanted, stored, owned, call.now, take=take))
    return Plan(tuple(sorted(sequence, key=lambda step: step.name)), pruned=prune)


def apply_plan(
    call: edit.Call,
    wanted: Sequence[Schedule],
    origins: Iterable[str],
    *,
    prune: bool = False,
    take: bool = False,
    leave_taken: bool = False,
) -> Operation[Plan]:
    """Make a plan with `make_plan`, apply it, and return it. If another origin declares a wanted schedule differently,
    the first of these rules that applies is used:

    - If `take` is true, the schedule gets the wanted definition and its origin.
    - If `leave_taken` is true, the schedule stays as it is.
    - Otherwise, DeclaredElsewhere is raised.

    Raises StoreChanged if another process created or closed one of the schedules at the same time.
    """
    origins = list(origins)
    # Lock in name order to avoid deadlocks.
    wanted = sorted(wanted, key=lambda one: one.name)
    plan = yield from make_plan(call, wanted, origins, prune=prune, take=take)
    touched = [step.stored for step in (*plan.update, *(plan.missing if prune else ())) if step.stored is not None]
    if touched:
        rows = yield sql("lock_schedules", [(one.id,) for one in sorted(touched, key=lambda one: one.id)])
        if len(rows) < len(touched) or any(closed_of(row) is not None for row in rows):
            raise StoreChanged("a schedule was closed meanwhile")
        # Another process may have made the changes while this one waited for the locks.
        plan = yield from make_plan(call, wanted, origins, prune=prune, take=take)
    if plan.conflicts and not leave_taken:
        raise DeclaredElsewhere(plan)
    events: list[Row] = []
    new = [step.wanted for step in plan.create if step.wanted is not None]
    for begin in range(0, len(new), _BATCH):
        try:
            yield from defer_events(edit.create(call, new[begin : begin + _BATCH]), events)
        except edit.AlreadyExists as problem:
            raise StoreChanged(str(problem)) from problem
    try:
        for step in plan.update:
            assert step.wanted is not None
            yield from defer_events(_update(replace(call, name=step.name), step.wanted), events)
        for step in plan.missing if prune else ():
            yield from defer_events(edit.delete(replace(call, name=step.name), "leave"), events)
    except NotFound as problem:
        raise StoreChanged(str(problem)) from problem
    if events:
        yield sql("insert_events", events)
    return plan


def _update(call: edit.Call, wanted: Schedule) -> Operation[edit.Answer]:
    return edit.update(call, lambda one: with_definition(one, wanted), repairs=True)


def defer_events(work: Operation[T], events: list[Row]) -> Operation[T]:
    """Run the operation `work`, and return its result. Its events are not written, but added to the list `events`. The
    caller writes them at the end of its transaction, because writing events takes a lock that makes other transactions
    wait until the commit."""
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
