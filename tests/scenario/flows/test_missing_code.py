"""Turns and sessions wait for a node that has their code, on both stores. A tool that nobody has fails its flow."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato.flows import FlowContext, TurnInput
from ostinato.testing import World
from tests.support.agents import Chat, events, make_buddy, route_by_name


def boss(world: World, name: str = "boss") -> Any:
    return world.app.within("default", name).agents


async def names_of(world: World, *subjects: str) -> list[str]:
    return [event.name for event in await events(world, *subjects)]


async def test_a_session_waits_for_a_node_that_has_its_version_of_a_flow(world: World) -> None:
    agent, outbox = make_buddy(world)

    async def old(ctx: FlowContext) -> None:
        await ctx.ask("old?")
        await ctx.say("old")

    async def new(ctx: FlowContext) -> None:
        await ctx.say("new")

    agent.flow(old, name="greet")
    route_by_name(agent)
    chat = Chat(world)
    await chat.say("greet")
    await world.down()
    agent._flows["greet"] = {}
    agent.flow(new, name="greet", version=2)  # a node that has the new version only
    await world.up()
    turn = await world.app.agents.receive("buddy", "ada", "x", id="x")
    await world.advance("1m")
    (run,) = await world.app.functions.list(name="agent/buddy")
    assert (run.status, run.reason) == ("waiting", "no node with function 'agent/buddy', flow 'greet', version 1")
    await world.down()
    agent.flow(old, name="greet")
    await world.up()
    await world.advance("10s")
    assert (await turn.outcome("1s")).outcome == "success"
    assert outbox.texts == ["old?", "old"]


async def test_a_scheduled_turn_waits_for_a_node_that_has_its_flow(world: World) -> None:
    agent, outbox = make_buddy(world)

    @agent.flow
    async def fresh(ctx: FlowContext) -> None:
        await ctx.say("fresh")

    await world.up()
    await world.app.agents.put_user("buddy", "ada")
    flows = dict(agent._flows)
    turn_input = TurnInput(user="ada", source="scheduled", key="1", flow="fresh", bootstrap=True)
    turn = await world.app.agents.run_turn("buddy", turn_input)
    agent._flows.clear()  # the node that claims it has no such flow, but another has declared it
    await world.advance("1m")
    (run,) = await world.app.functions.list(name="agent/buddy")
    assert run.reason == "no node with function 'agent/buddy', flow 'fresh'"
    agent._flows.update(flows)
    await world.advance("10s")
    assert (await turn.outcome("1s")).outcome == "success"
    assert outbox.texts == ["fresh"]


async def test_a_turn_finds_the_queue_of_an_agent_that_another_node_has(world: World) -> None:
    make_buddy(world, "hello", queue="chat")
    world.app.configure(queues=["default"])
    await world.up()
    await world.app.agents.put_user("buddy", "ada")
    del world.app.agents.codes.by_name["buddy"]
    turn = {"user": "ada", "source": "scheduled", "key": "1", "bootstrap": True}
    await world.app.functions.start("agent-turn", {"agent": "buddy", "turn": turn})
    bad = await world.app.functions.start("agent-turn", {"agent": "nobody", "turn": turn})
    await world.settle()
    (run,) = await world.app.functions.list(name="agent/buddy")
    (info,) = await world.runs("agent/buddy")
    assert (info.id, info.queue) == (run.id, "chat")
    with pytest.raises(Exception, match="there is no agent 'nobody'"):
        await bad.result("1s")


async def test_a_tool_that_does_not_exist_fails_its_flow(world: World) -> None:
    agent, _ = make_buddy(world)

    @agent.flow
    async def broken(ctx: FlowContext) -> None:
        await ctx.tool("nothing")

    route_by_name(agent)
    outcome, reason = await Chat(world).say("broken")
    assert outcome == "failed"
    assert "there is no tool 'nothing'" in (reason or "")
