"""Schedules of agents on both stores. The numbers are those of the RFC's conformance checklist."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ostinato import Conflict, NotFound, Ostinato, OstinatoError
from ostinato.flows import (
    Agent,
    AgentSchedules,
    BeforeLLMInput,
    BeforeResponseInput,
    Cancel,
    FlowContext,
    Replace,
    ResponseMeta,
    SkipLLM,
)
from ostinato.flows.schedules.rows import TriggeredRun
from ostinato.model import Event
from ostinato.testing import World
from tests.support.agents import Chat, Outbox, events, make_buddy
from tests.support.faults import SharedStore

ADA = {"kind": "user", "user_external_id": "ada"}
NINE = {"type": "cron", "expr": "0 9 * * *"}  # 12:00 in UTC: São Paulo is three hours behind
ALL = {"kind": "segment", "segment": {"type": "all"}, "campaign_id": "spring"}


def with_flows(agent: Agent) -> None:
    @agent.flow
    async def remind(ctx: FlowContext, text: str = "Stand up.") -> None:
        await ctx.say(text)

    @agent.flow
    async def checkin(ctx: FlowContext) -> None:
        await ctx.ask("How are you?")
        await ctx.say("Thank you.")


async def prepared(world: World, *answers: Any, user: bool = True, **options: Any) -> tuple[AgentSchedules, Outbox]:
    """A running agent with flows, and one user without a session."""
    agent, outbox = make_buddy(world, *answers, **options)
    with_flows(agent)
    await world.up()
    if user:
        await world.app.agents.put_user("buddy", "ada")
    return world.app.agents.schedules("buddy"), outbox


async def outcomes(schedules: AgentSchedules, id: str) -> list[tuple[str | None, str | None]]:
    return [(run.outcome, run.reason) for run in reversed(await schedules.runs(id))]


async def of_schedule(world: World, id: str) -> list[Event]:
    return [event for event in await events(world, "schedule") if event.data.get("schedule_id") == id]


async def names_of(world: World, id: str) -> list[str]:
    return [event.name.removeprefix("schedule:") for event in await of_schedule(world, id)]


async def test_01_triggers_are_cron_and_once_and_nothing_else(world: World) -> None:
    schedules, _ = await prepared(world)
    for trigger, words in (
        ({"type": "interval", "every": "1h"}, "the schedule.trigger has no 'every'"),
        ({"type": "interval"}, "the schedule.trigger.type 'interval' is neither 'cron' nor 'once'"),
        ({"type": "cron"}, "the schedule.trigger of type 'cron' needs 'expr'"),
        ({"type": "cron", "expr": "0 9 * * *", "run_at": "2026-02-01T09:00"}, "of type 'cron' has no 'run_at'"),
        ({"type": "cron", "expr": "0 0 9 * * *"}, "has 6 fields; a cron line has five"),
        ({"type": "cron", "expr": "@daily"}, "has 1 fields"),
        ({"type": "cron", "expr": "61 9 * * *"}, "the schedule.trigger.expr '61 9 * * *'"),
        ({"type": "cron", "expr": "0 9 31 2 *"}, "the schedule.trigger.expr '0 9 31 2 *'"),
        ({"type": "once", "run_at": "tomorrow"}, "the schedule.trigger.run_at"),
        ({"type": "once", "run_at": 5}, "the schedule.trigger.run_at 5 is not a time"),
        ("0 9 * * *", "is not an object with type, expr, run_at"),
    ):
        with pytest.raises(OstinatoError, match="(?s)" + words.replace("*", r"\*")):
            await schedules.create(flow="remind", trigger=trigger, target=ADA)  # type: ignore[arg-type]
    assert not await schedules.list()
    assert not await events(world, "schedule")


@pytest.mark.parametrize(
    "run_at",
    [
        "9999-12-31T23:59",
        "9999-12-31T23:59-14:00",
        "0001-01-01T00:00+14:00",
        "0001-01-01T00:00",
        "2500-01-01T00:00",
        "2199-12-31T23:59",  # in São Paulo
        "1900-01-01T00:00+01:00",
    ],
)
async def test_01_a_time_outside_the_calendar_of_schedules_is_refused(world: World, run_at: str) -> None:
    schedules, _ = await prepared(world)
    words = rf"the schedule.trigger.run_at {run_at[:16]}\S* is not in the years 1900 to 2199 in UTC; check the year"
    for value in (run_at, datetime.fromisoformat(run_at)):
        with pytest.raises(OstinatoError, match=words):
            await schedules.create(flow="remind", trigger={"type": "once", "run_at": value}, target=ADA)
    assert not await schedules.list()


async def test_an_id_that_is_not_free_to_use_is_refused_with_its_reason(world: World) -> None:
    schedules, _ = await prepared(world)
    for id, words in (
        ("cfg:x", "begins with 'cfg:', which is for schedules of the agent's code"),
        ("tool:x", "begins with 'tool:', which is for schedules of the agent's tools"),
        ("x" * 201, "has 201 characters; at most 200 are taken"),
    ):
        with pytest.raises(OstinatoError, match=words):
            await schedules.create(flow="remind", trigger=NINE, target=ADA, id=id)


async def test_02_times_are_in_the_zone_of_the_agent_and_of_its_scheduler(world: World) -> None:
    schedules, _ = await prepared(world, scheduler={"tz": "Europe/Berlin"})
    new = await schedules.create(flow="remind", trigger=NINE, target=ADA)
    assert new.record.tz == "Europe/Berlin"
    assert new.record.next_run_at is not None
    assert new.record.next_run_at.isoformat() == "2026-01-01T08:00:00+00:00"
    once = await schedules.create(flow="remind", trigger={"type": "once", "run_at": "2026-07-01T09:00"}, target=ADA)
    assert once.record.run_at is not None
    assert once.record.run_at.isoformat() == "2026-07-01T07:00:00+00:00"  # without an offset: in the zone


async def test_03_12_schedules_of_the_code_and_of_the_api_behave_the_same(world: World) -> None:
    """A key is `cfg:<key>`. The same code changes nothing, other code updates, and without the key it is canceled."""
    daily: dict[str, Any] = {"flow": "remind", "trigger": NINE, "target": ADA, "allow_session_bootstrap": True}
    schedules, outbox = await prepared(world, schedules={"morning": daily})
    new = await schedules.create(**daily)
    await world.advance("13h5m")
    assert outbox.texts == ["Stand up.", "Stand up."]
    assert await names_of(world, "cfg:morning") == await names_of(world, new.schedule_id)
    assert await outcomes(schedules, "cfg:morning") == await outcomes(schedules, new.schedule_id)
    first = await schedules.get("cfg:morning")
    assert (first.origin, first.status, first.version) == ("config", "active", 1)
    with pytest.raises(OstinatoError, match="is declared in the code"):
        await schedules.update("cfg:morning", flow="checkin")
    with pytest.raises(OstinatoError, match="is declared in the code"):
        await schedules.cancel("cfg:morning")

    await restart_with(world, schedules={"morning": daily})
    assert await world.app.agents.schedules("buddy").get("cfg:morning") == first
    await restart_with(world, schedules={"morning": {**daily, "trigger": {"type": "cron", "expr": "0 10 * * *"}}})
    changed = await world.app.agents.schedules("buddy").get("cfg:morning")
    assert (changed.version, changed.cron_expr) == (2, "0 10 * * *")
    await restart_with(world)
    gone = await world.app.agents.schedules("buddy").get("cfg:morning")
    assert (gone.status, gone.next_run_at, gone.reason) == ("canceled", None, "it is no longer in the code")
    await restart_with(world, schedules={"morning": daily})
    back = await world.app.agents.schedules("buddy").get("cfg:morning")
    assert (back.status, back.version) == ("active", 4)
    assert (await names_of(world, "cfg:morning"))[-4:] == ["updated", "deleted", "canceled", "created"]


async def test_03_a_schedule_of_the_code_is_paused_and_resumed_from_both_sides(world: World) -> None:
    """A pause is the operator's: a restart of the code leaves it, as it does for other declared schedules."""
    daily: dict[str, Any] = {"flow": "remind", "trigger": NINE, "target": ADA, "allow_session_bootstrap": True}
    schedules, outbox = await prepared(world, schedules={"morning": daily})
    await world.app.schedules.pause("agent/buddy/cfg:morning", "holiday")
    assert (await schedules.get("cfg:morning")).status == "paused"
    await restart_with(world, schedules={"morning": daily})
    schedules = world.app.agents.schedules("buddy")
    assert (await schedules.get("cfg:morning")).status == "paused"
    assert (await schedules.resume("cfg:morning")).status == "active"
    assert (await schedules.pause("cfg:morning")).status == "paused"
    await world.app.schedules.resume("agent/buddy/cfg:morning")
    assert (await schedules.get("cfg:morning")).status == "active"
    await schedules.create(**daily, id="x")
    for id in ("cfg:morning", "x"):
        with pytest.raises(Conflict, match=r"is not changed here; use app\.agents\.schedules\(…\)\.update"):
            await world.app.schedules.update(f"agent/buddy/{id}", notes="mine")
        with pytest.raises(Conflict, match="is not changed here"):
            await world.app.schedules.upsert(f"agent/buddy/{id}", "every 5m", "http", input={"url": "https://a.b"})
    assert not outbox.texts


async def test_04_a_schedule_that_an_operator_has_resumed_is_held_again(world: World) -> None:
    off: dict[str, Any] = {
        "scheduler": {"enabled": False},
        "schedules": {"y": {"flow": "remind", "trigger": NINE, "target": ADA}},
    }
    schedules, _ = await prepared(world, **off)
    await schedules.create(flow="remind", trigger=NINE, target=ADA, id="x")
    for id in ("cfg:y", "x"):
        await world.app.schedules.resume(f"agent/buddy/{id}")
    await restart_with(world, **off)
    schedules = world.app.agents.schedules("buddy")
    assert [(await schedules.get(id)).status for id in ("cfg:y", "x")] == ["paused", "paused"]


async def restart_with(world: World, **options: Any) -> Agent:
    """Deploy another version of the agent on the same store."""

    await world.down()
    world.app = Ostinato(world._store, clock=world.clock, **world._settings)
    agent, _ = make_buddy(world, **options)
    with_flows(agent)
    await world.up()
    return agent


async def test_03_an_unknown_flow_in_the_code_stops_the_start(world: World) -> None:
    agent, _ = make_buddy(world, schedules={"x": {"flow": "remnd", "trigger": NINE, "target": ADA}})
    with_flows(agent)
    with pytest.raises(NotFound, match="has no flow 'remnd'; did you mean"):
        await world.up()
    with pytest.raises(OstinatoError, match=r"agent 'other': schedules\['x'\].target"):
        world.app.agent("other", tz="UTC", transport=Outbox(), schedules={"x": {"flow": "a", "trigger": NINE}})


async def test_04_a_scheduler_that_is_not_enabled_runs_nothing(world: World) -> None:
    schedules, outbox = await prepared(world)
    new = await schedules.create(flow="remind", trigger=NINE, target=ADA, allow_session_bootstrap=True)
    apart = world.app.within("apart").agents
    await world.app.create_namespace("apart")
    await apart.put_user("buddy", "ada")
    daily: dict[str, Any] = {"flow": "remind", "trigger": NINE, "target": ADA}
    await apart.schedules("buddy").create(**daily, id="x", allow_session_bootstrap=True)
    agent = await restart_with(world, scheduler={"enabled": False})
    assert (await world.app.within("apart").agents.schedules("buddy").get("x")).status == "paused"
    schedules = world.app.agents.schedules("buddy")
    assert (await schedules.get(new.schedule_id)).status == "paused"
    other = await schedules.create(flow="remind", trigger=NINE, target=ADA, allow_session_bootstrap=True)
    await world.advance("3d")
    assert outbox.texts == agent.settings.transport.texts == []  # type: ignore[attr-defined]
    with pytest.raises(Conflict, match="not enabled"):
        await schedules.resume(new.schedule_id)
    agent = await restart_with(world)
    await world.advance("1d")
    assert agent.settings.transport.texts == ["Stand up."] * 3  # type: ignore[attr-defined]
    schedules = world.app.agents.schedules("buddy")
    assert [(await schedules.get(id)).status for id in (new.schedule_id, other.schedule_id)] == ["active", "active"]


async def test_04_settings_of_the_scheduler_are_checked_and_are_one_for_an_app(world: World) -> None:
    for scheduler, words in (
        ({"enabled": "yes"}, "scheduler.enabled 'yes' is neither"),
        ({"executor": "cloud"}, "scheduler.executor 'cloud' is none of in_process, external"),
        ({"tz": "Mars/North"}, "Mars/North"),
        ({"poll_interval_ms": 0}, "scheduler.poll_interval_ms 0 is not a whole number"),
        ({"pollIntervalMs": 5}, "has no 'pollIntervalMs'"),
        ({"default_on_missed": {"policy": "later"}}, "scheduler.default_on_missed.policy 'later' is neither"),
    ):
        with pytest.raises(OstinatoError, match=words):
            world.app.agent("x", tz="UTC", transport=Outbox(), scheduler=scheduler)
    world.app.agent("one", tz="UTC", transport=Outbox(), scheduler={"claim_ttl_seconds": 30})
    world.app.agent("two", tz="UTC", transport=Outbox(), scheduler={"claim_ttl_seconds": 60})
    with pytest.raises(OstinatoError, match=r"scheduler\.claim_ttl_seconds is one for all agents of an app, but 'one'"):
        await world.up()


@pytest.mark.parametrize(("most", "together"), [(1, 1), (2, 2), (None, 5)])
async def test_04_max_concurrent_runs_bounds_turns(world: World, most: int | None, together: int) -> None:
    """Each of five users has a turn at nine that takes a minute: so many of them go on at once, and none is lost."""
    agent, outbox = make_buddy(world, scheduler={"max_concurrent_runs": most})
    going_on, seen = 0, 0

    @agent.flow
    async def slow(ctx: FlowContext) -> None:
        async def work() -> None:
            nonlocal going_on, seen
            going_on += 1
            seen = max(seen, going_on)
            await asyncio.sleep(60)
            going_on -= 1

        await ctx.step(work)
        await ctx.say("done")

    await world.up()
    schedules = world.app.agents.schedules("buddy")
    for number in range(5):
        await world.app.agents.put_user("buddy", f"user-{number}")
        target = {"kind": "user", "user_external_id": f"user-{number}"}
        await schedules.create(flow="slow", trigger=NINE, target=target, allow_session_bootstrap=True)
    await world.advance_to("2026-01-01T12:00:30Z")
    assert seen == together
    await world.advance("10m")
    assert (seen, sorted(message.user for message in outbox.sent)) == (together, [f"user-{n}" for n in range(5)])


async def test_05_06_an_agent_without_schedules_writes_nothing_about_them(world: World) -> None:
    make_buddy(world, "hi")
    assert await Chat(world).say("hello") == ("success", None)
    await world.advance("2d")
    assert not await events(world, "schedule")
    assert not await world.app.runs(name="agent-schedule")


async def test_07_every_field_that_is_wrong_is_refused_with_its_place(world: World) -> None:
    schedules, _ = await prepared(world)
    good: dict[str, Any] = {"flow": "remind", "trigger": NINE, "target": ADA}
    for change, words in (
        ({"flow": ""}, "the schedule.flow"),
        ({"flow": "remnd"}, "has no flow 'remnd'; did you mean 'remind'"),
        ({"target": {"kind": "user"}}, "the schedule.target.user_external_id"),
        ({"target": {"kind": "user", "user_external_id": "eve"}}, "has no user 'eve'"),
        ({"target": {"kind": "all"}}, "the schedule.target {'kind': 'all'} is neither"),
        ({"target": {**ADA, "segment": {"type": "all"}}}, "the schedule.target has no 'segment'"),
        ({"target": {"kind": "segment", "segment": {"type": "everyone"}}}, "segment"),
        ({"allow_session_bootstrap": "yes"}, "the schedule.allow_session_bootstrap 'yes' is neither"),
        ({"on_missed": {"policy": "retry"}}, "the schedule.on_missed.policy 'retry' is neither"),
        ({"on_missed": {"policy": "skip", "max_runs": 3}}, "max_runs is for the policy 'catch_up'"),
        ({"on_missed": {"policy": "catch_up", "max_runs": 0}}, "the schedule.on_missed.max_runs 0"),
        ({"metadata": [1]}, "the schedule.metadata"),
        ({"metadata": {"schedule_id": "x"}}, "the schedule.metadata cannot have 'schedule_id'"),
        ({"metadata": {"x": "y" * 20_000}}, "at most 16,384 are taken"),
        ({"on_active_flow": "interrupt"}, "the schedule.on_active_flow 'interrupt' is none of"),
        ({"input": {"txt": "a"}}, "flow 'remind': txt: there is no such argument; did you mean 'text'"),
        ({"input": {"txt": float("nan")}}, "the schedule.input is not JSON"),
        ({"target": {**ADA, "session_id": "nope"}}, "target.session_id: user 'ada' of agent 'buddy' has no session"),
        ({"flow": "classic"}, "has no model that could write the message; name a flow"),
        (
            {"target": {"kind": "segment", "segment": {"type": "custom_query", "resolver": "vips"}}},
            "has no segment 'vips'",
        ),
        (
            {"target": {**ALL, "options": {"variants": {"a": {"flow": "remnd"}}}}},
            "has no flow 'remnd'; did you mean 'remind'",
        ),
        ({"id": "cfg:mine"}, "begins with 'cfg:'"),
    ):
        with pytest.raises(OstinatoError, match=words):
            await schedules.create(**{**good, **change})
    assert not await schedules.list()


async def test_08_create_returns_the_id_and_says_so_once(world: World) -> None:
    schedules, _ = await prepared(world)
    new = await schedules.create(flow="remind", trigger=NINE, target=ADA, id="r1", metadata={"note": "x"})
    assert new.schedule_id == "r1"
    assert "allow_session_bootstrap is false" in new.warnings[0]
    again = await schedules.create(flow="remind", trigger=NINE, target=ADA, id="r1", metadata={"note": "x"})
    assert again.record == new.record
    with pytest.raises(Conflict, match="has a schedule 'r1' already"):
        await schedules.create(flow="checkin", trigger=NINE, target=ADA, id="r1")
    (created,) = await of_schedule(world, "r1")
    assert created.name == "schedule:created"
    assert {name: created.data[name] for name in ("schedule_id", "flow", "target_kind", "user_external_id")} == {
        "schedule_id": "r1",
        "flow": "remind",
        "target_kind": "user",
        "user_external_id": "ada",
    }
    assert created.data["source"] == "scheduled"


async def test_09_update_changes_what_is_given_and_counts(world: World) -> None:
    schedules, outbox = await prepared(world)
    new = await schedules.create(flow="remind", trigger=NINE, target=ADA, metadata={"a": 1})
    id = new.schedule_id
    changed = await schedules.update(id, trigger={"type": "cron", "expr": "30 9 * * *"}, allow_session_bootstrap=True)
    assert (changed.version, changed.cron_expr, changed.metadata, changed.flow) == (2, "30 9 * * *", {"a": 1}, "remind")
    assert changed.next_run_at is not None
    assert changed.next_run_at.isoformat() == "2026-01-01T12:30:00+00:00"
    with pytest.raises(Conflict, match="has version 2, not 1"):
        await schedules.update(id, version=1, flow="checkin")
    with pytest.raises(OstinatoError, match="changes nothing"):
        await schedules.update(id)
    with pytest.raises(OstinatoError, match="has no 'flowId'"):
        await schedules.update(id, flowId="checkin")
    with pytest.raises(OstinatoError, match="has passed"):
        await schedules.update(id, trigger={"type": "once", "run_at": "2025-01-01T00:00Z"})
    await world.advance("13h")
    assert outbox.texts == ["Stand up."]
    assert await names_of(world, id) == ["created", "updated", "triggered", "run_started", "run_completed"]


async def test_10_18_a_canceled_schedule_never_fires_again(world: World) -> None:
    schedules, outbox = await prepared(world)
    new = await schedules.create(flow="remind", trigger=NINE, target=ADA, allow_session_bootstrap=True)
    id = new.schedule_id
    canceled = await schedules.cancel(id, "no more")
    assert (canceled.status, canceled.next_run_at, canceled.reason) == ("canceled", None, "no more")
    assert await schedules.cancel(id) == canceled
    with pytest.raises(Conflict, match="is canceled"):
        await schedules.update(id, flow="checkin")
    with pytest.raises(Conflict, match="is canceled"):
        await schedules.resume(id)
    await world.advance("3d")
    assert not outbox.texts
    (event,) = [event for event in await of_schedule(world, id) if event.name == "schedule:canceled"]
    assert event.data["reason"] == "no more"
    assert "run_id" not in event.data
    with pytest.raises(NotFound, match="has no schedule 'nothing'"):
        await schedules.cancel("nothing")


async def test_10_45_a_completed_schedule_stays_completed(world: World) -> None:
    soon = {"type": "once", "run_at": "2026-01-01T01:00Z"}
    wanted = {"flow": "remind", "trigger": soon, "target": ADA, "allow_session_bootstrap": True}
    schedules, outbox = await prepared(world, schedules={"soon": wanted})
    await schedules.create(**wanted, id="x")  # type: ignore[arg-type]
    await world.advance("2h")
    assert len(outbox.texts) == 2
    before = await schedules.get("x")
    assert before.status == "completed"
    assert await schedules.cancel("x", "too late") == before
    assert not [event for event in await of_schedule(world, "x") if event.name == "schedule:canceled"]
    await restart_with(world)
    assert (await world.app.agents.schedules("buddy").get("cfg:soon")).status == "completed"


async def test_18_a_turn_that_waits_in_its_session_does_not_begin_after_a_cancel_or_a_pause(world: World) -> None:
    """Turns that were accepted and deferred: what the schedule is then decides, in the transaction that begins them."""
    schedules, outbox = await prepared(world)
    options: dict[str, Any] = {"target": ADA, "allow_session_bootstrap": True}
    await schedules.create(**options, flow="checkin", trigger={"type": "once", "run_at": "2026-01-01T00:30Z"}, id="ask")
    hourly = {"type": "cron", "expr": "0 22 * * *"}  # 01:00 in UTC
    for id in ("canceled", "paused", "stays"):
        await schedules.create(
            **options, flow="remind", trigger=hourly, id=id, on_active_flow="defer", input={"text": id}
        )
    await world.advance("2h")
    assert [await outcomes(schedules, id) for id in ("canceled", "paused", "stays")] == [[(None, None)]] * 3
    await schedules.cancel("canceled")
    await schedules.pause("paused")
    await Chat(world).say("fine")
    assert outbox.texts == ["How are you?", "Thank you.", "stays"]
    assert await outcomes(schedules, "canceled") == [("skipped", "schedule_canceled")]
    assert await outcomes(schedules, "paused") == [("skipped", "schedule_paused")]
    assert await outcomes(schedules, "stays") == [("success", None)]


async def test_18_a_schedule_that_is_canceled_after_it_has_fired_begins_no_turn(world: World) -> None:
    schedules, outbox = await prepared(world)
    options: dict[str, Any] = {"flow": "remind", "trigger": NINE, "target": ADA, "allow_session_bootstrap": True}
    await schedules.create(**options, id="canceled")
    await schedules.create(**options, id="paused")
    await world.down()
    await asyncio.sleep(12 * 3600 + 5)  # it is due, and no node has fired it
    async with world.app.connected():
        await world.app.agents.schedules("buddy").cancel("canceled")
        await world.app.agents.schedules("buddy").pause("paused")
    await world.up()
    await world.settle()
    schedules = world.app.agents.schedules("buddy")
    assert not outbox.texts
    assert await outcomes(schedules, "canceled") == [("skipped", "schedule_canceled")]
    assert await outcomes(schedules, "paused") == [("skipped", "schedule_paused")]
    assert (await names_of(world, "canceled"))[-2:] == ["run_started", "skipped"]


async def test_58_60_a_node_that_dies_between_firing_and_turn_loses_and_repeats_nothing(world: World) -> None:
    """At every commit of a firing and its turn the node is lost, and the next one goes on."""
    world.app.configure(lease="1m")
    _, outbox = await prepared(world)
    trigger = {"type": "cron", "expr": "*/10 * * * *"}
    schedules = world.app.agents.schedules("buddy")
    new = await schedules.create(flow="remind", trigger=trigger, target=ADA, allow_session_bootstrap=True)
    for crash_at in range(1, 60):
        due = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=10 * crash_at)
        await world.advance_to(due - timedelta(seconds=1))
        sent, store, count = len(outbox.texts), world.app.store, 0
        run = store.run

        async def counted(make: Any, run: Any = run, crash_at: int = crash_at) -> Any:
            nonlocal count
            count += 1
            if count == crash_at:
                await asyncio.Event().wait()  # until the node is killed
            return await run(make)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store, "run", counted)
            await asyncio.sleep(2)
            await world.crash()
        await world.up()
        await world.advance("4m")
        (last,) = await world.app.agents.schedules("buddy").runs(new.schedule_id, limit=1)
        assert last.scheduled_for == due, f"commit {crash_at}"
        if last.outcome == "failed":
            assert last.reason == "delivery_unknown", f"commit {crash_at}"  # it was sent, and nobody wrote that
        else:
            assert last.outcome == "success", f"commit {crash_at}: {last}"
        assert len(outbox.texts) == sent + 1, f"commit {crash_at}"
        if count < crash_at:
            assert crash_at > 5
            return
    raise AssertionError("there is no end of commits")


async def test_11_list_filters_alone_and_together(world: World) -> None:
    schedules, _ = await prepared(world)
    await world.app.agents.put_user("buddy", "bob")
    bob = {"kind": "user", "user_external_id": "bob"}
    for id, flow, target in (
        ("a", "remind", ADA),
        ("b", "checkin", ADA),
        ("c", "remind", bob),
        ("d", "remind", ALL),
    ):
        await schedules.create(id=id, flow=flow, trigger=NINE, target=target)
    await schedules.pause("b")
    await schedules.cancel("c")

    async def ids(**filters: Any) -> str:
        return "".join(record.id for record in await schedules.list(**filters))

    assert await ids() == "abcd"
    assert await ids(flow="remind") == "acd"
    assert [await ids(status=status) for status in ("active", "paused", "canceled", "completed")] == [
        "ad",
        "b",
        "c",
        "",
    ]
    assert (await ids(target_kind="segment"), await ids(target_kind="user")) == ("d", "abc")
    assert (await ids(user_external_id="ada"), await ids(campaign_id="spring")) == ("ab", "d")
    assert await ids(user_external_id="ada", flow="remind", status="active", target_kind="user") == "a"
    assert await ids(user_external_id="bob", status="active") == ""
    assert (await ids(limit=2), await ids(after="b", limit=2)) == ("ab", "cd")
    with pytest.raises(OstinatoError, match="status 'on' is none of"):
        await schedules.list(status="on")
    other = world.app.within("elsewhere").agents.schedules("buddy")
    assert not await other.list()
    with pytest.raises(NotFound):
        await other.get("a")


async def test_12_30_paused_never_fires_and_resuming_skips_what_was_missed(world: World) -> None:
    schedules, outbox = await prepared(world)
    options: dict[str, Any] = {"flow": "remind", "trigger": NINE, "target": ADA, "allow_session_bootstrap": True}
    await schedules.create(**options, id="skips")
    await schedules.create(**options, id="catches", on_missed={"policy": "catch_up", "max_runs": 2})
    for id in ("skips", "catches"):
        assert (await schedules.pause(id, "holiday")).status == "paused"
    await world.advance("3d")
    assert not outbox.texts
    for id in ("skips", "catches"):
        assert (await schedules.resume(id)).status == "active"
    await world.settle()
    assert len(outbox.texts) == 2
    assert {outcome for outcome, _ in await outcomes(schedules, "skips")} == {"skipped"}
    assert (await outcomes(schedules, "catches"))[-2:] == [("success", None), ("success", None)]
    names = await names_of(world, "skips")
    assert (names[0], names[1], names[-1]) == ("created", "paused", "resumed")


async def test_30_a_trigger_runs_a_schedule_that_is_paused(world: World) -> None:
    schedules, outbox = await prepared(world)
    await schedules.create(flow="remind", trigger=NINE, target=ADA, allow_session_bootstrap=True, id="x")
    await schedules.pause("x")
    await schedules.trigger("x")
    await world.settle()
    assert outbox.texts == ["Stand up."]
    assert (await schedules.get("x")).status == "paused"
    assert await outcomes(schedules, "x") == [("success", None)]


async def test_a_trigger_says_whether_its_run_was_started(world: World) -> None:
    """Two triggers at once: the policy `skip` lets the second one not run, and its caller hears so."""
    schedules, outbox = await prepared(world)
    options: dict[str, Any] = {"flow": "remind", "trigger": NINE, "target": ADA, "allow_session_bootstrap": True}
    await schedules.create(**options, id="skips")
    await schedules.create(**options, id="catches", on_missed={"policy": "catch_up", "max_runs": 2})
    seen = {}
    for id in ("skips", "catches"):
        both = await asyncio.gather(schedules.trigger(id), schedules.trigger(id))
        seen[id] = sorted((one.status, one.reason) for one in both)
        assert {run.id for run in await schedules.runs(id)} == {one.run_id for one in both}
    assert seen == {
        "skips": [("skipped", "overlap"), ("started", None)],
        "catches": [("buffered", None), ("started", None)],
    }
    await world.settle()
    assert outbox.texts == ["Stand up."] * 3


async def test_a_trigger_that_is_repeated_after_an_upgrade_is_answered(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An earlier version kept the id of the run alone as the answer to the request."""
    schedules, _ = await prepared(world)

    async def answer(*_: Any) -> str:
        return "run-1"

    monkeypatch.setattr(type(schedules), "_write", answer)
    assert await schedules.trigger("x", request_id="r") == TriggeredRun("run-1", "started")


async def test_13_29_83_a_run_is_recorded_and_its_turn_says_what_began_it(world: World) -> None:
    schedules, _ = await prepared(world)
    new = await schedules.create(
        flow="remind", trigger=NINE, target=ADA, allow_session_bootstrap=True, metadata={"note": "x"}
    )
    await world.advance("13h")
    (run,) = await schedules.runs(new.schedule_id)
    assert (run.outcome, run.reason, run.attempt, run.target_kind) == ("success", None, 1, "user")
    assert run.scheduled_for.isoformat() == "2026-01-01T12:00:00+00:00"
    assert run.started_at is not None
    assert run.finished_at is not None
    assert run.request_id is not None
    turn = await world.app.agents.turn(run.request_id)
    assert turn.source == "scheduled"
    assert turn.session_id == run.session_id
    assert {name: turn.metadata[name] for name in ("schedule_id", "trigger_type", "run_attempt", "note")} == {
        "schedule_id": new.schedule_id,
        "trigger_type": "cron",
        "run_attempt": 1,
        "note": "x",
    }
    assert turn.metadata["scheduled_for"] == int(run.scheduled_for.timestamp()) * 1_000_000
    record = await schedules.get(new.schedule_id)
    assert record.last_run_at is not None
    assert record.next_run_at is not None
    assert record.next_run_at.isoformat() == "2026-01-02T12:00:00+00:00"
    assert (await world.app.agents.user("buddy", "ada")).active is None  # a scheduled turn is no activity of the user


async def test_31_a_scheduled_turn_has_no_commands(world: World) -> None:
    agent, outbox = make_buddy(world, "the model")
    called: list[str] = []
    agent.command(name="stop")(lambda ctx, rest: called.append(rest))
    await world.up()
    await world.app.agents.put_user("buddy", "ada")
    schedules = world.app.agents.schedules("buddy")
    await schedules.create(
        flow="classic", trigger=NINE, target=ADA, allow_session_bootstrap=True, metadata={"prompt": "/stop now"}
    )
    await world.advance("13h")
    assert (called, outbox.texts) == ([], ["the model"])


async def test_32_33_34_35_hooks_run_for_scheduled_turns(world: World) -> None:
    agent, outbox = make_buddy(world)
    with_flows(agent)
    metas: list[ResponseMeta] = []

    @agent.before_llm
    def before(hook_input: BeforeLLMInput) -> Any:
        what = hook_input.turn.metadata.get("what")
        return SkipLLM("short") if what == "skip" else 1 / 0 if what == "raise" else None

    @agent.before_response
    def after(response: BeforeResponseInput) -> Any:
        return {"cancel": Cancel("quiet"), "replace": Replace("better")}.get(response.turn.metadata.get("what", ""))

    @agent.on_response
    def done(structured: Any, ctx: Any, meta: ResponseMeta) -> None:
        metas.append(meta)

    await world.up()
    await world.app.agents.put_user("buddy", "ada")
    schedules = world.app.agents.schedules("buddy")
    for minute, what in enumerate(("skip", "cancel", "replace", "raise")):
        await schedules.create(
            id=what,
            flow="remind",
            trigger={"type": "cron", "expr": f"{minute} 9 * * *"},
            target=ADA,
            allow_session_bootstrap=True,
            metadata={"what": what},
        )
    await world.advance("13h")
    assert outbox.texts == ["short", "better", "Stand up."]
    assert {meta.source for meta in metas} == {"scheduled"}
    assert [await outcomes(schedules, what) for what in ("skip", "cancel", "replace", "raise")] == [
        [("success", None)],
        [("success", "policy_cancel")],
        [("success", None)],
        [("success", None)],
    ]
    failed = [event for event in await events(world, "response") if event.name == "response:failed"]
    assert [event.data["stage"] for event in failed] == ["before_llm"]
    assert failed[0].data["schedule_id"] == "raise"


async def test_36_37_38_hitl_cancels_the_run_and_the_next_is_unaffected(world: World) -> None:
    schedules, outbox = await prepared(world, "hello", admins=["boss"])
    await Chat(world).say("hi")
    people = world.app.within("default", "boss").agents
    new = await schedules.create(flow="remind", trigger=NINE, target=ADA, allow_session_bootstrap=True)
    id = new.schedule_id
    await people.take_over("buddy", "ada")
    await world.advance("13h")
    await people.hand_back("buddy", "ada")
    assert outbox.texts == ["hello"]
    await world.advance("12h")  # nothing is replayed
    assert outbox.texts == ["hello"]
    await world.advance("12h")
    assert outbox.texts == ["hello", "Stand up."]
    assert await outcomes(schedules, id) == [("canceled_hitl", "hitl_live_takeover"), ("success", None)]
    names = await names_of(world, id)
    assert names[:4] == ["created", "triggered", "run_started", "run_canceled_hitl"]
    (event,) = [event for event in await of_schedule(world, id) if event.name == "schedule:run_canceled_hitl"]
    assert (event.data["outcome"], event.data["reason"]) == ("canceled_hitl", "hitl_live_takeover")
    assert event.data["user_external_id"] == "ada"


async def test_40_missed_times_are_skipped_after_a_restart_in_one_row(world: World) -> None:
    schedules, outbox = await prepared(world)
    new = await schedules.create(
        flow="remind", trigger={"type": "cron", "expr": "*/10 * * * *"}, target=ADA, allow_session_bootstrap=True
    )
    await world.outage("2026-01-01T00:05Z", "2026-01-02T00:05Z")
    await world.settle()
    schedules = world.app.agents.schedules("buddy")
    assert not outbox.texts
    (run,) = await schedules.runs(new.schedule_id)
    assert (run.outcome, run.reason, run.count) == ("skipped", "missed", 144)
    assert (run.scheduled_for.isoformat(), run.last.isoformat()) == (
        "2026-01-01T00:10:00+00:00",
        "2026-01-02T00:00:00+00:00",
    )
    (event,) = [event for event in await of_schedule(world, new.schedule_id) if event.name == "schedule:skipped"]
    assert (event.data["reason"], event.data["count"], event.data["outcome"]) == ("missed", 144, "skipped")
    await world.advance("10m")
    assert outbox.texts == ["Stand up."]


async def test_40_a_minute_late_is_on_time(world: World) -> None:
    schedules, outbox = await prepared(world)
    await schedules.create(flow="remind", trigger=NINE, target=ADA, allow_session_bootstrap=True)
    await world.outage("2026-01-01T11:59:50Z", "2026-01-01T12:00:50Z")
    await world.outage("2026-01-02T11:59:50Z", "2026-01-02T12:01:10Z")
    assert outbox.texts == ["Stand up."]


@pytest.mark.parametrize(
    ("missed", "runs"),
    [
        ({"policy": "catch_up", "max_runs": 3}, ["09", "10", "11"]),
        ({"policy": "catch_up", "max_age_seconds": 7_200}, ["10", "11"]),
        ({"policy": "catch_up", "max_runs": 3, "max_age_seconds": 7_200}, ["10", "11"]),
        ({"policy": "catch_up", "max_runs": 1, "max_age_seconds": 7_200}, ["11"]),
        ({"policy": "catch_up"}, ["11"]),
        ({"policy": "skip"}, []),
    ],
)
async def test_41_catch_up_is_bounded_by_runs_and_age(world: World, missed: Any, runs: list[str]) -> None:
    schedules, outbox = await prepared(world)
    new = await schedules.create(
        flow="remind",
        trigger={"type": "cron", "expr": "0 * * * *"},
        target=ADA,
        allow_session_bootstrap=True,
        on_missed=missed,
    )
    await world.outage("2026-01-01T04:30Z", "2026-01-01T11:30Z")
    schedules = world.app.agents.schedules("buddy")
    assert len(outbox.texts) == 4 + len(runs)
    after = [run for run in reversed(await schedules.runs(new.schedule_id)) if f"{run.scheduled_for:%H}" > "04"]
    assert [f"{run.scheduled_for:%H}" for run in after if run.outcome == "success"] == runs
    (skipped,) = [run for run in after if run.outcome == "skipped"]
    assert (skipped.reason, skipped.count) == ("missed", 7 - len(runs))


async def test_42_the_default_for_missed_times_is_the_agents_and_a_schedule_overrides_it(world: World) -> None:
    schedules, outbox = await prepared(world, scheduler={"default_on_missed": {"policy": "catch_up", "max_runs": 2}})
    hourly: dict[str, Any] = {"trigger": {"type": "cron", "expr": "0 * * * *"}, "target": ADA}
    options = {**hourly, "flow": "remind", "allow_session_bootstrap": True}
    assert (await schedules.create(**options, id="a")).record.max_runs == 2
    await schedules.create(**options, id="b", on_missed={"policy": "skip"}, input={"text": "never"})
    await world.outage("2026-01-01T00:30Z", "2026-01-01T06:30Z")
    assert outbox.texts == ["Stand up.", "Stand up."]


async def test_43_no_session_and_no_bootstrap_is_skipped(world: World) -> None:
    schedules, outbox = await prepared(world, "hello")
    new = await schedules.create(flow="remind", trigger=NINE, target=ADA)
    await world.advance("13h")
    assert await outcomes(schedules, new.schedule_id) == [("skipped", "bootstrap_disabled")]
    assert await names_of(world, new.schedule_id) == ["created", "triggered", "run_started", "skipped"]
    assert not await world.app.agents.sessions("buddy")
    await world.advance_to("2026-01-02T11:55Z")
    await Chat(world).say("hi")  # now there is one
    await world.advance("10m")
    assert outbox.texts == ["hello", "Stand up."]


async def test_43_a_session_that_is_named_must_be_the_active_one(world: World) -> None:
    schedules, outbox = await prepared(world, "hello", "again")
    await Chat(world).say("hi")
    (session,) = await world.app.agents.sessions("buddy")
    target = {**ADA, "session_id": session.id}
    once = {"type": "once", "run_at": "2026-01-01T00:05Z"}
    await schedules.create(flow="remind", trigger=once, target=target, id="soon")
    later = {"type": "once", "run_at": "2026-01-03T00:05Z"}
    await schedules.create(flow="remind", trigger=later, target=target, id="later")
    await world.advance_to("2026-01-03T00:01Z")  # that session has ended
    await Chat(world).say("hi again", id="x")
    await world.advance("10m")
    assert outbox.texts == ["hello", "Stand up.", "again"]
    assert await outcomes(schedules, "later") == [("skipped", "bootstrap_disabled")]


async def test_44_with_bootstrap_a_session_is_begun(world: World) -> None:
    schedules, outbox = await prepared(world)
    new = await schedules.create(flow="remind", trigger=NINE, target=ADA, allow_session_bootstrap=True)
    assert new.warnings == ()
    await world.advance("13h")
    assert outbox.texts == ["Stand up."]
    assert len(await world.app.agents.sessions("buddy", user="ada")) == 1


async def test_45_once_runs_once_and_is_completed_whatever_came_of_it(world: World) -> None:
    schedules, outbox = await prepared(world)
    once = {"type": "once", "run_at": "2026-01-01T09:00"}
    await schedules.create(flow="remind", trigger=once, target=ADA, allow_session_bootstrap=True, id="sent")
    before = {"type": "once", "run_at": "2026-01-01T08:00"}
    await schedules.create(flow="remind", trigger=before, target=ADA, id="skipped")
    await world.advance("3d")
    assert outbox.texts == ["Stand up."]
    for id, outcome in (("sent", ("success", None)), ("skipped", ("skipped", "bootstrap_disabled"))):
        record = await schedules.get(id)
        assert (record.status, record.next_run_at) == ("completed", None)
        assert await outcomes(schedules, id) == [outcome]
        assert (await names_of(world, id))[-1] == "completed"
    again = await schedules.update("sent", trigger={"type": "once", "run_at": "2026-01-05T09:00"})
    assert again.status == "active"
    await world.advance("3d")
    assert outbox.texts == ["Stand up."] * 2


async def test_12_a_time_that_has_passed_is_refused_unless_it_is_caught_up_with(world: World) -> None:
    schedules, outbox = await prepared(world)
    once = {"type": "once", "run_at": "2025-12-31T22:00Z"}
    good: dict[str, Any] = {"flow": "remind", "trigger": once, "target": ADA, "allow_session_bootstrap": True}
    with pytest.raises(OstinatoError, match=r"run_at 2025-12-31T19:00:00-03:00 has passed"):
        await schedules.create(**good)
    with pytest.raises(OstinatoError, match="has passed"):
        await schedules.create(**good, on_missed={"policy": "catch_up", "max_age_seconds": 3_600})
    new = await schedules.create(**good, on_missed={"policy": "catch_up", "max_age_seconds": 86_400})
    await world.settle()
    assert outbox.texts == ["Stand up."]
    (run,) = await schedules.runs(new.schedule_id)
    assert run.scheduled_for.isoformat() == "2025-12-31T22:00:00+00:00"
    assert (await schedules.get(new.schedule_id)).status == "completed"


async def test_12_a_past_time_in_the_code_is_missed_and_does_not_stop_the_start(world: World) -> None:
    once = {"type": "once", "run_at": "2025-12-31T22:00Z"}
    schedules, outbox = await prepared(world, schedules={"old": {"flow": "remind", "trigger": once, "target": ADA}})
    await world.settle()
    assert not outbox.texts
    assert (await schedules.get("cfg:old")).status == "completed"
    assert await outcomes(schedules, "cfg:old") == [("skipped", "missed")]


async def test_46_cron_follows_the_clock_of_the_zone_on_days_when_it_changes(world: World) -> None:
    schedules, _ = await prepared(world, scheduler={"tz": "Europe/Berlin"})
    options: dict[str, Any] = {"flow": "remind", "target": ADA, "allow_session_bootstrap": True}
    await schedules.create(**options, id="nine", trigger=NINE)
    await schedules.create(**options, id="gap", trigger={"type": "cron", "expr": "30 2 * * *"})
    await world.outage("2026-01-01T00:01Z", "2026-03-27T23:00Z")
    await world.advance_to("2026-03-30T00:00Z")
    schedules = world.app.agents.schedules("buddy")
    nine = [f"{run.scheduled_for:%d %H:%M}" for run in reversed(await schedules.runs("nine", limit=2))]
    assert nine == ["28 08:00", "29 07:00"]
    gap = [f"{run.scheduled_for:%d %H:%M}" for run in reversed(await schedules.runs("gap", limit=2))]
    assert gap[0] == "28 01:30"
    assert gap[1] == "29 01:00"  # 02:30 does not exist: at the end of the gap, once
    await world.outage("2026-03-30T00:00Z", "2026-10-23T23:00Z")
    await world.advance_to("2026-10-26T00:00Z")
    twice = [f"{run.scheduled_for:%d %H:%M}" for run in reversed(await schedules.runs("gap", limit=2))]
    assert twice == ["24 00:30", "25 00:30"]  # 02:30 comes twice: once, at the first


async def test_14_another_zone_of_the_agent_moves_all_schedules(world: World) -> None:
    schedules, _ = await prepared(world)
    new = await schedules.create(flow="remind", trigger=NINE, target=ADA)
    once = await schedules.create(flow="remind", trigger={"type": "once", "run_at": "2026-07-01T09:00"}, target=ADA)
    await restart_with(world, scheduler={"tz": "Asia/Tokyo"})
    schedules = world.app.agents.schedules("buddy")
    moved = await schedules.get(new.schedule_id)
    assert (moved.tz, moved.version) == ("Asia/Tokyo", 2)
    assert moved.next_run_at is not None
    assert moved.next_run_at.isoformat() == "2026-01-02T00:00:00+00:00" or moved.next_run_at.isoformat().startswith(
        "2026-01-01T00"
    )
    assert (await schedules.get(once.schedule_id)).run_at == once.record.run_at  # a single time is an instant
    assert (await names_of(world, new.schedule_id)) == ["created", "updated"]
    await restart_with(world, scheduler={"tz": "Asia/Tokyo"})
    assert (await world.app.agents.schedules("buddy").get(new.schedule_id)).version == 2


async def test_07_a_trigger_is_never_the_answer_to_a_question(world: World) -> None:
    """Decision 7: `on_active_flow` says what happens."""
    schedules, outbox = await prepared(world)
    options: dict[str, Any] = {"target": ADA, "allow_session_bootstrap": True}
    at = {"type": "once", "run_at": "2026-01-01T01:00Z"}
    await schedules.create(**options, flow="checkin", trigger={"type": "once", "run_at": "2026-01-01T00:30Z"}, id="ask")
    await schedules.create(**options, flow="remind", trigger=at, id="skip")
    await schedules.create(**options, flow="remind", trigger=at, id="defer", on_active_flow="defer")
    await world.advance("2h")
    assert outbox.texts == ["How are you?"]
    assert await outcomes(schedules, "ask") == [("success", "flow_waiting")]
    assert await outcomes(schedules, "skip") == [("skipped", "flow_active")]
    assert await outcomes(schedules, "defer") == [(None, None)]
    await Chat(world).say("fine")
    assert outbox.texts == ["How are you?", "Thank you.", "Stand up."]
    assert await outcomes(schedules, "defer") == [("success", None)]


async def test_07_a_schedule_replaces_the_flow_that_waits(world: World) -> None:
    """Decision 7: with `replace`, the flow ends, its question is not answered by the trigger, and the schedule's flow
    takes its place. What the user says next belongs to that one."""
    agent, outbox = make_buddy(world)
    with_flows(agent)
    cleaned: list[str] = []

    @agent.flow
    async def careful(ctx: FlowContext) -> None:
        try:
            cleaned.append(await ctx.ask("Which one?"))
        finally:
            cleaned.append("over")

    await world.up()
    await world.app.agents.put_user("buddy", "ada")
    schedules = world.app.agents.schedules("buddy")
    options: dict[str, Any] = {"target": ADA, "allow_session_bootstrap": True}
    await schedules.create(**options, flow="careful", trigger={"type": "once", "run_at": "2026-01-01T00:30Z"}, id="a")
    await schedules.create(
        **options,
        flow="checkin",
        trigger={"type": "once", "run_at": "2026-01-01T01:00Z"},
        id="replaces",
        on_active_flow="replace",
    )
    await world.advance("2h")
    assert outbox.texts == ["Which one?", "How are you?"]
    assert cleaned == ["over"]
    assert await outcomes(schedules, "replaces") == [("success", "flow_waiting")]
    ended = [event for event in await events(world, "flow") if event.name == "flow:ended"]
    assert [(event.data["flow"], event.data["reason"]) for event in ended] == [("careful", "replaced")]
    await Chat(world).say("fine")
    assert outbox.texts == ["Which one?", "How are you?", "Thank you."]
    assert cleaned == ["over"]


async def test_17_the_attempt_is_that_in_which_the_turn_began(world: World) -> None:
    """Decision 17: a node that is lost before the turn has begun leaves it to the next attempt; one that is lost later
    leaves a turn that goes on."""
    world.app.configure(lease="1m")
    schedules, outbox = await prepared(world)
    trigger = {"type": "cron", "expr": "*/10 * * * *"}
    await schedules.create(flow="remind", trigger=trigger, target=ADA, allow_session_bootstrap=True, id="x")
    store = world.app.store
    run = store.run
    due = datetime(2026, 1, 1, 0, 10, tzinfo=UTC)
    await world.advance_to(due - timedelta(seconds=1))
    blocked = False

    async def lost_at_the_turn(make: Any) -> Any:
        """Let the firing through, and nothing of the turn."""
        nonlocal blocked
        if await world.app.runs(name="agent-schedule", status="active", limit=1):
            blocked = True
            await asyncio.Event().wait()
        return await run(make)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "run", lost_at_the_turn)
        await asyncio.sleep(2)
        await world.crash()
    assert blocked
    assert not outbox.texts
    await world.up()
    await world.advance("5m")
    schedules = world.app.agents.schedules("buddy")
    (record,) = await schedules.runs("x")
    assert (record.outcome, record.attempt) == ("success", 2)
    turn = await world.app.agents.turn(record.request_id or "")
    assert turn.metadata["run_attempt"] == 2
    sent = [event for event in await events(world, "response") if event.name == "response:sent"]
    assert [event.data["run_attempt"] for event in sent] == [2]
    (completed,) = [event for event in await of_schedule(world, "x") if event.name == "schedule:run_completed"]
    assert completed.data["attempt"] == 2
    await world.advance("10m")
    assert [record.attempt for record in await schedules.runs("x")] == [1, 2]


async def test_67_68_a_run_that_ends_says_how(world: World) -> None:
    """`run_completed` and `run_failed`: once each, about the occurrence, with its turn, outcome and reason."""
    agent, _ = make_buddy(world)
    with_flows(agent)

    @agent.flow
    async def bad(ctx: FlowContext) -> None:
        raise ValueError("no")

    await world.up()
    await world.app.agents.put_user("buddy", "ada")
    schedules = world.app.agents.schedules("buddy")
    for id, flow in (("good", "remind"), ("bad", "bad")):
        await schedules.create(flow=flow, trigger=NINE, target=ADA, allow_session_bootstrap=True, id=id)
    await world.advance("13h")
    for id, name, other, outcome in (
        ("good", "schedule:run_completed", "schedule:run_failed", "success"),
        ("bad", "schedule:run_failed", "schedule:run_completed", "failed"),
    ):
        log = await of_schedule(world, id)
        assert other not in [event.name for event in log]
        (ended,) = [event for event in log if event.name == name]
        (record,) = await schedules.runs(id)
        assert (record.outcome, ended.data["outcome"]) == (outcome, outcome)
        assert ended.data.get("reason") == record.reason
        assert (ended.data["request_id"], ended.data["run_id"]) == (record.request_id, record.id)
        assert ended.data["user_external_id"] == "ada"
        assert {"flow", "scheduled_for", "trigger_type", "target_kind", "source"} <= ended.data.keys()
        assert [event.name for event in log][-1] == name
    assert "ValueError: no" in (await schedules.runs("bad"))[0].reason  # type: ignore[operator]


async def test_05_19_an_unknown_user_and_an_overlap_are_skipped_with_their_reasons(world: World) -> None:
    nobody = {"kind": "user", "user_external_id": "nobody"}
    minutely = {"type": "cron", "expr": "* * * * *"}
    agent, outbox = make_buddy(world, schedules={"x": {"flow": "remind", "trigger": NINE, "target": nobody}})
    with_flows(agent)
    await world.up()
    await world.app.agents.put_user("buddy", "ada")
    schedules = world.app.agents.schedules("buddy")

    @agent.flow
    async def slow(ctx: FlowContext) -> None:
        import asyncio

        await ctx.step(asyncio.sleep, 90)
        await ctx.say("done")

    await world.advance("13h")
    assert await outcomes(schedules, "cfg:x") == [("skipped", "unknown_user")]
    await schedules.create(flow="slow", trigger=minutely, target=ADA, allow_session_bootstrap=True, id="slow")
    await world.advance("3m30s")
    assert (await outcomes(schedules, "slow"))[:3] == [("success", None), ("skipped", "overlap"), (None, None)]
    assert outbox.texts == ["done"]


async def test_59_a_failed_turn_is_a_failed_run_and_nobody_is_sent_an_apology(world: World) -> None:
    agent, outbox = make_buddy(world, fallback="Sorry.")

    @agent.flow
    async def bad(ctx: FlowContext) -> None:
        raise ValueError("no")

    await world.up()
    await world.app.agents.put_user("buddy", "ada")
    schedules = world.app.agents.schedules("buddy")
    new = await schedules.create(flow="bad", trigger=NINE, target=ADA, allow_session_bootstrap=True)
    await world.advance("13h")
    ((outcome, reason),) = await outcomes(schedules, new.schedule_id)
    assert outcome == "failed"
    assert reason is not None
    assert "ValueError" in reason
    assert not outbox.texts
    assert await names_of(world, new.schedule_id) == ["created", "triggered", "run_started", "run_failed"]
    assert (await world.app.schedules.get(f"agent/buddy/{new.schedule_id}")).failures == 1


async def test_75_76_events_have_what_the_rfc_asks_for(world: World) -> None:
    schedules, _ = await prepared(world)
    new = await schedules.create(flow="remind", trigger=NINE, target=ADA, allow_session_bootstrap=True)
    await world.advance("13h")
    by_name = {event.name: event.data for event in await of_schedule(world, new.schedule_id)}
    about = {"flow": "remind", "target_kind": "user", "user_external_id": "ada", "source": "scheduled"}
    due = {"scheduled_for": 1767268800000000}
    for name in ("schedule:triggered", "schedule:run_started", "schedule:run_completed"):
        assert {**about, **due}.items() <= by_name[name].items(), name
    done = by_name["schedule:run_completed"]
    assert (done["outcome"], done["attempt"]) == ("success", 1)
    (run,) = await schedules.runs(new.schedule_id)
    assert (done["request_id"], done["session_id"]) == (run.request_id, run.session_id)
    for event in await events(world, "response"):
        assert event.data["schedule_id"] == new.schedule_id
        assert (event.data["trigger_type"], event.data["run_attempt"]) == ("cron", 1)
        assert event.data["scheduled_for"] == due["scheduled_for"]


async def test_16_47_a_segment_runs_a_campaign(world: World) -> None:
    agent, outbox = make_buddy(world)
    with_flows(agent)
    await world.up()
    for user in ("ada", "bob", "eve"):
        await world.app.agents.put_user("buddy", user)
    schedules = world.app.agents.schedules("buddy")
    new = await schedules.create(
        flow="remind", trigger=NINE, target={**ALL, "options": {"rate": "100/s"}}, allow_session_bootstrap=True
    )
    await world.advance("13h")
    assert sorted(message.user for message in outbox.sent) == ["ada", "bob", "eve"]
    (run,) = await schedules.runs(new.schedule_id)
    assert (run.outcome, run.expanded_recipients, run.target_kind) == ("success", 3, "segment")
    (done,) = [e for e in await of_schedule(world, new.schedule_id) if e.name == "schedule:run_completed"]
    assert (done.data["campaign_id"], done.data["expanded_recipients"]) == ("spring", 3)
    await world.advance("24h")
    assert len(outbox.sent) == 6
    names = [
        event.name for event in await events(world, "schedule") if event.data.get("schedule_id") == new.schedule_id
    ]
    assert names.count("schedule:campaign_resolved") == 2
    assert names.count("schedule:recipient_run_started") == names.count("schedule:recipient_run_completed") == 6


async def test_18_a_canceled_schedule_stops_its_campaign(world: World) -> None:
    """Messages that were sent stay on record; nobody else gets one."""
    agent, outbox = make_buddy(world)
    with_flows(agent)
    await world.up()
    for number in range(6):
        await world.app.agents.put_user("buddy", f"user-{number}")
    schedules = world.app.agents.schedules("buddy")
    new = await schedules.create(
        flow="remind", trigger=NINE, target={**ALL, "options": {"rate": "1/m"}}, allow_session_bootstrap=True
    )
    await world.advance_to("2026-01-01T12:01:30Z")
    sent = len(outbox.sent)
    assert 0 < sent < 6
    await schedules.cancel(new.schedule_id)
    await world.advance("2h")
    assert len(outbox.sent) == sent
    (campaign,) = await world.app.agents.campaigns("buddy").list()
    assert (campaign.status, campaign.reason) == ("stopped", "canceled")
    assert campaign.counts["success"] == sent
    assert sum(campaign.counts.values()) == 6
    (record,) = await schedules.runs(new.schedule_id)
    assert (record.outcome, record.reason, record.expanded_recipients) == ("success", "canceled", 6)
    assert record.started_at == datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert record.finished_at == campaign.finished
    assert await world.app.check(repair=False) == []


async def test_the_record_of_a_long_run_says_when_it_began(world: World) -> None:
    """The run of an occurrence waits for its campaign, and is claimed again when the campaign is over."""
    schedules, _ = await prepared(world)
    await world.app.agents.put_user("buddy", "bob")
    target = {**ALL, "options": {"rate": "1/h"}}
    await schedules.create(flow="remind", trigger=NINE, target=target, allow_session_bootstrap=True, id="long")
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    await world.advance_to("2026-01-01T12:30:00Z")
    (record,) = await schedules.runs("long")
    assert (record.started_at, record.finished_at, record.outcome) == (noon, None, None)
    await world.advance("2h")
    (record,) = await schedules.runs("long")
    assert (record.started_at, record.outcome) == (noon, "success")
    assert record.finished_at is not None
    assert record.finished_at > noon + timedelta(minutes=59)


@pytest.mark.parametrize("options", [{"rat": "1/m"}, {"rate": "quick"}, "none"])
async def test_the_settings_of_a_campaign_are_checked_at_the_door(world: World, options: Any) -> None:
    schedules, _ = await prepared(world)
    with pytest.raises(OstinatoError, match=r"target\.options"):
        await schedules.create(flow="remind", trigger=NINE, target={**ALL, "options": options})


# Executors


async def test_54_55_56_57_workers_elsewhere_execute_what_others_fire(world: World) -> None:
    """One app has the agent's code and works on its queue; the other only fires. The same happens as in one process."""

    here, outbox = await prepared(world)
    daily: dict[str, Any] = {"flow": "remind", "trigger": NINE, "target": ADA, "allow_session_bootstrap": True}
    inside = await here.create(**daily)
    worker = Ostinato(SharedStore(world.app.store), clock=world.clock, lease=10**9, queues=["agents"])
    chat = Outbox()
    agent = worker.agent(
        "night",
        tz="America/Sao_Paulo",
        transport=chat,
        queue="agents",
        scheduler={"executor": "external"},
        schedules={"daily": daily},
    )
    with_flows(agent)
    async with worker:
        await worker.agents.put_user("night", "ada")
        outside = world.app.agents.schedules("night")  # this process does not have the agent
    await world.advance("13h")  # no worker
    assert (chat.texts, outbox.texts) == ([], ["Stand up."])
    (waiting,) = await outside.runs("cfg:daily")
    assert (waiting.outcome, waiting.started_at) == (None, None)
    async with worker:
        await world.settle()
        assert chat.texts == ["Stand up."]
        await world.advance("1d")
        for app in (worker, world.app):  # on virtual time no node hears what the other one put into its queue
            app.engine.nudge()
            await world.settle()
        assert len(chat.texts) == len(outbox.texts) == 2
    assert await names_of(world, "cfg:daily") == await names_of(world, inside.schedule_id)
    keys = [[set(event.data) for event in await of_schedule(world, id)] for id in ("cfg:daily", inside.schedule_id)]
    assert keys[0] == keys[1]


async def test_55_an_external_executor_has_a_queue_of_its_own(world: World) -> None:
    make_buddy(world, scheduler={"executor": "external"})
    with pytest.raises(OstinatoError, match="'external' needs a queue of its own"):
        await world.up()


async def test_15_57_the_store_contract(world: World) -> None:
    """An executor that is no node: what it claims, no node and no other executor runs."""
    world.app.configure(queues=["default"])
    agent, outbox = make_buddy(world, queue="elsewhere", scheduler={"executor": "external", "claim_ttl_seconds": 30})
    with_flows(agent)
    await world.up()
    await world.app.agents.put_user("buddy", "ada")
    schedules = world.app.agents.schedules("buddy")
    hourly = {"type": "cron", "expr": "0 * * * *"}
    new = await schedules.create(flow="remind", trigger=hourly, target=ADA)
    id, store = new.schedule_id, await schedules.store()
    assert not await store.due()
    first = datetime(2026, 1, 1, 1, tzinfo=UTC)
    assert (await store.claim(id, first)).status == "stale"  # it is to come
    assert (await store.claim("nothing", first)).status == "stale"
    await world.advance("1h")
    (due,) = await store.due()
    assert (due.schedule_id, due.scheduled_for, due.definition["flow"]) == (id, first, "remind")
    claims = await asyncio.gather(*(store.claim(id, first) for _ in range(3)))
    assert sorted(claim.status for claim in claims) == ["already_claimed", "already_claimed", "claimed"]
    claim = next(claim for claim in claims if claim.status == "claimed")
    assert not await store.due()
    await store.complete_run(claim, "success", {"request_id": "r1"})
    with pytest.raises(Conflict, match="the run is over"):
        await store.complete_run(claim, "success")
    (run,) = await schedules.runs(id)
    assert (run.outcome, run.request_id) == ("success", "r1")
    assert (await store.claim(id, first)).status == "already_claimed"
    assert await names_of(world, id) == ["created", "triggered", "run_started", "run_completed"]

    await world.advance("1h")
    second = first + timedelta(hours=1)
    lost = await store.claim(id, second)
    await world.advance("1m")  # the claim has expired
    again = await store.claim(id, second)
    assert (again.status, again.run_id) == ("claimed", lost.run_id)
    for run_id in (lost.run_id, "a deleted run"):
        with pytest.raises(Conflict, match="has expired"):
            await store.complete_run(replace(lost, run_id=run_id), "success")
    stale = await store.claim("nothing", second)
    with pytest.raises(Conflict, match="'stale' holds no run"):
        await store.complete_run(stale, "success")
    with pytest.raises(Conflict, match="'stale' holds no run"):
        await store.fail_run(stale, "busy", world.now + timedelta(minutes=5))
    await store.fail_run(again, "busy", world.now + timedelta(minutes=5))
    assert (await store.claim(id, second)).status == "already_claimed"
    await world.advance("6m")
    last = await store.claim(id, second)
    await store.fail_run(last, "broken")
    assert await outcomes(schedules, id) == [("success", None), ("failed", "broken")]
    assert (await names_of(world, id))[-3:] == ["triggered", "run_started", "run_failed"]

    await world.advance("1h")
    await schedules.pause(id)
    assert (await store.claim(id, first + timedelta(hours=2))).status == "stale"
    for wrong in ("done", ""):
        with pytest.raises(OstinatoError, match="is none of success"):
            await store.complete_run(last, wrong)
    assert not outbox.texts


async def test_57_two_nodes_with_the_agent_run_every_time_once(world: World) -> None:
    """They start at the same time, so both apply the schedules of the code, and both fire."""
    daily: dict[str, Any] = {"flow": "remind", "trigger": NINE, "target": ADA, "allow_session_bootstrap": True}
    outbox = Outbox()
    await world.app.store.open()
    nodes = [Ostinato(SharedStore(world.app.store), clock=world.clock, lease=10**9) for _ in range(2)]
    for node in nodes:
        agent = node.agent("pair", tz="America/Sao_Paulo", transport=outbox, schedules={"a": daily, "b": daily})
        with_flows(agent)
    await asyncio.gather(*(node.__aenter__() for node in nodes))
    try:
        await nodes[0].agents.put_user("pair", "ada")
        first, second = (node.agents.schedules("pair") for node in nodes)
        new = await asyncio.gather(*(api.create(**daily, id="same") for api in (first, second)))
        assert new[0].record == new[1].record
        await asyncio.sleep(13 * 3600)
        assert outbox.texts == ["Stand up."] * 3
        log = [event for event in await nodes[0].events(limit=1000) if event.name.startswith("schedule:")]
        for id in ("cfg:a", "cfg:b", "same"):
            assert [event.name.removeprefix("schedule:") for event in log if event.data.get("schedule_id") == id] == [
                "created",
                "triggered",
                "run_started",
                "run_completed",
            ]
        versions = await asyncio.gather(
            *(api.update("same", version=1, metadata={"n": n}) for n, api in enumerate((first, second))),
            return_exceptions=True,
        )
        assert sorted(type(version).__name__ for version in versions) == ["ScheduleRecord", "VersionMismatch"]
    finally:
        for node in nodes:
            await node.__aexit__()


async def test_rows_go_with_their_schedules(world: World) -> None:
    world.app.configure(keep_runs="2d")
    schedules, _ = await prepared(world)
    await schedules.create(flow="remind", trigger=NINE, target=ADA, id="gone")
    await schedules.create(flow="remind", trigger=NINE, target=ADA, id="stays")
    await schedules.cancel("gone")
    assert len(await schedules.list()) == 2
    await world.advance("4d")
    assert [record.id for record in await schedules.list()] == ["stays"]


async def test_a_schedule_that_an_operator_has_deleted_is_canceled(world: World) -> None:
    schedules, outbox = await prepared(world)
    await schedules.create(flow="remind", trigger=NINE, target=ADA, id="x", allow_session_bootstrap=True)
    await world.app.schedules.delete("agent/buddy/x")
    assert (await schedules.get("x")).status == "canceled"
    assert (await schedules.cancel("x")).status == "canceled"
    await world.advance("2d")
    assert not outbox.texts
