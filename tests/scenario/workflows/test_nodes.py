"""Nodes that stop, crash, share a store or lack the code of a workflow."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ostinato import Ostinato, StoreUnavailable, every
from ostinato.testing import World
from ostinato.workflows import Prepared
from ostinato.workflows.declaration import WorkflowCode
from tests.support.workflows import NOT_KNOWN_YET, Mailbox, Service, mailbox

LEASE = 4.0


class Gate:
    """Holds a phase of a handler until it is opened. It counts how often the phase began."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.reached = 0

    async def __call__(self) -> None:
        self.reached += 1
        await self.opened.wait()


def gated(app: Ostinato, phase: str, gate: Gate, service: Service) -> Mailbox:
    """A mailbox that stops at a phase: `poll`, `prepare`, `mutate`, `call`, `next`."""
    box = mailbox(app, service=service)
    send = service.send

    async def call(context: Any, **params: Any) -> Any:
        if phase == "call":
            await gate()
        return await send(context, **params)

    tools = app.workflows._context.tools
    del tools.mutators["send"]
    tools.mutator("send", reconcile=service.ask)(call)

    async def poll(ctx: Any, state: Any) -> None:
        if phase == "poll":
            await gate()
        ctx.publish("emails", "one", {"text": "one"}, input=ctx.register_input("mail", "email", "one"))

    async def prepare(ctx: Any, state: Any) -> Prepared:
        events = await ctx.peek("emails")
        if phase == "prepare" and events:
            await gate()
        return Prepared(reserve=events, data=[event.payload for event in events])

    async def mutate(ctx: Any, prepared: Any) -> None:
        if phase == "mutate":
            await gate()
        await ctx.mutate("send", mails=prepared.data)

    async def emit(ctx: Any, prepared: Any, outcome: Any) -> None:
        if phase == "next" and prepared.events:
            await gate()

    box.hooks |= {"poll": poll, "prepare": prepare, "mutate": mutate, "next": emit}
    return box


@pytest.mark.parametrize("stop", ["down", "crash"])
@pytest.mark.parametrize("phase", ["poll", "prepare", "mutate", "call", "next"])
async def test_a_node_that_ends_in_a_phase(world: World, phase: str, stop: str) -> None:
    """The phase-reset rules: the next node goes on, and the effect takes place once."""
    world._settings |= {"lease": LEASE, "grace": 1.0}
    world.app = Ostinato(world._store, clock=world.clock, **world._settings)
    service, gate = Service(), Gate()
    gated(world.app, phase, gate, service)
    await world.up()
    await world.settle()
    assert gate.reached == 1
    await (world.down() if stop == "down" else world.crash())
    gate.opened.set()
    await world.up()
    await world.advance("40s")  # the lease of the lost node, and a transient retry
    assert len(service.effects) == 1
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["consumed"]
    runs = await world.app.workflows.runs("inbox")
    assert not [run for run in runs if run.status == "active"]
    crashed = [run for run in runs if run.status == "crashed"]
    assert len(crashed) == (1 if stop == "crash" else 0)
    if crashed:
        (follower,) = [run for run in runs if run.retry_of == crashed[0].id]
        assert follower.handler == crashed[0].handler
        assert (follower.id, follower.status) == (follower.id, "committed" if phase != "call" else "paused:transient")
    assert await world.app.check(repair=False) == []


async def test_decision_11_a_crash_in_a_mutation_is_verified_by_the_run_that_follows(world: World) -> None:
    """It begins at `mutating` with the checkpoint, the events and the row of the ledger, and prepares nothing."""
    world._settings |= {"lease": LEASE}
    world.app = Ostinato(world._store, clock=world.clock, **world._settings)
    service, gate = Service(answers=[NOT_KNOWN_YET]), Gate()
    gated(world.app, "call", gate, service)
    await world.up()
    await world.settle()
    await world.crash()
    await world.up()
    await world.advance(2 * LEASE)
    flows = world.app.workflows
    follower, crashed = [run for run in await flows.runs("inbox") if run.handler == "Send"][:2]
    assert (crashed.phase, crashed.status) == ("mutating", "crashed")
    assert (follower.phase, follower.status, follower.retry_of) == ("mutating", "paused:reconciliation", crashed.id)
    (event,) = await flows.events("inbox")
    assert (event.status, event.reserved_by, event.attempt) == ("reserved", follower.id, 1)
    (output,) = await flows.outputs("inbox")
    assert (output.run_id, output.status) == (follower.id, "unconfirmed")
    gate.opened.set()
    await world.advance("30s")
    assert gate.reached == 2  # not applied by the first, so the effect was asked for once more
    assert len(service.effects) == 1


@pytest.mark.parametrize("phase", ["poll", "prepare", "mutate", "call"])
async def test_decision_29_a_stop_cancels_a_run_whose_effect_has_not_begun(world: World, phase: str) -> None:
    service, gate = Service(), Gate()
    gated(world.app, phase, gate, service)
    await world.up()
    await world.settle()
    await world.app.workflows.stop("inbox")
    gate.opened.set()
    await world.advance("1h")
    begun = phase == "call"
    assert len(service.effects) == (1 if begun else 0)
    runs = await world.app.workflows.runs("inbox")
    assert runs[0].status == ("committed" if begun else "cancelled")
    events = [event.status for event in await world.app.workflows.events("inbox")]
    assert events == {"poll": [], "call": ["consumed"]}.get(phase, ["pending"])
    assert await world.app.check(repair=False) == []


async def test_a_crash_while_a_fixer_works(world: World) -> None:
    """The fixer is asked again, and the run that it repairs is not forgotten."""
    world._settings |= {"lease": LEASE}
    world.app = Ostinato(world._store, clock=world.clock, **world._settings)
    gate = Gate()

    def version(*, fails: bool) -> WorkflowCode:
        code = WorkflowCode("inbox")
        emails = code.topic("emails")

        @code.producer(every("5m"), publishes=emails)
        async def poll(ctx: Any, state: Any) -> None:
            ctx.publish(emails, "one", input=ctx.register_input("mail", "email", "one"))

        @code.consumer(emails)
        class Send:
            async def prepare(self, ctx: Any, state: Any) -> Prepared:
                return Prepared(reserve=await ctx.peek(emails))

            async def mutate(self, ctx: Any, prepared: Any) -> None:
                if fails:
                    raise ValueError("broken")

        return code

    broken = version(fails=True)

    @broken.fix_with
    async def repair(failed: Any) -> WorkflowCode:
        assert (failed.handler, failed.phase) == ("Send", "mutating")
        assert failed.prepared == {"reservations": [["emails", "one"]], "data": None, "title": None}
        await gate()
        return version(fails=False)

    await world.up()
    await world.app.workflows.deploy(broken)
    await world.settle()
    await world.crash()
    gate.opened.set()
    await world.up()
    await world.advance("10s")
    assert gate.reached == 2
    info = await world.app.workflows.get("inbox")
    assert (info.version, info.status) == ("1.1", "Idle")
    assert [event.status for event in await world.app.workflows.events("inbox")] == ["consumed"]


async def test_a_fixer_that_is_cancelled_leaves_it_to_a_person(world: World) -> None:
    code: WorkflowCode = world.app.workflow("inbox")
    gate = Gate()
    topic = code.topic("t")

    @code.producer(every("5m"), publishes=topic)
    async def poll(ctx: Any, state: Any) -> None:
        raise ValueError("broken")

    @code.consumer(topic)
    class Read:
        async def prepare(self, ctx: Any, state: Any) -> None:
            return None

    @code.fix_with
    async def repair(failed: Any) -> None:
        await gate()

    await world.up()
    await world.settle()
    info = await world.app.workflows.get("inbox")
    assert (info.issue, info.choices) == ("Fixing: ValueError: broken", ())
    assert info.run_id is not None
    await world.app.cancel(info.run_id)
    await world.settle()
    info = await world.app.workflows.get("inbox")
    assert (info.status, info.choices) == ("Needs attention", ("resume",))


async def test_two_nodes_on_one_store(world: World) -> None:
    """One run of a workflow at a time, wherever it runs, and each effect once."""
    service = Service()
    running = 0
    most = 0
    apps = [Ostinato(world._store, clock=world.clock, **world._settings) for _ in range(2)]
    mails = [str(number) for number in range(12)]

    async def mutate(ctx: Any, prepared: Any) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(1)
        running -= 1
        await ctx.mutate("send", mails=prepared.data)

    for app in apps:
        box = mailbox(app, service=service, mails=list(mails))
        box.hooks["mutate"] = mutate
    async with apps[0], apps[1]:
        await asyncio.sleep(60)
        events = await apps[0].workflows.events("inbox")
        assert {event.status for event in events} == {"consumed"}
        assert await apps[0].check(repair=False) == []
    assert sorted(params["mails"][0]["text"] for params in service.effects.values()) == sorted(mails)
    assert most == 1


async def test_a_node_without_the_code_leaves_a_run_to_others(world: World) -> None:
    """The run waits a moment; it is neither failed nor lost."""
    service = Service()
    knowing = Ostinato(world._store, clock=world.clock, **world._settings)
    box = mailbox(knowing, service=service)
    async with knowing:
        await asyncio.sleep(1)
    box.mails.append("two")
    await world.advance("10m")
    assert len(service.effects) == 1
    assert (await world.app.workflows.get("inbox")).status == "Running"
    await world.down()
    again = Ostinato(world._store, clock=world.clock, **world._settings)
    mailbox(again, service=service, mails=box.mails)
    async with again:
        await asyncio.sleep(60)
        assert len(service.effects) == 2


async def test_a_run_that_meets_a_store_that_is_away_is_handed_back(world: World) -> None:
    """It does not end as an internal failure, which would wait for a person."""
    mailbox(world.app)
    await world.up()
    body: Any = world.app.engine.bodies.of_kind["workflow"]
    find, failures = body.codes.find, 2

    class Away:
        def find(self, workflow: Any) -> Any:
            nonlocal failures
            return None if failures else find(workflow)

    async def leave(run: Any, loaded: Any) -> None:
        nonlocal failures
        failures -= 1
        raise StoreUnavailable("away")

    body.codes, body._leave_to_others = Away(), leave
    await world.advance("1h")
    assert failures == 0
    runs = await world.app.workflows.runs("inbox", limit=1000)
    assert {run.status for run in runs} == {"committed"}
