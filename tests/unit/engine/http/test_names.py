"""Names whose servers are silent hold up nobody else."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from ostinato.engine.http.egress import Egress, EgressFailed, EgressTimedOut
from ostinato.engine.http.host_names import Resolver


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
        egress = Egress(resolve=Resolver())
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
        resolver = Resolver()
        calls = [Egress(resolve=resolver).request("GET", "http://silent.example/", timeout=0.1) for _ in range(100)]
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert await asyncio.gather(*(resolver("one.example", 80) for _ in range(5))) == [["127.0.0.1"]] * 5
        return results

    assert all(isinstance(one, EgressTimedOut) for one in asyncio.run(main()))
    assert asked == ["silent.example", "one.example"]


def test_more_names_than_there_are_threads_fail_at_once(asked: list[str]) -> None:
    async def main() -> None:
        egress = Egress(resolve=Resolver(most=2))
        tasks = [asyncio.create_task(egress.request("GET", f"http://silent{n}/", timeout=0.3)) for n in range(2)]
        await asyncio.sleep(0)
        while len(asked) < 2:
            await asyncio.sleep(0.001)
        with pytest.raises(EgressFailed, match="2 names are being looked up"):
            await egress.request("GET", "http://other.example/")
        await asyncio.wait(tasks)
        assert all(isinstance(task.exception(), EgressTimedOut) for task in tasks)

    asyncio.run(main())
