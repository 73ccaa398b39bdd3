"""Turns that schedules start, on both stores. The numbers are those of the checklist for scheduled flows."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato.flows import (
    BeforeLLMInput,
    BeforeResponseInput,
    Cancel,
    FlowContext,
    Replace,
    ResponseMeta,
    SkipLLM,
    ToolContext,
    TurnInput,
)
from ostinato.testing import World
from tests.support.agents import Chat, events, make_buddy

OCCURRENCE = {
    "schedule_id": "s-1",
    "trigger_type": "cron",
    "scheduled_for": 1_767_225_600_000_000,
    "run_attempt": 2,
    "campaign_id": "c-1",
    "segment_id": "vip",
}


async def fire(world: World, key: str, user: str = "ada", **more: Any) -> tuple[str, str | None]:
    turn_input = TurnInput(user=user, source="scheduled", key=key, bootstrap=True, **{**OCCURRENCE, **more})
    turn = await world.app.agents.run_turn("buddy", turn_input)
    await world.settle()
    outcome = await turn.outcome("1s")
    return outcome.outcome.value, outcome.reason


async def add_user(world: World, *names: str) -> None:
    await world.up()
    for name in names or ("ada",):
        await world.app.agents.put_user("buddy", name)


def boss(world: World) -> Any:
    return world.app.within("default", "boss").agents


async def test_29_a_scheduled_run_is_a_turn_with_its_occurrence(world: World) -> None:
    agent, _ = make_buddy(world)
    seen: list[dict[str, Any]] = []

    @agent.flow
    async def remind(ctx: FlowContext) -> None:
        seen.append({**ctx.trigger, "source": ctx.source})

    await add_user(world)
    assert await fire(world, "1", flow="remind", metadata={"note": "x"}) == ("success", None)
    assert seen == [{**OCCURRENCE, "note": "x", "source": "scheduled"}]
    (session,) = await world.app.agents.sessions("buddy")
    (turn,) = await world.app.agents.turns(session.id)
    assert (turn.source, turn.metadata["schedule_id"], turn.metadata["run_attempt"]) == ("scheduled", "s-1", 2)


async def test_30_it_takes_the_same_way_and_its_events_have_the_recipient(world: World) -> None:
    make_buddy(world, "hello", "hello")
    await add_user(world)
    await fire(world, "1", flow="classic")
    scheduled = await events(world, "flow", "response")
    await Chat(world).say("hi")
    both = await events(world, "flow", "response")
    of_turn = [event for event in scheduled if event.name not in ("flow:user_changed", "flow:session_started")]
    assert [event.name for event in both[len(scheduled) :]] == [event.name for event in of_turn]
    user = await world.app.agents.user("buddy", "ada")
    assert all(OCCURRENCE.items() <= event.data.items() for event in of_turn)
    assert {event.data["user_id"] for event in of_turn} == {user.id}


async def test_31_the_order_of_stages_holds_and_a_slash_is_no_command(world: World) -> None:
    agent, outbox = make_buddy(world, "the model")
    stages: list[str] = []

    @agent.command
    def ping(ctx: ToolContext, rest: str) -> str:
        stages.append("command")
        return "pong"

    agent.before_llm(lambda hook_input: stages.append("before_llm"))
    agent.router(lambda hook_input: stages.append("router"))
    agent.before_response(lambda response: stages.append("before_response"))
    agent.on_response(lambda structured, ctx, meta: stages.append("on_response"))
    real = outbox.send

    async def send(message: Any, egress: Any) -> str | None:
        stages.append("send")
        return await real(message, egress)

    outbox.send = send  # type: ignore[method-assign]
    await add_user(world)
    await fire(world, "1", flow="classic", text="/ping")
    assert stages == ["before_llm", "before_response", "send", "on_response"]
    assert outbox.texts == ["the model"]


@pytest.mark.parametrize("flow", ["classic", "remind"])
async def test_32_all_hooks_run_for_scheduled_turns(world: World, flow: str) -> None:
    agent, _ = make_buddy(world, "hello")
    metas: list[ResponseMeta] = []
    sources: list[str] = []

    @agent.flow
    async def remind(ctx: FlowContext) -> None:
        await ctx.say("drink")

    @agent.before_llm
    def before(hook_input: BeforeLLMInput) -> None:
        sources.append(hook_input.turn.source)

    @agent.before_response
    def after(response: BeforeResponseInput) -> None:
        sources.append(response.turn.source)

    agent.on_response(lambda structured, ctx, meta: metas.append(meta))
    await add_user(world)
    await fire(world, "1", flow=flow)
    assert sources == ["scheduled", "scheduled"]
    producer = "classic" if flow == "classic" else "flow"
    assert [(meta.source, meta.producer, meta.turn_source) for meta in metas] == [("scheduled", producer, "scheduled")]
    assert metas[0].metadata["schedule_id"] == "s-1"


async def test_33_skip_llm_calls_no_model_for_a_scheduled_turn(world: World) -> None:
    agent, outbox = make_buddy(world, "never")
    agent.before_llm(lambda hook_input: SkipLLM("from the hook"))
    await add_user(world)
    assert await fire(world, "1", flow="classic") == ("success", None)
    assert outbox.texts == ["from the hook"]
    assert agent.settings.model.requests == []  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("result", "outcome", "said"),
    [(Cancel("quiet"), ("success", "policy_cancel"), []), (Replace("better"), ("success", None), ["better"])],
)
async def test_34_responses_of_scheduled_turns_are_canceled_and_replaced(
    world: World, result: Any, outcome: Any, said: list[str]
) -> None:
    agent, outbox = make_buddy(world, "draft")
    agent.before_response(lambda response: result)
    await add_user(world)
    assert await fire(world, "1", flow="classic") == outcome
    assert outbox.texts == said


@pytest.mark.parametrize("stage", ["before_llm", "before_response", "on_response"])
async def test_35_a_hook_that_fails_is_as_none_and_the_event_names_the_stage(world: World, stage: str) -> None:
    agent, outbox = make_buddy(world, "hello")

    def broken(*arguments: Any) -> None:
        raise ValueError("no")

    getattr(agent, stage)(broken)
    await add_user(world)
    assert await fire(world, "1", flow="classic") == ("success", None)
    assert outbox.texts == ["hello"]
    failed = [event.data for event in await events(world, "response") if event.name == "response:failed"]
    assert [(data["stage"], data["schedule_id"]) for data in failed] == [(stage, "s-1")]


@pytest.mark.parametrize("state", ["pending_confirm", "pending_admin_resolution", "live_takeover", "proxy"])
async def test_36_38_people_in_the_loop_cancel_the_occurrence_and_only_that(world: World, state: str) -> None:
    agent, outbox = make_buddy(world, "later", admins=["boss"])

    @agent.flow
    async def busy(ctx: FlowContext) -> None:
        if state == "pending_confirm":
            await ctx.confirm("Sure?")
        elif state == "proxy":
            await (await ctx.proxy("Talk", to="boss@chat")).receive()
        else:
            mode: Any = "async_resolution" if state == "pending_admin_resolution" else "live_takeover"
            await ctx.escalate("Well?", mode=mode)

    @agent.flow
    async def remind(ctx: FlowContext) -> None:
        await ctx.say("drink")

    agent.router(lambda hook_input: "busy" if hook_input.turn.text == "busy" else None)
    chat = Chat(world)
    await chat.say("busy")
    before = len(outbox.sent)
    assert await fire(world, "1", flow="remind") == ("canceled_hitl", f"hitl_{state}")  # 36
    (canceled,) = [event for event in await events(world, "flow") if event.name == "flow:turn_canceled_hitl"]  # 37
    assert (canceled.data["schedule_id"], canceled.data["hitl"]) == ("s-1", state)
    (session,) = await world.app.agents.sessions("buddy")
    await world.app.agents.end_session(session.id)
    await world.advance("1d")
    assert len(outbox.sent) == before  # 38: it is not made up for
    assert await fire(world, "1", flow="remind") == ("canceled_hitl", f"hitl_{state}")
    assert await fire(world, "2", flow="remind") == ("success", None)  # the next one is not affected


async def test_39_people_in_the_loop_of_one_recipient_do_not_concern_the_others(world: World) -> None:
    agent, outbox = make_buddy(world, "hello", admins=["boss"])

    @agent.flow
    async def remind(ctx: FlowContext) -> None:
        await ctx.say("drink")

    await Chat(world).say("hi")
    await boss(world).take_over("buddy", "ada")
    await add_user(world, "bob", "eve")
    outcomes = [await fire(world, "1", user, flow="remind") for user in ("ada", "bob", "eve")]
    assert outcomes == [("canceled_hitl", "hitl_live_takeover"), ("success", None), ("success", None)]
    assert [message.user for message in outbox.sent] == ["ada", "bob", "eve"]


async def test_77_commands_come_before_hooks_and_a_flow_that_waits(world: World) -> None:
    agent, outbox = make_buddy(world)
    seen: list[str | None] = []
    agent.before_llm(lambda hook_input: seen.append(hook_input.turn.text))

    @agent.command
    def ping(ctx: ToolContext, rest: str) -> str:
        return "pong"

    @agent.flow
    async def ask(ctx: FlowContext) -> None:
        await ctx.say(f"got {await ctx.ask('Well?')}")

    agent.router(lambda hook_input: "ask")
    chat = Chat(world)
    for text in ("begin", "/ping", "fine"):
        await chat.say(text)
    assert seen == ["begin", "fine"]
    assert outbox.texts == ["Well?", "pong", "got fine"]


async def test_78_a_router_chooses_a_flow_and_nothing_else(world: World) -> None:
    agent, outbox = make_buddy(world, "the model", "the model")
    answers: list[Any] = ["nothing", {"hitl": "live_takeover"}]
    agent.router(lambda hook_input: answers.pop(0))
    chat = Chat(world)
    assert [await chat.say("a"), await chat.say("b")] == [("success", None)] * 2
    assert outbox.texts == ["the model", "the model"]
    (session,) = await world.app.agents.sessions("buddy")
    assert (session.hitl, session.takeover, session.flow) == ("none", None, None)


async def test_79_hooks_cover_the_model_flows_and_schedules(world: World) -> None:
    agent, _ = make_buddy(world, "classic")
    seen: list[tuple[str, str]] = []

    @agent.flow
    async def remind(ctx: FlowContext) -> None:
        await ctx.say("flow")

    agent.before_response(lambda response: seen.append((response.turn.source, response.producer)))
    agent.router(lambda hook_input: hook_input.turn.text)
    chat = Chat(world)
    await chat.say("classic")
    await chat.say("remind")
    await fire(world, "1", flow="remind")
    assert seen == [("inbound", "classic"), ("inbound", "flow"), ("scheduled", "flow")]


@pytest.mark.parametrize("answer", ['{"mood": "good"}', '{"reply": ""}', '{"reply": 5}', "[]", "no JSON"])
async def test_80_a_structured_answer_needs_a_reply(world: World, answer: str) -> None:
    _, outbox = make_buddy(world, answer, structured=True)
    assert await Chat(world).say("hi") == ("failed", "no_reply")
    assert outbox.sent == []


async def test_81_on_response_comes_after_the_message_was_sent_and_stored(world: World) -> None:
    agent, outbox = make_buddy(world, "hello")
    seen: list[Any] = []

    @agent.on_response
    async def done(structured: Any, ctx: ToolContext, meta: ResponseMeta) -> None:
        stored = await world.app.agents.messages(meta.session_id)
        seen.append((outbox.texts, [message.text for message in stored], structured, meta.delivery))

    await Chat(world).say("hi")
    assert seen == [(["hello"], ["hello", "hi"], {"reply": "hello"}, "sent")]


async def test_82_the_state_of_people_is_in_the_metadata_of_responses(world: World) -> None:
    agent, _ = make_buddy(world, admins=["boss"])
    states: list[tuple[str, bool]] = []
    agent.on_response(lambda structured, ctx, meta: states.append((meta.hitl_state, meta.escalation_id is not None)))

    @agent.flow
    async def book(ctx: FlowContext) -> None:
        await ctx.say("none")
        await ctx.confirm("Sure?")
        await ctx.say("resolved")
        await ctx.escalate("Well?", meanwhile="ack", ack="A person looks at it.", timeout="1h")
        await ctx.say("timed out")

    agent.router(lambda hook_input: "book")
    chat = Chat(world)
    for text in ("book", "yes", "hello?"):
        await chat.say(text)
    await world.advance("2h")
    assert states == [
        ("none", False),
        ("pending_confirm", False),
        ("resolved", False),
        ("pending_admin_resolution", True),
        ("timed_out", True),
    ]
    sent = [event.data["hitl"] for event in await events(world, "response") if event.name == "response:sent"]
    assert sent == [state for state, _ in states]
