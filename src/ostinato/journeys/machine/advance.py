"""Begin and advance an instance. The functions take an instance, inputs and the time, and return a decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ostinato.documents import Path
from ostinato.journeys.expressions.contract import Value
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.decision import (
    Cancelled,
    Compensate,
    Decision,
    Effect,
    Evaluated,
    Input,
    Stopped,
    Submitted,
    TaskEnded,
    TimerDue,
)
from ostinato.journeys.machine.model import DEADLINE, ROOT, Compensating, Ending, Frame, Instance, Rest, Termination
from ostinato.journeys.machine.pending_effects import COMPENSATION, outcome_json, pending_effects
from ostinato.journeys.machine.transitions import Transitions
from ostinato.model import Json
from ostinato.when.instants import SECOND, Micros


def begin(
    definition: Definition,
    id: str,
    context: Mapping[str, Json],
    now: Micros,
    *,
    accepted: Micros | None = None,
    within: Micros | None = None,
    start: str | None = None,
    graph: Path = ("spec",),
    tags: Sequence[str] = (),
    attributes: Mapping[str, str] | None = None,
    extra_bindings: Mapping[str, Json] | None = None,
    scheduled: bool = False,
) -> Decision:
    """Create an instance, and advance it until it needs a result from outside. Return the decision, which contains the
    instance. The instance's time limit is the shorter of `within` and the definition's limit. The time counts from
    `accepted`, or from `now` if `accepted` is None."""
    states = definition.graph(graph)
    limit = definition.spec.execution if graph == ("spec",) else None
    lengths = [within, None if limit is None else limit.max_duration_s * SECOND]
    instance = Instance(
        id,
        definition.name,
        definition.version,
        {ROOT: Frame(ROOT, graph, start or states.start, 0, context)},
        now,
        deadline=min(((accepted or now) + one for one in lengths if one is not None), default=None),
        tags=tuple(tags),
        attributes=dict(attributes or {}),
        extra_bindings=dict(extra_bindings or {}),
        scheduled=scheduled,
    )
    transitions = Transitions(definition, instance, now)
    transitions.add_event("journey:started", {"definition": definition.name, "version": definition.version})
    transitions.enter(ROOT, start or states.start)
    return _decision(definition, None, transitions, [])


def advance(definition: Definition, instance: Instance, inputs: Sequence[Input], now: Micros) -> Decision:
    """Apply inputs to an instance, in order, and return the decision. The decision lists the inputs that the instance
    refused. If the instance's deadline has passed, the instance times out first, and then refuses the inputs."""
    transitions = Transitions(definition, instance, now)
    refused: list[Input] = []
    for input in inputs:
        if transitions.ending is None and instance.deadline is not None and now >= instance.deadline:
            _time_out(definition, transitions)
            if input == TimerDue(DEADLINE):
                continue
        if not _apply_input(transitions, input):
            refused.append(input)
    return _decision(definition, instance, transitions, refused)


def _apply_input(transitions: Transitions, input: Input) -> bool:
    """Apply an input, and return whether it was accepted."""
    if isinstance(input, Evaluated) and input.frame == COMPENSATION:
        return _decide_compensation(transitions, input)
    if transitions.ending is not None:
        return False
    match input:
        case Evaluated():
            return transitions.on_evaluated(input)
        case TaskEnded():
            return transitions.on_task_ended(input)
        case Submitted():
            return transitions.on_submitted(input)
        case TimerDue():
            return transitions.on_timer_due(input.purpose)
        case Cancelled():
            transitions.stop(Termination.CANCEL, "JOURNEY_CANCELLED", input.reason)
            return True
        case Stopped():
            transitions.stop(input.kind, input.code, input.reason)
            if not input.compensates:
                transitions.compensating = Compensating.NO
            return True


def _time_out(definition: Definition, transitions: Transitions) -> None:
    limit = definition.spec.execution
    if limit is None:
        transitions.stop(Termination.TIMEOUT, "TIMEOUT", "it exceeded its time limit")
    else:
        transitions.stop(Termination.TIMEOUT, limit.on_timeout.error_code, limit.on_timeout.reason)


def _decide_compensation(transitions: Transitions, evaluated: Evaluated) -> bool:
    """Store in `transitions.compensating` whether the ended instance is compensated. `evaluated` has the outcomes of
    the `alsoFor` predicates. If at least one of them is true, store `YES`. Otherwise store `NO`.

    Return True if this call stored the decision. If the instance has not ended, or the decision was made before, change
    nothing and return False.
    """
    if transitions.ending is None or transitions.compensating is not Compensating.OPEN:
        return False
    matches = any(isinstance(one, Value) and one.value is True for one in evaluated.outcomes)
    transitions.compensating = Compensating.YES if matches else Compensating.NO
    return True


def _needs_compensation(definition: Definition, transitions: Transitions, ending: Ending) -> Compensating:
    """Return whether an instance that ended with `ending` is compensated.

    - If the definition has no compensation, or if the instance is itself a compensation, return `NO`.
    - If the instance failed, return `YES`.
    - If the instance succeeded, the rules in `alsoFor` decide. Without rules, return `NO`. If a rule has no predicate,
      return `YES`. If all rules have predicates, return `OPEN`, because the predicates must be evaluated first.
    """
    rules = definition.spec.compensation
    if rules is None or transitions.frames[ROOT].path != ("spec",):
        return Compensating.NO
    if not ending.succeeded or any(one.when.predicate is None for one in rules.also_for):
        return Compensating.YES
    return Compensating.OPEN if rules.also_for else Compensating.NO


def _decision(
    definition: Definition, before: Instance | None, transitions: Transitions, refused: Sequence[Input]
) -> Decision:
    undecided = transitions.compensating is Compensating.OPEN
    if transitions.ending is not None and (before is None or before.ending is None) and undecided:
        transitions.compensating = _needs_compensation(definition, transitions, transitions.ending)
    instance = transitions.instance()
    effects: tuple[Effect, ...] = pending_effects(definition, instance)
    was = Compensating.OPEN if before is None else before.compensating
    if instance.compensating is Compensating.YES and was is Compensating.OPEN:
        effects = (*effects, Compensate(instance.context, outcome_json(instance)))
    return Decision(instance, effects, tuple(transitions.events), tuple(refused))


def needed_timers(instance: Instance) -> dict[str, Micros]:
    """Return a dict from purpose to due time, for the timers of an instance's frames and its deadline."""
    if instance.over:
        return {}
    parked = (one for one in instance.frames.values() if one.rest is Rest.PARKED and one.due is not None)
    timers = {one.timer: one.due for one in parked if one.due is not None}
    return timers if instance.deadline is None else {**timers, DEADLINE: instance.deadline}
