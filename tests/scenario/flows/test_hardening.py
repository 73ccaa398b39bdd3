"""What keeps agents right when things go wrong, on both stores: lost runs, repeated writes, code that a node lacks,
turns that are for nobody, and inputs that claim what they are not."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from ostinato import Conflict, OstinatoError
from ostinato.flows import Cancel, FlowContext, ModelReply, NotSent, RouteFlow, ToolCall, ToolContext, TurnInput
from ostinato.flows.store import statement
from ostinato.functions.errors import MailboxFull
from ostinato.testing import World
from tests.support.agents import Chat, Outbox, events, fire, make_buddy, route_by_name
from tests.support.faults import ForgetfulStore


def boss(world: World, name: str = "boss") -> Any:
    return world.app.within("default", name).agents


async def names_of(world: World, *subjects: str) -> list[str]:
    return [event.name for event in await events(world, *subjects)]


# Lost sessions


async def test_turns_of_a_session_whose_run_was_lost_are_finished_soon(world: World) -> None:
    agent, outbox = make_buddy(world, "hello")

    @agent.before_llm
    async def slow(hook_input: Any) -> None:
        await asyncio.sleep(5)

    await world.up()
    turns = [await world.app.agents.receive("buddy", "ada", f"m{n}", id=f"m{n}") for n in range(3)]
    await world.advance("1s")
    (session,) = await world.app.agents.sessions("buddy")
    await world.app.functions.terminate(session.run_id)
    await world.advance("2s")
    views = [await world.app.agents.turn(turn.id) for turn in turns]
    assert {(view.outcome, view.reason) for view in views} == {("failed", "session_lost")}
    assert (await world.app.agents.session(session.id)).status == "ended"
    assert outbox.sent == []


async def test_the_scanner_ends_an_idle_session_whose_run_is_gone(world: World) -> None:
    """Nodes look for runs that have ended in the last hour; this one ended while there was no node."""
    make_buddy(world, "a")
    await Chat(world).say("hi")
    (session,) = await world.app.agents.sessions("buddy")
    await world.down()
    async with world.app.connected() as app:
        await app.functions.terminate(session.run_id)
    await asyncio.sleep(2 * 3600)
    await world.advance("10m")
    assert (await world.app.agents.session(session.id)).ended is None
    (finding,) = await world.app.check()
    assert (finding.rule, finding.subject, finding.repaired) == ("session_without_run", session.id, True)
    assert (await world.app.agents.session(session.id)).reason == "lost"
    assert await world.app.check() == []


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


# Answers that were lost


@pytest.mark.parametrize("segment", [{"type": "all"}, {"type": "users", "users": ["ada", "bob", "nobody"]}])
async def test_a_campaign_counts_its_recipients_if_every_answer_is_lost(world: World, segment: dict[str, Any]) -> None:
    forgetful = World(ForgetfulStore(world.app.store), clock=world.clock)
    agent, outbox = make_buddy(forgetful)

    @agent.flow
    async def news(ctx: FlowContext) -> None:
        await ctx.say("news")

    await forgetful.up()
    for user in ("ada", "bob"):
        await forgetful.app.agents.put_user("buddy", user)
    campaigns = forgetful.app.agents.campaigns("buddy")
    sent = await campaigns.send(segment, flow="news", allow_session_bootstrap=True)
    for _ in range(6):  # a node in real time looks every two seconds
        await forgetful.advance("10s")
        forgetful.app.engine.nudge()
    await forgetful.settle()
    ended = await campaigns.get(sent.id)
    assert (ended.status, ended.recipients) == ("done", sum(ended.counts.values()))
    assert ended.counts["success"] == 2
    assert outbox.texts == ["news", "news"]
    await forgetful.close()


async def test_events_are_written_once_if_every_answer_is_lost(world: World) -> None:
    """The store commits each transaction, loses the answer, and runs it again."""
    forgetful = World(ForgetfulStore(world.app.store), clock=world.clock)
    agent, outbox = make_buddy(forgetful, "draft", admins=["boss"])

    @agent.before_llm
    def broken(hook_input: Any) -> None:
        if hook_input.turn.text == "raise":
            raise ValueError("no")

    @agent.before_response
    def cancel(response: Any) -> Any:
        return Cancel("quiet") if response.turn.text == "raise" else None

    @agent.command(access="admin")
    def wipe(ctx: ToolContext, rest: str) -> str:
        return "wiped"

    await Chat(forgetful).say("raise")
    with pytest.raises(Exception, match="may not do"):
        await forgetful.app.within("default", "eve").agents.take_over("buddy", "ada")
    agent.settings.model._answers += ("ok",)  # type: ignore[union-attr]
    await Chat(forgetful, "bob").say("/wipe")
    assert outbox.texts == ["ok"]
    written = [
        (event.name, event.data.get("stage"), event.data.get("action"))
        for event in await events(forgetful, "response", "hitl")
        if event.name in ("response:failed", "response:canceled", "hitl:denied")
    ]
    assert written == [
        ("response:failed", "before_llm", None),
        ("response:canceled", "before_response", None),
        ("hitl:denied", None, "takeover.start"),
        ("hitl:denied", None, "command.wipe"),
    ]
    await forgetful.down()


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


async def test_only_the_person_who_has_taken_over_speaks(world: World) -> None:
    _, outbox = make_buddy(world, "a", admins=["boss", "deputy"])
    await Chat(world).say("hi")
    await boss(world).take_over("buddy", "ada")
    with pytest.raises(Conflict, match="boss has taken over"):
        await boss(world, "deputy").say_as_person("buddy", "ada", "me too", id="1")
    await boss(world).say_as_person("buddy", "ada", "me", id="1")
    await world.settle()
    assert outbox.texts == ["a", "me"]


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


# Takeover and dispatch


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


# Code that a node lacks


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


async def test_the_statement_of_lost_turns_finds_none_in_a_healthy_store(world: World) -> None:
    make_buddy(world, "a", outbox=Outbox())
    await Chat(world).say("hi")

    def look(_: int) -> Any:
        return (yield statement("lost_turns", limit=10))

    assert await world.app.store.read(look) == []
