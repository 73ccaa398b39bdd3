"""The numbers of a campaign: counted page by page, stored when it ends, and the same wherever they are read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ostinato.store.contract import Operation, sql
from ostinato.testing import World
from tests.support.campaigns import ALL, campaigns, make_hello, numbered, put_people


def forget_tallies(_: int) -> Operation[None]:
    yield sql("forget_tallies")


async def test_recipients_are_counted_page_by_page(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ostinato.flows.campaigns.tally._PAGE", 4)
    make_hello(world)
    await put_people(world, *numbered("u", 8), tz="UTC")
    await put_people(world, "gone", "out", consent="opted_out")
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, local_time="09:30")
    await world.advance("1m")
    waiting = await campaigns(world).get(sent.id)
    assert (waiting.counts, waiting.reasons) == ({"pending": 10}, {"local_time": 10})
    ended = await sent.outcome("1d")
    assert (ended.recipients, ended.counts) == (10, {"success": 8, "skipped": 2})
    assert ended.reasons == {"opted_out": 2}


async def test_the_numbers_of_a_campaign_that_an_older_version_has_ended_are_counted(
    world: World, add_statement: Callable[[str, str], None]
) -> None:
    add_statement("forget_tallies", "UPDATE ostinato_agent_campaigns SET tallies = NULL")
    make_hello(world)
    await put_people(world, *numbered("u", 5))
    await put_people(world, "out", consent="opted_out")
    variants = {"a": {"weight": 1}, "b": {"weight": 1}}
    sent = await campaigns(world).send(ALL, flow="hello", allow_session_bootstrap=True, variants=variants)
    ended = await sent.outcome("1d")
    assert sum(ended.variants.values()) == 6
    assert (await campaigns(world).list()) == [ended]
    await world.app.store.run(forget_tallies)
    assert await campaigns(world).get(sent.id) == ended
    assert (await campaigns(world).list()) == [ended]
