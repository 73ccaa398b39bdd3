"""Definitions of schedules as they come in."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ostinato import Limit, OstinatoError, Retry, cron, every
from ostinato.model import read_retry
from ostinato.schedules.model import CatchUp
from ostinato.start_checks import read_limit
from ostinato.testing import World
from tests.support.schedules import (
    start_jobs,
)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"spec": "61 * * * *"}, "61"),
        ({"overlap": "skp"}, "did you mean 'skip'"),
        ({"catchup": "sometimes"}, "catchup"),
        ({"catchup": {"most": True}}, "catchup most True is not a whole number from 1 to 1,000,000,000"),
        ({"catchup": {"pace": True}}, "catchup pace True is not a whole number"),
        ({"catchup": {"most": 10**30}}, "catchup most 1000000000000000000000000000000 is not a whole number"),
        ({"catchup": {"pace": 0}}, "catchup pace 0 is not a whole number"),
        ({"catchup": CatchUp("all", most=0)}, "catchup most 0 is not a whole number"),
        ({"catchup": {"window": "-1h"}}, "window"),
        ({"max_bufer": 3}, "did you mean 'max_buffer'"),
        ({"remaining": -1}, "remaining -1"),
        ({"action": {"jobb": "x"}}, "names no target"),
        ({"input": {"nobody": 1}}, "it has no 'nobody'"),
        ({"timeout": "soon"}, "timeout"),
        ({"tags": "a"}, "tags"),
        ({"action": ""}, "names no job"),
    ],
)
async def test_bad_input_is_refused_at_the_door(world: World, options: dict[str, Any], words: str) -> None:
    await start_jobs(world)
    whole = {"spec": every("1m"), "action": "note", **options}
    with pytest.raises((OstinatoError, ValueError), match=words.replace("{", r"\{")):
        await world.app.schedules.create("s", **whole)
    assert await world.app.schedules.list() == []


@pytest.mark.parametrize(
    "action",
    [
        {"http": {"url": "https://example.org", "headers": {"Authorization": "Bearer sesame"}}, "job": "note"},
        {"input": {"password": "sesame"}},
        {"function": 5, "input": {"password": "sesame"}},
        {"journey": 5, "input": {"password": "sesame"}},
        [{"http": {"url": "https://ada:sesame@example.org"}}],
    ],
)
async def test_an_error_about_an_action_has_no_value_of_it(world: World, action: Any) -> None:
    await start_jobs(world)
    with pytest.raises(OstinatoError, match="action") as refused:
        await world.app.schedules.create("s", every("1m"), action)
    assert "sesame" not in str(refused.value)


async def test_what_is_given_as_values_means_the_same_when_read_back(world: World) -> None:
    await start_jobs(world)
    policies: dict[str, Any] = {
        "retry": Retry(attempts=3, delay="2s"),
        "concurrency": Limit("k", most=2, rate=5, per="1m"),
        "timeout": timedelta(minutes=10),
        "memo": {"pair": (1, 2)},
    }
    assert (await world.app.schedules.upsert("s", every("1h"), "note", **policies))[0] == "created"
    options = (await world.app.schedules.get("s")).options
    assert read_retry(options["retry"]) == policies["retry"]
    assert read_limit(options["concurrency"], "note") == policies["concurrency"]
    assert options["timeout"] == "PT10M"
    assert (await world.app.schedules.upsert("s", every("1h"), "note", **policies))[0] == "unchanged"


async def test_a_text_may_come_with_its_time_zone(world: World) -> None:
    await start_jobs(world)
    schedules = world.app.schedules
    await schedules.create("nine", "0 9 * * *", "note", tz="Europe/Berlin")
    assert (await schedules.get("nine")).spec == cron("0 9 * * *", tz="Europe/Berlin")
    assert (await schedules.upsert("nine", "0 9 * * *", "note", tz="Asia/Tokyo"))[0] == "updated"
    await schedules.update("nine", spec="0 8 * * *", tz="Europe/Rome")
    assert (await schedules.get("nine")).spec == cron("0 8 * * *", tz="Europe/Rome")
    with pytest.raises(OstinatoError, match=r"tz 'Asia/Tokyo' belongs into the spec: cron\(…, tz='Asia/Tokyo'\)"):
        await schedules.upsert("nine", every("1h"), "note", tz="Asia/Tokyo")
    with pytest.raises(OstinatoError, match="tz 'Asia/Tokyo' is the time zone of a spec; give the spec, too"):
        await schedules.update("nine", tz="Asia/Tokyo")
    with pytest.raises(OstinatoError, match=r"a schedule has no 'timezone'; did you mean 'tz'?"):
        await schedules.create("ten", "0 10 * * *", "note", timezone="Asia/Tokyo")  # type: ignore[call-arg]


async def test_the_input_may_come_after_the_job_as_in_start(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("wide", "every 1h", "note", {"who": "ada"})
    await world.app.schedules.upsert("wider", "every 1h", "note", {"who": "bob"})
    inputs = [(await world.app.schedules.get(name)).input for name in ("wide", "wider")]
    assert inputs == [{"who": "ada"}, {"who": "bob"}]


async def test_a_new_spec_keeps_the_zone_unless_it_names_one(world: World) -> None:
    await world.up()
    await world.app.schedules.create("nine", cron("0 9 * * *", tz="Europe/Berlin"), "note")
    specs = {
        "0 10 * * *": "Europe/Berlin",
        '{"cron": "0 11 * * *"}': "Europe/Berlin",
        '{"cron": "0 12 * * *", "tz": "Europe/Paris"}': "Europe/Paris",
        "TZ=Europe/Rome 0 13 * * *": "",  # the cron string itself has the zone
    }
    for spec, zone in specs.items():
        await world.app.schedules.update("nine", spec=spec)
        assert (await world.app.schedules.get("nine")).spec.tz == zone
        await world.app.schedules.update("nine", spec=cron("0 9 * * *", tz="Europe/Berlin"))
