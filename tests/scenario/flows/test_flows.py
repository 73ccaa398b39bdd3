"""Flows on both stores: questions whose answers come after restarts, waits, hand-offs, schedules that interfere."""

from __future__ import annotations

import asyncio

import pytest

from ostinato.flows import AnswerTimedOut, BeforeLLMInput, FlowContext, RouteFlow
from ostinato.testing import World
from tests.support.agents import Chat, events, fire, make_buddy, route_by_name


async def test_an_answer_comes_after_a_restart(world: World) -> None:
    agent, outbox = make_buddy(world)
    answers: list[str] = []

    @agent.flow
    async def checkin(ctx: FlowContext) -> None:
        mood = await ctx.ask("How was your day?")
        answers.append(f"{mood} {ctx.user.external_id}")
        await ctx.say("Noted.")

    route_by_name(agent)
    chat = Chat(world)
    assert await chat.say("checkin") == ("success", "flow_waiting")
    (session,) = await world.app.agents.sessions("buddy")
    assert (session.flow, session.waits, session.status) == ("checkin", "ask", "active")
    await world.down()
    await world.up()
    await world.advance("3d")
    assert await chat.say("fine") == ("success", None)
    assert answers == ["fine ada"]
    assert outbox.texts == ["How was your day?", "Noted."]
    turns = await world.app.agents.turns(session.id)
    assert [(turn.flow, turn.producer) for turn in turns] == [("checkin", "flow"), ("checkin", "flow")]
    assert (await world.app.agents.session(session.id)).flow is None
    names = [event.name for event in await events(world, "flow")]
    assert names.count("flow:started") == names.count("flow:ended") == 1


async def test_a_question_times_out_and_a_new_turn_goes_on(world: World) -> None:
    agent, outbox = make_buddy(world, "later")

    @agent.flow
    async def checkin(ctx: FlowContext) -> None:
        try:
            await ctx.ask("Well?", timeout="1h")
        except AnswerTimedOut:
            await ctx.say("Never mind.")
        assert await ctx.ask("Again?", timeout="1h", default="nothing") == "nothing"

    route_by_name(agent)
    chat = Chat(world)
    await chat.say("checkin")
    await world.advance("3h")
    assert outbox.texts == ["Well?", "Never mind.", "Again?"]
    (session,) = await world.app.agents.sessions("buddy")
    turns = [(turn.source, turn.outcome, turn.reason) for turn in await world.app.agents.turns(session.id)]
    assert turns == [
        ("resumed", "success", None),
        ("resumed", "success", "flow_waiting"),
        ("inbound", "success", "flow_waiting"),
    ]
    await chat.say("hi")
    assert outbox.texts[3:] == ["later"]


async def test_a_confirmation_is_visible_and_understands_yes_and_no(world: World) -> None:
    agent, outbox = make_buddy(world)
    answers: list[bool] = []

    @agent.flow
    async def book(ctx: FlowContext) -> None:
        answers.append(await ctx.confirm("Book it?"))

    route_by_name(agent)
    chat = Chat(world)
    await chat.say("book")
    (session,) = await world.app.agents.sessions("buddy")
    assert session.hitl == "pending_confirm"
    assert await fire(world, "s", "book") == ("canceled_hitl", "hitl_pending_confirm")
    await chat.say("perhaps")
    await chat.say("Sim!")
    assert answers == [True]
    assert outbox.texts == ["Book it?", "Please answer yes or no."]
    names = [event.name for event in await events(world, "hitl")]
    assert names == ["hitl:confirm_requested", "hitl:confirm_resolved"]
    prepared = [event.data for event in await events(world, "response") if event.name == "response:prepared"]
    assert prepared[0]["hitl"] == "pending_confirm"


async def test_a_scheduled_turn_is_never_taken_for_an_answer(world: World) -> None:
    agent, outbox = make_buddy(world)
    answers: list[str] = []

    @agent.flow
    async def checkin(ctx: FlowContext) -> None:
        answers.append(await ctx.ask("Well?"))

    @agent.flow
    async def remind(ctx: FlowContext) -> None:
        await ctx.say("Drink.")

    route_by_name(agent)
    chat = Chat(world)
    await chat.say("checkin")
    assert await fire(world, "1", "remind") == ("skipped", "flow_active")
    assert await fire(world, "2", "remind", on_active_flow="defer") == ("waiting", None)
    await chat.say("fine")
    assert answers == ["fine"]
    assert outbox.texts == ["Well?", "Drink."]
    assert await fire(world, "2", "remind", on_active_flow="defer") == ("success", None)
    await chat.say("checkin")
    assert await fire(world, "3", "remind", on_active_flow="replace") == ("success", None)
    (session,) = await world.app.agents.sessions("buddy")
    assert session.flow is None


async def test_flows_hand_over_end_call_tools_and_sleep(world: World) -> None:
    agent, outbox = make_buddy(world, "meanwhile")
    calls: list[str] = []

    @agent.tool
    def note(text: str) -> str:
        calls.append(text)
        return text.upper()

    @agent.flow
    async def first(ctx: FlowContext) -> None:
        await ctx.say(await ctx.tool("note", text="milk"))
        await ctx.sleep("1h")
        ctx.handoff("second", {"name": "Ada"})

    @agent.flow
    async def second(ctx: FlowContext, name: str) -> None:
        await ctx.say(f"Bye {name}")
        ctx.end_session("done")
        ctx.end("enough")

    route_by_name(agent)
    chat = Chat(world)
    await chat.say("first")
    await chat.say("are you there?")
    assert outbox.texts == ["MILK", "meanwhile"]
    await world.advance("2h")
    assert outbox.texts == ["MILK", "meanwhile", "Bye Ada"]
    assert calls == ["milk"]
    (session,) = await world.app.agents.sessions("buddy")
    assert (session.status, session.reason) == ("ended", "done")


class Odd(BaseException):
    pass


@pytest.mark.parametrize("kind", [ValueError, SystemExit, KeyboardInterrupt, asyncio.CancelledError, Odd])
async def test_a_flow_that_raises_is_over_and_the_user_gets_the_fallback(
    world: World, kind: type[BaseException]
) -> None:
    agent, outbox = make_buddy(world, "hello", fallback="Sorry.")

    @agent.flow
    async def broken(ctx: FlowContext) -> None:
        await ctx.ask("Number?")
        raise kind("no")

    route_by_name(agent)
    chat = Chat(world)
    await chat.say("broken")
    outcome, reason = await chat.say("1")
    assert outcome == "failed"
    assert f"{kind.__name__}: no" in (reason or "")
    await chat.say("hi")
    assert outbox.texts == ["Number?", "Sorry.", "hello"]
    assert [event.name for event in await events(world, "flow") if event.name == "flow:failed"] == ["flow:failed"]


async def test_a_hook_sees_answers_before_the_flow_and_may_take_its_place(world: World) -> None:
    agent, outbox = make_buddy(world)

    @agent.before_llm
    def stop(hook_input: BeforeLLMInput) -> RouteFlow | None:
        return RouteFlow("goodbye") if hook_input.turn.text == "ENOUGH" else None

    @agent.flow
    async def checkin(ctx: FlowContext) -> None:
        while True:
            await ctx.ask("More?")

    @agent.flow
    async def goodbye(ctx: FlowContext) -> None:
        await ctx.say("Bye.")

    route_by_name(agent)
    chat = Chat(world)
    await chat.say("checkin")
    await chat.say("a")
    assert await chat.say("ENOUGH") == ("success", None)
    assert outbox.texts == ["More?", "More?", "Bye."]


async def test_a_session_goes_on_with_the_version_of_the_flow_that_it_began(world: World) -> None:
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
    agent.flow(new, name="greet", version=2)
    await world.up()
    await chat.say("x")
    await chat.say("greet")
    assert outbox.texts == ["old?", "old", "new"]


async def test_a_crash_in_a_flow_repeats_nothing_that_was_said(world: World) -> None:
    agent, outbox = make_buddy(world)

    @agent.flow
    async def talk(ctx: FlowContext) -> None:
        for number in range(3):
            await ctx.say(f"line {number}")
        await ctx.ask("ok?")
        await ctx.say("good")

    route_by_name(agent)
    world.app.configure(lease="1m")
    chat = Chat(world)
    await chat.say("talk")
    await world.crash()
    await world.up()
    await world.advance("3m")
    await chat.say("yes")
    assert outbox.texts == ["line 0", "line 1", "line 2", "ok?", "good"]
