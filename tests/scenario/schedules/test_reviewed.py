"""What a review of schedules has found: one test for each, named for what holds now."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from ostinato import every, manual
from ostinato.store.contract import Operation, sql
from ostinato.testing import World
from tests.scenario.schedules.test_schedules import begin, minutes

COLUMNS = ("spec", "action", "policies", "memory", "outcome", "memo", "tags", "attributes")


@pytest.fixture(autouse=True)
def spoiling_statements(add_statement: Callable[[str, str], None]) -> None:
    """Statements that write what no code writes."""
    for column in COLUMNS:
        add_statement(f"spoil_{column}", f"UPDATE ostinato_schedules SET {column} = :text WHERE name = :name")


async def spoil(world: World, name: str, column: str, text: str) -> None:
    def work(_: int) -> Operation[None]:
        yield sql(f"spoil_{column}", name=name, text=text)

    await world.app.store.run(work)


def nested(levels: int) -> Any:
    found: Any = []
    for _ in range(levels - 1):
        found = [found]
    return found


def take_any_input(world: World) -> None:
    """As if the job took another input when it was asked for than it does when its turn comes."""
    world.app._maker.check_input = lambda schedule, input: None  # type: ignore[method-assign]


async def test_an_action_made_late_is_the_new_one_with_its_deadline(world: World) -> None:
    seen: list[Any] = []

    @world.app.job()
    async def old(customer: str = "") -> None:
        seen.append(("old", customer))

    @world.app.job()
    async def new(who: str = "") -> None:
        seen.append(("new", who))
        await asyncio.sleep(3600)

    await world.up()
    await world.app.schedules.create("m", manual(), "old", deadline="10s")
    take_any_input(world)
    await world.app.schedules.trigger("m", input={"who": "b"})
    await world.advance("500ms")
    await world.app.schedules.update("m", action="new", deadline="10s")
    await world.advance("30m")
    assert seen == [("new", "b")]
    (run,) = await world.runs()
    assert (run.name, run.status, run.reason) == ("new", "timed_out", "deadline")
    assert run.finished is not None
    assert (run.finished - run.created).total_seconds() == 10


async def test_an_action_of_a_backfill_made_late_stands_behind_the_others_still(world: World) -> None:
    @world.app.job()
    async def old(customer: str = "") -> None: ...

    @world.app.job()
    async def new(who: str = "") -> None: ...

    await world.up()
    await world.app.schedules.create("m", every("1d"), "old", priority=5)
    take_any_input(world)
    await world.app.schedules.backfill("m", "2025-06-01T00:00Z", "2025-06-01T00:00Z", input={"who": "b"})
    await world.advance("500ms")
    await world.app.schedules.update("m", action="new", priority=5)
    await world.advance("1m")
    (run,) = await world.runs()
    assert (run.name, run.status, run.priority) == ("new", "succeeded", -5)


async def test_an_action_that_cannot_be_made_and_waits_is_made_when_its_turn_comes(world: World) -> None:
    seen: list[str] = []

    @world.app.job()
    async def mail(customer: str = "") -> None:
        seen.append(customer)
        await asyncio.sleep(60)

    await world.up()
    schedules = world.app.schedules
    await schedules.create("m", manual(), "mail", input={"customer": "a"}, overlap="buffer_all")
    take_any_input(world)
    await schedules.trigger("m")
    await schedules.trigger("m", input={"who": "b"})
    await schedules.trigger("m")
    await world.advance("50s")
    assert [one.status for one in await schedules.history("m")] == ["buffered", "buffered", "active"]
    await world.advance("5m")
    assert seen == ["a", "a"]
    history = sorted(await schedules.history("m"), key=lambda one: one.run_id)
    assert [one.status for one in history] == ["succeeded", "failed", "succeeded"]
    assert "it has no 'who'" in str(history[1].reason)
    assert (await schedules.get("m")).waiting == 0


async def test_what_is_said_of_a_stretch_that_grows_is_what_was_added(world: World) -> None:
    await begin(world)
    schedules = world.app.schedules
    await schedules.create("tick", every("1m"), "note")
    said = []
    for passed in ("1d", "3m", "1m"):
        await schedules.pause("tick")
        await world.advance(passed)
        said.append(str((await schedules.resume("tick")).lateness))
    assert said == ["1440 late, will run 0", "3 late, will run 0", "1 late, will run 0"]
    info = await schedules.get("tick")
    assert info.counts == {"paused": 1444}
    assert [(one.count, one.nominal) for one in info.recent] == [(1444, minutes(1)[0])]
    skipped = [e.data for e in await world.app.events(subject=info.id) if e.name == "schedule:skipped"]
    assert [one.get("count", 1) for one in skipped] == [1440, 3, 1]
    day = 24 * 60
    begins = [int(at.timestamp() * 1_000_000) for at in minutes(1, day + 1, day + 4)]
    assert [one["nominal"] for one in skipped] == begins


async def test_keeping_few_rows_leaves_the_row_of_a_stretch_that_grows(world: World) -> None:
    await begin(world)
    schedules = world.app.schedules
    await schedules.create("k", every("1m"), "slow", input={"seconds": 36_000}, keep=2)
    await world.advance("170m")
    for _ in range(4):
        await schedules.trigger("k")
    await world.advance("200m")
    (stretch,) = [one for one in await schedules.history("k") if one.count > 1]
    assert stretch.count == 370 - 101
    assert (await schedules.explain("k", minutes(365)[0])).outcome == "skipped"


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)  # weeks of housekeeping
async def test_a_stretch_that_rested_for_longer_than_rows_are_kept_has_a_row_again(world: World) -> None:
    await begin(world)
    schedules = world.app.schedules
    await schedules.create("k", every("10m"), "note")
    for _ in range(2):
        await schedules.pause("k")
        await world.advance("40d")
        await schedules.resume("k")
    (stretch,) = await schedules.history("k")
    assert stretch.count == 80 * 144


async def test_a_result_nested_too_deep_is_a_failure_of_its_run_alone(world: World) -> None:
    heard: list[Any] = []

    @world.app.job()
    async def deep(ctx: Any) -> Any:
        heard.append(ctx.last_result)
        return nested(100 if len(heard) % 2 else 101)

    await world.up()
    await world.app.schedules.create("d", every("1m"), "deep")
    await world.advance("4m")
    ends = [(one.status, one.reason) for one in reversed(await world.app.schedules.history("d"))]
    too_deep = "OstinatoError: the result is nested more than 100 levels deep"
    assert ends == [("succeeded", None), ("failed", too_deep)] * 2
    assert heard == [None, nested(100), nested(100), nested(100)]
    assert (await world.app.schedules.get("d")).state == "running"


async def test_a_schedule_that_cannot_be_put_on_record_is_parked_and_the_others_go_on(world: World) -> None:
    seen = await begin(world)
    for name in ("a", "bad", "c"):
        await world.app.schedules.create(name, every("1m"), "note", input={"who": name})
    await spoil(world, "bad", "outcome", f'{{"result": {"[" * 254}{"]" * 254}}}')
    await world.advance("2m")
    assert sorted(who for _, _, who in seen) == ["a", "a", "c", "c"]
    info = await world.app.schedules.get("bad")
    assert (info.state, info.next) == ("parked", None)
    assert "Recursion limit" in str(info.reason)
    assert await world.occurrences("bad") == []


@pytest.mark.parametrize("column", COLUMNS)
async def test_one_that_cannot_be_read_does_not_hide_the_others(world: World, column: str) -> None:
    await begin(world)
    schedules = world.app.schedules
    for name in ("a", "bad", "c"):
        await schedules.create(name, every("1m"), "note")
    for text in ("7", "{", '{"unknown": [1]}'):
        if text == '{"unknown": [1]}' and column in ("memory", "memo", "tags", "attributes"):
            continue  # these can be read so
        if text == "7" and column == "memo":
            continue
        await spoil(world, "bad", column, text)
        assert [(one.name, one.state) for one in await schedules.list()] == [
            ("a", "running"),
            ("bad", "parked"),
            ("c", "running"),
        ]
        assert (await schedules.get("bad")).reason
        assert len(await schedules.staleness()) == 3
        assert {"a", "c"} <= {one.schedule for one in await schedules.upcoming()}
        assert list(orjson.loads(await schedules.export(form="json"))["schedules"]) == ["a", "bad", "c"]
        assert await schedules.each(schedules.get) == {"a": None, "bad": None, "c": None}
    await world.advance("2h")  # housekeeping, too
    assert await world.occurrences("a") == ["succeeded"] * 120
    await schedules.upsert("bad", every("1m"), "note")
    assert (await schedules.get("bad")).state == "running"


async def test_explain_knows_how_far_the_actions_that_are_left_reach(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("t", every("1m"), "note", remaining=2)
    found = [await world.app.schedules.explain("t", at) for at in minutes(1, 2, 3, 5)]
    assert [(one.outcome, one.reason) for one in found] == [("will_run", None)] * 2 + [
        ("will_not_run", "exhausted")
    ] * 2
    assert "2 actions are left, for the times up to 2026-01-01T00:02:00Z" in str(found[3])


async def test_explain_names_the_policy_that_decided_not_the_one_of_today(world: World) -> None:
    await begin(world)
    schedules = world.app.schedules
    await schedules.create("t", every("1m"), "slow", input={"seconds": 600})
    await world.advance("2m10s")
    await schedules.trigger("t", overlap="skip")
    await schedules.trigger("t", overlap="buffer_all")
    await schedules.update("t", overlap="allow_all", catchup="skip")
    assert "the overlap policy was skip" in str(await schedules.explain("t", minutes(2)[0]))
    by_hand = {one.policy: one.nominal for one in await schedules.history("t") if one.origin != "auto"}
    assert "the overlap policy was skip" in str(await schedules.explain("t", by_hand["skip"]))
    waits = "waits for the run before it to end: overlap policy buffer_all"
    assert waits in str(await schedules.explain("t", by_hand["buffer_all"]))
    await world.outage("2026-01-01T00:02:30Z", "2026-01-01T00:10:30Z")
    await schedules.update("t", catchup="all")
    assert "the catch-up policy was skip" in str(await schedules.explain("t", minutes(5)[0]))


async def test_explain_says_that_a_paced_catch_up_is_on_its_way(world: World) -> None:
    await begin(world)
    schedules = world.app.schedules
    paced = {"mode": "all", "pace": 1}
    await schedules.create("t", every("1m"), "note", catchup=paced, overlap="allow_all")
    await world.outage("2026-01-01T00:00:30Z", "2026-01-01T10:00:20Z")
    found = await schedules.explain("t", minutes(500)[0])
    assert (found.outcome, found.reason) == ("late", "catching_up")
    assert "a node is catching up, 1 in a second" in str(found)
    await world.down()
    await asyncio.sleep(60)
    async with world.app.connected():
        assert (await schedules.explain("t", minutes(500)[0])).reason == "no_node"


async def test_explain_finds_a_stretch_behind_many_triggers(world: World) -> None:
    await begin(world)
    schedules = world.app.schedules
    await schedules.create("t", every("1m"), "note")
    await schedules.pause("t")
    for _ in range(60):
        await world.advance("1m")
        await world.advance("1s")
        await schedules.trigger("t")
    await world.advance("2h")
    await schedules.resume("t")
    found = await schedules.explain("t", minutes(120)[0])
    assert (found.outcome, found.reason) == ("skipped", "paused")
