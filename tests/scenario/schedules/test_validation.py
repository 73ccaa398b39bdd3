"""Definitions of schedules as they come in."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ostinato import Limit, OstinatoError, Retry, cron, every
from ostinato.model import read_retry
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
