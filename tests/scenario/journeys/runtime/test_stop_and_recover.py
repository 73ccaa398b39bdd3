"""A journey that is over stays over, and its run agrees with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import insert_row as insert_run
from ostinato.engine.rows import whole_run
from ostinato.engine.runs import expire
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.decision import Compensate, Decision
from ostinato.journeys.rows import JourneyRecord, read_record
from ostinato.journeys.rows import insert_row as insert_journey
from ostinato.journeys.runtime.commit import InstanceChange, write_changes
from ostinato.journeys.runtime.compensation import compensation_id
from ostinato.journeys.runtime.load import load_instance
from ostinato.journeys.store import statement
from ostinato.journeys.task_kind import TaskProblem
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, sql
from ostinato.testing import World
from ostinato.when.instants import SECOND, Micros
from tests.support.journey_parts import text

ANSWER = text(
    """
    ask: {type: wait, wait: {channel: manual, input: {schema: {type: integer}}}, next: done}
    done: {type: succeed, outputVar: payload}
    """,
    start="ask",
)
AT_ONCE = text("a: {type: succeed}", name="at-once")
JUDGED = text(
    """
    ask: {type: wait, wait: {channel: manual, input: {schema: {type: integer}}}, next: done}
    done: {type: succeed, outputVar: payload}
    """,
    start="ask",
    name="judged",
    spec="""
    compensation:
      start: undo
      states: {undo: {type: succeed}}
      alsoFor: [{when: {predicate: {lang: py, expr: "output > 5"}}}]
    """,
)


async def names_of(world: World, id: str) -> list[str]:
    return [one.name for one in await world.app.events(subject=id, limit=100)]


async def test_without_a_node_a_journey_and_its_run_end_together_and_stay_so(world: World) -> None:
    async with world.app.connected() as app:
        await app.journeys.deploy(ANSWER, AT_ONCE)
        id = (await app.journeys.start("example", mode="async")).id
        assert (await app.journeys.submit(id, "ask", 7)).phase == "SUCCEEDED"
        assert (await app.get(id)).status == "succeeded"
        before = await app.journeys.status(id)
        assert await app.journeys.cancel(id) == before
        assert await app.cancel(id) == "succeeded"
        assert await app.terminate(id) == "succeeded"
        assert await app.journeys.status(id) == before
        assert (await app.journeys.result(id)).output == 7
        names = await names_of(world, id)
        assert names.count("run:succeeded") == names.count("journey:completed") == 1
        assert "run:cancelled" not in names
        at_once = await app.journeys.start("at-once")
        assert (at_once.phase, (await app.get(at_once.id)).status) == ("SUCCEEDED", "succeeded")
        assert await app.check(repair=False) == []


async def test_what_a_node_has_yet_to_judge_is_not_cancelled_meanwhile(world: World) -> None:
    """It is over; whether it is compensated is an expression, which a node evaluates."""
    async with world.app.connected() as app:
        await app.journeys.deploy(JUDGED)
        id = (await app.journeys.start("judged", mode="async")).id
        assert (await app.journeys.submit(id, "ask", 7, wait=0)).phase == "SUCCEEDED"
        assert (await app.journeys.cancel(id)).phase == "SUCCEEDED"
        assert (await app.get(id)).status == "ready"
        assert await app.check(repair=False) == []
    await world.advance("2m")
    assert await world.outcomes() == ["succeeded", "succeeded"]
    assert await world.app.check(repair=False) == []


@pytest.mark.parametrize("how", ["cancel", "terminate"])
async def test_a_journey_that_has_not_begun_is_stopped_as_asked(world: World, how: str) -> None:
    """It would be over with its first move; but it never made it."""
    async with world.app.connected() as app:
        await app.journeys.deploy(AT_ONCE)
        await app.schedules.create("once", "0 0 * * *", {"journey": "at-once"}, trigger=True)
        (run,) = await app.runs()
        status = await getattr(app, how)(run.id)
        assert status == (await app.get(run.id)).status == {"cancel": "cancelled", "terminate": "terminated"}[how]
        assert await app.check(repair=False) == []


async def test_the_scanner_finds_runs_that_disagree_with_their_journeys(world: World) -> None:
    await world.up()
    app = world.app
    await app.journeys.deploy(ANSWER)
    over, going = [(await app.journeys.start("example")).id for _ in range(2)]
    await app.journeys.submit(over, "ask", 7)
    await world.down()

    def break_things(_: int) -> Operation[None]:
        (row,) = yield sql("runs_by_ids", [(over,)])
        (journey,) = yield statement("journeys_by_ids", [(over,)])
        kept = read_record(journey)
        left = replace(whole_run(row), id="left", root_id="left", key=None, status=Status.READY, finished=None)
        yield sql("insert_runs", [insert_run(left)])
        yield statement("insert_journeys", [insert_journey(replace(kept, instance=replace(kept.instance, id="left")))])
        ends = [(over, Status.CANCELLED.value, None, None), (going, Status.CANCELLED.value, None, None)]
        yield sql("end_anywhere", ends, now=world.clock.now())

    async with app.connected():
        await app.store.run(break_things)
        findings = {one.subject: one for one in await app.check(repair=False)}
        assert {one.rule for one in findings.values()} == {"journey_and_run_differ"}
        assert findings.keys() == {over, going}, "the other may be ended by a node at any moment"
        world.clock.advance(61 * SECOND)
        findings = {one.subject: one for one in await app.check(repair=False)}
        assert findings.keys() == {over, going, "left"}
        assert "is not over, but its journey is SUCCEEDED" in findings["left"].words
        assert "is cancelled, but its journey is RUNNING" in findings[going].words
        assert {one.subject for one in await app.check() if one.repaired} == {"left"}
        assert (await app.get("left")).status == "succeeded"
        assert {one.subject for one in await app.check()} == {over, going}


MAPPED = text(
    """
    ask: {type: wait, wait: {channel: manual, input: {schema: {type: integer}}}, next: double}
    double:
      type: transform
      transform: {mapper: {lang: py, expr: "payload * 2"}, target: {kind: var}, resultVar: x}
      next: done
    done: {type: succeed, outputVar: x}
    """,
    start="ask",
)


async def test_without_a_node_the_answer_to_a_step_says_that_it_waits(world: World) -> None:
    async with world.app.connected() as app:
        await app.journeys.deploy(MAPPED)
        started = await app.journeys.start("example")
        assert started.note is None  # it waits for its step, not for a node
        status = await app.journeys.submit(started.id, "ask", 7, key="once")
        assert status.note is not None
        assert status.note.startswith("it has to wait: no node is running on this store; start one with")
        assert status.to_json()["_note"] == status.note
    await world.up()
    await world.settle()
    assert (await world.app.journeys.result(started.id)).output == 14
    again = await world.app.journeys.submit(started.id, "ask", 7, key="once")
    assert (again.id, again.note) == (started.id, None)


async def test_without_a_node_nobody_waits_for_a_compensation(world: World) -> None:
    refused = text(
        """
        ask: {type: wait, wait: {channel: manual, input: {schema: {type: integer}}}, next: no}
        no: {type: fail, errorCode: NO, reason: no}
        """,
        start="ask",
        spec="""
        compensation:
          mode: sync
          start: undo
          states: {undo: {type: succeed}}
        """,
    )
    async with world.app.connected() as app:
        await app.journeys.deploy(refused)
        id = (await app.journeys.start("example")).id
        before = world.now
        status = await app.journeys.submit(id, "ask", 7, wait="30s")
        assert (status.phase, world.now) == ("RUNNING", before)
        assert status.note is not None
        assert status.note.startswith("it has to wait: no node is running on this store; start one with")
    await world.up()
    await world.settle()
    outcome = await world.app.journeys.result(id)
    assert (outcome.phase, outcome.status) == ("FAILED", "NO")


LEAVE_READY = "UPDATE ostinato_runs SET status = 'ready', ready_at = 1, finished = NULL WHERE id = :id"


async def test_a_deadline_of_a_journey_that_is_over_ends_its_run_as_the_journey_ended(
    world: World, add_statement: Callable[[str, str], None], caplog: pytest.LogCaptureFixture
) -> None:
    add_statement("leave_ready", LEAVE_READY)
    async with world.app.connected() as app:
        await app.journeys.deploy(ANSWER)
        id = (await app.journeys.start("example", mode="async")).id
        await app.journeys.submit(id, "ask", 7)

        def leave_the_run_ready(_: int) -> Operation[None]:
            yield sql("leave_ready", id=id)

        await app.store.run(leave_the_run_ready)
        assert (await app.get(id)).status == "ready"
        await app.store.run(lambda _: expire([id], world.clock.now(), app.engine.kinds))
        assert (await app.get(id)).status == "succeeded"
        assert "timed out" not in caplog.text


async def test_a_change_that_is_tried_again_does_not_compensate_for_its_first_try(world: World) -> None:
    async with world.app.connected() as app:
        await app.journeys.deploy(JUDGED)
        id = (await app.journeys.start("judged", mode="async")).id
        now = world.clock.now()
        loaded = await app.store.read(lambda _: load_by_id(id, now))
        problems = [TaskProblem("TOO_MANY", "The schedule cannot be made", "there are too many")]

        def write_or_refuse(run: Run, now: Micros, kinds: Kinds) -> Operation[list[Row] | TaskProblem]:
            yield sql("runs_by_ids", [(run.id,)])
            return problems.pop() if problems else []

        change = InstanceChange(loaded.run, loaded.definition, loaded.record, loaded.record)
        change.extra_writes = [write_or_refuse]
        change.on_problem = lambda _: Decision(loaded.record.instance, (Compensate({}, {}),))

        def write(commits: bool) -> Operation[int]:
            yield from write_changes([change], now, app.engine.kinds)
            children = yield sql("runs_by_ids", [(compensation_id(id),)])
            if not commits:
                raise RolledBack(len(children))
            return len(children)

        with pytest.raises(RolledBack, match="1"):
            await app.store.run(lambda _: write(commits=False))
        assert await app.store.run(lambda _: write(commits=True)) == 0


class RolledBack(Exception):
    pass


@dataclass
class Loaded:
    run: Run
    definition: Definition
    record: JourneyRecord


def load_by_id(id: str, now: Micros) -> Operation[Loaded]:
    (row,) = yield sql("runs_by_ids", [(id,)])
    run = whole_run(row)
    loaded = yield from load_instance(run, now)
    return Loaded(run, loaded.definition, loaded.record)
