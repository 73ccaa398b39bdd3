"""Compute the effects that an instance waits for. They depend only on the instance, so after a crash another node
requests the same effects with the same keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.language.states import CallSubjourney, Choice, Parallel, Task, Timer, Transform
from ostinato.journeys.machine.decision import Effect, Evaluate, RunTask
from ostinato.journeys.machine.join import branch_contexts, branch_outcomes
from ostinato.journeys.machine.model import Compensating, Frame, Instance, Rest
from ostinato.model import Json

# The frame id in the `Evaluate` effect that asks whether a success is compensated.
COMPENSATION = "compensation"


def pending_effects(definition: Definition, instance: Instance) -> tuple[Effect, ...]:
    if instance.ending is not None:
        rules = definition.spec.compensation
        if rules is None or instance.compensating is not Compensating.OPEN:
            return ()
        predicates = tuple(one.when.predicate for one in rules.also_for if one.when.predicate is not None)
        bindings = {
            **bindings_of(instance, instance.context),
            "output": instance.ending.output,
            "outcome": outcome_json(instance),
        }
        return (Evaluate(COMPENSATION, 0, predicates, bindings),)
    effects = (_effect_of(definition, instance, one) for one in instance.frames.values())
    return tuple(one for one in effects if one is not None)


def outcome_json(instance: Instance) -> dict[str, Any]:
    """Return how an instance ended. The expressions of its compensation see this object as the variable `outcome`."""
    assert instance.ending is not None
    return {
        "phase": instance.phase,
        "terminationKind": instance.ending.kind.value,
        "error": instance.ending.error,
        "terminatedAtState": instance.ending.state,
        "journeyId": instance.id,
        "journeyName": instance.definition,
    }


def _effect_of(definition: Definition, instance: Instance, frame: Frame) -> Effect | None:
    if frame.rest not in (Rest.WORKING, Rest.JOINING):
        return None
    state = definition.graph(frame.path).states[frame.state]
    bindings = bindings_of(instance, frame.context)
    match state:
        case Task():
            key = f"{instance.id}:{frame.id}:{frame.visit}"
            return RunTask(frame.id, frame.visit, frame.state, state, frame.context, key)
        case Choice():
            expressions: tuple[Expression | str | None, ...] = tuple(one.when.predicate for one in state.choices)
        case Transform():
            expressions = (state.transform.mapper,)
        case Timer():
            expressions = (state.timer.duration, state.timer.until)
        case CallSubjourney():
            expressions = (state.subjourney.input,)
        case Parallel():
            expressions = (state.parallel.join.mapper,)
            ended = instance.children(frame.id)
            bindings["branches"] = branch_contexts(state.parallel, ended, frame.decided_by)
            bindings["outcomes"] = branch_outcomes(state.parallel, ended)
        case _:
            return None
    return Evaluate(frame.id, frame.visit, tuple(one for one in expressions if isinstance(one, Expression)), bindings)


def bindings_of(instance: Instance, context: Mapping[str, Json]) -> dict[str, Json]:
    """Return the variables that an expression sees. `context` is the context of the frame that needs the expression."""
    return {**instance.extra_bindings, "context": context, "payload": context.get("payload")}
