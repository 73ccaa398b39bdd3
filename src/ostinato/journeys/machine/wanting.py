"""What an instance needs from outside in order to go on: a function of the instance alone, so that after a crash the
same is asked for again, under the same keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.language.states import Call, Choice, Parallel, Task, Timer, Transform
from ostinato.journeys.machine.decision import Effect, Evaluate, RunTask
from ostinato.journeys.machine.joining import outcomes, parts
from ostinato.journeys.machine.model import Compensating, Frame, Instance, Rest
from ostinato.model import Json

COMPENSATION = "compensation"  # in place of a frame's id: the question whether a success is compensated


def pending(definition: Definition, instance: Instance) -> tuple[Effect, ...]:
    if instance.ending is not None:
        rules = definition.spec.compensation
        if rules is None or instance.compensating is not Compensating.OPEN:
            return ()
        asked = tuple(one.when.predicate for one in rules.also_for if one.when.predicate is not None)
        known = {
            **_bound(instance, instance.context),
            "output": instance.ending.output,
            "outcome": outcome_form(instance),
        }
        return (Evaluate(COMPENSATION, 0, asked, known),)
    found = (_wanted(definition, instance, one) for one in instance.frames.values())
    return tuple(one for one in found if one is not None)


def outcome_form(instance: Instance) -> dict[str, Any]:
    """What a compensation sees as `outcome`."""
    assert instance.ending is not None
    return {
        "phase": instance.phase,
        "terminationKind": instance.ending.kind.value,
        "error": instance.ending.error,
        "terminatedAtState": instance.ending.state,
        "journeyId": instance.id,
        "journeyName": instance.definition,
    }


def _wanted(definition: Definition, instance: Instance, frame: Frame) -> Effect | None:
    if frame.rest not in (Rest.WORKING, Rest.JOINING):
        return None
    state = definition.graph(frame.path).states[frame.state]
    known = _bound(instance, frame.context)
    match state:
        case Task():
            key = f"{instance.id}:{frame.id}:{frame.visit}"
            return RunTask(frame.id, frame.visit, frame.state, state, frame.context, key)
        case Choice():
            asked: tuple[Expression | str | None, ...] = tuple(one.when.predicate for one in state.choices)
        case Transform():
            asked = (state.transform.mapper,)
        case Timer():
            asked = (state.timer.duration, state.timer.until)
        case Call():
            asked = (state.subjourney.input,)
        case Parallel():
            asked = (state.parallel.join.mapper,)
            ended = instance.children(frame.id)
            known["branches"] = parts(state.parallel, ended, frame.decided_by)
            known["outcomes"] = outcomes(state.parallel, ended)
        case _:
            return None
    return Evaluate(frame.id, frame.visit, tuple(one for one in asked if isinstance(one, Expression)), known)


def _bound(instance: Instance, context: Mapping[str, Json]) -> dict[str, Json]:
    return {**instance.given, "context": context, "payload": context.get("payload")}
