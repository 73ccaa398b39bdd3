"""A store with functions, a workflow, an agent and a campaign that an earlier state of Ostinato has left behind, after
a crash: the present one opens it, migrates it, and goes on where it was. `tests/golden/make.py` makes such stores."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from ostinato.testing import VirtualClock, World, run_virtual
from ostinato.ways import WAYS
from tests.golden.fill_ways import FIRST_MAILS, PEOPLE, Outside, declare
from tests.support.golden import STORES, load
from tests.support.stores import quick

NAMES = sorted(path.stem for path in STORES.glob("agents-*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_ways_go_on_in_a_store_of_an_earlier_state(bare_store_url: str, name: str) -> None:
    manifest = asyncio.run(load(bare_store_url, name))
    world = World(quick(bare_store_url), clock=VirtualClock(manifest["now"]), lease="2h")
    run_virtual(go_on(world, manifest), world.clock)


async def go_on(world: World, manifest: dict[str, Any]) -> None:
    outside = Outside(mails=[*FIRST_MAILS, "four"])
    declare(world.app, outside)
    try:
        async with world.app.connected():
            assert Counter(run.status for run in await world.app.runs(limit=1000)) == manifest["runs"]
            assert (await world.app.workflows.get("inbox")).status == manifest["workflow"]
        await world.up()
        await world.advance("1h")
        await functions_go_on(world, manifest["functions"])
        await the_workflow_goes_on(world, outside, manifest)
        await talks_go_on(world, outside)
        await the_campaign_goes_on(world, outside, manifest)
        assert await world.app.check(repair=False) == []
    finally:
        await world.close()


async def functions_go_on(world: World, ids: dict[str, str]) -> None:
    app = world.app
    assert (await app.get(ids["over"])).result == "account of ada: hello"
    await app.functions.send(ids["waiting"], "reply", "at last")
    await world.advance("3d")
    assert (await app.get(ids["waiting"])).result == "account of bob: at last"
    assert (await app.get(ids["sleeping"])).result == "rested 2d"


async def the_workflow_goes_on(world: World, outside: Outside, manifest: dict[str, Any]) -> None:
    assert manifest["rows"] == sorted(FIRST_MAILS)
    assert sorted(outside.rows.values()) == [["four"]], "the mails of before are not copied again"
    assert (await world.app.workflows.get("inbox")).status == manifest["workflow"]


async def talks_go_on(world: World, outside: Outside) -> None:
    agents = world.app.within("default", "teacher").agents
    (question,) = await agents.escalations("buddy")
    await agents.resolve("buddy", question.id, True)
    await agents.receive("buddy", "asked", "9", id="m5")
    await agents.receive("buddy", "judged", "7", id="m3")  # which the earlier state has taken
    await world.settle()
    assert ("judged", "You have a badge") in outside.sent
    assert [text for user, text in outside.sent if user == "judged"] == ["You have a badge"]
    (question,) = await agents.escalations("buddy")
    await agents.resolve("buddy", question.id, False)
    await world.settle()
    assert [text for user, text in outside.sent if user == "asked"] == ["Keep going"]


async def the_campaign_goes_on(world: World, outside: Outside, manifest: dict[str, Any]) -> None:
    campaigns = world.app.agents.campaigns("buddy")
    campaign = await campaigns.wait(manifest["campaign"], "30d")
    assert (campaign.status, campaign.counts) == ("done", {"success": len(PEOPLE)})
    before = [tuple(message) for message in manifest["sent"]]
    greeted = Counter(user for user, text in before + outside.sent if text.startswith("hello"))
    assert greeted == Counter(PEOPLE), "everybody once"
    segment = {"type": "users", "users": PEOPLE}
    again = await campaigns.send(segment, flow="hello", id="spring", rate="6/h", allow_session_bootstrap=True)
    assert again.id == manifest["campaign"], "a campaign is sent once under its id"


def test_there_is_a_golden_store_of_every_schema_of_agents_that_was_left_behind() -> None:
    """The newest schema has none until the next one comes. 0001 to 0003 came together."""
    (agents,) = [way for way in WAYS if way.name == "agents"]
    newest = len(agents.loaded_migrations)
    assert [name.removeprefix("agents-") for name in NAMES] == [f"{number:04}" for number in range(3, newest)]
