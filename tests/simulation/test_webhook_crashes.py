"""Dying before and after every statement while events are dispatched and delivered: none is lost, each subject's come
in order."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import orjson
import pytest

from ostinato import Ostinato
from ostinato.engine.http.egress import Egress, EgressPolicy, EgressResponse
from ostinato.store.contract import Store
from ostinato.testing import VirtualClock
from tests.support.crash_walks import LEASE, each_statement, each_transaction, play_until_crash, walk
from tests.support.faults import DroppingStore, When

ORDER = ["run:created", "run:started", "run:succeeded"]


class Receiver(Egress):
    """A receiver that takes everything but the third call, and remembers."""

    def __init__(self) -> None:
        super().__init__(EgressPolicy())
        self.calls: list[tuple[str, str, str]] = []

    async def request(self, method: str, url: str, **options: Any) -> EgressResponse:
        event = orjson.loads(options["content"])
        self.calls.append((event["subject"], event["name"], options["headers"]["webhook-id"]))
        await asyncio.sleep(0.2)
        return EgressResponse(503 if len(self.calls) == 3 else 200, httpx.Headers(), b"", False, 0)


def declare(app: Ostinato) -> None:
    @app.job()
    async def work() -> None:
        await asyncio.sleep(0.3)


async def story(dropping: DroppingStore, store: Store, clock: VirtualClock) -> None:
    receiver = Receiver()
    plain = Ostinato(store, clock=clock, lease=LEASE, egress=receiver)
    async with plain.connected():
        hook = await plain.webhooks.create("https://hooks.example/in", ["run:*"])
        runs = [handle.id for handle in await plain.start_many("work", [{}] * 3)]
    first = Ostinato(dropping, clock=clock, lease=LEASE, egress=receiver)
    declare(first)
    await play_until_crash(first, dropping, asyncio.sleep(30))
    await store.close()
    second = Ostinato(store, clock=clock, lease=LEASE, egress=receiver)
    declare(second)
    async with second:
        await asyncio.sleep(120)
        for run in runs:
            seen = list(dict.fromkeys(name for subject, name, _ in receiver.calls if subject == run))
            assert [name for name in seen if name in ORDER] == ORDER, seen
        assert {one.status for one in await second.webhooks.deliveries(hook.id, limit=1000)} == {"succeeded"}
        ids = {(subject, name, id) for subject, name, id in receiver.calls}
        assert len({id for *_, id in ids}) == len(ids), "two events under one id"


@each_transaction
def test_crash_points_of_webhooks_on_sqlite(sqlite_url: str, when: When) -> None:
    """Two minutes pass at each point, so every other one."""
    assert walk(sqlite_url, story, when, step=2) > 30


@pytest.mark.soak
@pytest.mark.timeout(7200)
@each_statement
def test_every_statement_of_webhooks(store_url: str, when: When) -> None:
    assert walk(store_url, story, when, uncounted=frozenset()) > 30
