"""Fill a store with some of everything that the Ostinato on the path knows, and print what is in it as JSON.

`make.py` runs this with earlier states of Ostinato, so it uses only what all of them have, and asks for the rest.
The last thing that happens is a crash: what was running is still `active`, on a node that is dead.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections import Counter
from datetime import timedelta
from importlib import import_module
from typing import Any

import ostinato
from ostinato import Ostinato
from ostinato.ids import Ids
from ostinato.testing import World, run_virtual

JOURNEY = """
apiVersion: v1
kind: Journey
metadata: {name: approval, version: 0.1.0}
spec:
  start: rest
  states:
    rest: {type: timer, timer: {duration: PT1H}, next: ask}
    ask:
      type: wait
      wait: {channel: manual, input: {schema: {type: object}}, timeoutSec: 864000, onTimeout: late}
      next: good
    good: {type: succeed, outputVar: payload}
    late: {type: fail, errorCode: LATE, reason: nobody answered}
"""


def declare(app: Ostinato) -> None:
    """The jobs of every golden store."""

    @app.job()
    async def note(who: str = "") -> str:
        return who

    @app.job(retry={"attempts": 2, "delay": "1s", "jitter": 0})
    async def wrong() -> None:
        raise ValueError("no")

    @app.job(serial_key="{key}", timeout="10m")
    async def slow(key: str, seconds: float) -> str:
        await asyncio.sleep(seconds)
        return key


async def runs(world: World) -> None:
    await world.start("note", {"who": "over"}, id="succeeded")
    await world.start("wrong", id="failed")
    await world.start("slow", {"key": "a", "seconds": 3600}, id="timed-out")
    await world.start("note", id="cancelled", at=world.now + timedelta(days=9))
    await world.app.cancel("cancelled", "not wanted")
    await world.advance("1h")
    await world.start("note", {"who": "later"}, id="waiting", at=world.now + timedelta(days=3))


async def schedules(world: World) -> None:
    api = world.app.schedules
    await api.create("hourly", ostinato.every("1h"), "note", input={"who": "hourly"})
    await api.create("paused", ostinato.every("1h"), "note")
    await api.pause("paused", "a while")
    await api.create("berlin", ostinato.cron("30 9 * * 1-5", tz="Europe/Berlin"), "note", overlap="buffer_all")
    await world.advance("3h")


async def unfinished(world: World) -> None:
    """A buffer with runs in it, and a backfill that has begun."""
    api = world.app.schedules
    await api.create("buffered", ostinato.every("1m"), "slow", overlap="buffer_all", input={"key": "b", "seconds": 500})
    await api.create("filled", ostinato.every("1h"), "note")
    await world.advance("5m")
    await api.pause("buffered", "enough of it")
    await api.backfill("filled", world.now - timedelta(hours=9), world.now, overlap="allow_all", rate=0.01)
    await world.advance("5s")


async def journeys(world: World) -> dict[str, str]:
    """The ids of a journey that is over, one that waits for an answer and one that rests until a timer fires."""
    api = world.app.journeys
    await api.deploy(JOURNEY)
    if hasattr(world.app, "schedules"):
        await world.app.schedules.create(
            "starting", ostinato.cron("0 6 * * *"), {"journey": "approval"}, overlap="allow_all"
        )
    answered = (await api.start("approval", {"n": 1})).id
    asking = (await api.start("approval", {"n": 2})).id
    await world.advance("2h")
    await api.submit(answered, "ask", {"ok": True})
    resting = (await api.start("approval", {"n": 3})).id
    await world.advance("1m")
    return {"answered": answered, "asking": asking, "resting": resting}


async def wire(world: World) -> list[str] | None:
    """A schedule as Temporal's wire creates it. Returns the workflow ids of its runs; None where the wire stores
    none."""
    module: Any
    try:
        module = import_module("ostinato.faces.temporal.wire_schedules")
        schedules = module.WireSchedules.of(world.app.schedules)
        create, describe = schedules.create_with_form, schedules.describe
    except ImportError:
        try:
            module = import_module("ostinato.schedules.forms")  # up to schema 11
        except ImportError:
            return None
        schedules = module.Forms.of(world.app.schedules)
        create, describe = schedules.create_as, schedules.see
    schedule = world.app.schedules.draft("wired", ostinato.every("1h"), "note")
    await create(schedule, module.Form("greeting", False, "", ""), module.Patch(triggers=(None,)), asked="fill")
    await world.settle()
    described = await describe("wired", 10)
    ids = described.workflow_ids if hasattr(described, "workflow_ids") else described.names
    return sorted(ids.values())


async def fill(world: World) -> dict[str, Any]:
    app = world.app
    declare(app)
    await world.up()
    await runs(world)
    if hasattr(app, "schedules"):
        await schedules(world)
    if hasattr(app, "create_token"):
        await app.create_namespace("team")
        await app.create_token("reader")
    if hasattr(app, "webhooks"):
        await app.webhooks.create("https://hooks.example/in", ["token:*"])
    ids = await journeys(world) if hasattr(app, "journeys") else {}
    workflow_ids = await wire(world)
    if hasattr(app, "schedules"):
        await unfinished(world)
    await world.start("slow", {"key": "c", "seconds": 300}, id="active")
    await world.start("slow", {"key": "c", "seconds": 1}, id="blocked")
    await world.settle()
    every_run = await world.runs()
    manifest: dict[str, Any] = {
        "now": world.clock.now(),
        "runs": dict(sorted(Counter(run.status for run in every_run).items())),
    }
    if hasattr(app, "schedules"):
        names = ("hourly", "paused", "berlin", "buffered", "filled")
        manifest["schedules"] = {name: (await app.schedules.get(name)).state for name in names}
        manifest["occurrences"] = {name: len(await app.schedules.history(name, limit=1000)) for name in names}
    if hasattr(app, "create_token"):
        manifest["tokens"] = len(await app.tokens())
        manifest["namespaces"] = sorted(one.name for one in await app.namespaces())
    if hasattr(app, "webhooks"):
        manifest["webhooks"] = [one.url for one in await app.webhooks.list()]
    if hasattr(app, "journeys"):
        manifest["journeys"] = {name: (await app.journeys.status(id)).phase for name, id in ids.items()}
        manifest["ids"] = ids
        manifest["starting"] = (await app.schedules.get("starting")).state
    if workflow_ids is not None:
        manifest["workflow_ids"] = workflow_ids
    manifest["events"] = len(await app.events(limit=100_000))
    await world.crash()
    await world._store.close()
    return manifest


if __name__ == "__main__":
    a_world = World(sys.argv[1], lease="30s", ids=Ids(random.Random(1).getrandbits))
    print(json.dumps(run_virtual(fill(a_world), a_world.clock)))
