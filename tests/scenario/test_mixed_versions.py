"""Nodes of two versions share a store during an upgrade: the newer has added columns to tables that the older, which is
still running, reads and writes."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import asyncpg

from ostinato import Limit, Ostinato, every
from ostinato.doctor import diagnose
from ostinato.flows import FlowContext
from ostinato.functions import FunctionContext
from ostinato.testing import VirtualLoop, World, run_virtual
from ostinato.workflows import Prepared
from tests.golden import fill
from tests.support.agents import route_by_name
from tests.support.campaigns import ALL, campaigns, make_hello
from tests.support.journey_parts import Work, paying, plugins
from tests.support.stores import quick
from tests.support.wire import HOURLY, greeting, wired

from temporalio.client import Schedule  # isort: skip


async def widen(url: str) -> int:
    """Add a column with a default to every table. Returns how many there are."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'ostinato%'"
            tables = [name for (name,) in connection.execute(names)]
            for table in tables:
                connection.execute(f"ALTER TABLE {table} ADD COLUMN newer text NOT NULL DEFAULT 'x'")
            connection.commit()
    else:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        with loop.freeze_time():
            remote = await asyncpg.connect(url)
            names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
            tables = [name for (name,) in await remote.fetch(names)]
            for table in tables:
                await remote.execute(f"ALTER TABLE {table} ADD COLUMN newer text NOT NULL DEFAULT 'x'")
            await remote.close()
    return len(tables)


def world_on(url: str, **settings: Any) -> World:
    world = World(quick(url), journey_plugins=plugins(Work()), **settings)
    fill.declare(world.app)

    @world.app.job(concurrency=Limit("few", most=1))
    async def limited(seconds: float = 30) -> None:
        await asyncio.sleep(seconds)

    declare_ways(world)
    return world


def declare_ways(world: World) -> None:
    """A durable function, a workflow and an agent."""
    app = world.app

    @app.function()
    async def onboard(ctx: FunctionContext, user: str) -> list[Any]:
        name = await ctx.step(str.upper, user)
        await ctx.sleep("30m")
        ctx.set_state("asking")
        answer = await ctx.receive("reply", timeout="9d")
        child = await ctx.start("note", {"who": name})
        return [answer, await child.result()]

    inbox = app.workflow("inbox")
    emails = inbox.topic("emails")

    @app.workflows.mutator("sheet.append")
    async def append(call: Any, rows: int) -> int:
        return rows

    @inbox.producer(every("10m"), publishes=[emails])
    async def poll(ctx: Any, state: Any) -> int:
        count = (state or 0) + 1
        email = ctx.register_input("mail", "email", str(count), f"mail {count}")
        ctx.publish(emails, f"mail-{count}", {"n": count}, input=email)
        return count

    @inbox.consumer(emails)
    class Digest:
        async def prepare(self, ctx: Any, state: Any) -> Prepared:
            return Prepared(reserve=await ctx.peek(emails))

        async def mutate(self, ctx: Any, prepared: Any) -> None:
            await ctx.mutate("sheet.append", rows=1)

    agent, _ = make_hello(world, admins=["boss"])
    route_by_name(agent)

    @agent.flow
    async def checkin(ctx: FlowContext) -> None:
        await ctx.say(f"Thank you for {await ctx.ask('How are you?')}.")

    @agent.flow
    async def refund(ctx: FlowContext) -> None:
        await ctx.say((await ctx.escalate("Refund 10?")).status)


async def begin_with_ways(world: World, round: str) -> None:
    """Begin something of each of these ways, most of which waits for an answer."""
    await world.app.functions.start("onboard", {"user": round}, id=f"{round} onboard")
    await world.app.workflows.pause("inbox")
    await world.app.workflows.resume("inbox")
    agents = world.app.agents
    for user in ("ada", "bob", "eve"):
        await agents.put_user("buddy", f"{round}-{user}", tags=["vip"])
    await agents.receive("buddy", f"{round}-ada", "checkin", id=f"{round} 1")
    await agents.receive("buddy", f"{round}-bob", "refund", id=f"{round} 1")
    await agents.schedules("buddy").create(
        id=round,
        flow="hello",
        trigger={"type": "cron", "expr": "*/30 * * * *"},
        target={"kind": "user", "user_external_id": f"{round}-eve"},
        allow_session_bootstrap=True,
    )
    await campaigns(world).suppress([f"{round}-bob"], "asked")
    await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, campaign_id=round, id=round)


async def end_with_ways(world: World, round: str) -> None:
    """Look at what `begin_with_ways` began, and end it."""
    app, agents = world.app, world.app.agents
    assert (await app.functions.get(f"{round} onboard")).state == "asking"
    await app.functions.send(f"{round} onboard", "reply", round)
    await agents.receive("buddy", f"{round}-ada", "asking", id=f"{round} 2")
    (session,) = await agents.sessions("buddy", user=f"{round}-bob")
    boss = app.within("default", "boss").agents
    (escalation,) = [one for one in await boss.escalations("buddy") if one.session_id == session.id]
    await boss.resolve("buddy", escalation.id, approved=True)
    await world.settle()
    assert await app.functions.result(f"{round} onboard") == [round, round.upper()]
    assert [step.status for step in await app.functions.steps(f"{round} onboard")] == ["done"] * 5
    for user, words in (("ada", "Thank you for asking."), ("bob", "resolved")):
        (session,) = await agents.sessions("buddy", user=f"{round}-{user}")
        assert words in [message.text for message in await agents.messages(session.id)]
    schedules = agents.schedules("buddy")
    occurrences = await schedules.runs(round)
    assert len(occurrences) >= 2
    assert {run.outcome for run in occurrences} == {"success"}
    await schedules.cancel(round)
    campaign = await campaigns(world).wait(round, "1s")
    assert (campaign.status, campaign.outcome) == ("done", "success")
    assert len(await campaigns(world).recipients(campaign.id)) >= 3
    assert [user for user, _ in await campaigns(world).suppressed()].count(f"{round}-bob") == 1
    for session in await agents.sessions("buddy", user=f"{round}-eve"):
        await agents.end_session(session.id)
    await world.settle()
    await agents.delete_user("buddy", f"{round}-eve")


async def work(world: World, round: str) -> dict[str, str]:
    """Some of everything that a node does, some of it unfinished. Returns the ids of journeys."""
    app = world.app
    schedules, journeys = app.schedules, app.journeys
    for n in range(3):
        await world.start("limited", id=f"{round} limited {n}")
        await world.start("slow", {"key": "same", "seconds": 30}, id=f"{round} serial {n}")
    await world.start("wrong", id=f"{round} wrong")
    await world.start("note", id=f"{round} cancelled", at=world.now + timedelta(days=9))
    await app.cancel(f"{round} cancelled", "not wanted")
    await world.start("note", id=f"{round} later", at=world.now + timedelta(hours=2))
    await schedules.create(f"{round} hourly", every("1h"), "note", tags=["tagged"], memo={"a": 1})
    await schedules.create(f"{round} skips", every("10m"), "slow", input={"key": round, "seconds": 900})
    await schedules.create(f"{round} waits", every("10m"), "limited", overlap="buffer_one", input={"seconds": 900})
    await schedules.create(f"{round} filled", every("1h"), "note", trigger=True)
    await schedules.backfill(f"{round} filled", world.now - timedelta(hours=9), world.now, overlap="allow_all")
    await schedules.update(f"{round} hourly", notes="edited")
    await schedules.pause(f"{round} waits", "a while")
    await schedules.resume(f"{round} waits")
    await app.create_namespace(f"team-{round}")
    await app.create_token("reader", label=round)
    hook = await app.webhooks.create("https://hooks.example/in", ["search_attribute:*"])
    await app.webhooks.update(hook.id, notes=round)
    await journeys.start("pay", {"who": f"u {round}", "token": "t"})
    await begin_with_ways(world, round)
    answered = (await journeys.start("approval", {"n": 1})).id
    asking = (await journeys.start("approval", {"n": 2}, tags=["tagged"])).id
    await world.advance("61m")
    await journeys.submit(answered, "ask", {"ok": round}, key="k")
    resting = (await journeys.start("approval", {"n": 3})).id
    await world.advance("3m")
    return {"answered": answered, "asking": asking, "resting": resting}


async def look_at_everything(app: Ostinato, ids: dict[str, str], now: datetime) -> None:
    runs = await app.runs(limit=1000, attempts=True)
    assert runs
    assert await app.runs(name="note", status="succeeded", limit=10)
    assert (await app.get(runs[-1].id)).id == runs[-1].id
    listed = await app.schedules.list(limit=1000)
    for schedule in listed:
        assert (await app.schedules.get(schedule.name)).state != "parked"
        assert await app.schedules.history(schedule.name) is not None
        assert (await app.schedules.explain(schedule.name, now)).sentences
    assert await app.schedules.list(tag="tagged", job="note")
    assert await app.schedules.upcoming(limit=5)
    assert await app.schedules.backfills(next(one.name for one in listed if one.name.endswith("filled")))
    assert len(await app.journeys.definitions()) == 2
    assert (await app.journeys.definition("approval")).source == fill.JOURNEY
    assert {one.id for one in await app.journeys.list(tags=["tagged"])}
    assert await app.journeys.bindings(name="pay")
    for id in ids.values():
        assert (await app.journeys.status(id)).id == id
    assert await app.tokens()
    assert await app.namespaces()
    for webhook in await app.webhooks.list():
        assert (await app.webhooks.get(webhook.id)).url == webhook.url
    assert await app.nodes()
    assert await app.upcoming()


async def nothing_is_parked(app: Ostinato) -> None:
    assert {one.name: one.words for one in await diagnose(app) if "parked" in one.name and one.state != "ok"} == {}
    assert [event for event in await app.events(limit=100_000) if event.name.endswith(":parked")] == []
    assert await app.check(repair=False) == []


async def answer(world: World, ids: dict[str, str]) -> None:
    for name in ("asking", "resting"):
        await world.app.journeys.submit(ids[name], "ask", {"ok": name})
        assert (await world.app.journeys.result(ids[name])).output == {"ok": name}


def test_a_node_goes_on_when_every_table_has_got_another_column(store_url: str) -> None:
    async def main(world: World) -> None:
        app = world.app
        await world.up()
        await app.journeys.deploy(paying(interval="PT1H", runs=9))
        await app.journeys.deploy(fill.JOURNEY)
        before = await work(world, "before")
        assert await widen(store_url) >= 24
        after = await work(world, "after")
        await look_at_everything(app, before | after, world.now)
        await world.advance("2h")
        for ids in (before, after):
            await answer(world, ids)
        for round in ("before", "after"):
            await end_with_ways(world, round)
        events = await app.workflows.events("inbox")
        assert len(events) > 20
        assert {event.status for event in events} == {"consumed"}
        assert {run.status for run in await app.workflows.runs("inbox")} == {"committed"}
        for webhook in await app.webhooks.list():
            await app.webhooks.delete(webhook.id)
        for round in ("before", "after"):
            await app.delete_namespace(f"team-{round}")
            await app.schedules.delete(f"{round} skips")
        hourly = await app.schedules.history("before hourly")
        assert {one.status for one in hourly} == {"succeeded"}
        assert len(hourly) == 4
        await nothing_is_parked(app)
        assert {run.status for run in await world.runs("note")} == {"succeeded", "cancelled"}
        await world.start("slow", {"key": "lost", "seconds": 300}, id="lost")
        await world.settle()
        await world.crash()
        await world._store.close()

    async def take_over(world: World) -> None:
        await world.up()
        await world.advance("1h")
        assert [run.status for run in await world.app.attempts("lost")] == ["crashed", "succeeded"]
        assert (await world.app.workflows.get("inbox")).status == "Idle"
        await nothing_is_parked(world.app)
        await world.close()

    world = world_on(store_url, lease="10m")
    run_virtual(main(world), world.clock)
    other = world_on(store_url, clock=world.clock, lease="10m")
    run_virtual(take_over(other), other.clock)


def test_the_wire_goes_on_when_every_table_has_got_another_column(store_url: str) -> None:
    async def main(world: World) -> None:
        @world.app.job()
        async def greet(name: str) -> str:
            return f"Hello {name}"

        async with wired(world) as wire:
            await wire.client.create_schedule("before", Schedule(greeting(), HOURLY))
            await wire.client.start_workflow("greet", "Ann", id="one", task_queue="default")
            await wire.advance("90m")
            await widen(store_url)
            await wire.client.create_schedule("after", Schedule(greeting(id="other"), HOURLY))
            second = await wire.client.start_workflow("greet", "Ann", id="two", task_queue="default")
            await wire.advance("90m")
            assert await second.result() == "Hello Ann"
            for name, times in (("before", 3), ("after", 2)):
                described = await wire.client.get_schedule_handle(name).describe()
                assert len(described.info.recent_actions) == times
            assert {one.id async for one in await wire.client.list_schedules()} == {"before", "after"}
            ids = {one.id async for one in wire.client.list_workflows()}
            assert {"one", "two"} <= ids
            assert len(ids) == 7
            await nothing_is_parked(world.app)
        await world.close()

    world = World(quick(store_url))
    run_virtual(main(world), world.clock)
