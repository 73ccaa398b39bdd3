"""Named outcomes: what kind of end an end was, by the definition's own predicates."""

from __future__ import annotations

from ostinato.journeys.evaluating import Tools, platform_of
from ostinato.journeys.expressions.contract import Value
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.model import Instance


async def outcome_id(tools: Tools, definition: Definition, instance: Instance) -> str | None:
    """The first outcome that fits. A predicate that fails does not fit."""
    ending = instance.ending
    if ending is None or not definition.spec.outcomes:
        return None
    fitting = [(id, one.when) for id, one in definition.spec.outcomes.items() if one.when.phase == ending.phase]
    asked = [when.predicate for _, when in fitting if when.predicate is not None]
    bindings = {
        **instance.given,
        "context": instance.context,
        "payload": instance.context.get("payload"),
        "output": ending.output,
        "error": ending.error,
        "platform": platform_of(tools, definition, instance, None),
    }
    answers = iter(await tools.evaluator.evaluate(asked, bindings))
    for id, when in fitting:
        if when.predicate is None:
            return id
        answer = next(answers)
        if isinstance(answer, Value) and answer.value is True:
            return id
    return None
