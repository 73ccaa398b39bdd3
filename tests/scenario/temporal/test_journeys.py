"""Journeys by the unmodified client: a workflow that is one is started, signalled and waited for."""

from __future__ import annotations

from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCStatusCode

from ostinato.testing import World
from tests.scenario.journeys.parts import Work, plugins, text
from tests.wire import refused, wired

QUEUE: dict[str, Any] = {"task_queue": "default"}
APPROVAL = text(
    """
    ask:
      type: wait
      wait: {channel: manual, input: {schema: {type: object, required: [ok], properties: {ok: {type: boolean}}}}}
      next: judge
    judge:
      type: choice
      choices: [{when: {predicate: {lang: py, expr: "context['payload']['ok']"}}, next: rest}]
      default: bad
    rest: {type: timer, timer: {duration: P1D}, next: good}
    good: {type: succeed, outputVar: payload}
    bad: {type: fail, errorCode: REFUSED, reason: no}
    """,
    start="ask",
    spec="input: {schema: {type: object, required: [who]}}",
    name="approval",
)


@pytest.fixture
def world() -> World:
    return World(journey_plugins=plugins(Work()))


async def test_a_journey_is_started_signalled_and_waited_for(world: World) -> None:
    async with wired(world) as wire:
        await wire.app.journeys.deploy(APPROVAL)
        handle = await wire.client.start_workflow("approval", {"who": "ada"}, id="a1", **QUEUE)
        await wire.settle()
        assert (await handle.describe()).status is WorkflowExecutionStatus.RUNNING
        with refused(RPCStatusCode.INVALID_ARGUMENT):
            await handle.signal("ask", {"ok": "yes"})
        with refused(RPCStatusCode.FAILED_PRECONDITION):
            await handle.signal("other", {"ok": True})
        await handle.signal("ask", {"ok": True})
        await wire.advance("25h")
        assert await handle.result() == {"ok": True}
        bad = await wire.client.start_workflow("approval", {"who": "bob"}, id="a2", **QUEUE)
        await wire.settle()
        await bad.signal("ask", {"ok": False})
        await wire.settle()
        with pytest.raises(WorkflowFailureError) as failed:
            await bad.result()
        assert isinstance(failed.value.cause, ApplicationError)
        assert (failed.value.cause.type, failed.value.cause.message) == ("REFUSED", "no")


async def test_a_journey_is_started_with_an_input_that_it_takes(world: World) -> None:
    async with wired(world) as wire:
        await wire.app.journeys.deploy(APPROVAL)
        with refused(RPCStatusCode.INVALID_ARGUMENT):
            await wire.client.start_workflow("approval", {"whom": "ada"}, id="a1", **QUEUE)
        with refused(RPCStatusCode.INVALID_ARGUMENT):
            await wire.client.start_workflow("approval", args=[{"who": "a"}, 2], id="a1", **QUEUE)
        assert await wire.app.journeys.find() == []
        cancelled = await wire.client.start_workflow("approval", {"who": "ada"}, id="a1", **QUEUE)
        await wire.settle()
        await cancelled.cancel()
        await wire.settle()
        assert (await cancelled.describe()).status is WorkflowExecutionStatus.CANCELED
