"""Whatever is sent, from the descriptors of the messages: it is answered, or refused as the caller's mistake. Nothing
that a caller sends is our failure, for clients try those again and again."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
import temporalio.api.workflowservice.v1 as messages
from google.protobuf.descriptor import FieldDescriptor
from temporalio.service import RPCError, RPCStatusCode

from ostinato.faces.temporal.services import WorkflowService, why
from ostinato.functions import FunctionContext
from ostinato.testing import World
from tests.support.wire import declare, register, wired

CALLS = (
    "CreateSchedule DescribeSchedule UpdateSchedule PatchSchedule DeleteSchedule ListSchedules CountSchedules "
    "ListScheduleMatchingTimes StartWorkflowExecution DescribeWorkflowExecution GetWorkflowExecutionHistory "
    "GetWorkflowExecutionHistoryReverse RequestCancelWorkflowExecution TerminateWorkflowExecution "
    "SignalWorkflowExecution SignalWithStartWorkflowExecution QueryWorkflow ListWorkflowExecutions "
    "CountWorkflowExecutions DescribeNamespace ListNamespaces RecordWorkerHeartbeat ShutdownWorker GetClusterInfo"
).split()
RIGHT = "CreateSchedule UpdateSchedule StartWorkflowExecution SignalWithStartWorkflowExecution".split()
OURS = {RPCStatusCode.INTERNAL, RPCStatusCode.UNKNOWN, RPCStatusCode.UNAVAILABLE, RPCStatusCode.DATA_LOSS}
TEXTS = [
    "",
    "s",
    "w",
    "greet",
    "wait",
    "state",
    "default",
    "0 9 * * *",
    "*/5",
    "Europe/Berlin",
    "\x00",
    "ä\u200b",
    "x" * 2000,
    "Colour = 'x'",
]
NUMBERS = [0, 1, 2, 5, 7, -1, 59, 86_400, 2**31 - 1, -(2**31)]
LARGE = [10**11, 315_576_000_000, 253_402_300_799, -62_135_596_800, 2**62]
BYTES = [b"", b"{}", b'"x"', b"\xff\x00", b"12", b"\x01" + b"\x00" * 7]
KEYS = ["encoding", "type", "Colour", "Size", "x"]
_SEEDS = 4
_EACH = 12


@pytest.fixture
def world() -> World:
    return World()


def scalar(dice: random.Random, field: FieldDescriptor) -> Any:
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING:
            return dice.choice(BYTES if field.type == FieldDescriptor.TYPE_BYTES else TEXTS)
        case FieldDescriptor.CPPTYPE_BOOL:
            return dice.random() < 0.5
        case FieldDescriptor.CPPTYPE_DOUBLE | FieldDescriptor.CPPTYPE_FLOAT:
            return dice.choice([0.0, 1.5, -1.0, float("nan"), float("inf")])
        case FieldDescriptor.CPPTYPE_ENUM:
            return dice.choice([0, 1, 2, 3, 6, 99])
        case FieldDescriptor.CPPTYPE_UINT32 | FieldDescriptor.CPPTYPE_UINT64:
            return abs(dice.choice(NUMBERS))
        case FieldDescriptor.CPPTYPE_INT64:
            return dice.choice(NUMBERS + LARGE)
        case _:
            return dice.choice(NUMBERS)


def fill(message: Any, dice: random.Random, depth: int = 0) -> Any:
    """A message with some of its fields set to something."""
    for field in message.DESCRIPTOR.fields:
        if dice.random() > (0.6 if depth < 3 else 0.35):
            continue
        many = field.is_repeated
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            value = field.message_type.fields_by_name["value"]
            for _ in range(dice.randint(0, 2)):
                key = dice.choice(KEYS)
                if field.message_type.fields_by_name["key"].cpp_type != FieldDescriptor.CPPTYPE_STRING:
                    continue
                if value.message_type is not None:
                    fill(getattr(message, field.name)[key], dice, depth + 1)
                else:
                    getattr(message, field.name)[key] = scalar(dice, value)
        elif field.message_type is not None:
            if depth > 6:
                continue
            if many:
                for _ in range(dice.randint(0, 2)):
                    fill(getattr(message, field.name).add(), dice, depth + 1)
            else:
                part = getattr(message, field.name)
                part.SetInParent()
                fill(part, dice, depth + 1)
        elif many:
            getattr(message, field.name).extend(scalar(dice, field) for _ in range(dice.randint(0, 2)))
        else:
            setattr(message, field.name, scalar(dice, field))
    return message


def touch(message: Any, dice: random.Random) -> Any:
    """A message that is right, but for one field somewhere in it."""
    part = message
    while True:
        fields = [one for one in part.DESCRIPTOR.fields if one.name not in ("namespace", "schedule_id")]
        below = [one for one in fields if one.message_type is not None and not one.is_repeated]
        if below and dice.random() < 0.8:
            part = getattr(part, dice.choice(below).name)
            part.SetInParent()
            continue
        if not fields:
            return message
        chosen = dice.choice(fields)
        other = fill(type(part)(), dice, 2)
        part.ClearField(chosen.name)
        if chosen.is_repeated or chosen.message_type is not None:
            alone = type(part)()
            for name in {one.name for one in other.DESCRIPTOR.fields} - {chosen.name}:
                other.ClearField(name)
            alone.CopyFrom(other)
            part.MergeFrom(alone)
        else:
            setattr(part, chosen.name, scalar(dice, chosen))
        return message


def right(name: str) -> Any:
    request = getattr(messages, f"{name}Request")()
    starts = name in ("StartWorkflowExecution", "SignalWithStartWorkflowExecution")
    action = request if starts else request.schedule.action.start_workflow
    action.workflow_id, action.task_queue.name = "w", "default"
    action.workflow_type.name = "wait" if name == "SignalWithStartWorkflowExecution" else "greet"
    action.input.payloads.add(metadata={"encoding": b"json/plain"}, data=b'"Ann"')
    if name == "SignalWithStartWorkflowExecution":
        request.signal_name = "s"
    elif action is not request:
        request.schedule.spec.cron_string.append("0 9 * * *")
    return request


@pytest.mark.parametrize("seed", range(_SEEDS))
async def test_whatever_is_sent_is_answered_or_refused(world: World, seed: int) -> None:
    declare(world)

    @world.app.function()
    async def wait(ctx: FunctionContext, name: str) -> None:
        ctx.set_state(name)
        await ctx.receive("s")

    dice = random.Random(seed)
    answered = 0
    async with wired(world) as wire:
        await register(wire)
        for name in CALLS * _EACH:
            if name in RIGHT and dice.random() < 0.8:
                request = touch(right(name), dice)
            else:
                request = fill(getattr(messages, f"{name}Request")(), dice)
            if hasattr(request, "namespace"):
                request.namespace = dice.choice(["default", "default", "default", "nowhere"])
            for field, value in (("schedule_id", "s"), ("workflow_id", "w"), ("wait_new_event", False)):
                if hasattr(request, field) and dice.random() < 0.8:
                    setattr(request, field, value)
            method = getattr(wire.client.workflow_service, re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower())
            try:
                await method(request)
                answered += 1
            except RPCError as problem:
                assert problem.status not in OURS, f"{name} {request}: {problem}"
        assert answered > len(CALLS)
        assert [one.words for one in await wire.app.check()] == []


def test_every_call_that_is_not_there_says_why() -> None:
    for name in dir(WorkflowService):
        if name[0].isupper():
            assert why(name)
