"""Turns of campaigns that a node handles directly, without recorded steps: they write what the runs of sessions write,
they leave to those what needs a record, and a session has one turn at a time whoever handles it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ostinato.flows import Agent, End, ModelReply, NotSent, RouteFlow, ToolCall, ToolContext
from ostinato.flows.campaigns.model import CAMPAIGN_FUNCTION
from ostinato.functions.store import statement as function_statement
from ostinato.store.contract import Operation
from ostinato.testing import World
from tests.support.agents import Outbox
from tests.support.campaigns import all_events, campaigns, numbered, outcomes, put_people


@pytest.fixture(params=["sqlite", "postgres"])
def world(request: pytest.FixtureRequest) -> World:
    """A world on either store, whose nodes may be lost."""
    return World(None if request.param == "sqlite" else request.getfixturevalue("postgres_url"), lease="10s")


class Echo:
    """A model that gives these answers, then says hello. It counts its calls."""

    def __init__(self, *answers: ModelReply) -> None:
        self.answers = list(answers)
        self.calls = 0

    async def complete(self, request: Any, egress: Any) -> ModelReply:
        self.calls += 1
        return self.answers.pop(0) if self.answers else ModelReply("hello", tokens_in=3, tokens_out=2)


def make_agent(world: World, model: Any = None, outbox: Outbox | None = None, **options: Any) -> tuple[Agent, Outbox]:
    outbox = outbox or Outbox()
    agent = world.app.agent("buddy", tz="UTC", model=model or Echo(), transport=outbox, **options)
    return agent, outbox


async def send(world: World, *names: str, **options: Any) -> Any:
    """Send a campaign without a flow."""
    await put_people(world, *names)
    segment = {"type": "users", "users": list(names)}
    return await campaigns(world).send(
        segment, metadata={"prompt": "Say hello."}, allow_session_bootstrap=True, **options
    )


async def recorded(world: World) -> int:
    """How many runs of sessions have recorded anything."""
    sessions = await world.app.agents.sessions("buddy", limit=1000)

    def read(_: int) -> Operation[int]:
        return len((yield function_statement("functions_by_ids", [(session.run_id,) for session in sessions])))

    return await world.app.store.read(read)


async def stored(world: World, prefix: str) -> list[Any]:
    """What is stored of the sessions of some users: rows, events in order, what was said, and runs."""
    log = await all_events(world)
    names = {user.id: user.external_id for user in await world.app.agents.users("buddy", limit=1000)}
    rows: list[Any] = []
    for session in await world.app.agents.sessions("buddy", limit=1000):
        if not names[session.user_id].startswith(prefix):
            continue
        (turn,) = await world.app.agents.turns(session.id)
        run = await world.app.functions.get(session.run_id)
        subjects = {session.id: "session", run.id: "run", turn.id: "turn"}
        events = [
            (subjects[event.subject], event.name, sorted(event.data)) for event in log if event.subject in subjects
        ]
        said = [(message.role, message.text) for message in await world.app.agents.messages(session.id)]
        of_turn = (turn.outcome, turn.reason, turn.producer, turn.policy, turn.delivered, turn.model_calls, turn.status)
        of_session = (session.status, session.messages, session.hitl, session.waits)
        rows.append((of_turn, of_session, run.status, run.waits_for, said, sorted(events)))
    return rows


@pytest.mark.parametrize("hooks", [False, True], ids=["without hooks", "with hooks"])
async def test_it_writes_what_the_run_of_a_session_writes(world: World, hooks: bool) -> None:
    agent, outbox = make_agent(world)
    if hooks:
        agent.before_llm(lambda hook_input: None)
        agent.before_response(lambda response: None)
        agent.on_response(lambda structured, ctx, meta: None)
    await (await send(world, *numbered("a", 4))).outcome("1m")
    assert await recorded(world) == 0
    world.app.engine.claimer.share.most = 0  # from now on the runs of sessions handle all turns
    await (await send(world, *numbered("b", 4))).outcome("1m")
    assert await recorded(world) == 4
    assert len(outbox.sent) == 8
    first, second = await stored(world, "a"), await stored(world, "b")
    assert len(first) == 4
    assert first == second
    assert not await world.app.check()


async def test_as_many_slots_are_set_aside_as_the_agents_default_says(world: World) -> None:
    """A campaign of a schedule begins with the options that the schedule has. The agent's defaults come later."""
    agent, outbox = make_agent(world, campaigns={"in_flight": 3})
    slots: set[int] = set()

    @agent.before_llm
    def look(hook_input: Any) -> None:
        slots.add(world.app.engine.claimer.share.slots)

    await put_people(world, *numbered("u", 8))
    inputs = {"agent": "buddy", "segment": {"type": "all"}, "metadata": {"prompt": "Say hello."}}
    run = await world.app.functions.start(CAMPAIGN_FUNCTION, {**inputs, "allow_session_bootstrap": True})
    await run.result("1m")
    assert len(outbox.sent) == 8
    assert slots == {3}


async def test_a_message_waits_for_the_turn_that_is_going_on(world: World) -> None:
    agent, outbox = make_agent(world)
    order: list[str] = []

    @agent.before_llm
    async def slow(hook_input: Any) -> None:
        order.append(f"{hook_input.turn.source} begins")
        await asyncio.sleep(5)
        order.append(f"{hook_input.turn.source} ends")

    sent = await send(world, "ada")
    await world.advance("2s")
    turn = await world.app.agents.receive("buddy", "ada", "hi", id="1")
    await world.advance("1s")
    assert order == ["scheduled begins"]
    assert (await sent.outcome("1m")).counts == {"success": 1}
    assert (await turn.outcome("1m")).outcome == "success"
    assert order == ["scheduled begins", "scheduled ends", "inbound begins", "inbound ends"]
    assert len(outbox.sent) == 2


async def test_what_needs_a_record_is_left_to_the_run_of_the_session(world: World) -> None:
    model = Echo(ModelReply("", tool_calls=[ToolCall("1", "note", {"text": "x"})]))
    agent, outbox = make_agent(world, model)
    notes: list[str] = []

    @agent.tool(at_most_once=True)
    async def note(ctx: ToolContext, text: str) -> str:
        notes.append(text)
        return "noted"

    @agent.flow
    async def ask(ctx: Any) -> None:
        await ctx.say(f"asked {await ctx.ask('how?')}")

    @agent.before_llm
    async def route(hook_input: Any) -> Any:
        return RouteFlow("ask") if hook_input.user.external_id == "bob" and hook_input.turn.text is None else None

    assert (await (await send(world, "ada")).outcome("1m")).counts == {"success": 1}
    assert (notes, outbox.texts) == (["x"], ["hello"])
    assert model.calls == 2  # the first answer was handed on
    assert (await (await send(world, "bob")).outcome("1m")).counts == {"success": 1}
    assert outbox.texts == ["hello", "how?"]
    turn = await world.app.agents.receive("buddy", "bob", "well", id="1")
    await turn.outcome("1m")
    assert outbox.texts[-1] == "asked well"
    assert await recorded(world) == 2


async def test_a_transport_that_sent_nothing_is_tried_again(world: World) -> None:
    outbox = Outbox()
    outbox.trouble = [NotSent("busy", retry=True), NotSent("busy", retry=True)]
    make_agent(world, outbox=outbox)
    ended = await (await send(world, "ada")).outcome("1h")
    assert (ended.counts, outbox.texts) == ({"success": 1}, ["hello"])
    names = [event.name for event in await all_events(world) if event.name.startswith("response:")]
    assert names == ["response:prepared", "response:sent", "response:persisted"]


@pytest.mark.parametrize("idempotent", [False, True])
async def test_an_error_of_the_transport_is_an_unknown_delivery_or_another_attempt(
    world: World, idempotent: bool
) -> None:
    outbox = Outbox(idempotent=idempotent)
    outbox.trouble = [OSError("gone")]
    make_agent(world, outbox=outbox)
    sent = await send(world, "ada", "bob")
    ended = await sent.outcome("1h")
    if idempotent:
        assert (ended.counts, len(outbox.sent)) == ({"success": 2}, 2)
    else:
        assert (ended.counts, len(outbox.sent)) == ({"success": 1, "failed": 1}, 1)
        assert ("failed", "delivery_unknown") in (await outcomes(world, sent.id)).values()


async def test_a_model_that_fails_is_asked_again_by_the_run(world: World) -> None:
    class Broken(Echo):
        async def complete(self, request: Any, egress: Any) -> ModelReply:
            self.calls += 1
            if self.calls < 3:
                raise OSError("gone")
            return ModelReply("hello")

    _, outbox = make_agent(world, Broken())
    ended = await (await send(world, "ada")).outcome("1h")
    assert (ended.counts, outbox.texts) == ({"success": 1}, ["hello"])


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
async def test_hooks_end_and_fail_as_elsewhere(world: World, kind: type[BaseException]) -> None:
    agent, outbox = make_agent(world)

    @agent.before_llm
    async def decide(hook_input: Any) -> Any:
        if hook_input.user.external_id == "ada":
            return End("not today")
        if hook_input.user.external_id == "bob":
            raise kind("no")
        return None

    @agent.on_response
    async def end(structured: Any, ctx: ToolContext) -> None:
        if ctx.user.external_id == "eve":
            ctx.end_session("enough")

    sent = await send(world, "ada", "bob", "eve")
    assert (await sent.outcome("1m")).counts == {"skipped": 1, "success": 2}
    assert (await outcomes(world, sent.id))["ada"] == ("skipped", "not today")
    await world.settle()
    sessions = {session.user_id: session for session in await world.app.agents.sessions("buddy")}
    users = {user.external_id: user.id for user in await world.app.agents.users("buddy")}
    assert (sessions[users["eve"]].status, sessions[users["eve"]].reason) == ("ended", "enough")
    assert sessions[users["bob"]].status == "active"
    assert len(outbox.sent) == 2


async def test_the_session_becomes_idle_and_ends_when_it_would(world: World) -> None:
    make_agent(world, idle="1m", end_after="5m")
    await (await send(world, "ada")).outcome("1m")
    (session,) = await world.app.agents.sessions("buddy")
    assert session.status == "active"
    await world.advance("50s")
    assert (await world.app.agents.session(session.id)).status == "active"
    await world.advance("20s")
    assert (await world.app.agents.session(session.id)).status == "idle"
    await world.advance("5m")
    assert (await world.app.agents.session(session.id)).status == "ended"
    assert not await world.app.check()


@pytest.mark.parametrize("idempotent", [False, True])
async def test_a_node_that_dies_while_it_sends_leaves_the_turn_to_another(world: World, idempotent: bool) -> None:
    class Stuck(Outbox):
        async def send(self, message: Any, egress: Any) -> str | None:
            await super().send(message, egress)
            if len(self.sent) == 1:
                await asyncio.sleep(50)
            return None

    outbox = Stuck(idempotent=idempotent)
    make_agent(world, outbox=outbox)
    sent = await send(world, "ada")
    await world.advance("2s")
    assert len(outbox.sent) == 1
    await world.crash()
    await world.up()
    ended = await sent.outcome("1h")
    if idempotent:
        assert ended.counts == {"success": 1}
        assert len({message.key for message in outbox.sent}) == 1
    else:
        assert (ended.counts, ended.reasons, len(outbox.sent)) == ({"failed": 1}, {"delivery_unknown": 1}, 1)
    assert not await world.app.check()
