"""People in the loop on both stores: decisions, takeovers, a proxy, and who may act."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ostinato import Conflict, OstinatoError
from ostinato.flows import (
    Denied,
    FlowContext,
    NotSent,
    Resolution,
    RouteFlow,
    TurnInput,
)
from ostinato.testing import World
from tests.support.agents import Chat, events, fire, make_buddy, route_by_name


async def names_of(world: World, *subjects: str) -> list[str]:
    return [event.name for event in await events(world, *subjects)]


def escalating(world: World, *answers: Any, **options: Any) -> tuple[Any, list[Resolution]]:
    """An agent with the flow `refund`, which asks people."""
    agent, outbox = make_buddy(world, *answers, admins=["boss"])
    resolutions: list[Resolution] = []

    @agent.flow
    async def refund(ctx: FlowContext) -> None:
        resolution = await ctx.escalate("Refund 10?", data={"amount": 10}, **options)
        resolutions.append(resolution)
        await ctx.say(resolution.message or resolution.status)

    agent.router(lambda hook_input: "refund" if hook_input.turn.text == "refund" else None)
    return outbox, resolutions


def boss(world: World, name: str = "boss") -> Any:
    return world.app.within("default", name).agents


async def test_a_person_decides_and_the_flow_goes_on_after_a_restart(world: World) -> None:
    outbox, resolutions = escalating(world)
    chat = Chat(world)
    assert await chat.say("refund") == ("success", "flow_waiting")
    assert await chat.say("hello?") == ("skipped", "waiting_for_people")
    (session,) = await world.app.agents.sessions("buddy")
    assert session.hitl == "pending_admin_resolution"
    await world.down()
    await world.up()
    (escalation,) = await boss(world).escalations("buddy")
    assert (escalation.question, escalation.data, escalation.status) == ("Refund 10?", {"amount": 10}, "pending")
    await boss(world).resolve("buddy", escalation.id, True, message="Granted.", action={"paid": 10})
    await world.settle()
    assert resolutions == [Resolution("resolved", True, "Granted.", {"paid": 10}, "boss")]
    assert outbox.texts == ["Granted."]
    with pytest.raises(Conflict, match="is resolved by boss already"):
        await boss(world).resolve("buddy", escalation.id, False)


async def test_nobody_acts_without_authority(world: World) -> None:
    escalating(world)
    await Chat(world).say("refund")
    (escalation,) = await boss(world).escalations("buddy")
    eve = world.app.within("default", "eve").agents
    for agents, words in (
        (eve, r"'eve' may not do 'escalation\.resolve' for agent 'buddy'; its admins= say who may"),
        (world.app.agents, r"'escalation\.resolve' for agent 'buddy' needs an actor; call app\.within"),
    ):
        with pytest.raises(Denied, match=words):
            await agents.resolve("buddy", escalation.id, True)
        with pytest.raises(Denied, match=r"takeover\.start"):
            await agents.take_over("buddy", "ada")
        with pytest.raises(Denied):
            await agents.escalations("buddy")
    denied = [(event.actor, event.data["action"]) for event in await events(world, "hitl") if "denied" in event.name]
    assert denied[:2] == [("eve", "escalation.resolve"), ("eve", "takeover.start")]
    assert len(denied) == 6


async def test_a_decision_that_does_not_come_times_out(world: World) -> None:
    outbox, resolutions = escalating(world, timeout="2h", meanwhile="ack", ack="A person looks at it.")
    chat = Chat(world)
    await chat.say("refund")
    await world.advance("1h")
    await chat.say("well?")
    await world.advance("61m")
    assert [resolution.status for resolution in resolutions] == ["timed_out"]
    assert outbox.texts == ["A person looks at it.", "timed_out"]
    assert await boss(world).escalations("buddy") == []


async def test_messages_can_wait_until_a_person_has_decided(world: World) -> None:
    outbox, _ = escalating(world, "the model", meanwhile="queue")
    chat = Chat(world)
    await chat.say("refund")
    turn = await world.app.agents.receive("buddy", "ada", "and this?", id="later")
    await world.settle()
    (escalation,) = await boss(world).escalations("buddy")
    await boss(world).resolve("buddy", escalation.id, False, message="No.")
    await world.settle()
    assert (await turn.outcome("1s")).outcome == "success"
    assert outbox.texts == ["No.", "the model"]


async def test_a_takeover_silences_the_agent_and_forwards_the_user(world: World) -> None:
    _, outbox = make_buddy(world, "hello", "back", admins=["boss"])
    chat = Chat(world)
    await chat.say("hi")
    await boss(world).take_over("buddy", "ada")
    assert await chat.say("help me") == ("success", "forwarded")
    said = [await boss(world).say_as_person("buddy", "ada", "I am a person.", id="p1") for _ in range(2)]
    assert ([turn.new for turn in said], said[1].id) == ([True, False], said[0].id)
    with pytest.raises(Conflict, match="another text was said to 'ada' with the id 'p1'; take another id"):
        await boss(world).say_as_person("buddy", "ada", "I am a robot.", id="p1")
    await world.settle()
    turn_input = TurnInput(user="ada", source="scheduled", key="s")
    turn = await world.app.agents.run_turn("buddy", turn_input)
    await world.settle()
    assert (await turn.outcome()).outcome == "canceled_hitl"
    (session,) = await world.app.agents.sessions("buddy")
    assert (session.hitl, session.takeover) == ("live_takeover", "boss")
    await boss(world).hand_back("buddy", "ada")
    await chat.say("thanks")
    assert outbox.texts == ["hello", "I am a person.", "back"]
    roles = [message.role for message in reversed(await world.app.agents.messages(session.id))]
    assert roles == ["user", "assistant", "user", "human", "user", "assistant"]
    forwarded = [event.data["text"] for event in await events(world, "hitl") if event.name == "hitl:forwarded"]
    assert forwarded == ["help me"]


async def test_a_takeover_in_the_middle_of_a_turn_suppresses_its_response(world: World) -> None:
    agent, outbox = make_buddy(world, "too late", admins=["boss"])

    @agent.before_response
    async def meanwhile(response: Any) -> None:
        await boss(world).take_over("buddy", "ada")

    assert await Chat(world).say("hi") == ("success", "live_takeover")
    assert outbox.sent == []


async def test_a_flow_asks_a_person_to_take_over_until_they_hand_back(world: World) -> None:
    outbox, resolutions = escalating(world, mode="live_takeover")
    chat = Chat(world)
    await chat.say("refund")
    assert await chat.say("hello") == ("success", "forwarded")
    await boss(world).say_as_person("buddy", "ada", "Hello.", id="1")
    await world.settle()
    await boss(world).hand_back("buddy", "ada", message="Settled.")
    await world.settle()
    assert [resolution.resolved_by for resolution in resolutions] == ["boss"]
    assert outbox.texts == ["Hello.", "Settled."]


async def test_a_proxy_puts_a_person_between_the_user_and_the_flow(world: World) -> None:
    agent, outbox = make_buddy(world, admins=["boss"])

    @agent.flow
    async def bridge(ctx: FlowContext) -> None:
        proxy = await ctx.proxy("Talk to Ada", to="boss@chat", timeout="1d")
        while (said := await proxy.receive()) is not None and said != "bye":
            await ctx.say(f"they say: {said}")
        await proxy.stop()

    agent.router(lambda hook_input: "bridge")
    chat = Chat(world)
    await chat.say("bridge")
    await chat.say("I need help")
    await boss(world).say_as_person("buddy", "ada", "with what?", id="1")
    await world.settle()
    await boss(world).say_as_person("buddy", "ada", "bye", id="2")
    await world.settle()
    assert [(message.address, message.text) for message in outbox.sent] == [
        ("boss@chat", "I need help"),
        ("ada", "they say: with what?"),
    ]
    (session,) = await world.app.agents.sessions("buddy")
    assert (session.flow, session.hitl) == (None, "none")


async def test_a_proxy_needs_the_address_of_the_person(world: World) -> None:
    agent, _ = make_buddy(world, admins=["boss"])

    @agent.flow
    async def bridge(ctx: FlowContext) -> None:
        await ctx.proxy("Talk to Ada")

    agent.router(lambda hook_input: "bridge")
    outcome, reason = await Chat(world).say("hi")
    assert (outcome, "needs to=…, the address of the person" in str(reason)) == ("failed", True)


async def test_only_the_person_who_is_the_proxy_speaks_to_the_flow(world: World) -> None:
    agent, outbox = make_buddy(world, admins=["boss", "deputy"])

    @agent.flow
    async def bridge(ctx: FlowContext) -> None:
        for _ in range(2):
            proxy = await ctx.proxy("Talk to Ada", to="boss@chat", timeout="1d")
            while (said := await proxy.receive()) is not None and said != "bye":
                await ctx.say(said)
            await proxy.stop()

    agent.router(lambda hook_input: "bridge")
    await Chat(world).say("bridge")
    deputy = world.app.within("default", "deputy").agents
    await boss(world).say_as_person("buddy", "ada", "I am the boss", id="1")
    await world.settle()
    with pytest.raises(Denied, match="'boss' is the proxy in the session of 'ada'"):
        await deputy.say_as_person("buddy", "ada", "so am I", id="2")
    await boss(world).say_as_person("buddy", "ada", "bye", id="3")
    await world.settle()
    await deputy.say_as_person("buddy", "ada", "now I am", id="4")  # another proxy
    await world.settle()
    assert outbox.texts == ["I am the boss", "now I am"]
    (denial,) = [event for event in await events(world, "hitl") if event.name == "hitl:denied"]
    assert (denial.subject, denial.actor, denial.data["action"]) == ("ada", "deputy", "takeover.say")


# Ends of sessions and flows


async def test_the_end_of_a_session_closes_what_people_were_asked(world: World) -> None:
    agent, _ = make_buddy(world, admins=["boss"])

    @agent.flow
    async def refund(ctx: FlowContext) -> None:
        await ctx.escalate("Refund?")

    route_by_name(agent)
    await Chat(world).say("refund")
    (session,) = await world.app.agents.sessions("buddy")
    await world.app.agents.end_session(session.id)
    await world.settle()
    assert await boss(world).escalations("buddy") == []
    (escalation,) = await boss(world).escalations("buddy", status="canceled")
    with pytest.raises(Conflict, match="is canceled already"):
        await boss(world).resolve("buddy", escalation.id, True)
    assert (await world.app.agents.session(session.id)).hitl == "none"
    assert await names_of(world, "hitl") == ["hitl:escalated", "hitl:canceled"]


async def test_a_flow_that_ends_cancels_its_question_under_its_own_name(world: World) -> None:
    agent, _ = make_buddy(world, admins=["boss"])

    @agent.flow
    async def refund(ctx: FlowContext) -> None:
        await ctx.escalate("Refund?")

    @agent.flow
    async def book(ctx: FlowContext) -> None:
        await ctx.confirm("Book?")

    @agent.flow
    async def other(ctx: FlowContext) -> None:
        await ctx.say("done")

    @agent.before_llm
    def leave(hook_input: Any) -> Any:
        return RouteFlow("other") if hook_input.turn.text == "leave" else None

    route_by_name(agent)
    chat = Chat(world)
    for flow in ("refund", "book"):
        await chat.say(flow)
        assert await chat.say("leave") == ("success", None)
    assert await names_of(world, "hitl") == [
        "hitl:escalated",
        "hitl:canceled",
        "hitl:confirm_requested",
        "hitl:canceled",
    ]


# Takeover


async def test_only_the_person_who_has_taken_over_speaks(world: World) -> None:
    _, outbox = make_buddy(world, "a", admins=["boss", "deputy"])
    await Chat(world).say("hi")
    await boss(world).take_over("buddy", "ada")
    with pytest.raises(Conflict, match="boss has taken over"):
        await boss(world, "deputy").say_as_person("buddy", "ada", "me too", id="1")
    await boss(world).say_as_person("buddy", "ada", "me", id="1")
    await world.settle()
    assert outbox.texts == ["a", "me"]


async def test_a_takeover_keeps_its_session_from_becoming_idle_and_ending(world: World) -> None:
    make_buddy(world, "a", admins=["boss"], idle="15m", end_after="1h")
    await Chat(world).say("hi")
    await boss(world).take_over("buddy", "ada")
    await world.advance("1d")
    (session,) = await world.app.agents.sessions("buddy")
    assert (session.status, session.takeover) == ("active", "boss")
    (run,) = await world.app.functions.list(name="agent/buddy")
    assert len(await world.app.functions.steps(run.id)) < 10  # its history does not grow
    await boss(world).hand_back("buddy", "ada")
    await world.advance("2h")
    assert (await world.app.agents.session(session.id)).status == "ended"


async def test_a_takeover_stops_what_a_busy_transport_has_not_taken(world: World) -> None:
    _, outbox = make_buddy(world, "hello", admins=["boss"])
    outbox.trouble = [NotSent("busy")]
    await world.up()
    turn = await world.app.agents.receive("buddy", "ada", "hi", id="1")
    await world.advance("1s")
    await boss(world).take_over("buddy", "ada")
    await world.advance("1m")
    outcome = await turn.outcome("1s")
    assert (outcome.outcome, outcome.reason, outbox.sent) == ("success", "live_takeover", [])
    canceled = [event.data for event in await events(world, "response") if event.name == "response:canceled"]
    assert [(data["stage"], data["reason"]) for data in canceled] == [("dispatch", "live_takeover")]
    (session,) = await world.app.agents.sessions("buddy")
    assert [message.role for message in await world.app.agents.messages(session.id)] == ["user"]


async def test_a_takeover_while_no_node_runs_stops_a_message_that_was_committed_before(world: World) -> None:
    agent, outbox = make_buddy(world, admins=["boss"])
    world.app.configure(lease="1m")
    crash = asyncio.Event()

    @agent.flow
    async def news(ctx: FlowContext) -> None:
        await ctx.say("news")

    real = outbox.send

    async def send(message: Any, egress: Any) -> str | None:
        if not crash.is_set():
            crash.set()
            raise NotSent("busy")
        return await real(message, egress)

    outbox.send = send  # type: ignore[method-assign]
    await world.up()
    await world.app.agents.put_user("buddy", "ada")
    turn_input = TurnInput(user="ada", source="scheduled", key="1", flow="news", bootstrap=True)
    turn = await world.app.agents.run_turn("buddy", turn_input)
    await world.advance("1s")
    await world.crash()
    async with world.app.connected() as app:
        await app.within("default", "boss").agents.take_over("buddy", "ada")
    await world.up()
    await world.advance("10m")
    outcome = await turn.outcome("1s")
    assert (outcome.outcome, outcome.reason) == ("canceled_hitl", "hitl_live_takeover")
    assert outbox.sent == []


async def test_a_timeout_does_not_take_the_conversation_from_a_person_who_came(world: World) -> None:
    agent, outbox = make_buddy(world, admins=["boss"])

    @agent.flow
    async def help(ctx: FlowContext) -> None:
        resolution = await ctx.escalate("Take over", mode="live_takeover", timeout="10m")
        await ctx.say(f"back: {resolution.status}")

    route_by_name(agent)
    chat = Chat(world)
    await chat.say("help")
    await world.advance("5m")
    await boss(world).take_over("buddy", "ada")
    await world.advance("1h")
    assert await chat.say("still there?") == ("success", "forwarded")
    assert outbox.sent == []
    await boss(world).hand_back("buddy", "ada")
    await world.settle()
    await chat.say("help")
    await world.advance("11m")  # nobody comes
    assert outbox.texts == ["back: resolved", "back: timed_out"]
    (session,) = await world.app.agents.sessions("buddy")
    assert (session.hitl, session.takeover) == ("none", None)


# Proxies


async def test_a_session_has_one_proxy_and_replace_takes_its_place_at_once(world: World) -> None:
    agent, outbox = make_buddy(world, admins=["boss"])
    said: list[Any] = []

    @agent.flow
    async def bridge(ctx: FlowContext) -> None:
        first = await ctx.proxy("Talk", to="one@chat")
        try:
            await ctx.proxy("Talk again", to="two@chat")
        except OstinatoError as problem:
            said.append("has a proxy already" in str(problem))
        second = await ctx.proxy("Talk again", to="two@chat", mode="mirror", replace=True)
        said.append(await first.receive())
        said.append(await second.receive())
        await second.stop()
        await second.stop()
        said.append(await second.receive())

    route_by_name(agent)
    chat = Chat(world)
    await chat.say("bridge")
    (pending,) = await boss(world).escalations("buddy")
    assert pending.data == {"to": "two@chat", "mode": "mirror"}
    await chat.say("help")
    await boss(world).say_as_person("buddy", "ada", "hello", id="1")
    await world.settle()
    assert said == [True, None, "hello", None]
    assert [(message.address, message.text) for message in outbox.sent] == [("two@chat", "help"), ("ada", "hello")]
    assert await names_of(world, "hitl") == [
        "hitl:proxy_started",
        "hitl:proxy_ended",
        "hitl:proxy_started",
        "hitl:proxy_ended",
    ]


async def test_a_question_during_a_proxy_leaves_the_proxy_active(world: World) -> None:
    agent, _ = make_buddy(world, admins=["boss"])

    @agent.flow
    async def bridge(ctx: FlowContext) -> None:
        proxy = await ctx.proxy("Talk", to="one@chat")
        await ctx.escalate("May I?")
        await proxy.receive()

    route_by_name(agent)
    await Chat(world).say("bridge")
    (decision,) = [one for one in await boss(world).escalations("buddy") if one.mode == "async_resolution"]
    await boss(world).resolve("buddy", decision.id, True)
    await world.settle()
    (session,) = await world.app.agents.sessions("buddy")
    assert session.hitl == "proxy"
    assert await fire(world, "1", "bridge") == ("canceled_hitl", "hitl_proxy")


async def test_a_proxy_cannot_be_the_user(world: World) -> None:
    agent, _ = make_buddy(world, admins=["boss"])

    @agent.flow
    async def bridge(ctx: FlowContext) -> None:
        await ctx.proxy("Talk", to="ada")

    route_by_name(agent)
    outcome, reason = await Chat(world).say("bridge")
    assert outcome == "failed"
    assert "go round in circles" in (reason or "")
