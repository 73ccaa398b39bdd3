"""The table of journeys' events in the reference is a contract: each of them is provoked and compared with it."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from ostinato.testing import World
from tests.support.journey_parts import Work, plugins, text

PAGE = Path(__file__).parents[2] / "docs/reference/events.md"
ROW = re.compile(r"^\| `(journey:\w+)` \| .* \| (.*)\|$", re.MULTILINE)
FIELD = re.compile(r"`(\w+)(\??)` (text|number|moment|list)")
TYPES = {"text": str, "number": int, "moment": int, "list": list}

LIFE = text(
    """
    a: {type: timer, timer: {duration: PT1M}, next: ask}
    ask: {type: wait, wait: {channel: manual, input: {schema: {}}}, next: b}
    b: {type: task, task: {kind: 'work:v1', fail: NO}, next: c}
    c: {type: succeed}
    """
)


@pytest.fixture
def world() -> World:
    return World(journey_plugins=plugins(Work()))


async def test_every_event_of_journeys_is_as_the_reference_says(world: World) -> None:
    contract = {
        name: {field: (TYPES[kind], bool(optional)) for field, optional, kind in FIELD.findall(cell)}
        for name, cell in ROW.findall(PAGE.read_text(encoding="utf-8"))
    }
    assert len(contract) == 8
    await world.up()
    await world.app.journeys.deploy(LIFE)
    status = await world.app.journeys.start("example", {"password": "s3cr3t"})
    await world.advance("2m")
    await world.app.journeys.submit(status.id, "ask", {"token": "s3cr3t"})
    done = await world.app.journeys.start("example")
    await world.app.journeys.cancel(done.id)
    seen: dict[str, set[str]] = defaultdict(set)
    for event in await world.app.events(limit=1000):
        assert "s3cr3t" not in repr(event)
        if event.name.startswith("journey:"):
            named = {} if event.name == "journey:deployed" else {"name": (str, False)}
            fields = {**named, **contract[event.name]}
            for field, (kind, optional) in fields.items():
                assert optional or type(event.data[field]) is kind, (event.name, field, event.data)
            assert event.data.keys() <= fields.keys(), event
            seen[event.name] |= event.data.keys()
    assert sorted(seen) == sorted(contract)
