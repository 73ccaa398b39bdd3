"""Names whose servers are silent hold up nobody else."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from ostinato.engine.http.egress import Egress, EgressTimedOut
from ostinato.engine.http.host_names import HostNameResolver, looks_up_for


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Names that begin with `silent` have no answer as long as the test lasts."""
    over, names, real = threading.Event(), list[str](), socket.getaddrinfo

    def look_up(host: str, *args: Any, **options: Any) -> Any:
        names.append(host)
        if host.startswith("silent"):
            over.wait(60)
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return real("127.0.0.1", *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    yield names
    over.set()


def test_calls_to_silent_names_end_and_take_no_thread_that_others_need(asked: list[str]) -> None:
    async def main() -> None:
        egress = Egress(resolve=HostNameResolver())
        calls = [egress.request("GET", f"http://silent{n}.example/", connect_timeout=0.2) for n in range(60)]
        begin = time.monotonic()
        tasks = [asyncio.create_task(call) for call in calls]
        await asyncio.sleep(0.05)
        assert await asyncio.to_thread(lambda: 5) == 5
        assert time.monotonic() - begin < 5
        for task in tasks:
            with pytest.raises(EgressTimedOut, match=r"no connection to 'silent\d+.example' within 0.2 s"):
                await task

    asyncio.run(main())
    assert len(asked) == 60


def test_callers_of_one_name_share_a_look_up(asked: list[str]) -> None:
    async def main() -> list[Any]:
        resolver = HostNameResolver()
        calls = [Egress(resolve=resolver).request("GET", "http://silent.example/", timeout=0.1) for _ in range(100)]
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert await asyncio.gather(*(resolver("one.example", 80) for _ in range(5))) == [["127.0.0.1"]] * 5
        return results

    assert all(isinstance(one, EgressTimedOut) for one in asyncio.run(main()))
    assert asked == ["silent.example", "one.example"]


def test_a_namespace_leaves_places_to_others_however_many_silent_names_it_asks_for(asked: list[str]) -> None:
    async def look_up(resolver: HostNameResolver, namespace: str, host: str) -> Any:
        looks_up_for.set(namespace)
        return await resolver(host, 80)

    async def main() -> None:
        resolver = HostNameResolver(most=4)
        silent = [asyncio.create_task(look_up(resolver, "greedy", f"silent{n}.example")) for n in range(80)]
        waiting = asyncio.create_task(look_up(resolver, "greedy", "fine.example"))
        await asyncio.sleep(0.01)
        assert asked == ["silent0.example", "silent1.example"]  # the others wait, and fail in no way
        assert not any(task.done() for task in [*silent, waiting])
        async with asyncio.timeout(5):
            assert await look_up(resolver, "modest", "fine.example") == ["127.0.0.1"]  # does not share that of "greedy"
            assert await look_up(resolver, "modest", "other.example") == ["127.0.0.1"]
        for task in [*silent, waiting]:
            task.cancel()

    asyncio.run(main())


def test_a_call_beyond_the_share_waits_as_long_as_its_timeout_allows(asked: list[str]) -> None:
    async def main() -> None:
        egress = Egress(resolve=HostNameResolver(most=2))
        first = asyncio.create_task(egress.request("GET", "http://silent.example/", timeout=0.3))
        await asyncio.sleep(0.01)
        with pytest.raises(EgressTimedOut, match=r"no connection to 'other\.example'"):
            await egress.request("GET", "http://other.example/", connect_timeout=0.1)
        with pytest.raises(EgressTimedOut):
            await first
        assert asked == ["silent.example"]  # nobody asks for a name for which no call waits any more

    asyncio.run(main())


def test_a_name_that_waits_is_looked_up_when_another_is_found(asked: list[str]) -> None:
    async def main() -> None:
        resolver = HostNameResolver(most=1)
        addresses = await asyncio.gather(*(resolver(f"{n % 5}.example", 80) for n in range(20)))
        assert addresses == [["127.0.0.1"]] * 20

    asyncio.run(main())
    assert asked == [f"{n}.example" for n in range(5)]
