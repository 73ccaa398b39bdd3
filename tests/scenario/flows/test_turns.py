"""Turns from every source, on both stores: one way in, the stages in order, hooks, sessions, delivery."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from typing import Any

import pytest

from ostinato import Conflict, NotFound, OstinatoError
from ostinato.flows import (
    BeforeLLMInput,
    BeforeResponseInput,
    Cancel,
    End,
    FlowContext,
    ModelReply,
    NotSent,
    Replace,
    ResponseMeta,
    RouteFlow,
    SkipLLM,
    ToolCall,
    ToolContext,
    TurnInput,
    within_window,
)
from ostinato.flows.model import FlowOutcome
from ostinato.flows.store import statement
from ostinato.flows.views import SessionInfo
from ostinato.functions.errors import MailboxFull
from ostinato.store.contract import single
from ostinato.testing import World
from tests.support.agents import Chat, Outbox, events, fire, make_buddy, route_by_name


async def names_of(world: World, *subjects: str) -> list[str]:
    return [event.name for event in await events(world, *subjects)]


async def test_a_message_is_answered_by_the_model_with_what_was_said_before(world: World) -> None:
    agent, outbox = make_buddy(world, ModelReply("hello", tokens_in=10, tokens_out=2), "again", prompt="Be kind.")
    chat = Chat(world)
    assert await chat.say("hi") == ("success", None)
    assert await chat.say("and now?") == ("success", None)
    assert outbox.texts == ["hello", "again"]
    request = agent.settings.model.requests[1]  # type: ignore[union-attr]
    assert [(one["role"], one["content"]) for one in request.messages] == [
        ("system", "Be kind."),
        ("user", "hi"),
        ("assistant", "hello"),
        ("user", "and now?"),
    ]
    (session,) = await world.app.agents.sessions("buddy", user="ada")
    turns = await world.app.agents.turns(session.id)
    assert [(turn.tokens_in, turn.tokens_out, turn.producer, turn.model_calls) for turn in turns] == [
        (0, 0, "classic", 1),
        (10, 2, "classic", 1),
    ]
    names = [event.name for event in await events(world, "response", "flow")]
    assert names[:6] == [
        "flow:session_started",
        "flow:turn_accepted",
        "response:prepared",
        "response:sent",
        "response:persisted",
        "flow:turn_succeeded",
    ]


async def test_the_same_message_is_handled_once(world: World) -> None:
    _, outbox = make_buddy(world, "one", "two")
    await world.up()
    agents = world.app.agents
    turns = await asyncio.gather(*(agents.receive("buddy", "ada", "hi", id="m1") for _ in range(5)))
    await world.settle()
    assert len({turn.id for turn in turns}) == 1
    assert sum(turn.new for turn in turns) == 1
    assert outbox.texts == ["one"]
    await Chat(world, "bob").say("hi", id="m1")  # of another user
    assert outbox.texts == ["one", "two"]


async def test_turns_of_a_session_come_one_after_the_other(world: World) -> None:
    agent, outbox = make_buddy(world, "a", "b", "c")
    working: list[int] = []

    @agent.before_llm
    async def slow(hook_input: BeforeLLMInput) -> None:
        working.append(len(working))
        await asyncio.sleep(2)
        working.pop()
        assert not working

    await world.up()
    for number in range(3):
        await world.app.agents.receive("buddy", "ada", f"m{number}", id=f"m{number}")
    await world.advance("10s")
    assert outbox.texts == ["a", "b", "c"]


async def test_hooks_decide_and_a_hook_that_raises_counts_as_none(world: World) -> None:
    agent, outbox = make_buddy(world, "draft")
    metas: list[ResponseMeta] = []

    @agent.before_llm
    def before(hook_input: BeforeLLMInput) -> Any:
        return {
            "skip": SkipLLM("from the hook"),
            "silent": SkipLLM(reason="nothing to say"),
            "end": End("enough"),
            "flow": RouteFlow("hello", {"name": "Ada"}),
        }.get(hook_input.turn.text or "") or (1 / 0 if hook_input.turn.text == "raise" else None)

    @agent.before_response
    async def after(response: BeforeResponseInput) -> Any:
        if response.reply == "draft":
            return Replace("better")
        return Cancel("no") if response.reply == "hello Eve" else None

    @agent.on_response
    def done(structured: Any, ctx: Any, meta: ResponseMeta) -> None:
        metas.append(meta)

    @agent.flow
    async def hello(ctx: Any, name: str) -> None:
        await ctx.say(f"hello {name}")

    chat = Chat(world)
    assert await chat.say("skip") == ("success", None)
    assert await chat.say("silent") == ("success", "nothing to say")
    assert await chat.say("end") == ("skipped", "enough")
    assert await chat.say("flow") == ("success", None)
    assert await chat.say("raise") == ("success", None)
    assert outbox.texts == ["from the hook", "hello Ada", "better"]
    assert [(meta.source, meta.before_llm, meta.before_response) for meta in metas] == [
        ("short_circuit", "skip_llm", "continue"),
        ("flow", "route_flow", "continue"),
        ("classic", "continue", "replace"),
    ]
    failed = [event.data for event in await events(world, "response") if event.name == "response:failed"]
    assert [(data["stage"], data["reason"]) for data in failed] == [
        ("before_llm", "ZeroDivisionError: division by zero")
    ]


async def test_a_canceled_response_is_a_success_that_delivered_nothing(world: World) -> None:
    agent, outbox = make_buddy(world, "draft")
    agent.before_response(lambda response: Cancel("quiet"))
    assert await Chat(world).say("hi") == ("success", "policy_cancel")
    assert outbox.sent == []


async def test_commands_come_first_and_those_of_admins_do_not_exist_for_others(world: World) -> None:
    agent, outbox = make_buddy(world, "the model", admins=["root"])

    @agent.command
    def ping(ctx: ToolContext, rest: str) -> str:
        return f"pong {rest} {ctx.user.external_id}"

    @agent.command(access="admin")
    def wipe(ctx: ToolContext, rest: str) -> str:
        return "wiped"

    await Chat(world).say("/ping now")
    await Chat(world, "root").say("/wipe")
    assert outbox.texts == ["pong now ada", "wiped"]
    await Chat(world).say("/wipe", id="x")
    assert outbox.texts[2:] == ["the model"]
    assert [event.data["action"] for event in await events(world, "hitl")] == ["command.wipe"]


async def test_the_model_calls_tools_for_the_user_of_the_session_only(world: World) -> None:
    calls: list[tuple[str, str]] = []
    forged = ModelReply(tool_calls=[ToolCall("1", "note", {"text": "x", "user": "eve"})])
    good = ModelReply(tool_calls=[ToolCall("2", "note", {"text": "milk"}), ToolCall("3", "nothing", {})])
    agent, _ = make_buddy(world, forged, good, "noted")

    @agent.tool
    async def note(ctx: ToolContext, text: str) -> dict[str, str]:
        """Keep a note."""
        calls.append((ctx.user.external_id, text))
        return {"kept": text}

    assert await Chat(world).say("note milk") == ("success", None)
    assert calls == [("ada", "milk")]
    requests = agent.settings.model.requests  # type: ignore[union-attr]
    results = [message["content"] for message in requests[2].messages if message["role"] == "tool"]
    assert "user: there is no such argument; there is text" in results[0]
    assert results[1] == '{"kept":"milk"}'
    assert "there is no tool" in results[2]
    assert requests[0].tools[0]["name"] == "note"
    assert list(requests[0].tools[0]["parameters"]["properties"]) == ["text"]


async def test_a_turn_that_fails_apologises_only_to_users_who_wait(world: World) -> None:
    _, outbox = make_buddy(world, RuntimeError("boom"), "hello", RuntimeError("boom"), fallback="Sorry.", model_retry=1)
    chat = Chat(world)
    outcome = await chat.say("hi")
    assert outcome == ("failed", "RuntimeError: boom")
    assert outbox.texts == ["Sorry."]
    await chat.say("hi again")
    turn = await world.app.agents.run_turn("buddy", TurnInput(user="ada", source="scheduled", key="s1"))
    await world.settle()
    assert (await turn.outcome()).outcome == "failed"
    assert outbox.texts == ["Sorry.", "hello"]


async def test_a_scheduled_turn_needs_a_user_and_a_session(world: World) -> None:
    agent, outbox = make_buddy(world, "hello")

    @agent.flow
    async def remind(ctx: Any, what: str) -> None:
        await ctx.say(f"{what} {ctx.trigger['schedule_id']} {ctx.source}")

    await world.up()

    async def fire(key: str, **more: Any) -> tuple[str, str | None]:
        turn_input = TurnInput(
            user="ada", source="scheduled", key=key, flow="remind", input={"what": "milk"}, schedule_id="s-1", **more
        )
        turn = await world.app.agents.run_turn("buddy", turn_input)
        await world.settle()
        outcome = await turn.outcome("1s")
        return outcome.outcome.value, outcome.reason

    assert await fire("1", bootstrap=True) == ("skipped", "unknown_user")
    await world.app.agents.put_user("buddy", "ada", address="ada@chat", tags=["vip"])
    assert await fire("2") == ("skipped", "bootstrap_disabled")
    assert await fire("3", bootstrap=True) == ("success", None)
    assert await fire("3", bootstrap=True) == ("success", None)
    assert [(message.text, message.address) for message in outbox.sent] == [("milk s-1 scheduled", "ada@chat")]
    assert await fire("4") == ("success", None)  # the session is active
    await world.advance("20m")
    assert await fire("5") == ("skipped", "bootstrap_disabled")  # it is idle
    assert (await world.app.agents.user("buddy", "ada")).active is None
    sent = [event.data["schedule_id"] for event in await events(world, "response") if event.name == "response:sent"]
    assert sent == ["s-1", "s-1"]


async def test_a_session_becomes_idle_and_ends_without_another_message(world: World) -> None:
    make_buddy(world, "a", "b", "c", idle="15m", end_after="1d")
    chat = Chat(world)
    await chat.say("hi")
    (first,) = await world.app.agents.sessions("buddy")
    assert first.status == "active"
    await world.advance("16m")
    assert (await world.app.agents.session(first.id)).status == "idle"
    await chat.say("hi")
    assert (await world.app.agents.session(first.id)).status == "active"
    await world.advance("25h")
    ended = await world.app.agents.session(first.id)
    assert (ended.status, ended.reason) == ("ended", "idle")
    await chat.say("hi")
    assert len(await world.app.agents.sessions("buddy", user="ada")) == 2
    assert [run.status for run in await world.app.functions.list(name="agent/buddy")] == ["waiting", "succeeded"]


async def test_a_session_whose_run_was_stopped_is_replaced(world: World) -> None:
    _, outbox = make_buddy(world, "a", "b")
    chat = Chat(world)
    await chat.say("hi")
    (session,) = await world.app.agents.sessions("buddy")
    await world.app.functions.terminate(session.run_id)
    await chat.say("still there?")
    assert outbox.texts == ["a", "b"]
    lost = await world.app.agents.session(session.id)
    assert (lost.status, lost.reason) == ("ended", "lost")


async def test_a_session_that_is_cancelled_before_its_code_ran_is_canceled(world: World) -> None:
    world.app.configure(queues=["default"])
    make_buddy(world, queue="elsewhere")
    await world.up()
    turn = await world.app.agents.receive("buddy", "ada", "hi", id="1")
    (session,) = await world.app.agents.sessions("buddy")
    await world.app.functions.cancel(session.run_id)
    await world.advance("5s")
    canceled = await world.app.agents.session(session.id)
    assert (canceled.status, canceled.reason) == ("ended", "canceled")
    view = await world.app.agents.turn(turn.id)
    assert (view.outcome, view.reason) == ("failed", "session_canceled")


async def test_a_message_to_a_session_whose_run_was_cancelled_ends_it_as_canceled(world: World) -> None:
    """The message comes before any node has looked for sessions whose run is over."""
    world.app.configure(queues=["default"])
    make_buddy(world, queue="elsewhere")
    await world.up()
    await world.app.agents.receive("buddy", "ada", "hi", id="1")
    (session,) = await world.app.agents.sessions("buddy")
    await world.app.functions.cancel(session.run_id)
    await world.app.agents.receive("buddy", "ada", "still there?", id="2")
    assert (await world.app.agents.session(session.id)).reason == "canceled"
    assert len(await world.app.agents.sessions("buddy", user="ada")) == 2


async def test_a_cancelled_session_ends(world: World) -> None:
    make_buddy(world, "a")
    await Chat(world).say("hi")
    (session,) = await world.app.agents.sessions("buddy")
    await world.app.functions.cancel(session.run_id)
    await world.settle()
    assert (await world.app.agents.session(session.id)).reason == "canceled"


async def test_an_unknown_delivery_is_recorded_and_not_repeated(world: World) -> None:
    _, outbox = make_buddy(world, "hello")
    outbox.trouble = [ConnectionResetError("in the middle")]
    assert await Chat(world).say("hi") == ("failed", "delivery_unknown")
    await world.advance("1d")
    assert outbox.sent == []
    failed = [event.data for event in await events(world, "response") if event.name == "response:failed"]
    assert [(data["stage"], data["delivery"]) for data in failed] == [("dispatch", "unknown")]


async def test_a_message_that_was_surely_not_sent_is_sent_again(world: World) -> None:
    _, outbox = make_buddy(world, "hello")
    outbox.trouble = [NotSent("busy"), NotSent("busy")]
    await world.up()
    await world.app.agents.receive("buddy", "ada", "hi", id="1")
    await world.advance("1m")
    assert outbox.texts == ["hello"]


async def test_a_transport_that_recognises_keys_gets_the_same_key_again(world: World) -> None:
    _, outbox = make_buddy(world, "hello", outbox=Outbox(idempotent=True))
    outbox.trouble = [ConnectionResetError("in the middle")]
    await world.up()
    turn = await world.app.agents.receive("buddy", "ada", "hi", id="1")
    await world.advance("1m")
    assert [message.key for message in outbox.sent] == [f"{turn.id}_0"]


@pytest.mark.parametrize(
    ("id", "kept"), [(5, "5"), ("x", "x"), (None, None), (True, None), ("a\0", None), ({"id": 5}, None), (b"5", None)]
)
async def test_whatever_id_a_transport_returns_the_message_was_sent(world: World, id: Any, kept: str | None) -> None:
    class Odd(Outbox):
        async def send(self, message: Any, egress: Any) -> Any:
            await super().send(message, egress)
            return id

    _, outbox = make_buddy(world, "hello", outbox=Odd(), fallback="Sorry.")
    await world.up()
    turn = await world.app.agents.receive("buddy", "ada", "hi", id="1")
    await world.settle()
    assert (await turn.outcome("1s")).outcome == "success"
    assert outbox.texts == ["hello"]
    rows = await world.app.store.read(lambda _: single(statement("outgoing_by_key", key=f"{turn.id}_0")))
    assert [row[11] for row in rows] == [kept]


async def test_a_crash_while_a_message_is_sent_leaves_it_unknown(world: World) -> None:
    class Hanging(Outbox):
        async def send(self, message: Any, egress: Any) -> str | None:
            await super().send(message, egress)
            await asyncio.sleep(30)
            return None

    _, outbox = make_buddy(world, "hello", "again", outbox=Hanging())
    world.app.configure(lease="1m")
    await world.up()
    turn = await world.app.agents.receive("buddy", "ada", "hi", id="1")
    await world.advance("5s")
    await world.crash()
    await world.up()
    await world.advance("5m")
    outcome = await turn.outcome("1s")
    assert (outcome.outcome, outcome.reason) == ("failed", "delivery_unknown")
    assert outbox.texts == ["hello"]


async def test_a_crash_while_the_model_thinks_asks_it_again_and_answers_once(world: World) -> None:
    thoughts: list[str] = []

    class Slow:
        async def complete(self, request: Any, egress: Any) -> ModelReply:
            thoughts.append("thinking")
            if len(thoughts) == 1:
                await asyncio.sleep(20)
            return ModelReply("hello")

    outbox = Outbox()
    world.app.agent("buddy", tz="UTC", model=Slow(), transport=outbox)
    world.app.configure(lease="1m")
    await world.up()
    turn = await world.app.agents.receive("buddy", "ada", "hi", id="1")
    await world.advance("5s")
    await world.crash()
    await world.up()
    await world.advance("5m")
    assert (await turn.outcome("1s")).outcome == "success"
    assert (outbox.texts, len(thoughts)) == (["hello"], 2)


async def test_the_window_of_a_channel_is_a_hook(world: World) -> None:
    agent, outbox = make_buddy(world, "hello", "late", end_after="3d")
    agent.before_response(within_window(24, template="We have news."))
    chat = Chat(world)
    await chat.say("hi")
    await world.advance("25h")
    turn_input = TurnInput(user="ada", source="scheduled", key="1", flow="classic", bootstrap=True)
    await world.app.agents.run_turn("buddy", turn_input)
    await world.settle()
    assert outbox.texts == ["hello", "We have news."]
    user = await world.app.agents.user("buddy", "ada")
    assert user.active is not None
    assert world.now - user.active > timedelta(hours=24)


async def test_a_turn_can_be_a_run_that_returns_its_outcome(world: World) -> None:
    agent, _ = make_buddy(world, "hello")

    @agent.flow
    async def remind(ctx: Any) -> None:
        await ctx.ask("Did you drink?")

    await world.up()
    await world.app.agents.put_user("buddy", "ada")
    turn = {"user": "ada", "source": "scheduled", "key": "o-1", "flow": "remind", "bootstrap": True}
    run = await world.app.functions.start("agent-turn", {"agent": "buddy", "turn": turn}, id="o-1")
    await world.settle()
    outcome = await run.result("1s")
    assert (outcome["outcome"], outcome["reason"], outcome["delivered"]) == ("success", "flow_waiting", 1)
    bad = await world.app.functions.start("agent-turn", {"agent": "buddy", "turn": {**turn, "segment": "all"}})
    await world.settle()
    with pytest.raises(Exception, match="a turn has no 'segment'"):
        await bad.result("1s")


async def test_bad_input_is_refused_at_the_door(world: World) -> None:
    agent, _ = make_buddy(world, "hello")
    await world.up()
    agents = world.app.agents
    with pytest.raises(NotFound, match="there is no agent 'budy'; did you mean 'buddy'"):
        await agents.receive("budy", "ada", "hi", id="1")
    with pytest.raises(OstinatoError, match="the turn's text"):
        await agents.receive("buddy", "ada", "", id="1")
    with pytest.raises(NotFound, match="has no flow 'x'"):
        await agents.run_turn("buddy", TurnInput(user="ada", source="scheduled", key="1", flow="x"))
    with pytest.raises(OstinatoError, match="consent 'maybe' is none of unknown, opted_in, opted_out"):
        await agents.put_user("buddy", "ada", consent="maybe")
    with pytest.raises(OstinatoError, match="tz 'Mars' is not a time zone"):
        await agents.put_user("buddy", "ada", tz="Mars")
    with pytest.raises(OstinatoError, match="two agents called 'buddy'"):
        make_buddy(world)
    with pytest.raises(OstinatoError, match="is not async"):
        agent.flow(lambda ctx: None, name="plain")


async def test_a_message_that_comes_while_no_node_runs_waits_for_one(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    _, outbox = make_buddy(world, "a", "b", idle="15m", end_after="1d")
    await Chat(world).say("hi")
    await world.down()
    await asyncio.sleep(2 * 86_400)  # the session is overdue, and nobody has ended it
    async with world.app.connected():
        turn = await world.app.agents.receive("buddy", "ada", "anybody?", id="late")
        with pytest.raises(
            TimeoutError, match=r"is not over within 1s; its session: .*no node is running on this store"
        ):
            await turn.outcome("1s")
        assert f"waiting for turn {turn.id}, and no node is running on this store; start one" in caplog.text
    await world.up()
    await world.settle()
    assert (await turn.outcome("1s")).outcome == "success"
    assert outbox.texts == ["a", "b"]


async def test_a_user_is_deleted_with_all_that_was_said(world: World) -> None:
    make_buddy(world, "a")
    await Chat(world).say("hi")
    agents = world.app.agents
    (session,) = await agents.sessions("buddy")
    with pytest.raises(Conflict, match="has an open session"):
        await agents.delete_user("buddy", "ada")
    await agents.end_session(session.id)
    await world.settle()
    await agents.delete_user("buddy", "ada")
    assert await agents.users("buddy") == []
    with pytest.raises(NotFound):
        await agents.messages(session.id)


async def test_users_of_other_namespaces_and_agents_are_others(world: World) -> None:
    _, outbox = make_buddy(world, "a", "b")
    await Chat(world).say("hi")
    await world.app.create_namespace("other")
    other = world.app.within("other").agents
    with pytest.raises(NotFound):
        await other.user("buddy", "ada")
    (session,) = await world.app.agents.sessions("buddy")
    with pytest.raises(NotFound):
        await other.session(session.id)
    await other.receive("buddy", "ada", "hi", id="1")
    await world.settle()
    assert outbox.texts == ["a", "b"]
    assert len(await other.sessions("buddy")) == 1


async def test_users_have_tags_zones_and_consent(world: World) -> None:
    make_buddy(world)
    await world.up()
    agents = world.app.agents
    for number in range(3):
        await agents.put_user("buddy", f"u{number}", tags=["vip", "new"] if number else [], tz="Asia/Tokyo")
    await agents.put_user("buddy", "u1", consent="opted_out", tags=["vip"], data={"plan": "pro"})
    user = await agents.user("buddy", "u1")
    assert (user.consent, user.consent_at, user.tags, user.tz) == ("opted_out", world.now, ("vip",), "Asia/Tokyo")
    assert [found.external_id for found in await agents.users("buddy", tag="vip")] == ["u1", "u2"]
    assert [found.external_id for found in await agents.users("buddy", after="u0", limit=1)] == ["u1"]


# Sessions whose runs have ended without them


async def campaign_session(world: World) -> SessionInfo:
    """The session of ada, which a campaign without a flow has opened: no code of its run has begun."""
    await world.app.agents.put_user("buddy", "ada")
    campaigns = world.app.agents.campaigns("buddy")
    await (await campaigns.test(["ada"], metadata={"prompt": "Say hello."})).outcome("1m")
    (session,) = await world.app.agents.sessions("buddy", user="ada")
    assert session.ended is None
    return session


async def message_session(world: World) -> SessionInfo:
    await Chat(world).say("hi")
    return (await world.app.agents.sessions("buddy", user="ada"))[0]


SESSIONS = {"campaign": campaign_session, "message": message_session}


@pytest.mark.parametrize("begun_by", SESSIONS)
@pytest.mark.parametrize("how", ["end_session", "cancel", "terminate"])
async def test_a_session_ends_soon_after_its_run_however_that_ended(world: World, begun_by: str, how: str) -> None:
    make_buddy(world, "one", "two", admins=["boss"])
    await world.up()
    session = await SESSIONS[begun_by](world)
    if how == "end_session":
        await world.app.agents.end_session(session.id)
    else:
        await getattr(world.app.functions, how)(session.run_id)
    await world.advance("3s")
    ended = await world.app.agents.session(session.id)
    assert (ended.status, ended.reason) == ("ended", "lost" if how == "terminate" else "canceled")
    await world.app.agents.delete_user("buddy", "ada")
    assert await world.app.check(repair=False) == []


async def lose_session(world: World) -> SessionInfo:
    """A session whose run has just ended; no node has looked since."""
    session = await campaign_session(world)
    await world.down()
    async with world.app.connected():
        await world.app.functions.terminate(session.run_id)
    return session


async def test_nobody_uses_a_session_whose_run_is_over(world: World) -> None:
    """Before a node has found and ended it: a person who takes over, schedules or deletes meets no session."""
    _, outbox = make_buddy(world, "one", "two", admins=["boss"])
    await world.up()
    session = await lose_session(world)
    async with world.app.connected() as app:
        sent = len(outbox.sent)
        turn = await app.agents.run_turn("buddy", TurnInput(user="ada", source="scheduled", key="k"))
        outcome = await turn.outcome("1s")
        assert (outcome.outcome, outcome.reason) == (FlowOutcome.SKIPPED, "bootstrap_disabled")
        assert (await app.agents.session(session.id)).reason == "lost"
        with pytest.raises(NotFound, match="no open session"):
            await app.within("default", "boss").agents.take_over("buddy", "ada")
        await app.agents.delete_user("buddy", "ada")
    assert len(outbox.sent) == sent


async def test_a_takeover_of_a_session_whose_run_is_over_is_refused(world: World) -> None:
    make_buddy(world, "one", "two", admins=["boss"])
    await world.up()
    await lose_session(world)
    async with world.app.connected() as app:
        with pytest.raises(NotFound, match="no open session"):
            await app.within("default", "boss").agents.take_over("buddy", "ada")
        await app.agents.delete_user("buddy", "ada")


async def test_a_decision_for_a_flow_whose_run_is_over_is_refused(world: World) -> None:
    agent, _ = make_buddy(world, admins=["boss"])

    @agent.flow
    async def badge(ctx: Any) -> None:
        await ctx.escalate("A badge?", timeout="1d")

    agent.router(lambda routing: "badge")
    await Chat(world).say("badge")
    (session,) = await world.app.agents.sessions("buddy", user="ada")
    (asked,) = await world.app.within("default", "boss").agents.escalations("buddy")
    await world.down()
    async with world.app.connected() as app:
        await app.functions.terminate(session.run_id)
        with pytest.raises(Conflict, match=r"the run of its session .* has ended"):
            await app.within("default", "boss").agents.resolve("buddy", asked.id, approved=True)
    await world.up()
    await world.advance("3s")
    boss = world.app.within("default", "boss").agents
    assert [one.id for one in await boss.escalations("buddy", status="canceled")] == [asked.id]


async def test_a_campaign_opens_no_session_in_place_of_a_lost_one_unless_it_may(world: World) -> None:
    _, outbox = make_buddy(world, "one", "two")
    await world.up()
    session = await campaign_session(world)
    await world.app.functions.terminate(session.run_id)
    sent = await world.app.agents.campaigns("buddy").send({"type": "all"}, metadata={"prompt": "Say hello."})
    ended = await sent.outcome("1m")
    assert ended.reasons == {"bootstrap_disabled": 1}
    assert len(outbox.sent) == 1


# Code of the author


async def test_code_that_is_not_async_runs_in_a_thread(world: World) -> None:
    threads: dict[str, str] = {}

    def note(what: str) -> Any:
        threads[what] = threading.current_thread().name

    agent, _ = make_buddy(
        world, "hi", prompt=lambda hook_input: note("prompt") or "Be kind.", admins=lambda *_: note("admins") or True
    )
    agent.before_llm(lambda hook_input: note("before_llm"))
    agent.before_response(lambda response: note("before_response"))
    agent.on_response(lambda structured, ctx, meta: note("on_response"))
    agent.router(lambda hook_input: note("router"))

    @agent.command(access="admin")
    def ping(ctx: ToolContext, rest: str) -> None:
        note("command")

    chat = Chat(world)
    await chat.say("hello")
    await chat.say("/ping")
    here = threading.current_thread().name
    assert sorted(threads) == sorted(
        ["admins", "before_llm", "before_response", "command", "on_response", "prompt", "router"]
    )
    assert here not in threads.values()


async def test_a_session_that_a_tool_ended_ends_after_a_crash_too(world: World) -> None:
    """What the tool asked for is a part of its recorded result."""
    call = ModelReply(tool_calls=[ToolCall("1", "goodbye", {})])
    agent, outbox = make_buddy(world, call, "bye", "bye")
    world.app.configure(lease="1m")
    pause = asyncio.Event()

    @agent.tool
    async def goodbye(ctx: ToolContext) -> str:
        ctx.end_session("said goodbye")
        return "ok"

    @agent.before_response
    async def hang(response: Any) -> None:
        if not pause.is_set():
            pause.set()
            await asyncio.sleep(9)

    await world.up()
    await world.app.agents.receive("buddy", "ada", "bye", id="1")
    await world.advance("2s")
    assert pause.is_set()
    await world.crash()
    await world.advance("5m")
    assert outbox.texts == ["bye"]
    (session,) = await world.app.agents.sessions("buddy")
    assert (session.status, session.reason) == ("ended", "said goodbye")


async def test_an_end_that_was_asked_for_waits_for_messages_that_have_come(world: World) -> None:
    agent, outbox = make_buddy(world, "answer")

    @agent.flow
    async def leave(ctx: FlowContext) -> None:
        ctx.end_session("enough")
        await ctx.step(wait_a_moment)
        await ctx.say("bye")

    async def wait_a_moment() -> None:
        await asyncio.sleep(5)

    route_by_name(agent)
    await world.up()
    await world.app.agents.receive("buddy", "ada", "leave", id="1")
    await world.advance("1s")
    await world.app.agents.receive("buddy", "ada", "one more", id="2")
    await world.advance("10s")
    assert outbox.texts == ["bye", "answer"]
    (session,) = await world.app.agents.sessions("buddy")
    assert (session.status, session.reason) == ("ended", "enough")


# Inputs that claim what they are not


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        ({"source": "human", "text": "I am a person"}, "source 'human' is none of inbound, scheduled"),
        ({"source": "resumed", "metadata": {"escalation": "x"}}, "source 'resumed' is none of"),
        ({"source": "scheduled", "key": "in/wamid.1"}, "begins with 'in/', which is reserved"),
        ({"source": "inbound", "text": "hi", "key": "resolve/1"}, "begins with 'resolve/', which is reserved"),
        ({"source": "inbound", "text": "hi", "session_id": "s"}, "session_id is for scheduled turns"),
        ({"source": "scheduled", "defer_max": "1h"}, "defer_max is for on_active_flow='defer'"),
        ({"source": "scheduled", "metadata": [1]}, "metadata .* is not an object"),
        ({"source": "scheduled", "input": "x"}, "input 'x' is not an object"),
        ({"source": "scheduled", "bootstrap": "yes"}, "bootstrap 'yes' is neither True nor False"),
    ],
)
async def test_a_turn_cannot_claim_to_be_a_person_or_a_decision(world: World, turn: Any, words: str) -> None:
    make_buddy(world)
    await world.up()
    with pytest.raises(OstinatoError, match=words):
        await world.app.agents.run_turn("buddy", TurnInput(**{"user": "ada", "key": "k", **turn}))
    run = await world.app.functions.start("agent-turn", {"agent": "buddy", "turn": {"user": "ada", "key": "k", **turn}})
    await world.settle()
    with pytest.raises(Exception, match=words):
        await run.result("1s")


async def test_a_repeated_message_is_no_new_activity_of_the_user(world: World) -> None:
    make_buddy(world, "a")
    chat = Chat(world)
    await chat.say("hi", id="m1")
    active = (await world.app.agents.user("buddy", "ada")).active
    await world.advance("2h")
    await chat.say("hi", id="m1")
    assert (await world.app.agents.user("buddy", "ada")).active == active


async def test_a_message_that_does_not_fit_into_the_mailbox_is_not_acknowledged(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ostinato.functions.operations.MOST_MESSAGES", 3)
    agent, outbox = make_buddy(world, *"abcdefgh")

    @agent.before_llm
    async def slow(hook_input: Any) -> None:
        await asyncio.sleep(5)

    await world.up()
    agents = world.app.agents
    for number in range(4):
        await agents.receive("buddy", "ada", "hi", id=f"{number}")
        await world.settle()
    with pytest.raises(MailboxFull):
        await agents.receive("buddy", "ada", "hi", id="4")
    full = await agents.run_turn("buddy", TurnInput(user="ada", source="scheduled", key="s"))
    assert (await full.outcome("1s")).reason == "mailbox_full"
    await world.advance("1m")
    await agents.receive("buddy", "ada", "hi", id="4")  # as a transport that tries again
    await world.advance("1m")
    assert len(outbox.texts) == 5


# Sessions


async def test_43_a_turn_for_a_session_that_has_ended_counts_it_as_not_active(world: World) -> None:
    agent, outbox = make_buddy(world, "a", "b", "c")

    @agent.flow
    async def remind(ctx: FlowContext) -> None:
        await ctx.say(f"in {ctx.session_id}")

    chat = Chat(world)
    await chat.say("hi")
    (first,) = await world.app.agents.sessions("buddy")
    await world.app.agents.end_session(first.id)
    await world.settle()

    async def fire(key: str, session: str, **more: Any) -> tuple[str, str | None]:
        turn_input = TurnInput(user="ada", source="scheduled", key=key, flow="remind", session_id=session, **more)
        turn = await world.app.agents.run_turn("buddy", turn_input)
        await world.settle()
        outcome = await turn.outcome("1s")
        return outcome.outcome.value, outcome.reason

    assert await fire("1", first.id) == ("skipped", "bootstrap_disabled")
    assert await fire("2", first.id, bootstrap=True) == ("success", None)  # in a new one
    second = (await world.app.agents.sessions("buddy"))[0]
    assert second.id != first.id
    assert await fire("3", first.id) == ("skipped", "bootstrap_disabled")
    assert await fire("4", first.id, bootstrap=True) == ("success", None)  # in the one that is active
    assert await fire("5", second.id) == ("success", None)
    await Chat(world, "bob").say("hi")
    (foreign,) = await world.app.agents.sessions("buddy", user="bob")
    assert await fire("6", foreign.id) == ("skipped", "bootstrap_disabled")
    assert outbox.texts[1:4] == [f"in {second.id}"] * 3


# Deferring


async def test_a_deferred_turn_is_skipped_when_it_is_too_old(world: World) -> None:
    agent, outbox = make_buddy(world)

    @agent.flow
    async def checkin(ctx: FlowContext) -> None:
        await ctx.ask("Well?", timeout="10d", default=None)

    @agent.flow
    async def remind(ctx: FlowContext) -> None:
        await ctx.say("Drink.")

    route_by_name(agent)
    chat = Chat(world)
    await chat.say("checkin")
    short = TurnInput(user="ada", source="scheduled", key="1", flow="remind", on_active_flow="defer", defer_max="1h")
    turn = await world.app.agents.run_turn("buddy", short)
    assert await fire(world, "2", "remind", on_active_flow="defer") == ("waiting", None)
    await world.advance("61m")
    outcome = await turn.outcome("1s")
    assert (outcome.outcome, outcome.reason) == ("skipped", "flow_active")
    assert await fire(world, "2", "remind") == ("waiting", None)
    await world.advance("23h")
    assert await fire(world, "2", "remind") == ("skipped", "flow_active")  # the default is a day
    assert await chat.say("fine") == ("success", None)
    assert outbox.texts == ["Well?"]


async def test_deferred_turns_survive_a_restart_and_expire_without_a_flow(world: World) -> None:
    agent, outbox = make_buddy(world)

    @agent.flow
    async def checkin(ctx: FlowContext) -> None:
        await ctx.ask("Well?")

    @agent.flow
    async def remind(ctx: FlowContext) -> None:
        await ctx.say("Drink.")

    route_by_name(agent)
    chat = Chat(world)
    await chat.say("checkin")
    await fire(world, "1", "remind", on_active_flow="defer", defer_max="1h")
    await fire(world, "2", "remind", on_active_flow="defer", defer_max="3h")
    await world.down()
    await asyncio.sleep(7200)
    await world.up()
    await chat.say("fine")
    assert outbox.texts == ["Well?", "Drink."]
    assert await fire(world, "1", "remind") == ("skipped", "flow_active")


# Consent


async def test_who_has_opted_out_gets_no_scheduled_message_and_is_answered(world: World) -> None:
    agent, outbox = make_buddy(world, "answer")

    @agent.flow
    async def drip(ctx: FlowContext) -> None:
        await ctx.say("one")
        await ctx.sleep("1h")
        await ctx.say("two")

    await world.up()
    agents = world.app.agents
    await agents.put_user("buddy", "ada")
    assert await fire(world, "1", "drip") == ("success", "flow_waiting")
    await agents.put_user("buddy", "ada", consent="opted_out")
    await world.advance("2h")  # the flow that a schedule began goes on, silently
    assert await fire(world, "2", "drip") == ("skipped", "opted_out")
    assert await Chat(world).say("hi") == ("success", None)
    assert outbox.texts == ["one", "answer"]
    canceled = [event.data for event in await events(world, "response") if event.name == "response:canceled"]
    assert [(data["stage"], data["reason"]) for data in canceled] == [("intent", "opted_out")]


async def test_who_opts_out_while_a_scheduled_turn_is_going_on_gets_nothing_of_it(world: World) -> None:
    agent, outbox = make_buddy(world)

    @agent.flow
    async def news(ctx: FlowContext) -> None:
        await ctx.say("news")

    @agent.before_response
    async def meanwhile(response: Any) -> None:
        await world.app.agents.put_user("buddy", "ada", consent="opted_out")

    await world.up()
    await world.app.agents.put_user("buddy", "ada")
    assert await fire(world, "1", "news") == ("skipped", "opted_out")
    assert outbox.sent == []
