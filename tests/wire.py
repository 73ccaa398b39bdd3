"""A world that speaks Temporal's protocol, and the real client of it. Time stands still while the client calls, and
passes when the test says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from ostinato import Ostinato
from ostinato.faces.door import Door
from ostinato.faces.http.server import Listening
from ostinato.faces.temporal.server import WireServer
from ostinato.testing import VirtualLoop, World


@dataclass
class Wired:
    world: World
    client: Client
    address: str
    told: list[Any] = field(default_factory=list)

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
    with loop.standing_still():
        async with server.serving() as address:
            client = await Client.connect(address, lazy=not open_on_loopback, **options)
            yield Wired(world, client, address)


@contextmanager
def refused(status: RPCStatusCode, *words: str) -> Iterator[None]:
    """A call is refused with this status, and its message has these words."""
    with pytest.raises(RPCError) as found:
        yield
    assert found.value.status is status, found.value
    for word in words:
        assert word in str(found.value), found.value
