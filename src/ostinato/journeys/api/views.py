"""Build the status or the outcome of an instance for callers. `to_json` uses the field names of the HTTP API."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ostinato.journeys.checks.schemas import IN_OUTCOME, IN_STATUS
from ostinato.journeys.language import Definition
from ostinato.journeys.language.states import Projection, Wait, Webhook
from ostinato.journeys.machine.model import Frame, Instance, Rest, Termination
from ostinato.journeys.rows import JourneyRecord
from ostinato.model import Json
from ostinato.when.instants import format_instant, from_datetime, to_datetime


@dataclass(frozen=True, slots=True)
class JourneyStatus:
    """The status of an instance.

    - `steps`: the steps that wait for an input
    - `more`: values of the context that a step adds to its response
    - `note`: why the instance cannot continue now, or None; only `start` and `submit` return a status with a note
    """

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
    note: str | None = None

    @property
    def over(self) -> bool:
        return self.phase != "RUNNING"

    def to_json(self) -> dict[str, Json]:
        fields: dict[str, Json] = {
            "journeyId": self.id,
            "journeyName": self.name,
            "phase": self.phase,
            "currentState": self.current_state,
            "updatedAt": format_instant(from_datetime(self.updated)),
        }
        note = {} if self.note is None else {"_note": self.note}
        return {**self.more, **fields, **_labels(self.tags, self.attributes), **note}


@dataclass(frozen=True, slots=True)
class JourneyOutcome:
    """The outcome of an ended instance. If the output has a field `status` that is a text and not empty, `status` is
    this text. Otherwise `status` is `SUCCEEDED`, or the error code if the instance failed."""

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

    def to_json(self) -> dict[str, Json]:
        fields: dict[str, Json] = {
            "journeyId": self.id,
            "journeyName": self.name,
            "phase": self.phase,
            "status": self.status,
        }
        if self.succeeded:
            fields["output"] = self.output
        if self.error is not None:
            fields["error"] = self.error
        if self.outcome_id is not None:
            fields["outcomeId"] = self.outcome_id
        return {**self.more, **fields, **_labels(self.tags, self.attributes)}


def _labels(tags: tuple[str, ...], attributes: Mapping[str, str]) -> dict[str, Json]:
    labels: dict[str, Any] = {}
    if tags:
        labels["tags"] = list(tags)
    if attributes:
        labels["attributes"] = dict(attributes)
    return labels


def active_steps(definition: Definition, instance: Instance) -> dict[str, Frame]:
    """Return a dict from state id to frame. The dict contains the frames that wait for an input. A frame is a position
    in a graph."""
    steps: dict[str, Frame] = {}
    for frame in instance.frames.values():
        if frame.rest is Rest.PARKED and not instance.over:
            state = definition.graph(frame.path).states[frame.state]
            if isinstance(state, Wait | Webhook):
                steps.setdefault(frame.state, frame)
    return steps


def status_of(
    definition: Definition, record: JourneyRecord, *, step: str | None = None, withheld: bool = False
) -> JourneyStatus:
    """Return the status of an instance. If `step` is not None, the status includes the fields that this step adds to
    its response. If `withheld` is true, the phase in the status is `RUNNING`, even if the instance has ended."""
    instance = record.instance
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
        to_datetime(record.updated),
        tuple(steps),
        instance.tags,
        instance.attributes,
        not instance.over and (lifecycle is None or lifecycle.cancellable),
        definition.spec.http_surface.links.enabled,
        projected_fields(response, instance.context, IN_STATUS),
    )


def outcome_of(definition: Definition, record: JourneyRecord, outcome_id: str | None = None) -> JourneyOutcome:
    instance = record.instance
    ending = instance.ending
    assert ending is not None
    status = ending.phase if ending.succeeded else str(ending.code)
    status_of_output = ending.output.get("status") if isinstance(ending.output, Mapping) else None
    if isinstance(status_of_output, str) and status_of_output:
        status = status_of_output
    # Callers do not see the cause of an internal error.
    problem = ending.problem if ending.kind is Termination.FAIL else None
    error = None if ending.error is None else {**(problem or {}), **ending.error}
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
        projected_fields(definition.spec.output.response, instance.context, IN_OUTCOME),
    )


def projected_fields(
    response: Projection | None, context: Mapping[str, Json], reserved: Collection[str]
) -> dict[str, Json]:
    """Return the fields of the object in the context variable `response.output_var`, without the fields in `reserved`.
    If there is no such object, or `response` is None, return an empty dict."""
    value = None if response is None else context.get(response.output_var)
    return {name: one for name, one in value.items() if name not in reserved} if isinstance(value, Mapping) else {}


def _response(definition: Definition, step: str) -> Projection | None:
    for _, id, state in definition.states():
        if id == step and isinstance(state, Wait | Webhook):
            return state.external.response
    return None
