"""The transitions: from an instance, what came to it and the time to the instance as it is then and what follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ostinato.journeys.expressions.contract import Value
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.decision import (
    Cancelled,
    Compensate,
    Decision,
    Effect,
    Evaluated,
    Fired,
    Input,
    Stopped,
    Submitted,
    TaskEnded,
)
from ostinato.journeys.machine.model import DEADLINE, ROOT, Compensating, Ending, Frame, Instance, Rest, Termination
from ostinato.journeys.machine.moving import Moving
from ostinato.journeys.machine.wanting import COMPENSATION, outcome_form, pending
from ostinato.model import Json
from ostinato.schedules.marked import Path
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
    given: Mapping[str, Json] | None = None,
    scheduled: bool = False,
) -> Decision:
    """A new instance, moved as far as it goes by itself. The deadline counts from when it was `accepted`; where it is
    also to be done `within` some time, the earlier one holds."""
    found = definition.graph(graph)
    limit = definition.spec.execution if graph == ("spec",) else None
    lengths = [within, None if limit is None else limit.max_duration_s * SECOND]
    instance = Instance(
        id,
        definition.name,
        definition.version,
        {ROOT: Frame(ROOT, graph, start or found.start, 0, context)},
        now,
        deadline=min(((accepted or now) + one for one in lengths if one is not None), default=None),
        tags=tuple(tags),
        attributes=dict(attributes or {}),
        given=dict(given or {}),
        scheduled=scheduled,
    )
    moving = Moving(definition, instance, now)
    moving.tell("journey:started", {"definition": definition.name, "version": definition.version})
    moving.enter(ROOT, start or found.start)
    return _decision(definition, None, moving, [])


def advance(definition: Definition, instance: Instance, inputs: Sequence[Input], now: Micros) -> Decision:
    """These inputs, in their order. At or after its deadline an instance times out, whatever else comes."""
    moving = Moving(definition, instance, now)
    refused: list[Input] = []
    for one in inputs:
        if moving.ending is None and instance.deadline is not None and now >= instance.deadline:
            _time_out(definition, moving)
            if one == Fired(DEADLINE):
                continue
        if not _accepted(moving, one):
            refused.append(one)
    return _decision(definition, instance, moving, refused)


def _accepted(moving: Moving, given: Input) -> bool:
    if isinstance(given, Evaluated) and given.frame == COMPENSATION:
        return _judge(moving, given)
    if moving.ending is not None:
        return False
    match given:
        case Evaluated():
            return moving.evaluated(given)
        case TaskEnded():
            return moving.task_ended(given)
        case Submitted():
            return moving.submitted(given)
        case Fired():
            return moving.fired(given.purpose)
        case Cancelled():
            moving.stop(Termination.CANCEL, "JOURNEY_CANCELLED", given.reason)
            return True
        case Stopped():
            moving.stop(given.kind, given.code, given.reason)
            if not given.compensates:
                moving.compensating = Compensating.NO
            return True


def _time_out(definition: Definition, moving: Moving) -> None:
    limit = definition.spec.execution
    code, reason = (
        ("TIMEOUT", "it took longer than it may")
        if limit is None
        else (limit.on_timeout.error_code, limit.on_timeout.reason)
    )
    moving.stop(Termination.TIMEOUT, code, reason)


def _judge(moving: Moving, given: Evaluated) -> bool:
    """The predicates of `alsoFor`. One that fails or is not a boolean does not match: the outcome stands."""
    if moving.ending is None or moving.compensating is not Compensating.OPEN:
        return False
    matches = any(isinstance(one, Value) and one.value is True for one in given.outcomes)
    moving.compensating = Compensating.YES if matches else Compensating.NO
    return True


def _compensation(definition: Definition, moving: Moving, ending: Ending) -> Compensating:
    """A failure is compensated, a success only where a rule says so; a compensation is not itself compensated."""
    rules = definition.spec.compensation
    if rules is None or moving.frames[ROOT].path != ("spec",):
        return Compensating.NO
    if not ending.succeeded or any(one.when.predicate is None for one in rules.also_for):
        return Compensating.YES
    return Compensating.OPEN if rules.also_for else Compensating.NO


def _decision(definition: Definition, before: Instance | None, moving: Moving, refused: Sequence[Input]) -> Decision:
    undecided = moving.compensating is Compensating.OPEN
    if moving.ending is not None and (before is None or before.ending is None) and undecided:
        moving.compensating = _compensation(definition, moving, moving.ending)
    instance = moving.instance()
    had, have = ({} if before is None else timers(before)), timers(instance)
    effects: tuple[Effect, ...] = pending(definition, instance)
    was = Compensating.OPEN if before is None else before.compensating
    if instance.compensating is Compensating.YES and was is Compensating.OPEN:
        effects = (*effects, Compensate(instance.context, outcome_form(instance)))
    return Decision(
        instance,
        effects,
        {purpose: due for purpose, due in have.items() if had.get(purpose) != due},
        frozenset(had.keys() - have.keys()),
        tuple(moving.facts),
        tuple(refused),
    )


def timers(instance: Instance) -> dict[str, Micros]:
    """Every timer that an instance needs: one for each frame that waits for its time, and its deadline's."""
    if instance.over:
        return {}
    parked = (one for one in instance.frames.values() if one.rest is Rest.PARKED and one.due is not None)
    found = {one.timer: one.due for one in parked if one.due is not None}
    return found if instance.deadline is None else {**found, DEADLINE: instance.deadline}
