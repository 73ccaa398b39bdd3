"""The life of instances: they start, wait, go on, end; on both stores, on virtual time."""

from __future__ import annotations

import pytest

from ostinato.errors import Conflict, NotFound
from ostinato.testing import World
from tests.scenario.journeys.parts import Work, text

APPROVAL = text(
    """
    a: {type: task, task: {kind: 'work:v1', resultVar: offer, answer: 7}, next: ask}
    ask:
      type: wait
      wait:
        channel: manual
        input: {schema: {type: object, required: [ok], properties: {ok: {type: boolean}}}}
        timeoutSec: 3600
        onTimeout: late
      next: judge
    judge:
      type: choice
      choices: [{when: {predicate: {lang: py, expr: "context['payload']['ok']"}}, next: good}]
      default: bad
    good: {type: succeed, outputVar: offer}
    bad: {type: fail, errorCode: REJECTED, reason: no}
    late: {type: fail, errorCode: LATE, reason: nobody answered}
    """
)


async def test_a_journey_waits_for_its_step_and_ends_with_its_output(world: World, work: Work) -> None:
    await world.up()
    await world.app.journeys.deploy(APPROVAL)
    status = await world.app.journeys.start("example", {"who": "u1"})
    assert (status.phase, status.current_state, status.steps) == ("RUNNING", "ask", ("ask",))
    status = await world.app.journeys.submit(status.id, "ask", {"ok": True})
    assert status.phase == "SUCCEEDED"
    outcome = await world.app.journeys.result(status.id)
    assert (outcome.output, outcome.status) == (7, "SUCCEEDED")
    assert work.keys == [f"{status.id}:0:1"]
    assert [run.status for run in await world.runs()] == ["succeeded"]


async def test_a_wait_that_nobody_answers_times_out(world: World) -> None:
    await world.up()
    await world.app.journeys.deploy(APPROVAL)
    status = await world.app.journeys.start("example")
    await world.advance("59m")
    assert (await world.app.journeys.status(status.id)).phase == "RUNNING"
    await world.advance("2m")
    assert (await world.app.journeys.result(status.id)).error == {"code": "LATE", "reason": "nobody answered"}


async def test_a_journey_is_cancelled_wherever_it_stands(world: World) -> None:
    await world.up()
    await world.app.journeys.deploy(APPROVAL)
    status = await world.app.journeys.start("example")
    assert (await world.app.journeys.cancel(status.id)).phase == "FAILED"
    assert (await world.app.journeys.result(status.id)).error == {
        "code": "JOURNEY_CANCELLED",
        "reason": "Cancelled by user",
    }
    with pytest.raises(Conflict):
        await world.app.journeys.submit(status.id, "ask", {"ok": True})
    assert not await world.app.upcoming() or all(one.kind != "journey" for one in await world.app.upcoming())
    with pytest.raises(NotFound):
        await world.app.journeys.status("nobody")
