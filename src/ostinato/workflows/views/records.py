"""Build the views of a workflow's runs, events, inputs and outputs. Each attempt of a handler is a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from ostinato.when.instants import Micros, to_datetime
from ostinato.workflows.model import HandlerRun, InputRecord, Mutation, MutationStatus, TopicEvent
from ostinato.workflows.views.wording import counted, listed

PENDING, DONE, SKIPPED = INPUT_STATUSES = ("pending", "done", "skipped")
HELD = "held"
APPLIED, UNCONFIRMED = OUTPUT_STATUSES = ("applied", "unconfirmed")


def _read(text: str | None) -> Any:
    return None if text is None else orjson.loads(text)


@dataclass(frozen=True, slots=True)
class HandlerRunInfo:
    """One attempt of a handler. `retry_of` is the id of the previous attempt, or of the run that a fixer must fix."""

    id: str
    handler: str
    type: str
    phase: str
    status: str
    retry_of: str | None
    version: str
    title: str | None
    outcome: Any
    error: Any
    created: datetime
    updated: datetime


def run_info(record: HandlerRun) -> HandlerRunInfo:
    return HandlerRunInfo(
        id=record.run_id,
        handler=record.handler,
        type=record.type.value,
        phase=record.phase.value,
        status=record.status.value,
        retry_of=record.retry_of,
        version=f"{record.version}.{record.repairs}" if record.repairs else str(record.version),
        title=title_of(record),
        outcome=_read(record.outcome),
        error=_read(record.error),
        created=to_datetime(record.created),
        updated=to_datetime(record.updated),
    )


def title_of(record: HandlerRun) -> str | None:
    prepared = _read(record.prepared)
    title = None if prepared is None else prepared.get("title")
    return None if title is None else str(title)


@dataclass(frozen=True, slots=True)
class EventInfo:
    """An event. `id` grows with time, so it can be a list's cursor. `message_id` is the id that the publisher chose."""

    id: str
    topic: str
    message_id: str
    payload: Any
    status: str
    reserved_by: str | None
    created_by: str | None
    attempt: int
    created: datetime
    updated: datetime


def event_info(event: TopicEvent) -> EventInfo:
    return EventInfo(
        event.id,
        event.topic,
        event.message_id,
        _read(event.payload),
        event.status.value,
        event.reserved_by,
        event.created_by,
        event.attempt,
        to_datetime(event.created),
        to_datetime(event.updated),
    )


@dataclass(frozen=True, slots=True)
class InputInfo:
    """An object of another system that causes events.

    - `status`: pending, done or skipped
    - `attention`: "blocked" or "stale" if a person should look at the input, else None
    - `outputs`: the number of effects that the input caused; only effects that took place count
    - `result`: what came of the input, in words

    An input is blocked if some of its events are reserved by a run, and that run waits for a person. An input is stale
    if it has been pending for longer than the policy's `stale_after`.
    """

    id: str
    source: str
    type: str
    external_id: str
    title: str
    status: str
    attention: str | None
    outputs: int
    result: str
    created: datetime


def input_info(record: InputRecord, state: str, outputs: int, stale_before: Micros) -> InputInfo:
    """Return the view of an input. `state` is the input's status, or "held" if a run that waits for a person has
    reserved events of the input. A pending input is stale if it was created before `stale_before`."""
    held = state == HELD
    status = PENDING if held else state
    stale = status == PENDING and record.created < stale_before
    return InputInfo(
        id=record.id,
        source=record.source,
        type=record.type,
        external_id=record.external_id,
        title=record.title,
        status=status,
        attention="blocked" if held else "stale" if stale else None,
        outputs=outputs,
        result=_result(status, outputs),
        created=to_datetime(record.created),
    )


def _result(status: str, outputs: int) -> str:
    """Describe what came of an input: `Pending`, `2 outputs`, `No external changes`."""
    match status, outputs:
        case "pending", 0:
            return "Pending"
        case "skipped", 0:
            return "Skipped"
        case "skipped", _:
            return f"Skipped ({counted(outputs, 'output')} completed before skip)"
        case _, 0:
            return "No external changes"
    return counted(outputs, "output")


@dataclass(frozen=True, slots=True)
class Cause:
    """An input that caused an output."""

    id: str
    source: str
    type: str
    title: str


@dataclass(frozen=True, slots=True)
class OutputInfo:
    """An effect on another system. `stems_from` describes the inputs that caused the effect.

    `status` is "applied", or "unconfirmed" while the outcome is unknown. In a `RunDetail`, it may also be "failed".
    """

    id: str
    status: str
    mutator: str
    title: str
    params: Any
    result: Any
    error: str | None
    run_id: str
    inputs: tuple[Cause, ...]
    stems_from: str
    created: datetime
    updated: datetime


def output_info(mutation: Mutation, inputs: Sequence[InputRecord]) -> OutputInfo:
    return OutputInfo(
        id=mutation.id,
        status=_OUTPUTS.get(mutation.status, UNCONFIRMED),
        mutator=mutation.mutator,
        title=mutation.title or mutation.mutator,
        params=_read(mutation.params),
        result=_read(mutation.result),
        error=mutation.error,
        run_id=mutation.run_id,
        inputs=tuple(Cause(record.id, record.source, record.type, record.title) for record in inputs),
        stems_from=_stems_from(inputs),
        created=to_datetime(mutation.created),
        updated=to_datetime(mutation.updated),
    )


_OUTPUTS = {MutationStatus.APPLIED: APPLIED, MutationStatus.FAILED: "failed"}


def _stems_from(inputs: Sequence[InputRecord]) -> str:
    """Describe inputs: a single input by its title, several by number and type, such as "5 emails (batch)"."""
    if len(inputs) == 1:
        return inputs[0].title or f"{inputs[0].type} {inputs[0].external_id}"
    return f"{listed(Counter(record.type for record in inputs))} (batch)" if inputs else ""


@dataclass(frozen=True, slots=True)
class RunDetail:
    """A run of a handler.

    - `attempts`: the runs in the chain of retries to which the run belongs, oldest first, at most 1,000. If the
      workflow's fixer (the function that repairs the code after a logic error) ran for one of them, the fixer's run is
      included.
    - `events`: the events that the run reserved, at most 1,000
    - `output`: the latest effect of the run: an effect that the run requested, or an effect of an earlier attempt that
      the run continues. None if the run has no effect.
    """

    run: HandlerRunInfo
    attempts: tuple[HandlerRunInfo, ...]
    events: tuple[EventInfo, ...]
    output: OutputInfo | None


def activity(record: HandlerRun, mutation: Mutation | None, inputs: Mapping[str, int]) -> str:
    """Describe what a committed run did: `Processed 3 emails → added to spreadsheet`."""
    what = listed(inputs) if inputs else "events"
    if mutation is not None and mutation.status is MutationStatus.APPLIED:
        return f"Processed {what} → {mutation.title or mutation.mutator}"
    if (_read(record.outcome) or {}).get("status") == "skipped":
        return f"Skipped {what}"
    return f"Processed {what} · no external changes"
