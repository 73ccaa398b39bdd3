"""What people see of a journey: its status while it runs, its outcome when it is over. `form` is the JSON of the HTTP
surface, with the language's own field names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ostinato.journeys.checks.schemas import IN_OUTCOME, IN_STATUS
from ostinato.journeys.language import Definition
from ostinato.journeys.language.states import Projection, Wait, Webhook
from ostinato.journeys.machine.model import Frame, Instance, Rest, Termination
from ostinato.journeys.rows import Kept
from ostinato.model import Json
from ostinato.when.instants import format_instant, from_datetime, to_datetime


@dataclass(frozen=True, slots=True)
class JourneyStatus:
    """`steps` are those that wait for an input. `more` is what a step's response shows of the context."""

    id: str
    name: str
    version: str
    phase: str
    current_state: str
    started: datetime
    updated: datetime
    steps: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    cancellable: bool = False
    links: bool = True
    more: Mapping[str, Json] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        return self.phase != "RUNNING"

    def form(self) -> dict[str, Json]:
        found: dict[str, Json] = {
            "journeyId": self.id,
            "journeyName": self.name,
            "phase": self.phase,
            "currentState": self.current_state,
            "updatedAt": format_instant(from_datetime(self.updated)),
        }
        return {**self.more, **found, **_labels(self.tags, self.attributes)}


@dataclass(frozen=True, slots=True)
class JourneyOutcome:
    """`status` is what the output says of itself, else the phase, else the error's code."""

    id: str
    name: str
    version: str
    phase: str
    status: str
    output: Json = None
    error: Mapping[str, Json] | None = None
    outcome_id: str | None = None
    tags: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    links: bool = True
    more: Mapping[str, Json] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        return self.phase == "SUCCEEDED"

    def form(self) -> dict[str, Json]:
        found: dict[str, Json] = {
            "journeyId": self.id,
            "journeyName": self.name,
            "phase": self.phase,
            "status": self.status,
        }
        if self.succeeded:
            found["output"] = self.output
        if self.error is not None:
            found["error"] = self.error
        if self.outcome_id is not None:
            found["outcomeId"] = self.outcome_id
        return {**self.more, **found, **_labels(self.tags, self.attributes)}


def _labels(tags: tuple[str, ...], attributes: Mapping[str, str]) -> dict[str, Json]:
    found: dict[str, Any] = {}
    if tags:
        found["tags"] = list(tags)
    if attributes:
        found["attributes"] = dict(attributes)
    return found


def active_steps(definition: Definition, instance: Instance) -> dict[str, Frame]:
    """The steps that wait for an input, by their state's id."""
    found: dict[str, Frame] = {}
    for frame in instance.frames.values():
        if frame.rest is Rest.PARKED and not instance.over:
            state = definition.graph(frame.path).states[frame.state]
            if isinstance(state, Wait | Webhook):
                found.setdefault(frame.state, frame)
    return found


def status_of(definition: Definition, kept: Kept, *, step: str | None = None, withheld: bool = False) -> JourneyStatus:
    """`step`: the answer to one, with what its response shows. `withheld`: it is over, but not yet to be told so."""
    instance = kept.instance
    steps = active_steps(definition, instance)
    lifecycle = definition.spec.lifecycle
    response = None if step is None else _response(definition, step)
    return JourneyStatus(
        instance.id,
        instance.definition,
        instance.version,
        "RUNNING" if withheld else instance.phase,
        instance.current_state,
        to_datetime(instance.started),
        to_datetime(kept.updated),
        tuple(steps),
        instance.tags,
        instance.attributes,
        not instance.over and (lifecycle is None or lifecycle.cancellable),
        definition.spec.http_surface.links.enabled,
        shown(response, instance.context, IN_STATUS),
    )


def outcome_of(definition: Definition, kept: Kept, outcome_id: str | None = None) -> JourneyOutcome:
    instance = kept.instance
    ending = instance.ending
    assert ending is not None
    own = ending.output.get("status") if isinstance(ending.output, Mapping) else None
    status = own if isinstance(own, str) and own else ending.phase if ending.succeeded else str(ending.code)
    told = (
        ending.problem if ending.kind is Termination.FAIL else None
    )  # the cause of an internal error is not for callers
    error = None if ending.error is None else {**(told or {}), **ending.error}
    return JourneyOutcome(
        instance.id,
        instance.definition,
        instance.version,
        ending.phase,
        status,
        ending.output if ending.succeeded else None,
        error,
        outcome_id,
        instance.tags,
        instance.attributes,
        definition.spec.http_surface.links.enabled,
        shown(definition.spec.output.response, instance.context, IN_OUTCOME),
    )


def shown(response: Projection | None, context: Mapping[str, Json], reserved: Collection[str]) -> dict[str, Json]:
    """What a response shows of the context, but for the names that are the engine's own in this answer."""
    value = None if response is None else context.get(response.output_var)
    return {name: one for name, one in value.items() if name not in reserved} if isinstance(value, Mapping) else {}


def _response(definition: Definition, step: str) -> Projection | None:
    for _, id, state in definition.states():
        if id == step and isinstance(state, Wait | Webhook):
            return state.external.response
    return None
