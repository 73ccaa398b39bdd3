"""Dying before and after every statement while events are dispatched and delivered: none is lost, each subject's come
in order."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import orjson
import pytest

from ostinato import Ostinato
from ostinato.engine.http.egress import Answer, Egress, EgressPolicy
from ostinato.errors import StoreError
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.testing import VirtualClock, run_virtual
from tests.support.faults import Dropped, DroppingStore

LEASE = 4.0
ORDER = ["run:created", "run:started", "run:succeeded"]


class Receiver(Egress):
    """A receiver that takes everything but the third call, and remembers."""

    def __init__(self) -> None:
        super().__init__(EgressPolicy())
        self.calls: list[tuple[str, str, str]] = []

    async def request(self, method: str, url: str, **options: Any) -> Answer:
        event = orjson.loads(options["content"])
        self.calls.append((event["subject"], event["name"], options["headers"]["webhook-id"]))
        await asyncio.sleep(0.2)
        return Answer(503 if len(self.calls) == 3 else 200, httpx.Headers(), b"", False, 0)


def declare(app: Ostinato) -> None:
    @app.job()
    async def work() -> None:
        await asyncio.sleep(0.3)


async def scenario(store: Store, clock: VirtualClock, at: int, after_commit: bool) -> int:
    receiver = Receiver()
    dropping = DroppingStore(store, at, after_commit)
    plain = Ostinato(store, clock=clock, lease=LEASE, egress=receiver)
    async with plain.connected():
        hook = await plain.webhooks.create("https://hooks.example/in", ["run:*"])
        runs = [handle.id for handle in await plain.start_many("work", [{}] * 3)]
    first = Ostinato(dropping, clock=clock, lease=LEASE, egress=receiver)
    declare(first)
    try:
        await first._open(node=True)
        await asyncio.sleep(30)
    except (Dropped, StoreError):
        assert dropping.broken
    if first._engine is not None:
        await first.engine.kill()
        await first._close_after_crash()
    await store.close()
    second = Ostinato(store, clock=clock, lease=LEASE, egress=receiver)
    declare(second)
    async with second:
        await asyncio.sleep(120)
        for run in runs:
            seen = list(dict.fromkeys(name for subject, name, _ in receiver.calls if subject == run))
            names = [name for name in seen if name in ORDER]
            assert names == ORDER, f"statement {at}: {seen}"
        assert {one.status for one in await second.webhooks.deliveries(hook.id, limit=1000)} == {"succeeded"}
        ids = {(subject, name, id) for subject, name, id in receiver.calls}
        assert len({id for *_, id in ids}) == len(ids), "two events under one id"
    return dropping.statements


@pytest.mark.soak
@pytest.mark.parametrize("after_commit", [False, True], ids=["before the statement", "after the commit"])
def test_every_crash_point(tmp_path: Any, after_commit: bool) -> None:
    walk(tmp_path, after_commit, 1)


@pytest.mark.parametrize("after_commit", [False, True], ids=["before the statement", "after the commit"])
def test_crash_points(tmp_path: Any, after_commit: bool) -> None:
    walk(tmp_path, after_commit, 3)


def walk(tmp_path: Any, after_commit: bool, step: int) -> None:
    """Crash at every `step`-th point of the first sixty, where webhooks are made, and at fewer of the rest."""
    at = 1
    while True:
        clock = VirtualClock()
        store = SqliteStore(str(tmp_path / f"{at}.db"), inline=True, durable=False)
        statements = run_virtual(scenario(store, clock, at, after_commit), clock)
        if statements < at:
            break
        at += step if at < 60 else 6 * step
    assert at > 100
