"""What cannot be meant is refused where it was written, with an error that names it."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato import Ostinato, OstinatoError
from ostinato.testing import World


async def work(a: int = 1) -> None: ...


@pytest.mark.parametrize(
    "options",
    [
        {"priority": "high"},
        {"queue": 5},
        {"queue": ""},
        {"name": ""},
        {"name": 5},
        {"serial_key": "{b}"},
        {"serial_key": 5},
    ],
)
def test_options_of_a_job(options: dict[str, Any]) -> None:
    app = Ostinato("sqlite:///never-opened.db")
    with pytest.raises(OstinatoError, match=next(iter(options))):
        app.job(**options)(work)


@pytest.mark.parametrize(
    "settings", [{"threads": "4"}, {"concurrency": 1.5}, {"namespace": ""}, {"queues": [5]}, {"queues": ""}]
)
def test_settings_of_an_app(settings: dict[str, Any]) -> None:
    with pytest.raises(OstinatoError, match=next(iter(settings)).removesuffix("s")):
        Ostinato("sqlite:///never-opened.db", **settings)


def test_one_text_is_one_queue_and_one_file() -> None:
    app = Ostinato("sqlite:///never-opened.db", queues="default", journeys="order.yaml")
    assert app.settings.queues == ("default",)
    assert app._journey_sources == ("order.yaml",)


async def test_calls(world: World) -> None:
    world.app.job(work)
    await world.up()
    for limit in (0, -1, "5"):
        with pytest.raises(OstinatoError, match="limit"):
            await world.app.runs(limit=limit)  # type: ignore[arg-type]
    with pytest.raises(OstinatoError, match="the id"):
        await world.app.start(work, id="\ud800")
