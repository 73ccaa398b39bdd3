"""What faces ask of `app.agents`, on both stores: users with events, questions decided once, tokens of sessions."""

from __future__ import annotations

import asyncio

import pytest

from ostinato import Conflict, NotFound
from ostinato.faces.mcp import mint_session_token
from ostinato.flows import FlowContext
from ostinato.testing import World
from tests.support.agents import Chat, events, make_buddy


async def ask_people(world: World) -> str:
    agent, _ = make_buddy(world, admins=["ada", "bob"])

    @agent.flow
    async def ask(ctx: FlowContext) -> None:
        decision = await ctx.escalate("May she?")
        await ctx.say(f"decided by {decision.resolved_by}")

    agent.router(lambda _: "ask")
    await Chat(world).say("hello")
    (question,) = await world.app.within("default", "ada").agents.escalations("buddy")
    return question.id


async def test_a_change_of_a_user_is_an_event_and_no_change_is_none(world: World) -> None:
    make_buddy(world)
    await world.up()
    agents = world.app.within("default", "ada").agents
    for _ in range(2):
        user = await agents.put_user("buddy", "bob", consent="opted_out", tags=["b", "a"])
    (event,) = await events(world, "flow")
    assert (event.name, event.actor, event.subject) == ("flow:user_changed", "ada", user.id)
    assert event.data["fields"] == ["consent", "tags"]
    assert (event.data["created"], event.data["consent"]) == (True, "opted_out")
    assert await agents.external_ids([user.id, "none"]) == {user.id: "bob"}
    assert await world.app.within("other").agents.external_ids([user.id]) == {}


async def test_a_repeated_decision_is_one_and_another_is_a_conflict(world: World) -> None:
    id = await ask_people(world)
    ada, bob = (world.app.within("default", name).agents for name in ("ada", "bob"))
    decided = await ada.resolve("buddy", id, True, message="yes", request_id="r")
    assert await ada.resolve("buddy", id, True, message="yes", request_id="r") == decided
    with pytest.raises(Conflict, match="resolved by ada already"):
        await bob.resolve("buddy", id, False)
    with pytest.raises(Conflict):  # the same request, another decision
        await ada.resolve("buddy", id, False, request_id="r")
    await world.settle()
    assert len([event for event in await events(world, "hitl") if event.name == "hitl:resolved"]) == 1


async def test_of_two_decisions_at_once_one_counts(world: World) -> None:
    id = await ask_people(world)
    calls = [
        world.app.within("default", name).agents.resolve("buddy", id, approved)
        for name, approved in (("ada", True), ("bob", False))
    ]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert sorted(isinstance(answer, Conflict) for answer in answers) == [False, True]


async def test_a_decision_outlives_a_crash_right_after_it(world: World) -> None:
    id = await ask_people(world)
    await world.app.within("default", "ada").agents.resolve("buddy", id, True, request_id="r")
    await world.crash()
    await world.up()
    await world.settle()
    again = await world.app.within("default", "ada").agents.resolve("buddy", id, True, request_id="r")
    assert (again.status, again.resolved_by) == ("resolved", "ada")
    with pytest.raises(NotFound):
        await world.app.within("default", "ada").agents.resolve("buddy", "none", True)


async def test_tokens_of_sessions_are_forgotten_when_they_have_expired(world: World) -> None:
    make_buddy(world, "hi")
    await Chat(world).say("hello")
    (session,) = await world.app.agents.sessions("buddy")
    await world.app.create_token("reader", expires_in="1m")
    await mint_session_token(world.app, session.id, expires_in="1m")
    await world.advance("2m")
    await mint_session_token(world.app, session.id)
    tokens = await world.app.tokens()
    assert [token.role.value for token in tokens] == ["reader", "agent"]  # that of a person stays on record
    assert tokens[1].bound is not None
    assert tokens[1].bound["session"] == session.id
