"""What an agent keeps no longer is deleted, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato.errors import NotFound, OstinatoError
from ostinato.flows import FlowContext, ScriptedModel
from ostinato.store.contract import Operation, Statement
from ostinato.testing import World
from tests.support.agents import Outbox, make_buddy

_TABLES = ("sessions", "turns", "messages", "outgoing", "escalations", "campaigns", "recipients")


async def counts(world: World) -> dict[str, int]:
    """How many rows each table has."""

    def count(_: int) -> Operation[dict[str, int]]:
        rows_by_table = {}
        for name in _TABLES:
            rows = yield Statement(f"count_{name}", {}, None)
            rows_by_table[name] = rows[0][0]
        return rows_by_table

    return await world.app.store.read(count)


@pytest.fixture(autouse=True)
def statements(add_statement: Any) -> None:
    for name in _TABLES:
        add_statement(f"count_{name}", f"SELECT count(*) FROM ostinato_agent_{name}")


async def talk(world: World, **options: Any) -> None:
    """One conversation with a question to people, one campaign for two, and one turn that was skipped."""
    agent, _ = make_buddy(world, "hello", "hello", admins=["boss"], end_after="6h", **options)

    @agent.flow
    async def ask(ctx: FlowContext) -> None:
        await ctx.escalate("May I?", timeout="1h")

    @agent.flow
    async def news(ctx: FlowContext) -> None:
        await ctx.say("news")

    await world.up()
    agents = world.app.agents
    for user in ("ada", "bob", "eve"):
        await agents.put_user("buddy", user, tags=["eu"] if user != "eve" else [])
    await agents.receive("buddy", "ada", "hi", id="1")
    await world.advance("1m")
    campaign = await agents.campaigns("buddy").send(
        {"type": "tag", "tag": "eu"}, flow="ask", allow_session_bootstrap=True
    )
    await world.advance("2h")
    assert (await campaign.outcome()).counts
    skipped = await agents.campaigns("buddy").send({"type": "users", "users": ["eve"]}, flow="news")
    await world.advance("1m")
    assert (await skipped.outcome()).counts == {"skipped": 1}


async def test_old_conversations_and_campaigns_are_deleted_with_all_that_belongs_to_them(world: World) -> None:
    await talk(world, keep="2d")
    (session, *_) = await world.app.agents.sessions("buddy", user="ada")
    before = await counts(world)
    assert all(before.values()), before
    await world.advance("44h")
    assert await counts(world) == before
    await world.advance("12h")
    assert not any((await counts(world)).values())
    with pytest.raises(NotFound):
        await world.app.agents.session(session.id)
    assert len(await world.app.agents.users("buddy")) == 3
    await world.app.agents.receive("buddy", "ada", "again", id="2")
    await world.advance("1m")
    after = await counts(world)
    assert (after["sessions"], after["turns"]) == (1, 1)


async def test_open_sessions_and_those_of_other_agents_stay(world: World) -> None:
    await talk(world, keep="1d")
    await world.down()
    world.app.agent("other", tz="UTC", model=ScriptedModel("hello"), transport=Outbox(), end_after="6h")
    await world.up()
    await world.app.agents.put_user("other", "ada")
    await world.app.agents.receive("other", "ada", "hi", id="1")
    await world.advance("2d")
    await world.app.agents.receive("buddy", "bob", "hi", id="1")
    await world.advance("1h")
    assert [one.status for one in await world.app.agents.sessions("other")] == ["ended"]
    (bob,) = await world.app.agents.sessions("buddy")
    assert bob.user_id == (await world.app.agents.user("buddy", "bob")).id


async def test_without_keep_everything_stays(world: World) -> None:
    await talk(world)
    before = await counts(world)
    await world.advance("3d")
    assert await counts(world) == before


@pytest.mark.parametrize("keep", ["1h", "0d", "4000d"])
async def test_a_keep_that_makes_no_sense_is_refused(world: World, keep: str) -> None:
    with pytest.raises(
        OstinatoError, match=r"agent 'buddy': keep '\w+' is neither None \(without a limit\) nor a length"
    ):
        make_buddy(world, keep=keep)


async def test_a_frequency_cap_never_looks_further_back_than_campaigns_are_kept(world: World) -> None:
    cap = {"messages": 1, "per": "7d"}
    with pytest.raises(OstinatoError, match=r"campaigns\.frequency_cap\.per is 7 d, and the agent keeps its campaigns"):
        make_buddy(world, keep="2d", campaigns={"frequency_cap": cap})
    await talk(world, keep="2d")
    campaigns = world.app.agents.campaigns("buddy")
    for call in (campaigns.send, campaigns.preview):
        with pytest.raises(OstinatoError, match=r"options\.frequency_cap\.per is 7 d, .* for 2 d only"):
            await call({"type": "all"}, flow="news", frequency_cap=cap)
    with pytest.raises(OstinatoError, match=r"frequency_cap\.per is 7 d"):
        await world.app.agents.schedules("buddy").create(
            flow="news",
            trigger={"type": "cron", "expr": "0 9 * * *"},
            target={"kind": "segment", "segment": {"type": "all"}, "options": {"frequency_cap": cap}},
        )
