"""Convert workflows, their handlers, runs, events and mutations to rows, and back."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import orjson

from ostinato.store.columns import reader, writer
from ostinato.workflows.definition import WorkflowDefinition
from ostinato.workflows.model import (
    Blocked,
    EventStatus,
    HandlerRun,
    HandlerState,
    HandlerType,
    InputRecord,
    Mutation,
    MutationStatus,
    Phase,
    RunStatus,
    TopicEvent,
    Workflow,
    WorkflowState,
)
from ostinato.workflows.store import TABLES


def to_json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _read_blocked(text: str | None) -> Blocked | None:
    return None if text is None else Blocked.from_json(orjson.loads(text))


def _write_blocked(blocked: Blocked | None) -> str | None:
    return None if blocked is None else to_json(blocked.to_json())


_WORKFLOW = TABLES["workflow"].columns
_HANDLER = TABLES["handler"].columns
_RUN = TABLES["handler_run"].columns
_EVENT = TABLES["topic_event"].columns
_INPUT = TABLES["input"].columns
_MUTATION = TABLES["mutation"].columns

read_workflow = reader(Workflow, _WORKFLOW, state=WorkflowState, blocked=_read_blocked)
workflow_row = writer(_WORKFLOW, blocked=_write_blocked)
read_handler = reader(HandlerState, _HANDLER, type=HandlerType, dirty=bool)
handler_row = writer(_HANDLER, dirty=int)
read_run = reader(HandlerRun, _RUN, type=HandlerType, phase=Phase, status=RunStatus)
run_row = writer(_RUN)
read_event = reader(TopicEvent, _EVENT, status=EventStatus)
event_row = writer(_EVENT)
read_input = reader(InputRecord, _INPUT, skipped=bool)
read_mutation = reader(Mutation, _MUTATION, status=MutationStatus)
mutation_row = writer(_MUTATION)


@lru_cache(maxsize=2048)
def read_definition(text: str) -> WorkflowDefinition:
    return WorkflowDefinition.from_json(text)
