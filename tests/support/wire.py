"""A world that speaks Temporal's protocol, and the real client of it. Time stops while the client calls, and
passes when the test says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.client import (
    Client,
    ScheduleActionStartWorkflow,
    ScheduleIntervalSpec,
    ScheduleSpec,
)
from temporalio.service import RPCError, RPCStatusCode

from ostinato import Ostinato
from ostinato.faces.auth import Door
from ostinato.faces.http.server import Listening
from ostinato.faces.temporal.server import WireServer
from ostinato.testing import VirtualLoop, World

HOURLY = ScheduleSpec(intervals=[ScheduleIntervalSpec(timedelta(hours=1))])
QUEUE: dict[str, Any] = {"task_queue": "default"}
TYPES = {"Colour": 2, "Size": 3, "When": 6, "Labels": 7}


@dataclass
class Wired:
    world: World
    client: Client
    address: str

    @property
    def app(self) -> Ostinato:
        return self.world.app

    async def advance(self, length: str | int | float) -> None:
        with moving():
            await self.world.advance(length)

    async def advance_to(self, moment: str) -> None:
        with moving():
            await self.world.advance_to(moment)

    async def settle(self) -> None:
        with moving():
            await self.world.settle()


@contextmanager
def moving() -> Iterator[None]:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop._jumping.under_way -= 1
    try:
        yield
    finally:
        loop._jumping.under_way += 1


@asynccontextmanager
async def wired(world: World, *, open_on_loopback: bool = True, **options: Any) -> AsyncIterator[Wired]:
    """`options` are the client's."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    await world.up()
    server = WireServer(Door(world.app, open_on_loopback=open_on_loopback), Listening(port=0))
    with loop.freeze_time():
        async with server.serving() as address:
            client = await Client.connect(address, lazy=not open_on_loopback, **options)
            yield Wired(world, client, address)


@contextmanager
def refused(status: RPCStatusCode, *words: str) -> Iterator[pytest.ExceptionInfo[RPCError]]:
    """A call is refused with this status, and its message has these words."""
    with pytest.raises(RPCError) as error:
        yield error
    assert error.value.status is status, error.value
    for word in words:
        assert word in str(error.value), error.value


def greeting(*args: Any, **options: Any) -> ScheduleActionStartWorkflow:
    settings = {"id": "greeting", "task_queue": "default", **options}
    return ScheduleActionStartWorkflow("greet", args=args or ["Ann"], **settings)


def declare(world: World) -> list[str]:
    greeted: list[str] = []

    @world.app.job()
    async def greet(name: str, times: int = 1) -> str:
        greeted.append(name * times)
        return name * times

    @world.app.job()
    async def nap(seconds: float = 600) -> None:
        await asyncio.sleep(seconds)

    return greeted


async def register(wire: Wired) -> None:
    await wire.client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(namespace="default", search_attributes=TYPES)  # type: ignore[arg-type]
    )
