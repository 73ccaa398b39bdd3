"""The life of instances: they start, wait, go on, end; on both stores, on virtual time."""

from __future__ import annotations

import asyncio
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.errors import Conflict, NotFound, OstinatoError
from ostinato.journeys.api.queries import NotOver
from ostinato.journeys.definitions import InvalidDefinition
from ostinato.journeys.language.json_schema import NotValid
from ostinato.journeys.runtime.submit import StepAnswered, StepNotActive
from ostinato.journeys.task_kind import Request
from ostinato.store.sqlite import SqliteStore
from ostinato.testing import VirtualClock, World, run_virtual
from ostinato.when.instants import SECOND
from tests.support.journey_parts import Work, plugins, text

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


VOTES = text(
    """
    a:
      type: parallel
      parallel:
        branches:
          - name: a
            start: ask_a
            states:
              ask_a: {type: wait, wait: {channel: manual, input: {schema: {type: object}}}, next: over}
              over: {type: succeed}
          - name: b
            start: ask_b
            states:
              ask_b: {type: wait, wait: {channel: manual, input: {schema: {type: object}}}, next: over}
              over: {type: succeed}
        join: {strategy: allOf, errorPolicy: failFast}
      next: over
    over: {type: succeed}
    """
)


async def test_inputs_of_two_branches_are_both_accepted_although_each_commit_takes_long(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.up()
    await world.app.journeys.deploy(VOTES)
    id = (await world.app.journeys.start("example", {})).id
    run = world.app.store.run

    async def slowly(make: Any) -> Any:
        await asyncio.sleep(0.1)  # virtual
        return await run(make)

    monkeypatch.setattr(world.app.store, "run", slowly)
    submits = [world.app.journeys.submit(id, step, {}, key=step) for step in ("ask_a", "ask_b")]
    await asyncio.gather(*submits)
    assert (await world.app.journeys.wait(id, "5s")).phase == "SUCCEEDED"


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
    with pytest.raises(Conflict, match="is a journey, which is not repeated"):
        await world.app.retry(status.id)
    await world.outage(world.now, "2026-02-15T00:00Z")
    await world.advance("7h")
    assert (await world.runs(), await world.app.journeys.list()) == ([], [])


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


async def test_a_step_is_taken_once_however_often_its_key_comes(world: World) -> None:
    await world.up()
    journeys = world.app.journeys
    await journeys.deploy(APPROVAL)
    status = await journeys.start("example")
    with pytest.raises(NotValid, match='"ok" is a required property'):
        await journeys.submit(status.id, "ask", {})
    first = await journeys.submit(status.id, "ask", {"ok": True}, key="k1")
    assert await journeys.submit(status.id, "ask", {"ok": True}, key="k1") == first
    with pytest.raises(StepAnswered):
        await journeys.submit(status.id, "ask", {"ok": False}, key="k1")
    with pytest.raises(StepNotActive):
        await journeys.submit(status.id, "ask", {"ok": True}, key="k2")
    with pytest.raises(StepNotActive):
        await journeys.submit(status.id, "judge", {"ok": True})


async def test_a_wait_that_is_entered_anew_takes_another_input_and_forgets_the_last(world: World) -> None:
    await world.up()
    journeys = world.app.journeys
    await journeys.deploy(
        text(
            """
            a:
              type: wait
              wait:
                channel: manual
                input: {schema: {type: integer}}
                response: {outputVar: seen, schema: {type: object}}
              next: note
            note:
              type: transform
              transform:
                mapper: {lang: py, expr: "{'last': context['payload'], 'phase': 'mine'}"}
                target: {kind: var}
                resultVar: seen
              next: judge
            judge:
              type: choice
              choices: [{when: {predicate: {lang: py, expr: "context['payload'] > 9"}}, next: done}]
              default: a
            done: {type: succeed}
            """,
        )
    )
    status = await journeys.start("example")
    answers = [(await journeys.submit(status.id, "a", n, key=str(n))).to_json() for n in (1, 2, 10)]
    assert [(one["last"], one["phase"]) for one in answers] == [(1, "RUNNING"), (2, "RUNNING"), (10, "SUCCEEDED")]
    assert (await journeys.result(status.id)).output["payload"] == 10
    assert (await journeys.submit(status.id, "a", 1, key="1")).to_json() == answers[0]


async def test_of_a_step_and_its_timeout_one_wins_and_is_on_record(world: World) -> None:
    await world.up()
    journeys = world.app.journeys
    await journeys.deploy(APPROVAL)
    status = await journeys.start("example")
    begun = world.clock.now()

    async def answer() -> str:
        await asyncio.sleep(3600 - (world.clock.now() - begun) / SECOND)
        try:
            return (await journeys.submit(status.id, "ask", {"ok": True})).phase
        except StepNotActive:
            return "too late"

    answering = asyncio.create_task(answer())
    await world.advance("1h1s")
    phase = (await journeys.status(status.id)).phase
    names = [one.name for one in await world.app.events(subject=status.id, limit=100)]
    won = "journey:input_received" in names
    assert (won, "journey:timer_fired" in names) in ((True, False), (False, True))
    assert (await answering, phase) == (("SUCCEEDED", "SUCCEEDED") if won else ("too late", "FAILED"))


DECISION = text(
    """
    a:
      type: parallel
      parallel:
        branches:
          - name: bureau
            start: ask
            states:
              ask: {type: task, task: {kind: 'work:v1', seconds: 600, resultVar: score, answer: 1}, next: ok}
              ok: {type: succeed}
          - name: person
            start: wait
            states:
              wait: {type: wait, wait: {channel: manual, input: {schema: {}}}, next: ok}
              ok: {type: succeed}
          - name: patience
            start: sleep
            states:
              sleep: {type: timer, timer: {duration: PT5M}, next: ok}
              ok: {type: succeed}
        join:
          strategy: STRATEGY
          mapper: {lang: dataweave, expr: "sorted(name for name, one in branches.items() if one is not None)"}
          resultVar: heard
      next: done
    done: {type: succeed, outputVar: heard}
    """
)


async def test_the_first_branch_decides_and_the_others_are_stopped(world: World, work: Work) -> None:
    """A timer that is due while another branch is at work; the task is cancelled, the step is gone."""
    await world.up()
    await world.app.journeys.deploy(DECISION.replace("STRATEGY", "anyOf"))
    status = await world.app.journeys.start("example", wait="1s")
    assert (status.phase, status.current_state, status.steps) == ("RUNNING", "a", ("wait",))
    await world.advance("6m")
    assert (await world.app.journeys.result(status.id)).output == ["patience"]
    assert work.stopped == ["ask"]
    with pytest.raises(StepNotActive):
        await world.app.journeys.submit(status.id, "wait", 1)


async def test_a_step_is_taken_while_another_branch_is_at_work(world: World, work: Work) -> None:
    await world.up()
    await world.app.journeys.deploy(DECISION.replace("STRATEGY", "allOf"))
    status = await world.app.journeys.start("example", wait="1s")
    await world.app.journeys.submit(status.id, "wait", 1, wait="1s", key="k")
    with pytest.raises(StepNotActive):
        await world.app.journeys.submit(status.id, "wait", 1)
    await world.advance("11m")
    assert (await world.app.journeys.result(status.id)).output == ["bureau", "patience", "person"]
    assert len(work.calls) == 1


COMPENSATED = text(
    """
    a: {type: task, task: {kind: 'work:v1', resultVar: booked, answer: R1}, next: pay}
    pay: {type: task, task: {kind: 'work:v1', seconds: 60, fail: NO_MONEY}, next: done}
    done: {type: succeed}
    """,
    spec="""
    compensation:
      mode: MODE
      start: undo
      states:
        undo:
          type: transform
          transform:
            mapper: {lang: py, expr: "{'undone': context['booked'], 'why': outcome['error']['code']}"}
            target: {kind: var}
            resultVar: undone
          next: later
        later: {type: timer, timer: {duration: P1D}, next: call}
        call: {type: task, task: {kind: 'work:v1'}, next: done}
        done: {type: succeed, outputVar: undone}
    """,
)


@pytest.mark.parametrize("mode", ["async", "sync"])
async def test_what_failed_is_compensated_by_a_run_of_its_own(world: World, work: Work, mode: str) -> None:
    await world.up()
    journeys = world.app.journeys
    await journeys.deploy(COMPENSATED.replace("MODE", mode))
    status = await journeys.start("example", mode="async")
    await world.advance("2m")
    if mode == "sync":
        assert (await journeys.status(status.id)).phase == "RUNNING"
        assert [one.phase for one in await journeys.list() if one.id == status.id] == ["RUNNING"]
        assert status.id not in [one.id for one in await journeys.list(phase="FAILED")]
        with pytest.raises(NotOver):
            await journeys.result(status.id)
    await world.outage(world.now, "2026-01-02T00:02Z")
    outcome = await journeys.result(status.id)
    assert (outcome.phase, outcome.status) == ("FAILED", "NO_MONEY")
    assert [one.id for one in await journeys.list(phase="FAILED")] == [status.id]
    (child,) = await world.app.runs(parent=status.id)
    undone = (await journeys.result(child.id)).output
    assert (child.status, undone) == ("succeeded", {"undone": "R1", "why": "NO_MONEY"})
    assert (await journeys.status(child.id)).attributes == {"parentJourneyId": status.id}


async def test_a_deadline_ends_what_is_at_work_and_is_compensated(world: World, work: Work) -> None:
    await world.up()
    limited = COMPENSATED.replace(
        "  compensation:",
        "  execution: {maxDurationSec: 30, onTimeout: {errorCode: SLOW, reason: too slow}}\n  compensation:",
    )
    await world.app.journeys.deploy(limited.replace("MODE", "async"))
    status = await world.app.journeys.start("example", mode="async")
    await world.advance("31s")
    outcome = await world.app.journeys.result(status.id)
    assert (outcome.status, work.stopped) == ("SLOW", ["pay"])
    assert [run.status for run in await world.runs()] == ["timed_out", "waiting"]


async def test_cancelling_stops_what_is_at_work_and_is_compensated_once(world: World, work: Work) -> None:
    await world.up()
    await world.app.journeys.deploy(COMPENSATED.replace("MODE", "async"))
    status = await world.app.journeys.start("example", mode="async")
    await world.advance("10s")
    assert (await world.app.journeys.cancel(status.id)).phase == "FAILED"
    assert (await world.app.journeys.cancel(status.id)).phase == "FAILED"
    await world.advance("2m")
    assert work.stopped == ["pay"]
    assert [run.status for run in await world.runs()] == ["cancelled", "waiting"]


async def test_a_terminated_one_is_not_compensated_and_one_may_say_that_it_is_not_cancelled(world: World) -> None:
    await world.up()
    await world.app.journeys.deploy(
        COMPENSATED.replace("MODE", "async").replace(
            "  compensation:", "  lifecycle: {cancellable: false}\n  compensation:"
        )
    )
    status = await world.app.journeys.start("example", mode="async")
    await world.settle()
    with pytest.raises(Conflict, match="is not cancellable"):
        await world.app.journeys.cancel(status.id)
    assert await world.app.cancel(status.id) == "active"
    await world.app.terminate(status.id)
    assert (await world.app.journeys.result(status.id)).status == "JOURNEY_TERMINATED"
    assert len(await world.runs()) == 1


async def test_a_running_instance_keeps_its_version(world: World) -> None:
    await world.up()
    journeys = world.app.journeys
    old = "a: {type: wait, wait: {channel: manual, input: {schema: {}}}, next: b}\nb: {type: succeed}"
    await journeys.deploy(text(old, version="1.9.0"))
    first = await journeys.start("example")
    await journeys.deploy(
        text("a: {type: succeed}", version="1.10.0"), text("a: {type: succeed}", version="2.0.0-rc.1")
    )
    assert (await journeys.start("example")).version == "1.10.0"
    assert (await journeys.start("example", version="1.9.0")).phase == "RUNNING"
    assert (await journeys.submit(first.id, "a", None)).version == "1.9.0"
    await journeys.deploy(text(old, version="1.9.0"))
    with pytest.raises(Conflict, match="a version never changes"):
        await journeys.deploy(text("a: {type: succeed}", version="1.9.0"))
    with pytest.raises(InvalidDefinition, match="'nope'"):
        await journeys.deploy(text("a: {type: task, task: {kind: 'work:v1'}, next: nope}"))
    with pytest.raises(NotFound, match="did you mean 'example'"):
        await journeys.start("exampel")


async def test_a_request_is_there_for_its_segment_and_stored_nowhere(world: World, work: Work) -> None:
    await world.up()
    journeys = world.app.journeys
    await journeys.deploy(
        text(
            """
            a: {type: task, task: {kind: 'work:v1'}, next: pause}
            pause: {type: timer, timer: {duration: PT1M}, next: b}
            b: {type: task, task: {kind: 'work:v1'}, next: ask}
            ask: {type: wait, wait: {channel: manual, input: {schema: {}}}, next: c}
            c: {type: task, task: {kind: 'work:v1'}, next: done}
            done: {type: succeed}
            """,
            spec="""
            metadata:
              bindings:
                tags: {fromPayload: [{path: kind}], fromBaggage: [{key: lane}]}
                attributes: {fromHeaders: {tenantId: {header: X-Tenant}}}
            bindings:
              http:
                start:
                  headersToContext: {X-User: user}
                  headersPassthrough: [{from: Authorization, to: X-Forwarded-Auth}]
            """,
        )
    )
    headers = {"authorization": "Bearer s3cr3t", "x-user": "u1", "x-tenant": "t1", "baggage": "lane=fast"}
    status = await journeys.start("example", {"kind": "vip"}, request=Request(headers))
    await world.advance("2m")
    assert (await journeys.submit(status.id, "ask", 1, request=Request({"x": "y"}))).phase == "SUCCEEDED"
    seen = [None if one.request is None else dict(one.request.passed_on) for one in work.calls]
    assert seen == [{"X-Forwarded-Auth": "Bearer s3cr3t"}, None, {}]
    assert work.calls[1].context == {"kind": "vip", "user": "u1", "worked": True}
    assert [one.id for one in await journeys.list(tags=["vip", "fast"], attributes={"tenantId": "t1"})] == [status.id]
    assert await journeys.list(tags=["vip", "slow"]) == []


async def test_a_guard_decides_who_may_read(world: World) -> None:
    await world.up()
    journeys = world.app.journeys
    await journeys.deploy(
        text(
            "a: {type: succeed}",
            spec="""
            access: {read: {guardRef: guard}}
            subjourneys:
              guard:
                start: look
                states:
                  look:
                    type: transform
                    transform: {mapper: {lang: py, expr: "{'allowed': context['owner'] == 'u1'}"}}
                    next: done
                  done: {type: succeed}
            """,
        )
    )
    mine, other = [(await journeys.start("example", {"owner": owner})).id for owner in ("u1", "u2")]
    assert (await journeys.status(mine, guarded=True)).id == mine
    for look in (journeys.status, journeys.result):
        with pytest.raises(NotFound):
            await look(other, guarded=True)
    assert [one.id for one in await journeys.list(guarded=True)] == [mine]
    assert (await journeys.result(other)).output == {"owner": "u2"}


async def test_a_guard_that_gives_no_answer_is_logged_once(world: World, caplog: pytest.LogCaptureFixture) -> None:
    await world.up()
    for name, end in (("silent", "{type: succeed}"), ("strict", "{type: fail, errorCode: NO, reason: never}")):
        spec = f"access: {{read: {{guardRef: g}}}}\nsubjourneys: {{g: {{start: x, states: {{x: {end}}}}}}}"
        await world.app.journeys.deploy(text("a: {type: succeed}", spec=spec).replace("name: example", f"name: {name}"))
        id = (await world.app.journeys.start(name, {})).id
        for _ in range(2):
            with pytest.raises(NotFound):
                await world.app.journeys.status(id, guarded=True)
    records = [getattr(line, "values", {}) for line in caplog.records]
    said = [one["journey"] for one in records if one.get("action") == "guard_without_answer"]
    assert said == ["silent"]


async def test_outcomes_are_named_and_responses_shown(world: World) -> None:
    await world.up()
    journeys = world.app.journeys
    await journeys.deploy(
        text(
            "a: {type: succeed, outputVar: result}",
            spec="""
            output: {response: {outputVar: shown, schema: {type: object}}}
            outcomes:
              small: {when: {phase: SUCCEEDED, predicate: {lang: py, expr: "output['n'] < 5"}}}
              large: {when: {phase: SUCCEEDED}}
            """,
        )
    )
    status = await journeys.start("example", {"result": {"n": 7, "status": "GREAT"}, "shown": {"a": 1, "phase": "x"}})
    assert (await journeys.result(status.id)).to_json() == {
        "journeyId": status.id,
        "journeyName": "example",
        "phase": "SUCCEEDED",
        "status": "GREAT",
        "output": {"n": 7, "status": "GREAT"},
        "outcomeId": "large",
        "a": 1,
    }


async def test_an_api_replies_and_leaves_nothing_behind(world: World) -> None:
    await world.up()
    await world.app.journeys.deploy(
        text(
            """
            a:
              type: choice
              choices: [{when: {predicate: {lang: py, expr: "context['n'] > 0"}}, next: good}]
              default: bad
            good: {type: succeed}
            bad: {type: fail, errorCode: TOO_SMALL, reason: not that}
            """,
            kind="Api",
            spec="""
            bindings:
              http:
                apiResponses: {rules: [{when: {phase: FAILED, errorType: TOO_SMALL}, status: 422}]}
            """,
        )
    )
    good = await world.app.journeys.call("example", {"n": 1})
    bad = await world.app.journeys.call("example", {"n": 0})
    assert (good.status, good.body) == (200, {"n": 1})
    assert (bad.status, bad.body["code"], bad.problem) == (422, "TOO_SMALL", True)
    assert await world.runs() == []


async def test_what_cannot_be_put_on_record_ends_its_own_journey_alone(world: World) -> None:
    """A number that no JSON of the store can hold, computed while others are written with it."""
    await world.up()
    journeys = world.app.journeys
    await journeys.deploy(
        text(
            """
            a:
              type: transform
              transform: {mapper: {lang: py, expr: "{'n': 2 ** context['power']}"}}
              next: b
            b: {type: task, task: {kind: 'work:v1'}, next: c}
            c: {type: succeed}
            """
        )
    )
    ids = [(await journeys.start("example", {"power": n}, mode="async")).id for n in (2, 70, 3)]
    await world.settle()
    assert [(await journeys.status(id)).phase for id in ids] == ["SUCCEEDED", "FAILED", "SUCCEEDED"]
    error = (await journeys.result(ids[1])).error
    assert error is not None
    assert error["code"] == "urn:journeyforge:error:internal"
    assert [run.status for run in await world.runs()] == ["succeeded", "failed", "succeeded"]


async def test_attributes_are_written_once_and_bounded(world: World) -> None:
    await world.up()
    journeys = world.app.journeys
    await journeys.deploy(
        text(
            """
            a:
              type: transform
              transform: {mapper: {lang: py, expr: "context['more']"}, target: {kind: attributes}}
              next: b
            b: {type: succeed}
            """
        )
    )
    good = await journeys.start("example", {"more": {"orderId": 7}}, attributes={"tenantId": "t"})
    assert good.attributes == {"tenantId": "t", "orderId": "7"}
    assert [one.id for one in await journeys.list(attributes={"orderId": "7"})] == [good.id]
    for more in ({"tenantId": "other"}, {"x" * 33: "1"}, {"x": "y" * 257}):
        assert (await journeys.start("example", {"more": more}, attributes={"tenantId": "t"})).phase == "FAILED"
    with pytest.raises(OstinatoError, match="the maximum is 16"):
        await journeys.start("example", {"more": {}}, tags=[str(n) for n in range(17)])


def test_definitions_beside_the_code_are_deployed_by_whoever_comes_first(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.journey.yaml").write_text(text("a: {type: succeed}", name=name), encoding="utf-8")

    async def main() -> None:
        async with Ostinato(f"sqlite:///{tmp_path}/store.db", journeys=[tmp_path]) as app:
            assert [one.name for one in await app.journeys.definitions()] == ["one", "two"]
            assert (await app.journeys.start("two")).phase == "SUCCEEDED"

    asyncio.run(main())
    asyncio.run(main())


def test_a_step_taken_by_another_node_takes_the_run_with_it(tmp_path: Path, work: Work) -> None:
    """One node works on a branch; the input comes to another, which goes on with everything, under the same keys."""

    def node(clock: VirtualClock) -> Ostinato:
        store = SqliteStore(str(tmp_path / "store.db"), inline=True, durable=False)
        return Ostinato(store, clock=clock, lease=4, journey_plugins=plugins(work))

    async def main(clock: VirtualClock) -> None:
        async with node(clock) as first, node(clock) as second:
            await first.journeys.deploy(DECISION.replace("STRATEGY", "allOf"))
            status = await first.journeys.start("example", wait="1s")
            await second.journeys.submit(status.id, "wait", 1, wait="1s", key="k")
            assert second.journeys._api.runner().active_segment(status.id) is not None
            await asyncio.sleep(900)
            assert (await second.journeys.result(status.id)).output == ["bureau", "patience", "person"]
            assert (work.keys, work.stopped) == ([f"{status.id}:1:1"] * 2, ["ask"])
            names = [one.name for one in await first.events(subject=status.id, limit=100)]
            assert (names.count("journey:input_received"), names.count("journey:completed")) == (1, 1)

    clock = VirtualClock()
    run_virtual(main(clock), clock)


LONG = text("a: {type: task, task: {kind: 'work:v1', seconds: 60}, next: b}\nb: {type: succeed}")


async def test_a_node_that_stops_hands_its_journeys_back(world: World, work: Work) -> None:
    await world.up()
    await world.app.journeys.deploy(LONG)
    status = await world.app.journeys.start("example", mode="async")
    await world.advance("10s")
    await world.down()
    assert work.stopped == ["a"]
    await world.up()
    await world.advance("2m")
    assert (await world.app.journeys.status(status.id)).phase == "SUCCEEDED"
    assert work.keys == [f"{status.id}:0:1"] * 2


def test_a_journey_that_costs_node_after_node_its_life_ends(tmp_path: Path, work: Work) -> None:
    async def main(clock: VirtualClock) -> None:
        id = ""
        for crash in range(4):
            store = SqliteStore(str(tmp_path / "store.db"), inline=True, durable=False)
            app = Ostinato(store, clock=clock, lease=4, journey_plugins=plugins(work))
            await app._open(node=True)
            if crash == 0:
                await app.journeys.deploy(LONG)
                id = (await app.journeys.start("example", mode="async")).id
            await asyncio.sleep(12)
            if crash == 3:
                outcome = await app.journeys.result(id)
                assert (outcome.phase, outcome.status) == ("FAILED", "urn:journeyforge:error:internal")
                assert work.keys == [f"{id}:0:1"] * 3
                assert await app.check(repair=False) == []
                await app._close()
                return
            await app.engine.kill()
            await app._close_after_crash()

    clock = VirtualClock()
    run_virtual(main(clock), clock)


async def test_lists_have_every_instance_that_fits_once(world: World, work: Work) -> None:
    await world.up()
    journeys = world.app.journeys
    tagged = "metadata: {bindings: {tags: {fromPayload: [{path: kind}]}}}"
    states = APPROVAL.partition("states:")[2]
    for name in ("one", "two"):
        await journeys.deploy(text(states, spec=tagged).replace("example", name))
    phases = ("RUNNING", "SUCCEEDED", "FAILED")
    instances: list[tuple[str, str, str, str]] = []
    for n in range(24):
        name, kind, phase = ("one", "two")[n % 2], ("vip", "plain", "plain")[n % 3], phases[n // 3 % 3]
        id = (await journeys.start(name, {"kind": kind})).id
        if phase != "RUNNING":
            await journeys.submit(id, "ask", {"ok": phase == "SUCCEEDED"})
        instances.insert(0, (id, name, kind, phase))
    for name, kind, phase in product(("", "one", "two"), ("", "vip", "plain"), ("", *phases)):
        ids: list[str] = []
        before: str | None = "~"
        while before is not None:
            seen, before = await journeys.page(
                name=name, phase=phase, tags=[kind] if kind else [], before=before, limit=3
            )
            ids += [one.id for one in seen]
        wanted = [
            instance[0]
            for instance in instances
            if all(not a or a == b for a, b in zip((name, kind, phase), instance[1:], strict=True))
        ]
        assert ids == wanted, (name, kind, phase)


async def test_a_step_shows_what_is_not_the_engines_own_in_a_status(world: World) -> None:
    """`status`, `output` and `error` are an outcome's names, and a step's to give."""
    await world.up()
    await world.app.journeys.deploy(
        text(
            """
            ask:
              type: wait
              wait:
                channel: manual
                input: {schema: {type: object}}
                response: {outputVar: payload, schema: {type: object}}
              next: done
            done: {type: succeed, outputVar: payload}
            """,
            start="ask",
            spec="output: {response: {outputVar: payload, schema: {type: object}}}",
        )
    )
    id = (await world.app.journeys.start("example")).id
    input = {"status": "PAID", "output": 1, "error": None, "outcomeId": "x", "phase": "MINE", "n": 2}
    status = await world.app.journeys.submit(id, "ask", input)
    assert dict(status.more) == {"status": "PAID", "output": 1, "error": None, "outcomeId": "x", "n": 2}
    assert status.to_json()["phase"] == "SUCCEEDED"
    assert dict((await world.app.journeys.result(id)).more) == {"n": 2}


async def test_the_cause_of_an_internal_error_is_for_who_runs_the_engine(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.up()
    broken = "a: {type: task, task: {kind: 'work:v1', internal: BROKEN_CONFIG, detail: no secret 'bank-key'}, next: b}"
    await world.app.journeys.deploy(text(f"{broken}\nb: {{type: succeed}}"))
    with caplog.at_level("WARNING"):
        id = (await world.app.journeys.start("example")).id
    outcome = await world.app.journeys.result(id)
    assert outcome.error == {"code": "urn:journeyforge:error:internal", "reason": "it cannot be done here"}
    run = await world.app.get(id)
    assert run.error == {
        "type": "urn:journeyforge:error:internal",
        "message": "it cannot be done here",
        "cause": "BROKEN_CONFIG",
        "detail": "no secret 'bank-key'",
    }
    (completed,) = [e for e in await world.app.events(subject=id, limit=100) if e.name == "journey:completed"]
    assert completed.data["cause"] == "BROKEN_CONFIG"
    assert "bank-key" not in str(completed.data)
    (line,) = [one.getMessage() for one in caplog.records if "internal error at 'a'" in one.getMessage()]
    assert "BROKEN_CONFIG" in line
    assert "bank-key" in line


async def test_a_journey_that_fails_is_a_warning_in_the_log(
    world: World, work: Work, caplog: pytest.LogCaptureFixture
) -> None:
    await world.up()
    await world.app.journeys.deploy(APPROVAL)
    rejected = await world.app.journeys.start("example", {"who": "u1"})
    await world.app.journeys.submit(rejected.id, "ask", {"ok": False})
    late = await world.app.journeys.start("example", {"who": "u2"})
    await world.advance("2h")
    records = [record for record in caplog.records if record.name == "ostinato" and record.levelname == "WARNING"]
    assert [(record.values["action"], record.values["run"]) for record in records] == [  # type: ignore[attr-defined]
        ("run_failed", rejected.id),
        ("run_failed", late.id),
    ]
    assert records[0].words == "journey 'example' failed: REJECTED; not tried again"  # type: ignore[attr-defined]


async def test_ids_keys_and_reasons_are_checked_before_anything_is_stored(world: World) -> None:
    await world.up()
    await world.app.journeys.deploy(APPROVAL)
    for id in ("", 5, "a\0", "\ud800", "x" * 1001):
        with pytest.raises(OstinatoError, match=r"the id .* is not a text of 1 to 1,000 characters"):
            await world.app.journeys.start("example", {"who": "u1"}, id=id)  # type: ignore[arg-type]
    status = await world.app.journeys.start("example", {"who": "u1"}, id="x")
    for key in ("", 5, "k\0", "\ud800", "x" * 256):
        with pytest.raises(OstinatoError, match=r"the key .* is not a text of 1 to 255 characters"):
            await world.app.journeys.submit(status.id, "ask", {"ok": True}, key=key)  # type: ignore[arg-type]
    for reason in (5, "a\0"):
        with pytest.raises(OstinatoError, match=r"the reason .* is not a text"):
            await world.app.journeys.cancel(status.id, reason)  # type: ignore[arg-type]
    for source in ("", None, b"x"):
        with pytest.raises(OstinatoError, match="is neither a file, a folder nor the text of a journey"):
            await world.app.journeys.deploy(source)  # type: ignore[arg-type]
    assert (await world.app.journeys.status(status.id)).phase == "RUNNING"
    assert len(await world.runs()) == 1
