"""Find the outcome that a definition names for an ended instance. Each outcome has a phase, and perhaps a predicate."""

from __future__ import annotations

from ostinato.journeys.expressions.contract import Value
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.model import Instance
from ostinato.journeys.machine.pending_effects import bindings_of
from ostinato.journeys.runtime.perform_effects import JourneyRuntime, platform_bindings


async def outcome_id(runtime: JourneyRuntime, definition: Definition, instance: Instance) -> str | None:
    """Return the id of the first outcome in the definition that matches the instance. Return None if no outcome
    matches, or if the instance has not ended. An outcome matches if it has the phase of the instance, and its predicate
    is true or missing. A predicate that fails is not true."""
    ending = instance.ending
    if ending is None or not definition.spec.outcomes:
        return None
    candidates = [(id, one.when) for id, one in definition.spec.outcomes.items() if one.when.phase == ending.phase]
    predicates = [when.predicate for _, when in candidates if when.predicate is not None]
    bindings = {
        **bindings_of(instance, instance.context),
        "output": ending.output,
        "error": ending.error,
        "platform": platform_bindings(runtime, definition, instance, None),
    }
    answers = iter(await runtime.evaluator.evaluate(predicates, bindings))
    for id, when in candidates:
        if when.predicate is None:
            return id
        answer = next(answers)
        if isinstance(answer, Value) and answer.value is True:
            return id
    return None
