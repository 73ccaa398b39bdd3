"""Nodes that are lost one after the other: what makes progress goes on, and what crashes its node fails alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ostinato.flows import FlowContext, ModelReply
from ostinato.testing import World
from tests.support.agents import Outbox, make_buddy


class Slow(Outbox):
    """A transport that takes a moment before and after the message."""

    async def send(self, message: Any, egress: Any) -> str | None:
        await asyncio.sleep(0.15)
        sent = await super().send(message, egress)
        await asyncio.sleep(0.15)
        return sent


class Thinking:
    """A model that answers after three seconds. `calls` counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    async def complete(self, request: Any, egress: Any) -> ModelReply:
        self.calls += 1
        await asyncio.sleep(3)
        return ModelReply("answer")


async def crash(world: World) -> None:
    await world.crash()
    await world.up()


@pytest.mark.parametrize("flow", ["hello", None])
async def test_a_campaign_that_makes_progress_survives_any_number_of_lost_nodes(world: World, flow: str | None) -> None:
    world.app.configure(lease="4s")
    outbox = Slow()
    agent, _ = make_buddy(world, *["hi"] * 300, outbox=outbox)

    @agent.flow
    async def hello(ctx: FlowContext) -> None:
        await ctx.say("hello")

    await world.up()
    agents = world.app.agents
    for number in range(120):
        await agents.put_user("buddy", f"u{number:03}")
    content: dict[str, Any] = {"flow": flow} if flow else {"metadata": {"prompt": "Say hi."}}
    sent = await agents.campaigns("buddy").send({"type": "all"}, allow_session_bootstrap=True, in_flight=10, **content)
    lives = []
    for _ in range(5):
        before = len(outbox.texts)
        async with asyncio.timeout(60):
            while len(outbox.texts) == before:
                await asyncio.sleep(0.1)
        await asyncio.sleep(0.3)
        lives.append(len(outbox.texts))
        await crash(world)
    assert lives == sorted(set(lives)), "each life has sent something"
    assert lives[-1] < 120
    await world.advance("5m")
    campaign = await agents.campaigns("buddy").get(sent.id)
    assert campaign.status == "done"
    assert sum(campaign.counts.values()) == 120
    assert set(campaign.counts) <= {"success", "failed"}
    assert set(campaign.reasons) <= {"delivery_unknown"}


async def test_a_message_is_answered_by_the_fallback_if_three_nodes_are_lost_while_the_model_answers(
    world: World,
) -> None:
    """The turn fails, and neither the session nor the next message does."""
    world.app.configure(lease="4s")
    model = Thinking()
    outbox = Outbox()
    world.app.agent("buddy", tz="UTC", model=model, transport=outbox, fallback="Sorry.")
    await world.up()
    first = await world.app.agents.receive("buddy", "ada", "please help", id="1")
    for life in range(3):
        await world.advance("1s" if life == 0 else "6s")
        assert model.calls == life + 1
        await crash(world)
    await world.advance("1m")
    assert model.calls == 3
    outcome = await first.outcome("1s")
    assert outcome.outcome.value == "failed"
    assert outbox.texts == ["Sorry."]
    (session,) = await world.app.agents.sessions("buddy")
    assert session.status == "active"
    second = await world.app.agents.receive("buddy", "ada", "still there?", id="2")
    await world.advance("1m")
    assert (await second.outcome("1s")).outcome.value == "success"
    assert outbox.texts == ["Sorry.", "answer"]


@pytest.mark.parametrize("in_thread", [False, True])
async def test_a_step_of_a_flow_that_loses_its_nodes_fails_in_the_flow(world: World, in_thread: bool) -> None:
    world.app.configure(lease="4s")
    agent, outbox = make_buddy(world)
    calls = 0

    async def book() -> str:
        nonlocal calls
        calls += 1
        await asyncio.sleep(30)
        return "booked"

    def look_up() -> str:
        return "room"

    @agent.flow
    async def booking(ctx: FlowContext) -> None:
        name = await ctx.step(look_up) if in_thread else "room"
        await ctx.say(f"A {name}?")
        try:
            await ctx.step(book)
        except Exception as problem:
            await ctx.say(f"not booked: {problem}")

    @agent.router
    def always(_: Any) -> str:
        return "booking"

    await world.up()
    await world.app.agents.receive("buddy", "ada", "book", id="1")
    for life in range(3):
        await world.advance("1s" if life == 0 else "6s")
        assert calls == life + 1
        await crash(world)
    await world.advance("1m")
    assert calls == 3
    assert outbox.texts[0] == "A room?"
    assert "3 nodes in a row were lost while it ran" in outbox.texts[1]
