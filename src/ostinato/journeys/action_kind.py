"""Define the schedule action that starts a journey. It checks that the journey can start, and builds the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ostinato.engine.context import to_json
from ostinato.errors import OstinatoError, did_you_mean, list_choices
from ostinato.journeys.definitions import find_definition
from ostinato.journeys.language import Definition
from ostinato.journeys.language.json_schema import validate
from ostinato.journeys.rows import KIND
from ostinato.journeys.store import statement
from ostinato.model import Run
from ostinato.schedules.actions import INPUT, ActionKind
from ostinato.schedules.model import Schedule, ScheduleAction
from ostinato.start_checks import read_positive_length
from ostinato.store.contract import Operation

_BOUND = ("binding", "generation")  # fields of an action that only bindings write


def journey_run(action: ScheduleAction, namespace: str) -> Run:
    """Build a run of a journey from an action, for example from the action of a schedule. The run's time limit is the
    shorter of the options `deadline` and `timeout`. Raise `OstinatoError` if the action is invalid."""
    lengths = [read_positive_length(action.options.get(name), name) for name in ("deadline", "timeout")]
    within = min((length for length in lengths if length is not None), default=None)
    fields = {name: part for name, part in action.input.items() if part is not None}
    unknown = [name for name in fields if name not in (KIND, *ACTION.fields, INPUT, *_BOUND)]
    journey = fields.pop(KIND, None)
    if unknown or not isinstance(journey, str) or not isinstance(fields.get(INPUT, {}), Mapping):
        raise OstinatoError("the action names no journey; write {'journey': name, 'input': {…}}")
    if within is not None:
        fields["within"] = within
    return Run(
        id="",
        name=journey,
        kind=KIND,
        namespace=namespace,
        queue=action.options.get("queue") or "default",
        priority=int(action.options.get("priority", 0)),
        input=to_json(fields, "the input"),
    )


def find_unfit(schedules: Sequence[Schedule]) -> Operation[dict[str, OstinatoError]]:
    """Check schedules that start journeys, and return a dict from schedule id to error. The dict contains only
    schedules whose journey cannot start. A journey cannot start in these cases:

    - The definition or its start state does not exist.
    - The definition is an API.
    - No start state is set, and the input schema of the journey refuses the input.

    Bindings (schedules that journeys make) are skipped, because they were checked when they were made.
    """
    definitions: dict[tuple[str, ...], Definition | OstinatoError] = {}
    problems: dict[str, OstinatoError] = {}
    for schedule in schedules:
        fields = schedule.action.input
        if "binding" in fields:
            continue
        named = schedule.namespace, str(fields.get(KIND)), str(fields.get("version") or "")
        if named not in definitions:
            try:
                definitions[named] = yield from find_definition(named[0], named[1], named[2] or None)
            except OstinatoError as problem:
                definitions[named] = problem
        definition = definitions[named]
        try:
            if isinstance(definition, OstinatoError):
                raise definition
            check_start(definition, fields.get("start"), fields.get(INPUT) or {})
        except OstinatoError as problem:
            problems[schedule.id] = problem
    return problems


def _refuse_input(schedule: Schedule) -> str | None:
    if "binding" not in schedule.action.input:
        return None
    return (
        f"schedule {schedule.name!r} was made by a journey: each run begins with what the last one left, "
        "so a trigger takes no input"
    )


def _forget(schedules: Sequence[str]) -> Operation[None]:
    yield statement("forget_bindings", [(id,) for id in schedules])


def check_start(definition: Definition, start: Any, context: Mapping[str, Any]) -> None:
    """Raise `OstinatoError` unless the journey can start at the state `start` with this context. If `start` is None,
    the journey starts at its first state, and the journey's input schema must accept the context."""
    if definition.is_api:
        raise OstinatoError(f"{definition.name!r} is an API; call it instead of starting it")
    if start is not None and start not in definition.spec.states:
        hint = did_you_mean(str(start), definition.spec.states) or list_choices(definition.spec.states)
        raise OstinatoError(f"journey {definition.name!r} has no state {start!r} to start at; {hint}")
    if start is None and definition.spec.input is not None:
        validate(context, definition.spec.input.schema, "the input")


ACTION = ActionKind(
    KIND,
    journey_run,
    fields=("version", "start"),
    options=("queue", "priority", "deadline", "timeout"),
    find_unfit=find_unfit,
    refuse_input=_refuse_input,
    forget=_forget,
)
