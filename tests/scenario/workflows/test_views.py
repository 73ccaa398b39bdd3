"""What people see of workflows: inputs, outputs, runs, activity and pictures, on both stores."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato import NotFound, OstinatoError
from ostinato.testing import World
from ostinato.workflows import AuthRequired, Prepared, Transient, queries
from tests.support.workflows import mailbox


async def test_inputs_and_outputs_show_what_led_to_what(world: World) -> None:
    box = mailbox(world.app, mails=["one", "two", "three"], batch=2)
    await world.up()
    await world.settle()
    flows = world.app.workflows
    inputs = await flows.inputs("inbox")
    assert {(input.title, input.status, input.outputs, input.result) for input in inputs} == {
        (title, "done", 1, "1 output") for title in box.mails
    }
    single, batch = await flows.outputs("inbox")
    assert (single.status, single.mutator, single.title, single.stems_from) == ("applied", "send", "send 1", "three")
    assert batch.stems_from == "2 emails (batch)"
    assert {cause.title for cause in batch.inputs} == {"one", "two"}
    assert batch.params == {"mails": [{"text": "one"}, {"text": "two"}]}
    info = await flows.get("inbox")
    assert info.activity == ("Processed 1 email → send 1", "Processed 2 emails → send 2")
    assert [(group.source, group.type, group.pending, group.done) for group in info.inputs] == [("mail", "email", 0, 3)]
    assert info.attention is None
    assert info.timing == "Checks every 5 minutes · next in 5 min"
    await world.advance("2m")
    assert (await flows.get("inbox", recent=0)).timing == "Checks every 5 minutes · next in 3 min"


async def test_pages_of_inputs_and_outputs_show_each_once(world: World) -> None:
    box = mailbox(world.app, mails=[f"mail {n}" for n in range(7)])
    await world.up()
    await world.settle()
    flows = world.app.workflows
    for limit in (1, 3, 7):
        titles: list[str] = []
        before: str | None = None
        while page := await flows.inputs("inbox", before=before, limit=limit):
            titles += [input.title for input in page]
            before = page[-1].id
        assert sorted(titles) == sorted(box.mails)
        causes: list[str] = []
        before = None
        while outputs := await flows.outputs("inbox", before=before, limit=limit):
            causes += [output.stems_from for output in outputs]
            before = outputs[-1].id
        assert causes == list(reversed(box.mails))


async def test_decision_32_an_input_is_pending_until_its_last_event_is_settled(world: World) -> None:
    box = mailbox(world.app, mails=["one", "two"], policy={"stale_after": "6m"})

    async def hold(ctx: Any, state: Any) -> Prepared:
        return Prepared()

    async def poll(ctx: Any, state: Any) -> None:
        for mail in box.mails:
            ctx.publish("emails", mail, {}, input=ctx.register_input("mail", "email", mail, mail))
        ctx.register_input("mail", "email", "silent", "silent")

    box.hooks |= {"prepare": hold, "poll": poll}
    await world.up()
    await world.settle()
    flows = world.app.workflows
    assert {input.title: input.status for input in await flows.inputs("inbox")} == dict.fromkeys(
        ("one", "two", "silent"), "pending"
    )
    ids = {input.title: input.id for input in await flows.inputs("inbox")}
    await flows.skip_input("inbox", ids["one"])
    await flows.skip_event("inbox", "emails", "two")
    assert {input.title: input.status for input in await flows.inputs("inbox")} == {
        "one": "skipped",
        "two": "skipped",
        "silent": "pending",
    }
    assert [input.title for input in await flows.inputs("inbox", status="pending")] == ["silent"]
    assert {input.title for input in await flows.inputs("inbox", status="skipped")} == {"one", "two"}
    assert await flows.inputs("inbox", status="done") == []
    await world.advance("7m")
    (silent,) = await flows.inputs("inbox", status="pending")
    assert (silent.attention, silent.result) == ("stale", "Pending")
    assert (await flows.get("inbox")).attention == "1 input needs your attention"


async def test_inputs_that_a_blocked_run_holds_need_attention(world: World) -> None:
    box = mailbox(world.app, mails=["one", "two"], batch=2)
    box.service.script = [AuthRequired("Gmail")]
    await world.up()
    await world.settle()
    flows = world.app.workflows
    info = await flows.get("inbox")
    assert (info.status, info.attention) == ("Needs attention", "2 inputs need your attention")
    assert info.timing == "Checks every 5 minutes · waits for you"
    assert {input.attention for input in await flows.inputs("inbox")} == {"blocked"}
    assert await flows.outputs("inbox") == []
    picture = await flows.draw("inbox")
    assert 'class="consumer current blocked"' in picture
    assert "Waiting for you to reconnect Gmail" in picture
    answer = await flows.resolve("inbox", "resume", request_id="r1")
    assert answer == await flows.resolve("inbox", "resume", request_id="r1")
    await world.settle()
    assert (await flows.get("inbox")).attention is None
    assert [output.status for output in await flows.outputs("inbox", status="applied")] == ["applied"]


async def test_an_effect_that_nobody_knows_of_is_unconfirmed(world: World) -> None:
    box = mailbox(world.app, reconcile=False)
    box.service.script = [TimeoutError("no answer")]
    await world.up()
    await world.settle()
    flows = world.app.workflows
    (output,) = await flows.outputs("inbox")
    assert (output.status, output.stems_from) == ("unconfirmed", "one")
    assert await flows.outputs("inbox", status="applied") == []
    assert len(await flows.outputs("inbox", status="unconfirmed")) == 1
    await flows.resolve("inbox", "skip")
    await world.settle()
    assert await flows.outputs("inbox") == []
    assert (await flows.get("inbox")).activity == ("Skipped 1 email",)


async def test_a_run_shows_its_attempts_events_and_effect(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    box = mailbox(world.app)
    box.service.script = [Transient("busy", delivered="no"), Transient("busy", delivered="no")]
    await world.up()
    await world.advance("2m")
    flows = world.app.workflows
    attempts = [run for run in reversed(await flows.runs("inbox")) if run.handler == "Send"]
    chain = [run for run in attempts if run.retry_of is not None or run.status == "paused:transient"]
    assert len(chain) == 3
    for number, run in enumerate(chain):
        detail = await flows.run("inbox", run.id)
        assert detail.attempts == tuple(chain)
        assert detail.run == chain[number]
        assert [event.message_id for event in detail.events] == ["one"]
        assert detail.output is not None
        assert detail.output.status == ("failed" if number < 2 else "applied")
    assert [run.retry_of for run in chain] == [None, chain[0].id, chain[1].id]
    with pytest.raises(NotFound, match="has no run 'other'"):
        await flows.run("inbox", "other")
    monkeypatch.setattr(queries, "_LONGEST_CHAIN", 1)
    detail = await flows.run("inbox", chain[2].id)
    assert detail.run == chain[2]
    assert [run.id for run in detail.attempts] == [chain[0].id, chain[2].id]
    assert detail.output is not None
    assert detail.output.status == "applied"


async def test_a_list_reads_all_workflows_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    flows = world.app.workflows
    for number in range(5):
        code = world.app.workflow(f"flow-{number}")
        topic = code.topic("events")

        @code.consumer(topic)
        class Consume:
            async def prepare(self, ctx: Any, state: Any) -> Prepared:
                return Prepared()

    await world.up()
    await world.settle()
    statements: list[str] = []
    whole = world.app.store.read

    async def counting(operation: Any) -> Any:
        def counted(turn: int) -> Any:
            work = operation(turn)
            answer = None
            while True:
                try:
                    step = work.send(answer)
                except StopIteration as end:
                    return end.value
                statements.append(step.name)
                answer = yield step

        return await whole(counted)

    monkeypatch.setattr(world.app.store, "read", counting)
    assert [info.name for info in await flows.list()] == [f"flow-{number}" for number in range(5)]
    assert statements == ["list_workflows", "workflow_handlers", "count_pending"]
    assert [info.name for info in await flows.list(after="flow-2", limit=1)] == ["flow-3"]


async def test_a_status_that_does_not_exist_is_refused_with_a_hint(world: World) -> None:
    mailbox(world.app)
    await world.up()
    flows = world.app.workflows
    with pytest.raises(OstinatoError, match="an input has no status 'pendin'; did you mean 'pending'"):
        await flows.inputs("inbox", status="pendin")
    with pytest.raises(OstinatoError, match="there are applied, unconfirmed"):
        await flows.outputs("inbox", status="nothing")
    with pytest.raises(OstinatoError, match="recent -1 is not"):
        await flows.get("inbox", recent=-1)
    with pytest.raises(NotFound, match="did you mean 'inbox'"):
        await flows.inputs("inbx")
