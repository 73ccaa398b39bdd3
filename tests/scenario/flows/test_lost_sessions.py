"""Sessions whose runs were lost are ended, and what is written although an answer was lost is written once, on both
stores."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ostinato.flows import Cancel, FlowContext, ToolContext
from ostinato.flows.store import statement
from ostinato.testing import World
from tests.support.agents import Chat, Outbox, events, make_buddy
from tests.support.faults import ForgetfulStore


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


async def test_the_statement_of_lost_turns_finds_none_in_a_healthy_store(world: World) -> None:
    make_buddy(world, "a", outbox=Outbox())
    await Chat(world).say("hi")

    def look(_: int) -> Any:
        return (yield statement("lost_turns", limit=10))

    assert await world.app.store.read(look) == []


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
