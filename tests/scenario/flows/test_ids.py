"""Ids and names of agents, users and campaigns: which are found, which are refused, and that the error names them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from ostinato import Conflict, NotFound, OstinatoError
from ostinato.store.contract import Operation, sql
from ostinato.testing import World
from tests.support.agents import make_buddy
from tests.support.campaigns import ALL, campaigns, make_hello, put_people, run_campaign


async def test_ids_and_names_that_are_too_long_are_refused_by_name(world: World) -> None:
    make_hello(world)
    await world.up()
    long, agents = "x" * 513, world.app.agents
    refused: dict[tuple[str, int], Callable[[], Awaitable[Any]]] = {
        ("the message's id", 300): lambda: agents.receive("buddy", "ada", "Hi", id=long),
        ("the turn's user", 200): lambda: agents.receive("buddy", long, "Hi", id="m1"),
        ("the user's name", 512): lambda: agents.put_user("buddy", "ada", name=long),
        ("the user's address", 512): lambda: agents.put_user("buddy", "ada", address=long),
        ("the user's locale", 512): lambda: agents.put_user("buddy", "ada", locale=long),
        ("the user's external id", 200): lambda: agents.put_user("buddy", long),
        ("a tag", 512): lambda: agents.put_user("buddy", "ada", tags=[long]),
        ("the campaign's id", 497): lambda: campaigns(world).send(ALL, flow="hello", id=long),
        ("the campaign's campaign_id", 512): lambda: campaigns(world).send(ALL, flow="hello", campaign_id=long),
    }
    for (what, most), call in refused.items():
        with pytest.raises(OstinatoError, match=f"^{what} .*has 513 characters; at most {most} are taken$"):
            await call()
    assert await agents.users("buddy") == []
    assert await campaigns(world).list() == []


async def test_of_ten_messages_with_one_id_one_is_new_and_takes_effect(world: World) -> None:
    _, outbox = make_buddy(world, "Hello!", "Hello again!")
    await world.up()
    receive = world.app.agents.receive
    accepted = await asyncio.gather(*(receive("buddy", "ada", "Hi", id="m1") for _ in range(10)))
    assert sorted(turn.new for turn in accepted) == [False] * 9 + [True]
    assert len({turn.id for turn in accepted}) == 1
    await world.advance("1m")
    assert len(outbox.sent) == 1


async def test_long_ids_that_an_older_version_has_taken_still_work(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, outbox = make_hello(world)
    long, id = "x" * 600, "x" * 490
    with monkeypatch.context() as older:
        older.setattr("ostinato.flows.api.MOST_ID", 1_000)
        older.setattr("ostinato.flows.campaigns.api.MOST_NAME", 1_000)
        await put_people(world, long)
        sent = await campaigns(world).send(ALL, flow="hello", id=id, campaign_id=long, allow_session_bootstrap=True)
        await sent.outcome("1d")
    again = await campaigns(world).send(ALL, flow="hello", id=id, campaign_id=long, allow_session_bootstrap=True)
    assert (again.id, again.new) == (sent.id, False)
    assert await campaigns(world).suppress([long], "asked for it") == 1
    assert await campaigns(world).unsuppress([long]) == 1
    assert (await world.app.agents.put_user("buddy", long, consent="opted_out")).consent == "opted_out"
    assert (await world.app.agents.receive("buddy", "ada", "Hi", id="x" * 300, name="", address=long)).new
    with monkeypatch.context() as older:
        older.setattr("ostinato.flows.api.MOST_NAME", 1_000)
        await world.app.agents.put_user("buddy", "ada", tags=[long], name=long)
    changed = await world.app.agents.put_user("buddy", "ada", tags=[long, "vip"], name=long, locale="pt")
    assert (len(changed.tags), changed.locale) == (2, "pt")
    ended = await run_campaign(world, {"type": "users", "users": [long]})
    assert (ended.reasons, len(outbox.sent)) == ({"opted_out": 1}, 1)
    await world.advance("1d")
    await world.app.agents.delete_user("buddy", long)


async def test_a_campaign_is_found_by_the_id_with_which_it_was_sent(world: World) -> None:
    make_hello(world)
    await put_people(world, "ada", tz="UTC")
    sent = await campaigns(world).send(
        ALL, flow="hello", id="spring", allow_session_bootstrap=True, local_time="09:30", campaign_id="s"
    )
    await world.advance("1m")
    assert (await campaigns(world).pause("spring")).id == sent.id
    assert (await campaigns(world).resume("spring")).status == "sending"
    assert (await campaigns(world).explain("spring", "ada")).campaign == sent.id
    assert [one.user for one in await campaigns(world).recipients("spring")] == ["ada"]
    with pytest.raises(TimeoutError, match=f"^campaign {sent.id} is not over within 1m: it is sending; "):
        await campaigns(world).wait("spring", "1m")
    assert (await campaigns(world).wait("spring", "1d")).status == "done"
    with pytest.raises(NotFound, match="agent 'buddy' has no campaign 'summer'"):
        await campaigns(world).get("summer")


async def test_a_campaign_is_sent_once_though_its_run_was_deleted(
    world: World, add_statement: Callable[[str, str], None]
) -> None:
    add_statement("forget_runs", "DELETE FROM ostinato_runs WHERE name = 'agent-campaign'")

    def forget(_: int) -> Operation[None]:
        yield sql("forget_runs")

    _, outbox = make_hello(world)
    await put_people(world, "ada")
    sent = await campaigns(world).send(ALL, flow="hello", id="terms", allow_session_bootstrap=True)
    ended = await sent.outcome("1d")
    await world.app.store.run(forget)
    assert await campaigns(world).get("terms") == await campaigns(world).wait("terms", 0) == ended
    again = await campaigns(world).send(ALL, flow="hello", id="terms", allow_session_bootstrap=True)
    assert (again.id, again.new, len(outbox.sent)) == (sent.id, False, 1)
    with pytest.raises(Conflict, match="is the id of another campaign's run; take another id"):
        await campaigns(world).send(ALL, flow="hello", id=sent.id)


@pytest.mark.parametrize("wrong", ["a\0", "", 5])
async def test_ids_that_are_no_texts_are_refused_by_name(world: World, wrong: Any) -> None:
    make_buddy(world, admins=["boss"])
    await world.up()
    agents, boss = world.app.agents, world.app.within("default", "boss").agents
    calls: dict[str, Callable[[], Awaitable[Any]]] = {
        "the session's id": lambda: agents.session(wrong),
        "the turn's id": lambda: agents.turn(wrong),
        "the escalation's id": lambda: boss.escalation("buddy", wrong),
        "the user": lambda: boss.take_over("buddy", wrong),
        "tag": lambda: agents.users("buddy", tag=wrong),
        "the campaign's id": lambda: campaigns(world).pause(wrong),
    }
    for what, call in calls.items():
        with pytest.raises(OstinatoError, match=f"^{what} .* is not a text that can be stored"):
            await call()
    with pytest.raises(OstinatoError, match="status 'open' is none of pending, resolved, timed_out, canceled"):
        await boss.escalations("buddy", status="open")


async def test_lists_of_an_unknown_agent_are_not_found(world: World) -> None:
    make_hello(world)
    await world.up()
    agents = world.app.agents
    calls: list[Callable[[], Awaitable[Any]]] = [
        lambda: agents.users("buddi"),
        lambda: agents.sessions("buddi"),
        lambda: agents.campaigns("buddi").list(),
        lambda: agents.campaigns("buddi").suppressed(),
    ]
    for call in calls:
        with pytest.raises(NotFound, match="there is no agent 'buddi'; did you mean 'buddy'"):
            await call()
