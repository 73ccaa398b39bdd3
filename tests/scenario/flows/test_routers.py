"""Routers that ask a model, on both stores. A router chooses a flow and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato import OstinatoError
from ostinato.flows import Agent, FlowContext, ModelRefused, ModelReply, ScriptedModel, TurnInput
from ostinato.testing import World
from tests.support.agents import Chat, Outbox, events, make_buddy


def add_flows(agent: Agent) -> None:
    @agent.flow
    async def checkin(ctx: FlowContext) -> None:
        """Ask how the day was."""
        await ctx.say("checkin")

    @agent.flow
    async def help_flow(ctx: FlowContext) -> None:
        """Help."""
        await ctx.say("help")

    @agent.flow
    async def remind(ctx: FlowContext, what: str) -> None:
        """Needs an input, so no router can begin it."""
        await ctx.say(what)


async def policy_of(world: World) -> Any:
    (session,) = await world.app.agents.sessions("buddy")
    turn = (await world.app.agents.turns(session.id))[0]
    return turn.policy.get("router"), turn.model_calls, turn.tokens_in


@pytest.mark.parametrize(
    ("answer", "said", "why"),
    [
        ('{"flow": "checkin", "confidence": 0.9}', "checkin", "chosen"),
        ('{"flow": "checkin", "confidence": 0.5}', "help", "low_confidence"),
        ('{"flow": "nothing", "confidence": 1}', "help", "unknown_flow"),
        ('{"flow": "remind", "confidence": 1}', "help", "unknown_flow"),
        ('{"flow": "checkin"}', "help", "unreadable"),
        ('{"flow": "checkin", "confidence": true}', "help", "unreadable"),
        ('["checkin"]', "help", "unreadable"),
        ("checkin, I think", "help", "unreadable"),
        ('{"flow": "classic", "confidence": 1}', "the model", "chosen"),
    ],
)
async def test_78_a_detector_chooses_a_flow_or_its_fallback(world: World, answer: str, said: str, why: str) -> None:
    agent, outbox = make_buddy(world, "the model")
    detecting = ScriptedModel(ModelReply(answer, tokens_in=7))
    add_flows(agent)
    agent.detector(min_confidence=0.7, fallback="help_flow", model=detecting)
    await Chat(world).say("hello")
    assert outbox.texts == [said]
    router, calls, tokens = await policy_of(world)
    assert (router["why"], calls, tokens) == (why, 1 + (said == "the model"), 7)
    (request,) = detecting.requests
    assert request.structured
    assert "- checkin: Ask how the day was." in request.messages[0]["content"]
    assert '"enum":["checkin","help_flow","classic"]' in request.messages[0]["content"]
    assert request.messages[1] == {"role": "user", "content": "hello"}


async def test_a_detector_without_an_answer_takes_the_fallback(world: World) -> None:
    agent, outbox = make_buddy(world, ModelRefused("no key"), "the model")
    add_flows(agent)
    agent.detector()
    assert await Chat(world).say("hello") == ("success", None)
    assert outbox.texts == ["the model"]
    failed = [event.data["stage"] for event in await events(world, "response") if event.name == "response:failed"]
    assert failed == ["router"]


@pytest.mark.parametrize(
    ("answer", "said", "why"),
    [
        ('{"reply": "", "flow": "checkin"}', "checkin", "chosen"),
        ('{"reply": "hi", "flow": null}', "hi", "chosen"),
        ('{"reply": "hi"}', "hi", "chosen"),
        ('{"reply": "hi", "flow": "classic"}', "hi", "chosen"),
        ('{"reply": "hi", "flow": "nothing"}', "help", "unknown_flow"),
        ("no JSON", "help", "unreadable"),
    ],
)
async def test_78_a_field_of_the_answer_chooses_a_flow(world: World, answer: str, said: str, why: str) -> None:
    agent, outbox = make_buddy(world, answer, structured=True)
    add_flows(agent)
    agent.schema_flow("flow", fallback="help_flow")
    await Chat(world).say("hello")
    assert outbox.texts == [said]
    assert (await policy_of(world))[0]["why"] == why
    assert "set `flow` to its name" in agent.settings.model.requests[0].messages[0]["content"]  # type: ignore[union-attr]


async def test_a_field_that_names_an_unknown_flow_sends_the_reply_if_the_fallback_is_classic(world: World) -> None:
    agent, outbox = make_buddy(world, '{"reply": "hi", "flow": "nothing"}', "no JSON", structured=True)
    add_flows(agent)
    agent.schema_flow()
    chat = Chat(world)
    assert await chat.say("hello") == ("success", None)
    assert await chat.say("again") == ("failed", "no_reply")
    assert outbox.texts == ["hi"]


async def test_routers_are_for_messages_and_while_no_flow_is_active(world: World) -> None:
    answer = '{"reply": "meanwhile", "flow": "checkin"}'
    agent, outbox = make_buddy(world, answer, answer, structured=True)
    add_flows(agent)

    @agent.flow
    async def nap(ctx: FlowContext) -> None:
        await ctx.sleep("1h")

    agent.schema_flow()
    await world.up()
    await world.app.agents.put_user("buddy", "ada")
    for key, flow in (("1", "classic"), ("2", "nap")):
        turn_input = TurnInput(user="ada", source="scheduled", key=key, flow=flow, bootstrap=True)
        await world.app.agents.run_turn("buddy", turn_input)
        await world.settle()
    await Chat(world).say("hello")
    assert outbox.texts == ["meanwhile", "meanwhile"]


async def test_a_detected_flow_goes_on_after_a_crash(world: World) -> None:
    """The model is asked once: what it chose is recorded."""
    detecting = ScriptedModel('{"flow": "survey", "confidence": 1}')
    agent, outbox = make_buddy(world)

    @agent.flow
    async def survey(ctx: FlowContext) -> None:
        await ctx.ask("ok?")
        await ctx.say("thanks")

    agent.detector(model=detecting)
    world.app.configure(lease="1m")
    chat = Chat(world)
    await chat.say("hello")
    await world.crash()
    await world.advance("3m")
    await chat.say("yes")
    assert outbox.texts == ["ok?", "thanks"]
    assert len(detecting.requests) == 1


async def test_bad_routers_are_refused_at_the_door(world: World) -> None:
    agent, _ = make_buddy(world)
    with pytest.raises(OstinatoError, match="min_confidence 2 is not a number from 0 to 1"):
        agent.detector(min_confidence=2)
    with pytest.raises(OstinatoError, match="min_confidence 'high' is not a number"):
        agent.detector(min_confidence="high")  # type: ignore[arg-type]
    with pytest.raises(OstinatoError, match="has no model"):
        agent.detector()
    with pytest.raises(OstinatoError, match="structured=True"):
        agent.schema_flow()
    agent.detector(model=ScriptedModel(), fallback="nothing")
    with pytest.raises(OstinatoError, match="two routers"):
        agent.router(lambda hook_input: None)
    with pytest.raises(OstinatoError, match="fallback 'nothing' is neither 'classic' nor a flow"):
        await world.up()
    add_flows(agent)
    other = world.app.agent("other", tz="UTC", model=None, transport=Outbox())
    other.detector(model=ScriptedModel(), fallback="remind")
    with pytest.raises(OstinatoError, match="begins without an input"):
        other.check()
