"""Let schedules start durable functions, with actions such as `{"function": "onboard", "input": {…}}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ostinato.engine.jobs import Declaration
from ostinato.errors import OstinatoError
from ostinato.functions.definition import as_function
from ostinato.functions.model import KIND
from ostinato.functions.store import statement
from ostinato.model import Run
from ostinato.schedules.actions import INPUT, ActionKind
from ostinato.schedules.model import Schedule, ScheduleAction
from ostinato.start_checks import RunBuilder
from ostinato.store.contract import Operation


def action_run(action: ScheduleAction, namespace: str) -> Run:
    """Return the run that an action starts, without id and times. Raises OstinatoError if the action is invalid."""
    name, input = action.input.get(KIND), action.input.get(INPUT) or {}
    if not isinstance(name, str) or not name or not isinstance(input, Mapping):
        raise OstinatoError("the action names no function; write {'function': name, 'input': {…}}")
    options = {option: value for option, value in action.options.items() if option != "deadline"}
    builder = RunBuilder(name, None, None, options, namespace=namespace, actor=None, now=0)
    run, _ = builder.run("", input, None)
    return replace(run, kind=KIND)


def find_unfit(schedules: Sequence[Schedule]) -> Operation[dict[str, OstinatoError]]:
    """Check the inputs of schedules that start functions. Return a dict from schedule id to error, with an entry for
    each wrong input. An undeclared function is no error: its runs wait until a node declares it."""
    declared: dict[str, Declaration | None] = {}
    problems: dict[str, OstinatoError] = {}
    for schedule in schedules:
        name = str(schedule.action.input.get(KIND))
        if name not in declared:
            rows = yield statement("declared_code", name=name)
            declared[name] = Declaration.read(name, rows[0][3]) if rows else None
        declaration = declared[name]
        if declaration is not None:
            try:
                declaration.check(schedule.action.input.get(INPUT) or {})
            except OstinatoError as problem:
                problems[schedule.id] = as_function(problem)
    return problems


ACTION = ActionKind(
    KIND,
    action_run,
    options=("queue", "priority", "deadline", "serial_key", "concurrency"),
    find_unfit=find_unfit,
    timed=True,
)
